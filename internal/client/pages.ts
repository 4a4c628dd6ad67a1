import { InvalidResponseError } from "../../errors.ts";
import type { Result } from "../../messages.ts";

/** As many pages are read of one list. */
const MAX_PAGES = 10_000;
/** As long are the cursors of all pages together, which are remembered, in UTF-16 code units. */
const MAX_CURSORS_LENGTH = 4_194_304;

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
  let cursorsLength = 0;
  for (;;) {
    const { [member]: items, nextCursor } = await readPage(cursor);
    if (!Array.isArray(items)) throw new InvalidResponseError(method, `its "${member}" is no array`);
    yield* items as Item[];
    // Some servers write null or nothing where there is no next page.
    if (nextCursor === undefined || nextCursor === null || nextCursor === "") return undefined;
    if (typeof nextCursor !== "string") {
      throw new InvalidResponseError(method, `its "nextCursor" is no string`);
    }
    if (seen.has(nextCursor)) throw new InvalidResponseError(method, `its "nextCursor" came before`);
    cursorsLength += nextCursor.length;
    if (seen.size >= MAX_PAGES || cursorsLength > MAX_CURSORS_LENGTH) {
      throw new InvalidResponseError(method, `it has more than ${MAX_PAGES} pages, or very long cursors`);
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}
