import type { RequestId } from "../../messages.ts";

/** What a scan found at the top level of a frame. */
export interface ScannedFrame {
  /** The value of the last top-level `id`, if that is a string or an integer. */
  readonly id?: RequestId | undefined;
  /** The digits of `id`, when a JavaScript number cannot hold them. */
  readonly idText?: string | undefined;
  /** Whether there is a top-level `method`. */
  readonly hasMethod: boolean;
  /** Whether there is a top-level `result` or `error`. */
  readonly hasResult: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The longest raw key looked at: `method` with every character escaped has 36 bytes. */
const MAX_KEY_BYTES = 64;
/** The longest raw id kept. */
const MAX_ID_BYTES = 4_096;
/** Down to here brackets must match; deeper ones are only counted, so that memory stays fixed. */
const MAX_MATCHED_DEPTH = 1_024;

const JSON_NUMBER_REGEXP = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Where in the text the scan stands. */
type Position = "start" | "structure" | "string" | "escape" | "done";
/** Which top-level token is being copied. */
type Capture = "none" | "key" | "string_id" | "bare_id";

/**
 * Finds the top-level `id` of a frame that cannot be parsed: too long, cut, with bad UTF-8 or broken JSON. It is fed in
 * chunks and needs a fixed amount of memory. It goes on after an error as long as the brackets match, so an id is also
 * found behind broken text, but never inside a nested value.
 */
export class IdScanner {
  #position: Position = "start";
  #depth = 0;
  readonly #brackets = new Uint8Array(MAX_MATCHED_DEPTH);
  /** At depth 1, after `{` or `,`: a string that comes now is a key. */
  #keyExpected = false;
  /** The top-level key whose colon or value comes next. */
  #key: string | undefined;
  #valueExpected = false;
  #capture: Capture = "none";
  #captured: number[] = [];
  #overflow = false;
  #id: RequestId | undefined;
  #idText: string | undefined;
  #hasMethod = false;
  #hasResult = false;

  /** Takes the next bytes of the frame. */
  push(bytes: Uint8Array): void {
    let at = this.#position === "start" ? this.#skipToStart(bytes) : 0;
    const length = bytes.length;
    while (at < length && this.#position !== "done") {
      if (this.#position === "string") at = this.#scanString(bytes, at);
      else if (this.#position === "escape") {
        this.#copy(bytes[at]!);
        this.#position = "string";
        at++;
      } else {
        this.#structure(bytes[at]!);
        at++;
      }
    }
  }

  /** Tells what was found. A number at the very end does not count: more digits may have been cut off. */
  end(): ScannedFrame {
    return { id: this.#id, idText: this.#idText, hasMethod: this.#hasMethod, hasResult: this.#hasResult };
  }

  #skipToStart(bytes: Uint8Array): number {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === OPEN_BRACE) {
        this.#position = "structure";
        this.#open(byte);
        this.#keyExpected = true;
        return at + 1;
      }
      const isByteOrderMark = byte === 0xef || byte === 0xbb || byte === 0xbf;
      if (!isSpace(byte) && !isByteOrderMark) {
        this.#position = "done";
        return at;
      }
    }
    return bytes.length;
  }

  /** Runs through a string up to its end, an escape, or the end of the bytes. */
  #scanString(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#position = "structure";
        this.#endString();
        return at + 1;
      }
      this.#copy(byte);
      if (byte === BACKSLASH) {
        this.#position = "escape";
        return at + 1;
      }
    }
    return bytes.length;
  }

  #structure(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#spoilBare();
        this.#position = "string";
        if (this.#depth === 1) this.#beginTopLevelString();
        return;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#spoilBare();
        if (this.#depth === 1) this.#beginTopLevelContainer();
        this.#open(byte);
        return;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#endBare();
        this.#close(byte);
        return;
      case COMMA:
        this.#endBare();
        this.#key = undefined;
        this.#valueExpected = false;
        this.#keyExpected = this.#depth === 1;
        return;
      case COLON:
        this.#spoilBare();
        if (this.#depth === 1 && this.#key !== undefined) {
          this.#valueExpected = true;
          if (this.#key === "method") this.#hasMethod = true;
          if (this.#key === "result" || this.#key === "error") this.#hasResult = true;
        }
        return;
      default:
        if (this.#depth === 1) this.#topLevelBareByte(byte);
    }
  }

  #beginTopLevelString(): void {
    if (this.#keyExpected) this.#beginCapture("key");
    else if (this.#valueExpected && this.#key === "id") this.#beginCapture("string_id");
    this.#keyExpected = false;
    this.#valueExpected = false;
  }

  #beginTopLevelContainer(): void {
    if (this.#valueExpected && this.#key === "id") this.#setId(undefined);
    this.#keyExpected = false;
    this.#valueExpected = false;
    this.#key = undefined;
  }

  #topLevelBareByte(byte: number): void {
    if (isSpace(byte)) {
      this.#endBare();
      return;
    }
    if (this.#capture === "bare_id") {
      this.#copy(byte);
      return;
    }
    if (this.#valueExpected && this.#key === "id") {
      this.#beginCapture("bare_id");
      this.#copy(byte);
    }
    this.#keyExpected = false;
    this.#valueExpected = false;
  }

  #open(byte: number): void {
    if (this.#depth < MAX_MATCHED_DEPTH) this.#brackets[this.#depth] = byte;
    this.#depth++;
  }

  #close(byte: number): void {
    this.#depth--;
    const opened = byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET;
    const matches = this.#depth >= MAX_MATCHED_DEPTH || this.#brackets[this.#depth] === opened;
    // Behind brackets that do not match one cannot tell any more what is nested in what.
    if (this.#depth === 0 || !matches) this.#position = "done";
  }

  #beginCapture(capture: Capture): void {
    this.#capture = capture;
    this.#captured = [];
    this.#overflow = false;
  }

  #copy(byte: number): void {
    if (this.#capture === "none") return;
    const limit = this.#capture === "key" ? MAX_KEY_BYTES : MAX_ID_BYTES;
    if (this.#captured.length < limit) this.#captured.push(byte);
    else this.#overflow = true;
  }

  #endString(): void {
    if (this.#capture === "key") {
      this.#key = this.#takeString() ?? "";
    } else if (this.#capture === "string_id") {
      this.#setId(this.#takeString());
      this.#key = undefined;
    }
  }

  #endBare(): void {
    if (this.#capture !== "bare_id") return;
    const text = this.#takeText() ?? "";
    const value = JSON_NUMBER_REGEXP.test(text) ? Number(text) : undefined;
    const isId = Number.isInteger(value);
    this.#setId(isId ? value : undefined, isId && !Number.isSafeInteger(value) ? text : undefined);
    this.#key = undefined;
  }

  /** A number must be followed by a comma or a bracket: with anything else behind it, it is no number. */
  #spoilBare(): void {
    if (this.#capture !== "bare_id") return;
    this.#capture = "none";
    this.#captured = [];
    this.#setId(undefined);
    this.#key = undefined;
  }

  #setId(id: RequestId | undefined, idText?: string): void {
    this.#id = id;
    this.#idText = idText;
  }

  /** The captured text, or undefined if it was too long or is not valid UTF-8. */
  #takeText(): string | undefined {
    const bytes = Uint8Array.from(this.#captured);
    this.#capture = "none";
    this.#captured = [];
    if (this.#overflow) return undefined;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return undefined; // Bad UTF-8: there is no text that could be an id.
    }
  }

  #takeString(): string | undefined {
    const text = this.#takeText();
    if (text === undefined) return undefined;
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {
      return undefined; // A raw control character or an unknown escape: not a JSON string.
    }
  }
}

/** Scans a whole frame. */
export function scanFrame(bytes: Uint8Array): ScannedFrame {
  const scanner = new IdScanner();
  scanner.push(bytes);
  return scanner.end();
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;
}
