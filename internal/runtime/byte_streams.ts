/**
 * Web Streams over one read or one write at a time: nothing is read before it is asked for, and a write is done when
 * the system has taken its bytes.
 */

/** Where bytes come from. */
export interface ByteSource {
  /** The next bytes, which are the caller's to keep, or null at the end. */
  read(): Promise<Uint8Array | null>;
  /** Lets go of the source. A `read` under way may settle in any manner. */
  close(): Promise<void> | void;
}

/** Where bytes go. */
export interface ByteSink {
  /** Settles when the system has taken all of the bytes, or cannot; undefined if it has taken them in the call itself. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** Ends the output. */
  close(): Promise<void> | void;
  /** Gives the output up, if possible together with a write under way. */
  abort(): Promise<void> | void;
}

/** What is behind the streams made here, as long as nobody has used them. */
const sources = new WeakMap<ReadableStream<Uint8Array>, ByteSource>();
const sinks = new WeakMap<WritableStream<Uint8Array>, ByteSink>();

/** The source behind a stream made here that nobody has read yet. */
export function sourceBehind(readable: ReadableStream<Uint8Array>): ByteSource | undefined {
  return sources.get(readable);
}

/** The sink behind a stream made here that nobody has written to yet. */
export function sinkBehind(writable: WritableStream<Uint8Array>): ByteSink | undefined {
  return sinks.get(writable);
}

/** A stream that reads only when it is read. */
export function readableFrom(source: ByteSource): ReadableStream<Uint8Array> {
  let open = true;
  const readable = new ReadableStream<Uint8Array>({
    async pull(controller) {
      sources.delete(readable);
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
      sinks.delete(writable);
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
  // Of Node on Windows.
  "EOF",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_WRITE_AFTER_END",
  "BrokenPipe",
  "ConnectionReset",
  "BadResource",
  "Interrupted",
]);

/** What a failed write is told as: one error for all ways in which a reader can be gone. */
export function toWriteError(error: unknown): unknown {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  const isGone = READER_IS_GONE.has(String(code)) || READER_IS_GONE.has(String(name));
  return isGone ? brokenPipe(error) : error;
}
