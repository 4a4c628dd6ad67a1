// Text to values by a schema (L1): what kind of value is meant, and what is said when it cannot be.
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSpec, readObjectSpec, readValue, readValues } from "../internal/cli/schema_values.ts";
import { escapeJson, hangText, showJson, showLine, showText, widthOf } from "../internal/cli/shown_text.ts";

function specOf(schema: unknown, root: Record<string, unknown> = {}) {
  return readObjectSpec({ ...root, properties: { x: schema } }).members[0]!;
}

const VALUES: ReadonlyArray<readonly [schema: unknown, text: string, value: unknown]> = [
  [{ type: "string" }, "5", "5"],
  [{ type: "string" }, "true", "true"],
  [{ type: "string" }, "", ""],
  [{ type: "string" }, '"quoted"', '"quoted"'],
  [{ type: "number" }, "1.5", 1.5],
  [{ type: "integer" }, "-3", -3],
  [{ type: "boolean" }, "false", false],
  [{ type: "null" }, "null", null],
  [{ type: ["string", "null"] }, "null", null],
  [{ type: ["number", "string"] }, "five", "five"],
  [{ type: ["string", "number"] }, "5", 5],
  [{ type: "object" }, '{"a":[1]}', { a: [1] }],
  [{ type: "array", items: { type: "integer" } }, "[1,2]", [1, 2]],
  [{ type: "array", items: { type: "string" } }, "one", ["one"]],
  [{ enum: ["a", "b"] }, "b", "b"],
  [{ enum: [1, 2] }, "2", 2],
  [{ enum: [true, "true"] }, "true", true],
  [{ const: "only" }, "only", "only"],
  [{ type: "string", enum: ["r"], enumNames: ["red"] }, "red", "r"],
  [{ oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] }, "Green", "g"],
  [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "7", 7],
  [{ oneOf: [{ type: "string" }, { type: "boolean" }] }, "true", true],
  [{ $ref: "#/$defs/size" }, "9", 9],
  [{}, "9", 9],
  [{}, "plain", "plain"],
  [true, '{"a":1}', { a: 1 }],
];

for (const [schema, text, value] of VALUES) {
  test(`readValue() takes ${JSON.stringify(text)} for ${JSON.stringify(value)} where ${JSON.stringify(schema)} is asked (L1)`, () => {
    assert.deepEqual(readValue(specOf(schema, { $defs: { size: { type: "integer" } } }), text), { value });
  });
}

const PROBLEMS: ReadonlyArray<readonly [schema: unknown, text: string, problem: RegExp]> = [
  [{ type: "number" }, "five", /^it must be a number$/],
  [{ type: "integer" }, "1.5", /^it must be an integer$/],
  [{ type: "boolean" }, "yes", /^it must be a boolean$/],
  [{ type: "object" }, "[1]", /^it must be an object$/],
  [{ type: "array", items: { type: "integer" } }, "x", /^it must be an integer$/],
  [{ enum: ["a", "b"] }, "c", /^it must be string, one of a, b$/],
];

for (const [schema, text, problem] of PROBLEMS) {
  test(`readValue() says what ${JSON.stringify(schema)} asks when it is given ${text} (L1)`, () => {
    const read = readValue(specOf(schema), text);
    assert.match("problem" in read ? read.problem : "no problem", problem);
  });
}

test("readValues() makes a list of what is given more than once, and of nothing else (L1)", () => {
  assert.deepEqual(readValues(specOf({ type: "array", items: { type: "integer" } }), ["1", "2"]), {
    value: [1, 2],
  });
  assert.deepEqual(readValues(specOf({ type: "array" }), ["1", "b"]), { value: [1, "b"] });
  assert.deepEqual(readValues(specOf({}), ["a", "b"]), { value: ["a", "b"] });
  assert.ok("problem" in readValues(specOf({ type: "string" }), ["a", "b"]));
});

test("readObjectSpec() survives schemas that are none, that refer to themselves, or require what they do not describe (L1)", () => {
  for (const schema of [null, 5, [], { properties: 5 }, { properties: { x: 5 }, required: "x" }]) {
    assert.ok(readObjectSpec(schema).isOpen);
  }
  const circle = readObjectSpec({
    $defs: { a: { $ref: "#/$defs/a" } },
    properties: { x: { $ref: "#/$defs/a" } },
  });
  assert.deepEqual(circle.members[0]!.kinds, []);
  const nested: Record<string, unknown> = { type: "array" };
  nested.items = nested;
  assert.match(describeSpec(specOf(nested)), /^array of array of/);
  const required = readObjectSpec({ required: ["y"], additionalProperties: false });
  assert.deepEqual(required.members.map(({ name, isRequired }) => [name, isRequired]), [["y", true]]);
  assert.equal(required.isOpen, false);
});

test("text of servers is shown without a character that a terminal acts on (L1, L6)", () => {
  const evil = "a\x1b[2Jb\x07\x9b31m\u202ec\u2028d\u{e0041}\ud800e\r\nf\tg\rh";
  assert.equal(showText(evil), "a\\u001b[2Jb\\u0007\\u009b31m\\u202ec\\u2028d\\U000e0041\\ud800e\nf\tg\\rh");
  assert.doesNotMatch(showLine(evil), /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028]/u);
  assert.equal(showLine("x".repeat(20), 5), "xxxxx… [15 more characters]");
  assert.equal(showText("👩‍👩‍👧 é ไทย\u00a0"), "👩‍👩‍👧 é ไทย\u00a0");
  assert.deepEqual(JSON.parse(showJson({ evil })), { evil });
  assert.doesNotMatch(showJson({ evil }), /[\p{Cc}\p{Bidi_Control}\u2028]/u);
  assert.equal(JSON.parse(escapeJson('"\u{e0041}"')), "\u{e0041}");
  assert.deepEqual([widthOf("ab"), widthOf("日本"), widthOf("e\u0301"), widthOf("👍")], [2, 4, 1, 2]);
});

test("a long text hangs under its beginning, in as many columns as there are (L1)", () => {
  assert.deepEqual(hangText("  mend: ", "write one line 日本 at a time, please", 20), [
    "  mend: write one",
    "        line 日本 at",
    "        a time,",
    "        please",
  ]);
  assert.deepEqual(hangText("a: ", "unbreakable b", 5), ["a: unbreakable", "   b"]);
  assert.deepEqual(hangText("a: ", "b c", Infinity), ["a: b c"]);
});
