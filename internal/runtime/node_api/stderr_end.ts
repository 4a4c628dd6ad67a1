import type { StderrQueue } from "../stderr_queue.ts";

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
