import { endOfString } from "./json_source.ts";

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
