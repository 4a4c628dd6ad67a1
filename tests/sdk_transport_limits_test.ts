// What the server transport for the official SDK is bound by, and what it answers in the SDK's place (rules K2, V1 to V5).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JSONRPCMessage, JSONRPCNotification } from "../messages.ts";
import { StdioServerTransport } from "../sdk_transport.ts";
import { createStreamPair } from "../testing.ts";
import { stateOf } from "./helpers.ts";
import { afterMicrotasks, answering, serveInMemory, settle } from "./sdk_transport_helpers.ts";
import { cancel, initialize, legacy, type Message, notification, SLOW } from "./server_helpers.ts";

const encoder = new TextEncoder();

/** Requests with ids from `first` to `last`. */
function requests(first: number, last: number, params?: { [key: string]: unknown }): JSONRPCMessage[] {
  return Array.from({ length: last - first + 1 }, (_, index) => legacy(first + index, "work", params));
}

test(
  "StdioServerTransport hands over 256 requests at a time and reads 256 more, by default (S3-07)",
  SLOW,
  async (t) => {
    const served = await serveInMemory(t);
    served.client.send(...requests(1, 600));
    await settle();
    assert.equal(served.ids.length, 256);
    // 88 more are kept aside: a cancellation is read behind them (V18).
    served.client.send(cancel(1));
    await settle();
    assert.deepEqual(served.received.slice(256), [cancel(1), legacy(257, "work")]);
    await served.answer(2);
    await settle();
    assert.deepEqual(served.ids.slice(256), [257, 258]);
  },
);

test("StdioServerTransport hands over so many requests and the next with each answer, in order (S3-08, V1)", async (t) => {
  const served = await serveInMemory(t, { limits: { maxInFlightRequests: 3 } });
  served.client.send(...requests(1, 10));
  await settle();
  assert.deepEqual(served.ids, [1, 2, 3]);
  await served.answer(2);
  await settle();
  assert.deepEqual(served.ids, [1, 2, 3, 4]);
  await served.transport.send({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } });
  await settle();
  assert.deepEqual(served.ids, [1, 2, 3, 4, 5]);
});

test("StdioServerTransport reads on while handlers are busy, and stops to pull behind 1 MiB of lines that have no place in the look-ahead (S3-04, S3-08, V18)", async () => {
  let pulls = 0;
  let stopped = false;
  const readable = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulls++;
      const params = { text: "x".repeat(250_000) };
      if (pulls <= 100) {
        controller.enqueue(encoder.encode(`${JSON.stringify(legacy(pulls, "work", params))}\n`));
      } else controller.close();
    },
    cancel: () => void (stopped = true),
  }, { highWaterMark: 0 });
  const [, { writable }] = createStreamPair();
  const limits = { maxInFlightRequests: 4, maxQueuedRequests: 5 };
  const transport = new StdioServerTransport({ readable, writable }, { limits, drainTimeoutMs: 0 });
  const ids: unknown[] = [];
  transport.onmessage = (message) => void ids.push((message as { id: unknown }).id);
  await transport.start();
  await settle();
  assert.deepEqual([ids.length, pulls], [4, 4 + 5 + 5]);
  await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
  await settle();
  assert.deepEqual([ids.length, pulls], [5, 4 + 5 + 5 + 1]);
  await transport.close();
  assert.equal(stopped, true);
});

test("StdioServerTransport.send() waits while the output queue is full, and goes on when it drains (S3-09)", async (t) => {
  const served = await serveInMemory(t, {
    stalled: true,
    capacityBytes: 10,
    limits: { maxQueuedBytes: 10_000 },
  });
  const sends = Array.from(
    { length: 30 },
    (_, n) => served.transport.send(notification("notifications/n", { n, text: "x".repeat(1_000) })),
  );
  const states = await Promise.all(sends.map(stateOf));
  const pending = states.filter((state) => state === "pending").length;
  assert.ok(pending >= 10 && pending < 30, `${pending} are pending`);
  served.client.resume();
  await Promise.all(sends);
  await served.client.transcript.until(() => served.client.transcript.messages.length === 30, "all messages");
});

for (const [how, expected] of [["reads on", "fulfilled"], ["never reads", "rejected"]] as const) {
  test(`StdioServerTransport settles each pending send at close when the client ${how} (S3-29)`, async (t) => {
    const served = await serveInMemory(t, {
      stalled: true,
      capacityBytes: 10,
      limits: { maxQueuedBytes: 10_000 },
      drainTimeoutMs: 1_000,
    });
    const sends = Array.from(
      { length: 30 },
      (_, n) => served.transport.send(notification("notifications/n", { n, text: "x".repeat(1_000) })),
    );
    for (const send of sends) send.catch(() => {});
    assert.equal(await stateOf(sends[29]!), "pending");
    const closing = served.transport.close();
    if (how === "reads on") served.client.resume();
    else await served.clock.advance(1_000);
    await closing;
    const last = await sends[29]!.then(
      () => "fulfilled",
      (error) => (assert.equal(error.code, -32000), "rejected"),
    );
    assert.equal(last, expected);
    if (how === "reads on") assert.equal(served.client.transcript.messages.length, 30);
  });
}

test("StdioServerTransport hands over no request while the output is full (V12)", async (t) => {
  const served = await serveInMemory(t, {
    stalled: true,
    capacityBytes: 10,
    limits: { maxQueuedBytes: 10_000 },
    onmessage: (message, { answer }) =>
      void answer((message as { id: number }).id, { text: "x".repeat(1_000) }),
  });
  served.client.send(...requests(1, 200));
  await settle();
  assert.ok(served.ids.length < 60, `${served.ids.length} were handed over`);
  served.client.resume();
  await served.client.transcript.until(() => served.client.transcript.messages.length === 200, "all answers");
});

test("StdioServerTransport lets responses, progress and cancellations pass requests that wait (V2)", async (t) => {
  const served = await serveInMemory(t, { limits: { maxInFlightRequests: 1 } });
  served.client.send(legacy(1, "ask"));
  await settle();
  await served.transport.send(legacy("s1", "sampling/createMessage"));
  const progress = notification("notifications/progress", { progressToken: "s1", progress: 1 });
  const response: JSONRPCMessage = { jsonrpc: "2.0", id: "s1", result: { role: "user" } };
  served.client.send(legacy(2, "wait"), progress, response, notification("notifications/x"), cancel(1));
  await settle();
  assert.deepEqual(served.received.slice(1), [
    progress,
    response,
    notification("notifications/x"),
    cancel(1),
    legacy(2, "wait"),
  ]);
});

test("StdioServerTransport reads the client's answer behind requests that have no room (V2, V18)", async (t) => {
  const served = await serveInMemory(t, { limits: { maxInFlightRequests: 1, maxQueuedRequests: 1 } });
  served.client.send(legacy(1, "ask"));
  await settle();
  await served.transport.send(legacy("s1", "roots/list"));
  const response: JSONRPCMessage = { jsonrpc: "2.0", id: "s1", result: {} };
  served.client.send(legacy(2, "wait"), legacy(3, "wait"), response);
  await settle();
  assert.deepEqual(served.received, [legacy(1, "ask"), response]);
  for (const id of [1, 2, 3]) {
    await served.answer(id);
    await settle();
  }
  assert.deepEqual(served.ids, [1, 2, 3]);
});

test("StdioServerTransport has room again when a request is cancelled that waits for a permit (V1, V3)", async (t) => {
  const served = await serveInMemory(t, { limits: { maxInFlightRequests: 1, maxQueuedRequests: 1 } });
  served.client.send(...requests(1, 2), cancel(2), ...requests(3, 3));
  await settle();
  await served.answer(1);
  await settle();
  assert.deepEqual(served.ids, [1, 3]);
});

test("StdioServerTransport hands over in wire order what need not wait, however much comes at once (K2)", async (t) => {
  const served = await serveInMemory(t);
  const messages = Array.from(
    { length: 100 },
    (_, n) => n % 10 === 9 ? notification("notifications/n", { n }) : legacy(n, "work"),
  );
  served.client.send(...messages);
  await settle();
  assert.deepEqual(served.received, messages);
});

test("StdioServerTransport never hands over what was cancelled while it waited, and frees a permit by a cancellation (V1, V3)", async (t) => {
  const served = await serveInMemory(t, { limits: { maxInFlightRequests: 1 } });
  served.client.send(...requests(1, 3), cancel(2, "too late"), cancel(2), cancel(99));
  await settle();
  assert.deepEqual(served.received, [legacy(1, "work"), cancel(2), cancel(99)]);
  served.client.send(cancel(1, "enough"));
  await settle();
  assert.deepEqual(served.received.slice(3), [cancel(1, "enough"), legacy(3, "work")]);
});

test("StdioServerTransport writes nothing for a request that was cancelled (V3)", async (t) => {
  const served = await serveInMemory(t);
  served.client.send(legacy(1, "work"), cancel(1), legacy(2, "work"));
  await settle();
  const progress = notification("notifications/progress", { progressToken: 1, progress: 1 });
  await served.transport.send(progress, { relatedRequestId: 1 });
  await served.answer(1);
  await served.transport.send(progress, { relatedRequestId: 2 });
  await served.answer(2);
  // The id is free: another request may use it.
  served.client.send(legacy(1, "again"));
  await settle();
  await served.transport.send(progress, { relatedRequestId: 1 });
  await served.answer(1, { again: true });
  await served.transport.close();
  const { messages } = served.client.transcript;
  assert.deepEqual(messages.map(({ id, method }) => id ?? method), [
    "notifications/progress",
    2,
    "notifications/progress",
    1,
  ]);
  assert.deepEqual(messages.at(-1)!.result, { again: true });
});

test("StdioServerTransport does not let initialize be cancelled (V3)", async (t) => {
  const served = await serveInMemory(t);
  served.client.send(initialize(0), cancel(0));
  await settle();
  assert.equal(served.received.length, 1);
  await served.answer(0);
  assert.deepEqual((await served.client.transcript.response(0)).result, {});
});

test("StdioServerTransport answers a second request of an id in flight with -32600 (V5)", async (t) => {
  const served = await serveInMemory(t);
  served.client.send(legacy(1, "work"), legacy("1", "work"), legacy(1, "work"));
  await settle();
  assert.deepEqual(served.ids, [1, "1"]);
  assert.equal(served.client.transcript.responsesTo(1)[0]!.error!.code, -32600);
});

test("StdioServerTransport answers ids beyond 2^53 with their digits, and cancels them (F9)", async (t) => {
  const served = await serveInMemory(t);
  const line = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"work"}`;
  served.client.send(line("9007199254740993"), line("9007199254740992"), line("18446744073709551616"));
  await settle();
  assert.deepEqual(served.ids.map((id) => typeof id), ["string", "string", "string"]);
  assert.equal(new Set(served.ids).size, 3);
  for (const id of served.ids.slice(0, 2)) await served.answer(id);
  await settle();
  assert.deepEqual(served.client.transcript.texts, [
    '{"jsonrpc":"2.0","id":9007199254740993,"result":{}}',
    '{"jsonrpc":"2.0","id":9007199254740992,"result":{}}',
  ]);
  served.client.send(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":18446744073709551616}}',
  );
  await settle();
  const told = served.received.at(-1) as JSONRPCNotification;
  assert.equal(told.params!.requestId, served.ids[2], "the SDK is told under the id that it knows");
});

test("StdioServerTransport answers bad lines once, tells them, and goes on (V5)", async (t) => {
  const served = await serveInMemory(t, { onmessage: answering, limits: { maxLineBytes: 1_000 } });
  const { client } = served;
  client.send("no json", '{"jsonrpc":"2.0","id":7,"method":5}', "[]", '{"jsonrpc":"2.0","id":8,"result":5}');
  client.send(`{"jsonrpc":"2.0","id":9,"method":"x","params":{"text":"${"y".repeat(1_000)}"}}`);
  client.sendBytes(Uint8Array.from([0xff, 0xfe, 0x0a]));
  client.send("", "  ", legacy(10, "good"));
  await client.transcript.response(10);
  const answers = client.transcript.messages.map(({ id, error }) => [id, error?.code]);
  assert.deepEqual(answers, [
    [null, -32700],
    [7, -32600],
    [null, -32600],
    [9, -32600],
    [null, -32700],
    [10, undefined],
  ]);
  const reasons = served.errors.map((error) => (error as { code?: unknown }).code);
  const expected = [
    "invalid_json",
    "invalid_message",
    "invalid_message",
    "invalid_message",
    "too_long",
    "invalid_utf8",
  ];
  assert.deepEqual(reasons, expected);
  assert.equal(served.closes, 0);
  assert.equal(served.log.texts("warn").length, 6);
});

test("StdioServerTransport answers bad lines that found the output full also when the input ends behind them (V5, V11)", async (t) => {
  const served = await serveInMemory(t, {
    stalled: true,
    capacityBytes: 10,
    limits: { maxQueuedBytes: 1_000 },
  });
  // The first is on its way, the second one fills the output.
  const sending = [1, 2, 3].map(() =>
    served.transport.send(notification("notifications/x", { text: "x".repeat(5_000) }))
  );
  await settle();
  served.client.send("no json", "nor this");
  served.client.end();
  await settle();
  served.client.resume();
  await Promise.all(sending);
  await served.client.ended;
  assert.deepEqual(
    served.client.transcript.responsesTo(null).map(({ error }) => error!.code),
    [-32700, -32700],
  );
});

test("StdioServerTransport answers what the SDKs would refuse in silence, and takes away what they do not know (K2)", async (t) => {
  const served = await serveInMemory(t, { onmessage: answering });
  const { client } = served;
  client.send(
    legacy(1, "x", { _meta: 5 }),
    legacy(2, "x", { _meta: { progressToken: 1.5 } }),
    legacy(3, "x", { _meta: { "io.modelcontextprotocol/related-task": {} } }),
    notification("notifications/x", { _meta: [] }),
    JSON.stringify({ ...legacy(4, "x"), trace: "abc" }),
  );
  await client.transcript.response(4);
  for (const id of [1, 2, 3]) assert.equal(client.transcript.responsesTo(id)[0]!.error!.code, -32602);
  assert.match(client.transcript.responsesTo(2)[0]!.error!.message, /progressToken/);
  assert.deepEqual(served.received, [legacy(4, "x")]);
  assert.match(served.errors[0]!.message, /Cannot read a notification/);
});

test("StdioServerTransport answers in place of a result that cannot be written, and rejects the send (V4)", async (t) => {
  const served = await serveInMemory(t, { limits: { maxLineBytes: 1_000 } });
  served.client.send(...requests(1, 2));
  await settle();
  await assert.rejects(served.answer(1, { value: 1n }), { code: "unserializable" });
  await assert.rejects(served.answer(2, { text: "x".repeat(1_000) }), { code: "frame_too_long" });
  const codes = await Promise.all(
    [1, 2].map(async (id) => (await served.client.transcript.response(id)).error),
  );
  assert.deepEqual(codes, [
    { code: -32603, message: "Internal error: the result cannot be written (unserializable)" },
    { code: -32603, message: "Internal error: the result cannot be written (frame_too_long)" },
  ]);
});

test("StdioServerTransport hands over answers to what was asked, by id and type, and only those (C2)", async (t) => {
  const served = await serveInMemory(t);
  for (const id of [0, 1, 2]) await served.transport.send(legacy(id, "ask"));
  await served.transport.send(cancel(2));
  const result = (id: unknown) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`;
  served.client.send(result(""), result("0"), result(2), result(3), result(1), result(1));
  served.client.send('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}');
  served.client.send('{"jsonrpc":"2.0","id":0,"result":{"_meta":7}}');
  await settle();
  assert.deepEqual(served.received.map((message) => (message as { id?: unknown }).id), [1, 0]);
  assert.deepEqual((served.received[1] as { error: { code: number } }).error.code, -32700);
});

test("StdioServerTransport lets notifications be handled before the response behind them (K2)", async (t) => {
  const order: string[] = [];
  const served = await serveInMemory(t, {
    onmessage(message) {
      // The SDKs take one microtask; whoever is wrapped around them may take more.
      if (!("method" in message)) order.push("response");
      else if (!("id" in message)) afterMicrotasks(3, () => order.push("progress"));
    },
  });
  await served.transport.send(legacy(0, "sampling/createMessage"));
  const progress = notification("notifications/progress", { progressToken: 0, progress: 1 });
  served.client.send(progress, progress, { jsonrpc: "2.0", id: 0, result: {} });
  await settle();
  assert.deepEqual(order, ["progress", "progress", "response"]);
});

test("StdioServerTransport takes batches once revision 2025-03-26 was agreed on, and answers on one line (V8)", async (t) => {
  const served = await serveInMemory(t, {
    onmessage(message, served) {
      if ((message as { method?: string }).method !== "initialize") answering(message, served);
      else served.answer((message as { id: number }).id, { protocolVersion: "2025-03-26" });
    },
  });
  const batch = JSON.stringify([legacy(1, "a"), notification("notifications/x"), 5, legacy("2", "b")]);
  served.client.send(batch, initialize(0, "2025-03-26"), batch);
  await served.client.transcript.response("2");
  const [refused, , answered] = served.client.transcript.texts.map((text) => JSON.parse(text));
  assert.deepEqual([refused.id, refused.error.code], [null, -32600]);
  const results = answered.map(({ id, result, error }: Message) => [id, result ?? error!.code]);
  assert.deepEqual(
    new Map(results),
    new Map<unknown, unknown>([
      [null, -32600],
      [1, { method: "a" }],
      ["2", { method: "b" }],
    ]),
  );
});

test("StdioServerTransport answers all of a batch when it ends, also what had no room yet (V8, V11, V18)", async (t) => {
  const served = await serveInMemory(t, {
    limits: { maxInFlightRequests: 1, maxQueuedRequests: 1 },
    onmessage(message, { answer }) {
      if ((message as { method?: string }).method === "initialize") {
        answer(0, { protocolVersion: "2025-03-26" });
      }
    },
  });
  served.client.send(initialize(0, "2025-03-26"), JSON.stringify(requests(1, 4)));
  await settle();
  const closing = served.transport.close();
  for (const id of [1, 2, 3, 4]) {
    await served.answer(id);
    await settle();
  }
  await closing;
  assert.deepEqual(served.ids, [0, 1, 2, 3, 4]);
  const answered = JSON.parse(served.client.transcript.texts[1]!).map(({ id }: Message) => id);
  assert.deepEqual(answered, [1, 2, 3, 4]);
});

test("StdioServerTransport answers a batch without what was cancelled in it (V3, V8)", async (t) => {
  const served = await serveInMemory(t, {
    onmessage(message, { answer }) {
      if ((message as { method?: string }).method === "initialize") {
        answer(0, { protocolVersion: "2025-03-26" });
      }
    },
  });
  served.client.send(initialize(0, "2025-03-26"), JSON.stringify(requests(1, 2)), cancel(1));
  await settle();
  await served.answer(2);
  await served.transport.close();
  assert.equal(served.client.transcript.texts[1], '[{"jsonrpc":"2.0","id":2,"result":{}}]');
});
