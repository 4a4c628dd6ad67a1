import { isJSONObject, type SubscriptionFilter } from "../../messages.ts";

/**
 * What is not checked by types may be anything.
 *
 * @throws {TypeError} If a message cannot be made of it.
 */
export function checkMessage(method: unknown, params: unknown): void {
  if (typeof method !== "string") {
    throw new TypeError(`Cannot send a message: its method must be a string, and is ${typeof method}`);
  }
  if (params === undefined) return;
  if (!isJSONObject(params)) throw new TypeError(`Cannot send "${method}": its params must be an object`);
  if (hasSignal(params)) {
    throw new TypeError(`Cannot send "${method}": options stand behind the params, as the third argument`);
  }
}

/**
 * Checks what a listen stream is to tell.
 *
 * @throws {TypeError} If nothing can be asked for with it.
 */
export function checkFilter(filter: SubscriptionFilter): void {
  if (!isJSONObject(filter)) throw new TypeError("Cannot listen: the filter must be an object");
  const uris: unknown = filter.resourceSubscriptions;
  if (uris === undefined || (Array.isArray(uris) && uris.every((uri) => typeof uri === "string"))) return;
  throw new TypeError(`Cannot listen: "resourceSubscriptions" must be an array of strings`);
}

/** No message can hold a signal. */
function hasSignal(params: { readonly [name: string]: unknown }): boolean {
  try {
    return params.signal instanceof AbortSignal;
  } catch {
    return false; // Whatever throws here is refused when it is written.
  }
}
