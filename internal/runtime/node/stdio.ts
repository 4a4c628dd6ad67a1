/** This process's standard streams on Node. */

import type { Writable } from "node:stream";
import type { ByteSink, ByteSource } from "../byte_streams.ts";
import { sourceOf } from "../node_api/streams.ts";

/** Looked up when it is used: this file is also loaded elsewhere, where to touch `process` would load the Node layer. */
export function nodeProcess(): NodeJS.Process {
  return (globalThis as unknown as { process: NodeJS.Process }).process;
}

/** Own stdin. Node's stream is made at the first read, until then the bytes wait in the pipe. */
export function ownStdin(): ByteSource {
  let source: ByteSource | undefined;
  const open = (): ByteSource => source ??= sourceOf(nodeProcess().stdin);
  return { read: () => open().read(), close: () => open().close() };
}

/** Own stdout, past any guard: the guard is set on the object, and `write` of its prototype is used here. */
export function ownStdout(stdout: Writable = nodeProcess().stdout): ByteSink {
  const write: typeof stdout.write = Object.getPrototypeOf(stdout).write;
  surviveErrors(stdout);
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        const onWritten = (error?: Error | null): void => error ? reject(error) : resolve();
        Reflect.apply(write, stdout, [bytes, onWritten]);
      }),
    // Ending Node's stream would make every later `console.log` an error.
    close() {},
    abort() {},
  };
}

/** Writes text to stderr; nobody can be told if that fails. */
export function writeToStderr(text: string): void {
  const { stderr } = nodeProcess();
  surviveErrors(stderr);
  stderr.write(text);
}

/** A broken pipe is emitted for each write, also one whose callback was told, and without a listener ends the process. */
export function surviveErrors(stream: Writable): void {
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);
}

function ignore(): void {}
