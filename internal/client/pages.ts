import { InvalidResponseError } from "../../errors.ts";
import type { Result } from "../../messages.ts";

/** As many pages are read of one list. */
const MAX_PAGES = 10_000;
/** A longer cursor is none: all of them are remembered. */
const MAX_CURSOR_LENGTH = 65_536;

/**
 * The items of a list, page by page as they are asked for. A server whose pages go round, or do not end, ends it with an error.
 *
 * @throws {InvalidResponseError} If a page is none, or its cursor leads nowhere new.
 */
export async function* readPages<Item>(
  method: string,
  member: string,
  readPage: (cursor: string | undefined) => Promise<Result>,
): AsyncGenerator<Item, undefined, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const { [member]: items, nextCursor } = await readPage(cursor);
    if (!Array.isArray(items)) throw new InvalidResponseError(method, `its "${member}" is no array`);
    yield* items as Item[];
    // Some servers write null or nothing where there is no next page.
    if (nextCursor === undefined || nextCursor === null || nextCursor === "") return undefined;
    if (typeof nextCursor !== "string" || nextCursor.length > MAX_CURSOR_LENGTH) {
      throw new InvalidResponseError(method, `its "nextCursor" is no cursor`);
    }
    if (seen.has(nextCursor)) throw new InvalidResponseError(method, `its "nextCursor" came before`);
    if (seen.size >= MAX_PAGES) throw new InvalidResponseError(method, `it has more than ${MAX_PAGES} pages`);
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}
