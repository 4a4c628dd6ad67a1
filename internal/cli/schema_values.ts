/**
 * Text of a command line, or of an answer that somebody types, as the value that a JSON Schema asks for. Pure, and no
 * validator: whether the value is good is for the server to say; here is only found out what kind of value is meant.
 */

import { isJSONObject, type JSONObject } from "../../messages.ts";
import { parseJson } from "./json_text.ts";

/** The kinds of JSON values. */
const KINDS = ["string", "number", "integer", "boolean", "null", "array", "object"] as const;
export type ValueKind = typeof KINDS[number];

/** What a schema says of one value, as far as it is needed to read and to ask for it. */
export interface ValueSpec {
  readonly name: string;
  /** In the order of the schema; empty if it does not say. */
  readonly kinds: readonly ValueKind[];
  /** The values there are, if they are listed. */
  readonly options: readonly unknown[];
  /** What the options are called, if they have names. */
  readonly optionNames: readonly string[];
  /** What the members of an array are. */
  readonly items: ValueSpec | undefined;
  readonly isRequired: boolean;
  /** Undefined without one. */
  readonly default: unknown;
  readonly description: string;
}

/** What an object's schema says of its members. */
export interface ObjectSpec {
  readonly members: readonly ValueSpec[];
  /** Whether members that are not listed are welcome. */
  readonly isOpen: boolean;
}

/** How deep references and alternatives are followed. */
const MAX_DEPTH = 8;

/** Reads the schema of an object, such as a tool's arguments. */
export function readObjectSpec(schema: unknown): ObjectSpec {
  const root = isJSONObject(schema) ? schema : {};
  const { properties, required, additionalProperties } = root;
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(isJSONObject(properties) ? properties : {})
    .map(([name, member]) => readSpec(name, member, root, needed.has(name), 0));
  // What is required but not described is still required.
  const listed = new Set(members.map(({ name }) => name));
  for (const name of needed) {
    if (typeof name === "string" && !listed.has(name)) members.push(readSpec(name, {}, root, true, 0));
  }
  return { members, isOpen: additionalProperties !== false };
}

function readSpec(
  name: string,
  schema: unknown,
  root: JSONObject,
  isRequired: boolean,
  depth: number,
): ValueSpec {
  const parts = alternativesOf(schema, root, depth);
  const one = parts[0] ?? {};
  const kinds = parts.flatMap(kindsOf);
  const options = parts.flatMap(optionsOf);
  const itemsOf = parts.find((part) => isJSONObject(part.items))?.items;
  return {
    name,
    kinds: [...new Set(kinds)],
    options: options.map(({ value }) => value),
    optionNames: options.map((option) => option.name),
    items: itemsOf === undefined || depth >= MAX_DEPTH
      ? undefined
      : readSpec(name, itemsOf, root, false, depth + 1),
    isRequired,
    default: isJSONObject(schema) ? schema.default : undefined,
    description: firstText(isJSONObject(schema) ? schema : {}, one),
  };
}

function firstText(...schemas: readonly JSONObject[]): string {
  const texts = schemas.flatMap(({ description, title }) => [description, title]);
  return String(texts.find((text) => typeof text === "string" && text !== "") ?? "");
}

/** The schema, or the schemas of which one holds, with references to the same document followed. */
function alternativesOf(schema: unknown, root: JSONObject, depth: number): JSONObject[] {
  if (!isJSONObject(schema) || depth > MAX_DEPTH) return [];
  if (typeof schema.$ref === "string") return alternativesOf(follow(schema.$ref, root), root, depth + 1);
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  // Constants with titles are the options of one value.
  if (choices === undefined || choices.every((choice) => isJSONObject(choice) && "const" in choice)) {
    return [schema];
  }
  return choices.flatMap((choice) => alternativesOf(choice, root, depth + 1));
}

function follow(reference: string, root: JSONObject): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isJSONObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function kindsOf(schema: JSONObject): ValueKind[] {
  const { type } = schema;
  const listed = (Array.isArray(type) ? type : [type]).filter((kind) => KINDS.includes(kind));
  if (listed.length > 0) return listed;
  return optionsOf(schema).map(({ value }) => kindOf(value));
}

function kindOf(value: unknown): ValueKind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as ValueKind;
}

function optionsOf(schema: JSONObject): Array<{ value: unknown; name: string }> {
  const choices = [schema.oneOf, schema.anyOf].find(Array.isArray);
  if (choices !== undefined) {
    return choices.filter(isJSONObject).map((choice) => ({
      value: choice.const,
      name: typeof choice.title === "string" ? choice.title : toText(choice.const),
    }));
  }
  if ("const" in schema) return [{ value: schema.const, name: toText(schema.const) }];
  const { enum: values, enumNames } = schema;
  if (!Array.isArray(values)) return [];
  const names = Array.isArray(enumNames) ? enumNames : [];
  return values.map((value, index) => ({
    value,
    name: typeof names[index] === "string" ? names[index] as string : toText(value),
  }));
}

/** How a value is written on a command line. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

/** What a value is, in words, such as `integer, one of 1, 2, 3`. */
export function describeSpec({ kinds, options, items }: ValueSpec): string {
  const kind = kinds.join(" or ");
  const what = kind === "array" && items !== undefined ? `array of ${describeSpec(items) || "values"}` : kind;
  if (options.length === 0) return what;
  return [what, `one of ${options.map(toText).join(", ")}`].filter((part) => part !== "").join(", ");
}

/** A value, or why the text is none. */
export type ReadValue = { readonly value: unknown } | { readonly problem: string };

/** Reads a text as the value that a schema asks for. What fits more than one kind is taken for the first that is no string. */
export function readValue(spec: ValueSpec, text: string): ReadValue {
  const option = spec.options.findIndex((candidate, index) =>
    toText(candidate) === text || spec.optionNames[index] === text
  );
  if (option >= 0) return { value: spec.options[option] };
  if (spec.options.length > 0) return { problem: `it must be ${describeSpec(spec)}` };
  if (spec.kinds.length === 0) return { value: guess(text) };
  const parsed = parseJson(text);
  for (const kind of spec.kinds) {
    if (kind !== "string" && parsed !== undefined && isOfKind(kind, parsed.value)) {
      return { value: parsed.value };
    }
  }
  if (spec.kinds.includes("string")) return { value: text };
  if (spec.kinds.includes("array") && spec.items !== undefined && parsed === undefined) {
    const item = readValue(spec.items, text);
    return "value" in item ? { value: [item.value] } : item;
  }
  return { problem: `it must be ${withArticle(describeSpec(spec))}` };
}

/** Reads what was given for one name: one text, or several that are the members of an array. */
export function readValues(spec: ValueSpec, texts: readonly string[]): ReadValue {
  if (texts.length === 1) return readValue(spec, texts[0]!);
  if (!spec.kinds.includes("array") && spec.kinds.length > 0) {
    return { problem: "it was given more than once" };
  }
  const items = spec.items ?? { ...spec, kinds: [], options: [], optionNames: [] };
  const values: unknown[] = [];
  for (const text of texts) {
    const item = readValue(items, text);
    if ("problem" in item) return item;
    values.push(item.value);
  }
  return { value: values };
}

function withArticle(what: string): string {
  return /^[aeiou]/.test(what) ? `an ${what}` : `a ${what}`;
}

/** Where a schema says nothing: JSON if it is JSON, else text. */
function guess(text: string): unknown {
  const parsed = parseJson(text);
  return parsed === undefined ? text : parsed.value;
}

function isOfKind(kind: ValueKind, value: unknown): boolean {
  return kind === "integer" ? Number.isInteger(value) : kindOf(value) === kind;
}
