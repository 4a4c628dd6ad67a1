/** Node's `process`, and its output streams. */

import type { Writable } from "node:stream";

/**
 * Looked up when it is used: a file made of all adapters is loaded elsewhere, where to touch `process` would load the Node
 * layer. Not imported: `node:process` reads all of its properties for its exports, and with them makes the standard streams,
 * which takes longer than all else here.
 */
export function nodeProcess(): NodeJS.Process {
  return (globalThis as unknown as { process: NodeJS.Process }).process;
}

/** A broken pipe is emitted for each write, also one whose callback was told, and without a listener ends the process. */
export function surviveErrors(stream: Writable): void {
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);
}

function ignore(): void {}
