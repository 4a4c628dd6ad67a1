import { type Era, MetaKey, type Params, type RequestId } from "../../messages.ts";
import type { Call } from "./call.ts";
import type { ClientSettings } from "./settings.ts";

/** The `_meta` of every request to a modern server (rule C1). */
export function modernMeta(settings: ClientSettings, protocolVersion: string): Params {
  const { info, capabilities, logLevel } = settings;
  return {
    [MetaKey.protocolVersion]: protocolVersion,
    [MetaKey.clientInfo]: info,
    [MetaKey.clientCapabilities]: capabilities,
    ...(logLevel === undefined ? {} : { [MetaKey.logLevel]: logLevel }),
  };
}

/** Whether the `_meta` of a call to a modern server is the one that all share. */
export function needsNoMore({ params, settings, hasToken }: Call): boolean {
  return params._meta === undefined && !hasToken && settings.logLevel === undefined &&
    settings.isGreeting !== true;
}

/**
 * The params of a call as they go out, with what belongs in their `_meta`: `shared` is the same object for all requests
 * that need nothing of their own. Undefined when there is nothing to say.
 */
export function paramsOnWire(
  { params, settings, hasToken }: Call,
  id: RequestId,
  era: Era | undefined,
  shared: Params,
): Params | undefined {
  if (settings.isGreeting === true) return params;
  const own = params._meta as Params | undefined;
  const isPlain = own === undefined && !hasToken && settings.logLevel === undefined;
  if (isPlain && era !== "modern") return Object.keys(params).length === 0 ? undefined : params;
  if (isPlain) return { ...params, _meta: shared };
  const _meta: Params = { ...shared, ...own };
  if (hasToken) _meta.progressToken = id;
  if (settings.logLevel !== undefined && era === "modern") _meta[MetaKey.logLevel] = settings.logLevel;
  return { ...params, _meta };
}
