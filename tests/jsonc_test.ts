import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findMember,
  GREATEST_PARTS,
  type JsonNode,
  listRepeated,
  readJsonTree,
  toValue,
} from "../internal/host_config/json_tree.ts";
import { JsonSyntaxError, toPlainJson } from "../internal/host_config/jsonc.ts";
import { TextPlaces } from "../internal/host_config/text_places.ts";
import { createRandom } from "./helpers.ts";
import { assertLinear } from "./linear_time.ts";

function parseJsonc(text: string): JsonNode {
  return readJsonTree(toPlainJson(text));
}

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
  ['[[1,],{},{"a":[],},// x\r{},/**/]', [[1], {}, { a: [] }, {}]],
  ['{"a\\u0022":"\ud800/*","b":"\\\\",}', { 'a"': "\ud800/*", b: "\\" }],
  [`[${"[],".repeat(201)}{}]`, [...Array(201).fill([]), {}]],
];
for (const [text, value] of values) {
  test(`toPlainJson() reads ${JSON.stringify(text.slice(0, 60))} (H1)`, () => {
    assert.deepEqual(toValue(parseJsonc(text)), value);
    assert.equal(toPlainJson(text).length, text.length);
  });
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
  test(`toPlainJson() says what is wrong at ${line}:${column} of ${JSON.stringify(text.slice(0, 20))} (B129)`, () => {
    assert.throws(() => parseJsonc(text), (error: unknown) => {
      assert.ok(error instanceof JsonSyntaxError);
      assert.match(error.message, message);
      assert.deepEqual(new TextPlaces(text).locate(error.offset), { line, column });
      return true;
    });
  });
}

test("toPlainJson() reads what JSON.stringify() writes, whatever it is (H1)", () => {
  const value = { "": [[], {}, "\u0000\ud800\u2029", 1e-7, -0.5, 1e21], nested: { 'a"b': null } };
  assert.deepEqual(toValue(parseJsonc(JSON.stringify(value, null, 2))), value);
});

test("readJsonTree() keeps the digits of numbers and both of two equal keys (B135)", () => {
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

test("toPlainJson() counts levels, not values: a list may have more parts than levels are allowed (H1)", () => {
  for (const part of ["[]", "{}", '{"a":[{}]}']) {
    assert.equal(JSON.parse(toPlainJson(`[${Array(1000).fill(part).join()}]`)).length, 1000);
  }
});

/** Any value, written with blanks, comments and trailing commas wherever they may stand. */
function writeLoosely(value: unknown, random: ReturnType<typeof createRandom>): string {
  const gap = () => random.pick(["", "", " ", "\n", "\r\n", "/* x, ] } */", '// " , }\n', "\t/**/ "]);
  const list = (parts: string[], open: string, close: string) => {
    const comma = parts.length > 0 && random.oneIn(2) ? `,${gap()}` : "";
    return `${open}${gap()}${parts.map((part) => part + gap()).join(`,${gap()}`)}${comma}${close}`;
  };
  if (Array.isArray(value)) return list(value.map((item) => writeLoosely(item, random)), "[", "]");
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) =>
    `${JSON.stringify(key)}${gap()}:${gap()}${writeLoosely(member, random)}`
  );
  return list(members, "{", "}");
}

function makeValue(random: ReturnType<typeof createRandom>, depth: number): unknown {
  const kind = random.below(depth > 4 ? 5 : 7);
  if (kind === 5) return Array.from({ length: random.below(4) }, () => makeValue(random, depth + 1));
  if (kind === 6) {
    return Object.fromEntries(
      Array.from({ length: random.below(4) }, (_, index) => [`k"${index}`, makeValue(random, depth + 1)]),
    );
  }
  return random.pick([null, true, false, 0, -1.5e-7, "", "// no comment", 'q"\\', "/*", "\u2028,}"]);
}

test("toPlainJson() and readJsonTree() read any value, however loosely it is written (H1)", () => {
  const random = createRandom(7);
  for (let round = 0; round < 500; round++) {
    const value = makeValue(random, 0);
    const text = writeLoosely(value, random);
    const tree = parseJsonc(text);
    assert.deepEqual(toValue(tree), value, text);
    assert.deepEqual(valueOf(tree), value, text);
  }
});

/** The value of a tree by its parts alone. */
function valueOf(node: JsonNode): unknown {
  if (node.kind === "array") return node.items.map(valueOf);
  if (node.kind !== "object") return toValue(node);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, valueOf(value)]));
}

test("readJsonTree() knows where each part begins (B135)", () => {
  const text = '/**/ { "a" : [ 1 , {"b":"x"} ], "c":{} }';
  const root = parseJsonc(text);
  const begins: string[] = [];
  const visit = (node: JsonNode) => {
    begins.push(text.slice(node.offset, node.offset + 2));
    if (node.kind === "array") node.items.forEach(visit);
    if (node.kind === "object") node.members.forEach(({ value }) => visit(value));
  };
  visit(root);
  assert.deepEqual(begins, ["{ ", "[ ", "1 ", '{"', '"x', "{}"]);
});

test("readJsonTree() reads no more parts than a person writes, and says that there are more (H5)", () => {
  const exact = parseJsonc(`[${"0,".repeat(GREATEST_PARTS)}]`);
  const more = parseJsonc(`[${"0,".repeat(GREATEST_PARTS + 1)}]`);
  assert.ok(exact.kind === "array" && more.kind === "array");
  assert.deepEqual([exact.items.length, exact.isCut], [GREATEST_PARTS, false]);
  assert.deepEqual([more.items.length, more.isCut], [GREATEST_PARTS, true]);
});

test("TextPlaces.locate() finds lines of every kind, in any order and across its own steps (B135)", () => {
  const random = createRandom(3);
  let text = "";
  while (text.length < 20_000) text += random.pick(["x", "\n", "\r\n", "\r", "y".repeat(50)]);
  const places = new TextPlaces(text);
  for (let round = 0; round < 300; round++) {
    const offset = random.below(text.length);
    const lines = text.slice(0, offset).replace(text[offset] === "\n" ? /\r$/ : /(?!)/, "").split(
      /\r\n|\r|\n/,
    );
    const { line, column } = places.locate(offset);
    assert.equal(line, lines.length, `at ${offset}`);
    // Between CR and LF the column is one more than the text before them.
    if (!(text[offset] === "\n" && text[offset - 1] === "\r")) assert.equal(column, lines.at(-1)!.length + 1);
  }
});

const heaps: readonly [title: string, make: (size: number) => string][] = [
  ["comments", (size) => `${"//\n".repeat(size / 3)}{}`],
  ["comments between values", (size) => `[${"1/**/,".repeat(size / 6)}]`],
  ["blanks", (size) => `[${" ".repeat(size)}]`],
  ["numbers", (size) => `[${"1,".repeat(size / 2)}]`],
  ["lists", (size) => `[${"[1,],".repeat(size / 5)}]`],
  ["members", (size) => `{${'"a":1,'.repeat(size / 6)}}`],
  ["one string", (size) => `"${"x\\n".repeat(size / 3)}"`],
  ["levels", (size) => `[${`${"[".repeat(190)}${"]".repeat(190)},`.repeat(size / 381)}]`],
];
for (const [title, make] of heaps) {
  test(`toPlainJson() and readJsonTree() take time that grows with the size, for many ${title} (XD1, H5)`, async () => {
    await assertLinear((size) => {
      const node = parseJsonc(make(size));
      if (node.kind === "array") node.items.length;
      if (node.kind === "object") node.find("b");
    }, 100_000);
  });
}

test("TextPlaces.locate() finds many places in time that grows with their number (XD1, H5)", async () => {
  await assertLinear((size) => {
    const text = "x\n".repeat(size / 2);
    const places = new TextPlaces(text);
    for (let offset = size; offset > 0; offset -= 100) places.locate(offset);
  }, 800_000);
});
