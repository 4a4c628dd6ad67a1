import type { Params } from "../../messages.ts";
import { toBase64 } from "./results.ts";
import { invalidParams } from "./error_answers.ts";

/** One page of a list, and where the next one begins. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/**
 * Cuts a page out of a list (pagination page). The cursor names the last entry that was given, so entries that come or
 * go between two pages shift nothing.
 *
 * @throws {ProtocolError} -32602 if the cursor is none of ours, or its entry is gone.
 */
export function pageOf<T>(entries: ReadonlyMap<string, T>, params: Params, pageSize: number): Page<T> {
  const names = [...entries.keys()];
  const start = startOf(names, params.cursor);
  const items = names.slice(start, start + pageSize).map((name) => entries.get(name)!);
  const last = names[start + pageSize - 1];
  return last === undefined || start + pageSize >= names.length
    ? { items }
    : { items, nextCursor: encodeCursor(last) };
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
