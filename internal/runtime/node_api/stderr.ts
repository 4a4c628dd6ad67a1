/** Writing to stderr where nothing says whether it has room: another thread waits in place of this one. */

import { LAST_WRITE_MS, type StderrDevice, type StderrQueue } from "../stderr_queue.ts";

/** What is used of `process`. */
export interface BuiltinModules {
  getBuiltinModule(name: string): unknown;
}

/** A write that takes longer has no reader. */
const STUCK_MS = 200;
/** After so many milliseconds a descriptor that was made non-blocking is tried again. */
const RETRY_MS = 20;

/** A device that writes by the threads of the runtime. */
export function writeByThreads(process: BuiltinModules): StderrDevice {
  const { write } = process.getBuiltinModule("node:fs") as typeof import("node:fs");
  let state: "idle" | "writing" | "stuck" = "idle";
  const writeAll = (bytes: Uint8Array, done: () => void): void =>
    write(2, bytes, (error, written) => {
      if (error?.code === "EAGAIN") return void setTimeout(() => writeAll(bytes, done), RETRY_MS).unref();
      // After any other error there is nobody left to write for.
      if (error || written === bytes.length) done();
      else writeAll(bytes.subarray(written), done);
    });
  return {
    async write(bytes) {
      state = "writing";
      // By a timer: while this thread was busy, it could not be told that the write is done.
      const timer = setTimeout(() => state = "stuck", STUCK_MS);
      timer.unref();
      await new Promise<void>((resolve) => writeAll(bytes, resolve));
      clearTimeout(timer);
      state = "idle";
    },
    writeLast(bytes) {
      if (state === "stuck") return;
      // By a thread, too, since this one could wait for ever. It begins at once; that it is done is not told in this turn.
      if (bytes.length > 0) write(2, bytes, () => {});
      if (bytes.length > 0 || state === "writing") {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WRITE_MS);
      }
    },
  };
}

/** What is used of `process`. */
export interface EndEvents {
  on(event: "exit" | "uncaughtExceptionMonitor", listener: () => void): unknown;
}

/** Has the queue written at the end of this process, and before the runtime prints an error that nobody catches. */
export function writeAtEnd(queue: StderrQueue, process: EndEvents): StderrQueue {
  process.on("uncaughtExceptionMonitor", () => queue.writeLast());
  process.on("exit", () => queue.end());
  return queue;
}
