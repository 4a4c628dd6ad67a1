/** A file as the events that stand in it. What cannot be read is counted: the last line of a recorder that was killed is cut. */

import type { RecordedEvent } from "./format.ts";
import { parseEvent } from "./format.ts";

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
