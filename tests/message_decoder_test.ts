import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault, Inbound } from "../connection.ts";
import { MessageDecoder } from "../internal/framing/message_decoder.ts";
import type { JSONRPCMessage, RequestId } from "../messages.ts";
import { assertGrowth, bytesOf, cpuTime, everyCut, heldBytes, IS_FULL, parseCost } from "./helpers.ts";

const LIMITS = { maxLineBytes: 400, maxNestingDepth: 512 };
const ROOMY = { maxLineBytes: 128 * 1_048_576, maxNestingDepth: 512 };
const PING = { jsonrpc: "2.0", id: 0, method: "ping" } as const;
const PING_LINE = '{"jsonrpc":"2.0","id":0,"method":"ping"}\n';

function decode(chunks: Iterable<Uint8Array>, limits = LIMITS): Inbound[] {
  const decoder = new MessageDecoder(limits);
  const inbound: Inbound[] = [];
  for (const chunk of chunks) inbound.push(...decoder.push(chunk));
  inbound.push(...decoder.end());
  return inbound;
}

/** What comes of the input, which must be the same for every cut of it (F3). */
function decodeEveryWay(input: string | Uint8Array, limits = LIMITS): Inbound[] {
  const bytes = typeof input === "string" ? bytesOf(input) : input;
  const whole = decode([bytes.slice()], limits).map(withoutPreview);
  for (const chunks of everyCut(bytes)) {
    assert.deepEqual(decode(chunks, limits).map(withoutPreview), whole, `in ${chunks.length} chunks`);
  }
  return whole;
}

/** Previews of lines over small limits have a test of their own, with the splitter. */
function withoutPreview(inbound: Inbound): Inbound {
  return inbound.kind === "message" ? inbound : { ...inbound, preview: "" };
}

function decodeOne(input: string | Uint8Array, limits = LIMITS): Inbound {
  const inbound = decodeEveryWay(input, limits);
  assert.equal(inbound.length, 1);
  return inbound[0]!;
}

function faultOf(input: string | Uint8Array, limits = LIMITS): Fault {
  const inbound = decodeOne(input, limits);
  assert.ok(inbound.kind === "fault", `no fault: ${String(input).slice(0, 80)}`);
  return inbound;
}

function messageOf(input: string | Uint8Array, limits = LIMITS): JSONRPCMessage {
  const inbound = decodeOne(input, limits);
  assert.ok(inbound.kind === "message", `no message: ${String(input).slice(0, 80)}`);
  return inbound.message;
}

/** What became of each line: `message`, or the reason of the fault. */
function kinds(inbound: readonly Inbound[]): string[] {
  return inbound.map((value) => value.kind === "message" ? "message" : value.reason);
}

test("MessageDecoder takes one message from each line, and LF alone ends one (F1)", () => {
  const message = { jsonrpc: "2.0", id: 1, result: { text: "a\u2028b\u2029c\u0085d\n\r" } };
  assert.deepEqual(messageOf(`${JSON.stringify(message)}\n`), message);
  const spaced = `{"jsonrpc":"2.0",\r"method":\r"a\u2028"}\n`;
  assert.deepEqual(messageOf(spaced), { jsonrpc: "2.0", method: "a\u2028" });
  assert.deepEqual(kinds(decodeEveryWay(PING_LINE.repeat(3))), ["message", "message", "message"]);
});

test("MessageDecoder takes lines that end with CR LF and skips blank ones (F2)", () => {
  const line = PING_LINE.trimEnd();
  const inbound = decodeEveryWay(`\n${line}\r\n\r\n \t \r\n\t\n${line}\n\r\n\n${line} \r\n`);
  assert.deepEqual(inbound, Array(3).fill({ kind: "message", message: PING, idText: undefined }));
});

test("MessageDecoder removes one byte order mark from the start of each line (F2)", () => {
  const line = PING_LINE.trimEnd();
  const inbound = decodeEveryWay(`\ufeff${line}\n${line}\n\ufeff${line}\r\n\ufeff\r\n\ufeff\n \ufeff \n`);
  assert.deepEqual(kinds(inbound), ["message", "message", "message", "invalid_json"]);
  const message = { jsonrpc: "2.0", method: "\ufeffa\ufeff" };
  assert.deepEqual(messageOf(`\ufeff${JSON.stringify(message)}\n`), message);
});

test("MessageDecoder removes no second byte order mark (F2)", () => {
  assert.equal(faultOf(`\ufeff\ufeff${PING_LINE}`).reason, "invalid_json");
});

test("MessageDecoder takes a line of a hundred thousand byte order marks without harm (F2, F11)", () => {
  const inbound = decode([bytesOf("\ufeff".repeat(100_000), "\n", PING_LINE)], ROOMY);
  assert.deepEqual(kinds(inbound), ["invalid_json", "message"]);
});

test("MessageDecoder takes every kind of message (F4)", () => {
  const messages: unknown[] = [
    { jsonrpc: "2.0", id: 1, method: "a" },
    { jsonrpc: "2.0", id: "", method: "" },
    { jsonrpc: "2.0", id: "é", method: "a", params: {} },
    { jsonrpc: "2.0", method: "a", params: { _meta: {}, a: [null, 1.5] } },
    { jsonrpc: "2.0", id: -1, result: {} },
    { jsonrpc: "2.0", id: 0, result: { id: 5, method: "x", error: 1 } },
    { jsonrpc: "2.0", id: "1", error: { code: -32700, message: "" } },
    { jsonrpc: "2.0", id: 1, error: { code: 5, message: "a", data: [1] } },
    { jsonrpc: "2.0", error: { code: 0, message: "a" } },
    { jsonrpc: "2.0", id: 1, method: "a", extra: { result: 1 } },
  ];
  for (const message of messages) assert.deepEqual(messageOf(`${JSON.stringify(message)}\n`), message);
});

test("MessageDecoder leaves the id away when an error response has the id null (F4)", () => {
  const message = messageOf('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"a"}}\n');
  assert.deepEqual(message, { jsonrpc: "2.0", error: { code: 1, message: "a" } });
  assert.equal("id" in message, false);
});

test("MessageDecoder makes a fault of JSON that is no message, and gives its id (F4, F6)", () => {
  const rows: [line: string, id: RequestId | undefined][] = [
    ["[]", undefined],
    ['[{"jsonrpc":"2.0","id":1,"method":"a"}]', undefined],
    ["1", undefined],
    ["-0", undefined],
    ['"id"', undefined],
    ["null", undefined],
    ["true", undefined],
    ["{}", undefined],
    ['{"id":1,"method":"a"}', 1],
    ['{"jsonrpc":"1.0","id":"a","method":"a"}', "a"],
    ['{"jsonrpc":2.0,"id":1,"method":"a"}', 1],
    ['{"jsonrpc":null,"id":1,"method":"a"}', 1],
    ['{"jsonrpc":["2.0"],"id":1,"method":"a"}', 1],
    ['{"jsonrpc":"2.0"}', undefined],
    ['{"jsonrpc":"2.0","id":1}', 1],
    ['{"jsonrpc":"2.0","id":1,"params":{}}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":null}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":["a"]}', 1],
    ['{"jsonrpc":"2.0","id":null,"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","id":1.5,"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","id":1e400,"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","id":true,"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","id":{"id":1},"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","id":[1],"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":"b"}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":"a","result":{}}', 1],
    ['{"jsonrpc":"2.0","id":1,"method":"a","error":{"code":1,"message":"b"}}', 1],
    ['{"jsonrpc":"2.0","result":{}}', undefined],
    ['{"jsonrpc":"2.0","id":null,"result":{}}', undefined],
    ['{"jsonrpc":"2.0","id":0.5,"result":{"id":1}}', undefined],
    ['{"jsonrpc":"2.0","id":1,"result":null}', 1],
    ['{"jsonrpc":"2.0","id":1,"result":[{"id":2}]}', 1],
    ['{"jsonrpc":"2.0","id":1,"result":"a"}', 1],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"a"}}', 1],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":null}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":null}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":"a"}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":[]}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"a"}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"a"}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1}}', 1],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}', 1],
    ['{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":"a"}}', undefined],
    ['{"jsonrpc":"2.0","id":1,"id":{},"result":5}', undefined],
    ['{"jsonrpc":"2.0","id":{},"id":"last","result":5}', "last"],
  ];
  for (const [line, id] of rows) {
    const inbound = decodeEveryWay(`${line}\n${PING_LINE}`);
    assert.deepEqual(kinds(inbound), ["invalid_message", "message"], line);
    assert.equal((inbound[0] as Fault).id, id, line);
  }
});

test("MessageDecoder takes params of null for absent ones (F4, XC2)", () => {
  const rows: [line: string, message: unknown][] = [
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":null}', { jsonrpc: "2.0", id: 1, method: "a" }],
    ['{"jsonrpc":"2.0","method":"a","params":null}', { jsonrpc: "2.0", method: "a" }],
    ['{"jsonrpc":"2.0","id":1,"result":{},"params":null}', { jsonrpc: "2.0", id: 1, result: {} }],
  ];
  for (const [line, message] of rows) {
    const found = messageOf(`${line}\n`);
    assert.deepEqual(found, message);
    assert.equal("params" in found, false);
  }
});

test("MessageDecoder makes a fault of an id of more than 4 096 bytes, in every kind of message (F4, XA2)", () => {
  const limits = { ...LIMITS, maxLineBytes: 100_000 };
  const kindsOfMessage = ['"method":"a"', '"result":{}', '"error":{"code":1,"message":""}'];
  for (const content of kindsOfMessage) {
    const line = (id: string) => `{"jsonrpc":"2.0","id":${id},${content}}\n`;
    for (const id of ["x".repeat(4_096), "é".repeat(2_048), "日".repeat(1_365), "😀".repeat(1_024)]) {
      assert.equal(
        (decode([bytesOf(line(`"${id}"`))], limits)[0] as { message: { id: string } }).message.id,
        id,
      );
      const [fault] = decode([bytesOf(line(`"${id}xx"`))], limits);
      assert.ok(fault?.kind === "fault" && fault.reason === "invalid_message", content);
      assert.equal(fault.detail, 'the member "id" is longer than 4096 bytes');
      assert.deepEqual([fault.id, fault.hasId], [undefined, true]);
    }
    const [escaped] = decode([bytesOf(line(`"${"\\u0001".repeat(4_096)}"`))], limits);
    assert.equal(escaped?.kind, "message");
    const [digits] = decode([bytesOf(line(`1${"0".repeat(4_200)}e-4180`))], limits);
    assert.ok(digits?.kind === "fault" && digits.id === undefined, content);
  }
});

test("MessageDecoder judges each member of an array as a line of its own (F4)", () => {
  const members = [
    "1",
    PING_LINE.trimEnd(),
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"a"}}',
    '{"jsonrpc":"2.0","id":"it","method":5}',
    '{"jsonrpc":"2.0","method":"a","params":null}',
    "[]",
    `{"jsonrpc":"2.0","id":"${"x".repeat(4_097)}","method":"a"}`,
  ];
  const [fault] = decode([bytesOf(`\ufeff[${members.join(" , ")}]\r\n`)], ROOMY);
  assert.ok(fault?.kind === "fault" && fault.reason === "invalid_message" && fault.batch !== undefined);
  assert.deepEqual(kinds(fault.batch), [
    "invalid_message",
    "message",
    "message",
    "invalid_message",
    "message",
    "invalid_message",
    "invalid_message",
  ]);
  const messages = fault.batch.flatMap((member) => member.kind === "message" ? [member.message] : []);
  assert.deepEqual(messages, [
    PING,
    { jsonrpc: "2.0", error: { code: 1, message: "a" } },
    { jsonrpc: "2.0", method: "a" },
  ]);
  const { id, hasId, hasMethod, hasResult, detail } = fault.batch[3] as Fault;
  assert.deepEqual([id, hasId, hasMethod, hasResult], ["it", true, true, false]);
  assert.equal(detail, 'the member "method" is not a string');
  const [other] = decode([bytesOf("{}\n")]);
  assert.ok(other?.kind === "fault" && other.batch === undefined);
});

test("MessageDecoder takes batches of 1 to 1 000 members (F4, XC13, XB14)", () => {
  for (
    const [count, isBatch] of [[0, false], [1, true], [1_000, true], [1_001, false], [
      400_000,
      false,
    ]] as const
  ) {
    const [fault] = decode([bytesOf(`[${Array(count).fill("1").join()}]\n`)], ROOMY);
    assert.ok(fault?.kind === "fault" && fault.reason === "invalid_message");
    assert.equal(fault.batch?.length, isBatch ? count : undefined);
    if (count > 1_000) assert.equal(fault.detail, "a batch has more than 1000 members");
  }
});

test("MessageDecoder keeps the digits of ids beyond 2^53 in a batch (F9, XC5)", () => {
  const members = [
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"],{\\"}","id":9007199254740997}}',
    '{"jsonrpc" : "2.0", "\\u0069d" : 9007199254740993 ,"method":"ping"}',
    '{"jsonrpc":"2.0","id":9007199254740995,"method":5}',
    '{"jsonrpc":"2.0","id":1e300,"result":{}}',
    "[9007199254740993]",
    '{"jsonrpc":"2.0","id":1,"id":-9007199254740993,"method":"a"}',
    `{"jsonrpc":"2.0","id":2,"method":"a","params":{"_meta":{"progressToken":1764524111123456789}}}`,
  ];
  for (const glue of [",", " ,\t"]) {
    for (const mark of ["", "\ufeff", "\0"]) {
      const [fault] = decode([bytesOf(`${mark}[ ${members.join(glue)} ]\n`)], ROOMY);
      assert.ok(fault?.kind === "fault" && fault.batch !== undefined);
      assert.deepEqual(fault.batch.map(({ idText }) => idText), [
        undefined,
        "9007199254740993",
        "9007199254740995",
        "1e300",
        undefined,
        "-9007199254740993",
        undefined,
      ]);
      const last = fault.batch.at(-1);
      assert.ok(last?.kind === "message" && last.progressTokenText === "1764524111123456789");
    }
  }
});

test("MessageDecoder judges a batch of long lines and long digits in linear time (F8, XC13)", () => {
  const cost = (members: number): number => {
    const id = `1${"0".repeat(4_200)}e-4180`;
    const bytes = bytesOf(`[${Array(members).fill(`{"jsonrpc":"2.0","id":${id},"method":"a"}`).join()}]\n`);
    const start = cpuTime();
    const [fault] = decode([bytes], ROOMY);
    const time = cpuTime() - start;
    assert.ok(fault?.kind === "fault" && fault.batch?.length === members);
    return time;
  };
  return assertGrowth(cost, { small: 100, large: 1_000, factor: 30 });
});

test("MessageDecoder keeps the digits of a progress token beyond 2^53 (F9, XC5)", () => {
  const rows: [params: string, text: string | undefined][] = [
    ['{"_meta":{"progressToken":1764524111123456789}}', "1764524111123456789"],
    [
      '{"a":{"_meta":{"progressToken":9007199254740997}},"_meta":{"progressToken":9007199254740993}}',
      "9007199254740993",
    ],
    [
      '{"_meta":{"progressToken":1},"\\u005fmeta" : { "x":"}" , "progressToken" : -9007199254740993 } }',
      "-9007199254740993",
    ],
    ['{"_meta":{"progressToken":9007199254740991}}', undefined],
    ['{"_meta":{"progressToken":"9007199254740993"}}', undefined],
    ['{"_meta":null}', undefined],
    ['{"_meta":[1764524111123456789]}', undefined],
    ['{"progressToken":1764524111123456789}', undefined],
  ];
  for (const [params, text] of rows) {
    for (const mark of ["", "\ufeff"]) {
      const inbound = decodeOne(`${mark}{"jsonrpc":"2.0","id":1,"method":"a","params":${params}}\n`);
      assert.ok(inbound.kind === "message");
      assert.equal(inbound.progressTokenText, text, params);
      assert.equal(inbound.idText, undefined);
    }
  }
  const both = decodeOne(
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"a","params":{"_meta":{"progressToken":9007199254740995}}}\n',
  );
  assert.ok(both.kind === "message");
  assert.deepEqual([both.idText, both.progressTokenText], ["9007199254740993", "9007199254740995"]);
});

test("MessageDecoder says of a bad line whether it was meant as a notification (V5, XC2)", () => {
  const rows: [line: string, hasId: boolean][] = [
    ['{"jsonrpc":"2.0","method":"a","params":[]}', false],
    ['{"jsonrpc":"2.0","method":"a","id":null}', true],
    ['{"jsonrpc":"2.0","method":"a","id":1.5}', true],
    ['{"jsonrpc":"2.0","method":"a","params":{', false],
    ['{"jsonrpc":"2.0","id":{},"method":"a","params":{', true],
  ];
  for (const [line, hasId] of rows) {
    const fault = faultOf(`${line}\n`);
    assert.deepEqual([fault.hasMethod, fault.hasId], [true, hasId], line);
  }
});

test("MessageDecoder reads on behind UTF-16 text, and names it (F2, XB6)", () => {
  const utf16 = (text: string, isBigEndian = false) =>
    [...text].flatMap((character) => {
      const code = character.charCodeAt(0);
      return isBigEndian ? [code >> 8, code & 0xff] : [code & 0xff, code >> 8];
    });
  for (const isBigEndian of [false, true]) {
    for (const mark of ["", "\ufeff"]) {
      const printed = utf16(`${mark}Loading modules…\r\nDone\r\n`, isBigEndian);
      const inbound = decodeEveryWay(bytesOf(printed, PING_LINE, PING_LINE));
      assert.deepEqual(inbound.filter(({ kind }) => kind === "message").length, 2);
      // A server whose every line is UTF-16: its answers fail their requests at once.
      const answer = '{"jsonrpc":"2.0","id":7,"result":{"id":1}}\n';
      const faults = decodeEveryWay(bytesOf(utf16(mark + answer + answer, isBigEndian)));
      for (const fault of faults.slice(0, 2)) {
        assert.ok(fault.kind === "fault" && fault.id === 7 && fault.hasResult, String(isBigEndian));
        assert.equal(fault.detail, "the line is UTF-16 text, not UTF-8");
      }
      assert.equal(faults.length, 2);
    }
  }
});

test("MessageDecoder names a Content-Length header (C6, XF17)", () => {
  const body = '{"jsonrpc":"2.0","id":1,"result":{}}';
  const stream = `Content-Length: ${body.length}\r\n\r\n${body}content-length:${body.length}\r\n\r\n${body}`;
  const faults = decodeEveryWay(`${stream}\n`) as Fault[];
  assert.deepEqual(kinds(faults), ["invalid_json", "invalid_json", "message"]);
  assert.match(faults[0]!.detail, /Content-Length header/);
  // The next header is glued to the frame before it, which has been found.
  assert.equal(faults[1]!.id, 1);
});

test("MessageDecoder makes a fault of each bad line and spares the lines between (F4)", () => {
  const bad = [
    "{",
    '{"a":1} x',
    '& "$env:x"',
    "{'a':1}",
    "undefined",
    "\u00a0",
    "\v",
    PING_LINE.trimEnd() + ",",
  ];
  const inbound = decodeEveryWay(bytesOf(
    ...bad.flatMap((line) => [line, "\n", PING_LINE]),
    [0xff, 0xfe, 0x0a],
    PING_LINE,
    [0xef, 0xbb],
    PING_LINE,
    PING_LINE,
  ));
  assert.deepEqual(kinds(inbound), [
    ...bad.flatMap(() => ["invalid_json", "message"]),
    "invalid_utf8",
    "message",
    "invalid_utf8",
    "message",
  ]);
});

test("MessageDecoder refuses bad UTF-8, never replaces it (F4)", () => {
  const inbound = decodeEveryWay(bytesOf(
    '{"jsonrpc":"2.0","id":5,"result":{"text":"',
    [0xed, 0xa0, 0x80],
    '"}}\n',
    '{"jsonrpc":"2.0","id":6,"result":{"text":"\ufffd"}}\n',
  ));
  assert.deepEqual(kinds(inbound), ["invalid_utf8", "message"]);
  assert.equal((inbound[0] as Fault).id, 5);
});

test("MessageDecoder drops a line over the limit and gives its id, wherever it stands (F5, F6)", () => {
  const filler = "x".repeat(500);
  const rows: [line: string, id: RequestId | undefined][] = [
    [`{"jsonrpc":"2.0","id":7,"result":{"id":8,"text":"${filler}"}}`, 7],
    [`{"jsonrpc":"2.0","result":{"text":"${filler}","id":8},"id":"a"}`, "a"],
    [`{"jsonrpc":"2.0","result":{"text":"${filler}"},"\\u0069d":7}`, 7],
    [`{"jsonrpc":"2.0","result":{"text":"${filler}"},"id":7}\r`, 7],
    [`{"jsonrpc":"2.0","result":{"text":"${filler}"}}`, undefined],
    [`{"jsonrpc":"2.0","result":{"id":1,"text":"${filler}"}}`, undefined],
    [`{"jsonrpc":"2.0","${filler}":1,"id":7`, undefined],
    [`${filler}{"id":7}`, undefined],
    [" ".repeat(500), undefined],
  ];
  for (const [line, id] of rows) {
    const inbound = decodeEveryWay(`${line}\n${PING_LINE}`);
    assert.deepEqual(kinds(inbound), ["too_long", "message"], line);
    assert.equal((inbound[0] as Fault).id, id, line);
    assert.equal((inbound[0] as Fault).byteLength, line.length, line);
  }
});

test("MessageDecoder gives the id of a fault of every reason (F6)", () => {
  const rows: [reason: string, input: string | Uint8Array][] = [
    ["too_long", `{"result":{"id":1},"a":"${"x".repeat(500)}","id":"it"}\n`],
    ["invalid_utf8", bytesOf('{"result":{"id":1},"a":"', [0xff], '","id":"it"}\n')],
    ["invalid_json", '{"result":{"id":1},"a":x,"id":"it"}\n'],
    ["invalid_json", `{"result":{"id":1},"a":${"[".repeat(9)}${"]".repeat(9)},"id":"it"}\n`],
    ["invalid_message", '{"result":{"id":1},"a":1,"id":"it"}\n'],
    ["truncated", '{"result":{"id":1},"a":1,"id":"it"}'],
    ["truncated", `{"result":{"id":1},"a":"${"x".repeat(500)}","id":"it"}`],
    ["truncated", bytesOf('{"result":{"id":1},"a":"', [0xff], '","\\u0069\\u0064":"it","b')],
  ];
  for (const [reason, input] of rows) {
    const fault = faultOf(input, { maxLineBytes: 400, maxNestingDepth: 8 });
    assert.deepEqual([fault.reason, fault.id], [reason, "it"]);
    assert.equal(fault.hasMethod, false);
    assert.equal(fault.hasResult, true);
  }
});

test("MessageDecoder says of a fault whether it has a method, a result or an error (F6)", () => {
  const rows: [line: string, hasMethod: boolean, hasResult: boolean][] = [
    ['{"method":"a","params":{"result":1}}', true, false],
    ['{"method":"a","params":{"result":1}', true, false],
    ['{"method":5}', true, false],
    ['{"method":null}', true, false],
    ['{"jsonrpc":"2.0","id":1,"result":5,"params":{"method":1}}', false, true],
    ['{"jsonrpc":"2.0","id":1,"error":null}', false, true],
    ['{"jsonrpc":"2.0","id":1,"error":null', false, true],
    ['{"jsonrpc":"2.0","id":1,"method":"a","result":{}}', true, true],
    ['["method","result"]', false, false],
    ['"method"', false, false],
  ];
  for (const [line, hasMethod, hasResult] of rows) {
    const fault = faultOf(`${line}\n`);
    assert.deepEqual([fault.hasMethod, fault.hasResult], [hasMethod, hasResult], line);
  }
});

test("MessageDecoder tells the length of the line in bytes, carriage return and mark included (F5)", () => {
  const rows: [reason: string, line: Uint8Array][] = [
    ["invalid_message", bytesOf('{"é":1}')],
    ["invalid_message", bytesOf('{"é":1}\r')],
    ["invalid_message", bytesOf('\ufeff{"é":1}\r')],
    ["invalid_json", bytesOf("{é")],
    ["invalid_json", bytesOf("{é\r")],
    ["invalid_json", bytesOf("\ufeff{é")],
    ["invalid_utf8", bytesOf("{", [0xff], "\r")],
    ["too_long", bytesOf("x".repeat(500), "\r")],
  ];
  for (const [reason, line] of rows) {
    const fault = faultOf(bytesOf(line, "\n"));
    assert.deepEqual([fault.reason, fault.byteLength], [reason, line.length], new TextDecoder().decode(line));
  }
});

test("MessageDecoder puts nothing of a line into the detail of its fault", () => {
  // Runtimes quote the line in their errors, so that its own words can look like a place in it.
  for (const line of ["position 9", '{"a":position 9}', '"position 9', "[position 9"]) {
    const { detail } = faultOf(`${line}\n`);
    assert.ok(!detail.includes("9"), `${line} gave: ${detail}`);
  }
});

test("MessageDecoder.end() makes a fault of a last line without LF (F7)", () => {
  assert.deepEqual(kinds(decodeEveryWay(PING_LINE + PING_LINE.trimEnd())), ["message", "truncated"]);
  assert.deepEqual(kinds(decodeEveryWay(`${PING_LINE} \t\r`)), ["message"]);
  assert.deepEqual(kinds(decodeEveryWay("")), []);
});

test("MessageDecoder keeps the digits of an id beyond 2^53 (F9)", () => {
  const rows: [digits: string, idText: string | undefined][] = [
    ["9007199254740991", undefined],
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993", "-9007199254740993"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
    ["1e300", "1e300"],
  ];
  for (const [digits, idText] of rows) {
    for (
      const line of [
        `{"jsonrpc":"2.0","id":${digits},"method":"a"}`,
        `{"jsonrpc":"2.0","method":"a","params":{"id":1},"\\u0069d" : ${digits} }\r`,
        `\ufeff{"jsonrpc":"2.0","id":1,"method":"a","id":${digits}}`,
        `{"jsonrpc":"2.0","id":${digits},"result":{}}`,
      ]
    ) {
      const inbound = decodeOne(`${line}\n`);
      assert.ok(inbound.kind === "message");
      assert.equal(inbound.idText, idText, line);
      assert.equal((inbound.message as { id: number }).id, Number(digits), line);
    }
    const fault = faultOf(`{"jsonrpc":"2.0","id":${digits},"method":5}\n`);
    assert.deepEqual([fault.id, fault.idText], [Number(digits), idText]);
  }
  const inbound = decodeOne(
    '{"jsonrpc":"2.0","id":"9007199254740993","method":"a","params":{"id":9007199254740993}}\n',
  );
  assert.ok(inbound.kind === "message" && inbound.idText === undefined);
});

test("MessageDecoder lets no key of an object do harm (F11)", () => {
  const line = '{"jsonrpc":"2.0","id":1,"method":"a","params":{"__proto__":{"polluted":1},"constructor":' +
    '{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":null},"__proto__":{"method":5,"result":{}}}\n';
  const message = messageOf(line) as { params: Record<string, unknown> };
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.deepEqual(Object.keys(message), ["jsonrpc", "id", "method", "params", "__proto__"]);
  assert.deepEqual(Object.keys(message.params), ["__proto__", "constructor", "toString", "hasOwnProperty"]);
  assert.equal(JSON.stringify(message), line.trimEnd());
  const fault = faultOf('{"jsonrpc":"2.0","__proto__":{"id":1,"method":"a","result":{}}}\n');
  assert.deepEqual([fault.reason, fault.id, fault.hasMethod], ["invalid_message", undefined, false]);
});

/** A request that nests as deep as `depth`, itself included, with filler of so many bytes. */
function nested(depth: number, fillerBytes: number, open = "[", close = "]"): string {
  const value = `${open.repeat(depth - 2)}1${close.repeat(depth - 2)}`;
  const filler = `"${"x".repeat(fillerBytes)}"`;
  return `{"jsonrpc":"2.0","method":"a","params":{"f":${filler},"a":${value}},"id":1}\n`;
}

test("MessageDecoder takes 512 levels and makes a fault of 513 (F11)", () => {
  // Short lines are parsed before their depth is looked at, long ones after.
  for (const filler of [0, 1_000, 1_048_000, 1_048_576, 1_100_000]) {
    for (
      const [open, close] of [["[", "]"], ['{"a":', "}"], ["[0,", ",7]"], ['[{"]":', '},"["]']] as const
    ) {
      // The last kind has two levels in each of its parts.
      const depths = close.startsWith("}") && open.startsWith("[") ? [257, 258, 1_000] : [512, 513, 2_000];
      const lines = depths.map((depth) => nested(depth, filler, open, close));
      for (const mark of ["", "\ufeff"]) {
        const inbound = decode([bytesOf(...lines.map((line) => mark + line))], ROOMY);
        const what = `${open} and ${filler} bytes${mark}`;
        assert.deepEqual(kinds(inbound), ["message", "invalid_json", "invalid_json"], what);
        assert.ok(inbound.slice(1).every((fault) => fault.kind === "fault" && fault.id === 1), what);
      }
    }
  }
});

test("MessageDecoder counts only brackets outside of strings (F11)", () => {
  const brackets = "[{".repeat(300);
  const texts = [
    brackets,
    `"${brackets}`,
    `\\${brackets}`,
    `\\"${brackets}`,
    `"\\"${brackets}"`,
    `${brackets}\\`,
    "\\",
    '"',
    '\\"',
  ];
  // Short lines are parsed before their depth is looked at, long ones after.
  for (const filler of ["", "x".repeat(1_100_000)]) {
    for (const text of texts) {
      const params = JSON.stringify({ filler, [text]: text, last: text });
      const ok = `{"jsonrpc":"2.0","method":"a","params":${params}}\n`;
      const deep = ok.replace("}}\n", `,"a":${"[".repeat(511)}${"]".repeat(511)}}}\n`);
      const inbound = decode([bytesOf(ok, deep)], ROOMY);
      assert.deepEqual(kinds(inbound), ["message", "invalid_json"], text.slice(0, 9));
    }
  }
});

test("MessageDecoder goes by its own limit of levels (F11)", () => {
  for (const maxNestingDepth of [2, 3, 4, 2_048]) {
    const limits = { maxLineBytes: 100_000, maxNestingDepth };
    const lines = [maxNestingDepth, maxNestingDepth + 1].map((depth) => nested(depth, 0));
    assert.deepEqual(
      kinds(decode([bytesOf(...lines)], limits)),
      ["message", "invalid_json"],
      `${maxNestingDepth}`,
    );
  }
  const limits = { maxLineBytes: 100, maxNestingDepth: 1 };
  const lines = '{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"a","params":{}}\n[]\n[[]]\n1\n';
  assert.deepEqual(kinds(decodeEveryWay(lines, limits)), [
    "message",
    "invalid_json",
    "invalid_message",
    "invalid_json",
    "invalid_message",
  ]);
});

test("MessageDecoder hands on no deep value that a later member of the same name hides (F11)", () => {
  for (const filler of [0, 1_100_000]) {
    const line = nested(600, filler).replace('},"id":1}', ',"a":1},"id":1}');
    const [inbound, ...more] = decode([bytesOf(line)], ROOMY);
    assert.deepEqual(more, []);
    // Of a short line only what is left after parsing is looked at, so that it may pass.
    if (inbound?.kind === "message") {
      assert.match(JSON.stringify(inbound.message), /"a":1\}/);
    } else assert.equal(inbound?.reason, "invalid_json");
  }
});

test("MessageDecoder takes a million brackets without a stack overflow (F11)", { timeout: 60_000 }, () => {
  const million = 1_000_000;
  for (const count of [million / 2 - 100, million]) {
    for (
      const [open, close] of [["[", "]"], ['{"a":', "}"], ["[", ""], ['{"a":', ""], ["[{", ""], ["", "]"]]
    ) {
      const line = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":${open!.repeat(count)}${
        close!.repeat(count)
      }}}\n`;
      const inbound = decode([bytesOf(line, PING_LINE)], ROOMY);
      assert.deepEqual(kinds(inbound), ["invalid_json", "message"], `${count} of ${open} ${close}`);
      assert.equal((inbound[0] as Fault).id, 1);
    }
  }
});

test("MessageDecoder.push() gives each message once, in the order of the lines (F3)", () => {
  const decoder = new MessageDecoder(LIMITS);
  const first = decoder.push(bytesOf(PING_LINE, "x\n", PING_LINE, "{"));
  const copy = [...first];
  assert.deepEqual(kinds(first), ["message", "invalid_json", "message"]);
  assert.deepEqual(decoder.push(new Uint8Array()), []);
  assert.deepEqual(kinds(decoder.push(bytesOf("}\n"))), ["invalid_message"]);
  assert.deepEqual(decoder.end(), []);
  assert.deepEqual(first, copy);
});

test("MessageDecoder reads four times as long a line in 4 KiB chunks in at most 5 times the time (F8)", {
  timeout: 120_000,
}, () => {
  function cost(mebibytes: number): number {
    const decoder = new MessageDecoder(ROOMY);
    const chunk = new Uint8Array(4_096).fill(0x78);
    const start = cpuTime();
    decoder.push(bytesOf('{"jsonrpc":"2.0","id":1,"result":{"text":"'));
    for (let count = 0; count < mebibytes * 256; count++) decoder.push(chunk);
    const inbound = decoder.push(bytesOf('"}}\n'));
    const time = cpuTime() - start;
    assert.deepEqual(kinds(inbound), ["message"]);
    return time;
  }
  return assertGrowth(cost, {
    small: IS_FULL ? 16 : 4,
    large: IS_FULL ? 64 : 16,
    factor: 5,
    floor: parseCost,
  });
});

test("MessageDecoder holds nothing of what it has given (F8)", { timeout: 60_000 }, async () => {
  const decoder = new MessageDecoder(ROOMY);
  const before = await heldBytes();
  const text = bytesOf("x".repeat(1_048_576));
  for (let count = 0; count < 32; count++) {
    decoder.push(bytesOf('{"jsonrpc":"2.0","id":1,"result":{"text":"', text, '"}}\n{"half":"', text));
    decoder.push(bytesOf('"}\n'));
  }
  const held = await heldBytes() - before;
  assert.ok(held < 3 * 1_048_576, `${held} bytes are held`);
});

test("MessageDecoder tells lines of words from JSON that is no message, however they begin (F4, XB14)", () => {
  const decoder = new MessageDecoder({ maxLineBytes: 1_000, maxNestingDepth: 10 });
  const reasonOf = (line: string) => {
    const [inbound] = decoder.push(bytesOf(`${line}\n`));
    return inbound?.kind === "fault" ? inbound.reason : undefined;
  };
  for (const line of ["true", "false", "null", "7", "-1", '"text"', "[]", "{}"]) {
    assert.equal(reasonOf(line), "invalid_message", line);
  }
  for (
    const line of [
      "yes",
      "True",
      "False",
      "Null",
      "nul",
      "NaN",
      "Infinity",
      "undefined",
      "z",
      "a",
      "Z",
      "@",
      "`",
      "é",
    ]
  ) {
    assert.equal(reasonOf(line), "invalid_json", line);
  }
});
