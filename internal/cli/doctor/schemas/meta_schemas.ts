/** Whether a schema is one: the meta-schemas of JSON Schema in one piece each, for a validator without dynamic references. */

import type { JSONSchema } from "../../../../schema.ts";
import { type Checker, createChecker } from "../../../json_schema/schema_checker.ts";

const SELF = { $ref: "#" } as const;
const MAP = { type: "object", additionalProperties: SELF } as const;
const LIST = { type: "array", minItems: 1, items: SELF } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const NUMBER = { type: "number" } as const;
const STRING = { type: "string" } as const;
const BOOLEAN = { type: "boolean" } as const;
const STRINGS = { type: "array", items: STRING, uniqueItems: true } as const;
const TYPE_NAME = { enum: ["array", "boolean", "integer", "null", "number", "object", "string"] } as const;

/** What the dialects share. */
const COMMON: JSONSchema = {
  $id: STRING,
  $schema: STRING,
  $ref: STRING,
  $comment: STRING,
  title: STRING,
  description: STRING,
  readOnly: BOOLEAN,
  writeOnly: BOOLEAN,
  examples: { type: "array" },
  format: STRING,
  contentEncoding: STRING,
  contentMediaType: STRING,
  type: { anyOf: [TYPE_NAME, { type: "array", items: TYPE_NAME, minItems: 1, uniqueItems: true }] },
  enum: { type: "array" },
  multipleOf: { type: "number", exclusiveMinimum: 0 },
  maximum: NUMBER,
  exclusiveMaximum: NUMBER,
  minimum: NUMBER,
  exclusiveMinimum: NUMBER,
  maxLength: COUNT,
  minLength: COUNT,
  pattern: STRING,
  maxItems: COUNT,
  minItems: COUNT,
  uniqueItems: BOOLEAN,
  maxProperties: COUNT,
  minProperties: COUNT,
  required: STRINGS,
  contains: SELF,
  additionalProperties: SELF,
  properties: MAP,
  patternProperties: MAP,
  propertyNames: SELF,
  definitions: MAP,
  $defs: MAP,
  dependencies: { type: "object", additionalProperties: { anyOf: [SELF, STRINGS] } },
  if: SELF,
  then: SELF,
  else: SELF,
  allOf: LIST,
  anyOf: LIST,
  oneOf: LIST,
  not: SELF,
};

const DRAFT_2020_12: JSONSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: ["object", "boolean"],
  properties: {
    ...COMMON,
    $anchor: { type: "string", pattern: "^[A-Za-z_][-A-Za-z0-9._]*$" },
    $dynamicRef: STRING,
    $dynamicAnchor: { type: "string", pattern: "^[A-Za-z_][-A-Za-z0-9._]*$" },
    $vocabulary: { type: "object", additionalProperties: BOOLEAN },
    deprecated: BOOLEAN,
    prefixItems: LIST,
    items: SELF,
    maxContains: COUNT,
    minContains: COUNT,
    dependentSchemas: MAP,
    dependentRequired: { type: "object", additionalProperties: STRINGS },
    unevaluatedItems: SELF,
    unevaluatedProperties: SELF,
    contentSchema: SELF,
  },
};

const DRAFT_07: JSONSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: ["object", "boolean"],
  properties: {
    ...COMMON,
    items: { anyOf: [SELF, LIST] },
    additionalItems: SELF,
  },
};

const checkers = new Map<JSONSchema, Checker>();

/** What came of looking at a schema. */
export type SchemaVerdict =
  | { readonly kind: "valid" }
  | { readonly kind: "invalid"; readonly problems: readonly string[] }
  /** Valid in draft-07, without saying that it is that. */
  | { readonly kind: "unsaid" }
  /** A dialect that is not known here. */
  | { readonly kind: "foreign"; readonly dialect: string };

/** Looks at a schema by the dialect that it names, 2020-12 if none; `old` revisions leave the choice. */
export async function judgeSchema(
  schema: JSONSchema,
  { old = false }: { old?: boolean } = {},
): Promise<SchemaVerdict> {
  const dialect = schema["$schema"];
  if (dialect !== undefined && typeof dialect !== "string") {
    return { kind: "invalid", problems: ["$schema is no string"] };
  }
  if (dialect === undefined) {
    const problems = await problemsIn(DRAFT_2020_12, schema);
    if (problems.length === 0) return { kind: "valid" };
    const isDraft07 = (await problemsIn(DRAFT_07, schema)).length === 0;
    if (isDraft07) return { kind: old ? "valid" : "unsaid" };
    return { kind: "invalid", problems };
  }
  const meta = /draft\/(?:2020-12|2019-09)\//.test(dialect)
    ? DRAFT_2020_12
    : /draft-0[67]\//.test(dialect)
    ? DRAFT_07
    : undefined;
  if (meta === undefined) return { kind: "foreign", dialect };
  const problems = await problemsIn(meta, schema);
  return problems.length === 0 ? { kind: "valid" } : { kind: "invalid", problems };
}

async function problemsIn(meta: JSONSchema, schema: JSONSchema): Promise<readonly string[]> {
  const check = checkers.get(meta) ?? createChecker(meta);
  checkers.set(meta, check);
  return (await check(schema)).problems ?? [];
}

/** Whether a value fits a schema; what is wrong if it does not, nothing where the dialect is not known. */
export async function valueProblems(schema: JSONSchema, value: unknown): Promise<readonly string[]> {
  try {
    return (await createChecker(schema)(value)).problems ?? [];
  } catch {
    return []; // LIST-03 has said what is wrong with the schema.
  }
}
