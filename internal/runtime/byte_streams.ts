/**
 * Web Streams over one read or one write at a time: nothing is read before it is asked for, and a write is done when
 * the system has taken its bytes. Who reads or writes all of a stream can have what is behind it, and passes a machinery
 * that costs as much as the rest of a short exchange.
 */

import type { ByteStreams, OwnStdio } from "../../runtime.ts";

/** Where bytes come from. */
export interface ByteSource {
  /** The next bytes, which are the caller's to keep, or null at the end. */
  read(): Promise<Uint8Array | null>;
  /** Lets go of the source. A `read` under way may settle in any manner. */
  close(): Promise<void> | void;
}

/** Where bytes go. */
export interface ByteSink {
  /** Settles when the system has taken all of the bytes, or cannot. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the output. */
  close(): Promise<void> | void;
  /** Gives the output up, if possible together with a write under way. */
  abort(): Promise<void> | void;
}

/** What is behind the streams made here. */
const sources = new WeakMap<ReadableStream<Uint8Array>, ByteSource>();
const sinks = new WeakMap<WritableStream<Uint8Array>, ByteSink>();

/** A stream that reads only when it is read. */
export function readableFrom(source: ByteSource): ReadableStream<Uint8Array> {
  let open = true;
  const readable = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A pull that enqueues nothing is not repeated for the read that waits, so empty chunks are passed over here.
      for (;;) {
        const chunk = await source.read();
        if (!open) return;
        if (chunk === null) {
          open = false;
          return controller.close();
        }
        if (chunk.length > 0) return controller.enqueue(chunk);
      }
    },
    async cancel() {
      open = false;
      await source.close();
    },
  }, { highWaterMark: 0 });
  sources.set(readable, source);
  return readable;
}

/** A stream whose writes settle when the system has taken the bytes, and reject with `EPIPE` when the reader is gone. */
export function writableTo(sink: ByteSink): WritableStream<Uint8Array> {
  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      // The `abort` below is called only after a write under way; the signal comes at once.
      const { signal } = controller as { signal?: AbortSignal };
      signal?.addEventListener("abort", () => void sink.abort(), { once: true });
    },
    async write(chunk) {
      if (chunk.length === 0) return;
      try {
        await sink.write(chunk);
      } catch (error) {
        throw toWriteError(error);
      }
    },
    close: () => sink.close(),
    abort: () => sink.abort(),
  });
  sinks.set(writable, sink);
  return writable;
}

/** Bytes as they come in, until the end or until nobody wants them. */
export interface ByteInput {
  /** The next bytes, of which there is at least one, or undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends it at once; a `read` under way gives undefined. */
  cancel(reason?: unknown): Promise<void>;
}

/** Bytes as they go out. Who writes waits for one write before the next. */
export interface ByteOutput {
  /** Settles when the bytes are taken, or cannot be. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends it. */
  close(): Promise<void>;
  /** Gives it up. */
  abort(reason?: unknown): Promise<void>;
  /** Rejects when it fails by itself; undefined if only a write can fail. */
  readonly failed: Promise<unknown> | undefined;
}

/** Own standard streams. Each is made when it is asked for: the first Web Stream of a process takes Deno milliseconds. */
export class LazyStdio implements OwnStdio {
  readonly exclusive: boolean;
  readonly #source: ByteSource;
  readonly #sink: ByteSink;
  #readable: ReadableStream<Uint8Array> | undefined;
  #writable: WritableStream<Uint8Array> | undefined;
  #isTaken = false;

  constructor(source: ByteSource, sink: ByteSink, exclusive: boolean) {
    this.#source = source;
    this.#sink = sink;
    this.exclusive = exclusive;
  }

  get readable(): ReadableStream<Uint8Array> {
    this.#checkFree();
    return this.#readable ??= readableFrom(this.#source);
  }

  get writable(): WritableStream<Uint8Array> {
    this.#checkFree();
    return this.#writable ??= writableTo(this.#sink);
  }

  /** Takes both, if nobody has asked for one as a stream. */
  take(): ByteChannel | undefined {
    this.#checkFree();
    if (this.#readable !== undefined || this.#writable !== undefined) return undefined;
    this.#isTaken = true;
    return { input: new SourceInput(this.#source), output: new SinkOutput(this.#sink) };
  }

  #checkFree(): void {
    if (this.#isTaken) throw new TypeError("Cannot open the own stdio: it is in use");
  }
}

/** Both directions. */
export interface ByteChannel {
  readonly input: ByteInput;
  readonly output: ByteOutput;
}

/**
 * Takes two streams for all that comes and goes.
 *
 * @throws {TypeError} If somebody has one of them; the other is left alone.
 */
export function openChannel(streams: ByteStreams): ByteChannel {
  const taken = streams instanceof LazyStdio ? streams.take() : undefined;
  if (taken !== undefined) return taken;
  const { readable, writable } = streams;
  if (readable.locked) throw new TypeError("Cannot open the streams: the readable is locked");
  const output = outputTo(writable);
  return { input: inputFrom(readable), output };
}

function inputFrom(readable: ReadableStream<Uint8Array>): ByteInput {
  const reader = readable.getReader();
  const source = sources.get(readable);
  if (source !== undefined) return new SourceInput(source);
  return {
    async read() {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return undefined;
        if (value.length > 0) return value;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function outputTo(writable: WritableStream<Uint8Array>): ByteOutput {
  const writer = writable.getWriter();
  const sink = sinks.get(writable);
  if (sink !== undefined) return new SinkOutput(sink);
  return {
    write: (bytes) => writer.write(bytes),
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
    failed: writer.closed,
  };
}

class SourceInput implements ByteInput {
  readonly #source: ByteSource;
  #open = true;
  #finish: ((bytes: undefined) => void) | undefined;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  read(): Promise<Uint8Array | undefined> {
    if (!this.#open) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#finish = resolve;
      const take = (chunk: Uint8Array | null): void => {
        if (!this.#open) return;
        if (chunk === null) this.#end();
        else if (chunk.length > 0) resolve(chunk);
        else this.#source.read().then(take, fail);
      };
      const fail = (error: unknown): void => {
        if (!this.#open) return;
        this.#open = false;
        reject(error);
      };
      this.#source.read().then(take, fail);
    });
  }

  async cancel(): Promise<void> {
    if (!this.#open) return;
    this.#end();
    await this.#source.close();
  }

  #end(): void {
    this.#open = false;
    this.#finish?.(undefined);
  }
}

class SinkOutput implements ByteOutput {
  readonly failed = undefined;
  readonly #sink: ByteSink;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#sink.write(bytes);
    } catch (error) {
      throw toWriteError(error);
    }
  }

  async close(): Promise<void> {
    await this.#sink.close();
  }

  async abort(): Promise<void> {
    await this.#sink.abort();
  }
}

/** The one error for a pipe without a reader. */
export function brokenPipe(cause?: unknown): Error & { readonly code: "EPIPE" } {
  const error = new Error("Cannot write: the reader is gone", cause === undefined ? {} : { cause });
  return Object.assign(error, { code: "EPIPE" } as const);
}

/** How the runtimes and systems say that a pipe has no reader; a socket pair reports a reset when input was left unread. */
const READER_IS_GONE = new Set([
  "EPIPE",
  "ECONNRESET",
  "ECANCELED",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_WRITE_AFTER_END",
  "BrokenPipe",
  "ConnectionReset",
  "BadResource",
  "Interrupted",
]);

function toWriteError(error: unknown): unknown {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  const isGone = READER_IS_GONE.has(String(code)) || READER_IS_GONE.has(String(name));
  return isGone ? brokenPipe(error) : error;
}
