// The quick check of common schemas (rule O1): what it accepts the validator accepts, and it never loads that.
import { type Schema as CfSchema, Validator } from "@cfworker/json-schema";
import assert from "node:assert/strict";
import { test } from "node:test";
import { plainSchema } from "../internal/json_schema/plain_schema.ts";
import { createRandom } from "./helpers.ts";

const TEXTS = ["", "a", "ab", "abc", "é", "😀", "😀😀", "日本語", "constructor", "__proto__"];
const SCALARS: readonly unknown[] = [null, true, false, 0, -0, 1, -1, 1.5, 2, 10, 1e21, ...TEXTS];

/** Values of every kind, also with members whose names objects inherit. */
const VALUES: readonly unknown[] = [
  ...SCALARS,
  [],
  [1],
  ["a", "b"],
  [1, "a", null],
  [[1], [2, 3]],
  {},
  { a: 1 },
  { a: "a", b: 2 },
  { a: 1, c: {} },
  { a: { b: [1, 2] } },
  { b: null },
  { constructor: 1 },
  JSON.parse('{"__proto__": 1, "a": 2}'),
];

const SCHEMAS: readonly CfSchema[] = [
  {},
  { type: "string" },
  { type: "integer", minimum: 0 },
  { type: "number", exclusiveMinimum: 0, maximum: 10 },
  { type: ["string", "null"], maxLength: 2 },
  { type: "string", minLength: 1, maxLength: 3 },
  { type: "string", minLength: 2, title: "T", description: "D", default: "ab", examples: ["ab"] },
  { enum: ["a", 1, null, true] },
  { const: 1 },
  { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 2 },
  { type: "object", properties: { a: { type: "integer" }, b: { type: "string" } } },
  { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
  { type: "object", properties: { a: { type: "integer" } }, additionalProperties: false },
  { type: "object", properties: { a: {} }, additionalProperties: { type: "integer" } },
  { type: "object", required: ["constructor"] },
  { type: "object", properties: { a: { type: "object", properties: { b: { type: "array" } } } } },
  { type: "object", properties: { a: true as never } },
];

test("plainSchema() accepts only what the validator accepts, for every schema and value (O1)", () => {
  let accepted = 0;
  for (const schema of SCHEMAS) {
    const accepts = plainSchema(schema);
    assert.ok(accepts !== undefined, `${JSON.stringify(schema)} is plain`);
    const validator = new Validator(schema, "2020-12");
    for (const value of VALUES) {
      if (!accepts(value)) continue;
      accepted++;
      const { valid, errors } = validator.validate(value);
      assert.ok(valid, `${JSON.stringify(schema)} ${JSON.stringify(value)}: ${errors[0]?.error}`);
    }
  }
  assert.ok(accepted > 100, `only ${accepted} were accepted`);
});

test("plainSchema() accepts only what the validator accepts, for random schemas (O1)", () => {
  const random = createRandom(20_261_130);
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)]!;
  const make = (depth: number): CfSchema => {
    const schema: Record<string, unknown> = {};
    if (random.oneIn(2)) {
      schema.type = pick(["string", "number", "integer", "object", "array", "null", "boolean"]);
    }
    if (random.oneIn(4)) schema.enum = [pick(SCALARS), pick(SCALARS), pick(SCALARS)];
    if (random.oneIn(4)) {
      schema[pick(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])] = random.below(4);
    }
    if (random.oneIn(4)) schema[pick(["minLength", "maxLength", "minItems", "maxItems"])] = random.below(4);
    if (depth > 0 && random.oneIn(2)) {
      schema.properties = { a: make(depth - 1), constructor: make(depth - 1) };
    }
    if (depth > 0 && random.oneIn(4)) schema.items = make(depth - 1);
    if (random.oneIn(4)) schema.required = [pick(["a", "b", "constructor"])];
    if (depth > 0 && random.oneIn(4)) schema.additionalProperties = random.oneIn(2) ? false : make(depth - 1);
    return schema;
  };
  let accepted = 0;
  for (let round = 0; round < 3_000; round++) {
    const schema = make(2);
    const accepts = plainSchema(schema);
    assert.ok(accepts !== undefined, JSON.stringify(schema));
    const validator = new Validator(schema, "2020-12");
    for (let count = 0; count < 10; count++) {
      const value = pick(VALUES);
      if (!accepts(value)) continue;
      accepted++;
      // The validator takes inherited members for members: `constructor` of any object.
      if (JSON.stringify(schema).includes("constructor")) continue;
      assert.ok(validator.validate(value).valid, `${JSON.stringify(schema)} ${JSON.stringify(value)}`);
    }
  }
  assert.ok(accepted > 3_000, `only ${accepted} were accepted`);
});

test("plainSchema() accepts what tools are usually given (O1)", () => {
  const accepts = plainSchema({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      city: { type: "string", minLength: 1, description: "A city" },
      days: { type: "integer", minimum: 1, maximum: 7, default: 1 },
      units: { enum: ["metric", "imperial"] },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["city"],
    additionalProperties: false,
  })!;
  assert.equal(accepts({ city: "Oslo" }), true);
  assert.equal(accepts({ city: "Oslo", days: 7, units: "metric", tags: ["a", "b"] }), true);
  for (
    const wrong of [{}, { city: 1 }, { city: "Oslo", days: 8 }, { city: "Oslo", other: 1 }, { city: "" }]
  ) {
    assert.equal(accepts(wrong), false, JSON.stringify(wrong));
  }
});

test("plainSchema() leaves whatever asks more to the validator (O1)", () => {
  const rows: unknown[] = [
    { pattern: "^a" },
    { format: "date" },
    { anyOf: [{ type: "string" }] },
    { $ref: "#/$defs/a", $defs: { a: {} } },
    { properties: { a: { oneOf: [] } } },
    { items: { not: {} } },
    { type: "strange" },
    { enum: [{ a: 1 }] },
    { const: [1] },
    { prefixItems: [{}], items: { type: "string" } },
    { patternProperties: { "^a": {} }, additionalProperties: false },
    { exclusiveMinimum: true },
    { "x-own": 1 },
    false,
    null,
  ];
  for (const schema of rows) assert.equal(plainSchema(schema), undefined, JSON.stringify(schema));
});
