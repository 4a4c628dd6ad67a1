/**
 * Plain JSON as a tree that knows where everything stands, keeps both of two equal keys and the digits of numbers. A node
 * reads its parts when it is asked for them, so that a large file costs no more than what is looked at.
 */

import { type Span, visitParts, wholeOf } from "../framing/json_source.ts";

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
  return readNode(text, wholeOf(text));
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

  constructor(text: string, { start, end }: Span) {
    this.#text = text;
    this.offset = start;
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

  protected abstract readPart(text: string, value: Span, key: Span | undefined): Part;

  #readParts(): readonly Part[] {
    const parts: Part[] = [];
    visitParts(this.#text, this.offset, (value, key) => {
      this.#isCut = parts.length === GREATEST_PARTS;
      if (!this.#isCut) parts.push(this.readPart(this.#text, value, key));
      return !this.#isCut;
    });
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

  protected override readPart(text: string, value: Span, key: Span): JsonMember {
    return { key: readString(text, key), offset: key.start, value: readNode(text, value) };
  }
}

/** A list. */
export class JsonArray extends JsonContainer<JsonNode> {
  readonly kind = "array";

  /** Its items. */
  get items(): readonly JsonNode[] {
    return this.parts;
  }

  protected override readPart(text: string, value: Span): JsonNode {
    return readNode(text, value);
  }
}

function readNode(text: string, span: Span): JsonNode {
  const { start: offset } = span;
  switch (text[offset]) {
    case "{":
      return new JsonObject(text, span);
    case "[":
      return new JsonArray(text, span);
    case '"':
      return { kind: "string", offset, value: readString(text, span) };
    case "t":
    case "f":
      return { kind: "boolean", offset, value: text[offset] === "t" };
    case "n":
      return { kind: "null", offset };
    default:
      return { kind: "number", offset, text: text.slice(offset, span.end) };
  }
}

function readString(text: string, { start, end }: Span): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes("\\") ? JSON.parse(`"${inner}"`) : inner;
}
