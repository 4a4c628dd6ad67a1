import type { Outgoing } from "../../connection.ts";
import { createDeferred, type Deferred } from "../promises.ts";

const encoder = new TextEncoder();

/**
 * As soon as this much is queued it is written, even in the middle of a turn, so that the other side can begin on it. A lower
 * number would cost more in writes than that gains; a higher one would leave one side idle while the other works.
 */
const FLUSH_AT_BYTES = 8_192;

/** Settings of a {@linkcode WriteBuffer}. */
export interface WriteBufferSettings {
  /** Above this much, in UTF-16 code units or bytes, the buffer is full. */
  readonly highWaterBytes: number;
  /** As much as goes into one write, if more than one frame is waiting. */
  readonly maxBatchBytes: number;
}

type FrameState = "queued" | "begun" | "accepted" | "failed";

/** One frame in the buffer. Its promise is made only when somebody asks for it. */
class QueuedFrame implements Outgoing {
  /** Text without its line feed, or bytes with it; emptied once it is on its way. */
  content: string | Uint8Array;
  readonly #buffer: WriteBuffer;
  readonly #onBegin: (() => void) | undefined;
  #state: FrameState = "queued";
  #begun = false;
  #error: unknown;
  #waiter: Deferred<void> | undefined;

  constructor(content: string | Uint8Array, buffer: WriteBuffer, onBegin: (() => void) | undefined) {
    this.content = content;
    this.#buffer = buffer;
    this.#onBegin = onBegin;
  }

  /** Stays true after a failure: a frame whose write failed may have arrived all the same. */
  get begun(): boolean {
    return this.#begun;
  }

  get isQueued(): boolean {
    return this.#state === "queued";
  }

  get accepted(): Promise<void> {
    if (this.#state === "accepted") return Promise.resolve();
    this.#waiter ??= createDeferred();
    if (this.#state === "failed") this.#waiter.reject(this.#error);
    return this.#waiter.promise;
  }

  withdraw(): boolean {
    if (this.#state !== "queued") return false;
    this.#buffer.forget(this);
    return true;
  }

  begin(): void {
    this.#state = "begun";
    this.#begun = true;
    this.#onBegin?.();
  }

  accept(): void {
    this.#state = "accepted";
    this.#waiter?.resolve();
  }

  fail(error: unknown): void {
    if (this.#state === "accepted" || this.#state === "failed") return;
    this.#state = "failed";
    this.#error = error;
    this.#waiter?.reject(error);
  }
}

/**
 * Frames on their way to a byte sink. One write is in flight at a time; what is queued meanwhile goes out with the next
 * one. The first frame after a pause is written at the end of the turn, or when enough has come for a write of its own, so
 * that a burst costs a write or two.
 */
export class WriteBuffer {
  readonly #write: (bytes: Uint8Array) => Promise<void> | undefined;
  readonly #withdrawnError: () => unknown;
  readonly #settings: WriteBufferSettings;
  #queue: QueuedFrame[] = [];
  /** Frames before this index of the queue have been taken. */
  #head = 0;
  #size = 0;
  /** How many frames were taken back since the queue was last cleared of them. */
  #withdrawn = 0;
  #inFlight: QueuedFrame[] = [];
  #flushScheduled = false;
  /** How much was waiting when the scheduled flush last looked. */
  #sizeSeen = 0;
  #error: { readonly value: unknown } | undefined;
  #drained: Deferred<void> | undefined;
  #flushed: Deferred<void> | undefined;

  /**
   * `write` gives a promise, or undefined for what has been taken at once, and never throws. `withdrawnError` makes the error with
   * which a withdrawn frame rejects.
   */
  constructor(
    write: (bytes: Uint8Array) => Promise<void> | undefined,
    settings: WriteBufferSettings,
    withdrawnError: () => unknown,
  ) {
    this.#write = write;
    this.#settings = settings;
    this.#withdrawnError = withdrawnError;
  }

  /** How much is waiting, in UTF-16 code units or bytes. */
  get size(): number {
    return this.#size;
  }

  /** True when more is waiting than the buffer wants to hold. */
  get full(): boolean {
    return this.#size >= this.#settings.highWaterBytes;
  }

  /** Whether nothing is queued and nothing in flight. */
  get idle(): boolean {
    return this.#size === 0 && this.#inFlight.length === 0;
  }

  /**
   * Queues a frame: text without its line feed, or bytes with it. After {@linkcode fail} it fails at once. `onBegin` is called
   * when it begins to leave, and must not throw.
   */
  enqueue(content: string | Uint8Array, onBegin?: () => void): Outgoing {
    const frame = new QueuedFrame(content, this, onBegin);
    if (this.#error !== undefined) {
      frame.fail(this.#error.value);
      return frame;
    }
    this.#queue.push(frame);
    this.#size += content.length;
    if (this.#inFlight.length > 0) return frame;
    if (this.#size >= FLUSH_AT_BYTES) this.#flush();
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      this.#sizeSeen = 0;
      queueMicrotask(this.#flushWhenSettled);
    }
    return frame;
  }

  /**
   * Runs in microtasks until no more frames come in the same turn, or enough for a write of its own have come: handlers
   * that finish one after another in one turn share one write.
   */
  readonly #flushWhenSettled = (): void => {
    if (this.#size > this.#sizeSeen && this.#size < FLUSH_AT_BYTES) {
      this.#sizeSeen = this.#size;
      queueMicrotask(this.#flushWhenSettled);
      return;
    }
    this.#flushScheduled = false;
    this.#flush();
  };

  /** Resolves when the buffer is no longer full, or has failed. */
  drained(): Promise<void> {
    if (!this.full || this.#error !== undefined) return Promise.resolve();
    this.#drained ??= createDeferred();
    return this.#drained.promise;
  }

  /** Resolves when all that was queued has been accepted, or has failed. */
  flushed(): Promise<void> {
    if (this.idle || this.#error !== undefined) return Promise.resolve();
    this.#flushed ??= createDeferred();
    return this.#flushed.promise;
  }

  /** Gives up: whatever was not accepted, and all that comes later, fails. What has begun to leave may have its own error. */
  fail(error: unknown, errorOfBegun: unknown = error): void {
    if (this.#error !== undefined) return;
    this.#error = { value: error };
    const begun = this.#inFlight;
    const queued = this.#queue.slice(this.#head);
    this.#inFlight = [];
    this.#queue = [];
    this.#head = 0;
    this.#size = 0;
    for (const frame of begun) frame.fail(errorOfBegun);
    for (const frame of queued) frame.fail(error);
    this.#release();
  }

  /** Takes a frame back that has not begun to leave. */
  forget(frame: QueuedFrame): void {
    // The frame stays in the queue and is passed over when its turn comes; only its content is let go of now. Behind a write
    // that is stuck, withdrawn frames must not add up: then the queue is compacted.
    this.#size -= frame.content.length;
    frame.content = "";
    frame.fail(this.#withdrawnError());
    if (++this.#withdrawn > 1_024 && this.#withdrawn * 2 > this.#queue.length - this.#head) this.#compact();
    this.#release();
  }

  #compact(): void {
    this.#queue = this.#queue.filter((frame) => frame.isQueued);
    this.#head = 0;
    this.#withdrawn = 0;
  }

  /**
   * Writes what is queued: on as long as all of it is taken at once, and else until the write that is not. Nobody who waits is told
   * before something was taken: what only began to leave may still be lost.
   */
  #flush(): void {
    while (this.#inFlight.length === 0 && this.#error === undefined) {
      const frames = this.#takeBatch();
      if (frames.length === 0) break;
      this.#inFlight = frames;
      const bytes = joinFrames(frames);
      for (const frame of frames) frame.content = "";
      const writing = this.#write(bytes);
      if (writing !== undefined) {
        writing.then(this.#written, (error) => this.fail(error));
        return;
      }
      this.#accept();
    }
    this.#release();
  }

  readonly #written = (): void => {
    this.#accept();
    this.#flush();
    this.#release();
  };

  #accept(): void {
    const frames = this.#inFlight;
    this.#inFlight = [];
    for (const frame of frames) frame.accept();
  }

  /** The next frames that go out together: at least one, if one is queued. */
  #takeBatch(): QueuedFrame[] {
    const batch: QueuedFrame[] = [];
    let size = 0;
    while (this.#head < this.#queue.length) {
      const frame = this.#queue[this.#head]!;
      if (frame.isQueued) {
        const length = frame.content.length;
        if (batch.length > 0 && size + length > this.#settings.maxBatchBytes) break;
        frame.begin();
        batch.push(frame);
        size += length;
      }
      this.#head++;
    }
    this.#size -= size;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head > 1_024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return batch;
  }

  #release(): void {
    if (this.#drained !== undefined && !this.full) {
      this.#drained.resolve();
      this.#drained = undefined;
    }
    if (this.#flushed !== undefined && this.idle) {
      this.#flushed.resolve();
      this.#flushed = undefined;
    }
  }
}

/** The bytes of frames, each with its line feed. */
function joinFrames(frames: readonly QueuedFrame[]): Uint8Array {
  let text = "";
  for (const { content } of frames) {
    if (typeof content !== "string") return joinMixed(frames);
    text += content + "\n";
  }
  return encoder.encode(text);
}

function joinMixed(frames: readonly QueuedFrame[]): Uint8Array {
  const parts = frames.map(({ content }) =>
    typeof content === "string" ? encoder.encode(`${content}\n`) : content
  );
  if (parts.length === 1) return parts[0]!;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
