import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtocolError, RequestTimeoutError } from "../errors.ts";
import { MetaKey, type Params } from "../messages.ts";
import { meet, outcomeOf, settle } from "./_client_peer.ts";
import { showUnhandledRejections, stateOf } from "./helpers.ts";

const META = {
  [MetaKey.protocolVersion]: "2026-07-28",
  [MetaKey.clientInfo]: { name: "cli", version: "0.1.0" },
  [MetaKey.clientCapabilities]: {},
};
const INFO = { name: "cli", version: "0.1.0" };

test("Client sends the protocol's facts with every modern request (C1)", async () => {
  const { client, peer } = await meet({ info: INFO });
  assert.deepEqual(peer.received[0]?.params, { _meta: META });
  client.request("tools/list");
  client.request("tools/list", { cursor: "2" });
  client.request("prompts/get", { name: "p", _meta: { "x.example/trace": 7 } });
  assert.deepEqual((await peer.take("tools/list")).params, { _meta: META });
  assert.deepEqual((await peer.take("tools/list")).params, { cursor: "2", _meta: META });
  assert.deepEqual((await peer.take("prompts/get")).params, {
    name: "p",
    _meta: { ...META, "x.example/trace": 7 },
  });
  await client.close();
});

test("Client writes the frame of the tutorial and its cancellation, and nothing else (C1, S2-24, S2-26)", async () => {
  const { client, peer } = await meet({ info: { name: "ExampleClient", version: "1.0.0" } });
  const controller = new AbortController();
  const call = client.request("tools/call", { name: "get_weather", arguments: { city: "Bangkok" } }, {
    signal: controller.signal,
  });
  const sent = await peer.take("tools/call");
  assert.deepEqual(sent, {
    jsonrpc: "2.0",
    id: sent.id,
    method: "tools/call",
    params: {
      name: "get_weather",
      arguments: { city: "Bangkok" },
      _meta: { ...META, [MetaKey.clientInfo]: { name: "ExampleClient", version: "1.0.0" } },
    },
  });
  controller.abort("user clicked stop");
  await assert.rejects(call, (error) => error as unknown === "user clicked stop");
  assert.deepEqual(await peer.take(), {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: sent.id, reason: "user clicked stop" },
  });
  await client.close();
});

test("Client sends a token when a callback is to hear something or progress moves the timeout, and only then (C1, XF9)", async () => {
  const { client, peer } = await meet();
  const metaOf = async () => (await peer.take("tools/call")).params!._meta as Params;
  const call = (options: object) => void client.request("tools/call", { name: "x" }, options);
  call({});
  assert.equal((await metaOf()).progressToken, undefined);
  call({ onProgress: () => {} });
  assert.equal((await metaOf()).progressToken, peer.received.at(-1)?.id);
  call({ resetTimeoutOnProgress: true });
  assert.equal((await metaOf()).progressToken, peer.received.at(-1)?.id);
  for (const name of ["onLog", "onNotification"]) {
    call({ [name]: () => {} });
    assert.equal((await metaOf()).progressToken, peer.received.at(-1)?.id);
  }
  call({ logLevel: "debug" });
  assert.equal((await metaOf())[MetaKey.logLevel], "debug");
  await client.close();
});

test("Client sends a legacy server no modern facts (C1)", async () => {
  const { client, peer } = await meet({ legacy: true });
  client.request("tools/list");
  client.request("tools/list", { cursor: "2" }, { onProgress: () => {} });
  assert.equal((await peer.take("tools/list")).params, undefined);
  const { id, params } = await peer.take("tools/list");
  assert.deepEqual(params, { cursor: "2", _meta: { progressToken: id } });
  await client.close();
});

test("Client never uses an id twice (C1)", async () => {
  const { client, peer } = await meet();
  for (let round = 0; round < 20; round++) {
    const controller = new AbortController();
    const call = outcomeOf(client.request("tools/list", {}, { signal: controller.signal }));
    const request = await peer.take("tools/list");
    if (round % 3 === 0) peer.answer(request);
    else if (round % 3 === 1) peer.refuse(request, -1);
    else controller.abort();
    await call;
  }
  const ids = peer.received.filter(({ id }) => id !== undefined).map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  await client.close();
});

test("Client settles each request with the response of its id and type, in any order (C2)", async () => {
  const { client, peer, log } = await meet();
  const calls = Array.from({ length: 100 }, (_, n) => client.request("tools/call", { name: String(n) }));
  const requests = await Promise.all(calls.map(() => peer.takeRequest("tools/call")));
  const first = requests[0]!;
  // The same digits as a string, and ids of nothing, settle nobody.
  peer.send({ id: String(first.id), result: {} }, { id: "", result: {} }, {
    id: 1e6,
    error: { code: 7, message: "s" },
  });
  assert.equal(await stateOf(calls[0]!), "pending");
  for (const request of requests.toReversed()) peer.answer(request, { told: request.params!.name });
  for (const [n, call] of calls.entries()) assert.equal((await call).told, String(n));
  // A second answer is one to nothing.
  peer.answer(first, { told: "again" });
  await settle();
  assert.deepEqual(log.lines.map(({ level, message, facts }) => [level, message, facts]), [
    ["warn", "[mcp_router] dropped a frame: nothing is in flight under its id", { id: `"${first.id}"` }],
    ["warn", "[mcp_router] dropped a frame: nothing is in flight under its id", { id: '""' }],
    ["warn", "[mcp_router] dropped a frame: nothing is in flight under its id", { id: "1000000", code: 7 }],
    ["warn", "[mcp_router] dropped a frame: nothing is in flight under its id", { id: String(first.id) }],
  ]);
  await client.close();
});

test("Client rejects with the error of the server (C2)", async () => {
  const { client, peer } = await meet();
  const call = outcomeOf(client.request("tools/call", { name: "x" }));
  peer.refuse(await peer.take("tools/call"), -32602, "Unknown tool", { tool: "x" });
  const { error } = await call;
  assert.ok(error instanceof ProtocolError);
  assert.deepEqual([error.code, error.message, error.data], [-32602, "Unknown tool", { tool: "x" }]);
  await client.close();
});

const TIMEOUTS: ReadonlyArray<
  [what: string, options: object, progressMs: number, at: number, limit: number, kind: string]
> = [
  ["after the default (B66)", {}, 0, 60_000, 60_000, "idle"],
  ["after its own time", { timeoutMs: 300 }, 0, 300, 300, "idle"],
  ["whatever progress comes, without being told to wait on", { timeoutMs: 300 }, 100, 300, 300, "idle"],
  ["when progress stops", { timeoutMs: 300, resetTimeoutOnProgress: true }, 0, 300, 300, "idle"],
  [
    "in all, however much progress comes (B68)",
    { timeoutMs: 300, maxTimeoutMs: 1_000, resetTimeoutOnProgress: true },
    100,
    1_000,
    1_000,
    "total",
  ],
  [
    "in all, when the idle time is longer (B68)",
    { timeoutMs: 5_000, maxTimeoutMs: 500 },
    0,
    500,
    500,
    "total",
  ],
  ["in all, without an idle time", { timeoutMs: Infinity }, 0, 600_000, 600_000, "total"],
  [
    "in all, when both are the same",
    { timeoutMs: 400, maxTimeoutMs: 400, resetTimeoutOnProgress: true },
    100,
    400,
    400,
    "total",
  ],
];

for (const [what, options, progressMs, at, limit, kind] of TIMEOUTS) {
  test(`Client gives a request up ${what} (C4)`, async () => {
    const { client, peer, clock } = await meet();
    const call = outcomeOf(client.request("tools/call", { name: "x" }, options));
    const { id } = await peer.take("tools/call");
    const report = () =>
      peer.send({ method: "notifications/progress", params: { progressToken: id, progress: clock.now() } });
    const step = progressMs === 0 ? at - 1 : progressMs;
    while (clock.now() + step < at) {
      await clock.advance(step);
      if (progressMs > 0) report();
      await settle();
    }
    await clock.advance(at - 1 - clock.now());
    assert.equal(await stateOf(call), "pending");
    await clock.advance(1);
    const { error } = await call;
    assert.ok(error instanceof RequestTimeoutError);
    assert.deepEqual([error.method, error.timeoutMs, error.kind], ["tools/call", limit, kind]);
    const cancellation = await peer.take("notifications/cancelled");
    assert.deepEqual(cancellation.params, { requestId: id, reason: "timeout" });
    await client.close();
    assert.equal(clock.pendingTimers, 0);
  });
}

test("Client waits on as long as progress comes, also without a callback (C4, B67)", async () => {
  const { client, peer, clock } = await meet();
  const call = client.request("tools/call", { name: "x" }, { timeoutMs: 300, resetTimeoutOnProgress: true });
  const request = await peer.take("tools/call");
  const { progressToken } = request.params!._meta as Params;
  for (let progress = 1; progress <= 10; progress++) {
    await clock.advance(150);
    peer.send({ method: "notifications/progress", params: { progressToken, progress } });
    await settle();
  }
  peer.answer(request, { done: true });
  assert.equal((await call).done, true);
  await client.close();
});

test("Client does not wait on for progress of an unknown token (C4, B68)", async () => {
  const { client, peer, clock } = await meet();
  const call = outcomeOf(
    client.request("tools/call", { name: "x" }, { timeoutMs: 300, resetTimeoutOnProgress: true }),
  );
  const { id } = await peer.take("tools/call");
  await clock.advance(200);
  for (const progressToken of [String(id), 99, ""]) {
    peer.send({ method: "notifications/progress", params: { progressToken, progress: 1 } });
  }
  await settle();
  await clock.advance(100);
  assert.ok((await call).error instanceof RequestTimeoutError);
  await client.close();
});

test("Client cancels a request that timed out exactly once (C4)", async () => {
  const { client, peer, clock } = await meet();
  const controller = new AbortController();
  const call = outcomeOf(client.request("tools/list", {}, { timeoutMs: 100, signal: controller.signal }));
  const request = await peer.take("tools/list");
  await clock.advance(100);
  await call;
  controller.abort();
  await clock.advance(600_000);
  assert.deepEqual(peer.methods.slice(1), ["tools/list", "notifications/cancelled"]);
  // What comes for it now is nobody's (B64).
  peer.refuse(request, -32800, "cancelled");
  peer.answer(request);
  peer.send({ method: "notifications/progress", params: { progressToken: request.id, progress: 1 } });
  const next = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  assert.deepEqual((await next).tools, []);
  await client.close();
});

test("Client warns of a late frame, and tells it from one that nobody asked for (C4, S1-70, B64)", async () => {
  const { client, peer, log } = await meet();
  const controller = new AbortController();
  const call = outcomeOf(client.request("tools/list", {}, { signal: controller.signal }));
  const request = await peer.take("tools/list");
  controller.abort();
  await call;
  peer.refuse(request, -1);
  peer.answer(request);
  peer.send({ method: "notifications/progress", params: { progressToken: request.id, progress: 1 } });
  peer.answer({ id: 99 });
  await settle();
  assert.deepEqual(log.lines.map(({ level, facts }) => [level, facts.id]), [
    ["warn", String(request.id)],
    ["warn", String(request.id)],
    ["warn", String(request.id)],
    ["warn", "99"],
  ]);
  assert.deepEqual(log.of("warn").map((message) => /late/.test(message)), [true, true, true, false]);
  await client.close();
});

test("Client rejects an aborted request with the signal's own reason (C4)", async () => {
  const { client, peer } = await meet();
  const longest = "é".repeat(512);
  for (const reason of [new Error("mine"), "text", 0, null, longest, `${longest}!`]) {
    const controller = new AbortController();
    const call = client.request("tools/list", {}, { signal: controller.signal });
    const { id } = await peer.take("tools/list");
    controller.abort(reason);
    await assert.rejects(call, (error) => error === reason);
    const { params } = await peer.take("notifications/cancelled");
    // The text of an error is not the server's business, nor is a long one.
    const isTold = reason === "text" || reason === longest;
    assert.deepEqual(params, isTold ? { requestId: id, reason } : { requestId: id });
  }
  const sent = peer.received.length;
  const reason = new Error("before");
  await assert.rejects(
    client.request("tools/list", {}, { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
  await settle();
  assert.equal(peer.received.length, sent);
  await client.close();
});

test("Client writes neither a request that is aborted in the queue nor its cancellation (C4)", async () => {
  const { client, peer } = await meet();
  peer.stopReading();
  await client.notify("notifications/roots/list_changed");
  // Fills the pipe, so that what follows stays in the queue.
  const large = client.request("tools/call", { name: "large", arguments: { text: "x".repeat(2_000_000) } });
  await settle();
  const controller = new AbortController();
  const calls = [1, 2, 3].map((n) =>
    outcomeOf(client.request("tools/call", { name: String(n) }, n === 2 ? { signal: controller.signal } : {}))
  );
  controller.abort("gone");
  assert.equal((await calls[1]!).error, "gone");
  peer.goOnReading();
  const names = [];
  for (let n = 0; n < 3; n++) {
    const request = await peer.takeRequest("tools/call");
    names.push(request.params?.name);
    peer.answer(request);
  }
  assert.deepEqual(names, ["large", "1", "3"]);
  assert.ok(!peer.methods.includes("notifications/cancelled"));
  await Promise.all([large, calls[0], calls[2]]);
  await client.close();
});

test("Client finishes a frame that has begun to leave, and cancels behind it (C4)", async () => {
  const { client, peer } = await meet();
  peer.stopReading();
  await client.notify("notifications/roots/list_changed");
  const controller = new AbortController();
  const call = outcomeOf(
    client.request("tools/call", { name: "large", arguments: { text: "x".repeat(500_000) } }, {
      signal: controller.signal,
    }),
  );
  await settle();
  controller.abort();
  await call;
  peer.goOnReading();
  const { id, params } = await peer.take("tools/call");
  assert.equal((params!.arguments as { text: string }).text.length, 500_000);
  assert.equal((await peer.take("notifications/cancelled")).params?.requestId, id);
  assert.deepEqual(peer.methods.slice(-2), ["tools/call", "notifications/cancelled"]);
  await client.close();
});

test("Client never cancels initialize, whoever makes it (C4)", async () => {
  const { client, peer } = await meet({ legacy: true });
  const controller = new AbortController();
  const call = outcomeOf(client.request("initialize", {}, { signal: controller.signal }));
  await peer.take("initialize");
  controller.abort();
  await call;
  await settle();
  assert.ok(!peer.methods.includes("notifications/cancelled"));
  await client.close();
});

test("Client refuses durations that are none, at once (C4)", async () => {
  const { client } = await meet();
  for (const timeoutMs of [-1, NaN, -Infinity]) {
    assert.throws(() => client.request("tools/list", {}, { timeoutMs }), RangeError);
    assert.throws(() => client.request("tools/list", {}, { maxTimeoutMs: timeoutMs }), RangeError);
  }
  await client.close();
});

test("Client lets frames leave in call order, and a notification resolve when it is taken (C8)", async () => {
  const { client, peer } = await meet();
  client.request("tools/call", { name: "1" });
  const told = client.notify("notifications/roots/list_changed");
  client.request("tools/call", { name: "2" });
  await told;
  await peer.take("notifications/roots/list_changed");
  assert.deepEqual(peer.methods, [
    "server/discover",
    "tools/call",
    "notifications/roots/list_changed",
    "tools/call",
  ]);
  await client.close();
});

test("Client refuses what cannot be written, and goes on (C8, F10)", async () => {
  const { client, peer } = await meet({ limits: { maxLineBytes: 2_000 } });
  await assert.rejects(client.request("x", { text: "y".repeat(2_000) }), { code: "frame_too_long" });
  await assert.rejects(client.request("x", { big: 1n }), { code: "unserializable" });
  await assert.rejects(client.notify("x", { text: "y".repeat(2_000) }), { code: "frame_too_long" });
  const call = client.request("x");
  peer.answer(await peer.take("x"));
  await call;
  await client.close();
});

test("Client leaves no timer and no listener behind (C9)", async () => {
  const { client, peer, clock } = await meet();
  const controller = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = controller.signal;
  Object.assign(controller.signal, {
    addEventListener: (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(controller.signal, args);
    },
    removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(controller.signal, args);
    },
  });
  for (let round = 0; round < 10; round++) {
    const calls = Array.from(
      { length: 100 },
      () => client.request("tools/list", {}, { signal: controller.signal }),
    );
    for (const _ of calls) peer.answer(await peer.take("tools/list"), { tools: [] });
    await Promise.all(calls);
  }
  assert.equal(listeners, 0);
  // The one timer for deadlines finds nothing to wait for and goes.
  await clock.advance(1_000);
  assert.equal(clock.pendingTimers, 0);
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client listens once to a signal, however many calls are given it (XF16, C4)", async () => {
  const { client, peer } = await meet();
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const count = (step: number) => (...args: Parameters<AbortSignal["addEventListener"]>) => {
    if (args[0] === "abort") listeners += step;
  };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<AbortSignal["addEventListener"]>) => {
    count(1)(...args);
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<AbortSignal["removeEventListener"]>) => {
    count(-1)(...args);
    removeEventListener.apply(signal, args);
  };
  const calls = Array.from({ length: 100 }, () => outcomeOf(client.request("tools/list", {}, { signal })));
  const listening = Array.from({ length: 20 }, () => client.request("tools/list", {}, { signal }));
  assert.equal(listeners, 1);
  const requests = [];
  for (const _call of [...calls, ...listening]) requests.push(await peer.take("tools/list"));
  for (const request of requests.slice(-20)) peer.answer(request, { tools: [] });
  await Promise.all(listening);
  assert.equal(listeners, 1);
  controller.abort("enough");
  for (const { error } of await Promise.all(calls)) assert.equal(error, "enough");
  assert.equal(listeners, 0);
  await client.close();
});

test("Client does not listen to a signal any more when its calls are over (XF16, C9)", async () => {
  const { client, peer } = await meet();
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<AbortSignal["addEventListener"]>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<AbortSignal["removeEventListener"]>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  for (let round = 0; round < 3; round++) {
    const call = client.request("tools/list", {}, { signal });
    peer.answer(await peer.take("tools/list"), { tools: [] });
    await call;
    assert.equal(listeners, 0);
  }
  await client.close();
});

test("Client raises no rejection that nobody observes (C9, B56)", async () => {
  const { client, peer, clock } = await meet();
  const controller = new AbortController();
  for (let n = 0; n < 5; n++) {
    client.request("tools/list", {}, { signal: controller.signal, timeoutMs: 10 * n });
  }
  client.notify("notifications/roots/list_changed");
  client.listen({ toolsListChanged: true });
  await settle();
  await clock.advance(25);
  controller.abort();
  peer.send({ id: null, error: { code: 1, message: "x" } });
  peer.end();
  await client.closed;
  client.request("tools/list");
  client.notify("notifications/roots/list_changed");
  await showUnhandledRejections();
});
