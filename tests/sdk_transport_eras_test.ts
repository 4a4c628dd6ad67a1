// Servers of the SDKs under serve(): an instance for each era, made when it is asked for (rule K3). The servers here only look like the
// SDKs'; tests/peers/ has the real ones.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { SdkServer, SdkTransport } from "../internal/sdk/sdk_shapes.ts";
import type { Era } from "../messages.ts";
import { stateOf } from "./helpers.ts";
import { FakeV1, FakeV2 } from "./sdk_transport_fakes.ts";
import { type SdkServed, type SdkServedOptions, serveSdkInMemory, settle } from "./sdk_transport_helpers.ts";
import { call, cancel, Gate, initialize, legacy, modern, notification } from "./server_helpers.ts";

interface Made extends SdkServed {
  /** The eras the factory was called for. */
  readonly eras: Era[];
  readonly made: FakeV2[];
}

function serve(
  t: TestContext,
  options: SdkServedOptions & { Class?: typeof FakeV1; wrapped?: boolean } = {},
): Made {
  const { Class = FakeV2, wrapped = false, ...rest } = options;
  const eras: Era[] = [];
  const made: FakeV2[] = [];
  const served = serveSdkInMemory(t, ({ era }) => {
    eras.push(era);
    const server = new Class() as FakeV2;
    made.push(server);
    // As McpServer is around Server.
    if (!wrapped) return server;
    return {
      server,
      connect: (transport: SdkTransport) => server.connect(transport),
      close: () => server.close(),
    };
  }, rest);
  return { ...served, eras, made };
}

for (const wrapped of [false, true]) {
  const who = wrapped ? "an McpServer" : "a Server";

  test(`serve() makes ${who} for each era when it is asked for, and gives each its requests (K3)`, async (t) => {
    const { client, eras, made } = serve(t, { wrapped });
    await settle();
    assert.deepEqual(eras, []);
    client.send(call(1, "x"));
    await client.transcript.response(1);
    assert.deepEqual(eras, ["modern"]);
    client.send(
      initialize(2),
      notification("notifications/initialized"),
      legacy(3, "tools/list"),
      call(4, "x"),
    );
    for (const id of [2, 3, 4]) await client.transcript.response(id);
    assert.deepEqual(eras, ["modern", "legacy"]);
    const [one, other] = made;
    assert.deepEqual(one!.methods, ["tools/call", "tools/call"]);
    assert.deepEqual(other!.methods, ["initialize", "notifications/initialized", "tools/list"]);
    assert.deepEqual(one!.extras[0], { classification: { era: "modern", revision: "2026-07-28" } });
    assert.equal(other!.extras[0], undefined);
  });
}

test("serve() gives an instance to the modern era as the SDK's own entry does (K3)", async (t) => {
  const { client, made } = serve(t);
  client.send(modern(1, "server/discover"), initialize(2));
  await client.transcript.response(2);
  const [one, other] = made;
  assert.equal(one!._negotiatedProtocolVersion, "2026-07-28");
  assert.deepEqual(one!._supportedProtocolVersions, ["2025-11-25", "2026-07-28"]);
  assert.deepEqual(one!.handlers, ["server/discover"]);
  assert.equal(other!._negotiatedProtocolVersion, undefined);
  assert.deepEqual(other!.handlers, []);
});

test("serve() takes a factory of SDK v1 for one of the legacy era, whichever era comes first (K3)", async (t) => {
  for (const modernFirst of [true, false]) {
    const { client, eras } = serve(t, { Class: FakeV1 });
    const requests = [modern(1, "server/discover"), initialize(2)];
    client.send(...modernFirst ? requests : requests.reverse(), call(3, "x"));
    for (const id of [1, 2, 3]) await client.transcript.response(id);
    assert.equal(client.transcript.responsesTo(1)[0]!.error!.code, -32601);
    const { error } = client.transcript.responsesTo(3)[0]!;
    assert.deepEqual([error!.code, error!.data.supported.includes("2025-11-25")], [-32022, true]);
    assert.equal(eras.length, 1, "one instance will do");
  }
});

test("serve() answers -32603 when the factory fails, tells why, and tries again (K3)", async (t) => {
  const failures: Array<() => SdkServer | Promise<SdkServer>> = [
    () => {
      throw new Error("thrown");
    },
    () => Promise.reject(new Error("rejected")),
    () => Object.assign(new FakeV2(), { connect: () => Promise.reject(new Error("not connected")) }),
  ];
  const { client, log } = serveSdkInMemory(t, () => failures.shift()?.() ?? new FakeV2());
  for (const id of [1, 2, 3, 4]) {
    client.send(id % 2 === 0 ? call(id, "x") : initialize(id));
    await client.transcript.response(id);
  }
  const codes = client.transcript.messages.map(({ error }) => error?.code);
  assert.deepEqual(codes, [-32603, -32603, -32603, undefined]);
  const told = log.entries.filter(({ level }) => level === "error")
    .map(({ details: [detail] }) => (detail as { error: Error }).error.message);
  assert.deepEqual(told, ["thrown", "rejected", "not connected"]);
});

test("serve() refuses a factory that gives the same server again (K3)", async (t) => {
  const only = new FakeV2();
  const { client, log } = serveSdkInMemory(t, () => only);
  client.send(initialize(1));
  await client.transcript.response(1);
  client.send(call(2, "x"), legacy(3, "tools/list"));
  assert.equal((await client.transcript.response(2)).error!.code, -32603);
  assert.deepEqual((await client.transcript.response(3)).result, { by: "legacy" });
  assert.equal(only._negotiatedProtocolVersion, undefined, "the one in use stays what it is");
  const told = log.entries.find(({ level }) => level === "error")!.details[0] as { error: Error };
  assert.match(told.error.message, /must make a new server/);
});

test("serve() keeps the order of what comes while a server is being made, and what is cancelled never reaches it (K3, V3)", async (t) => {
  const gate = new Gate();
  const server = new FakeV2();
  const { client } = serveSdkInMemory(t, async () => {
    await gate.opened;
    return server;
  });
  client.send(
    initialize(1),
    legacy(2, "wait"),
    notification("notifications/initialized"),
    legacy(3, "ping"),
    cancel(2),
  );
  await settle();
  assert.equal(client.transcript.messages.length, 0);
  gate.open();
  await client.transcript.response(3);
  assert.deepEqual(server.methods, [
    "initialize",
    "notifications/initialized",
    "ping",
    "notifications/cancelled",
  ]);
});

test("serve() holds only so many notifications while a server is being made (K3)", async (t) => {
  const gate = new Gate();
  const server = new FakeV2();
  const { client, log } = serveSdkInMemory(t, async () => {
    await gate.opened;
    return server;
  });
  client.send(
    initialize(1),
    ...Array.from({ length: 2_000 }, (_, n) => notification("notifications/n", { n })),
  );
  await settle();
  gate.open();
  await client.transcript.response(1);
  await settle();
  assert.equal(server.received.length, 1 + 1_024);
  assert.equal(log.texts("warn").length, 2_000 - 1_024);
});

test("serve() closes a server that is made too late, and answers who waited for it (K3, V11)", async (t) => {
  const gate = new Gate();
  const server = new FakeV2();
  let closes = 0;
  server.close = () => Promise.resolve(void closes++);
  const { client, clock, running } = serveSdkInMemory(t, async () => {
    await gate.opened;
    return server;
  }, { drainTimeoutMs: 500 });
  client.send(call(1, "x"));
  client.end();
  await clock.advance(500);
  assert.deepEqual(await running, { reason: "eof" });
  assert.match(client.transcript.responsesTo(1)[0]!.error!.message, /shutting down/);
  gate.open();
  await settle();
  assert.deepEqual([closes, server.received], [1, []]);
});

test("serve() judges requests without an envelope by the handshake, and leaves servers of SDK v1 as they are (V6, V8)", async (t) => {
  const dual = serve(t);
  dual.client.send(legacy(1, "tools/list"), legacy(2, "ping"), initialize(3), legacy(4, "tools/list"));
  for (const id of [1, 2, 3, 4]) await dual.client.transcript.response(id);
  const codes = [1, 2, 3, 4].map((id) => dual.client.transcript.responsesTo(id)[0]!.error?.code);
  assert.deepEqual(codes, [-32602, undefined, undefined, undefined]);
  const old = serve(t, { Class: FakeV1 });
  old.client.send(legacy(1, "tools/list"));
  assert.deepEqual((await old.client.transcript.response(1)).result, { by: "legacy" });
});

test("serve() with legacy: reject makes no server for a client that begins with initialize (V7)", async (t) => {
  const { client, eras } = serve(t, { legacy: "reject" });
  client.send(initialize(1), legacy(2, "ping"), notification("notifications/initialized"));
  const { error } = await client.transcript.response(1);
  assert.deepEqual([error!.code, error!.data], [-32022, {
    supported: ["2026-07-28"],
    requested: "2025-11-25",
  }]);
  assert.equal((await client.transcript.response(2)).error!.code, -32602);
  assert.deepEqual(eras, []);
});

test("serve() checks the envelope of every modern request (V6)", async (t) => {
  const { client, eras } = serve(t);
  client.send(
    modern(1, "x", {}, { "io.modelcontextprotocol/protocolVersion": "1999-01-01" }),
    modern(2, "x", {}, { "io.modelcontextprotocol/clientCapabilities": null }),
    modern(3, "x", {}, { "io.modelcontextprotocol/logLevel": "loud" }),
  );
  for (const [id, code] of [[1, -32022], [2, -32602], [3, -32602]] as const) {
    assert.equal((await client.transcript.response(id)).error!.code, code);
  }
  assert.deepEqual(eras, []);
});

test("serve() lets only servers of the legacy era ask, and gives them the answers (V8, K3)", async (t) => {
  const { client, made } = serve(t);
  client.send(initialize(1), call(2, "x"));
  for (const id of [1, 2]) await client.transcript.response(id);
  const old = made.find((server) => server._negotiatedProtocolVersion === undefined)!;
  const young = made.find((server) => server !== old)!;
  await old.send(legacy(0, "roots/list"));
  await assert.rejects(young.send(legacy(0, "roots/list")), {
    name: "TypeError",
    message: /no requests of the server/,
  });
  client.send({ jsonrpc: "2.0", id: 0, result: { roots: [] } });
  await settle();
  assert.deepEqual(old.received.at(-1), { jsonrpc: "2.0", id: 0, result: { roots: [] } });
  assert.equal(young.received.length, 1);
});

test("serve() sends publications of the modern server to listen streams only, of the legacy one as they are (V9)", async (t) => {
  const { client, made } = serve(t);
  const changed = notification("notifications/tools/list_changed");
  client.send(
    initialize(1),
    modern("a", "subscriptions/listen", { notifications: { toolsListChanged: true } }),
  );
  client.send(modern("b", "subscriptions/listen", { notifications: {} }));
  await client.transcript.response(1);
  await settle();
  client.send(call("b", "x"));
  assert.equal((await client.transcript.response("b")).error!.code, -32600, "the id is in flight");
  for (const server of made) await server.send(changed);
  await settle();
  const told = client.transcript.notifications("notifications/tools/list_changed").map(({ params }) =>
    params?._meta
  );
  assert.equal(told.length, 2);
  assert.ok(
    told.includes(undefined) && told.some((meta) => meta?.["io.modelcontextprotocol/subscriptionId"] === "a"),
  );
  assert.deepEqual(made.flatMap(({ methods }) => methods), ["initialize"], "no instance hears of listens");
});

test("serve() lets listen streams hold no permit, and has a limit for them (V2, V9)", async (t) => {
  const { client } = serve(t, { limits: { maxInFlightRequests: 1, maxListenStreams: 2 } });
  for (const id of ["a", "b", "c"]) client.send(modern(id, "subscriptions/listen", { notifications: {} }));
  client.send(call(1, "x"));
  await client.transcript.response(1);
  assert.equal(client.transcript.notifications("notifications/subscriptions/acknowledged").length, 2);
  assert.deepEqual((await client.transcript.response("c")).error, { code: -32603, message: "Server busy" });
});

test("serve() ends a listen stream that is cancelled in silence, also before it is acknowledged (V9)", async (t) => {
  const gate = new Gate();
  const server = new FakeV2();
  const { client, running } = serveSdkInMemory(t, async () => {
    await gate.opened;
    return server;
  });
  const filter = { notifications: { toolsListChanged: true } };
  client.send(
    modern("a", "subscriptions/listen", filter),
    modern("b", "subscriptions/listen", filter),
    cancel("a"),
  );
  await settle();
  gate.open();
  await settle();
  client.send(cancel("b"));
  await settle();
  await server.send(notification("notifications/tools/list_changed"));
  client.end();
  await running;
  assert.deepEqual(client.transcript.messages.map(({ method }) => method), [
    "notifications/subscriptions/acknowledged",
  ]);
});

test("serve() ends listen streams at the end with a result and a cancellation, before it awaits the rest (V11)", async (t) => {
  const { client, made, running } = serve(t);
  client.send(call(1, "x"), modern(7, "subscriptions/listen", { notifications: {} }), modern(2, "wait"));
  await client.transcript.response(1);
  await settle();
  client.end();
  await settle();
  await made[0]!.send({ jsonrpc: "2.0", id: 2, result: made[0]!.resultOf("wait") });
  assert.deepEqual(await running, { reason: "eof" });
  const [result, cancelled, last] = client.transcript.messages.slice(-3);
  const meta = {
    "io.modelcontextprotocol/serverInfo": made[0]!._serverInfo,
    "io.modelcontextprotocol/subscriptionId": 7,
  };
  assert.deepEqual([result!.id, result!.result], [7, { resultType: "complete", _meta: meta }]);
  assert.deepEqual(cancelled!.params, { requestId: 7, reason: "server shutdown" });
  assert.equal(last!.id, 2);
});

test("serve() awaits requests in flight, then closes the servers and answers for them (V11)", async (t) => {
  const { client, clock, made, running } = serve(t, { drainTimeoutMs: 500 });
  client.send(call(1, "x"), modern(2, "wait"));
  await client.transcript.response(1);
  let answersThen = -1;
  const { onclose } = made[0]!.transport!;
  made[0]!.transport!.onclose = () => {
    onclose!();
    answersThen = client.transcript.responsesTo(2).length;
  };
  client.end();
  await clock.advance(499);
  assert.deepEqual([await stateOf(running), made[0]!.closes], ["pending", 0]);
  await clock.advance(1);
  assert.deepEqual(await running, { reason: "eof" });
  assert.match(client.transcript.responsesTo(2)[0]!.error!.message, /shutting down/);
  assert.deepEqual([made[0]!.closes, answersThen], [1, 0], "the signals of its handlers fire first");
  await assert.rejects(made[0]!.send(notification("notifications/x")), { code: -32000 });
});

test("serve() ends when one of its servers closes itself (K3)", async (t) => {
  const { client, made, running } = serve(t);
  client.send(call(1, "x"), initialize(2));
  for (const id of [1, 2]) await client.transcript.response(id);
  await made[0]!.close();
  assert.deepEqual(await running, { reason: "closed" });
  assert.deepEqual(made.map(({ closes }) => closes), [1, 1]);
});

test("serve() tells its servers of bad lines (V5)", async (t) => {
  const { client, made } = serve(t);
  client.send(call(1, "x"));
  await client.transcript.response(1);
  client.send("no json");
  await client.transcript.response(null);
  assert.match(made[0]!.errors[0]!.message, /not valid JSON/);
  made[0]!.transport!.onerror = () => {
    throw new Error("no");
  };
  client.send("no json", call(2, "x"));
  await client.transcript.response(2);
});

test("serve() writes nothing more for a request of either era that was cancelled (V3)", async (t) => {
  const { client, made } = serve(t);
  client.send(initialize(1), legacy(2, "wait"), modern(3, "wait"), legacy(4, "ping"), call(5, "x"));
  for (const id of [4, 5]) await client.transcript.response(id);
  client.send(cancel(2), cancel(3));
  await settle();
  const before = client.transcript.messages.length;
  for (const server of made) {
    for (const id of [2, 3]) {
      await server.send(notification("notifications/progress", { progressToken: 1, progress: 1 }), id);
      await server.send({ jsonrpc: "2.0", id, result: {} });
    }
    assert.equal(server.methods.filter((method) => method === "notifications/cancelled").length, 2);
  }
  await settle();
  assert.equal(client.transcript.messages.length, before);
});
