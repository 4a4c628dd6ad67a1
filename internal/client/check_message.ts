import { isJSONObject } from "../../messages.ts";

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

/** No message can hold a signal. */
function hasSignal(params: { readonly [name: string]: unknown }): boolean {
  try {
    return params.signal instanceof AbortSignal;
  } catch {
    return false; // Whatever throws here is refused when it is written.
  }
}
