/** Writing to stderr on Node. */

import { writeAtEnd, writeByThreads } from "../node_api/stderr.ts";
import { type StderrDevice, StderrQueue, writeWithin } from "../stderr_queue.ts";
import { nodeProcess, surviveErrors } from "./process.ts";

let queue: StderrQueue | undefined;

/** Writes text or bytes to stderr, without waiting for its reader; nobody can be told if that fails. */
export function writeToStderr(data: string | Uint8Array): void {
  queue ??= openQueue();
  queue.write(data);
}

function openQueue(): StderrQueue {
  const process = nodeProcess();
  // Missing before Node 20.16.
  const fs = process.getBuiltinModule?.("node:fs");
  if (fs === undefined) return new StderrQueue(STREAM);
  // On Windows a write to a pipe waits for the reader.
  const device = process.platform === "win32" ? writeByThreads(process) : deviceOf(fs);
  return writeAtEnd(new StderrQueue(device), process);
}

/** Node makes a pipe non-blocking with the stream over it, and at an exit forgets what that has not written. */
function deviceOf({ writeSync }: typeof import("node:fs")): StderrDevice {
  const write = (bytes: Uint8Array): number => {
    // What others have given to the stream comes first.
    if (hasBacklog()) return 0;
    try {
      return writeSync(2, bytes);
    } catch (error) {
      // After any other error there is nobody left to write for.
      return (error as { code?: unknown }).code === "EAGAIN" ? 0 : bytes.length;
    }
  };
  return { write, writeLast: (bytes) => writeWithin(bytes, write) };
}

/** Node's stream, which has a queue without an end: it is given no more while it has some left. */
const STREAM: StderrDevice = {
  write(bytes) {
    if (hasBacklog()) return 0;
    const { stderr } = nodeProcess();
    surviveErrors(stderr);
    // Past the guard, which leads here.
    Object.getPrototypeOf(stderr).write.call(stderr, bytes);
    return bytes.length;
  },
  writeLast: (bytes) => void STREAM.write(bytes),
};

function hasBacklog(): boolean {
  const { stderr } = nodeProcess();
  return stderr.writableLength > 0 && !stderr.destroyed;
}
