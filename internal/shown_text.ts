/**
 * Texts from outside as they are shown to a person, in messages, logs and questions: on one line, with what a terminal
 * would act on or not show spelled out, and of a long one as much as there is room for. All of it costs time in
 * proportion to what is shown, not to the text.
 */

import type { RequestId } from "../messages.ts";

/**
 * Characters that move the cursor, are not seen, or change the order of what is seen. An unassigned one may be any of
 * these in a later Unicode.
 */
const UNSEEN_REGEXP =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

/** How a whole part of a text is put into quotes. */
export type Quote = (part: string) => string;

/** What room a text was given, and how many of its characters were left out. */
export interface CutText {
  readonly text: string;
  readonly missing: number;
}

/** Shows a text on one line, in double quotes: for names and paths in messages. */
export function quoteText(text: string, maxLength = 200): string {
  return cutText(text, maxLength, (part) => `"${spell(part, '"')}"`).text;
}

/**
 * Puts a text into quotes; of a long one both ends are kept, since the end of a word matters as much as its beginning,
 * and the cut says how much is missing.
 */
export function cutText(text: string, maxLength: number, quote: Quote): CutText {
  // A character costs at least one of the room, so that what is longer need not be looked at.
  if (text.length <= maxLength && measure(text) <= maxLength) return { text: quote(text), missing: 0 };
  const head = takeWithin(text.slice(0, maxLength / 2 + 1), maxLength / 2, "head");
  const tail = takeWithin(text.slice(-(maxLength / 2 + 1)), maxLength / 2, "tail");
  const missing = text.length - head.length - tail.length;
  return { text: `${quote(head)}[${missing} more characters]${quote(tail)}`, missing };
}

/** A request id for a log line: short, on one line, and told apart from a number when it is a string. */
export function describeId(id: RequestId | undefined): string {
  if (id === undefined) return "none";
  return typeof id === "number" ? String(id) : quoteText(id, 80);
}

/** Whether a text holds something that is not seen as it is. */
export function hasUnseen(text: string): boolean {
  return UNSEEN_REGEXP.test(text);
}

/** Spells out what is not seen, a quote and a backslash, by backslashes. */
export function spell(text: string, quote: string): string {
  return spellUnseen(text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`));
}

/** Spells out what is not seen, and nothing else. */
export function spellUnseen(text: string): string {
  if (!hasUnseen(text)) return text;
  let shown = "";
  for (const character of text) shown += hasUnseen(character) ? toEscape(character) : character;
  return shown;
}

/** The room a text takes at most, whoever quotes it. */
function measure(text: string): number {
  let sum = 0;
  for (const character of text) sum += measureCharacter(character);
  return sum;
}

function measureCharacter(character: string): number {
  if (hasUnseen(character)) return toEscape(character).length;
  return character === "'" ? 4 : character === '"' || character === "\\" ? 2 : character.length;
}

/** As much of a text, from its beginning or its end, as there is room for. */
function takeWithin(text: string, room: number, end: "head" | "tail"): string {
  const characters = [...text];
  if (end === "tail") characters.reverse();
  let left = room;
  const index = characters.findIndex((character) => (left -= measureCharacter(character)) < 0);
  const taken = index < 0 ? characters : characters.slice(0, index);
  return (end === "tail" ? taken.reverse() : taken).join("");
}

/** A character spelled out by a backslash. */
export function toEscape(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}

/** Words in a row, each once with how often it came: `PipeWrap (2), Timeout`. */
export function countWords(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => count === 1 ? word : `${word} (${count})`).join(", ");
}
