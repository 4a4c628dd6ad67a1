import type { Fault } from "../../connection.ts";
import { IdScanner, type ScannedFrame } from "./id_scanner.ts";

const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = 0xfeff;
const PREVIEW_BYTES = 1_024;

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

/** A line's text without byte order mark and carriage return, or undefined if it is blank. */
export function cleanLine(line: string): string | undefined {
  const start = line.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  const end = line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
  for (let at = start; at < end; at++) {
    const code = line.charCodeAt(at);
    if (code !== 0x20 && code !== 0x09 && code !== CARRIAGE_RETURN) return line.slice(start, end);
  }
  return undefined;
}

/** Makes a fault of a line that is at hand as bytes. */
export function toFault(
  reason: Fault["reason"],
  detail: string,
  scanned: ScannedFrame,
  bytes: Uint8Array,
): Fault {
  return { kind: "fault", reason, detail, ...scanned, byteLength: bytes.length, preview: previewOf(bytes) };
}

/** The first part of a line as text; a character cut at its end, and bad UTF-8, become U+FFFD. */
function previewOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, PREVIEW_BYTES));
}

/** Whether bytes are only space, tab, carriage return and at most one byte order mark in front. */
export function isBlank(bytes: Uint8Array): boolean {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  for (let at = hasMark ? 3 : 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== CARRIAGE_RETURN) return false;
  }
  return true;
}
