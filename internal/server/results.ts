import { isJSONObject, type JSONObject, type Result } from "../../messages.ts";
import type { ServerSettings } from "./settings.ts";
import type { ContentBlock } from "../../schema.ts";

/** Methods whose results tell how long they may be kept (caching page). */
const CACHEABLE_METHODS: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** Whether all that {@linkcode completeResult} adds to a result is the ending that many have. */
export function isEndedAlike(method: string, result: Result): boolean {
  return result.resultType === undefined && result._meta === undefined && !CACHEABLE_METHODS.has(method);
}

/** A result as revision 2026-07-28 wants it: whole or not, from whom, and for how long (rule V7). */
export function completeResult(method: string, result: Result, settings: ServerSettings): Result {
  const { resultType = "complete" } = result;
  const meta = result._meta === undefined ? settings.resultMeta : { ...settings.resultMeta, ...result._meta };
  if (resultType === "complete" && CACHEABLE_METHODS.has(method)) {
    return { ...settings.cache, ...result, resultType, _meta: meta };
  }
  return { ...result, resultType, _meta: meta };
}

/** A result as older revisions know it: they have no `resultType`, and structured content only as an object. */
export function legacyResult(result: Result): Result {
  const { resultType, structuredContent } = result;
  const isOdd = structuredContent !== undefined && !isJSONObject(structuredContent);
  if (resultType !== "complete" && !isOdd) return result;
  const { resultType: _type, structuredContent: _content, ...rest } = result;
  return isOdd || structuredContent === undefined ? rest : { ...rest, structuredContent };
}

/** By type: the members that a block must have. */
const REQUIRED: ReadonlyMap<unknown, (block: JSONObject) => boolean> = new Map<
  unknown,
  (block: JSONObject) => boolean
>([
  ["text", ({ text }) => typeof text === "string"],
  ["image", ({ data, mimeType }) => typeof data === "string" && typeof mimeType === "string"],
  ["audio", ({ data, mimeType }) => typeof data === "string" && typeof mimeType === "string"],
  ["resource", ({ resource }) => isJSONObject(resource) && typeof resource.uri === "string"],
  ["resource_link", ({ uri, name }) => typeof uri === "string" && typeof name === "string"],
]);

/** Whether a value is a piece of content that clients can read. */
export function isContentBlock(value: unknown): value is ContentBlock {
  return isJSONObject(value) && REQUIRED.get(value.type)?.(value) === true;
}

/** Whether a value can stand among content: a block of a type that is not known here may be of a later revision. */
export function isContent(value: unknown): boolean {
  return isJSONObject(value) && typeof value.type === "string" && REQUIRED.get(value.type)?.(value) !== false;
}

/** As many bytes as go into one call: each is an argument. */
const CHUNK_BYTES = 8_192;

/** Bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  }
  return btoa(binary);
}
