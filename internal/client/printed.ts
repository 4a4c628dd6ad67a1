import type { Fault } from "../../connection.ts";
import { isContentLengthHeader } from "../framing/line_fault.ts";
import { quoteText } from "../shown_text.ts";

/** So much of a text is shown, in characters. */
const SHOWN_LENGTH = 80;

/** How a line begins that was meant as a message, whatever became of it. */
const MESSAGE_REGEXP = /^\s*\{\s*"(?:jsonrpc|id|method|params|result|error)"/;

/** A message of which only its place behind a printed text can be told. */
const INNER_MESSAGE_REGEXP = /\{\s*"(?:jsonrpc|id|method|params|result|error)"/;

/**
 * The text on a line that is not of a message, if there is any: a server has printed it to stdout, where messages go. It may stand in
 * the place of a message or, without a line feed, before one.
 */
export function printedOn({ preview, hasMethod, hasResult }: Fault): string | undefined {
  if (MESSAGE_REGEXP.test(preview)) return undefined;
  const start = preview.search(INNER_MESSAGE_REGEXP);
  if (start > 0) return preview.slice(0, start);
  return hasMethod || hasResult ? undefined : preview.trimEnd();
}

/** The same in words. */
export function describePrinted(text: string): string {
  return `the server has printed ${quoteText(text, SHOWN_LENGTH)} to stdout`;
}

/** Whether nothing but such a header stands on the line: its sender frames messages as language servers do, and reads none of ours. */
export function isForeignFraming(fault: Fault): boolean {
  return isContentLengthHeader(fault) && /^\S+\s*\d+\s*$/.test(fault.preview);
}
