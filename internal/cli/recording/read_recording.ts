/** A file as the events that stand in it. What cannot be read is counted: the last line of a recorder that was killed is cut. */

import { quoteText } from "../../shown_text.ts";
import { UsageError } from "../command.ts";
import type { CliIo } from "../io.ts";
import { parseEvent, type RecordedEvent } from "./format.ts";

/** What a file says. */
export interface ReadRecording {
  readonly events: readonly RecordedEvent[];
  /** How many lines are no events. */
  readonly unreadable: number;
}

const LINE_FEED = 0x0a;

/** Reads a recording, line by line: the whole may be longer than a string can be. */
export function readRecording(bytes: Uint8Array): ReadRecording {
  const decoder = new TextDecoder();
  const events: RecordedEvent[] = [];
  let unreadable = 0;
  for (let start = 0; start < bytes.length;) {
    const next = bytes.indexOf(LINE_FEED, start);
    const end = next < 0 ? bytes.length : next;
    const line = decoder.decode(bytes.subarray(start, end));
    start = end + 1;
    if (line.trim() === "") continue;
    const event = parseEvent(line);
    if (event === undefined) unreadable++;
    else events.push(event);
  }
  return { events, unreadable };
}

/**
 * Reads a recording from its file.
 *
 * @throws {UsageError} If it cannot be read or is none.
 */
export async function readRecordingFile(
  path: string,
  purpose: "show" | "replay",
  io: CliIo,
): Promise<ReadRecording> {
  const recording = readRecording(await readFile(path, purpose, io));
  const { events, unreadable } = recording;
  if (events.length === 0) throw new UsageError(`Cannot ${purpose} ${quoteText(path)}: it is no recording`);
  if (unreadable > 0) {
    io.screen.warn(`${unreadable} ${unreadable === 1 ? "line is" : "lines are"} no event and left out`);
  }
  return recording;
}

async function readFile(path: string, purpose: string, io: CliIo): Promise<Uint8Array> {
  try {
    return await io.files.read(path);
  } catch (cause) {
    const { code, message } = cause as { code?: unknown; message?: unknown };
    const reason = code === "ENOENT" ? "there is no such file" : String(message);
    throw new UsageError(`Cannot ${purpose} ${quoteText(path)}: ${reason}`, { cause });
  }
}
