/** The two ways a conversation is held, as far as raw lines need to know. */

import type { Members } from "./raw_line.ts";

/** An era, with the version that is spoken in it. */
export interface Era {
  readonly modern: boolean;
  /** The revision of the specification that holds. */
  readonly version: string;
}

export const MODERN_VERSION = "2026-07-28";
export const LEGACY_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
export const MODERN: Era = { modern: true, version: MODERN_VERSION };

/** The name that the doctor gives itself. */
const CLIENT_INFO: Members = { name: "mcp-stdio-doctor", version: "1" };

const PREFIX = "io.modelcontextprotocol/";
export const SUBSCRIPTION_ID: string = `${PREFIX}subscriptionId`;
export const SERVER_INFO: string = `${PREFIX}serverInfo`;
export const LOG_LEVEL: string = `${PREFIX}logLevel`;
export const PROTOCOL_VERSION: string = `${PREFIX}protocolVersion`;
export const CLIENT_CAPABILITIES: string = `${PREFIX}clientCapabilities`;

/** The metadata that each modern request carries. */
export function envelope(changes: Members = {}): Members {
  return {
    [PROTOCOL_VERSION]: MODERN_VERSION,
    [CLIENT_CAPABILITIES]: {},
    [`${PREFIX}clientInfo`]: CLIENT_INFO,
    ...changes,
  };
}

/** Params with what the era asks for; legacy requests need none. */
export function paramsIn(era: Era, params?: Members, meta?: Members): Members | undefined {
  if (era.modern) return { _meta: envelope(meta), ...params };
  if (meta === undefined) return params;
  return { _meta: meta, ...params };
}

/** The method that every server answers at once. */
export function fenceMethod(era: Era): string {
  return era.modern ? "server/discover" : "ping";
}

/** The params of `initialize`. */
export function initializeParams(version: string): Members {
  return { protocolVersion: version, capabilities: {}, clientInfo: CLIENT_INFO };
}

/** A request of an era. */
export function requestOf(
  era: Era,
  method: string,
  params: Members | undefined,
  id: unknown,
  meta?: Members,
): Members {
  const full = paramsIn(era, params, meta);
  return full === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params: full };
}

/** A fence's request with an id and metadata of its own, as text. */
export function requestText(era: Era, id: unknown, meta?: Members): string {
  return JSON.stringify(requestOf(era, fenceMethod(era), undefined, id, meta));
}

/** An id that no request has. */
export const NO_ID = "doctor-none";

/** The cancellation of a request. */
export function cancellation(requestId: unknown): Members {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
}

/** Whether a revision is that one or a later one: they are dates. */
export function isSince(era: Era, version: string): boolean {
  return era.version >= version;
}
