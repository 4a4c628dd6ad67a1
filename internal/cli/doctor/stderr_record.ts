import { settlesWithin, systemClock } from "../../clock.ts";

const TAIL_LENGTH = 16_384;

/** What an error that nobody has caught looks like. */
const UNHANDLED =
  /Traceback \(most recent call last\)|UnhandledPromiseRejection|Unhandled (?:promise )?rejection|Uncaught |panicked at|^\s+at .*\(?node:internal|goroutine \d+ \[|Exception in thread/im;

/** What a process has said on stderr, counted and judged as it came. */
export class StderrRecord {
  bytes = 0;
  longestLine = 0;
  /** The first line that looks like an error nobody caught. */
  unhandled: string | undefined;
  notUtf8 = false;
  hasControls = false;
  #tail = "";
  #lineLength = 0;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #ended: Promise<void>;

  constructor(stderr: ReadableStream<Uint8Array> | null, onBytes: () => void) {
    this.#reader = stderr?.getReader();
    this.#ended = this.#read(onBytes);
  }

  /** Its last lines. */
  lastLines(count: number): string {
    return this.#tail.slice(-TAIL_LENGTH).trimEnd().split("\n").slice(-count).join("\n");
  }

  /** Reads to its end, but no longer than that. */
  async close(limitMs: number): Promise<void> {
    if (await settlesWithin(systemClock, this.#ended, limitMs)) return;
    await this.#reader?.cancel().catch(() => {}); // Closed is closed.
  }

  async #read(onBytes: () => void): Promise<void> {
    if (this.#reader === undefined) return;
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.bytes += value.length;
        this.#measure(value);
        this.#take(decoder.decode(value, { stream: true }));
        onBytes();
      }
    } catch {
      // A pipe that broke has nothing more to say.
    }
    this.#take(decoder.decode());
  }

  #measure(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(0x0a, start);
      this.#lineLength += (end === -1 ? chunk.length : end) - start;
      this.longestLine = Math.max(this.longestLine, this.#lineLength);
      if (end === -1) return;
      this.#lineLength = 0;
      start = end + 1;
    }
  }

  #take(text: string): void {
    if (text === "") return;
    this.notUtf8 ||= text.includes("\ufffd");
    // Colour is let be.
    // deno-lint-ignore no-control-regex -- these are what is looked for
    this.hasControls ||= /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/.test(text);
    this.#tail = (this.#tail + text).slice(-2 * TAIL_LENGTH);
    if (this.unhandled !== undefined) return;
    const found = UNHANDLED.exec(this.#tail);
    if (found === null) return;
    const lines = this.#tail.slice(0, found.index + found[0].length).split("\n");
    let at = lines.length - 1;
    // The line above the frames of a stack is the one that says what it was.
    while (at > 0 && /^\s+at /.test(lines[at]!)) at--;
    this.unhandled = this.#tail.split("\n")[at];
  }
}
