import { isJSONObject, isRequestId, type RequestId } from "../../messages.ts";
import { endOfString } from "./json_source.ts";

/** A longer id could not always be repeated in an answer; no client or server makes such ids. */
export const MAX_ID_BYTES = 4_096;

const ID_IS_WRONG = `the member "id" is neither a string nor an integer`;
export const ID_IS_TOO_LONG: string = `the member "id" is longer than ${MAX_ID_BYTES} bytes`;

/** Says what keeps a value from being a JSON-RPC message of MCP, or undefined if nothing does. */
export function whatIsWrong(
  value: unknown,
  isId: (id: unknown) => boolean = isUsableId,
): string | undefined {
  if (!isJSONObject(value)) return Array.isArray(value) ? "a batch is not a message" : "not a JSON object";
  if (value.jsonrpc !== "2.0") return `the member "jsonrpc" is not "2.0"`;
  const { id, method } = value;
  if (method !== undefined) {
    if (typeof method !== "string") return `the member "method" is not a string`;
    if (id !== undefined && !isId(id)) return whatIsWrongWithId(id);
    const { params } = value;
    // Some serializers write null for what is absent.
    if (params !== undefined && params !== null && !isJSONObject(params)) {
      return `the member "params" is not an object`;
    }
    if (value.result !== undefined || value.error !== undefined) {
      return `a "method" stands beside a "result" or an "error"`;
    }
    return undefined;
  }
  const hasError = value.error !== undefined;
  if (value.result === undefined && !hasError) return `neither "method", "result" nor "error" is there`;
  if (value.result !== undefined && hasError) return `both "result" and "error" are there`;
  if (!isId(id) && !(hasError && (id === undefined || id === null))) return whatIsWrongWithId(id);
  return hasError ? whatIsWrongWithError(value.error) : whatIsWrongWithResult(value.result);
}

/** Whether a value is an id that an answer can repeat: a string or an integer, and not too long. */
export function isUsableId(id: unknown): id is RequestId {
  return typeof id === "string" ? !isLongerThan(id, MAX_ID_BYTES) : Number.isInteger(id);
}

function whatIsWrongWithId(id: unknown): string {
  return isRequestId(id) ? ID_IS_TOO_LONG : ID_IS_WRONG;
}

function whatIsWrongWithResult(result: unknown): string | undefined {
  return isJSONObject(result) ? undefined : `the member "result" is not an object`;
}

function whatIsWrongWithError(error: unknown): string | undefined {
  if (!isJSONObject(error)) return `the member "error" is not an object`;
  if (!Number.isInteger(error.code)) return `the error's "code" is not an integer`;
  return typeof error.message === "string" ? undefined : `the error's "message" is not a string`;
}

/** Whether a text has more bytes than that in UTF-8; a UTF-16 code unit takes at most three. */
function isLongerThan(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || new TextEncoder().encode(text).length > bytes;
}

/** A text shorter than this cannot nest deeper than `maxDepth`: each level has two brackets. */
export function shortestOverDepth(maxDepth: number): number {
  return 2 * (maxDepth + 1);
}

/** Whether JSON text opens more brackets at once than `maxDepth`. Strings are skipped at native speed. */
export function textNestsDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at + 1);
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** Whether a parsed value nests deeper than `maxDepth`. */
export function valueNestsDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (maxDepth === 0) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (valueNestsDeeper(member, maxDepth - 1)) return true;
  }
  return false;
}
