/**
 * Takes the protocol channel away from descriptors 0 and 1 on Bun, by calls of the C library. That takes 1.3 ms, most of
 * it for loading `bun:ffi`; to load `node:fs` would take three times as long.
 */

import { type LibC, openLibC } from "./libc.ts";
import { bunProcess, isMade } from "./namespace.ts";

/** Where the channel is now; undefined where it has stayed. */
export interface OwnDescriptors {
  readonly stdin?: number | undefined;
  readonly stdout?: number | undefined;
}

const NULL_DEVICE = new TextEncoder().encode("/dev/null\0");
const READ_ONLY = 0;
const SEEK_CURRENT = 1;

/**
 * Duplicates stdout and stdin for this process alone, and then makes descriptor 1 the one of stderr, descriptor 0 the null
 * device. What the system does not let happen does not, and nothing is lost.
 */
export function takeDescriptors(): OwnDescriptors {
  const libc = startsAnew() ? undefined : openLibC();
  if (libc === undefined) return {};
  return {
    stdout: replace(libc, 1, 2),
    // A stream that exists may be in use.
    stdin: isMade(bunProcess(), "stdin") || !isChannel(libc, 0) ? undefined : takeStdin(libc),
  };
}

/** Whether a descriptor is a pipe or a socket. Bun reads files and terminals in other ways, the latter by its number. */
function isChannel(libc: LibC, descriptor: number): boolean {
  return libc.lseek(descriptor, 0, SEEK_CURRENT) === -1 && libc.isatty(descriptor) === 0;
}

/** Whether Bun runs the program again in this process when a file changes: it looks for the channel where it was. */
function startsAnew(): boolean {
  return bunProcess().execArgv.some((argument) => argument === "--watch" || argument === "--hot");
}

function takeStdin(libc: LibC): number | undefined {
  const nothing = libc.open(NULL_DEVICE, READ_ONLY);
  const own = replace(libc, 0, nothing);
  libc.close(nothing);
  return own;
}

/** Makes a descriptor mean what another does, and returns a new one for what it has meant; undefined if it cannot. */
function replace(libc: LibC, descriptor: number, other: number): number | undefined {
  const own = libc.dup(descriptor);
  if (own === -1) return undefined;
  libc.closeOnExec(own);
  if (libc.dup2(other, descriptor) !== -1) return own;
  libc.close(own);
  return undefined;
}
