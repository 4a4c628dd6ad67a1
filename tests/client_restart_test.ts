import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestOptions } from "../client.ts";
import { ProcessError } from "../errors.ts";
import { createDeferred } from "../internal/promises.ts";
import { type House, inhabit, outcomeOf, settle } from "./_client_peer.ts";

/** What is under way when the server crashes, and what becomes of it. */
const LOSSES: ReadonlyArray<[method: string, options: RequestOptions, isMadeAgain: boolean]> = [
  ["tools/list", {}, true],
  ["resources/read", {}, true],
  ["acme/charge", {}, false],
  ["acme/charge", { retry: "force" }, true],
  ["tools/call", {}, false],
  ["tools/call", { retry: "force" }, true],
  ["tools/list", { retry: "never" }, false],
];

for (const [method, options, isMadeAgain] of LOSSES) {
  const { retry = "auto" } = options;
  test(`Client ${isMadeAgain ? "makes" : "does not make"} ${method} again with retry ${retry} (P8, XB10, S1-94, S1-95)`, async () => {
    const { client, peers, runtime, clock } = await inhabit();
    const call = outcomeOf(client.request(method as string, { cursor: "c" }, options));
    const first = await peers[0]!.takeRequest(method);
    runtime.processes[0]!.exit({ code: 7 });
    await clock.advance(1_000);
    if (isMadeAgain) {
      const second = await peers[1]!.takeRequest(method);
      assert.notEqual(second.id, first.id);
      assert.deepEqual(second.params, first.params);
      peers[1]!.answer(second, { told: "by the second" });
      assert.equal((await call).value?.told, "by the second");
    } else {
      const { error } = await call;
      assert.deepEqual([error?.code, error?.reason, error?.sent, error?.exit], [
        "connection_closed",
        "exited",
        true,
        { code: 7 },
      ]);
      assert.deepEqual(peers[1]!.received, []);
    }
    // A modern server needs no greeting once it is known (S2-39, E4).
    assert.ok(!peers[1]!.methods.includes("server/discover"));
    assert.deepEqual([client.restartCount, client.exitStatus, client.state], [1, { code: 7 }, "ready"]);
    await client.close();
    assert.equal(clock.pendingTimers, 0);
  });
}

test("Client makes a lost request again three times and no more (P8)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, { maxRestarts: 9 });
  const call = outcomeOf(client.request("tools/list"));
  for (let life = 0; life < 4; life++) {
    await peers[life]!.take("tools/list");
    runtime.processes[life]!.exit({ code: life });
    await clock.advance(6_000);
  }
  assert.equal((await call).error?.code, "connection_closed");
  assert.deepEqual(peers[4]!.received, []);
  await client.close();
});

test("Client sends what was asked while there was no server, in call order (P8)", async () => {
  const gate = createDeferred();
  const { client, peers, runtime, clock } = await inhabit((peer, _process, index) =>
    index === 0 ? void peer.discover() : gate.promise
  );
  const lost = [client.request("tools/list", { cursor: "1" }), client.request("tools/list", { cursor: "2" })];
  await peers[0]!.take("tools/list");
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(500);
  assert.equal(client.state, "restarting");
  const waiting = [
    client.request("tools/call", { name: "3" }),
    client.request("tools/list", { cursor: "4" }),
  ];
  assert.equal((await outcomeOf(client.notify("notifications/x"))).error?.code, "connection_closed");
  gate.resolve();
  const order = [];
  for (let n = 0; n < 4; n++) {
    const request = await peers[1]!.takeRequest();
    order.push(request.params?.cursor ?? request.params?.name);
    peers[1]!.answer(request);
  }
  assert.deepEqual(order, ["1", "2", "3", "4"]);
  await Promise.all([...lost, ...waiting]);
  await client.close();
});

test("Client lets a request be given up while it waits for a server (C4, P8)", async () => {
  const gate = createDeferred();
  const { client, peers, runtime, clock } = await inhabit((peer, _process, index) =>
    index === 0 ? void peer.discover() : gate.promise
  );
  const controller = new AbortController();
  const lost = outcomeOf(client.request("tools/list", {}, { timeoutMs: 5_000 }));
  await peers[0]!.take("tools/list");
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  const late = outcomeOf(client.request("tools/list", {}, { timeoutMs: 3_000 }));
  const aborted = outcomeOf(client.request("tools/list", {}, { signal: controller.signal }));
  controller.abort("enough");
  assert.equal((await aborted).error, "enough");
  await clock.advance(3_000);
  assert.equal((await late).error?.code, "request_timeout");
  await clock.advance(1_000);
  assert.equal((await lost).error?.code, "request_timeout"); // Its time has gone on.
  gate.resolve();
  await settle();
  assert.deepEqual(peers[1]!.received, []);
  await client.close();
});

test("Client does not let what is left of one server reach the next (P8, B95)", async () => {
  const seen: unknown[] = [];
  const { client, peers, runtime, clock } = await inhabit(undefined, {
    onNotification: (_method, params) => void seen.push(params?.of),
  });
  const call = client.request("tools/list");
  const first = await peers[0]!.takeRequest("tools/list");
  peers[0]!.send({ method: "notifications/x", params: { of: "first" } });
  peers[0]!.write(`{"jsonrpc":"2.0","id":${first.id},"result":{"tools":[{"name":"torn`);
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  const second = await peers[1]!.takeRequest("tools/list");
  // A half line of the old one would spoil this; an answer under the old id is nobody's.
  peers[1]!.send({ id: first.id, result: { tools: "of the old one" } });
  peers[1]!.answer(second, { tools: [] });
  assert.deepEqual((await call).tools, []);
  assert.deepEqual(seen, ["first"]);
  await client.close();
});

test("Client does not make a request twice that had not left a server which still reads (P8)", async () => {
  const { client, peers, runtime, clock } = await inhabit();
  const [process] = runtime.processes;
  process!.ignoresEndOfInput = true;
  peers[0]!.stopReading();
  await client.notify("notifications/x");
  const large = outcomeOf(
    client.request("tools/call", { name: "large", arguments: { text: "x".repeat(2_000_000) } }),
  );
  await settle();
  const queued = client.request("tools/call", { name: "queued" });
  process!.closeStdout();
  await clock.advance(300);
  assert.deepEqual([(await large).error?.code, (await large).error?.sent], ["connection_closed", true]);
  peers[0]!.goOnReading();
  await clock.advance(5_000);
  const request = await peers[1]!.takeRequest("tools/call");
  assert.equal(request.params?.name, "queued");
  peers[1]!.answer(request);
  await queued;
  assert.deepEqual(peers[0]!.methods, ["server/discover", "notifications/x", "tools/call"]);
  await client.close();
});

test("Client takes a request whose write failed for sent: it may have arrived (P8)", async () => {
  const { client, runtime, peers, clock } = await inhabit();
  peers[0]!.stopReading();
  await client.notify("notifications/x");
  const call = outcomeOf(
    client.request("tools/call", { name: "x", arguments: { text: "x".repeat(2_000_000) } }),
  );
  await settle();
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  assert.deepEqual([(await call).error?.code, (await call).error?.sent], ["connection_closed", true]);
  await client.close();
});

test("Client lets what is asked of a server that has fallen silent wait for the next one (P8, B89)", async () => {
  const { client, peers, runtime, clock } = await inhabit();
  runtime.processes[0]!.closeStdout();
  await settle();
  const call = client.request("tools/call", { name: "x" });
  await clock.advance(1_000);
  peers[1]!.answer(await peers[1]!.take("tools/call"));
  await call;
  assert.ok(peers[0]!.inputEnded);
  assert.deepEqual(peers[0]!.methods, ["server/discover"]);
  assert.deepEqual(runtime.processes[0]!.signals, []);
  await client.close();
});

test("Client ends the old server in order before it starts the next (P8, S1-93)", async () => {
  const { client, runtime, clock } = await inhabit();
  const [process] = runtime.processes;
  process!.ignoresEndOfInput = true;
  process!.ignoredSignals.add("SIGTERM");
  process!.closeStdout();
  await clock.advance(4_100);
  assert.deepEqual([process!.signals, runtime.processes.length], [["SIGTERM"], 1]);
  await clock.advance(200);
  assert.deepEqual([process!.signals, runtime.processes.length], [["SIGTERM", "SIGKILL"], 2]);
  await client.close();
});

test("Client gives up a server that only crashes, and says why in each error (P7, P8, B74, B79)", async () => {
  const { client, runtime, clock, log, states } = await inhabit(undefined, {
    maxRestarts: 2,
    stderr: "capture",
  });
  const calls: Promise<unknown>[] = [];
  for (let life = 0; life < 3; life++) {
    calls.push(client.request("tools/call", { name: "x" }));
    await settle();
    await runtime.processes[life]!.writeStderr(`reason ${life}\n`);
    runtime.processes[life]!.exit({ code: life });
    await clock.advance(5_000);
  }
  for (const [life, call] of calls.entries()) {
    const { error } = await outcomeOf(call);
    assert.deepEqual([error?.reason, error?.exit, error?.stderrTail], [
      "exited",
      { code: life },
      `reason ${life}\n`,
    ]);
    assert.match(error!.message, new RegExp(`exited with code ${life}`));
  }
  await client.closed;
  assert.deepEqual(states.slice(-2), ["closing", "closed"]);
  assert.deepEqual(log.lines.filter(({ level }) => level === "warn").map(({ facts }) => facts.exit), [
    "code 0",
    "code 1",
    "code 2",
  ]);
  assert.equal((await outcomeOf(client.request("tools/list"))).error?.code, "connection_closed");
  assert.equal(clock.pendingTimers, 0);
});

test("Client whose server cannot be started again tells the reason to all who wait (P8)", async () => {
  const { client, runtime, clock } = await inhabit((peer, _process, index) => {
    if (index === 0) return void peer.discover();
    throw new ProcessError("command_not_found", "Cannot start: it was deleted", {
      command: "server",
      args: [],
    });
  });
  const call = outcomeOf(client.request("tools/list"));
  await settle();
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(20_000);
  const { error } = await call;
  assert.equal(error?.code, "connection_closed");
  assert.ok(error?.cause instanceof ProcessError);
  assert.equal(runtime.processes.length, 4);
  await client.closed;
});

// Closed at any time.

const WHILE: ReadonlyArray<
  [what: string, bring: (house: House, gate: { resolve(): void }) => Promise<void>]
> = [
  ["it reaps the old one", async ({ runtime, clock }) => {
    const [process] = runtime.processes;
    process!.ignoresEndOfInput = true;
    process!.closeStdout();
    await clock.advance(500);
  }],
  ["it waits", async ({ runtime, clock }) => {
    runtime.processes[0]!.exit({ code: 1 });
    await clock.advance(0);
    runtime.processes[1]?.exit({ code: 1 });
    await clock.advance(100);
  }],
  ["it starts the next one", async ({ runtime, clock }) => {
    runtime.processes[0]!.exit({ code: 1 });
    await clock.advance(1_000);
  }],
];

for (const [what, bring] of WHILE) {
  for (const how of ["close", "kill"] as const) {
    test(`Client.${how}() while ${what} leaves no process, no timer and no waiting call (P4, P8, S1-80)`, async () => {
      const gate = createDeferred();
      const house = await inhabit((peer, _process, index) =>
        index === 0 ? void peer.discover() : index === 1 && what === "it waits" ? undefined : gate.promise
      );
      const { client, clock, runtime } = house;
      const lost = outcomeOf(client.request("tools/list"));
      await bring(house, gate);
      const late = outcomeOf(client.request("tools/list"));
      const closed = how === "close" ? client.close() : client.kill();
      for (const call of [lost, late]) assert.equal((await call).error?.code, "connection_closed");
      gate.resolve();
      await clock.advance(10_000);
      await closed;
      const started = runtime.processes.length;
      await clock.advance(60_000);
      assert.equal(runtime.processes.length, started);
      for (const process of runtime.processes) {
        assert.ok(process.ended);
        assert.deepEqual(process.straySignals, []);
      }
      assert.equal(client.state, "closed");
      assert.equal(clock.pendingTimers, 0);
    });
  }
}
