// Lines that are no request, and ids as they come (rules V5 and F9): each is answered as it must be, and ends nothing.
//
// B21 also asks for a policy "ignore" and for the line in an error hook. There is one policy, to answer; and the logger is
// told of a bad line, but not its content, which can be anybody's secret.
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import type { Params, RequestId } from "../messages.ts";
import { type RequestContext, Server } from "../server.ts";
import { bytesOf, countTold } from "./helpers.ts";
import { serveInMemory } from "./sdk_transport_helpers.ts";
import { call, cancel, Gate, legacy, modern, start, textOf } from "./server_helpers.ts";

const hello = { tools: { hello: { call: () => "hello" } } };

test("Server answers a line of bad UTF-8 or bad JSON once, with -32700 and id null (V5, B21)", async (t) => {
  const session = start(t, hello);
  const cases: Array<string | Uint8Array> = [
    bytesOf([0xff, 0xfe], "\n"),
    bytesOf('{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"', [0x80], '"}}\n'),
    "{not json\n",
    '{"a":1} x\n',
    `& "$env:..."\n`,
    '{"jsonrpc":"2.0","id":1,"method":"ping"\n',
    `{"jsonrpc":"2.0","id":6,"method":"ping","params":{"deep":${"[".repeat(600)}${"]".repeat(600)}}}\n`,
    `${"[".repeat(1 << 20)}\n`,
  ];
  for (const [index, each] of cases.entries()) {
    session.sendBytes(typeof each === "string" ? bytesOf(each) : each);
    session.send(call(index, "hello"));
    assert.equal(textOf(await session.response(index)), "hello");
    const errors = session.transcript.messages.filter(({ error }) => error !== undefined);
    assert.equal(errors.length, index + 1, `case ${index}`);
    assert.equal(errors[index]!.id, null);
    assert.equal(errors[index]!.error!.code, -32700);
  }
  await session.clock.advance(1_000);
  assert.equal(countTold(session.log.texts("warn")), cases.length);
});

test("Server answers a line of a notification and a request once, and one of notifications never (V5)", async (t) => {
  const session = start(t, hello);
  const told = '{"jsonrpc":"2.0","method":"notifications/x"}';
  session.send(
    told + JSON.stringify(call("glued", "hello")),
    told + told,
    `${told} x {`,
    call("next", "hello"),
  );
  assert.equal(textOf(await session.response("next")), "hello");
  const errors = session.transcript.messages.filter(({ error }) => error !== undefined);
  assert.deepEqual(errors.map(({ id, error }) => [id, error!.code]), [[null, -32700]]);
});

test("Server answers JSON that is no request with -32600 and the id, if there is one (V5, B19)", async (t) => {
  const session = start(t, hello);
  const cases: Array<[line: string, id: RequestId | null]> = [
    ['{"jsonrpc":"2.0","id":8}', 8],
    ['{"jsonrpc":"2.0","id":"s-9","method":5}', "s-9"],
    ['{"jsonrpc":"2.0","id":10,"method":"ping","params":[]}', 10],
    ['{"id":11,"method":"ping"}', 11],
    ['{"jsonrpc":"1.0","id":12,"method":"ping"}', 12],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":5}', 9007199254740993],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":13,"method":"ping","result":{}}', 13],
    ["{}", null],
    ["7", null],
    ['"text"', null],
    ["null", null],
    ["[]", null],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null],
  ];
  for (const [index, [line, id]] of cases.entries()) {
    session.send(line, call(`after ${index}`, "hello"));
    assert.equal(textOf(await session.response(`after ${index}`)), "hello");
    const errors = session.transcript.messages.filter(({ error }) => error !== undefined);
    assert.equal(errors.length, index + 1, line);
    assert.deepEqual([errors[index]!.id, errors[index]!.error!.code], [id, -32600], line);
  }
  assert.ok(session.transcript.texts.some((text) => text.includes('"id":9007199254740993,')));
});

test("Server never answers responses, error responses, or lines that were meant as such (V5)", async (t) => {
  const session = start(t, hello);
  session.send(
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"Parse error"}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    '{"jsonrpc":"2.0","id":2,"result":5}',
    '{"jsonrpc":"2.0","id":3,"error":{"code":"x"}}',
    '{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":""}}',
    '{"jsonrpc":"2.0","id":5,"result":{"broken',
    call(6, "hello"),
  );
  assert.equal(textOf(await session.response(6)), "hello");
  assert.equal(session.transcript.messages.length, 1);
  await session.clock.advance(1_000);
  assert.equal(countTold(session.log.texts("warn")), 7);
});

test("Server answers no notification, however malformed, and takes params of null (V5, XC2)", async (t) => {
  const heard: string[] = [];
  const session = start(t, { ...hello, onNotification: (method) => void heard.push(method) });
  const bad = [
    '{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}',
    '{"jsonrpc":"2.0","method":"notifications/initialized","params":"x"}',
    '{"jsonrpc":"1.0","method":"notifications/initialized"}',
    '{"method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","method":5}',
    '{"jsonrpc":"2.0","method":"notifications/x","result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/x","params":{"broken',
    `{"jsonrpc":"2.0","method":"notifications/x","params":${"[".repeat(600)}${"]".repeat(600)}}`,
    '{"jsonrpc":"2.0","method":"notifications/x","params":{}} trailing',
  ];
  session.send(
    ...bad,
    '{"jsonrpc":"2.0","method":"notifications/one","params":null}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
  );
  assert.deepEqual((await session.response(1)).result, {});
  assert.equal(session.transcript.messages.length, 1);
  await session.clock.advance(1_000);
  assert.equal(countTold(session.log.texts("warn")), bad.length);
  assert.deepEqual(heard, ["notifications/one"]);
});

test("Server answers an id of more than 4 096 bytes once, with id null, and goes on (F4, V4, XA2)", async (t) => {
  const session = start(t, hello);
  const params = { name: "hello", arguments: {} };
  for (const id of ["i".repeat(4_097), "é".repeat(2_049), "i".repeat(5_000_000)]) {
    session.send(
      { jsonrpc: "2.0", id, method: "nope" },
      { ...call(id, "hello"), params },
      legacy("after", "ping"),
    );
    assert.deepEqual((await session.response("after")).result, {});
    const errors = session.transcript.messages.splice(0).filter(({ error }) => error !== undefined);
    assert.deepEqual(errors.map(({ id, error }) => [id, error!.code]), [[null, -32600], [null, -32600]]);
  }
  const longest = "i".repeat(4_096);
  session.send(call(longest, "hello"));
  assert.equal(textOf(await session.response(longest)), "hello");
});

test("Server skips blank lines and takes CR LF and a byte order mark (V5)", async (t) => {
  const session = start(t, hello);
  const line = JSON.stringify(call(1, "hello"));
  session.sendBytes(bytesOf("\n\r\n  \t\n\n", [0xef, 0xbb, 0xbf], line, "\r\n", " \r\n"));
  assert.equal(textOf(await session.response(1)), "hello");
  await session.settle();
  assert.equal(session.transcript.messages.length, 1);
  assert.deepEqual(session.log.entries, []);
});

test("Server lets a line over limits.maxLineBytes reach no handler, and answers it if it has an id (V5)", async (t) => {
  let calls = 0;
  const session = start(t, {
    limits: { maxLineBytes: 1_000 },
    tools: { count: { call: () => `call ${++calls}` } },
  });
  const line = (id: unknown, length: number, before = true): string => {
    const around = JSON.stringify(call(id as number, "count", { text: "" }));
    const fill = "x".repeat(length - around.length);
    const whole = around.replace('"text":""', `"text":"${fill}"`);
    return before ? whole : whole.replace(`"id":${JSON.stringify(id)},`, "").replace(/}$/, `,"id":"${id}"}`);
  };
  session.send(line(1, 1_000), line(2, 1_001), line("after", 1_500, false));
  session.send(`{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"${"x".repeat(2_000)}"}}`);
  session.send(`{"jsonrpc":"2.0","id":4,"result":{"x":"${"x".repeat(2_000)}"}}`, "x".repeat(3_000));
  session.send(call(5, "count"));

  assert.equal(textOf(await session.response(5)), "call 2");
  assert.equal(textOf(await session.response(1)), "call 1");
  const tooLong = { code: -32600, message: "Request exceeds limits.maxLineBytes" };
  assert.deepEqual((await session.response(2)).error, tooLong);
  assert.deepEqual((await session.response("after")).error, tooLong);
  assert.equal(session.transcript.messages.length, 4);
  await session.clock.advance(1_000);
  const warnings = session.log.texts("warn");
  assert.equal(countTold(warnings), 5);
  assert.ok(warnings.every((text) => text.includes("1000")), warnings[0]);
});

test("Server does not answer a last line without its line feed (V5)", async (t) => {
  const session = start(t, hello);
  session.send(call(1, "hello"));
  session.sendBytes(bytesOf(JSON.stringify(call(2, "hello"))));
  session.end();
  assert.deepEqual(await session.running, { reason: "eof" });
  assert.equal(session.transcript.messages.length, 1);
});

test("Server answers an id that is in flight with -32600, and the first request as if nothing were (V5)", async (t) => {
  const gate = new Gate();
  const session = start(t, {
    capabilities: { resources: { subscribe: true } },
    tools: { wait: { call: () => gate.opened.then(() => "first") } },
  });
  session.send(call(1, "wait"), call(1, "wait"), call("1", "wait"));
  session.send(modern(2, "subscriptions/listen", { notifications: {} }), call(2, "wait"));
  await session.settle();
  for (const id of [1, 2]) {
    const { error } = await session.response(id);
    assert.deepEqual(error, { code: -32600, message: "Invalid Request: the id is already in flight" });
  }
  gate.open();
  assert.equal(textOf(await session.response("1")), "first");
  await session.transcript.until(() => session.transcript.responsesTo(1).length === 2, "the first answer");
});

test("Server gives ids back as they came, of any type and size (F9)", async (t) => {
  const session = start(t, hello);
  const ids = ["0", '"0"', '"1"', "1", '"req-abc"', '""', `"${"x".repeat(64)}"`, "9007199254740991", "-7"];
  const beyond = ["9007199254740993", "123456789012345678901234567890", "-9007199254740995"];
  for (const id of [...ids, ...beyond]) {
    session.send(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    await session.transcript.until(
      () => session.transcript.texts.includes(`{"jsonrpc":"2.0","id":${id},"result":{}}`),
      `the answer to ${id}`,
    );
  }
});

test("Server reports progress under the very digits of its token (F9, XC5)", async (t) => {
  const digits = [
    "1764524111123456789",
    "-9007199254740993",
    "123456789012345678901234567890",
    "7",
    '"7"',
    '"\\u0000integer x"',
  ];
  const work = { call: (_args: Params, { progress }: RequestContext) => (progress(1), "done") };
  const session = start(t, { tools: { work } });
  const served = await serveInMemory(t, {
    onmessage(message, { transport, answer }) {
      const { id, params } = message as { id: number; params?: { _meta: Params } };
      const { progressToken } = params!._meta;
      transport.send({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress: 1 },
      });
      answer(id);
    },
  });
  for (const side of [session, served.client]) {
    for (const [id, token] of digits.entries()) {
      side.send(
        JSON.stringify(call(id, "work", {}, { progressToken: 0 })).replace('Token":0', `Token":${token}`),
      );
    }
    await side.transcript.response(digits.length - 1);
    const told = side.transcript.texts.flatMap((text) => /"progressToken":([^,]+),/.exec(text)?.[1] ?? []);
    assert.deepEqual(told, digits);
  }
});

test("Server tells integers beyond 2^53 apart, also when one is cancelled (F9)", async (t) => {
  const gate = new Gate();
  const session = start(t, { tools: { wait: { call: () => gate.opened.then(() => "done") } } });
  const text = (id: string) => JSON.stringify(call(1, "wait")).replace('"id":1', `"id":${id}`);
  session.send(text("9007199254740992"), text("9007199254740993"), text("9007199254740999"));
  await session.settle();
  // What a number makes of it could mean the first two; the third is alone.
  session.send(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}',
  );
  session.send(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740999}}',
  );
  session.send(legacy(1, "ping"));
  await session.response(1);
  gate.open();
  await session.transcript.until(() => session.transcript.messages.length === 3, "two answers");
  const answered = session.transcript.texts.map((line) => /"id":(\d{5,})/.exec(line)?.[1]).filter(Boolean);
  assert.deepEqual(answered.sort(), ["9007199254740992", "9007199254740993"]);
});

test("Server does not care how its input is cut, or about empty chunks (V5)", async (t) => {
  const session = start(t, hello);
  for (const byte of bytesOf(`${JSON.stringify(call("é漢😀", "hello"))}\n`)) {
    session.sendBytes(Uint8Array.of(byte));
    session.sendBytes(new Uint8Array(0));
  }
  assert.equal(textOf(await session.response("é漢😀")), "hello");
  session.send(cancel("é漢😀"));
  session.end();
  await session.running;
});

test("Server does not spin on reads that give nothing (V5, B20)", async () => {
  let answers = "";
  const chunks = [...Array.from({ length: 1_000 }, () => ""), `${JSON.stringify(call(1, "hello"))}\n`];
  const readable = new ReadableStream<Uint8Array>({
    pull(controller): void {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(bytesOf(chunk));
    },
  });
  const writable = new WritableStream<Uint8Array>({
    write(chunk): void {
      answers += new TextDecoder().decode(chunk);
    },
  });
  const server = new Server({ info: { name: "test", version: "1.0.0" }, ...hello });
  const before = process.cpuUsage();
  assert.deepEqual(await server.run({ readable, writable }), { reason: "eof" });
  const { user, system } = process.cpuUsage(before);
  assert.equal(answers.match(/"text":"hello"/g)?.length, 1);
  // 50 ms on a quiet machine.
  assert.ok(user + system < 200_000, `${user + system} µs`);
});
