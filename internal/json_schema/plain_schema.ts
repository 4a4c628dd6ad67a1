import { isJSONObject, type JSONObject } from "../../messages.ts";

/** Says that a value fits, or that it cannot tell. */
export type Accepts = (value: unknown) => boolean;

/** Keywords that tell something and ask nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

/** The types that there are, and what is of each. */
export const TYPES: ReadonlyMap<unknown, Accepts> = new Map<unknown, Accepts>([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number"],
  ["integer", (value) => Number.isInteger(value)],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["array", (value) => Array.isArray(value)],
  ["object", isJSONObject],
]);

/** By keyword: what it asks of a value, or undefined where that takes the validator. */
const KEYWORDS: ReadonlyMap<string, (argument: unknown, schema: JSONObject) => Accepts | undefined> = new Map(
  [
    ["type", acceptType],
    ["enum", (options) => Array.isArray(options) ? oneOf(options) : undefined],
    ["const", (option) => oneOf([option])],
    ["minimum", (limit) => compare(limit, (value, least) => value >= least)],
    ["maximum", (limit) => compare(limit, (value, most) => value <= most)],
    ["exclusiveMinimum", (limit) => compare(limit, (value, least) => value > least)],
    ["exclusiveMaximum", (limit) => compare(limit, (value, most) => value < most)],
    // Lengths count characters, of which a string has at least half as many as code units.
    ["minLength", (limit) => measure(limit, isString, (length, least) => length >= 2 * least)],
    ["maxLength", (limit) => measure(limit, isString, (length, most) => length <= most)],
    ["minItems", (limit) => measure(limit, Array.isArray, (length, least) => length >= least)],
    ["maxItems", (limit) => measure(limit, Array.isArray, (length, most) => length <= most)],
    ["uniqueItems", acceptUnique],
    ["items", acceptItems],
    ["required", acceptRequired],
    ["properties", acceptProperties],
    ["additionalProperties", acceptAdditional],
  ],
);

/**
 * A quick check for the schemas that most tools have. What it accepts the validator would accept as well; the rest, and what
 * is wrong with it, is for the validator to say, which need not be loaded before. Undefined for a schema that asks more.
 */
export function plainSchema(schema: unknown): Accepts | undefined {
  if (schema === true) return () => true;
  if (!isJSONObject(schema)) return undefined;
  const checks: Accepts[] = [];
  for (const [keyword, argument] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword)) continue;
    const check = KEYWORDS.get(keyword)?.(argument, schema);
    if (check === undefined) return undefined;
    checks.push(check);
  }
  return all(checks);
}

function all(checks: readonly Accepts[]): Accepts {
  if (checks.length === 1) return checks[0]!;
  return (value) => {
    for (const check of checks) {
      if (!check(value)) return false;
    }
    return true;
  };
}

function acceptType(type: unknown): Accepts | undefined {
  if (!Array.isArray(type)) return TYPES.get(type);
  const checks = type.map((each) => TYPES.get(each));
  return checks.includes(undefined) ? undefined : (value) => checks.some((check) => check!(value));
}

function oneOf(options: readonly unknown[]): Accepts | undefined {
  return options.some((option) => typeof option === "object" && option !== null)
    ? undefined
    : (value) => options.includes(value);
}

function compare(limit: unknown, holds: (value: number, limit: number) => boolean): Accepts | undefined {
  return typeof limit !== "number" ? undefined : (value) => typeof value !== "number" || holds(value, limit);
}

function measure(
  limit: unknown,
  isMeant: (value: unknown) => value is { readonly length: number },
  holds: (length: number, limit: number) => boolean,
): Accepts | undefined {
  return typeof limit !== "number" ? undefined : (value) => !isMeant(value) || holds(value.length, limit);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Only of plain values it is told here whether they are unique. */
function acceptUnique(isAsked: unknown): Accepts | undefined {
  if (typeof isAsked !== "boolean") return undefined;
  return (value) => {
    if (!isAsked || !Array.isArray(value)) return true;
    return value.every((item) => typeof item !== "object") && new Set(value).size === value.length;
  };
}

function acceptItems(items: unknown, { prefixItems }: JSONObject): Accepts | undefined {
  const accepts = prefixItems === undefined ? plainSchema(items) : undefined;
  return accepts && ((value) => !Array.isArray(value) || value.every(accepts));
}

function acceptRequired(names: unknown): Accepts | undefined {
  if (!Array.isArray(names)) return undefined;
  return (value) => !isJSONObject(value) || names.every((name) => Object.hasOwn(value, name));
}

function acceptProperties(properties: unknown): Accepts | undefined {
  if (!isJSONObject(properties)) return undefined;
  const checks: Array<readonly [string, Accepts]> = [];
  for (const [name, schema] of Object.entries(properties)) {
    const accepts = plainSchema(schema);
    if (accepts === undefined) return undefined;
    checks.push([name, accepts]);
  }
  return (value) => {
    if (!isJSONObject(value)) return true;
    for (const [name, accepts] of checks) {
      if (Object.hasOwn(value, name) && !accepts(value[name])) return false;
    }
    return true;
  };
}

function acceptAdditional(
  additional: unknown,
  { properties, patternProperties }: JSONObject,
): Accepts | undefined {
  if (patternProperties !== undefined) return undefined;
  const accepts = additional === false ? () => false : plainSchema(additional);
  if (accepts === undefined) return undefined;
  const known = isJSONObject(properties) ? properties : {};
  return (value) =>
    !isJSONObject(value) ||
    Object.entries(value).every(([name, member]) => Object.hasOwn(known, name) || accepts(member));
}
