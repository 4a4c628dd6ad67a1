import { FrameError } from "../../errors.ts";
import type { JSONRPCMessage } from "../../messages.ts";

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
 * One message, or one legacy batch, as compact JSON: text without a line feed, or bytes with it when it is so large that
 * its length in bytes had to be measured.
 *
 * @throws {FrameError} If it is too long or no JSON value.
 */
export function encodeMessage(
  message: JSONRPCMessage | readonly JSONRPCMessage[],
  maxLineBytes: number,
): string | Uint8Array {
  const text = stringify(message);
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

function stringify(message: JSONRPCMessage | readonly JSONRPCMessage[]): string {
  // A value's own toJSON may encode another message meanwhile.
  const outer = rawIdWritten;
  rawIdWritten = false;
  try {
    const text: string | undefined = JSON.stringify(message);
    if (text === undefined) throw new TypeError("it has no value");
    return rawIdWritten ? restoreRawIds(text) : text;
  } catch (error) {
    const reason = textOf(error);
    throw new FrameError("unserializable", `Cannot write the message as JSON: ${reason}`, { cause: error });
  } finally {
    rawIdWritten = outer;
  }
}

function restoreRawIds(text: string): string {
  const mark = JSON.stringify(RAW_ID_MARK).slice(0, -1);
  return text.split(mark).map((part, index) => index === 0 ? part : part.replace('"', "")).join("");
}

/** The message of whatever was thrown; some values cannot even be turned into text. */
function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "a value without a text was thrown";
  }
}
