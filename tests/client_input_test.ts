import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtocolError } from "../errors.ts";
import { createDeferred } from "../internal/promises.ts";
import { MetaKey, type Params } from "../messages.ts";
import { Client, type InputHandlers } from "../client.ts";
import type { ElicitResult } from "../methods.ts";
import { silentLogger } from "../logger.ts";
import { createStreamPair, FakeClock } from "../testing.ts";
import { inhabit, meet, outcomeOf, Peer, settle } from "./_client_peer.ts";
import { stateOf } from "./helpers.ts";

const ELICIT = { method: "elicitation/create", params: { message: "Your name?" } };
const wanted = (inputRequests: unknown, requestState?: unknown) => ({
  resultType: "input_required",
  ...(inputRequests === undefined ? {} : { inputRequests }),
  ...(requestState === undefined ? {} : { requestState }),
});

test("Client answers what a server wants to know and asks again, under a new id (C11, S2-18)", async () => {
  const asked: Params[] = [];
  const { client, peer } = await meet({
    inputHandlers: {
      "elicitation/create": (params) => {
        asked.push(params);
        return { action: "accept", content: { name: "octocat" } };
      },
      "roots/list": () => Promise.resolve({ roots: [] }),
    },
  });
  const call = client.request("tools/call", { name: "login", arguments: { a: 1 } });
  const first = await peer.takeRequest("tools/call");
  assert.deepEqual((first.params?._meta as Params)[MetaKey.clientCapabilities], {
    elicitation: { form: {} },
    roots: {},
  });
  const state = "AEAD\u0000blob";
  peer.answer(first, wanted({ who: ELICIT, where: { method: "roots/list" } }, state));
  const second = await peer.takeRequest("tools/call");
  assert.notEqual(second.id, first.id);
  assert.deepEqual(second.params, {
    ...first.params,
    inputResponses: { who: { action: "accept", content: { name: "octocat" } }, where: { roots: [] } },
    requestState: state,
  });
  // Nothing of the last round is left in the next one.
  peer.answer(second, wanted({ who: ELICIT }));
  const third = await peer.takeRequest("tools/call");
  assert.deepEqual(Object.keys(third.params!).sort(), ["_meta", "arguments", "inputResponses", "name"]);
  peer.answer(third, { resultType: "complete", content: [] });
  assert.deepEqual((await call).content, []);
  assert.deepEqual(asked, [ELICIT.params, ELICIT.params]);
  await client.close();
});

test("Client asks again at once when there is only a state to echo (C11)", async () => {
  const { client, peer } = await meet();
  const call = client.request("tools/call", { name: "x" });
  peer.answer(await peer.take("tools/call"), wanted(undefined, { any: ["value", 0, null] }));
  const again = await peer.take("tools/call");
  assert.deepEqual(again.params?.requestState, { any: ["value", 0, null] });
  assert.ok(!("inputResponses" in again.params!));
  peer.answer(again, { content: [] });
  await call;
  await client.close();
});

test("Client gives the result as it is when there is no handler for it (C11)", async () => {
  const handled: InputHandlers = { "elicitation/create": () => ({ action: "decline" }) };
  const cases = [
    [{}, { a: ELICIT }],
    [handled, { a: ELICIT, b: { method: "sampling/createMessage", params: {} } }],
    [handled, { a: { method: 5 } }],
    [handled, { a: null }],
    [handled, "nonsense"],
    [handled, { a: { method: "toString" } }],
  ] as const;
  for (const [inputHandlers, inputRequests] of cases) {
    const { client, peer } = await meet({ inputHandlers });
    const call = client.request("tools/call", { name: "x" });
    peer.answer(await peer.take("tools/call"), wanted(inputRequests, "s"));
    assert.deepEqual(await call, wanted(inputRequests, "s"));
    await client.close();
  }
});

test("Client asks again ten times and no more (C11)", async () => {
  const { client, peer } = await meet({
    inputHandlers: { "elicitation/create": () => ({ action: "cancel" }) },
  });
  const call = outcomeOf(client.request("tools/call", { name: "x" }));
  for (let round = 0; round <= 10; round++) {
    peer.answer(await peer.take("tools/call"), wanted({ a: ELICIT }));
  }
  assert.equal((await call).error?.code, "invalid_response");
  await settle();
  assert.equal(peer.methods.filter((method) => method === "tools/call").length, 11);
  await client.close();
});

test("Client rejects with what a handler throws (C11)", async () => {
  for (
    const fail of [() => Promise.reject(new Error("mine")), () => {
      throw new Error("mine");
    }]
  ) {
    const { client, peer, clock } = await meet({ inputHandlers: { "elicitation/create": fail } });
    const call = outcomeOf(client.request("tools/call", { name: "x" }));
    peer.answer(await peer.take("tools/call"), wanted({ a: ELICIT }));
    assert.equal((await call).error?.message, "mine");
    await client.close();
    assert.equal(clock.pendingTimers, 0);
  }
});

test("Client lets no time of a call pass while input is gathered (XB4, C4, C11)", async () => {
  const gates: Array<() => void> = [];
  const handler = () =>
    new Promise<ElicitResult>((resolve) => gates.push(() => resolve({ action: "accept" })));
  const { client, peer, clock } = await meet({ inputHandlers: { "elicitation/create": handler } });
  const asked: string[] = [];
  const limits = { idle: { timeoutMs: 1_000 }, total: { timeoutMs: 1_000, maxTimeoutMs: 1_500 } };
  for (const [kind, options] of Object.entries(limits)) {
    const call = outcomeOf(client.request("tools/call", { name: kind }, options));
    for (let round = 0; round < 2; round++) {
      await clock.advance(700);
      peer.answer(await peer.take("tools/call"), wanted({ a: ELICIT }));
      await clock.advance(5_000_000);
      gates.pop()!();
      await settle();
    }
    asked.push(kind);
    await peer.take("tools/call");
    // The idle time has begun anew, and the whole has gone on where it stood.
    await clock.advance(kind === "idle" ? 999 : 99);
    assert.equal(await stateOf(call), "pending");
    await clock.advance(1);
    assert.equal((await call).error?.kind, kind);
  }
  assert.equal(asked.length, 2);
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client lets a request be given up, and be closed, while input is gathered (C4, C11)", async () => {
  const gates: Array<() => void> = [];
  const handler = () =>
    new Promise<ElicitResult>((resolve) => gates.push(() => resolve({ action: "accept" })));
  const { client, peer } = await meet({ inputHandlers: { "elicitation/create": handler } });
  const controller = new AbortController();
  const aborted = outcomeOf(client.request("tools/call", { name: "1" }, { signal: controller.signal }));
  const closed = outcomeOf(client.request("tools/call", { name: "2" }));
  for (let n = 0; n < 2; n++) peer.answer(await peer.take("tools/call"), wanted({ a: ELICIT }));
  await settle();
  controller.abort("enough");
  assert.equal((await aborted).error, "enough");
  // The person answers all the same: nobody wants to know any more.
  gates[0]!();
  await settle();
  assert.equal(peer.methods.length, 3);
  await client.close();
  assert.equal((await closed).error?.code, "connection_closed");
  for (const open of gates) open();
  await settle();
  assert.equal(peer.methods.length, 3);
});

test("Client holds no timer for a call that was given up before a person answered (C9, C11)", async () => {
  const gate = createDeferred<ElicitResult>();
  const { client, peer, clock } = await meet({
    inputHandlers: { "elicitation/create": () => gate.promise },
  });
  const controller = new AbortController();
  const call = outcomeOf(client.request("tools/call", { name: "x" }, { signal: controller.signal }));
  peer.answer(await peer.take("tools/call"), wanted({ a: ELICIT }));
  await settle();
  controller.abort("enough");
  await call;
  gate.resolve({ action: "accept" });
  await clock.advance(1_000);
  assert.equal(clock.pendingTimers, 0);
  await client.close();
});

test("Client goes on with a round of input after a restart (C11, P8)", async () => {
  const gate = createDeferred<ElicitResult>();
  const { client, peers, runtime, clock } = await inhabit(undefined, {
    inputHandlers: { "elicitation/create": () => gate.promise },
  });
  const call = client.request("tools/call", { name: "x" });
  peers[0]!.answer(await peers[0]!.take("tools/call"), wanted({ a: ELICIT }, "state"));
  await settle();
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  gate.resolve({ action: "accept" });
  const request = await peers[1]!.takeRequest("tools/call");
  assert.equal(request.params?.requestState, "state");
  peers[1]!.answer(request, { content: [] });
  await call;
  await client.close();
});

// The legacy era: the server asks by requests of its own.

test("Client answers a legacy server's requests by the same handlers, and ping always (C11)", async () => {
  const { client, peer, log } = await meet({
    legacy: true,
    inputHandlers: {
      "elicitation/create": ({ message }) => ({ action: "accept", content: { message } }),
      "roots/list": () => Promise.reject(new ProtocolError(-32000, "not now", { later: true })),
      "sampling/createMessage": () => Promise.reject(new Error("a secret")),
    },
  });
  peer.send(
    { id: "s1", method: "ping" },
    { id: 0, method: "elicitation/create", params: { message: "hi" } },
    { id: 1, method: "roots/list" },
    { id: 2, method: "sampling/createMessage", params: {} },
    { id: 3, method: "no/such" },
    { id: 4, method: "toString" },
  );
  peer.write(`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}\n`);
  await settle();
  const responses = peer.received.filter(({ method }) => method === undefined);
  assert.equal(responses.length, 7);
  const answers = new Map(responses.map(({ id, result, error }) => [id as unknown, result ?? error]));
  assert.ok(peer.lines.includes(`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`));
  assert.deepEqual(answers.get("s1"), {});
  assert.deepEqual(answers.get(0), { action: "accept", content: { message: "hi" } });
  assert.deepEqual(answers.get(1), { code: -32000, message: "not now", data: { later: true } });
  assert.deepEqual(answers.get(2), { code: -32603, message: "Internal error" });
  assert.deepEqual(answers.get(3), { code: -32601, message: "Method not found: no/such" });
  assert.deepEqual(answers.get(4), { code: -32601, message: "Method not found: toString" });
  assert.deepEqual(log.of("error"), [
    '[mcp_router] the handler of "sampling/createMessage" has failed: a secret',
  ]);
  await client.close();
});

test("Client answers a legacy server's ping before the handshake is through (C11)", async () => {
  const { client, peers } = await inhabit(async (peer) => {
    await Promise.resolve();
    (async () => {
      peer.refuse(await peer.take("server/discover"), -32601);
      const { id } = await peer.take("initialize");
      peer.send({ id: "p", method: "ping" });
      assert.deepEqual((await peer.take()).result, {});
      peer.answer({ id: id! }, {
        protocolVersion: "2025-11-25",
        capabilities: {},
        serverInfo: { name: "s", version: "1" },
      });
    })();
  });
  assert.equal(client.era, "legacy");
  assert.equal(peers.length, 1);
  await client.close();
});

test("Client does not answer what a legacy server has cancelled (C11)", async () => {
  const gate = createDeferred<ElicitResult>();
  const { client, peer } = await meet({
    legacy: true,
    inputHandlers: { "elicitation/create": () => gate.promise },
  });
  peer.send({ id: 1, method: "elicitation/create" }, {
    method: "notifications/cancelled",
    params: { requestId: 1 },
  });
  await settle();
  gate.resolve({ action: "accept" });
  await settle();
  assert.deepEqual(peer.methods.slice(-1), ["notifications/initialized"]);
  await client.close();
});

test("Client never gives an answer for one process to another under the same id (C11, P8)", async () => {
  const gates = [createDeferred<object>(), createDeferred<object>()];
  let asked = 0;
  const { client, peers, runtime, clock } = await inhabit((peer) => void peer.initialize(), {
    inputHandlers: {
      "elicitation/create": () => gates[asked++]!.promise as Promise<ElicitResult>,
    },
  });
  peers[0]!.send({ id: 1, method: "elicitation/create" });
  await settle();
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  peers[1]!.send({ id: 1, method: "elicitation/create" });
  await settle();
  gates[0]!.resolve({ for: "the first" });
  await settle();
  gates[1]!.resolve({ for: "the second" });
  await settle();
  assert.deepEqual(
    peers[1]!.received.filter(({ result }) => result !== undefined).map(({ result }) => result),
    [
      { for: "the second" },
    ],
  );
  await client.close();
});

test("Client never answers a request of a modern server, and warns (C11, S2-17)", async () => {
  const { client, peer, log } = await meet({
    inputHandlers: { "elicitation/create": () => ({ action: "accept" }) },
  });
  peer.send({ id: 7, method: "elicitation/create" }, { id: "x", method: "ping" });
  await settle();
  assert.deepEqual(peer.methods, ["server/discover"]);
  assert.deepEqual(log.lines.map(({ level, message, facts }) => [level, message, facts.id]), [
    ["warn", "[mcp_router] dropped a frame: a request of the server", "7"],
    ["warn", "[mcp_router] dropped a frame: a request of the server", '"x"'],
  ]);
  await client.close();
});

test("Client reads the batches of a legacy server (C11, V8)", async () => {
  const seen: string[] = [];
  const { client, peer } = await meet({ legacy: true, onNotification: (method) => void seen.push(method) });
  const calls = [client.request("tools/list"), client.request("tools/list")];
  const ids = [(await peer.take("tools/list")).id, (await peer.take("tools/list")).id];
  const batch = [
    { jsonrpc: "2.0", id: ids[1], result: { tools: [] } },
    { jsonrpc: "2.0", method: "notifications/x" },
    { jsonrpc: "2.0", id: "p", method: "ping" },
    { jsonrpc: "2.0", id: ids[0], result: { tools: [] } },
    7,
  ];
  peer.write(JSON.stringify(batch) + "\n");
  await Promise.all(calls);
  assert.deepEqual((await peer.take()).result ?? (await peer.take()).result, {});
  assert.deepEqual(seen, ["notifications/x"]);
  await client.close();
});

test("Client sets the level of a legacy server's log messages, again after a restart (C11)", async () => {
  const greeting = { capabilities: { logging: {} } };
  const { client, peers, runtime, clock } = await inhabit((peer) => void peer.initialize(greeting), {
    logLevel: "warning",
  });
  for (const index of [0, 1]) {
    const { params } = await peers[index]!.takeRequest("logging/setLevel");
    assert.deepEqual(params, { level: "warning" });
    if (index === 0) runtime.processes[0]!.exit({ code: 1 });
    await clock.advance(1_000);
  }
  await client.close();
  const modern = await meet({ logLevel: "warning" });
  modern.client.request("tools/list");
  const { params } = await modern.peer.takeRequest("tools/list");
  assert.equal((params?._meta as Params)[MetaKey.logLevel], "warning");
  await modern.client.close();
});

test("Client withdraws what a server has asked that cannot be greeted (C11)", async () => {
  const [here, there] = createStreamPair();
  const peer = new Peer(there);
  const clock = new FakeClock();
  let signal: AbortSignal | undefined;
  const connecting = outcomeOf(Client.connect(here, {
    era: "legacy",
    clock,
    logger: silentLogger,
    inputHandlers: {
      "elicitation/create": (_params, context) => {
        signal = context.signal;
        return new Promise(() => {});
      },
    },
  }));
  await peer.take("initialize");
  peer.send({ id: "q", method: "elicitation/create", params: { message: "?" } });
  await settle();
  assert.equal(signal?.aborted, false);
  await clock.advance(60_000);
  assert.equal((await connecting).error?.code, "negotiation_timeout");
  assert.equal(signal?.aborted, true);
  assert.equal(clock.pendingTimers, 0);
});
