/** Writing to stderr on Bun. */

import { writeAtEnd, writeByThreads } from "../node_api/stderr.ts";
import { type StderrDevice, StderrQueue, writeWithin } from "../stderr_queue.ts";
import { type LibC, openLibC } from "./libc.ts";
import { bunProcess } from "./namespace.ts";

// The same numbers on Linux and macOS.
const POLLOUT = 0x04;
const POLLERR_POLLHUP_POLLNVAL = 0x38;

let queue: StderrQueue | undefined;

/** Writes text or bytes to stderr, without waiting for its reader; nobody can be told if that fails. */
export function writeToStderr(data: string | Uint8Array): void {
  queue ??= openQueue();
  queue.write(data);
}

function openQueue(): StderrQueue {
  const libc = openLibC();
  const device = libc === undefined ? writeByThreads(bunProcess()) : deviceOf(libc);
  return writeAtEnd(new StderrQueue(device), bunProcess());
}

/** Asks before each piece whether there is room. A sink of Bun's would make the descriptor non-blocking, also for others. */
function deviceOf(libc: LibC): StderrDevice {
  const write = (bytes: Uint8Array): number => {
    let taken = 0;
    while (taken < bytes.length) {
      const events = libc.poll(2, POLLOUT);
      // Without a reader there is nobody left to write for.
      if ((events & POLLERR_POLLHUP_POLLNVAL) !== 0) return bytes.length;
      if ((events & POLLOUT) === 0) return taken;
      const written = libc.write(2, bytes.subarray(taken, taken + libc.atomicBytes));
      if (written <= 0) return taken;
      taken += written;
    }
    return taken;
  };
  return { write, writeLast: (bytes) => writeWithin(bytes, write) };
}
