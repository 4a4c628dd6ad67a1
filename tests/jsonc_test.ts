import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findMember,
  JsonSyntaxError,
  listRepeated,
  locate,
  parseJsonc,
  toValue,
} from "../internal/host_config/jsonc.ts";

const values: readonly [text: string, value: unknown][] = [
  ['{"a":[1,-2.5e3,true,false,null,"x"],"b":{}}', { a: [1, -2500, true, false, null, "x"], b: {} }],
  [" \t\r\n{ } ", {}],
  ['// c\n{/* a */"a"/**/:/* \n */1// end\n}// last', { a: 1 }],
  ['{"a":1,}', { a: 1 }],
  ["[1,2,]", [1, 2]],
  ["[1/**/,2//\n]", [1, 2]],
  ['"// no comment /* at all */"', "// no comment /* at all */"],
  ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83e\\udd95"', '"\\/\b\f\n\r\té🦕'],
  ['"\u2028"', "\u2028"],
  ["0", 0],
  ["/* * / ** */1", 1],
];
for (const [text, value] of values) {
  test(`parseJsonc() reads ${JSON.stringify(text)} (H1)`, () =>
    assert.deepEqual(toValue(parseJsonc(text)), value));
}

const faults: readonly [text: string, message: RegExp, line: number, column: number][] = [
  ["", /^expected a value, but the text ends$/, 1, 1],
  ["// only\n", /^expected a value, but the text ends$/, 2, 1],
  ['{\n  "a": 1\n  "b": 2 }', /^expected "," or "}", but found "\\""$/, 3, 3],
  ['{"a" 1}', /^expected ":", but found "1"$/, 1, 6],
  ["{a:1}", /^expected a key in double quotes or "}", but found "a"$/, 1, 2],
  ["{,}", /^expected a key in double quotes or "}", but found ","$/, 1, 2],
  ["[,]", /^expected a value, but found ","$/, 1, 2],
  ["[1,,]", /^expected a value, but found ","$/, 1, 4],
  ['{"a":1,,}', /^expected a key/, 1, 8],
  ["[1", /^expected "," or "]", but the text ends$/, 1, 3],
  ["{} x", /^expected the end of the text, but found "x"$/, 1, 4],
  ["{}}", /^expected the end of the text, but found "}"$/, 1, 3],
  ["01", /^expected a value, but found "0"$/, 1, 1],
  ["[1.]", /^expected a value/, 1, 2],
  ["[+1]", /^expected a value/, 1, 2],
  ["[NaN]", /^expected a value/, 1, 2],
  ["[nul]", /^expected a value/, 1, 2],
  ["'a'", /^expected a value, but found "'"$/, 1, 1],
  ['\r\n"a', /^a string is not closed$/, 2, 1],
  ['["a\nb"]', /^a string holds a line break/, 1, 4],
  ['["a\\x"]', /^a string holds an escape/, 1, 4],
  ['["\\u12g4"]', /^a string holds an escape/, 1, 3],
  ["\r[ /* x", /^a comment is not closed$/, 2, 3],
  ["\ufeff\ufeff{}", /^expected a value, but found "\\ufeff"$/, 1, 1],
  ["\u001b[2K", /^expected a value, but found "\\u001b"$/, 1, 1],
  ["[".repeat(201), /^values are nested deeper than 200 levels$/, 1, 201],
];
for (const [text, message, line, column] of faults) {
  test(`parseJsonc() says what is wrong at ${line}:${column} of ${JSON.stringify(text.slice(0, 20))} (B129)`, () => {
    assert.throws(() => parseJsonc(text), (error: unknown) => {
      assert.ok(error instanceof JsonSyntaxError);
      assert.match(error.message, message);
      assert.deepEqual(locate(text, error.offset), { line, column });
      return true;
    });
  });
}

test("parseJsonc() reads what JSON.stringify() writes, whatever it is (H1)", () => {
  const value = { "": [[], {}, "\u0000\ud800\u2029", 1e-7, -0.5, 1e21], nested: { 'a"b': null } };
  assert.deepEqual(toValue(parseJsonc(JSON.stringify(value, null, 2))), value);
});

test("parseJsonc() keeps the digits of numbers and both of two equal keys (B135)", () => {
  const node = parseJsonc('{"a":1.10,"b":12345678901234567890,"a":2}');
  assert.ok(node.kind === "object");
  assert.deepEqual(node.members.map(({ value }) => value.kind === "number" && value.text), [
    "1.10",
    "12345678901234567890",
    "2",
  ]);
  assert.deepEqual(listRepeated(node.members).map(({ key, offset }) => [key, offset]), [["a", 35]]);
  assert.equal(findMember(node, "a")?.offset, 35);
  assert.deepEqual(toValue(node), { a: 2, b: 12345678901234567890 });
});

test("toValue() makes __proto__ a key like any other", () => {
  const value = toValue(parseJsonc('{"__proto__":{"x":1}}')) as object;
  assert.deepEqual(Object.keys(value), ["__proto__"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});
