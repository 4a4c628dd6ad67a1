/** Node's streams as sources and sinks. `Readable.toWeb` and `Writable.toWeb` read ahead, and report errors late. */

import type { Readable, Writable } from "node:stream";
import { brokenPipe, type ByteSink, type ByteSource } from "./byte_streams.ts";

const CHUNK_BYTES = 65_536;

/**
 * A source over a readable. It is made as soon as the stream exists: at a child's exit Node throws away the output of
 * streams without a `readable` listener.
 */
export function sourceOf(stream: Readable): ByteSource {
  let failure: Error | undefined;
  let wake = (): void => {};
  const onChange = (): void => wake();
  stream.on("readable", onChange).on("end", onChange).on("close", onChange);
  stream.on("error", (error: Error) => {
    failure ??= error;
    wake();
  });
  return {
    async read() {
      for (;;) {
        const size = Math.min(stream.readableLength, CHUNK_BYTES);
        const chunk: Uint8Array | null = size === 0 ? stream.read() : stream.read(size);
        // Not a Buffer: its `slice` would not copy.
        if (chunk !== null) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        if (failure !== undefined) throw failure;
        if (stream.readableEnded || stream.destroyed) return null;
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
    close() {
      stream.destroy();
    },
  };
}

/** A sink over a child's stdin. */
export function sinkOf(stream: Writable): ByteSink {
  // A broken pipe is also emitted, and would end the process without a listener.
  stream.on("error", () => {});
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => {
          // A write cut off by `destroy` is called back as if it had succeeded.
          if (error || stream.destroyed) reject(error ?? brokenPipe());
          else resolve();
        });
      }),
    close: () =>
      new Promise((resolve) => {
        if (stream.destroyed) return resolve();
        // The callback does not come when the stream is destroyed instead, as by the exit of its child.
        stream.once("close", resolve);
        stream.end(() => resolve());
      }),
    abort() {
      stream.destroy();
    },
  };
}
