import type { Connection, Outgoing } from "../../connection.ts";
import { FrameError } from "../../errors.ts";
import { type JSONRPCMessage, MetaKey } from "../../messages.ts";
import { textOfThrown } from "../thrown.ts";
import { elementsOf, spanAt } from "./json_source.ts";
import { isUsableId, whatIsWrong } from "./message_rules.ts";

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const encoder = new TextEncoder();

const RAW_ID_MARK = `\u0000id:${Math.random().toString(36).slice(2)}:`;
let rawIdWritten = false;

/** An integer id that a JavaScript number cannot hold: it is written with the very digits that came (rule F9). */
export class RawId {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** A mark that {@linkcode encodeMessage} turns into the digits. */
  toJSON(): string {
    rawIdWritten = true;
    return RAW_ID_MARK + this.text;
  }
}

/**
 * Members that stand at the end of the params or the result of many messages, as text that is made once: that costs less than
 * to put them into each, and leaves the object that is written as its user made it.
 */
export class Ending {
  /** What follows another member, up to the end of the message. */
  readonly next: string;
  /** What stands in an object that is else empty. */
  readonly only: string;

  private constructor(members: string) {
    this.only = `${members}}`;
    this.next = `,${this.only}`;
  }

  /** Makes one of an object that is not empty. Gives undefined if it cannot be written. */
  static of(members: object): Ending | undefined {
    try {
      return new Ending(replaceLoneSurrogates(JSON.stringify(members)).slice(1));
    } catch {
      return undefined; // Whoever writes the members themselves hears why.
    }
  }
}

/**
 * One message, or one legacy batch, as compact JSON: text without a line feed, or bytes with it when it is so large that
 * its length in bytes had to be measured. With an ending, the params or the result of the message are its last member.
 *
 * @throws {FrameError} If it is too long, no JSON value, or no message.
 */
export function encodeMessage(
  message: JSONRPCMessage | readonly JSONRPCMessage[],
  maxLineBytes: number,
  ending?: Ending,
): string | Uint8Array {
  const whole = stringify(message);
  const text = ending === undefined ? whole : end(whole, ending);
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= maxLineBytes) return text;
  const bytes = text.length <= maxLineBytes ? encoder.encode(`${text}\n`) : undefined;
  if (bytes === undefined || bytes.length > maxLineBytes + 1) {
    const state = `it is longer than ${maxLineBytes} bytes`;
    throw new FrameError("frame_too_long", `Cannot write the message: ${state}`, {
      limitBytes: maxLineBytes,
    });
  }
  return bytes;
}

function end(text: string, { next, only }: Ending): string {
  // A value with a toJSON() of its own may have come to nothing.
  if (!endsInObject(text)) {
    const state = "its params, or its result, have no value";
    throw new FrameError("invalid_message", `Cannot write the message: ${state}`);
  }
  const before = text.length - 2; // Two brackets are behind the last member.
  return text.slice(0, before) + (text.charCodeAt(before - 1) === OPEN_BRACE ? only : next);
}

/** Whatever the message is, and whatever it does when it is looked at: nothing but a `FrameError` is thrown. */
function stringify(message: JSONRPCMessage | readonly JSONRPCMessage[]): string {
  // A value's own toJSON may encode another message meanwhile.
  const outer = rawIdWritten;
  rawIdWritten = false;
  let wrong: string | undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(message);
    if (text === undefined) throw new TypeError("it has no value");
    if (rawIdWritten) text = restoreRawIds(text);
    wrong = isArray(message) ? whatIsWrongWithBatch(message) : whatCannotBeSent(message, text);
    text = replaceLoneSurrogates(text);
  } catch (error) {
    const reason = textOfThrown(error);
    throw new FrameError("unserializable", `Cannot write the message as JSON: ${reason}`, { cause: error });
  } finally {
    rawIdWritten = outer;
  }
  if (wrong === undefined) return text;
  throw new FrameError("invalid_message", `Cannot write the message: ${wrong}`);
}

function isArray(value: JSONRPCMessage | readonly JSONRPCMessage[]): value is readonly JSONRPCMessage[] {
  return Array.isArray(value);
}

function whatIsWrongWithBatch(messages: readonly JSONRPCMessage[]): string | undefined {
  if (messages.length === 0) return "an empty batch is not a message";
  for (const message of messages) {
    const wrong = whatCannotBeSent(message);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** What is written must be a message, too, where a `toJSON` has made something else of the value. */
function whatCannotBeSent(message: JSONRPCMessage, text?: string): string | undefined {
  const wrong = whatIsWrong(message, isSendableId);
  if (wrong !== undefined) return wrong;
  // Of what is last in the text, and an object there, nothing need be asked.
  const isSure = text !== undefined && endsInObject(text) || !hasToJSON(contentOf(message));
  if (isSure && !hasToJSON(message)) return undefined;
  return whatIsWrong(JSON.parse(text ?? JSON.stringify(message)));
}

function contentOf(message: JSONRPCMessage): unknown {
  if ("method" in message) return message.params;
  return "result" in message ? message.result : message.error;
}

function isSendableId(id: unknown): boolean {
  return isUsableId(id) || id instanceof RawId;
}

function hasToJSON(value: unknown): boolean {
  return typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === "function";
}

/** Whether the last member of a JSON object is an object too. */
function endsInObject(text: string): boolean {
  const { length } = text;
  return text.charCodeAt(length - 1) === CLOSE_BRACE && text.charCodeAt(length - 2) === CLOSE_BRACE;
}

function restoreRawIds(text: string): string {
  const mark = JSON.stringify(RAW_ID_MARK).slice(0, -1);
  return text.split(mark).map((part, index) => index === 0 ? part : part.replace('"', "")).join("");
}

/** What stands for a lone surrogate in JSON text, if the backslash is not itself escaped. */
const LONE_SURROGATE_REGEXP = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;
const ESCAPE_REGEXP = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** Where ids stand that the other side has made, and knows again only as they were. */
const ID_PATHS = [
  ["id"],
  ["params", "requestId"],
  ["params", "progressToken"],
  ["params", "_meta", "progressToken"],
  ["params", "_meta", MetaKey.subscriptionId],
  ["result", "_meta", MetaKey.subscriptionId],
];

/** Strict readers refuse a whole line for the escape of a lone surrogate; only in an id it goes back as it came (rule F10). */
function replaceLoneSurrogates(text: string): string {
  // A single character is found three times as fast on Bun, and most texts have none.
  if (!text.includes("\\") || !text.includes("\\ud") || !LONE_SURROGATE_REGEXP.test(text)) return text;
  const messages = text.startsWith("[") ? elementsOf(text) : [{ start: 0, end: text.length }];
  const ids = messages.flatMap((message) => ID_PATHS.flatMap((path) => spanAt(text, path, message) ?? []));
  let replaced = "";
  let at = 0;
  for (const { start, end } of ids.sort((one, other) => one.start - other.start)) {
    replaced += replaceIn(text.slice(at, start)) + text.slice(start, end);
    at = end;
  }
  return replaced + replaceIn(text.slice(at));
}

function replaceIn(text: string): string {
  return text.replaceAll(ESCAPE_REGEXP, (escape) => escape.length > 2 ? "\ufffd" : escape);
}

/** A connection of ours, which takes the end of a message as text. */
export interface EndingConnection extends Connection {
  /** Sends a message as `send` does, with an ending. */
  sendEndingIn(message: JSONRPCMessage, ending: Ending): Outgoing;
}

/** Whether a connection is one of ours: one that somebody else has made only knows whole messages. */
export function takesEndings(connection: Connection): connection is EndingConnection {
  return "sendEndingIn" in connection;
}
