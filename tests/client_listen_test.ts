import assert from "node:assert/strict";
import { test } from "node:test";
import type { Listening } from "../client.ts";
import { createDeferred } from "../internal/promises.ts";
import { MetaKey, type RequestId } from "../messages.ts";
import { inhabit, meet, outcomeOf, type Peer, settle } from "./_client_peer.ts";
import { cpuTime, heldBytes, stateOf } from "./helpers.ts";

const FILTER = { toolsListChanged: true, resourceSubscriptions: ["file:///a"] };
const LIST_CHANGED = "notifications/tools/list_changed";
const UPDATED = "notifications/resources/updated";

const stamp = (id: unknown) => ({ _meta: { [MetaKey.subscriptionId]: id } });
const event = (id: unknown, method = LIST_CHANGED, params: object = {}) => ({
  method,
  params: { ...params, ...stamp(id) },
});
const acknowledgment = (id: unknown, notifications: object = FILTER) =>
  event(id, "notifications/subscriptions/acknowledged", { notifications });

async function acknowledge(peer: Peer, notifications: object = FILTER): Promise<RequestId> {
  const { id } = await peer.takeRequest("subscriptions/listen");
  peer.send(acknowledgment(id, notifications));
  return id;
}

async function collect(listening: Listening): Promise<string[]> {
  const seen: string[] = [];
  for await (const happened of listening) {
    seen.push(
      happened.kind === "notification"
        ? `${happened.method} ${happened.params?.uri ?? ""}`.trim()
        : happened.kind,
    );
  }
  return seen;
}

test("Client.listen() gives what the server agreed to, and then what happens (C10, S1-100)", async () => {
  const { client, peer } = await meet();
  const listening = client.listen(FILTER);
  const { id, params } = await peer.takeRequest("subscriptions/listen");
  assert.deepEqual(params?.notifications, FILTER);
  assert.ok(!("progressToken" in (params?._meta as object)));
  peer.send(
    acknowledgment(id, { toolsListChanged: true }),
    event(id),
    event(id, UPDATED, { uri: "file:///a" }),
  );
  assert.deepEqual(await listening.acknowledged, { toolsListChanged: true });
  assert.deepEqual(await listening.next(), {
    done: false,
    value: { kind: "notification", method: LIST_CHANGED, params: stamp(id) },
  });
  assert.equal((await listening.next()).value?.kind, "notification");
  listening.close();
  assert.equal(await listening.ended, "local");
  assert.deepEqual((await peer.take("notifications/cancelled")).params, { requestId: id });
  await client.close();
});

test("Client.listen() keeps streams apart by their id (C10, S2-20)", async () => {
  const { client, peer, log } = await meet();
  const filter = { resourceSubscriptions: ["a", "b"] };
  const streams = [client.listen(filter), client.listen(filter)];
  const ids = [await acknowledge(peer), await acknowledge(peer)];
  peer.send(
    event(ids[1], UPDATED, { uri: "b" }),
    event(ids[0], UPDATED, { uri: "a" }),
    event(String(ids[0])),
  );
  const seen = streams.map(collect);
  await settle();
  for (const stream of streams) stream.close();
  assert.deepEqual(await Promise.all(seen), [[`${UPDATED} a`], [`${UPDATED} b`]]);
  assert.equal(log.of("warn").length, 1);
  await client.close();
});

test("Client.listen() rejects when the server does not acknowledge in time, and tells it to stop (C10)", async () => {
  const { client, peer, clock } = await meet();
  const listening = client.listen(FILTER);
  const { id } = await peer.takeRequest("subscriptions/listen");
  await clock.advance(9_999);
  assert.equal(await stateOf(listening.acknowledged), "pending");
  await clock.advance(1);
  await assert.rejects(listening.acknowledged, { code: "request_timeout", timeoutMs: 10_000 });
  assert.equal(await listening.ended, "lost");
  assert.equal((await peer.take("notifications/cancelled")).params?.requestId, id);
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client.listen() has no time limit once it is acknowledged (C10)", async () => {
  const { client, peer, clock } = await meet();
  const listening = client.listen(FILTER);
  await acknowledge(peer);
  await listening.acknowledged;
  await clock.advance(10_000_000);
  assert.equal(await stateOf(listening.ended), "pending");
  await client.close();
  assert.equal(await listening.ended, "local");
  assert.equal(clock.pendingTimers, 0);
});

test("Client.listen() ends as the server's when it refuses (C10)", async () => {
  const { client, peer } = await meet();
  const listening = client.listen(FILTER);
  peer.refuse(await peer.take("subscriptions/listen"), -32603, "Server busy");
  await assert.rejects(listening.acknowledged, { code: -32603 });
  assert.equal(await listening.ended, "server");
  assert.deepEqual(await collect(listening), []);
  await client.close();
});

const ENDINGS: ReadonlyArray<[what: string, lines: (id: RequestId) => object[]]> = [
  ["a result and a cancellation (V11)", (id) => [
    { id, result: { resultType: "complete", ...stamp(id) } },
    { method: "notifications/cancelled", params: { requestId: id, reason: "server shutdown" } },
  ]],
  ["a result alone", (id) => [{ id, result: { resultType: "complete", ...stamp(id) } }]],
  ["a cancellation alone", (id) => [{ method: "notifications/cancelled", params: { requestId: id } }]],
  ["a cancellation and then a result", (id) => [
    { method: "notifications/cancelled", params: { requestId: id } },
    { id, result: {} },
  ]],
];

for (const [what, lines] of ENDINGS) {
  test(`Client.listen() ends as the server's by ${what} (C10)`, async () => {
    const { client, peer, log } = await meet();
    const listening = client.listen(FILTER);
    const id = await acknowledge(peer);
    const seen = collect(listening);
    peer.send(event(id), ...lines(id));
    assert.deepEqual(await seen, [LIST_CHANGED]); // What came before is still read.
    assert.equal(await listening.ended, "server");
    assert.deepEqual(log.of("warn"), []);
    assert.ok(!peer.methods.includes("notifications/cancelled"));
    await client.close();
  });
}

test("Client.listen() ends as lost with the server (C10)", async () => {
  const { client, peer } = await meet();
  const [open, fresh] = [client.listen(FILTER), client.listen(FILTER)];
  await acknowledge(peer);
  await peer.take("subscriptions/listen");
  peer.end();
  assert.equal(await open.ended, "lost");
  assert.equal(await fresh.ended, "lost");
  await assert.rejects(fresh.acknowledged, { code: "connection_closed" });
  await client.closed;
  assert.throws(() => client.listen(FILTER), { code: "connection_closed" });
});

test("Client.listen() is left by leaving the loop (C10)", async () => {
  const { client, peer } = await meet();
  const listening = client.listen(FILTER);
  const id = await acknowledge(peer);
  peer.send(event(id), event(id));
  for await (const happened of listening) {
    assert.equal(happened.kind, "notification");
    break;
  }
  assert.equal((await peer.take("notifications/cancelled")).params?.requestId, id);
  assert.deepEqual(await listening.next(), { done: true, value: undefined });
  await client.close();
});

test("Client.listen() answers several readers that wait at once, in order (C10)", async () => {
  const { client, peer } = await meet();
  const listening = client.listen({ resourceSubscriptions: ["1", "2"] });
  const id = await acknowledge(peer);
  const reads = [listening.next(), listening.next(), listening.next()];
  peer.send(event(id, UPDATED, { uri: "1" }), event(id, UPDATED, { uri: "2" }));
  await settle();
  listening.close();
  const values = (await Promise.all(reads)).map(({ value }) =>
    value?.kind === "notification" ? value.params?.uri : value
  );
  assert.deepEqual(values, ["1", "2", undefined]);
  await client.close();
});

test("Client.listen() says the same once as long as nobody has read it (XB7, C10)", async () => {
  const { client, peer } = await meet();
  const listening = client.listen(FILTER);
  const id = await acknowledge(peer);
  for (let n = 0; n < 5_000; n++) peer.send(event(id), event(id, UPDATED, { uri: "file:///a" }));
  for (let turn = 0; turn < 20; turn++) await settle();
  assert.equal((await listening.next()).value?.kind, "notification");
  peer.send(event(id)); // What was read may be said again.
  await settle();
  listening.close();
  assert.deepEqual(await collect(listening), [`${UPDATED} file:///a`, LIST_CHANGED]);
  await client.close();
});

for (const era of ["modern", "legacy"] as const) {
  test(`Client.listen() holds 1 024 different events of a ${era} server, and then one that says so (XB7, C10)`, async () => {
    const count = era === "modern" ? 32_000 : 2_000;
    const uris = Array.from({ length: count }, (_, n) => `file:///${n}`);
    const { client, peer } = await meet({ legacy: era === "legacy" });
    const listening = client.listen({ resourceSubscriptions: uris, toolsListChanged: true });
    const answer = async () => {
      const { id } = await peer.takeRequest("subscriptions/listen");
      peer.send(acknowledgment(id, { resourceSubscriptions: uris }));
      return id;
    };
    // A legacy server is asked for each; what comes before it has agreed counts, too.
    const id = era === "modern" ? await answer() : undefined;
    const told = (from: number, to: number) =>
      peer.send(...uris.slice(from, to).map((uri) => event(id, UPDATED, { uri })));
    const before = await heldBytes();
    const begin = cpuTime();
    told(0, 1_024);
    const call = client.request("tools/list");
    peer.answer(await peer.take("tools/list"), { tools: [] });
    await call;
    assert.equal((await listening.next()).value?.kind, "notification");
    told(1_024, 1_025);
    await settle();
    assert.equal((await listening.next()).value?.kind, "notification", "there was room for one more");
    told(1_025, count);
    const again = client.request("tools/list");
    peer.answer(await peer.take("tools/list"), { tools: [] });
    await again;
    const took = cpuTime() - begin;
    assert.ok(took < 10_000, `${took} ms`);
    const held = await heldBytes() - before;
    assert.ok(held < 16_777_216, `${held} bytes`);
    assert.deepEqual((await listening.next()).value, { kind: "missed" });
    // From here on it is told again what happens.
    told(7, 8);
    await settle();
    listening.close();
    assert.deepEqual(await collect(listening), [`${UPDATED} file:///7`]);
    await client.close();
  });
}

test("Client.listen() keeps no more than 4 MiB of events for its reader (XB7, C10)", async () => {
  const { client, peer } = await meet();
  const listening = client.listen(FILTER);
  const id = await acknowledge(peer);
  const text = "x".repeat(500_000);
  for (let n = 0; n < 10; n++) peer.send(event(id, `notifications/x${n}`, { text }));
  for (let turn = 0; turn < 20; turn++) await settle();
  listening.close();
  const seen = await collect(listening);
  assert.ok(seen.includes("missed") && seen.length <= 5, seen.join());
  await client.close();
});

test("Client.listen() passes on what was asked for, parts of a resource with it, and nothing else (XB7, C10)", async () => {
  for (const legacy of [false, true]) {
    const { client, peer } = await meet({ legacy });
    const listening = client.listen({ resourceSubscriptions: ["file:///a", "file:///dir/"] });
    const id = legacy ? undefined : await acknowledge(peer);
    const uris = [
      "file:///b",
      "file:///a",
      "file:///a/part",
      "file:///ab",
      "file:///a#line",
      "file:///dir/sub/x",
      "file:///dir",
      `file:///a/${"/x".repeat(8_192)}`,
      undefined,
      5,
      { toString: 1, valueOf: 1 },
    ];
    peer.send(
      ...uris.map((uri) => event(id, UPDATED, { uri })),
      event(id),
      event(id, "notifications/prompts/list_changed"),
    );
    await settle();
    listening.close();
    assert.deepEqual((await collect(listening)).map((seen) => seen.slice(UPDATED.length + 1)), [
      "file:///a",
      "file:///a/part",
      "file:///a#line",
      "file:///dir/sub/x",
    ]);
    await client.close();
  }
});

test("Client.listen() gives a server that is started again the time to start (XB3, C10)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, { listenTimeoutMs: 5_000 });
  const listening = client.listen(FILTER);
  await acknowledge(peers[0]!);
  await listening.acknowledged;
  runtime.processes[0]!.exit({ signal: "SIGKILL" });
  await clock.advance(1_000);
  const { id } = await peers[1]!.takeRequest("subscriptions/listen");
  await clock.advance(12_000);
  peers[1]!.write("ready\n"); // Text is no sign that it serves.
  await clock.advance(12_000);
  const call = client.request("tools/list");
  peers[1]!.answer(await peers[1]!.take("tools/list"), { tools: [] });
  await call;
  // From its first message on it has the usual time.
  await clock.advance(4_999);
  assert.equal(await stateOf(listening.ended), "pending");
  peers[1]!.send(acknowledgment(id), event(id));
  await settle();
  listening.close();
  assert.deepEqual(await collect(listening), ["resubscribed", LIST_CHANGED]);

  const late = client.listen(FILTER);
  await peers[1]!.take("subscriptions/listen");
  await clock.advance(5_000);
  assert.equal(await late.ended, "lost");
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client.listen() waits through restarts that take longer than an acknowledgment may (C10, P8)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, {
    listenTimeoutMs: 100,
    connectTimeoutMs: 100,
  });
  const listening = client.listen(FILTER);
  for (const index of [0, 1]) {
    await peers[index]!.takeRequest("subscriptions/listen");
    runtime.processes[index]!.exit({ code: 1 });
    // The first restart comes at once, the second one after 250 ms, more or less.
    await clock.advance(index === 0 ? 10 : 180);
    assert.equal(await stateOf(listening.ended), "pending");
  }
  while (peers.length < 3) await clock.advance(10);
  await acknowledge(peers[2]!);
  assert.deepEqual(await listening.acknowledged, FILTER);
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client.listen() ends with the scope of a using (XF18)", async () => {
  for (const dispose of [Symbol.dispose, Symbol.asyncDispose] as const) {
    const { client, peer } = await meet();
    const listening = client.listen(FILTER);
    await acknowledge(peer);
    await listening[dispose]();
    assert.equal(await listening.ended, "local");
    await peer.take("notifications/cancelled");
    await client.close();
  }
});

test("Client.listen() goes on after a restart: asked again under a new id (C10, S2-38)", async () => {
  const { client, peers, runtime, clock } = await inhabit();
  const filter = { toolsListChanged: true, resourceSubscriptions: ["1", "2", "of the old one"] };
  const listening = client.listen(filter);
  const first = await acknowledge(peers[0]!);
  const seen = collect(listening);
  await listening.acknowledged;
  peers[0]!.send(event(first, UPDATED, { uri: "1" }));
  await settle();
  runtime.processes[0]!.exit({ signal: "SIGKILL" });
  await clock.advance(1_000);
  const request = await peers[1]!.takeRequest("subscriptions/listen");
  assert.deepEqual(request.params?.notifications, filter);
  assert.notEqual(request.id, first);
  peers[1]!.send(event(first, UPDATED, { uri: "of the old one" })); // Its id is nobody's now.
  peers[1]!.send(
    acknowledgment(request.id, { toolsListChanged: true }),
    event(request.id, UPDATED, { uri: "2" }),
  );
  await settle();
  await client.close();
  assert.deepEqual(await seen, [`${UPDATED} 1`, "resubscribed", `${UPDATED} 2`]);
  assert.equal(await listening.ended, "local");
  assert.equal(clock.pendingTimers, 0);
});

test("Client.listen() is asked again as often as there are restarts, and each time awaits its acknowledgment (C10)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, { maxRestarts: 6 });
  const listening = client.listen(FILTER);
  await acknowledge(peers[0]!);
  for (let restart = 1; restart <= 5; restart++) {
    await settle();
    runtime.processes.at(-1)!.exit({ code: 1 });
    await clock.advance(9_000);
    if (restart < 5) await acknowledge(peers[restart]!);
  }
  await clock.advance(60_000); // The last one says nothing.
  assert.equal(await listening.ended, "lost");
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client.listen() may be called while the server is restarted: its time begins when it is asked (C10)", async () => {
  const gate = createDeferred();
  const { client, peers, runtime, clock } = await inhabit((peer, _process, index) =>
    index === 0 ? void peer.discover() : gate.promise
  );
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  assert.equal(client.state, "restarting");
  const listening = client.listen(FILTER);
  await clock.advance(60_000);
  assert.equal(await stateOf(listening.ended), "pending");
  gate.resolve();
  await clock.advance(0);
  await acknowledge(peers[1]!);
  assert.deepEqual(await listening.acknowledged, FILTER);
  await client.close();
});

test("Client.listen() that is closed while the server is restarted is not asked again (C10)", async () => {
  const gate = createDeferred();
  const { client, peers, runtime, clock } = await inhabit((peer, _process, index) =>
    index === 0 ? void peer.discover() : gate.promise
  );
  const [closed, open] = [client.listen(FILTER), client.listen({ promptsListChanged: true })];
  await acknowledge(peers[0]!);
  await acknowledge(peers[0]!);
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(500);
  closed.close();
  gate.resolve();
  await acknowledge(peers[1]!);
  await settle();
  assert.deepEqual(peers[1]!.received.map(({ params }) => params?.notifications), [{
    promptsListChanged: true,
  }]);
  open.close();
  await client.close();
});

// The legacy era: the same call, with what there is.

test("Client.listen() maps to subscriptions and plain notifications of a legacy server (C10)", async () => {
  const { client, peer } = await meet({ legacy: true });
  const listening = client.listen({
    toolsListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: ["file:///a"],
  });
  const request = await peer.takeRequest("resources/subscribe");
  assert.deepEqual(request.params, { uri: "file:///a" });
  peer.answer(request);
  // The server has no prompts.
  assert.deepEqual(await listening.acknowledged, {
    toolsListChanged: true,
    resourceSubscriptions: ["file:///a"],
  });
  const seen = collect(listening);
  peer.send(
    { method: LIST_CHANGED },
    { method: "notifications/prompts/list_changed" },
    { method: UPDATED, params: { uri: "file:///b" } },
    { method: UPDATED, params: { uri: "file:///a" } },
    { method: "notifications/message", params: { level: "info", data: 1 } },
  );
  await settle();
  listening.close();
  assert.deepEqual(await seen, [LIST_CHANGED, `${UPDATED} file:///a`]);
  assert.deepEqual((await peer.take("resources/unsubscribe")).params, { uri: "file:///a" });
  await client.close();
});

test("Client.listen() subscribes a legacy server once to what several streams want (C10)", async () => {
  const { client, peer } = await meet({ legacy: true });
  const filter = { resourceSubscriptions: ["file:///a"] };
  const streams = [client.listen(filter), client.listen(filter)];
  peer.answer(await peer.take("resources/subscribe"));
  await Promise.all(streams.map(({ acknowledged }) => acknowledged));
  streams[0]!.close();
  await settle();
  assert.deepEqual(peer.methods.slice(-1), ["resources/subscribe"]);
  streams[1]!.close();
  await peer.take("resources/unsubscribe");
  await client.close();
});

test("Client.listen() undoes what a legacy server has granted when it refuses the rest (C10)", async () => {
  const { client, peer } = await meet({ legacy: true });
  const listening = client.listen({ resourceSubscriptions: ["file:///a", "file:///b"] });
  peer.answer(await peer.take("resources/subscribe"));
  peer.refuse(await peer.take("resources/subscribe"), -32002, "no such resource");
  await assert.rejects(listening.acknowledged, { code: -32002 });
  assert.equal(await listening.ended, "server");
  assert.equal((await peer.take("resources/unsubscribe")).params?.uri, "file:///a");
  await client.close();
});

test("Client.listen() rejects when a legacy server does not subscribe in time (C10)", async () => {
  const { client, peer, clock } = await meet({ legacy: true });
  const listening = client.listen({ resourceSubscriptions: ["file:///a"] });
  await peer.take("resources/subscribe");
  await clock.advance(10_000);
  assert.equal((await outcomeOf(listening.acknowledged)).error?.code, "request_timeout");
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client.listen() subscribes again after the restart of a legacy server (C10)", async () => {
  const { client, peers, runtime, clock } = await inhabit((peer) => void peer.initialize());
  const listening = client.listen({ toolsListChanged: true, resourceSubscriptions: ["file:///a"] });
  peers[0]!.answer(await peers[0]!.take("resources/subscribe"));
  await listening.acknowledged;
  const seen = collect(listening);
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  // Straight to `initialize` (E4).
  assert.deepEqual(peers[1]!.methods, ["initialize", "notifications/initialized", "resources/subscribe"]);
  peers[1]!.answer(await peers[1]!.take("resources/subscribe"));
  peers[1]!.send({ method: UPDATED, params: { uri: "file:///a" } });
  await settle();
  await client.close();
  assert.deepEqual(await seen, ["resubscribed", `${UPDATED} file:///a`]);
});

for (
  const [filter, message] of [
    [undefined, "Cannot listen: the filter must be an object"],
    [[], "Cannot listen: the filter must be an object"],
    [
      { resourceSubscriptions: "file:///a" },
      `Cannot listen: "resourceSubscriptions" must be an array of strings`,
    ],
    [{ resourceSubscriptions: [5] }, `Cannot listen: "resourceSubscriptions" must be an array of strings`],
  ] as const
) {
  test(`Client.listen() refuses the filter ${JSON.stringify(filter)} at once (C10, XF11)`, async () => {
    const { client, peer } = await meet();
    assert.throws(() => client.listen(filter as never), { name: "TypeError", message });
    await settle();
    assert.deepEqual(peer.methods, ["server/discover"]);
    await client.close();
  });
}

test("A legacy server that never answers loses the listen stream, as a modern one does (C10)", async () => {
  const { client, peer, clock } = await meet({ legacy: true });
  const listening = client.listen(FILTER);
  const acknowledged = outcomeOf(listening.acknowledged);
  await peer.take("resources/subscribe");
  await clock.advance(10_000);
  assert.equal((await acknowledged).error?.name, "RequestTimeoutError");
  assert.equal(await listening.ended, "lost");
  await client.close();
});
