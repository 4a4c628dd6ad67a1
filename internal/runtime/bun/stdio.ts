/** This process's standard streams on Bun. */

import { Bun, type BunFile, type FileSink } from "./namespace.ts";
import type { ByteSink, ByteSource } from "../byte_streams.ts";

/** Own stdin, or what has become of it. Bun's stream is made at the first read, until then the bytes wait in the pipe. */
export function ownStdin(descriptor?: number): ByteSource {
  return sourceOf(() => (descriptor === undefined ? Bun.stdin : Bun.file(descriptor)).stream());
}

/**
 * Own stdout, or what has become of it, past any guard: the guard is set on the object, and `writer` of its prototype is
 * used here.
 */
export function ownStdout(descriptor?: number): ByteSink {
  const { writer } = Object.getPrototypeOf(Bun.stdout) as BunFile;
  const file = descriptor === undefined ? Bun.stdout : Bun.file(descriptor);
  let sink: FileSink | undefined;
  return {
    write: (bytes) => writeAll(sink ??= writer.call(file), bytes),
    // Every write has been flushed, and the descriptor stays open.
    close() {},
    abort() {},
  };
}

/** A source over a stream that is made at the first read. */
function sourceOf(open: () => ReadableStream<Uint8Array>): ByteSource {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return {
    async read() {
      reader ??= open().getReader();
      return (await reader.read()).value ?? null;
    },
    async close() {
      reader ??= open().getReader();
      await reader.cancel();
    },
  };
}

/**
 * Writes to a sink until the system has all of it, which may be at once. `write` and `flush` may throw, or give a promise; else they
 * are done.
 */
export function writeAll(sink: FileSink, bytes: Uint8Array): Promise<void> | undefined {
  const written = sink.write(bytes);
  if (typeof written !== "number") return finish(sink, written);
  const flushed: unknown = sink.flush();
  return flushed instanceof Promise ? flushed.then(() => {}) : undefined;
}

async function finish(sink: FileSink, written: Promise<number>): Promise<void> {
  await written;
  await sink.flush();
}
