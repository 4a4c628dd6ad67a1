import { isJSONObject, type JSONObject } from "../../messages.ts";
import { TYPES } from "./plain_schema.ts";

/** Keywords that hold one schema, a list of them, or schemas by name. */
const ONE: ReadonlySet<string> = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const NAMED: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/**
 * Says what keeps a JSON Schema from ever working, or undefined if nothing does: a `$ref` that leads nowhere, a `pattern` that is
 * no regular expression, a `type` that there is not. The validator would say so at the first value.
 */
export function whatIsUnsound(schema: JSONObject): string | undefined {
  const parts: Part[] = [];
  collect(schema, schema, "", parts);
  const anchors = new Set(parts.flatMap(({ schema }) => anchorsOf(schema)));
  for (const { schema, root, path } of parts) {
    const wrong = wrongType(schema) ?? wrongPattern(schema) ?? wrongRef(schema, root, anchors);
    if (wrong !== undefined) return path === "" ? wrong : `${wrong} (at ${path})`;
  }
  return undefined;
}

interface Part {
  readonly schema: JSONObject;
  /** The schema that its local references begin at. */
  readonly root: JSONObject;
  readonly path: string;
}

/** Adds a schema and those within it. No generator: each server does this before its first answer, and one takes long to begin. */
function collect(schema: unknown, above: JSONObject, path: string, parts: Part[]): void {
  if (!isJSONObject(schema)) return;
  const root = typeof schema.$id === "string" && !schema.$id.startsWith("#") ? schema : above;
  parts.push({ schema, root, path });
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.has(keyword) && isJSONObject(value)) collect(value, root, `${path}/${keyword}`, parts);
    else if (LISTS.has(keyword) && Array.isArray(value)) {
      value.forEach((each, index) => collect(each, root, `${path}/${keyword}/${index}`, parts));
    } else if (NAMED.has(keyword) && isJSONObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        collect(each, root, `${path}/${keyword}/${name}`, parts);
      }
    }
  }
}

function anchorsOf({ $id, id, $anchor, $dynamicAnchor }: JSONObject): string[] {
  return [$id, id, $anchor, $dynamicAnchor].filter((name) => typeof name === "string");
}

function wrongType({ type }: JSONObject): string | undefined {
  const types = type === undefined ? [] : Array.isArray(type) ? type : [type];
  const unknown = types.find((each) => !TYPES.has(each));
  return unknown === undefined ? undefined : `there is no type ${JSON.stringify(unknown)}`;
}

function wrongPattern({ pattern, patternProperties }: JSONObject): string | undefined {
  const patterns = [
    ...(pattern === undefined ? [] : [pattern]),
    ...(isJSONObject(patternProperties) ? Object.keys(patternProperties) : []),
  ];
  const wrong = patterns.find((each) => typeof each !== "string" || !isRegExp(each));
  return wrong === undefined ? undefined : `the pattern ${JSON.stringify(wrong)} is no regular expression`;
}

function isRegExp(source: string): boolean {
  try {
    return new RegExp(source, "u") !== undefined;
  } catch {
    return false;
  }
}

function wrongRef({ $ref }: JSONObject, root: JSONObject, anchors: ReadonlySet<string>): string | undefined {
  if ($ref === undefined) return undefined;
  if (typeof $ref === "string" && leadsSomewhere($ref, root, anchors)) return undefined;
  return `the "$ref" ${JSON.stringify($ref)} leads nowhere`;
}

/** Nothing is ever loaded over the network. */
function leadsSomewhere(ref: string, root: JSONObject, anchors: ReadonlySet<string>): boolean {
  const [document = "", fragment = ""] = ref.split("#", 2);
  if (document !== "") {
    // Resolved against a base that may be given anywhere above: the last part of the name has to be right.
    const file = document.slice(document.lastIndexOf("/") + 1);
    return [...anchors].some((anchor) => anchor.split("#")[0]!.endsWith(file)) ||
      /^https?:\/\/json-schema\.org\//.test(document);
  }
  if (fragment === "") return true;
  if (!fragment.startsWith("/")) return anchors.has(fragment) || anchors.has(`#${fragment}`);
  let target: unknown = root;
  for (const name of fragment.slice(1).split("/")) {
    const key = decode(name).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return false;
    target = (target as { [key: string]: unknown })[key];
  }
  return isJSONObject(target) || typeof target === "boolean";
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
