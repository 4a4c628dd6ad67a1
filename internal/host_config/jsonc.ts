/**
 * JSON as people write it into configuration files, with comments and trailing commas. It is checked in one pass and made
 * plain JSON of the same length, so that every place is the same in both. The runtimes' own parsers know neither comments
 * nor, in part, positions.
 */

import { quoteText } from "../shown_text.ts";

/** A text that is no JSON, and where it stops being so. */
export class JsonSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = "JsonSyntaxError";
    this.offset = offset;
  }
}

/** Each level is a stack frame of the reader. */
const GREATEST_DEPTH = 200;

/**
 * Puts blanks where comments and trailing commas stand.
 *
 * @throws {JsonSyntaxError} If the text is no JSON.
 */
export function toPlainJson(text: string): string {
  return new JsoncReader(text).read();
}

const NUMBER_REGEXP = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE_REGEXP = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** What may stand behind a word, and is no part of it. */
const DELIMITER_REGEXP = /[\s{}[\],:"/]/;

class JsoncReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** The text as plain JSON, up to where the last blanks were put. */
  #plain = "";
  #plainEnd = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): string {
    this.#skipBlank();
    this.#readValue();
    this.#skipBlank();
    if (this.#at < this.#text.length) throw this.#unexpected("the end of the text");
    return this.#plain + this.#text.slice(this.#plainEnd);
  }

  #readValue(): void {
    switch (this.#text[this.#at]) {
      case "{":
        return this.#readContainer("}");
      case "[":
        return this.#readContainer("]");
      case '"':
        return this.#readString();
      case "t":
        return this.#readWord("true");
      case "f":
        return this.#readWord("false");
      case "n":
        return this.#readWord("null");
      default:
        return this.#readNumber();
    }
  }

  #readContainer(end: "}" | "]"): void {
    if (++this.#depth > GREATEST_DEPTH) {
      throw new JsonSyntaxError(`values are nested deeper than ${GREATEST_DEPTH} levels`, this.#at);
    }
    this.#at++;
    this.#skipBlank();
    while (this.#text[this.#at] !== end) {
      if (end === "}") this.#readKey();
      this.#readValue();
      this.#skipBlank();
      const comma = this.#at;
      const character = this.#text[comma];
      if (character === end) break;
      if (character !== ",") throw this.#unexpected(`"," or "${end}"`);
      this.#at++;
      const hasComment = this.#passBlank();
      if (this.#text[this.#at] === end) this.#blank(comma);
      else if (hasComment) this.#blank(comma + 1);
    }
    this.#at++;
    this.#depth--;
  }

  #readKey(): void {
    if (this.#text[this.#at] !== '"') throw this.#unexpected('a key in double quotes or "}"');
    this.#readString();
    this.#skipBlank();
    if (this.#text[this.#at] !== ":") throw this.#unexpected('":"');
    this.#at++;
    this.#skipBlank();
  }

  #readString(): void {
    const text = this.#text;
    const begin = this.#at;
    for (let at = begin + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        this.#at = at + 1;
        return;
      }
      if (code < 0x20) {
        throw new JsonSyntaxError("a string holds a line break or another control character", at);
      }
      if (code !== 0x5c) continue;
      ESCAPE_REGEXP.lastIndex = at;
      if (!ESCAPE_REGEXP.test(text)) {
        throw new JsonSyntaxError("a string holds an escape that JSON does not know", at);
      }
      at = ESCAPE_REGEXP.lastIndex - 1;
    }
    throw new JsonSyntaxError("a string is not closed", begin);
  }

  #readWord(word: string): void {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected("a value");
    this.#endWord(this.#at + word.length);
  }

  #readNumber(): void {
    NUMBER_REGEXP.lastIndex = this.#at;
    if (!NUMBER_REGEXP.test(this.#text)) throw this.#unexpected("a value");
    this.#endWord(NUMBER_REGEXP.lastIndex);
  }

  #endWord(end: number): void {
    const next = this.#text[end];
    if (next !== undefined && !DELIMITER_REGEXP.test(next)) throw this.#unexpected("a value");
    this.#at = end;
  }

  #skipBlank(): void {
    const begin = this.#at;
    if (this.#passBlank()) this.#blank(begin);
  }

  /** Goes on to what is neither blank nor comment, and says whether there was a comment. */
  #passBlank(): boolean {
    const text = this.#text;
    let hasComment = false;
    while (true) {
      const code = text.charCodeAt(this.#at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
        this.#at++;
      } else if (code === 0x2f && this.#passComment()) {
        hasComment = true;
      } else {
        return hasComment;
      }
    }
  }

  #passComment(): boolean {
    const text = this.#text;
    const begin = this.#at;
    const mark = text[begin + 1];
    if (mark !== "/" && mark !== "*") return false;
    if (mark === "*") {
      const end = text.indexOf("*/", begin + 2);
      if (end < 0) throw new JsonSyntaxError("a comment is not closed", begin);
      this.#at = end + 2;
      return true;
    }
    let at = begin + 2;
    while (at < text.length && text[at] !== "\n" && text[at] !== "\r") at++;
    this.#at = at;
    return true;
  }

  /** Puts blanks from a place up to here. */
  #blank(begin: number): void {
    this.#plain += this.#text.slice(this.#plainEnd, begin) + " ".repeat(this.#at - begin);
    this.#plainEnd = this.#at;
  }

  #unexpected(expected: string): JsonSyntaxError {
    const character = this.#text.slice(this.#at, this.#at + 2).match(/^./su)?.[0];
    const found = character === undefined ? "the text ends" : `found ${quoteText(character)}`;
    return new JsonSyntaxError(`expected ${expected}, but ${found}`, this.#at);
  }
}
