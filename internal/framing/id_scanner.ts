import type { RequestId } from "../../messages.ts";
import { isUsableId, MAX_ID_BYTES } from "./message_rules.ts";

/** What a scan found at the top level of a frame. */
export interface ScannedFrame {
  /** The value of the last top-level `id`, if that is a string or an integer. */
  readonly id?: RequestId | undefined;
  /** The digits of `id`, when a JavaScript number cannot hold them. */
  readonly idText?: string | undefined;
  /** Whether there is a top-level `id`, whatever its value. */
  readonly hasId: boolean;
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
/** The longest raw id kept: each byte of its text may be written as an escape of six. */
const MAX_RAW_ID_BYTES = 6 * MAX_ID_BYTES;
/** Down to here brackets must match; deeper ones are only counted, so that memory stays fixed. */
const MAX_MATCHED_DEPTH = 1_024;

const JSON_NUMBER_REGEXP = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What a scan says of text in which there is no frame. */
const NOTHING: ScannedFrame = { hasId: false, hasMethod: false, hasResult: false };
/** What the scan of a frame begins with. */
const UNSEEN: ScannedFrame = { id: undefined, idText: undefined, ...NOTHING };

/**
 * Where in the text the scan stands. `start` is the start of the line, `bracket` is behind a `[` there, `search` is in text
 * in front of a frame, and `candidate` is behind a `{` in such text.
 */
type Position = "start" | "bracket" | "search" | "candidate" | "structure" | "string" | "escape" | "done";
/** Which top-level token is being copied. */
type Capture = "none" | "key" | "string_id" | "bare_id";

/**
 * Finds the top-level `id` of a frame that cannot be parsed: too long, cut, with bad UTF-8 or broken JSON, or glued behind
 * text that somebody printed without a line feed. It is fed in chunks and needs a fixed amount of memory. It goes on after
 * an error as long as the brackets match, so an id is also found behind broken text, but never inside a nested value.
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
  /** What the frame has said so far. */
  #seen: { -readonly [Member in keyof ScannedFrame]: ScannedFrame[Member] } = { ...UNSEEN };
  #hasVersion = false;
  /** Whether what is scanned does not begin the line: it counts only if it has a `jsonrpc` member. */
  #isGlued = false;
  /** What the object said that began the line and was no frame. */
  #first: ScannedFrame = NOTHING;

  /** Takes the next bytes of the line. */
  push(bytes: Uint8Array): void {
    const length = bytes.length;
    let at = 0;
    while (at < length && this.#position !== "done") {
      switch (this.#position) {
        case "structure":
          this.#structure(bytes[at]!);
          at++;
          break;
        case "string":
          at = this.#scanString(bytes, at);
          break;
        case "escape":
          this.#copy(bytes[at]!);
          this.#position = "string";
          at++;
          break;
        case "search":
          at = this.#search(bytes, at);
          break;
        default:
          at = this.#begin(this.#position, bytes[at]!, at);
      }
    }
  }

  /** Tells what was found. A number at the very end does not count: more digits may have been cut off. */
  end(): ScannedFrame {
    return this.#isGlued && !this.#hasVersion ? this.#first : this.#seen;
  }

  /** Judges a byte in front of a frame, or just behind its first bracket, and gives the place to go on at. */
  #begin(position: "start" | "bracket" | "candidate", byte: number, at: number): number {
    if (isSpace(byte)) return at + 1;
    if (position === "start") {
      if (isMark(byte)) return at + 1;
      if (byte === OPEN_BRACE) this.#openFrame("structure");
      // A batch: the ids of its members are no ids of the line.
      else if (byte === OPEN_BRACKET) this.#position = "bracket";
      else return this.#beginSearch(at);
      return at + 1;
    }
    if (position === "bracket") {
      if (byte !== OPEN_BRACE) return this.#beginSearch(at);
      this.#position = "done";
    } else if (byte !== QUOTE && byte !== CLOSE_BRACE) return this.#beginSearch(at);
    else this.#position = "structure";
    return at;
  }

  #beginSearch(at: number): number {
    this.#position = "search";
    this.#isGlued = true;
    return at;
  }

  /** Looks for a frame in text that somebody has printed. */
  #search(bytes: Uint8Array, from: number): number {
    const found = bytes.indexOf(OPEN_BRACE, from);
    if (found === -1) return bytes.length;
    this.#openFrame("candidate");
    return found + 1;
  }

  #openFrame(position: "structure" | "candidate"): void {
    this.#position = position;
    this.#depth = 0;
    this.#open(OPEN_BRACE);
    this.#keyExpected = true;
    this.#key = undefined;
    this.#valueExpected = false;
    this.#capture = "none";
    this.#captured = [];
    this.#seen = { ...UNSEEN };
    this.#hasVersion = false;
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
          if (this.#key === "id") this.#seen.hasId = true;
          if (this.#key === "jsonrpc") this.#hasVersion = true;
          if (this.#key === "method") this.#seen.hasMethod = true;
          if (this.#key === "result" || this.#key === "error") this.#seen.hasResult = true;
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
    if (this.#depth > 0 && matches) return;
    // Behind brackets that do not match one cannot tell any more what is nested in what.
    const isNotification = this.#hasVersion && this.#seen.hasMethod && !this.#seen.hasId;
    if ((this.#hasVersion && !isNotification) || !(matches || this.#isGlued)) this.#position = "done";
    else {
      // An object, but no frame: something that was printed, too. Or a notification whose line feed is missing.
      if (!this.#isGlued || isNotification) this.#first = this.#seen;
      this.#beginSearch(0);
    }
  }

  #beginCapture(capture: Capture): void {
    this.#capture = capture;
    this.#captured = [];
    this.#overflow = false;
  }

  #copy(byte: number): void {
    if (this.#capture === "none") return;
    const limit = this.#capture === "key" ? MAX_KEY_BYTES : MAX_RAW_ID_BYTES;
    if (this.#captured.length < limit) this.#captured.push(byte);
    else this.#overflow = true;
  }

  #endString(): void {
    if (this.#capture === "key") {
      this.#key = this.#takeString() ?? "";
    } else if (this.#capture === "string_id") {
      const id = this.#takeString();
      this.#setId(isUsableId(id) ? id : undefined);
      this.#key = undefined;
    }
  }

  #endBare(): void {
    if (this.#capture !== "bare_id") return;
    const text = this.#takeText() ?? "";
    const value = JSON_NUMBER_REGEXP.test(text) ? Number(text) : undefined;
    const isId = Number.isInteger(value) && text.length <= MAX_ID_BYTES;
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
    this.#seen.id = id;
    this.#seen.idText = idText;
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

/** Scans a whole line. */
export function scanFrame(bytes: Uint8Array): ScannedFrame {
  const scanner = new IdScanner();
  scanner.push(bytes);
  return scanner.end();
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;
}

/** A byte of a byte order mark, or NUL, which is what is left of UTF-16 text at the start of a line. */
function isMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf || byte === 0;
}
