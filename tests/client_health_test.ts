// A server that hangs is found, and can be had anew (XF19).
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import type { ElicitResult } from "../methods.ts";
import { inhabit, meet, outcomeOf, type Peer, settle } from "./_client_peer.ts";
import { Script, untilGone, untilStopped } from "./_scripted_server.ts";
import { stateOf } from "./helpers.ts";
import { SLOW } from "./runtime_adapter/harness.ts";

test("Client.restart() ends the server in order and starts another, and that is no crash (XF19)", async () => {
  const { client, peers, runtime, clock, log, states } = await inhabit();
  const [list, call] = [
    client.request("tools/list"),
    outcomeOf(client.request("tools/call", { name: "x" })),
  ];
  await peers[0]!.take("tools/call");
  for (let restart = 1; restart <= 3; restart++) {
    const done = client.restart();
    assert.equal(client.state, "restarting");
    await done;
    assert.deepEqual([client.state, client.restartCount, runtime.processes.length], [
      "ready",
      restart,
      restart + 1,
    ]);
  }
  assert.equal(clock.now(), 0, "it was not held back");
  assert.deepEqual(client.exitStatus, { code: 0 });
  const { error } = await call;
  assert.deepEqual([error?.code, error?.reason, error?.sent], ["connection_closed", "local", true]);
  assert.match(error!.message, /the server has been restarted/);
  peers.at(-1)!.answer(await peers.at(-1)!.take("tools/list"), { tools: [] });
  await list;
  assert.deepEqual(log.of("warn"), []);
  assert.deepEqual(states.slice(0, 4), ["ready", "restarting", "ready", "restarting"]);
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client.restart() has the graces that it is given, for a server that hangs (XF19, P3)", async () => {
  const { client, runtime, clock } = await inhabit((peer, server) => {
    server.ignoresEndOfInput = true;
    server.ignoredSignals.add("SIGTERM");
    peer.discover().catch(() => {});
  });
  const done = client.restart({ shutdownGraceMs: 100, terminateGraceMs: 50 });
  await clock.advance(149);
  assert.equal(await stateOf(done), "pending");
  await clock.advance(1);
  await done;
  assert.equal(runtime.processes.length, 2);
  await client.kill();
});

test("Client.restart() starts a server also when none is started again that crashes (XF19, P8)", async () => {
  const { client, runtime } = await inhabit(undefined, { maxRestarts: 0 });
  await client.restart();
  assert.deepEqual([client.state, runtime.processes.length], ["ready", 2]);
  await client.close();
});

test("Client.restart() gives one new server to all who ask at once (XF19)", async () => {
  const { client, runtime } = await inhabit();
  await Promise.all([client.restart(), client.restart(), client.restart()]);
  assert.equal(runtime.processes.length, 2);
  await client.close();
});

test("Client.restart() waits for a restart that is under way (XF19)", async () => {
  const { client, runtime, clock } = await inhabit();
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(200);
  runtime.processes[1]!.exit({ code: 1 });
  await settle();
  assert.equal(client.state, "restarting");
  const done = client.restart();
  assert.equal(await stateOf(done), "pending");
  await clock.advance(1_000);
  await done;
  assert.equal(runtime.processes.length, 3);
  await client.close();
});

test("Client.restart() rejects when no server can be had, when the client is closed, and without a process (XF19)", async () => {
  const broken = await inhabit((peer, _process, index) => {
    if (index > 0) throw new Error("no such file");
    peer.discover();
  }, { maxRestarts: 1 });
  const failing = outcomeOf(broken.client.restart());
  await broken.clock.advance(10_000);
  const { error } = await failing;
  assert.deepEqual([error?.code, String(error?.cause)], ["connection_closed", "Error: no such file"]);
  assert.equal(broken.client.state, "closed");
  assert.equal((await outcomeOf(broken.client.restart())).error?.code, "connection_closed");

  const { client } = await inhabit();
  const cut = outcomeOf(client.restart());
  await client.close();
  assert.match((await cut).error!.message, /Cannot complete "restart": the client was closed/);

  const streams = await meet();
  await assert.rejects(streams.client.restart(), TypeError);
  await streams.client.close();
});

for (const era of ["modern", "legacy"] as const) {
  const sign = era === "modern" ? "server/discover" : "ping";

  test(`Client starts a ${era} server anew that gives no sign of life (XF19)`, async () => {
    const greet = (peer: Peer) =>
      void (era === "modern" ? peer.discover() : peer.initialize()).catch(() => {});
    const { client, peers, runtime, clock, log } = await inhabit(greet, { healthCheckMs: 1_000 });
    const call = outcomeOf(client.request("tools/call", { name: "x" }));
    await peers[0]!.take("tools/call");
    // It is asked only when it has been silent, and any answer is a sign of life.
    for (const answer of [{ result: {} }, { error: { code: -32601, message: "no" } }]) {
      await clock.advance(1_000);
      const { id } = await peers[0]!.take(sign);
      peers[0]!.send({ id, ...answer });
      await settle();
    }
    for (let n = 0; n < 10; n++) {
      await clock.advance(900);
      peers[0]!.write("still here\n");
      await settle();
    }
    const asked = () => peers[0]!.methods.filter((method) => method === sign).length;
    const before = asked();
    for (let n = 0; n < 4 && asked() === before; n++) await clock.advance(500);
    assert.equal(asked(), before + 1);
    assert.equal(await stateOf(call), "pending");
    await clock.advance(1_000);
    const { error } = await call;
    assert.deepEqual([error?.code, error?.reason], ["connection_closed", "unresponsive"]);
    assert.match(error!.message, /the server has not answered for 2000 ms/);
    await clock.advance(1_000);
    assert.deepEqual([client.state, client.restartCount, runtime.processes.length], ["ready", 1, 2]);
    const told = log.lines.find(({ message }) => /is started again/.test(message));
    assert.match(String(told?.facts.cause), /not answered for 2000 ms/);
    await client.close();
    assert.equal(clock.pendingTimers, 0);
  });
}

test("Client takes a server for alive that is busy with what it was asked, as long as anything comes (XF19)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, { healthCheckMs: 1_000 });
  await clock.advance(1_000);
  await peers[0]!.take("server/discover");
  await clock.advance(500);
  peers[0]!.send({ method: "notifications/message", params: { level: "info", data: 1 } });
  await settle();
  await clock.advance(500);
  assert.equal(client.state, "ready");
  await client.close();
  assert.equal(runtime.processes.length, 1);
  assert.equal(clock.pendingTimers, 0);
});

test("Client does not take a server for hanging that waits for a person (XF19, C4)", async () => {
  let answer = (_value: ElicitResult): void => {};
  const { client, peer, clock } = await meet({
    legacy: true,
    healthCheckMs: 1_000,
    inputHandlers: { "elicitation/create": () => new Promise((resolve) => answer = resolve) },
  });
  peer.send({ id: 1, method: "elicitation/create", params: {} });
  await settle();
  await clock.advance(60_000);
  assert.ok(!peer.methods.includes("ping"));
  assert.equal(client.state, "ready");
  answer({ action: "accept" });
  await settle();
  await clock.advance(1_000);
  await peer.take("ping");
  await clock.advance(1_000);
  assert.equal(client.state, "closed");
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("spawn() refuses a healthCheckMs that is no duration (XF19)", async () => {
  await assert.rejects(inhabit(undefined, { healthCheckMs: -1 }), RangeError);
});

test("Client finds a process that was stopped, and has a new one (XF19)", SLOW, async (t) => {
  const script = new Script(t, [{ serve: "modern" }]);
  const client = await script.spawn(t, { healthCheckMs: 200, shutdownGraceMs: 100 });
  const first = client.pid!;
  process.kill(first, "SIGSTOP");
  await untilStopped(first);
  assert.deepEqual((await client.request("tools/list")).tools, []);
  assert.notEqual(client.pid, first);
  assert.equal(client.restartCount, 1);
  await client.close();
  await untilGone(script.pids);
});
