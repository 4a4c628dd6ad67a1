/** Writing to stderr on Deno. */

import { LAST_WRITE_MS, type StderrDevice, StderrQueue } from "../stderr_queue.ts";
import { globalEvents } from "./errors.ts";
import { Deno, type DenoStdout } from "./namespace.ts";

interface WorkerGlobal {
  readonly Worker: new (script: string, options: { type: "module" }) => { postMessage(data: unknown): void };
}

/** In the worker: takes bytes behind a number, writes them, and tells by it how far it is. No bytes also wait for those before them. */
const LAST_WRITER = `onmessage = ({ data }) => {
  const state = new Int32Array(data, 0, 1);
  const tell = (value) => { Atomics.store(state, 0, value); Atomics.notify(state, 0); };
  tell(1);
  let rest = new Uint8Array(data, 4).slice();
  do rest = rest.subarray(Deno.stderr.writeSync(rest)); while (rest.length > 0);
  tell(2);
};`;
/** So long a busy machine may take to start the worker, in milliseconds; that is no fault of whoever reads stderr. */
const WORKER_START_MS = 2_000;

let queue: StderrQueue | undefined;

/** Writes text or bytes to stderr, without waiting for its reader; nobody can be told if that fails. */
export function writeToStderr(data: string | Uint8Array): void {
  queue ??= openQueue();
  queue.write(data);
}

/** Writes what it can of what is left, before a signal ends this process. */
export function writeLastToStderr(): void {
  queue?.writeLast();
}

function openQueue(): StderrQueue {
  const opened = new StderrQueue(openDevice());
  globalEvents.addEventListener("unload", () => opened.end());
  // An error that nobody catches ends Deno without that.
  for (const type of ["error", "unhandledrejection"]) {
    globalEvents.addEventListener(type, (event) => {
      if (!event.defaultPrevented) opened.writeLast();
    });
  }
  return opened;
}

/** Deno does not say whether a pipe has room, so that bytes for one are written by another thread. */
function openDevice(): StderrDevice {
  // A terminal is read, and a person expects what is printed at once.
  const isTerminal = Deno.stderr.isTerminal();
  // Past the guard, which is set on the object and leads here.
  const { write, writeSync } = Object.getPrototypeOf(Deno.stderr) as DenoStdout;
  const writeAll = async (bytes: Uint8Array): Promise<void> => {
    for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await write.call(Deno.stderr, rest));
  };
  return {
    write: (bytes) => isTerminal ? writeSync.call(Deno.stderr, bytes) : writeAll(bytes),
    writeLast: writeByWorker,
  };
}

/**
 * Deno's own thread takes nothing new before the next turn, and there is none. A worker is there in 20 ms, and waits for the
 * write that is under way.
 */
function writeByWorker(bytes: Uint8Array): void {
  const shared = new SharedArrayBuffer(4 + bytes.length);
  new Uint8Array(shared, 4).set(bytes);
  try {
    const { Worker } = globalThis as unknown as WorkerGlobal;
    const script = `data:text/javascript,${encodeURIComponent(LAST_WRITER)}`;
    new Worker(script, { type: "module" }).postMessage(shared);
    const state = new Int32Array(shared, 0, 1);
    Atomics.wait(state, 0, 0, WORKER_START_MS);
    Atomics.wait(state, 0, 1, LAST_WRITE_MS);
  } catch {
    // No worker can be had, so that these lines are lost with the process.
  }
}
