import type { Fault } from "../../connection.ts";
import { scanFrame } from "./id_scanner.ts";
import { DroppedLine, isBlank, toFault, toUnreadable } from "./line_fault.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Chunks below this size are copied together, so that a line in one-byte chunks costs no object a byte. */
const SMALL_CHUNK_BYTES = 16_384;
const FIRST_BLOCK_BYTES = 4_096;
const LARGEST_BLOCK_BYTES = 65_536;

const REPLACEMENT_CHARACTER = "\ufffd";

/**
 * The decoder that puts U+FFFD for bad UTF-8 is faster than the strict one, on Deno by ten times. So the strict one is asked
 * only when a U+FFFD is in the text: it may have been sent, or stand for something bad.
 */
const tolerantDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Takes what a {@linkcode LineSplitter} finds, in order. */
export interface LineSink {
  /** A line's text, without its line feed; a carriage return, marks at the start and blank lines are left in. */
  line(text: string): void;
  /** A line that is no text. */
  fault(fault: Fault): void;
}

/**
 * Cuts bytes into lines at LF alone. Chunks are searched once and joined once, so a line costs linear time however it
 * was cut. A line over the limit is dropped as it comes.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #sink: LineSink;
  /** The unfinished line, as blocks. The last one may be `#block`, filled up to `#blockLength`. */
  #blocks: Uint8Array[] = [];
  #block: Uint8Array | undefined;
  #blockLength = 0;
  #length = 0;
  #dropping: DroppedLine | undefined;

  constructor(maxLineBytes: number, sink: LineSink) {
    this.#maxLineBytes = maxLineBytes;
    this.#sink = sink;
  }

  /** Takes the next bytes. The chunk may be kept; it must not change afterwards. */
  push(chunk: Uint8Array): void {
    const last = chunk.lastIndexOf(LINE_FEED);
    if (last === -1) {
      this.#append(chunk);
      return;
    }
    let start = 0;
    if (this.#length > 0 || this.#dropping !== undefined) {
      const first = chunk.indexOf(LINE_FEED);
      this.#append(chunk.subarray(0, first));
      this.#endLine();
      start = first + 1;
    }
    if (start < last) this.#wholeLines(chunk.subarray(start, last));
    // The rest is copied: kept as it is, it would keep the whole chunk.
    // (A Buffer's own slice() would be a view.)
    if (last + 1 < chunk.length) this.#append(new Uint8Array(chunk.subarray(last + 1)));
  }

  /** Tells that no more bytes come: an unfinished line is a fault. */
  end(): void {
    if (this.#dropping !== undefined) {
      this.#endDropping("truncated", "the input ended inside a line over the limit");
    } else if (this.#length > 0) {
      const bytes = this.#take();
      if (isBlank(bytes)) return;
      this.#sink.fault(toFault("truncated", "the input ended inside a line", scanFrame(bytes), bytes));
    }
  }

  /** Lines that begin and end inside one chunk: decoded in one go, one by one only if there is a reason. */
  #wholeLines(bytes: Uint8Array): void {
    if (bytes.length <= this.#maxLineBytes) {
      const text = decode(bytes);
      if (text !== undefined) {
        for (const line of text.split("\n")) this.#sink.line(line);
        return;
      }
    }
    let start = 0;
    while (start <= bytes.length) {
      const next = bytes.indexOf(LINE_FEED, start);
      const end = next === -1 ? bytes.length : next;
      this.#line(bytes.subarray(start, end));
      start = end + 1;
    }
  }

  #line(bytes: Uint8Array): void {
    if (this.#isOverLimit(bytes.length, bytes[bytes.length - 1])) {
      this.#sink.fault(toFault("too_long", this.#limitDetail(), scanFrame(bytes), bytes));
      return;
    }
    const text = decode(bytes);
    if (text !== undefined) this.#sink.line(text);
    else this.#sink.fault(toUnreadable("invalid_utf8", "the line is not valid UTF-8", bytes));
  }

  #append(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    if (this.#dropping !== undefined) {
      this.#dropping.push(chunk);
      return;
    }
    this.#length += chunk.length;
    if (chunk.length >= SMALL_CHUNK_BYTES) {
      this.#closeBlock();
      this.#blocks.push(chunk);
    } else if (this.#length === chunk.length) {
      this.#blocks.push(chunk);
    } else {
      this.#copyIntoBlock(chunk);
    }
    if (this.#isOverLimit(this.#length, chunk[chunk.length - 1])) this.#beginDropping();
  }

  #copyIntoBlock(chunk: Uint8Array): void {
    if (this.#block !== undefined && this.#blockLength + chunk.length > this.#block.length) {
      this.#closeBlock();
    }
    this.#block ??= new Uint8Array(this.#nextBlockBytes(chunk.length));
    this.#block.set(chunk, this.#blockLength);
    this.#blockLength += chunk.length;
  }

  /** Blocks grow with the line, so that a short one that came in pieces costs little. */
  #nextBlockBytes(needed: number): number {
    return Math.max(needed, Math.min(LARGEST_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.#length)));
  }

  #closeBlock(): void {
    if (this.#block === undefined) return;
    const filled = this.#block.subarray(0, this.#blockLength);
    // A block that is mostly empty is not kept for the little that is in it.
    this.#blocks.push(this.#blockLength * 2 < this.#block.length ? filled.slice() : filled);
    this.#block = undefined;
    this.#blockLength = 0;
  }

  #endLine(): void {
    if (this.#dropping !== undefined) this.#endDropping("too_long", this.#limitDetail());
    else if (this.#length > 0) this.#line(this.#take());
  }

  /** The unfinished line as one array; nothing is kept. */
  #take(): Uint8Array {
    if (this.#block !== undefined) this.#blocks.push(this.#block.subarray(0, this.#blockLength));
    this.#block = undefined;
    this.#blockLength = 0;
    const blocks = this.#blocks;
    const length = this.#length;
    this.#blocks = [];
    this.#length = 0;
    if (blocks.length === 1) return blocks[0]!;
    const bytes = new Uint8Array(length);
    let offset = 0;
    for (const block of blocks) {
      bytes.set(block, offset);
      offset += block.length;
    }
    return bytes;
  }

  #beginDropping(): void {
    this.#closeBlock();
    this.#dropping = new DroppedLine();
    for (const block of this.#blocks) this.#dropping.push(block);
    this.#blocks = [];
    this.#length = 0;
  }

  #endDropping(reason: "too_long" | "truncated", detail: string): void {
    const fault = this.#dropping!.toFault(reason, detail);
    this.#dropping = undefined;
    this.#sink.fault(fault);
  }

  /** Whether a line with so many bytes, of which this is the last, is too long; a carriage return does not count. */
  #isOverLimit(length: number, lastByte: number | undefined): boolean {
    const limit = this.#maxLineBytes;
    return length > limit && (length > limit + 1 || lastByte !== CARRIAGE_RETURN);
  }

  #limitDetail(): string {
    return `the line is longer than ${this.#maxLineBytes} bytes`;
  }
}

/** Bytes as text; undefined if they are no UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  const text = tolerantDecoder.decode(bytes);
  if (!text.includes(REPLACEMENT_CHARACTER)) return text;
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined; // The caller makes a fault of the line it stands in.
  }
}
