import type { Fault } from "../../connection.ts";
import { IdScanner, scanFrame, type ScannedFrame } from "./id_scanner.ts";

const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = 0xfeff;
const PREVIEW_BYTES = 1_024;
/** So much of a line is looked at to see whether it is UTF-16 text. */
const SAMPLE_BYTES = 64;

const CONTENT_LENGTH_REGEXP = /^content-length:[ \t]*\d+/i;

/** What is kept of a line that is dropped as it comes. */
export class DroppedLine {
  readonly #scanner = new IdScanner();
  readonly #preview = new Uint8Array(PREVIEW_BYTES);
  #byteLength = 0;

  push(bytes: Uint8Array): void {
    if (this.#byteLength < PREVIEW_BYTES) {
      this.#preview.set(bytes.subarray(0, PREVIEW_BYTES - this.#byteLength), this.#byteLength);
    }
    this.#scanner.push(bytes);
    this.#byteLength += bytes.length;
  }

  toFault(reason: Fault["reason"], detail: string): Fault {
    const preview = previewOf(this.#preview.subarray(0, Math.min(this.#byteLength, PREVIEW_BYTES)));
    return { kind: "fault", reason, detail, ...this.#scanner.end(), byteLength: this.#byteLength, preview };
  }
}

/** A line's text without the marks at its start and one carriage return at its end, or undefined if it is blank. */
export function cleanLine(line: string): string | undefined {
  const start = endOfMarks(line);
  const end = line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
  for (let at = start; at < end; at++) {
    const code = line.charCodeAt(at);
    if (code !== 0x20 && code !== 0x09 && code !== CARRIAGE_RETURN) return line.slice(start, end);
  }
  return undefined;
}

/** Whether a line begins with what is to be removed: a byte order mark, or NUL characters. */
export function hasMarks(line: string): boolean {
  return endOfMarks(line) > 0;
}

/** One byte order mark is passed over, and all NUL characters around it: they are what is left of UTF-16 text. */
function endOfMarks(line: string): number {
  let at = 0;
  let hasMark = false;
  for (;; at++) {
    const code = line.charCodeAt(at);
    if (code === BYTE_ORDER_MARK && !hasMark) hasMark = true;
    else if (code !== 0) return at;
  }
}

/** Whether bytes are what {@linkcode cleanLine} finds to be a blank line. */
export function isBlank(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    const isMark = byte === 0 || byte === 0xef || byte === 0xbb || byte === 0xbf;
    if (!isMark && byte !== 0x20 && byte !== 0x09 && byte !== CARRIAGE_RETURN) return false;
  }
  return cleanLine(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)) === undefined;
}

/** Makes a fault of a line that is at hand as bytes and has been scanned. */
export function toFault(
  reason: Fault["reason"],
  detail: string,
  scanned: ScannedFrame,
  bytes: Uint8Array,
): Fault {
  return { kind: "fault", reason, detail, ...scanned, byteLength: bytes.length, preview: previewOf(bytes) };
}

/** Makes a fault of a line that is at hand as bytes and cannot be parsed; known mistakes are told by their names. */
export function toUnreadable(reason: Fault["reason"], detail: string, bytes: Uint8Array): Fault {
  const text = decodeUtf16(bytes);
  if (text !== undefined) {
    return toFault(
      reason,
      "the line is UTF-16 text, not UTF-8",
      scanFrame(new TextEncoder().encode(text)),
      bytes,
    );
  }
  const fault = toFault(reason, detail, scanFrame(bytes), bytes);
  return isContentLengthHeader(fault)
    ? { ...fault, detail: "the line is a Content-Length header, but messages are framed by lines" }
    : fault;
}

/** Whether a line is a header as language servers write them, so that no message can be read from its sender. */
export function isContentLengthHeader({ preview }: Fault): boolean {
  return CONTENT_LENGTH_REGEXP.test(preview);
}

/** The text of a line of UTF-16, or undefined if it is none: the bytes at every other place are NUL in JSON. */
function decodeUtf16(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = sample.reduce((count, byte) => byte === 0 ? count + 1 : count, 0);
  if (zeros < 2 || zeros < sample.length / 4) return undefined;
  // The line feed's own NUL is at the start of the next line, or at the end of this one. Without it, both byte orders read
  // alike: the NUL stands behind its character.
  let start = 0;
  while (bytes[start] === 0 || bytes[start]! >= 0xfe) start++;
  return new TextDecoder("utf-16le").decode(bytes.subarray(start));
}

/** The first part of a line as text; a character cut at its end, and bad UTF-8, become U+FFFD. */
export function previewOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, PREVIEW_BYTES));
}
