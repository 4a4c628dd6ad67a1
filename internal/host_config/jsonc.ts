/**
 * JSON as people write it into configuration files, with comments and trailing commas, read into a tree that knows where
 * everything stands. The runtimes' own parsers know neither comments nor, in part, positions, they let the last of two
 * equal keys win, and they lose digits of numbers.
 */

import { quoteText } from "../shown_text.ts";

/** A value and where it begins. */
export type JsonNode =
  | { readonly kind: "object"; readonly members: readonly JsonMember[]; readonly offset: number }
  | { readonly kind: "array"; readonly items: readonly JsonNode[]; readonly offset: number }
  | { readonly kind: "string"; readonly value: string; readonly offset: number }
  | { readonly kind: "number"; readonly text: string; readonly offset: number }
  | { readonly kind: "boolean"; readonly value: boolean; readonly offset: number }
  | { readonly kind: "null"; readonly offset: number };

/** A member of an object; keys may stand more than once. */
export interface JsonMember {
  readonly key: string;
  readonly offset: number;
  readonly value: JsonNode;
}

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

/** Reads a text. */
export function parseJsonc(text: string): JsonNode {
  return new JsonReader(text).readDocument();
}

/** Line and column of an offset, both from 1; the column counts UTF-16 code units. */
export function locate(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

/** The plain value of a node. Of equal keys the last one wins; `__proto__` is a key like any other. */
export function toValue(node: JsonNode): unknown {
  switch (node.kind) {
    case "object":
      return Object.fromEntries(node.members.map(({ key, value }) => [key, toValue(value)]));
    case "array":
      return node.items.map(toValue);
    case "number":
      return Number(node.text);
    case "null":
      return null;
    default:
      return node.value;
  }
}

/** The value of a key, the last one if it stands more than once. */
export function findMember(node: JsonNode, key: string): JsonMember | undefined {
  return node.kind === "object" ? node.members.findLast((member) => member.key === key) : undefined;
}

/** The members whose key has stood before. */
export function listRepeated(members: readonly JsonMember[]): JsonMember[] {
  const seen = new Set<string>();
  return members.filter(({ key }) => seen.size === seen.add(key).size);
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): JsonNode {
    const node = this.#readValue();
    this.#skipBlank();
    if (this.#at < this.#text.length) throw this.#unexpected("the end of the text");
    return node;
  }

  #readValue(): JsonNode {
    this.#skipBlank();
    const offset = this.#at;
    const character = this.#text[offset];
    if (character === "{" || character === "[") {
      if (++this.#depth > GREATEST_DEPTH) {
        throw new JsonSyntaxError(`values are nested deeper than ${GREATEST_DEPTH} levels`, offset);
      }
      const node: JsonNode = character === "{"
        ? { kind: "object", members: this.#readList("}", () => this.#readMember()), offset }
        : { kind: "array", items: this.#readList("]", () => this.#readValue()), offset };
      this.#depth--;
      return node;
    }
    if (character === '"') return { kind: "string", value: this.#readString(), offset };
    const word = /[^\s{}[\],:"/]*/y;
    word.lastIndex = offset;
    const text = word.exec(this.#text)?.[0] ?? "";
    this.#at += text.length;
    if (text === "true" || text === "false") return { kind: "boolean", value: text === "true", offset };
    if (text === "null") return { kind: "null", offset };
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return { kind: "number", text, offset };
    this.#at = offset;
    throw this.#unexpected("a value");
  }

  #readMember(): JsonMember {
    this.#skipBlank();
    const offset = this.#at;
    if (this.#text[offset] !== '"') throw this.#unexpected('a key in double quotes or "}"');
    const key = this.#readString();
    this.#skipBlank();
    if (this.#text[this.#at] !== ":") throw this.#unexpected('":"');
    this.#at++;
    return { key, offset, value: this.#readValue() };
  }

  #readList<T>(end: "}" | "]", readItem: () => T): T[] {
    const items: T[] = [];
    this.#at++;
    while (true) {
      this.#skipBlank();
      if (this.#text[this.#at] === end) break;
      items.push(readItem());
      this.#skipBlank();
      if (this.#text[this.#at] === end) break;
      if (this.#text[this.#at] !== ",") throw this.#unexpected(`"," or "${end}"`);
      this.#at++;
    }
    this.#at++;
    return items;
  }

  #readString(): string {
    const begin = this.#at;
    for (let at = begin + 1; at < this.#text.length; at++) {
      const character = this.#text[at] as string;
      if (character < " ") {
        throw new JsonSyntaxError("a string holds a line break or another control character", at);
      }
      if (character === '"') {
        this.#at = at + 1;
        return JSON.parse(this.#text.slice(begin, at + 1));
      }
      if (character !== "\\") continue;
      const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
      escape.lastIndex = at;
      const length = escape.exec(this.#text)?.[0].length;
      if (length === undefined) {
        throw new JsonSyntaxError("a string holds an escape that JSON does not know", at);
      }
      at += length - 1;
    }
    throw new JsonSyntaxError("a string is not closed", begin);
  }

  #skipBlank(): void {
    const blank = /(?:[ \t\r\n]+|\/\/[^\r\n]*)*/y;
    while (true) {
      blank.lastIndex = this.#at;
      this.#at += blank.exec(this.#text)?.[0].length ?? 0;
      if (!this.#text.startsWith("/*", this.#at)) return;
      const end = this.#text.indexOf("*/", this.#at + 2);
      if (end < 0) throw new JsonSyntaxError("a comment is not closed", this.#at);
      this.#at = end + 2;
    }
  }

  #unexpected(expected: string): JsonSyntaxError {
    const character = this.#text.slice(this.#at).match(/^./su)?.[0];
    const found = character === undefined ? "the text ends" : `found ${quoteText(character)}`;
    return new JsonSyntaxError(`expected ${expected}, but ${found}`, this.#at);
  }
}
