// What a request says about itself (rule V6), what is built in (V7), and both eras in one process (V8).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Params } from "../messages.ts";
import {
  call,
  cancel,
  envelope,
  initialize,
  legacy,
  type Message,
  modern,
  notification,
  start,
  textOf,
} from "./server_helpers.ts";

const PREFIX = "io.modelcontextprotocol/";
const SPOKEN = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const hello = { tools: { hello: { call: () => "hello" } } };

/** A call whose `_meta` is exactly this. */
function withMeta(id: number, meta: unknown): string {
  const params = { name: "hello", ...(meta === undefined ? {} : { _meta: meta }) };
  return JSON.stringify(legacy(id, "tools/call", params as Params));
}

test("Server rejects a modern request whose _meta lacks a key or has it wrong, naming the key (V6)", async (t) => {
  const session = start(t, hello);
  const cases: Array<[meta: unknown, key: string]> = [
    [undefined, "protocolVersion"],
    [{}, "protocolVersion"],
    [[], "protocolVersion"],
    [envelope({ [`${PREFIX}protocolVersion`]: 20260728 }), "protocolVersion"],
    [envelope({ [`${PREFIX}protocolVersion`]: null }), "protocolVersion"],
    [envelope({ [`${PREFIX}clientCapabilities`]: undefined }), "clientCapabilities"],
    [envelope({ [`${PREFIX}clientCapabilities`]: [] }), "clientCapabilities"],
    [envelope({ [`${PREFIX}clientInfo`]: "me" }), "clientInfo"],
    [envelope({ [`${PREFIX}logLevel`]: "loud" }), "logLevel"],
  ];
  for (const [id, [meta, key]] of cases.entries()) {
    session.send(withMeta(id, meta));
    const { error } = await session.response(id);
    assert.equal(error?.code, -32602, key);
    assert.ok(error.message.includes(`"${PREFIX}${key}"`), error.message);
  }
  session.send(call(100, "hello"));
  assert.equal(textOf(await session.response(100)), "hello");
});

test("Server rejects a revision it does not speak with -32022 and those it does (V6)", async (t) => {
  const session = start(t, hello);
  for (const [id, requested] of ["1900-01-01", "2025-11-25", ""].entries()) {
    // Before the capabilities are looked at: an unknown revision may want others.
    session.send(withMeta(id, { [`${PREFIX}protocolVersion`]: requested }));
    const { error } = await session.response(id);
    assert.equal(error?.code, -32022);
    assert.deepEqual(error.data, { supported: SPOKEN, requested });
    for (const version of SPOKEN) assert.ok(error.message.includes(version));
  }
});

test("Server judges each request by itself: none pins the era of others (V6)", async (t) => {
  const session = start(t, hello);
  session.send(
    initialize(1),
    legacy(2, "tools/call", { name: "hello" }),
    call(3, "hello"),
    withMeta(4, envelope({ [`${PREFIX}protocolVersion`]: "1900-01-01" })),
    modern(5, "server/discover"),
    legacy(6, "server/discover"),
    modern(7, "ping"),
    legacy(8, "ping"),
    initialize(9, "2024-11-05"),
  );
  const kinds = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => session.response(id)));
  const described = kinds.map(({ result, error }) => error?.code ?? result.resultType ?? "legacy");
  assert.deepEqual(described, [
    "legacy",
    "legacy",
    "complete",
    -32022,
    "complete",
    -32601,
    -32601,
    "legacy",
    "legacy",
  ]);
});

test("Server accepts the seed's sample requests as they stand (V6)", async (t) => {
  const session = start(t, {
    tools: { get_weather: { call: ({ city }) => `Sunny in ${city}.` } },
  });
  session.send(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Bangkok"},' +
      '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":' +
      '{"name":"ExampleClient","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}}',
  );
  assert.equal(textOf(await session.response(1)), "Sunny in Bangkok.");
  session.send(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"user clicked stop"}}',
  );
  await session.settle();
  assert.equal(session.transcript.messages.length, 1);
  assert.deepEqual(session.transcript.texts, [
    '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Sunny in Bangkok."}],' +
    '"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}}}',
  ]);
});

test("Server answers server/discover with its revisions, capabilities and identity (V7)", async (t) => {
  const session = start(t, {
    ...hello,
    instructions: "Say hello.",
    cache: { ttlMs: 5, cacheScope: "public" },
  });
  session.send(modern("discover-1", "server/discover"));
  const { result } = await session.response("discover-1");
  assert.deepEqual(result, {
    resultType: "complete",
    supportedVersions: SPOKEN,
    capabilities: { tools: { listChanged: true }, logging: {} },
    instructions: "Say hello.",
    ttlMs: 5,
    cacheScope: "public",
    _meta: { [`${PREFIX}serverInfo`]: { name: "test", version: "1.0.0" } },
  });
});

test("Server completes modern results where something is absent, and only there (V7)", async (t) => {
  const own = {
    resultType: "x/task",
    taskId: "7",
    _meta: { a: 1, [`${PREFIX}serverInfo`]: { name: "own" } },
  };
  const session = start(t, {
    handlers: {
      "tools/list": () => ({ tools: [], ttlMs: 9 }),
      "resources/read": () => ({ contents: [], cacheScope: "public" }),
      "x/bare": () => ({ value: 1, _meta: { a: 1 } }),
      "x/own": () => own,
    },
  });
  session.send(
    ...["tools/list", "resources/read", "x/bare", "x/own"].map((method) => modern(method, method)),
  );
  const serverInfo = { name: "test", version: "1.0.0" };
  const _meta = { [`${PREFIX}serverInfo`]: serverInfo };
  const resultOf = async (id: string) => (await session.response(id)).result;
  assert.deepEqual(await resultOf("tools/list"), {
    resultType: "complete",
    tools: [],
    ttlMs: 9,
    cacheScope: "private",
    _meta,
  });
  assert.deepEqual(await resultOf("resources/read"), {
    resultType: "complete",
    contents: [],
    ttlMs: 0,
    cacheScope: "public",
    _meta,
  });
  assert.deepEqual(await resultOf("x/bare"), { resultType: "complete", value: 1, _meta: { a: 1, ..._meta } });
  assert.deepEqual(await resultOf("x/own"), own);
});

test("Server knows the methods of the handshake in the legacy era only (V7)", async (t) => {
  const session = start(t, hello);
  const methods = ["ping", "logging/setLevel", "initialize"];
  session.send(...methods.map((method) => modern(method, method)));
  for (const method of methods) {
    assert.deepEqual((await session.response(method)).error, {
      code: -32601,
      message: `Method not found: ${method}`,
    });
  }
  session.send(
    initialize(1),
    notification("notifications/initialized"),
    legacy(2, "ping"),
    legacy(3, "logging/setLevel", { level: "error" }),
    legacy(4, "logging/setLevel", { level: "loud" }),
    legacy(5, "subscriptions/listen", { notifications: {} }),
  );
  assert.deepEqual((await session.response(2)).result, {});
  assert.deepEqual((await session.response(3)).result, {});
  assert.equal((await session.response(4)).error?.code, -32602);
  assert.equal((await session.response(5)).error?.code, -32601);
});

test('Server with legacy: "reject" answers initialize with -32022, names its versions, and lives on (V7)', async (t) => {
  const session = start(t, { ...hello, legacy: "reject" });
  session.send(initialize(1), initialize(2, 5), legacy(3, "ping"), legacy(4, "tools/list"), call(5, "hello"));
  for (const [id, requested] of [[1, "2025-11-25"], [2, "none"]] as const) {
    const { error } = await session.response(id);
    assert.equal(error?.code, -32022);
    assert.deepEqual(error.data, { supported: ["2026-07-28"], requested });
    assert.match(error.message, /2026-07-28/);
  }
  for (const id of [3, 4]) assert.equal((await session.response(id)).error?.code, -32602);
  assert.equal(textOf(await session.response(5)), "hello");
});

test("Server answers whatever comes before a handshake, and lives on (V7, B45)", async (t) => {
  const first = [
    notification("notifications/initialized"),
    notification("x/unknown"),
    legacy(1, "server/discover"),
    modern(1, "server/discover"),
    legacy(1, "x/unknown"),
    modern(1, "x/unknown"),
    legacy(1, "ping"),
    modern(1, "ping"),
    legacy(1, "tools/list"),
  ];
  // There is no server for the legacy era alone.
  for (const era of ["serve", "reject"] as const) {
    const codes: unknown[] = [];
    for (const message of first) {
      const session = start(t, { ...hello, legacy: era });
      session.send(message);
      if ("id" in message) codes.push((await session.response(1)).error?.code);
      await session.settle();
      assert.equal(session.transcript.messages.length, "id" in message ? 1 : 0);
      // Then a session as any other.
      session.send(initialize(2), modern(3, "server/discover"), call(4, "hello"));
      assert.equal((await session.response(2)).error?.code, era === "serve" ? undefined : -32022);
      assert.equal((await session.response(3)).error, undefined);
      assert.equal(textOf(await session.response(4)), "hello");
    }
    const ping = era === "serve" ? undefined : -32602;
    assert.deepEqual(codes, [-32602, undefined, -32602, -32601, ping, -32601, -32602]);
  }
});

test("Server speaks four legacy revisions, and its newest to those it does not know (V8)", async (t) => {
  for (
    const [asked, answered] of [...SPOKEN.slice(1).map((each) => [each, each]), ["1999-01-01", SPOKEN[1]]]
  ) {
    const session = start(t, { ...hello, instructions: "Say hello." });
    session.send(initialize(1, asked), notification("notifications/initialized"));
    assert.deepEqual((await session.response(1)).result, {
      protocolVersion: answered,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: "test", version: "1.0.0" },
      instructions: "Say hello.",
    });
    session.send(legacy(2, "tools/list"), legacy(3, "tools/call", { name: "hello", arguments: {} }));
    const listed = (await session.response(2)).result;
    assert.deepEqual(listed, { tools: [{ name: "hello", inputSchema: { type: "object" } }] });
    assert.deepEqual((await session.response(3)).result, { content: [{ type: "text", text: "hello" }] });
  }
});

test("Server rejects an initialize that is none (V8)", async (t) => {
  const session = start(t, hello);
  session.send(
    legacy(1, "initialize"),
    initialize(2, 7),
    initialize(3, "2025-11-25", [] as unknown as Params),
  );
  for (const id of [1, 2, 3]) assert.equal((await session.response(id)).error?.code, -32602);
});

test("Server judges what is written behind initialize by it, without waiting for its answer (V8)", async (t) => {
  const session = start(t, hello);
  // So many requests before it that their handlers do not all begin in one go.
  const before = Array.from({ length: 40 }, (_, index) => call(`before ${index}`, "hello"));
  session.send(...before, initialize(1), legacy(2, "tools/list"));
  assert.equal((await session.response(2)).result.tools.length, 1);
});

test("Server sends a legacy client only what its revision knows (V8)", async (t) => {
  const schema = { type: "array", items: { type: "number" } };
  const session = start(t, {
    tools: {
      numbers: { outputSchema: schema, call: () => [1, 2] },
      point: {
        outputSchema: { type: "object", properties: { x: { type: "number" } } },
        call: () => ({ resultType: "complete", structuredContent: { x: 1 } }),
      },
    },
    resources: { "test://a": { read: () => "a" } },
  });
  session.send(initialize(1), legacy(2, "tools/list"), modern(3, "tools/list"));
  const names = ({ result }: Message) =>
    result.tools.map((tool: Params) => [tool.name, "outputSchema" in tool].join());
  assert.deepEqual(names(await session.response(2)), ["numbers,false", "point,true"]);
  assert.deepEqual(names(await session.response(3)), ["numbers,true", "point,true"]);

  session.send(legacy(4, "tools/call", { name: "numbers" }), legacy(5, "tools/call", { name: "point" }));
  assert.deepEqual((await session.response(4)).result, { content: [{ type: "text", text: "[1,2]" }] });
  assert.deepEqual((await session.response(5)).result, {
    content: [{ type: "text", text: '{"x":1}' }],
    structuredContent: { x: 1 },
  });
  session.send(call(6, "numbers"));
  assert.deepEqual((await session.response(6)).result.structuredContent, [1, 2]);

  const missing = { uri: "test://b" };
  session.send(legacy(7, "resources/read", missing), modern(8, "resources/read", missing));
  assert.equal((await session.response(7)).error?.code, -32002);
  assert.equal((await session.response(8)).error?.code, -32602);
});

// The first batch of this file: what batches need is loaded when one comes.
test("Nothing overtakes the first batch of a server: no request, no cancellation, not the end of the input (V8, V11)", async (t) => {
  const session = start(t, { tools: { deaf: { call: () => new Promise(() => {}) } } });
  session.send(
    initialize(1, "2025-03-26"),
    JSON.stringify([legacy(2, "ping"), legacy(3, "tools/call", { name: "deaf" })]),
    cancel(3),
    legacy(4, "ping"),
  );
  session.end();
  assert.deepEqual(await session.running, { reason: "eof" });
  const [, batch, ping] = session.transcript.texts.map((text) => JSON.parse(text));
  assert.deepEqual([batch, ping].map(({ id, length }) => length ?? id).sort(), [1, 4]);
  assert.equal(session.transcript.responsesTo(3).length, 0);
  assert.equal(session.transcript.responsesTo(2).length, 1);
});

test("Server answers a batch of revision 2025-03-26 on one line, once all of it is done (V8)", async (t) => {
  const session = start(t, {
    tools: {
      hello: { call: () => "hello" },
      soon: { call: () => new Promise((resolve) => setTimeout(() => resolve("soon"), 20)) },
    },
  });
  session.send(initialize(1, "2025-03-26"));
  await session.response(1);
  const batch = [
    legacy(2, "tools/call", { name: "soon" }),
    legacy(3, "tools/call", { name: "hello" }),
    notification("notifications/x"),
    legacy(4, "x/unknown"),
    { jsonrpc: "2.0", id: 5 },
    7,
    initialize(6),
    legacy(8, "ping"),
  ];
  session.send(JSON.stringify(batch));
  await session.response(2);
  const answers: Message[] = JSON.parse(session.transcript.texts[1]!);
  const byId = answers.map(({ id, error }) => [id, error?.code]).sort();
  assert.deepEqual(
    byId,
    [[2, undefined], [3, undefined], [4, -32601], [5, -32600], [null, -32600], [6, -32600], [8, undefined]]
      .sort(),
  );
  // Nothing to answer, no line; and a request that is cancelled leaves the others' line whole.
  session.send(JSON.stringify([notification("notifications/x")]));
  session.send(JSON.stringify([legacy(10, "tools/call", { name: "soon" }), legacy(11, "ping")]), cancel(10));
  await session.response(11);
  assert.deepEqual(JSON.parse(session.transcript.texts[2]!), [{ jsonrpc: "2.0", id: 11, result: {} }]);
  session.send("[]");
  await session.transcript.until(() => session.transcript.texts.length === 4, "an answer to an empty batch");
  assert.equal(session.transcript.messages.at(-1)!.error!.code, -32600);
});

test("Server answers the members of a batch with their own ids, and none that asks nothing (V5, V8, F9, XC5, XC13)", async (t) => {
  const session = start(t, { tools: { hello: { call: () => "hello" } } });
  session.send(initialize(1, "2025-03-26"));
  await session.response(1);
  const members = [
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
    '{"jsonrpc":"2.0","id":9007199254740995,"method":"x/unknown","params":null}',
    '{"jsonrpc":"2.0","method":"notifications/x","params":[]}',
    '{"jsonrpc":"2.0","id":7,"result":5}',
    `{"jsonrpc":"2.0","id":"${"i".repeat(5_000)}","method":"ping"}`,
  ];
  session.send(`[${members.join()}]`);
  await session.transcript.until(() => session.transcript.texts.length === 2, "the answers");
  const ids = [...session.transcript.texts[1]!.matchAll(/"id":(\w+)/g)].map(([, id]) => id);
  assert.deepEqual(ids.sort(), ["9007199254740993", "9007199254740995", "null"]);
  session.send(`[${Array(1_001).fill(JSON.stringify(legacy(3, "ping"))).join()}]`, legacy(4, "ping"));
  await session.response(4);
  assert.deepEqual(session.transcript.messages.slice(-2).map(({ id, error }) => [id, error?.code]), [
    [null, -32600],
    [4, undefined],
  ]);
});

test("Server runs a batch within its limits, and answers one by one what does not fit on a line (V8)", async (t) => {
  let running = 0;
  let most = 0;
  const session = start(t, {
    limits: { maxInFlightRequests: 2, maxQueuedRequests: 2, maxLineBytes: 2_000 },
    handlers: {
      async "x/run"(_params, { id }) {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running--;
        return { text: String(id).padEnd(300) };
      },
    },
  });
  session.send(initialize(0, "2025-03-26"));
  const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  session.send(JSON.stringify(ids.map((id) => legacy(id, "x/run"))));
  for (const id of ids) assert.ok((await session.response(id)).result.text);
  assert.equal(most, 2);
  assert.equal(session.transcript.texts.length, 1 + ids.length);
});

test("Server takes batches in no other revision (V8)", async (t) => {
  for (const version of ["2025-11-25", "2025-06-18", "2024-11-05"]) {
    const session = start(t, hello);
    session.send(initialize(1, version), JSON.stringify([legacy(2, "ping")]));
    const { error } = await session.response(null);
    assert.equal(error?.code, -32600);
  }
});
