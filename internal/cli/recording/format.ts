/**
 * The form of a recording: NDJSON, one event a line, so that `grep` and `jq` can read it, and what was written before a crash
 * can be read after it. The bytes of each line that passed can be had back: a message stands in its event as it came,
 * always at the end, and what is no JSON stands there as text or as base64.
 */

import { isJSONObject, type JSONObject } from "../../../messages.ts";
import { decodeBase64 } from "../base64.ts";
import { parseJson } from "../json_text.ts";
import type { Side } from "./conversation.ts";

/** Whose bytes: a side of the conversation, or what the server wrote to stderr. */
export type Source = Side | "stderr";

/** The first event of a recording. */
export interface StartEvent {
  readonly kind: "start";
  /** Milliseconds since the start. */
  readonly t: number;
  /** The version of this form. */
  readonly recording: 1;
  /** When that was. */
  readonly at: string;
  /** What wrote it. */
  readonly by: string;
  /** The command, with secrets masked. */
  readonly command: string;
  readonly pid: number;
  /** Whether secrets are masked. */
  readonly masked: boolean;
}

/** A line that passed. */
export interface LineEvent {
  readonly kind: "line";
  readonly t: number;
  readonly from: Source;
  /** What passed, without its line feed; where it was no UTF-8, with U+FFFD for what is wrong. */
  readonly text: string;
  /** The bytes, where they were no UTF-8. */
  readonly bytes: Uint8Array | undefined;
  /** Whether a line feed came behind it: without one it goes on with the next of the same source, or was the last. */
  readonly isEnded: boolean;
  readonly breaks: readonly string[];
  /** Whether a secret was masked in it. */
  readonly isMasked: boolean;
}

/** Something that happened to a process or a pipe. */
export type ProcessEvent =
  | { readonly kind: "end"; readonly t: number; readonly of: Source }
  | { readonly kind: "refused"; readonly t: number; readonly of: Source }
  | { readonly kind: "signal"; readonly t: number; readonly signal: string; readonly to: "server" | "group" }
  | {
    readonly kind: "exit";
    readonly t: number;
    readonly code?: number | undefined;
    readonly signal?: string | undefined;
  }
  | { readonly kind: "gap"; readonly t: number; readonly events: number; readonly why: string };

/** Anything that stands in a recording. */
export type RecordedEvent = StartEvent | LineEvent | ProcessEvent;

const HEADS: Readonly<Record<Source, string>> = {
  client: headOf("client"),
  server: headOf("server"),
  stderr: headOf("stderr"),
};

function headOf(from: Source): string {
  return `${JSON.stringify({ from }).slice(0, -1)},"t":`;
}

/** The beginning of every line of one source at one moment: it is made once for all that came together. */
export function formatHead(t: number, from: Source): string {
  return HEADS[from] + Math.round(t * 1_000) / 1_000;
}

/** What is said about a line, between head and content. */
export interface LineMarks {
  readonly breaks: readonly string[];
  readonly isMasked: boolean;
  readonly isEnded: boolean;
}

/** The line of a message. It must be JSON. */
export function formatMessage(head: string, json: string, marks: LineMarks): string {
  return `${head}${formatMarks(marks)},"message":${json}}\n`;
}

/** The line of a text that is no JSON. */
export function formatText(head: string, text: string, marks: LineMarks): string {
  return `${head}${formatMarks(marks)},"text":${JSON.stringify(text)}}\n`;
}

/** The line of bytes that are no text. */
export function formatBytes(head: string, bytes: Uint8Array, marks: LineMarks): string {
  return `${head}${formatMarks(marks)},"base64":"${toBase64(bytes)}"}\n`;
}

/** The line of anything else. */
export function formatEvent(event: StartEvent | ProcessEvent): string {
  const { kind, t, ...facts } = event;
  return `${JSON.stringify({ kind, t: Math.round(t * 1_000) / 1_000, ...facts })}\n`;
}

function formatMarks({ breaks, isMasked, isEnded }: LineMarks): string {
  if (breaks.length === 0 && !isMasked && isEnded) return "";
  return (breaks.length === 0 ? "" : `,"breaks":${JSON.stringify(breaks)}`) +
    (isMasked ? ',"masked":true' : "") + (isEnded ? "" : ',"unended":true');
}

const MESSAGE_KEY = '"message":';
const KINDS: ReadonlySet<unknown> = new Set(["start", "end", "refused", "signal", "exit", "gap"]);
const SOURCES: ReadonlySet<unknown> = new Set(["client", "server", "stderr"]);

/** Reads a line of a recording; undefined if it is none. */
export function parseEvent(line: string): RecordedEvent | undefined {
  // None is the last line of a recorder that was killed, or no recording at all: the caller counts them.
  const event = parseJson(line)?.value;
  if (!isJSONObject(event) || typeof event.t !== "number") return undefined;
  if (KINDS.has(event.kind)) return event as unknown as StartEvent | ProcessEvent;
  return SOURCES.has(event.from) ? toLine(event, line) : undefined;
}

function toLine(event: JSONObject, line: string): LineEvent | undefined {
  const bytes = typeof event.base64 === "string" ? decodeBase64(event.base64) : undefined;
  const text = "message" in event
    ? messageText(event.message, line)
    : bytes !== undefined
    ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
    : event.text;
  if (typeof text !== "string") return undefined;
  const { breaks } = event;
  return {
    kind: "line",
    t: event.t as number,
    from: event.from as Source,
    text,
    bytes,
    isEnded: event.unended !== true,
    breaks: Array.isArray(breaks) ? breaks.map(String) : [],
    isMasked: event.masked === true,
  };
}

/** A message as it came: it is the last member. In a file that something else has written anew it is put together again. */
function messageText(message: unknown, line: string): string {
  const at = line.indexOf(MESSAGE_KEY);
  const end = line.lastIndexOf("}");
  const text = line.slice(at + MESSAGE_KEY.length, end);
  return parseJson(text) === undefined ? JSON.stringify(message) : text;
}

/** What a line says; undefined where it is no JSON, or has no end. */
export function parseLine({ text, bytes, isEnded }: LineEvent): { readonly value: unknown } | undefined {
  return bytes === undefined && isEnded ? parseJson(text) : undefined;
}

/** The bytes that passed, with the line feed if there was one. */
export function bytesOfLine({ text, bytes, isEnded }: LineEvent): Uint8Array {
  const content = bytes ?? new TextEncoder().encode(text);
  if (!isEnded) return content;
  const line = new Uint8Array(content.length + 1);
  line.set(content);
  line[content.length] = 0x0a;
  return line;
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // In parts, since an argument list has a limit.
  for (let at = 0; at < bytes.length; at += 8_192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  }
  return btoa(binary);
}
