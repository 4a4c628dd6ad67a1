import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../client.ts";
import { InvalidResponseError, ProtocolError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import type { JSONRPCRequest } from "../messages.ts";
import { createStreamPair, FakeClock } from "../testing.ts";
import { INITIALIZED, meet, outcomeOf, Peer, settle } from "./_client_peer.ts";
import { bytesOf, countTold, stateOf } from "./helpers.ts";

const LIMITS = { maxLineBytes: 1_000, maxNestingDepth: 8 };
const LONG = "x".repeat(2_000);

/** Frames that cannot be read, with the id of the request they are for. */
const UNREADABLE: ReadonlyArray<[what: string, frame: (id: unknown) => string | Uint8Array]> = [
  [
    "is longer than the limit, its id before it",
    (id) => `{"jsonrpc":"2.0","id":${id},"result":{"t":"${LONG}"}}`,
  ],
  [
    "is longer than the limit, its id behind it",
    (id) => `{"jsonrpc":"2.0","result":{"t":"${LONG}"},"id":${id}}`,
  ],
  ["has bad UTF-8", (id) => bytesOf(`{"jsonrpc":"2.0","id":${id},"result":{"t":"`, [0xff], `"}}`)],
  ["is broken JSON", (id) => `{"jsonrpc":"2.0","id":${id},"result":{"t":}}`],
  [
    "nests too deep",
    (id) => `{"jsonrpc":"2.0","id":${id},"result":{"t":${"[".repeat(20)}${"]".repeat(20)}}}`,
  ],
  ["has neither result nor error", (id) => `{"jsonrpc":"2.0","id":${id}}`],
  ["has both", (id) => `{"jsonrpc":"2.0","id":${id},"result":{},"error":{"code":1,"message":"x"}}`],
  ["has a result that is no object", (id) => `{"jsonrpc":"2.0","id":${id},"result":5}`],
  ["has an error without a message", (id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":1}}`],
  [
    "has an error with a code in words",
    (id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":"E","message":"x"}}`,
  ],
  ["is of no JSON-RPC version", (id) => `{"id":${id},"result":{}}`],
];

for (const [what, frame] of UNREADABLE) {
  test(`Client fails a request at once whose answer ${what} (C5)`, async () => {
    const { client, peer, log } = await meet({ limits: LIMITS });
    const call = outcomeOf(client.request("tools/list", {}, { retry: "force" }));
    const other = client.request("tools/list");
    const [mine, next] = [await peer.take("tools/list"), await peer.take("tools/list")];
    peer.write(frame(mine.id));
    peer.write("\n");
    const { error } = await call;
    assert.ok(error instanceof InvalidResponseError);
    assert.equal(error.code, "invalid_response");
    // The server may still be at it (S1-68), and it is not asked again (S1-61).
    assert.equal((await peer.take("notifications/cancelled")).params?.requestId, mine.id);
    peer.answer(next, { tools: [] });
    await other;
    assert.deepEqual(peer.methods, [
      "server/discover",
      "tools/list",
      "tools/list",
      "notifications/cancelled",
    ]);
    assert.deepEqual(log.lines.map(({ level, facts }) => [level, facts]), [["warn", {
      id: String(mine.id),
    }]]);
    await client.close();
  });
}

const HARMLESS: ReadonlyArray<[what: string, frame: (id: unknown) => string]> = [
  ["an id that is nested (S1-63)", (id) => `{"jsonrpc":"2.0","result":{"id":${id}}}`],
  ["a method and the id of a request", (id) => `{"jsonrpc":"2.0","id":${id},"method":5}`],
  ["an id of another type", (id) => `{"jsonrpc":"2.0","id":"${id}","result":5}`],
];

for (const [what, frame] of HARMLESS) {
  test(`Client fails nothing for an unreadable frame with ${what} (C5)`, async () => {
    const { client, peer } = await meet();
    const call = client.request("tools/list");
    const request = await peer.take("tools/list");
    peer.write(frame(request.id) + "\n");
    assert.equal(await stateOf(call), "pending");
    peer.answer(request, { tools: [] });
    await call;
    await client.close();
  });
}

test("Client does not take the last, cut line of a server for an answer: its request is lost (C5, F7)", async () => {
  const { client, peer } = await meet();
  const call = outcomeOf(client.request("tools/list"));
  const { id } = await peer.take("tools/list");
  peer.write(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[`);
  peer.end();
  const { error } = await call;
  assert.deepEqual([error?.code, error?.sent], ["connection_closed", true]);
});

for (const id of ["null", undefined]) {
  const frame = `{"jsonrpc":"2.0",${
    id === undefined ? "" : `"id":${id},`
  }"error":{"code":-32700,"message":"Parse error"}}\n`;
  const named = id === undefined ? "without an id" : "with id null";

  test(`Client fails the only request an error ${named} can mean, and does not cancel it (XB1, C5, S1-65, S1-66)`, async () => {
    const { client, peer, log } = await meet();
    const call = outcomeOf(client.request("tools/call", { name: "x" }));
    const request = await peer.take("tools/call");
    peer.write(frame);
    const { error } = await call;
    assert.ok(error instanceof InvalidResponseError && error.cause instanceof ProtocolError);
    assert.equal(error.cause.code, -32700);
    assert.deepEqual(log.lines[0]?.facts, { id: String(request.id), code: -32700 });
    await settle();
    assert.ok(!peer.methods.includes("notifications/cancelled"));
    await client.close();
  });

  test(`Client fails nothing when an error ${named} can mean two requests, or none (C5, S1-67)`, async () => {
    const { client, peer, log, clock } = await meet();
    peer.write(frame);
    const calls = ["x", "y"].map((name) => client.request("tools/call", { name }, { onProgress: () => {} }));
    const requests = [await peer.take("tools/call"), await peer.take("tools/call")];
    peer.write(frame);
    assert.equal(await stateOf(Promise.race(calls)), "pending");
    // One that has had a frame is no candidate any more, so now the other one is.
    peer.send({ method: "notifications/progress", params: { progressToken: requests[0]!.id, progress: 1 } });
    peer.write(frame);
    assert.ok((await outcomeOf(calls[1]!)).error instanceof InvalidResponseError);
    peer.write(frame);
    assert.equal(await stateOf(calls[0]!), "pending");
    await clock.advance(1_000);
    assert.equal(countTold(log.of("warn")), 4);
    peer.answer(requests[0]!);
    await calls[0];
    await client.close();
  });
}

test("Client fails nothing for an error without an id that a notification of ours may have got (XB1, C5)", async () => {
  const { client, peer } = await meet();
  const unread = { id: null, error: { code: -32600, message: "Invalid Request" } };
  await client.notify("notifications/roots/list_changed");
  await peer.take("notifications/roots/list_changed");
  const early = client.request("tools/list");
  const request = await peer.take("tools/list");
  peer.send(unread); // It is for the notification.
  assert.equal(await stateOf(early), "pending");
  peer.answer(request, { tools: [] });
  await early;
  // Whatever was written before that request has been read: from here on such an error means a request.
  const second = outcomeOf(client.request("tools/list"));
  await peer.take("tools/list");
  peer.send(unread);
  assert.ok((await second).error instanceof InvalidResponseError);

  // Our own cancellation is a notification, too.
  const controller = new AbortController();
  const given = outcomeOf(client.request("tools/list", {}, { signal: controller.signal }));
  await peer.take("tools/list");
  controller.abort();
  await given;
  const third = client.request("tools/list");
  const last = await peer.take("tools/list");
  peer.send(unread);
  assert.equal(await stateOf(third), "pending");
  peer.answer(last, { tools: [] });
  await third;
  await client.close();
});

test("Client counts a probe that was never answered as no request that an error without an id can mean (C5, E3)", async () => {
  const [here, there] = createStreamPair();
  const peer = new Peer(there);
  const clock = new FakeClock();
  const connecting = Client.connect(here, { clock, logger: silentLogger, probeTimeoutMs: 1_000 });
  await peer.take("server/discover");
  await clock.advance(1_000);
  peer.answer(await peer.take("initialize"), INITIALIZED);
  const client = await connecting;
  const first = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await first;
  const call = outcomeOf(client.request("tools/list"));
  await peer.take("tools/list");
  peer.send({ id: null, error: { code: -32600, message: "x" } });
  assert.ok((await call).error instanceof InvalidResponseError);
  await client.close();
});

test("Client fails nothing for an error without an id whose code is about no request that cannot be read (XB1, C5)", async () => {
  const { client, peer } = await meet();
  const call = client.request("tools/list");
  const request = await peer.take("tools/list");
  for (const code of [-32601, -32603, -32000, 1]) peer.send({ id: null, error: { code, message: "x" } });
  assert.equal(await stateOf(call), "pending");
  peer.answer(request, { tools: [] });
  await call;
  await client.close();
});

test("Client does not take an error without an id for an acknowledged listen stream (C5, S1-67)", async () => {
  const { client, peer } = await meet();
  const listening = client.listen({ toolsListChanged: true });
  const { id } = await peer.take("subscriptions/listen");
  peer.send({
    method: "notifications/subscriptions/acknowledged",
    params: {
      notifications: { toolsListChanged: true },
      _meta: { "io.modelcontextprotocol/subscriptionId": id },
    },
  });
  await listening.acknowledged;
  const call = outcomeOf(client.request("tools/list"));
  await peer.take("tools/list");
  peer.send({ id: null, error: { code: -32600, message: "x" } });
  assert.ok((await call).error instanceof InvalidResponseError);
  assert.equal(await stateOf(listening.ended), "pending");
  await client.close();
});

test("Client does not take an error without an id for a request in the queue (C5, S1-66)", async () => {
  const { client, peer } = await meet();
  peer.stopReading();
  peer.answer(await fill(client, peer));
  const large = outcomeOf(client.request("x", { text: "x".repeat(2_000_000) }));
  await settle();
  const queued = client.request("tools/list");
  peer.send({ id: null, error: { code: -32700, message: "x" } });
  assert.ok((await large).error instanceof InvalidResponseError);
  peer.goOnReading();
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await queued;
  await client.close();
});

/** Lets the peer read one more request, behind which it stops to read. */
async function fill(client: Client, peer: Peer): Promise<JSONRPCRequest> {
  client.request("ping").catch(() => {});
  return await peer.takeRequest("ping");
}

test("Client refuses a result of an unknown type, in the modern era only (C5)", async () => {
  for (const legacy of [false, true]) {
    const { client, peer } = await meet({ legacy });
    const call = outcomeOf(client.request("tools/list"));
    peer.answer(await peer.take("tools/list"), { resultType: "surprise", tools: [] });
    const { error, value } = await call;
    if (legacy) assert.deepEqual(value?.tools, []);
    else assert.ok(error instanceof InvalidResponseError);
    await client.close();
  }
});

test("Client tells of text on stdout, at most 1 KiB of it, and stays (C6, B91, S2-12)", async () => {
  for (const legacy of [false, true]) {
    const stray: string[] = [];
    const { client, peer, log, clock } = await meet({
      legacy,
      onStrayOutput: (text) => void stray.push(text),
    });
    const lines = [
      "\u001b[2mloading…\u001b[0m",
      "🎉 up",
      "[1,2]",
      `"text"`,
      "42",
      "{}",
      `{"level":"info"}`,
      "y".repeat(5_000),
    ];
    const call = client.request("tools/list");
    const request = await peer.take("tools/list");
    peer.write(lines.join("\n") + "\n");
    peer.answer(request, { tools: [] });
    await call;
    assert.deepEqual(stray.slice(0, -1), lines.slice(0, -1));
    assert.ok(lines.at(-1)!.startsWith(stray.at(-1)!) && stray.at(-1)!.length <= 1_024);
    await clock.advance(1_000);
    assert.equal(countTold(log.of("warn")), lines.length);
    await client.close();
  }
});

test("Client fails the request whose answer is glued to stray text at once, and stays (C6, XB5, S2-12)", async () => {
  const { client, peer, log } = await meet();
  for (const stray of ["starting…", "building 10%\rbuilding 100%\u001b[2K\r", '{"level":"info"}']) {
    const glued = outcomeOf(client.request("tools/list"));
    const { id } = await peer.take("tools/list");
    peer.write(`${stray}${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`);
    await settle();
    assert.equal((await glued).error?.code, "invalid_response");
    assert.equal((await peer.take("notifications/cancelled")).params?.["requestId"], id);
    assert.equal(log.lines.at(-1)!.facts.id, String(id));
  }
  const next = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await next;
  await client.close();
});

test("Client fails the request whose answer stands behind a notification without a line feed at once (C5, F6)", async () => {
  const { client, peer, log } = await meet();
  const notification = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"secret"}}';
  for (const between of ["", "\r", " ", notification]) {
    const call = outcomeOf(client.request("tools/list"));
    const { id } = await peer.take("tools/list");
    peer.write(`${notification}${between}{"jsonrpc":"2.0","id":${id},"result":{}}\n`);
    assert.equal((await call).error?.code, "invalid_response", JSON.stringify(between));
  }
  assert.ok(!JSON.stringify(log.lines).includes("secret"));
  const next = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  assert.ok(await next);
  await client.close();
});

test("Client logs nothing of a frame that it drops but its id and an error's code (C6, S1-70, S1-71)", async () => {
  const { client, peer, log } = await meet({ limits: LIMITS });
  const S = "SECRET";
  const oddId = `${"i".repeat(100)}\u0007\n`;
  peer.send(
    { id: 901, result: { [S]: S } },
    { id: 902, error: { code: -5, message: S, data: S } },
    { id: null, error: { code: -6, message: S, data: S } },
    { id: 903, method: S, params: { [S]: S } },
    { method: "notifications/progress", params: { progressToken: 904, progress: 1, message: S } },
    { method: S, params: { _meta: { "io.modelcontextprotocol/subscriptionId": 905 } } },
    { id: oddId, result: {} },
  );
  peer.write(
    `{"jsonrpc":"2.0","id":906,"result":{"${S}":"${S.repeat(500)}"}}\n{"jsonrpc":"2.0","id":907,"${S}"}\n`,
  );
  peer.write(bytesOf(`{"jsonrpc":"2.0","${S}":"`, [0xff, 0x0a]));
  await settle();
  assert.equal(log.of("warn").length, 10);
  for (const { level, message, facts } of log.lines) {
    assert.equal(level, "warn");
    assert.ok(message.startsWith("[mcp_router] dropped a frame: "), message);
    assert.ok(!JSON.stringify([message, facts]).includes(S), JSON.stringify([message, facts]));
  }
  const ids = log.lines.map(({ facts }) => facts.id);
  assert.deepEqual(ids, [
    "901",
    "902",
    "none",
    "903",
    "904",
    "905",
    `"${"i".repeat(40)}"[28 more characters]"${"i".repeat(32)}\\u0007\\n"`,
    "906",
    "907",
    "none",
  ]);
  assert.deepEqual(log.lines.map(({ facts }) => facts.code), [
    undefined,
    -5,
    -6,
    ...Array(7).fill(undefined),
  ]);
  await client.close();
});

test("Client logs a cancellation from the server at debug level in its own scope (C6, S1-42)", async () => {
  const { client, peer, log } = await meet();
  client.listen({ toolsListChanged: true });
  const { id } = await peer.take("subscriptions/listen");
  peer.send({
    method: "notifications/cancelled",
    params: { requestId: id, reason: "server\u001b[2J shutdown" },
  });
  peer.send({ method: "notifications/cancelled", params: { requestId: [1] } }, {
    method: "notifications/cancelled",
  });
  await settle();
  assert.deepEqual(log.lines.map(({ level, message, facts }) => [level, message, facts]), [
    ["debug", "[mcp_cancel] the server cancelled", { id: String(id), reason: "server [2J shutdown" }],
    ["debug", "[mcp_cancel] the server cancelled", { id: "none", reason: undefined }],
    ["debug", "[mcp_cancel] the server cancelled", { id: "none", reason: undefined }],
  ]);
  await client.close();
});

test("Client reads what peers write in their own ways (B01, B02, B03, B16)", async () => {
  const { client, peer, log } = await meet();
  const text = "é漢🎉\u2028\u2029\u0085\ufeff";
  const frames = [
    (body: string) => `${body}\r\n`,
    (body: string) => `\ufeff${body}\n`,
    (body: string) => `\n\r\n  \t\n\ufeff${body}\r\n`,
  ];
  for (const frame of frames) {
    const call = client.request("tools/list");
    const { id } = await peer.take("tools/list");
    for (const byte of bytesOf(frame(JSON.stringify({ jsonrpc: "2.0", id, result: { text } })))) {
      peer.write(Uint8Array.of(byte));
    }
    assert.equal((await call).text, text);
  }
  assert.deepEqual(log.lines, []);
  await client.close();
});

test("Client reads on behind 80 000 lines that are no messages, and says so in a few lines (XB14, C6)", async () => {
  let seen = 0;
  const { client, peer, log, clock } = await meet({ onStrayOutput: () => void seen++ });
  peer.write("x\n".repeat(80_000));
  const call = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await call;
  await clock.advance(1_000);
  assert.equal(seen, 80_000);
  assert.equal(countTold(log.of("warn")), 80_000);
  assert.ok(log.lines.length <= 4, `${log.lines.length} lines`);
  await client.close();
});

test("Client reads a batch whose members are no messages in one go, and says so once (XB14, V8)", async () => {
  for (const count of [999, 400_000]) {
    const { client, peer, log } = await meet({ legacy: true });
    const seen: string[] = [];
    peer.write(`[{"jsonrpc":"2.0","method":"x"},${"1,".repeat(count - 1)}1]\n`);
    const call = client.request("tools/list", {}, { onNotification: (method) => void seen.push(method) });
    peer.answer(await peer.take("tools/list"), { tools: [] });
    await call;
    const told = count < 1_000
      ? `${count} members of a batch are no messages`
      : "a batch has more than 1000 members";
    assert.equal(log.of("warn").length, 1);
    assert.ok(
      log.of("warn")[0]!.includes(told) || String(log.lines[0]!.facts.reason).includes(told),
      log.of("warn")[0],
    );
    await client.close();
  }
});
