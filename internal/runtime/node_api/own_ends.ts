/** The ends of this process's own streams and life that only a program which stands between two others needs. */

import type { ByteOutput } from "../byte_channel.ts";
import { toWriteError } from "../byte_streams.ts";

// Not imported: `node:process` would make all three streams.
const { process } = globalThis;

/** Own stderr, for bytes. */
export function ownStderr(): ByteOutput {
  const { stderr } = process;
  // A broken pipe is also emitted, and would end the process without a listener.
  stderr.on("error", () => {});
  return {
    failed: undefined,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stderr.write(bytes, (error) => error ? reject(toWriteError(error)) : resolve());
      }),
    close: () => Promise.resolve(),
    abort: () => Promise.resolve(),
  };
}

/**
 * Closes descriptor 1, so that its reader sees the end while this process goes on. Deno holds copies of it: there the reader
 * sees it when this process ends.
 */
export async function closeOwnStdout(): Promise<void> {
  const { closeSync } = await import("node:fs");
  try {
    closeSync(1);
  } catch {
    // It is closed already.
  }
}

/** A signal that does not end this process at once is sent so many times. */
const MOST_SIGNALS = 5;
const SIGNAL_GAP_MS = 50;

/**
 * Ends this process as a signal has ended another one, so that whoever waits for it sees the same. Resolves only if that
 * cannot be, with the code by which shells tell the same.
 */
export async function endBySignal(signal: string): Promise<number> {
  const { constants } = await import("node:os");
  process.removeAllListeners(signal);
  for (let count = 0; count < MOST_SIGNALS; count++) {
    // A runtime's own handler, as for SIGSEGV, gives the first one up and lets the next one through.
    process.kill(process.pid, signal);
    await new Promise((resolve) => setTimeout(resolve, SIGNAL_GAP_MS));
  }
  return 128 + (constants.signals[signal as keyof typeof constants.signals] ?? 0);
}
