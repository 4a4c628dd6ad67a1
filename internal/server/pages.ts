import type { Params, Result } from "../../messages.ts";
import { toBase64 } from "./results.ts";
import { invalidParams } from "./error_answers.ts";

/**
 * Answers with one page of a list (pagination page). The cursor names the last entry that was given, so entries that come or
 * go between two pages shift nothing.
 *
 * @throws {ProtocolError} -32602 if the cursor is none of ours, or its entry is gone.
 */
export function pageOf<T>(
  member: string,
  entries: ReadonlyMap<string, T>,
  toListing: (entry: T, name: string) => Params,
  params: Params,
  pageSize: number,
): Result {
  const names = [...entries.keys()];
  const start = startOf(names, params.cursor);
  const items = names.slice(start, start + pageSize).map((name) => toListing(entries.get(name)!, name));
  const last = names[start + pageSize - 1];
  return last === undefined || start + pageSize >= names.length
    ? { [member]: items }
    : { [member]: items, nextCursor: encodeCursor(last) };
}

function startOf(names: readonly string[], cursor: unknown): number {
  if (cursor === undefined) return 0;
  const index = typeof cursor === "string" ? names.findIndex((name) => encodeCursor(name) === cursor) : -1;
  if (index === -1) throw invalidParams(`"cursor" is not valid`);
  return index + 1;
}

/** Opaque to clients: the name in base64 of its UTF-8. */
function encodeCursor(name: string): string {
  return toBase64(new TextEncoder().encode(name));
}
