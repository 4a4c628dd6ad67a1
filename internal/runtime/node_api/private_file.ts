/** A file that is written bit by bit and that only its owner can read. */

import type { FileHandle } from "node:fs/promises";

/** A file that is being written. */
export interface PrivateFile {
  readonly path: string;
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

/** So many files of one name there may be. */
const MOST_FILES = 10_000;

/**
 * Makes a file that was not there: where the path is taken, a number goes before its ending, as in `session-2.ndjson`. What is
 * no file, such as a pipe or `/dev/null`, is written to as it is.
 */
export async function createPrivateFile(path: string): Promise<PrivateFile> {
  const { open, stat } = await import("node:fs/promises");
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !found.isFile()) return toPrivateFile(path, await open(path, "w"));
  for (let number = 1; number <= MOST_FILES; number++) {
    const candidate = number === 1 ? path : withNumber(path, number);
    try {
      // Two that start at once must not write into one file.
      return toPrivateFile(candidate, await open(candidate, "wx", 0o600));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
    }
  }
  throw new Error(`Cannot create ${JSON.stringify(path)}: there are ${MOST_FILES} files of that name`);
}

function toPrivateFile(path: string, handle: FileHandle): PrivateFile {
  return {
    path,
    async append(text) {
      await handle.appendFile(text);
    },
    async close() {
      await handle.close();
    },
  };
}

/** `a/b.ndjson` becomes `a/b-2.ndjson`. */
export function withNumber(path: string, number: number): string {
  const match = /^(.*?[^/\\])(\.[^./\\]*)$/s.exec(path);
  return match === null ? `${path}-${number}` : `${match[1]}-${number}${match[2]}`;
}
