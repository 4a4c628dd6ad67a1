/** A recording from its file. */

import { quoteText } from "../../shown_text.ts";
import { UsageError } from "../command.ts";
import type { CliIo } from "../io.ts";
import { type ReadRecording, readRecording } from "./read_recording.ts";

/**
 * Reads a recording.
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
