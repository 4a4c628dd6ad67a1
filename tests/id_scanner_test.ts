import assert from "node:assert/strict";
import { test } from "node:test";
import { IdScanner, scanFrame, type ScannedFrame } from "../internal/framing/id_scanner.ts";
import type { RequestId } from "../messages.ts";
import { assertGrowth, bytesOf, cpuTime, createRandom, everyCut, heldBytes, type Random } from "./helpers.ts";

function scan(chunks: Iterable<Uint8Array>): ScannedFrame {
  const scanner = new IdScanner();
  for (const chunk of chunks) scanner.push(chunk);
  return scanner.end();
}

/** What the scanner finds, which must be the same for every cut of the frame (F3). */
function scanEveryWay(bytes: Uint8Array): ScannedFrame {
  const whole = scanFrame(bytes);
  for (const chunks of everyCut(bytes)) assert.deepEqual(scan(chunks), whole, `in ${chunks.length} chunks`);
  return whole;
}

function assertIds(
  rows: readonly (readonly [frame: string | Uint8Array, id: RequestId | undefined])[],
): void {
  for (const [frame, id] of rows) {
    const bytes = typeof frame === "string" ? bytesOf(frame) : frame;
    assert.equal(scanEveryWay(bytes).id, id, new TextDecoder().decode(bytes));
  }
}

test("IdScanner finds strings and integers as they are (F6)", () => {
  assertIds([
    ['{"id":1}', 1],
    ['{"id":0}', 0],
    ['{"id":-5,"a":1}', -5],
    ['{"id":"1"}', "1"],
    ['{"id":""}', ""],
    [' \t{ "id"\t: \r "a" , "b" : 1 }', "a"],
    ["\ufeff" + '{"id" :1 }', 1],
    ['{"id":1e2}', 100],
    ['{"id":1.0}', 1],
    ['{"id":9007199254740991}', 9007199254740991],
    ['{"id":"é日😀\u2028"}', "é日😀\u2028"],
    ['{"id":"\\u0061\\n\\"\\\\\\ud83d\\ude00"}', 'a\n"\\😀'],
    ['{"id":"}","a":"{"}', "}"],
  ]);
});

test("IdScanner takes nothing else for an id (F6)", () => {
  assertIds([
    '{"id":1.5}',
    '{"id":null}',
    '{"id":true}',
    '{"id":{}}',
    '{"id":[1]}',
    '{"id":[1,"id",2]}',
    '{"id":{"id":1}}',
    '{"id":01}',
    '{"id":+1}',
    '{"id":0x1}',
    '{"id":1.}',
    '{"id":.5e1}',
    '{"id":1e400}',
    '{"id":NaN}',
    '{"id":"a\tb"}',
    '{"id":"\\x41"}',
    "{\"id\":'a'}",
    "{id:1}",
    "{'id':1}",
    '{"ID":1,"Id":2,"id ":3," id":4,"iid":5}',
    '{"a":"id","b":1}',
    '{"a":"\\"id\\":1"}',
    '["id",1]',
    '[{"id":1}]',
    '"id":1',
    '1{"id":1}',
    'Server started {"id":1}',
    "{",
    "{}",
    "",
    " ",
  ].map((frame) => [frame, undefined]));
});

test("IdScanner never takes a nested id (F6)", () => {
  assertIds([
    ['{"result":{"id":9}}', undefined],
    ['{"result":{"id":9,"a":[{"id":8},{"id":7}]},"id":1}', 1],
    ['{"id":1,"result":{"id":9,"a":[{"id":8}]}}', 1],
    ['{"a":[[["id",1]]],"b":{"c":{"id":"x"}}}', undefined],
    ['{"a":"{\\"id\\":9}","id":1}', 1],
    ['{"a":{"b":1,"id":3}', undefined],
    ['{"a":{{"id":5},"id":6}', undefined],
    ['{"a":{"b":[{"id":5}', undefined],
    ['{"a":["x","id",5,{"id":6}],"id":7}', 7],
    ['{"a":{"id":5},"id":6,"b":{"id":7}}', 6],
  ]);
});

test("IdScanner finds the id behind an escaped key (F6)", () => {
  assertIds([
    ['{"\\u0069d":1}', 1],
    ['{"i\\u0064":"x"}', "x"],
    ['{"result":{"\\u0069\\u0064":9},"\\u0069\\u0064":2}', 2],
    ['{"\\"id\\"":2}', undefined],
    ['{"id\\\\":3}', undefined],
    ['{"\\\\":"\\\\","id":4}', 4],
    ['{"a\\"":"\\\\\\"","id":5}', 5],
    ['{"\\u0069\\u0064\\u0000":6}', undefined],
  ]);
});

test("IdScanner knows a method, a result and an error at the top level only (F6)", () => {
  const rows: [string, hasMethod: boolean, hasResult: boolean][] = [
    ['{"method":"a","id":1}', true, false],
    ['{"m\\u0065thod":1,', true, false],
    ['{"\\u006d\\u0065\\u0074\\u0068\\u006f\\u0064":""}', true, false],
    ['{"params":{"method":"a","result":1,"error":1}}', false, false],
    ['{"a":"method","b":"result"}', false, false],
    ['{"method"', false, false],
    ['{"result":{', false, true],
    ['{"error":null}', false, true],
    ['{"id":1,"\\u0072esult":1', false, true],
    ['{"method":1,"result":1}', true, true],
    ['["method"]', false, false],
  ];
  for (const [frame, hasMethod, hasResult] of rows) {
    const found = scanEveryWay(bytesOf(frame));
    assert.deepEqual([found.hasMethod, found.hasResult], [hasMethod, hasResult], frame);
  }
});

test("IdScanner goes by the last of several ids, as JSON.parse() does (F6)", () => {
  assertIds([
    ['{"id":1,"id":2}', 2],
    ['{"id":1,"id":"2"}', "2"],
    ['{"id":1,"id":null}', undefined],
    ['{"id":1,"id":{}}', undefined],
    ['{"id":null,"id":1}', 1],
    ['{"id":1,"\\u0069d":3}', 3],
  ]);
});

test("IdScanner finds the id in a frame with bad UTF-8 (F4, F6)", () => {
  assertIds([
    [bytesOf('{"a":"', [0xff], '","id":1}'), 1],
    [bytesOf('{"', [0xc3], '":1,"id":"x"}'), "x"],
    [bytesOf('{"a":', [0xe2, 0x82], ',"id":1}'), 1],
    [bytesOf('{"id":1,"a":"', [0xf0, 0x9f], '"}'), 1],
    [bytesOf('{"id":"', [0xff], '"}'), undefined],
    [bytesOf('{"id":1,"id":"', [0xff], '"}'), undefined],
    [bytesOf('{"id', [0xff], '":1}'), undefined],
    [bytesOf('{"id":1', [0xff], "}"), undefined],
    [bytesOf([0xff], '{"id":1}'), undefined],
  ]);
});

test("IdScanner finds the id in a frame with broken JSON (F6)", () => {
  assertIds([
    ['{"a":tru,"id":1}', 1],
    ['{"a":,"id":1}', 1],
    ['{,,"id":1,,}', 1],
    ['{"a" 5,"id":1}', 1],
    ['{"id":1 "a":2}', 1],
    ['{"a":[1,,2],"id":1', undefined],
    ['{"a":[1,,2],"id":1,', 1],
    ['{"a":"\\q","id":1}', 1],
    ['{"a":"tab\tin it","id":1}', 1],
    ['{"id":1}}', 1],
    ['{"id":1}{"id":2}', 1],
    ['{"id":1} trailing', 1],
    ['{"id":1]', 1],
    ['{"a":\'b\',"id":1}', 1],
    ['{"a":{"b":[1,{"c":2}],},"id":"z",}', "z"],
    ['{"a":1e,"b":-,"id":1}', 1],
  ]);
});

test("IdScanner gives up behind brackets that do not match (F6)", () => {
  assertIds([
    ['{"a":[},"id":1}', undefined],
    ['{"a":{"b":1]},"id":1}', undefined],
    ['{"a":{"b":[1}},"id":1}', undefined],
    ['{"a":1}},"id":1}', undefined],
    ['{"id":1,"a":[}],"id":2}', 1],
  ]);
});

test("IdScanner takes no number that may have been cut (F6)", () => {
  assertIds([
    ['{"id":1', undefined],
    ['{"id":12', undefined],
    ['{"id":-', undefined],
    ['{"id":12,', 12],
    ['{"id":12 ', 12],
    ['{"id":"1', undefined],
    ['{"id":"1"', "1"],
    ['{"id":"1\\', undefined],
    ['{"id"', undefined],
    ['{"id":', undefined],
  ]);
});

test("IdScanner never glues what stands behind a number to it (F6)", () => {
  // Broken JSON: the number may be found or not, but no other may be.
  const frames = [
    '{"id":1"2"}',
    '{"id":1"2","a":3}',
    '{"id":1:2}',
    '{"id":1["2"]}',
    '{"id":1{"3":"4"}}',
    '{"id":1{"id":"9"},"a":[]}',
    '{"id":1"","a":2}',
    '{"id":1"\\u0032",}',
    '{"id":1[2]3}',
    '{"id":-"1"}',
    '{"id":1"e":"5"}',
  ];
  for (const frame of frames) {
    const { id } = scanEveryWay(bytesOf(frame));
    assert.ok(id === undefined || id === 1, `${frame} gave the id ${id}`);
  }
});

test("IdScanner keeps the digits of a number that JavaScript cannot hold (F9)", () => {
  const rows: [digits: string, id: number | undefined, idText: string | undefined][] = [
    ["9007199254740991", 9007199254740991, undefined],
    ["-9007199254740991", -9007199254740991, undefined],
    ["9007199254740992", 2 ** 53, "9007199254740992"],
    ["9007199254740993", 2 ** 53, "9007199254740993"],
    ["-9007199254740993", -(2 ** 53), "-9007199254740993"],
    ["18446744073709551615", 2 ** 64, "18446744073709551615"],
    ["1e21", 1e21, "1e21"],
    ["1E+21", 1e21, "1E+21"],
    ["9007199254740993.0", 2 ** 53, "9007199254740993.0"],
    ["1e400", undefined, undefined],
  ];
  for (const [digits, id, idText] of rows) {
    for (const frame of [`{"id":${digits}}`, `{"result":{"id":1},"id":${digits} , "a":1}`]) {
      const found = scanEveryWay(bytesOf(frame));
      assert.deepEqual([found.id, found.idText], [id, idText], frame);
    }
  }
  assert.equal(scanFrame(bytesOf('{"id":9007199254740993,"id":2}')).idText, undefined);
  assert.equal(scanFrame(bytesOf('{"id":9007199254740993,"id":"a"}')).idText, undefined);
});

test("IdScanner finds the id of a frame that is glued behind printed text (F6, XB5, S2-12)", () => {
  const frame = '{"jsonrpc":"2.0","id":1,"result":{"id":9,"a":[{"jsonrpc":"2.0","id":8}]}}';
  const sdk = '{"result":{"id":9},"jsonrpc":"2.0","id":1}';
  const printed = [
    "hello",
    "building 10%\rbuilding 100%\u001b[2K\r",
    "[INFO] up ",
    "[12:01] up ",
    "[1,2]",
    "Config { debug: true }",
    '{"level":"info","id":5}',
    "{ a: 1 }",
    "{}",
    "log {{{ {[ {1 {x ",
    'say "hi',
    '"',
    "]}",
    "1 2 3: é日😀",
    "{}{}[{]}",
    "log: {[}",
    'log: {"a":1}',
    'log: {"jsonrpc"}',
    'log: {"id":7]',
    `x${"{".repeat(100)}`,
  ];
  for (const text of printed) {
    assertIds([
      [`${text}${frame}`, 1],
      [`${text} ${sdk} bye`, 1],
      [`${text}{ \t"id" : "x" , "jsonrpc":"2.0", "result":`, "x"],
      [`${text}{"\\u006asonrpc":"2.0","id":1,`, 1],
      [`${text}{"id":1}`, text.startsWith('{"level"') ? 5 : undefined],
      [text, text.startsWith('{"level"') ? 5 : undefined],
    ]);
    const found = scanEveryWay(bytesOf(text, '{"id":2,"a":{"method":1},"jsonrpc":"2.0","error":{}}'));
    assert.deepEqual(found, { id: 2, idText: undefined, hasId: true, hasMethod: false, hasResult: true });
  }
  assertIds([
    // The first of two frames says what the line is about, unless it is a notification.
    [`x${frame}{"jsonrpc":"2.0","id":2}`, 1],
    [`x{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","id":2}`, 2],
    // The members of a batch have ids of their own.
    [`[${frame}`, undefined],
    [` [ \t${frame},`, undefined],
    // A frame that begins the line and is broken goes by its own id alone.
    [`{"jsonrpc":"2.0","result":[}${frame}`, undefined],
    [`{"result":[}${frame}`, undefined],
    [`{"result":{"a":${frame}`, undefined],
  ]);
});

test("IdScanner says whether there is an id at the top level, whatever its value (F6)", () => {
  const rows: [string, boolean][] = [
    ['{"id":1}', true],
    ['{"id":null,', true],
    ['{"\\u0069d" : [', true],
    ['{"method":"a","params":{"id":1}}', false],
    ['{"a":"id"', false],
    ['{"id"', false],
    ['x{"jsonrpc":"2.0","id":1.5}', true],
    ['{"id":1}{"jsonrpc":"2.0","method":"a"}', false],
    ["[]", false],
  ];
  for (const [frame, hasId] of rows) assert.equal(scanEveryWay(bytesOf(frame)).hasId, hasId, frame);
});

test("IdScanner looks through printed text in linear time (XB5, F8)", () => {
  const cost = (mebibytes: number): number => {
    const bytes = bytesOf("x", '{"a":{"id":1,'.repeat(mebibytes * 40_000), "{".repeat(mebibytes * 500_000));
    const start = cpuTime();
    scanFrame(bytes);
    return cpuTime() - start;
  };
  return assertGrowth(cost, { small: 1, large: 4, factor: 12 });
});

test("IdScanner finds an id of 4 096 bytes and drops a longer one (F6)", () => {
  const longest = "x".repeat(4_096);
  assert.equal(scanFrame(bytesOf(`{"id":"${longest}"}`)).id, longest);
  assert.equal(scanFrame(bytesOf(`{"id":"${longest}y"}`)).id, undefined);
  assert.equal(scanFrame(bytesOf(`{"id":"${longest}y","id":7}`)).id, 7);
  // What counts is the id, not how it is escaped.
  assert.equal(scanFrame(bytesOf(`{"id":"${"\\u0001".repeat(4_096)}"}`)).id, "\u0001".repeat(4_096));
  assert.equal(scanFrame(bytesOf(`{"id":"${"\\u00e9".repeat(2_048)}"}`)).id, "é".repeat(2_048));
  assert.equal(scanFrame(bytesOf(`{"id":"${"\\u00e9".repeat(2_049)}"}`)).id, undefined);
  assert.equal(scanFrame(bytesOf(`{"id":${"9".repeat(308)},`)).id, Number("9".repeat(308)));
  assert.equal(scanFrame(bytesOf(`{"id":1${"0".repeat(4_100)}e-4080,`)).id, undefined);
  // A key that is too long is another key, even if its start reads "id".
  assert.equal(scanFrame(bytesOf(`{"id${"x".repeat(100)}":1,"b":2}`)).id, undefined);
});

test("IdScanner needs a fixed amount of memory and no stack (F6, F11)", { timeout: 60_000 }, async () => {
  const before = await heldBytes();
  const rows: [start: string, unit: string, end: string, id: RequestId | undefined][] = [
    ['{"id":1,"id":"', "x", '"}', undefined],
    ['{"', "x", '":1,"id":1}', 1],
    ['{"id":', "9", ',"a":1}', undefined],
    ['{"a":"', "\\\\", '","id":1}', 1],
    ['{"a":', "[", "", undefined],
    ['{"a":"b",', '"c":1,', '"id":1}', 1],
  ];
  const scanners: IdScanner[] = [];
  for (const [start, unit, end, id] of rows) {
    const scanner = new IdScanner();
    scanner.push(bytesOf(start));
    const chunk = bytesOf(unit.repeat(65_536));
    for (let count = 0; count < 16; count++) scanner.push(chunk);
    scanner.push(bytesOf(end));
    assert.equal(scanner.end().id, id, start);
    scanners.push(scanner);
  }
  const held = await heldBytes() - before;
  assert.ok(held < 2 * 1_048_576, `${held} bytes are held by ${scanners.length} scanners`);
});

test("IdScanner finds the id behind a million brackets (F6, F11)", () => {
  const [open, close] = ["[".repeat(1_000_000), "]".repeat(1_000_000)];
  assert.equal(scanFrame(bytesOf(`{"a":${open}${close},"id":1}`)).id, 1);
  assert.equal(scanFrame(bytesOf(`{"a":${open}"id",{"id":2}${close},"id":1}`)).id, 1);
  assert.equal(scanFrame(bytesOf(`{"a":${open}${close.slice(1)},"id":1}`)).id, undefined);
  // Deep down brackets are only counted, further up they must match.
  assert.equal(scanFrame(bytesOf(`{"a":${open}${"}".repeat(1_000_000)},"id":1}`)).id, undefined);
});

test("IdScanner agrees with JSON.parse() on the id of random objects (F6)", () => {
  const random = createRandom(6);
  for (let round = 0; round < 3_000; round++) {
    const members = Array.from({ length: random.below(4) }, () => member(random, 3));
    const frame = `{${members.join(random.pick([",", " , ", ",\t"]))}}`;
    const { id } = JSON.parse(frame) as { id?: unknown };
    const expected = typeof id === "string" || Number.isInteger(id) ? id : undefined;
    const bytes = bytesOf(frame);
    assert.deepEqual(scanFrame(bytes).id, expected, frame);
    // Of its start, too, the scanner gives no id that is not at the top level.
    const top = new Set(members.map((text) => (JSON.parse(`{${text}}`) as { id?: unknown }).id));
    const { id: early } = scanFrame(bytes.subarray(0, random.below(bytes.length + 1)));
    assert.ok(early === undefined || top.has(early), `${frame} gave ${early}`);
  }
});

/** A member of an object, often with the key `id`, as JSON text. */
function member(random: Random, depth: number): string {
  const key = random.pick(['"id"', '"id"', '"\\u0069d"', '"method"', '"result"', '"a}"', '"\\""', '"i"']);
  return `${key}${random.pick([":", " : "])}${value(random, depth)}`;
}

function value(random: Random, depth: number): string {
  const kind = random.below(depth > 0 ? 8 : 6);
  if (kind === 6) return `[${[value(random, depth - 1), value(random, depth - 1)].join(",")}]`;
  if (kind === 7) return `{${[member(random, depth - 1), member(random, depth - 1)].join(",")}}`;
  if (kind < 3) return String(random.below(1_000));
  return random.pick([
    '"id"',
    '"{\\"id\\":1}"',
    '""',
    "null",
    "1.5",
    '"\\\\"',
    "true",
    "-3e2",
    '"日"',
    '"]},{"',
  ]);
}

test("IdScanner finds the id of a frame behind notifications whose line feed is missing (F6, S2-12)", () => {
  const told = '{"jsonrpc":"2.0","method":"n","params":{"id":3}}';
  assertIds([
    [told + '{"jsonrpc":"2.0","id":1,"result":{}}', 1],
    [told + "\r" + told + ' {"result":{},"jsonrpc":"2.0","id":1}', 1],
    ["printed " + told + '{"jsonrpc":"2.0","id":1,"result":{}}', 1],
    [told + '{"id":1}', undefined],
    [told + "{ printed", undefined],
    ['{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":2,"result":{}}', 1],
  ]);
  for (const tail of ["", " printed", '{"a":1}', "{", "[1]"]) {
    const { hasMethod, hasId } = scanEveryWay(bytesOf(told + tail));
    assert.deepEqual({ hasMethod, hasId }, { hasMethod: true, hasId: false }, tail);
  }
});
