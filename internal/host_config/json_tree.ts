/**
 * Plain JSON as a tree that knows where everything stands, keeps both of two equal keys and the digits of numbers. A node
 * reads its parts when it is asked for them, so that a large file costs no more than what is looked at.
 */

/** A value and where it begins. */
export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonLiteral;

/** A member of an object; keys may stand more than once. */
export interface JsonMember {
  readonly key: string;
  readonly offset: number;
  readonly value: JsonNode;
}

/** A text in double quotes. */
export interface JsonString {
  readonly kind: "string";
  readonly offset: number;
  readonly value: string;
}

/** A number with its digits. */
export interface JsonNumber {
  readonly kind: "number";
  readonly offset: number;
  readonly text: string;
}

/** `true`, `false` or `null`. */
export type JsonLiteral =
  | { readonly kind: "boolean"; readonly offset: number; readonly value: boolean }
  | { readonly kind: "null"; readonly offset: number };

/** Objects and lists are read up to so many parts. */
export const GREATEST_PARTS = 50_000;

/** Reads a text that is known to be JSON, such as `toPlainJson()` gives. */
export function readJsonTree(text: string): JsonNode {
  return readNode(new JsonCursor(text));
}

/** What a node is, with its article. */
export function describeNode(node: JsonNode): string {
  if (node.kind === "null") return "null";
  return `${/^[aeiou]/.test(node.kind) ? "an" : "a"} ${node.kind}`;
}

/** The value of a key, the last one if it stands more than once. */
export function findMember(node: JsonNode, key: string): JsonMember | undefined {
  return node.kind === "object" ? node.find(key) : undefined;
}

/** The plain value of a node. */
export function toValue(node: JsonNode): unknown {
  if (node.kind === "object" || node.kind === "array") return node.toValue();
  if (node.kind === "number") return Number(node.text);
  return node.kind === "null" ? null : node.value;
}

/** The members whose key has stood before. */
export function listRepeated(members: readonly JsonMember[]): JsonMember[] {
  const seen = new Set<string>();
  return members.filter(({ key }) => seen.size === seen.add(key).size);
}

/** What objects and lists have in common. */
abstract class JsonContainer<Part> {
  readonly offset: number;
  readonly #text: string;
  readonly #end: number;
  #parts: readonly Part[] | undefined;
  #isCut = false;

  constructor(text: string, offset: number, end: number) {
    this.#text = text;
    this.offset = offset;
    this.#end = end;
  }

  /** Whether there are more parts than are read. */
  get isCut(): boolean {
    this.parts;
    return this.#isCut;
  }

  /** Its members or items. */
  get parts(): readonly Part[] {
    this.#parts ??= this.#readParts();
    return this.#parts;
  }

  /** The plain value. Of equal keys the last one wins; `__proto__` is a key like any other. */
  toValue(): unknown {
    return JSON.parse(this.#text.slice(this.offset, this.#end));
  }

  protected abstract readPart(cursor: JsonCursor): Part;

  #readParts(): readonly Part[] {
    const cursor = new JsonCursor(this.#text, this.offset + 1);
    const parts: Part[] = [];
    while (!cursor.isAtEnd()) {
      if (parts.length === GREATEST_PARTS) {
        this.#isCut = true;
        break;
      }
      parts.push(this.readPart(cursor));
    }
    return parts;
  }
}

/** An object. */
export class JsonObject extends JsonContainer<JsonMember> {
  readonly kind = "object";
  #byKey: ReadonlyMap<string, JsonMember> | undefined;

  /** Its members, also those of equal keys. */
  get members(): readonly JsonMember[] {
    return this.parts;
  }

  /** The last member of a key. */
  find(key: string): JsonMember | undefined {
    this.#byKey ??= new Map(this.members.map((member) => [member.key, member]));
    return this.#byKey.get(key);
  }

  protected override readPart(cursor: JsonCursor): JsonMember {
    const offset = cursor.at;
    return { key: cursor.readString(), offset, value: readNode(cursor.passColon()) };
  }
}

/** A list. */
export class JsonArray extends JsonContainer<JsonNode> {
  readonly kind = "array";

  /** Its items. */
  get items(): readonly JsonNode[] {
    return this.parts;
  }

  protected override readPart(cursor: JsonCursor): JsonNode {
    return readNode(cursor);
  }
}

function readNode(cursor: JsonCursor): JsonNode {
  const offset = cursor.passBlank();
  switch (cursor.text[offset]) {
    case "{":
      return new JsonObject(cursor.text, offset, cursor.passContainer());
    case "[":
      return new JsonArray(cursor.text, offset, cursor.passContainer());
    case '"':
      return { kind: "string", offset, value: cursor.readString() };
    case "t":
    case "f":
      return { kind: "boolean", offset, value: cursor.readWord() === "true" };
    case "n":
      cursor.readWord();
      return { kind: "null", offset };
    default:
      return { kind: "number", offset, text: cursor.readWord() };
  }
}

/** Goes through a text that is known to be JSON. */
class JsonCursor {
  readonly text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  /** Goes to the next part of a container, if there is one. */
  isAtEnd(): boolean {
    this.passBlank();
    if (this.text[this.at] === ",") {
      this.at++;
      this.passBlank();
    }
    return this.text[this.at] === "}" || this.text[this.at] === "]";
  }

  passBlank(): number {
    while (isBlank(this.text.charCodeAt(this.at))) this.at++;
    return this.at;
  }

  passColon(): this {
    this.passBlank();
    this.at++;
    return this;
  }

  readString(): string {
    const begin = this.at;
    this.at = behindString(this.text, begin);
    const inner = this.text.slice(begin + 1, this.at - 1);
    return inner.includes("\\") ? JSON.parse(`"${inner}"`) : inner;
  }

  readWord(): string {
    const begin = this.at;
    WORD_END_REGEXP.lastIndex = begin;
    this.at = WORD_END_REGEXP.exec(this.text)?.index ?? this.text.length;
    return this.text.slice(begin, this.at);
  }

  /** Goes behind an object or a list, and says where that is. */
  passContainer(): number {
    const { text } = this;
    let at = this.at;
    let depth = 0;
    do {
      const code = text.charCodeAt(at);
      // "{" and "[", "}" and "]" differ in one bit.
      const bracket = code & ~0x20;
      if (code === QUOTE) at = behindString(text, at);
      else at++;
      if (bracket === OPENING) depth++;
      else if (bracket === CLOSING) depth--;
    } while (depth > 0);
    return this.at = at;
  }
}

/** Where a string ends that begins at a place. */
function behindString(text: string, begin: number): number {
  let at = begin + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = 0x5b;
const CLOSING = 0x5d;
const WORD_END_REGEXP = /[\s,}\]]/g;

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
