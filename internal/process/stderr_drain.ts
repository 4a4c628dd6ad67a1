import { createDeferred } from "../promises.ts";
import { callGuarded } from "../thrown.ts";

/** As much of stderr as is kept for errors, in UTF-16 code units. */
const TAIL_LENGTH = 65_536;
/** A line longer than this is handed on in pieces. */
const MAX_LINE_LENGTH = 8_192;

/** Where stderr goes besides the tail. */
export interface StderrReceivers {
  /** Takes text as it comes. */
  readonly onText?: ((text: string) => unknown) | undefined;
  /** Takes lines without their line feed; `cut` tells that the line goes on in the next call. */
  readonly onLine?: ((line: string, cut: boolean) => unknown) | undefined;
}

/**
 * Reads a server's stderr from the first moment to the end, whoever listens and whatever becomes of what is read: a full pipe
 * would stop the server (rule P2).
 */
export class StderrDrain {
  readonly #firstSign = createDeferred();
  /** Resolves with the first byte. */
  readonly firstSign: Promise<void> = this.#firstSign.promise;
  /** Resolves when nothing more will be read. */
  readonly ended: Promise<void>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #receivers: StderrReceivers;
  readonly #onFailure: (error: unknown) => void;
  /** Up to twice of what is kept, so that it is not cut with each chunk. */
  #tail = "";
  #line = "";

  /** `onFailure` is told of a receiver that throws, or gives a promise that rejects. */
  constructor(
    stderr: ReadableStream<Uint8Array>,
    receivers: StderrReceivers,
    onFailure: (error: unknown) => void,
  ) {
    this.#receivers = receivers;
    this.#onFailure = onFailure;
    this.#reader = stderr.getReader();
    this.ended = this.#run();
  }

  /** The end of what was written. */
  get tail(): string {
    return this.#tail.slice(-TAIL_LENGTH);
  }

  /** Stops reading, when somebody else holds the pipe open. */
  cancel(): void {
    this.#reader.cancel().catch(() => {}); // There is nothing left to release.
  }

  async #run(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.#firstSign.resolve();
        this.#take(decoder.decode(value, { stream: true }));
      }
    } catch {
      // A pipe that broke has nothing more to say, and stderr is never taken for failure.
    }
    this.#take(decoder.decode());
    if (this.#line !== "") this.#handOn(this.#line);
    this.#line = "";
  }

  #take(text: string): void {
    if (text === "") return;
    this.#tail += text;
    if (this.#tail.length > 2 * TAIL_LENGTH) this.#tail = this.tail;
    callGuarded(() => this.#receivers.onText?.(text), this.#onFailure);
    if (this.#receivers.onLine === undefined) return;
    const lines = (this.#line + text).split("\n");
    const rest = lines.pop()!;
    for (const line of lines) this.#handOn(this.#cut(line));
    this.#line = this.#cut(rest);
  }

  /** Hands on a line but for its last piece, and gives that. */
  #cut(line: string): string {
    let start = 0;
    for (; line.length - start > MAX_LINE_LENGTH; start += MAX_LINE_LENGTH) {
      this.#handOn(line.slice(start, start + MAX_LINE_LENGTH), true);
    }
    return line.slice(start);
  }

  #handOn(line: string, cut = false): void {
    callGuarded(() => this.#receivers.onLine?.(line, cut), this.#onFailure);
  }
}
