/**
 * Files that may be anything: one is looked at before it is read, and no more of it is read than is wanted; and one can be there though it
 * cannot be looked at.
 */

import type { ReadTextFileOptions } from "../../runtime.ts";
import { quoteText } from "../shown_text.ts";

/** A file that is open. */
export interface OpenFile {
  /** Reads up to a buffer of bytes; 0 or null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
  close(): void | Promise<void>;
}

/** How a runtime gets at files. Both reject as the runtime does if there is no such file. */
export interface FileAccess {
  isRegular(path: string): Promise<boolean>;
  open(path: string): Promise<OpenFile>;
}

const CHUNK_BYTES = 65_536;

/**
 * Reads a file as UTF-8.
 *
 * @throws {TypeError} If it has to be a regular file and is none.
 * @throws {RangeError} If it is too large.
 */
export async function readTextFile(
  path: string,
  { maxBytes = Infinity, regular = false }: ReadTextFileOptions,
  access: FileAccess,
): Promise<string> {
  // Before it is opened: to open a pipe is to wait for somebody who writes.
  if (regular && !await access.isRegular(path)) {
    throw new TypeError(`Cannot read ${quoteText(path)}: it is no regular file`);
  }
  const file = await access.open(path);
  try {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const buffer = new Uint8Array(CHUNK_BYTES);
    let text = "";
    let total = 0;
    for (let size = await file.read(buffer); size; size = await file.read(buffer)) {
      total += size;
      if (total > maxBytes) {
        throw new RangeError(`Cannot read ${quoteText(path)}: it has more than ${maxBytes} bytes`);
      }
      text += decoder.decode(buffer.subarray(0, size), { stream: true });
    }
    return text + decoder.decode();
  } finally {
    await file.close();
  }
}

interface Stats {
  isFile(): boolean;
  isSymbolicLink?(): boolean;
}

/**
 * Whether a path names a file. On Windows some commands, such as `python` and `winget`, are aliases: links that start a program
 * and that nobody can look behind, which is told as another error than that there is nothing.
 */
export async function isFileOrAlias(
  os: "posix" | "windows",
  stat: () => Promise<Stats>,
  lstat: () => Promise<Stats>,
): Promise<boolean> {
  try {
    return (await stat()).isFile();
  } catch (error) {
    const { code, name } = Object(error) as { code?: unknown; name?: unknown };
    const isMissing = code === "ENOENT" || code === "ENOTDIR" || name === "NotFound";
    if (os === "posix" || isMissing) return false;
  }
  return await lstat().then((stats) => stats.isSymbolicLink?.() === true || stats.isFile(), () => false);
}
