/** Lines as they came, judged by their bytes and by what JSON-RPC would have them be. */

import { parseJson } from "../json_text.ts";

/** What a line is. */
export type LineKind = "request" | "notification" | "result" | "error" | "batch" | "blank" | "stray";

/** A JSON object whose members nobody has looked at. */
export type Members = { readonly [name: string]: unknown };

/** One line of a server's stdout. */
export interface RawLine {
  /** Its place in the output, from 0. */
  readonly index: number;
  /** The first bytes of it, without the LF: all of them up to 64 KiB. */
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Its text, if it is UTF-8 and was kept. */
  readonly text: string | undefined;
  readonly kind: LineKind;
  /** The message, where it is one. */
  readonly message: Members | undefined;
  /** When it came, in milliseconds from the start of its process. */
  readonly at: number;
  /** How many lines had been sent before it came. */
  readonly sentBefore: number;
  /** The check that was at work. */
  readonly check: string;
  /** Faults of the bytes. */
  readonly faults: ReadonlySet<LineFault>;
  /** Why it is no message, if it is none. */
  readonly why: string | undefined;
}

/** What may be wrong with the bytes of a line. */
export type LineFault = "not_utf8" | "bom" | "cr" | "loose" | "surrogate";

const KEPT_BYTES = 65_536;
const LF = 0x0a;

/** Where a line stands, and who was at work. */
export interface LinePlace {
  readonly index: number;
  readonly at: number;
  readonly sentBefore: number;
  readonly check: string;
}

/** Cuts bytes into lines at LF alone. */
export class LineCutter {
  #parts: Uint8Array[] = [];

  /** The whole lines that the chunk ends. */
  push(chunk: Uint8Array): Uint8Array[] {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      lines.push(this.#join(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) this.#parts.push(chunk.slice(start));
    return lines;
  }

  /** What stands behind the last LF. */
  get rest(): Uint8Array {
    return this.#parts.length === 0 ? new Uint8Array() : joinBytes(this.#parts);
  }

  #join(last: Uint8Array): Uint8Array {
    if (this.#parts.length === 0) return last.slice();
    const line = joinBytes([...this.#parts, last]);
    this.#parts = [];
    return line;
  }
}

/** Bytes, one behind the other. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Looks at a line. With `keep` false its message is forgotten but for the id. */
export function judgeLine(bytes: Uint8Array, place: LinePlace, keep = true): RawLine {
  const faults = new Set<LineFault>();
  let body = bytes;
  if (body.at(-1) === 0x0d) {
    faults.add("cr");
    body = body.subarray(0, -1);
  }
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    faults.add("bom");
    body = body.subarray(3);
  }
  const text = decodeStrict(body);
  if (text === undefined) faults.add("not_utf8");
  const tolerant = text ?? new TextDecoder().decode(body);
  const judged = judgeText(tolerant);
  if (judged.message !== undefined && keep && tolerant.length <= KEPT_BYTES) {
    if (/\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])/.test(tolerant)) faults.add("surrogate");
    if (isLoose(tolerant)) faults.add("loose");
  }
  const message = keep || judged.message === undefined ? judged.message : headOf(judged.message);
  return {
    ...place,
    bytes: bytes.length > KEPT_BYTES ? bytes.slice(0, KEPT_BYTES) : bytes,
    length: bytes.length,
    text: keep && tolerant.length <= KEPT_BYTES ? text : undefined,
    kind: judged.kind,
    message,
    faults,
    why: judged.why,
  };
}

/** What is kept of the messages of a flood. */
function headOf(message: Members): Members {
  return Object.fromEntries(
    ["id", "method"].filter((name) => name in message).map((name) => [name, message[name]]),
  );
}

interface Judged {
  readonly kind: LineKind;
  readonly message?: Members;
  readonly why?: string;
}

function judgeText(text: string): Judged {
  if (/^[ \t\r]*$/.test(text)) return { kind: "blank" };
  const parsed = parseJson(text);
  // What it looks like instead is for OUT-01 to say.
  if (parsed === undefined) return { kind: "stray", why: "no JSON" };
  const { value } = parsed;
  if (Array.isArray(value)) return { kind: "batch", message: { batch: value } };
  if (!isObject(value)) return { kind: "stray", why: "a JSON value that is no object" };
  return judgeMessage(value);
}

/** Which message an object is, by its members. */
function judgeMessage(value: Members): Judged {
  if (value["jsonrpc"] !== "2.0") return { kind: "stray", message: value, why: 'without "jsonrpc":"2.0"' };
  if ("method" in value) {
    if (typeof value["method"] !== "string") {
      return { kind: "stray", message: value, why: "a method that is no string" };
    }
    return { kind: "id" in value ? "request" : "notification", message: value };
  }
  if ("error" in value) return { kind: "error", message: value };
  if ("result" in value) return { kind: "result", message: value };
  return { kind: "stray", message: value, why: "neither method nor result nor error" };
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of a member …, or undefined where there is none. */
export function at(value: unknown, ...path: ReadonlyArray<string | number>): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = (current as { [name: string | number]: unknown })[name];
  }
  return current;
}

/** The object that a value is, or an empty one. */
export function asObject(value: unknown): Members {
  return isObject(value) ? value : {};
}

/** Whether a line is an answer. */
export function isAnswer({ kind }: RawLine): boolean {
  return kind === "result" || kind === "error";
}

/** Whether a line answers the id: the same value of the same type. */
export function isAnswerTo(line: RawLine, id: unknown): boolean {
  return isAnswer(line) && line.message!["id"] === id && "id" in line.message!;
}

/** A key for an id: 1 and "1" are two. */
export function idKey(id: unknown): string {
  return JSON.stringify(id) ?? "absent";
}

/** Whether a line is an answer with id null, or without one. */
export function isNullAnswer(line: RawLine): boolean {
  return isAnswer(line) && (line.message!["id"] ?? null) === null;
}

/** The code of an error answer. */
export function codeOf(line: RawLine | undefined): number | undefined {
  const code = at(line?.message, "error", "code");
  return typeof code === "number" ? code : undefined;
}

/** The result of an answer. */
export function resultOf(line: RawLine | undefined): Members {
  return objectAt(line, "result");
}

/** An object within a line's message, or an empty one. */
export function objectAt(line: RawLine | undefined, ...path: readonly string[]): Members {
  return asObject(at(line?.message, ...path));
}

/** Text of bytes that are UTF-8, a BOM included. */
export function decodeStrict(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether more than a fifth is white space outside of strings. */
function isLoose(text: string): boolean {
  if (text.length < 40) return false;
  let blanks = 0;
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|\s+/g)) {
    if (!part.startsWith('"')) blanks += part.length;
  }
  return blanks > text.length / 5;
}
