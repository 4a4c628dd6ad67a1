/**
 * Cuts bytes into lines for a recording: nothing is dropped, changed or judged. It costs linear time however the bytes came,
 * and memory for one line, of which an endless one is given away in pieces.
 */

const LINE_FEED = 0x0a;
/** A line of this length is given away in pieces: no message that anybody takes is longer. */
const LONG_LINE_BYTES = 16_777_216;
const PIECE_BYTES = 1_048_576;
const FIRST_BUFFER_BYTES = 4_096;
/** More than this is not kept for the next line. */
const LARGEST_KEPT_BYTES = 1_048_576;

const REPLACEMENT_CHARACTER = "\ufffd";

/** The tolerant decoder is faster by far, so the strict one is asked only when its mark is there. */
const tolerantDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Takes what a {@linkcode LineCutter} finds, in order. */
export interface CutSink {
  /** A line, or a piece of one if it is not ended. */
  text(text: string, isEnded: boolean): void;
  /** The same of bytes that are no UTF-8. */
  bytes(bytes: Uint8Array, isEnded: boolean): void;
}

/** Cuts bytes into lines. */
export class LineCutter {
  readonly #sink: CutSink;
  #buffer = new Uint8Array(0);
  #length = 0;
  /** Whether pieces of the line that is being collected were given away. */
  #isLong = false;

  constructor(sink: CutSink) {
    this.#sink = sink;
  }

  /** Takes the next bytes. */
  push(chunk: Uint8Array): void {
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last < 0) {
      this.#append(chunk);
      return;
    }
    let start = 0;
    if (this.#length > 0 || this.#isLong) {
      const first = chunk.indexOf(LINE_FEED);
      this.#append(chunk.subarray(0, first));
      this.#give(this.#take(), true);
      this.#isLong = false;
      start = first + 1;
    }
    if (start <= last) this.#wholeLines(chunk.subarray(start, last));
    if (last + 1 < chunk.length) this.#append(chunk.subarray(last + 1));
  }

  /** No more bytes come. */
  end(): void {
    if (this.#length > 0) this.#give(this.#take(), false);
    this.#isLong = false;
  }

  /** Lines of one chunk are decoded together. */
  #wholeLines(bytes: Uint8Array): void {
    const text = tolerantDecoder.decode(bytes);
    if (!text.includes(REPLACEMENT_CHARACTER)) {
      for (const line of text.split("\n")) this.#sink.text(line, true);
      return;
    }
    let start = 0;
    while (start <= bytes.length) {
      const next = bytes.indexOf(LINE_FEED, start);
      const end = next < 0 ? bytes.length : next;
      this.#give(bytes.subarray(start, end), true);
      start = end + 1;
    }
  }

  #give(bytes: Uint8Array, isEnded: boolean): void {
    const text = decode(bytes);
    if (text === undefined) this.#sink.bytes(bytes.slice(), isEnded);
    else this.#sink.text(text, isEnded);
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(needed, FIRST_BUFFER_BYTES, this.#buffer.length * 2));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = needed;
    if (needed >= (this.#isLong ? PIECE_BYTES : LONG_LINE_BYTES)) this.#givePiece();
  }

  #givePiece(): void {
    this.#isLong = true;
    const end = characterBoundary(this.#buffer, this.#length);
    const rest = this.#buffer.slice(end, this.#length);
    this.#give(this.#buffer.subarray(0, end), false);
    this.#buffer = rest;
    this.#length = rest.length;
  }

  #take(): Uint8Array {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    if (this.#buffer.length > LARGEST_KEPT_BYTES) this.#buffer = new Uint8Array(0);
    return bytes;
  }
}

/** The last place at which text can be cut without cutting a character: behind at most three bytes of one that goes on. */
function characterBoundary(bytes: Uint8Array, length: number): number {
  for (let back = 1; back <= 3 && back < length; back++) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return length - back;
  }
  return length;
}

function decode(bytes: Uint8Array): string | undefined {
  const text = tolerantDecoder.decode(bytes);
  if (!text.includes(REPLACEMENT_CHARACTER)) return text;
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined; // What is no UTF-8 is given as bytes.
  }
}
