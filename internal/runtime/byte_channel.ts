/**
 * Both directions of a connection as bytes, for a caller that reads all of the input and makes all of the output. Where a
 * stream is one of ours, what is behind it is used directly: the machinery of Web Streams costs as much as all the rest of
 * a short exchange.
 */

import type { ByteStreams, OwnStdio } from "../../runtime.ts";
import {
  type ByteSink,
  type ByteSource,
  readableFrom,
  sinkBehind,
  sourceBehind,
  toWriteError,
  writableTo,
} from "./byte_streams.ts";

/** Bytes as they come in, until the end or until nobody wants them. */
export interface ByteInput {
  /** The next bytes, of which there is at least one, or undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends it at once; a `read` under way gives undefined. */
  cancel(reason?: unknown): Promise<void>;
}

/** Bytes as they go out. The caller waits for one write before it begins the next. */
export interface ByteOutput {
  /** Settles when the bytes are taken, or cannot be; undefined if they are taken already. Never throws. */
  write(bytes: Uint8Array): Promise<void> | undefined;
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
  checkStreams(streams);
  const { readable, writable } = streams;
  if (readable.locked) throw new TypeError("Cannot open the streams: the readable is locked");
  const output = outputTo(writable);
  return { input: inputFrom(readable), output };
}

/**
 * Node's own streams are what many have at hand.
 *
 * @throws {TypeError} If they are no Web Streams.
 */
export function checkStreams({ readable, writable }: ByteStreams): void {
  if (typeof readable?.getReader === "function" && typeof writable?.getWriter === "function") return;
  throw new TypeError("Cannot use the streams: they must be Web Streams, as { readable, writable }");
}

function inputFrom(readable: ReadableStream<Uint8Array>): ByteInput {
  const reader = readable.getReader();
  const source = sourceBehind(readable);
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
  const sink = sinkBehind(writable);
  if (sink !== undefined) return new SinkOutput(sink);
  return {
    async write(bytes) {
      await writer.write(bytes); // Node 20 throws, rather than rejects, for a stream that was closed.
    },
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
        if (chunk?.length === 0) return void this.#source.read().then(take, fail);
        this.#finish = undefined;
        this.#open = chunk !== null;
        resolve(chunk ?? undefined);
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
    this.#open = false;
    this.#finish?.(undefined);
    await this.#source.close();
  }
}

function failWrite(error: unknown): never {
  throw toWriteError(error);
}

class SinkOutput implements ByteOutput {
  readonly failed = undefined;
  readonly #sink: ByteSink;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  write(bytes: Uint8Array): Promise<void> | undefined {
    try {
      return this.#sink.write(bytes)?.catch(failWrite);
    } catch (error) {
      return Promise.reject(toWriteError(error));
    }
  }

  async close(): Promise<void> {
    await this.#sink.close();
  }

  async abort(): Promise<void> {
    await this.#sink.abort();
  }
}
