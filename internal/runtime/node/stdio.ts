/** This process's standard streams on Node. */

import type { Writable } from "node:stream";
import type { ByteSink, ByteSource } from "../byte_streams.ts";
import { sourceOf, writeTo } from "../node_api/streams.ts";
import { nodeProcess, surviveErrors } from "./process.ts";

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
    write: (bytes) => writeTo(stdout, (onWritten) => Reflect.apply(write, stdout, [bytes, onWritten])),
    // Ending Node's stream would make every later `console.log` an error.
    close() {},
    abort() {},
  };
}
