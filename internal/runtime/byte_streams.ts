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
  /** Settles when the system has taken all of the bytes, or cannot. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the output. */
  close(): Promise<void> | void;
  /** Gives the output up, if possible together with a write under way. */
  abort(): Promise<void> | void;
}

/** A stream that reads only when it is read. */
export function readableFrom(source: ByteSource): ReadableStream<Uint8Array> {
  let open = true;
  return new ReadableStream<Uint8Array>({
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
}

/** A stream whose writes settle when the system has taken the bytes, and reject with `EPIPE` when the reader is gone. */
export function writableTo(sink: ByteSink): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
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
        throw readerIsGone(error) ? brokenPipe(error) : error;
      }
    },
    close: () => sink.close(),
    abort: () => sink.abort(),
  });
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

function readerIsGone(error: unknown): boolean {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  return READER_IS_GONE.has(String(code)) || READER_IS_GONE.has(String(name));
}
