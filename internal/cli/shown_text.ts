/**
 * Text of servers as it is shown. A terminal acts on control characters, and some others change the order or the look of
 * what stands beside them: all of those are spelled out. Line breaks and tabs stay where a text has lines.
 */

import { toEscape } from "../shown_text.ts";

/** Control characters but LF and tab, lone surrogates, line separators, byte order marks, bidi marks, and invisible tags. */
const UNSAFE_REGEXP =
  // deno-lint-ignore no-control-regex -- they are what is looked for
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\p{Cs}\p{Bidi_Control}\u{e0000}-\u{e0fff}]/gu;
const LINE_BREAKS_REGEXP = /[\n\t]/g;

/** Everything unsafe spelled out; line breaks but CR, and tabs, stay. */
export function spellUnsafe(text: string): string {
  return text.replaceAll(UNSAFE_REGEXP, toEscape);
}

/** A text of any number of lines. */
export function showText(text: string): string {
  return spellUnsafe(text.replaceAll("\r\n", "\n"));
}

/** A text on one line; what is longer than the limit is cut, and the cut is shown. */
export function showLine(text: string, maxLength = 1_000): string {
  // Cut first, so that a text of many megabytes costs nothing; an escape is at most ten characters long.
  const head = text.length > maxLength ? text.slice(0, maxLength) : text;
  const shown = spellUnsafe(head).replaceAll(LINE_BREAKS_REGEXP, toEscape);
  return head === text ? shown : `${shown}… [${text.length - maxLength} more characters]`;
}

/** JSON as it is shown: what stands in its strings cannot do harm either. */
export function showJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, undefined, indent) ?? "null");
}

/** A JSON text with everything unsafe in it as escapes of JSON: it means the same. */
export function escapeJson(json: string): string {
  return json.replaceAll(UNSAFE_REGEXP, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""));
}

/** A text as it stands in HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    '"',
    "&quot;",
  );
}

/** How many columns a text takes, as far as one can know: most East Asian characters and emoji take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
          .test(character)
        ? 2
        : 1;
  }
  return width;
}

/** A text that takes at most so many columns, with `…` where it was cut. */
export function cutToWidth(text: string, columns: number): string {
  if (text.length <= columns && widthOf(text) <= columns) return text;
  let width = 0;
  let cut = "";
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** A text behind its label, in lines of at most so many columns if that is possible; further ones stand under its beginning. */
export function hangText(label: string, text: string, columns: number): string[] {
  const indent = " ".repeat(widthOf(label));
  const lines = [label];
  let isFirst = true;
  for (const word of text.split(" ")) {
    const line = isFirst ? `${lines.at(-1)}${word}` : `${lines.at(-1)} ${word}`;
    if (isFirst || widthOf(line) <= columns) lines[lines.length - 1] = line;
    else lines.push(`${indent}${word}`);
    isFirst = false;
  }
  return lines;
}
