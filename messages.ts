/**
 * The shapes of JSON-RPC and MCP messages, under the names of the MCP schema (revision 2026-07-28),
 * with the constants both sides share and the guards that tell messages apart.
 *
 * Nothing here coerces: `1` and `"1"` are two ids, `0` and `""` are ids, and `undefined` alone means absent.
 *
 * @example Tell messages apart
 * ```ts
 * import { isRequest, type JSONRPCMessage } from "@mcp/stdio/messages";
 * import assert from "node:assert/strict";
 *
 * const message: JSONRPCMessage = { jsonrpc: "2.0", id: 0, method: "ping" };
 * assert.ok(isRequest(message));
 * ```
 *
 * @module
 */

/** The id of a request: a string or an integer. Two ids are the same only if type and value are. */
export type RequestId = string | number;

/** The token under which progress for one request is reported. */
export type ProgressToken = string | number;

/** A JSON object as it stands in a message. */
export type JSONObject = { [key: string]: unknown };

/** The `_meta` member of params and results. */
export type MetaObject = { [key: string]: unknown };

/** Params of a request or a notification. */
export type Params = { [key: string]: unknown };

/** A request: it has an id, and its receiver owes exactly one response. */
export interface JSONRPCRequest {
  /** Always `"2.0"`. */
  jsonrpc: "2.0";
  /** Names this request until it is answered. */
  id: RequestId;
  /** What is asked for, such as `tools/call`. */
  method: string;
  /** The arguments, and `_meta`. */
  params?: Params | undefined;
}

/** A notification: it has no id and is never answered. */
export interface JSONRPCNotification {
  /** Always `"2.0"`. */
  jsonrpc: "2.0";
  /** What is told, such as `notifications/progress`. */
  method: string;
  /** The facts, and `_meta`. */
  params?: Params | undefined;
}

/** The result of a request. */
export interface Result {
  /** Metadata; modern servers name themselves here. */
  _meta?: MetaObject | undefined;
  /** `complete` or `input_required` in revision 2026-07-28; absent in older ones. */
  resultType?: string | undefined;
  /** What the method defines, and whatever else came. */
  [key: string]: unknown;
}

/** A response that carries a result. */
export interface JSONRPCResultResponse {
  /** Always `"2.0"`. */
  jsonrpc: "2.0";
  /** The id of the request that is answered. */
  id: RequestId;
  /** What was asked for. */
  result: Result;
}

/** The `error` member of an error response. */
export interface JSONRPCErrorObject {
  /** An integer; see {@linkcode ErrorCode} for the ones the specification defines. */
  code: number;
  /** One sentence. */
  message: string;
  /** More, as the code defines it. */
  data?: unknown;
}

/** A response that carries an error. Its id is absent when the request's id could not be read. */
export interface JSONRPCErrorResponse {
  /** Always `"2.0"`. */
  jsonrpc: "2.0";
  /** The id of the request that failed. */
  id?: RequestId | undefined;
  /** What went wrong. */
  error: JSONRPCErrorObject;
}

/** A response of either kind. */
export type JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Any message of JSON-RPC: a request, a notification, or a response. */
export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;

/** Name and version of a client or a server. */
export interface Implementation {
  /** The program's name. */
  name: string;
  /** The program's version. */
  version: string;
  /** A name for people. */
  title?: string | undefined;
  /** What it is for. */
  description?: string | undefined;
  /** Where to read more. */
  websiteUrl?: string | undefined;
  /** Pictures of it. */
  icons?: Icon[] | undefined;
}

/** A picture for display. */
export interface Icon {
  /** An https or data URL. */
  src: string;
  /** The picture's media type. */
  mimeType?: string | undefined;
  /** Sizes such as `48x48`, or `any`. */
  sizes?: string[] | undefined;
  /** The theme it is made for. */
  theme?: "light" | "dark" | undefined;
}

/** What a client can do for a server. */
export interface ClientCapabilities {
  /** Non-standard abilities. */
  experimental?: { [key: string]: JSONObject } | undefined;
  /** The client lists roots. */
  roots?: JSONObject | undefined;
  /** The client samples from a model. */
  sampling?: JSONObject | undefined;
  /** The client asks its user. */
  elicitation?: JSONObject | undefined;
  /** Extensions by identifier. */
  extensions?: { [key: string]: JSONObject } | undefined;
}

/** What a server can do. */
export interface ServerCapabilities {
  /** Non-standard abilities. */
  experimental?: { [key: string]: JSONObject } | undefined;
  /** The server sends log messages to requests that ask for them. */
  logging?: JSONObject | undefined;
  /** The server completes arguments. */
  completions?: JSONObject | undefined;
  /** The server has prompts. */
  prompts?: { listChanged?: boolean | undefined } | undefined;
  /** The server has resources. */
  resources?: { subscribe?: boolean | undefined; listChanged?: boolean | undefined } | undefined;
  /** The server has tools. */
  tools?: { listChanged?: boolean | undefined } | undefined;
  /** Extensions by identifier. */
  extensions?: { [key: string]: JSONObject } | undefined;
}

/** Which notifications a `subscriptions/listen` request asks for. */
export interface SubscriptionFilter {
  /** `notifications/tools/list_changed`. */
  toolsListChanged?: boolean | undefined;
  /** `notifications/prompts/list_changed`. */
  promptsListChanged?: boolean | undefined;
  /** `notifications/resources/list_changed`. */
  resourcesListChanged?: boolean | undefined;
  /** `notifications/resources/updated` for these URIs. */
  resourceSubscriptions?: string[] | undefined;
}

/** The result of `server/discover`. */
export interface DiscoverResult extends Result {
  /** Revisions the server speaks. */
  supportedVersions: string[];
  /** What it can do. */
  capabilities: ServerCapabilities;
  /** How a model should use it. */
  instructions?: string | undefined;
}

/** Severity of a log message, lowest first as in RFC 5424. */
export type LoggingLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";

/** {@linkcode LoggingLevel}s from the least to the most severe. */
export const LOGGING_LEVELS: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/**
 * The two kinds of revisions. `modern`: 2026-07-28 and later, where each request carries what the other side needs to know.
 * `legacy`: 2025-11-25 and earlier, where a handshake with `initialize` comes first.
 */
export type Era = "modern" | "legacy";

/** The revision preferred by this module. */
export const LATEST_PROTOCOL_VERSION = "2026-07-28";

/** Revisions of the modern era, whose requests need no handshake; preferred first. */
export const MODERN_PROTOCOL_VERSIONS: readonly string[] = ["2026-07-28"];

/** Revisions of the legacy era, which begin with `initialize`; preferred first. */
export const LEGACY_PROTOCOL_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
];

/** The names of the `_meta` members that the specification reserves. */
export const MetaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** The error codes that JSON-RPC and the specification define. */
export const ErrorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingRequiredClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

/** Whether a message is a request. */
export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message && message.id !== undefined;
}

/** Whether a message is a notification. */
export function isNotification(message: JSONRPCMessage): message is JSONRPCNotification {
  return "method" in message && (!("id" in message) || message.id === undefined);
}

/** Whether a message is a response, with a result or an error. */
export function isResponse(message: JSONRPCMessage): message is JSONRPCResponse {
  return !("method" in message);
}

/** Whether a message is an error response. */
export function isErrorResponse(message: JSONRPCMessage): message is JSONRPCErrorResponse {
  return "error" in message && !("method" in message);
}

/** Whether a value can be the id of a request: a string or an integer. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isInteger(value);
}

/** Whether a value is a JSON object: neither null nor an array. */
export function isJSONObject(value: unknown): value is JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
