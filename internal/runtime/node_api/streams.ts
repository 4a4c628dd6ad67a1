/** Node's streams as sources and sinks. `Readable.toWeb` and `Writable.toWeb` read ahead, and report errors late. */

import type { Readable, Writable } from "node:stream";
import { brokenPipe, type ByteSink, type ByteSource } from "../byte_streams.ts";

/**
 * A source over a readable, which flows while it is read: that takes a turn less than to be told of bytes and to fetch them.
 * What comes when nobody reads is kept, and the stream paused. It is made as soon as the stream exists: at a child's exit
 * Node throws away the output of streams that nobody listens to.
 */
export function sourceOf(stream: Readable): ByteSource {
  const kept: Uint8Array[] = [];
  let failure: { readonly error: Error } | undefined;
  let isOver = false;
  let reader: { resolve(chunk: Uint8Array | null): void; reject(error: Error): void } | undefined;
  const takeReader = (): typeof reader => {
    const taken = reader;
    reader = undefined;
    return taken;
  };
  const end = (): void => {
    isOver = true;
    if (failure === undefined) takeReader()?.resolve(null);
    else takeReader()?.reject(failure.error);
  };
  stream.on("data", (chunk: Uint8Array) => {
    // Not a Buffer: its `slice` would not copy.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (reader !== undefined) return takeReader()!.resolve(bytes);
    kept.push(bytes);
    stream.pause();
  });
  stream.on("end", end).on("close", end);
  stream.on("error", (error: Error) => {
    failure ??= { error };
    end();
  });
  return {
    read() {
      const chunk = kept.shift();
      if (chunk !== undefined) return Promise.resolve(chunk);
      if (isOver) return failure === undefined ? Promise.resolve(null) : Promise.reject(failure.error);
      if (stream.isPaused()) stream.resume();
      return new Promise((resolve, reject) => reader = { resolve, reject });
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
    write(bytes) {
      return writeTo(
        stream,
        (onWritten) => void stream.write(bytes, onWritten),
        // A write cut off by `destroy` is called back as if it had succeeded.
        (error) => error ?? (stream.destroyed ? brokenPipe() : undefined),
      );
    },
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

/** Begins a write, and gives a promise for its end unless the system has taken it at once, as it does while its pipe has room. */
export function writeTo(
  stream: Writable,
  begin: (onWritten: (error?: Error | null) => void) => void,
  toFailure: (error: Error | undefined) => Error | undefined = (error) => error,
): Promise<void> | undefined {
  let settle: { resolve(): void; reject(error: Error): void } | undefined;
  begin((error) => {
    const failure = toFailure(error ?? undefined);
    if (failure === undefined) settle?.resolve();
    else settle?.reject(failure);
  });
  if (stream.writableLength === 0 && !stream.errored && !stream.destroyed) return undefined;
  // The callback comes in a later turn.
  return new Promise((resolve, reject) => settle = { resolve, reject });
}
