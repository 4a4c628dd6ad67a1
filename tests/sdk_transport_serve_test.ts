// serve() with a factory of one of the SDKs' servers: what belongs to the process, and the options (rule K3).
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../server.ts";
import { createFakeRuntime, createStreamPair } from "../testing.ts";
import { FakeV1, FakeV2 } from "./sdk_transport_fakes.ts";
import { RawClient, serveSdkInMemory } from "./sdk_transport_helpers.ts";
import { call, FakeClock, initialize, LogSink, modern, notification } from "./server_helpers.ts";

test("serve() owns the process: the guard, signals, uncaught errors and the linger of a server of ours (K3, V14, V15)", async () => {
  for (const how of ["eof", "signal", "uncaught_error"] as const) {
    const [here, stdio] = createStreamPair();
    const lingers: number[] = [];
    let guards = 0;
    const runtime = Object.assign(createFakeRuntime({ stdio }), {
      guardStdout: () => (guards++, () => {}),
      ifStillAlive: (ms: number) => void lingers.push(ms),
    });
    const clock = new FakeClock();
    const ends: string[] = [];
    const server = new FakeV2();
    const serving = serve(() => server, {
      drainTimeoutMs: 500,
      onClose: ({ reason }) => void ends.push(reason),
      runtime,
      logger: new LogSink(),
      clock,
    });
    const ended = serving.then(({ reason }) => reason, (error) => String(error));
    const client = new RawClient(here);
    client.send(call(1, "x"), modern(2, "wait"));
    await client.transcript.response(1);
    assert.equal(guards, 1);
    if (how === "eof") {
      client.end();
      await clock.advance(500);
    } else if (how === "signal") runtime.raise("SIGTERM");
    else runtime.throwUncaught(new Error("on fire"));
    assert.match(await ended, how === "uncaught_error" ? /ended with code 1/ : new RegExp(`^${how}$`));
    const expected = how === "uncaught_error" ? "Internal error" : "Server is shutting down";
    assert.equal(client.transcript.responsesTo(2)[0]!.error!.message, expected);
    assert.deepEqual([ends, server.closes], [[how], 1]);
    assert.deepEqual(lingers, how === "uncaught_error" ? [] : [how === "eof" ? 1_000 : 500]);
  }
});

test("serve() takes the era, the limits and the guard of a factory's servers from its options (K3, V2, V7)", async () => {
  const [here, stdio] = createStreamPair();
  let guards = 0;
  const runtime = Object.assign(createFakeRuntime({ stdio }), { guardStdout: () => (guards++, () => {}) });
  const log = new LogSink();
  const limits = { maxLineBytes: 1_000 };
  const serving = serve(() => new FakeV2(), {
    ...{ legacy: "reject", guardStdout: false, logger: log, runtime, limits, clock: new FakeClock() },
  });
  const client = new RawClient(here);
  client.send(initialize(1), call(2, "x"), call(3, "x", { fill: "y".repeat(1_000) }));
  assert.equal((await client.transcript.response(1)).error!.code, -32022);
  assert.equal((await client.transcript.response(2)).error, undefined);
  assert.equal((await client.transcript.response(3)).error!.code, -32600);
  client.end();
  assert.equal((await serving).reason, "eof");
  assert.equal(guards, 0);
  assert.match(log.texts("warn").join(), /mcp_router/);
  for (const wrong of [{ drainTimeoutMs: -1 }, { lingerMs: NaN }, { limits: { maxInFlightRequests: 0 } }]) {
    await assert.rejects(serve(() => new FakeV2(), { runtime, ...wrong }), { name: "RangeError" });
  }
});

test("serve() closes also a server that was made for an era it does not know (K3)", async (t) => {
  const server = new FakeV1();
  const { client, running } = serveSdkInMemory(t, () => server);
  client.send(modern(1, "server/discover"));
  assert.equal((await client.transcript.response(1)).error!.code, -32601);
  assert.equal(server.transport, undefined);
  client.end();
  await running;
  assert.equal(server.closeCalls, 1);
});

test("serve() lets a server that has closed itself say nothing more (K3, K2)", async (t) => {
  const server = new FakeV2();
  const { client, running } = serveSdkInMemory(t, () => server);
  client.send(call(1, "wait"), call(2, "x"));
  await client.transcript.response(2);
  await server.close();
  await assert.rejects(server.send(notification("notifications/x")), { code: -32000 });
  assert.equal((await running).reason, "closed");
});
