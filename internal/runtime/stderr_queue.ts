/**
 * Text on its way to stderr. Whoever reads our stderr may be slow, or may not read at all, and a program that waits for it
 * answers nobody: so nothing here waits. What stderr does not take at once is kept in a bounded queue; once that is full,
 * text is dropped until all of the queue is written, and then a line says how much.
 */

/** How a runtime writes to stderr. */
export interface StderrDevice {
  /**
   * Writes without ever waiting for the reader: gives how many of the bytes stderr has taken, or a promise that settles when
   * it has taken all of them or can take no more.
   */
  write(bytes: Uint8Array): number | Promise<unknown>;
  /** Writes what it can behind a write that is under way, in a short time, because this process ends. */
  writeLast(bytes: Uint8Array): void;
}

/** So much is kept, in bytes. */
const MAX_QUEUED_BYTES = 1_048_576;
/** So long the end of this process is held up by whoever reads stderr, in milliseconds. */
export const LAST_WRITE_MS = 500;
/** After so many milliseconds stderr is tried again. */
const RETRY_MS = 5;
const LF = 0x0a;

/** Writes what it can in a short time, waiting in this thread; `write` gives how many bytes it has taken. */
export function writeWithin(bytes: Uint8Array, write: (bytes: Uint8Array) => number): void {
  const end = performance.now() + LAST_WRITE_MS;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let rest = bytes; rest.length > 0 && performance.now() < end;) {
    rest = rest.subarray(write(rest));
    if (rest.length > 0) Atomics.wait(sleeper, 0, 0, 1);
  }
}

/** Writes to stderr without waiting, in order. */
export class StderrQueue {
  readonly #device: StderrDevice;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #isWriting = false;
  #retry: unknown;
  #droppedBytes = 0;
  #droppedLines = 0;
  #endsInLine = false;
  #ended = false;

  constructor(device: StderrDevice) {
    this.#device = device;
  }

  /** Writes text or bytes, now or later or never. The bytes are the caller's again when this returns. */
  write(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data.slice();
    if (bytes.length === 0) return;
    if (
      this.#droppedBytes > 0 || this.#queuedBytes > 0 && this.#queuedBytes + bytes.length > MAX_QUEUED_BYTES
    ) {
      this.#droppedBytes += bytes.length;
      for (const byte of bytes) if (byte === LF) this.#droppedLines++;
      return;
    }
    this.#add(bytes);
    if (this.#ended) this.writeLast();
    else this.#advance();
  }

  /** This process ends: writes what it can of what is left, and of what comes from now on. */
  end(): void {
    this.writeLast();
    this.#ended = true;
  }

  /** Writes what it can of what is left: this process may end. */
  writeLast(): void {
    this.#tellDropped();
    if (this.#queuedBytes > 0 || this.#isWriting) this.#device.writeLast(this.#takeAll());
  }

  #add(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#endsInLine = bytes.at(-1) !== LF;
  }

  #advance(): void {
    while (this.#queuedBytes > 0 && !this.#isWriting && this.#retry === undefined) {
      const bytes = this.#takeAll();
      const taken = this.#device.write(bytes);
      if (typeof taken !== "number") return this.#waitFor(taken);
      if (taken < bytes.length) return this.#retryWith(bytes.subarray(taken));
      this.#tellDropped();
    }
  }

  #waitFor(written: Promise<unknown>): void {
    this.#isWriting = true;
    const goOn = (): void => {
      this.#isWriting = false;
      if (this.#queuedBytes === 0) this.#tellDropped();
      this.#advance();
    };
    // What cannot be written has no reader, and nobody else can be told.
    written.then(goOn, goOn);
  }

  #retryWith(rest: Uint8Array): void {
    this.#queue.unshift(rest);
    this.#queuedBytes += rest.length;
    const timer: unknown = setTimeout(() => {
      this.#retry = undefined;
      this.#advance();
    }, RETRY_MS);
    (timer as { unref?(): void }).unref?.();
    this.#retry = timer;
  }

  #tellDropped(): void {
    if (this.#droppedBytes === 0) return;
    const lines = `${this.#droppedLines} lines (${this.#droppedBytes} bytes)`;
    this.#droppedBytes = this.#droppedLines = 0;
    const start = this.#endsInLine ? "\n" : "";
    this.#add(
      new TextEncoder().encode(
        `${start}[mcp_stdio] dropped ${lines} here, since nobody was reading stderr\n`,
      ),
    );
  }

  #takeAll(): Uint8Array {
    const [first] = this.#queue;
    const all = first !== undefined && this.#queue.length === 1
      ? first
      : joined(this.#queue, this.#queuedBytes);
    this.#queue = [];
    this.#queuedBytes = 0;
    return all;
  }
}

function joined(parts: readonly Uint8Array[], byteLength: number): Uint8Array {
  const all = new Uint8Array(byteLength);
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}
