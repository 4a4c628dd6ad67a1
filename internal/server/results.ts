import { isJSONObject, type Result } from "../../messages.ts";
import type { ServerSettings } from "./settings.ts";

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
