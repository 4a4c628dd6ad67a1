import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../client.ts";
import { ConnectionClosedError } from "../errors.ts";
import { createDeferred } from "../internal/promises.ts";
import { silentLogger } from "../logger.ts";
import { createStreamPair, FakeClock } from "../testing.ts";
import { inhabit, meet, outcomeOf, Peer, prepareHouse, settle } from "./_client_peer.ts";
import { showUnhandledRejections, stateOf } from "./helpers.ts";

test("Client settles every request when the connection ends, with what it knows (C7)", async () => {
  const { client, peer, clock } = await meet();
  const calls: Promise<unknown>[] = [
    client.request("tools/list"),
    client.request("tools/call", { name: "x" }, { timeoutMs: Infinity, maxTimeoutMs: Infinity }),
    client.request("tools/list", {}, { retry: "force" }),
  ];
  for (const _ of calls) await peer.take();
  peer.end();
  for (const call of calls) {
    const { error } = await outcomeOf(call);
    assert.ok(error instanceof ConnectionClosedError);
    assert.deepEqual([error.reason, error.sent, error.exit, error.stderrTail], ["eof", true, null, ""]);
  }
  assert.equal((await client.closed).step, "eof");
  assert.equal(client.state, "closed");
  const late = await outcomeOf(client.request("tools/list"));
  assert.deepEqual([late.error?.code, late.error?.sent], ["connection_closed", false]);
  assert.equal((await outcomeOf(client.notify("x"))).error?.code, "connection_closed");
  assert.equal(clock.pendingTimers, 0);
});

test("Client tells an input that failed from one that ended (C7)", async () => {
  const [here, there] = createStreamPair();
  const broken = createDeferred();
  const readable = new ReadableStream<Uint8Array>({
    start(controller) {
      broken.promise.then(() => controller.error(new Error("ECONNRESET")));
      here.readable.pipeTo(new WritableStream({ write: (chunk) => controller.enqueue(chunk) })).catch(
        () => {},
      );
    },
  });
  const connecting = Client.connect({ readable, writable: here.writable }, { logger: silentLogger });
  const peer = new Peer(there);
  await peer.discover();
  const client = await connecting;
  const call = outcomeOf(client.request("tools/list"));
  await peer.take("tools/list");
  broken.resolve();
  assert.equal((await call).error?.reason, "input_failed");
  await client.closed;
});

test("Client reads what a server wrote before it ended (C7, B55)", async () => {
  for (const how of ["exit", "kill"] as const) {
    const { client, peers, runtime } = await inhabit(undefined, { maxRestarts: 0 });
    const calls = Array.from({ length: 20 }, () => client.request("tools/call", { name: "x" }));
    for (const _ of calls) {
      const { id } = await peers[0]!.take("tools/call");
      peers[0]!.send({ id, result: { text: "x".repeat(15_000) } });
    }
    const writing = client.notify("notifications/roots/list_changed");
    runtime.processes[0]!.exit(how === "exit" ? { code: 0 } : { signal: "SIGKILL" });
    for (const call of calls) assert.equal(String((await call).text).length, 15_000);
    await outcomeOf(writing);
    await client.closed;
  }
});

test("Client hears a server out that takes no more input (C7)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, { maxRestarts: 0 });
  const calls = [1, 2, 3].map((n) => client.request("tools/call", { name: String(n) }));
  const requests = [];
  for (const _ of calls) requests.push(await peers[0]!.take("tools/call"));
  runtime.processes[0]!.closeStdin();
  const unheard = outcomeOf(client.request("tools/call", { name: "unheard" }));
  await settle();
  for (const n of [0, 1]) {
    peers[0]!.answer(requests[n]!, { n });
    await clock.advance(150);
    assert.equal((await calls[n])?.n, n);
  }
  // Then it says nothing, and is ended.
  await clock.advance(500);
  const { error } = await unheard;
  assert.deepEqual([error?.code, error?.reason], ["connection_closed", "output_failed"]);
  assert.equal((await outcomeOf(calls[2]!)).error?.code, "connection_closed");
  await clock.advance(5_000);
  await client.closed;
  assert.equal(clock.pendingTimers, 0);
});

test("Client tells the first cause of an end, not what ending the server has brought about (XB11, C7)", async () => {
  for (const maxRestarts of [0, 1]) {
    const { client, peers, runtime, clock, log } = await inhabit(undefined, { maxRestarts });
    const call = outcomeOf(client.request("tools/call", { name: "x" }));
    await peers[0]!.take("tools/call");
    const server = runtime.processes[0]!;
    server.closeStdin();
    client.notify("notifications/roots/list_changed").catch(() => {});
    // It writes on until we no longer read, and dies of that.
    for (let n = 0; n < 100 && client.state === "ready"; n++) {
      if (await stateOf(call) !== "pending") break;
      peers[0]!.write("more\n");
      if (clock.now() >= 2_000) server.exit({ code: 1 });
      await clock.advance(50);
    }
    const { error } = await call;
    assert.deepEqual([error?.reason, error?.exit], ["output_failed", { code: 1 }]);
    assert.match(error!.message, /the server has closed its input and then exited with code 1$/);
    await clock.advance(5_000);
    const told = log.lines.filter(({ message }) => message.startsWith("[mcp_stdio] the server has ended"));
    assert.match(String(told[0]!.facts.cause), /closed its input/);
    if (maxRestarts === 0) {
      const late = await outcomeOf(client.request("tools/list"));
      assert.match(late.error!.message, /closed its input and then exited with code 1/);
    }
    await client.close();
  }
});

test("Client does not wait for a stranger who holds the server's output (C7, B86)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, { maxRestarts: 0 });
  const call = outcomeOf(client.request("tools/call", { name: "x" }));
  const answered = client.request("tools/list");
  await peers[0]!.take("tools/call");
  peers[0]!.answer(await peers[0]!.take("tools/list"), { tools: [] });
  runtime.processes[0]!.exitHoldingStdout({ code: 1 });
  await answered;
  await clock.advance(500);
  const { error } = await call;
  assert.deepEqual([error?.code, error?.reason, error?.exit], ["connection_closed", "exited", { code: 1 }]);
  await client.closed;
  assert.equal(clock.pendingTimers, 0);
});

test("Client does not listen for ever to a stranger who writes on (C7)", async () => {
  const { client, peers, runtime, clock } = await inhabit(undefined, { maxRestarts: 0 });
  const call = outcomeOf(client.request("tools/call", { name: "x" }));
  await peers[0]!.take("tools/call");
  runtime.processes[0]!.exitHoldingStdout({ code: 1 });
  for (let n = 0; n < 100 && client.state !== "closed"; n++) {
    peers[0]!.write("more\n");
    await clock.advance(40);
  }
  assert.equal((await call).error?.code, "connection_closed");
  assert.ok(clock.now() < 4_000);
});

test("Client settles calls although onNotification is slow when the server exits (C7, B94)", async () => {
  const gate = createDeferred();
  let seen = 0;
  const { client, peers, runtime, clock } = await inhabit(undefined, {
    maxRestarts: 0,
    limits: { maxQueuedNotifications: 4 },
    onNotification: async () => {
      await gate.promise;
      seen++;
    },
  });
  const [answered, lost] = [
    client.request("tools/list"),
    outcomeOf(client.request("tools/call", { name: "x" })),
  ];
  const request = await peers[0]!.take("tools/list");
  for (let n = 0; n < 100; n++) peers[0]!.send({ method: "notifications/x", params: { n } });
  peers[0]!.answer(request, { tools: [] });
  await clock.advance(100);
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(500);
  await answered;
  assert.equal((await lost).error?.code, "connection_closed");
  await client.closed;
  gate.resolve();
  for (let turn = 0; turn < 10; turn++) await settle();
  assert.equal(seen, 100); // And none of them is lost.
  assert.equal(clock.pendingTimers, 0);
});

test("Client hears a server that has exited to the end, also behind an inline callback that takes its time (C7, B94)", async () => {
  const gate = createDeferred();
  const { client, peers, runtime, clock } = await inhabit(undefined, {
    maxRestarts: 0,
    inlineNotifications: true,
    onNotification: () => gate.promise,
  });
  const answered = client.request("tools/list");
  const request = await peers[0]!.take("tools/list");
  peers[0]!.send({ method: "notifications/x" });
  await settle();
  // Read only when the callback has ended.
  peers[0]!.answer(request, { tools: [] });
  await settle();
  runtime.processes[0]!.exit({ code: 0 });
  await clock.advance(5_000);
  gate.resolve();
  await clock.advance(1_000);
  assert.deepEqual(await answered, { tools: [] });
  await client.closed;
  assert.equal(clock.pendingTimers, 0);
});

test("Client.close() fails requests at once, and writes nothing more (P4, S1-82, S1-83)", async () => {
  const { client, peers, runtime, clock } = await inhabit();
  const [process] = runtime.processes;
  process!.ignoresEndOfInput = true;
  const early = outcomeOf(client.request("tools/call", { name: "early" }));
  await peers[0]!.take("tools/call");
  const queued = outcomeOf(client.request("tools/call", { name: "queued" }));
  const telling = outcomeOf(client.notify("notifications/x"));
  const closed = client.close();
  const late = outcomeOf(client.request("tools/call", { name: "late" }));
  for (const [call, sent] of [[early, true], [queued, false], [late, false], [telling, false]] as const) {
    const { error } = await call;
    assert.deepEqual([error?.code, error?.reason, error?.sent], ["connection_closed", "local", sent]);
  }
  assert.equal(client.state, "closing");
  await clock.advance(5_000);
  assert.equal((await closed).step, "term");
  assert.deepEqual(peers[0]!.methods, ["server/discover", "tools/call"]);
  assert.ok(peers[0]!.inputEnded);
});

test("Client.close() gives one answer to all who call it, whenever (P3)", async () => {
  const { client, clock } = await inhabit();
  const reports = [client.close(), client.close({ shutdownGraceMs: 0 }), client.kill()];
  await clock.advance(5_000);
  const [first] = await Promise.all(reports);
  assert.deepEqual(await Promise.all([...reports, client.close(), client.closed]), Array(5).fill(first));
  await client[Symbol.asyncDispose]();
  assert.equal(clock.pendingTimers, 0);
});

test("Client.notify() rejects when the client is closed or the server dies while the pipe is full (C8, B58)", async () => {
  for (const how of ["close", "exit"] as const) {
    const { client, peers, runtime, clock } = await inhabit(undefined, { maxRestarts: 0 });
    peers[0]!.stopReading();
    await client.notify("notifications/x");
    const large = outcomeOf(client.notify("notifications/x", { text: "x".repeat(8_000_000) }));
    const behind = outcomeOf(client.notify("notifications/x"));
    assert.equal(await stateOf(large), "pending");
    if (how === "close") client.close();
    else runtime.processes[0]!.exit({ code: 1 });
    await clock.advance(1_000);
    const { error } = await large;
    assert.deepEqual([error?.code, error?.sent], ["connection_closed", true]);
    assert.deepEqual((await behind).error?.sent, false);
    await client.kill();
    assert.equal(clock.pendingTimers, 0);
  }
});

test("Client.close() does not wait for ever for a peer that does not read (P3)", async () => {
  const { client, peer, clock } = await meet();
  peer.stopReading();
  await client.notify("notifications/x");
  client.notify("notifications/x", { text: "x".repeat(8_000_000) });
  await settle();
  const closed = client.close({ shutdownGraceMs: 500 });
  await clock.advance(500);
  assert.equal((await closed).step, "kill");
  assert.equal(clock.pendingTimers, 0);
});

test("Client shows nothing more once it is closed (P4)", async () => {
  const seen: unknown[] = [];
  const gate = createDeferred();
  const { client, peer } = await meet({
    onNotification: async (_method, params) => {
      seen.push(params?.n);
      await gate.promise;
    },
  });
  for (const n of [1, 2, 3]) peer.send({ method: "notifications/x", params: { n } });
  await settle();
  await client.close();
  gate.resolve();
  await settle();
  assert.deepEqual(seen, [1]);
});

test("spawn() rejects with the reason of a signal that is aborted in any phase, and leaves nothing (B80, B101)", async () => {
  const reason = new Error("mine");
  const gate = createDeferred();
  const phases: Record<string, Parameters<typeof prepareHouse>[0]> = {
    "before": () => assert.fail("started"),
    "while it is started": () => gate.promise,
    "while it is probed": () => {},
    "while it is greeted": (peer) => {
      peer.take("server/discover").then((request) => peer.refuse(request, -1));
    },
  };
  for (const [phase, live] of Object.entries(phases)) {
    const controller = new AbortController();
    if (phase === "before") controller.abort(reason);
    const house = prepareHouse(live, { signal: controller.signal });
    const spawning = outcomeOf(house.spawn());
    await house.clock.advance(100);
    controller.abort(reason);
    await settle();
    if (phase === "while it is started") gate.resolve();
    assert.equal((await spawning).error, reason, phase);
    for (const process of house.runtime.processes) assert.ok(process.ended, phase);
    assert.equal(house.clock.pendingTimers, 0, phase);
  }
});

test("spawn() listens to its signal for as long as the server lives (P1)", async () => {
  const controller = new AbortController();
  const { client, runtime } = await inhabit(undefined, { signal: controller.signal });
  controller.abort();
  await client.closed;
  assert.deepEqual(runtime.processes[0]!.signals, ["SIGKILL"]);
  assert.equal(runtime.processes.length, 1);
});

test("Client tells its states in order (P8, B73, B97)", async () => {
  const { client, clock, runtime, states } = await inhabit(undefined, { maxRestarts: 1 });
  assert.deepEqual([client.state, ...states], ["ready", "ready"]);
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  runtime.processes[1]!.exit({ code: 2 });
  await clock.advance(1_000);
  assert.deepEqual(states, ["ready", "restarting", "ready", "closing", "closed"]);
  assert.deepEqual(client.exitStatus, { code: 2 });
});

test("Client.pid and exitStatus change when the process is reaped, not when somebody asks (P6, B97)", async () => {
  const { client, clock, runtime } = await inhabit(undefined, { maxRestarts: 0 });
  assert.deepEqual([client.pid, client.exitStatus], [1_000, null]);
  runtime.processes[0]!.exitHoldingStdout({ signal: "SIGSEGV" });
  await settle();
  assert.deepEqual([client.pid, client.exitStatus], [undefined, { signal: "SIGSEGV" }]);
  await clock.advance(500);
  await client.closed;
  assert.equal(client.state, "closed");
});

test("Client that failed to connect leaves no timer and no process (C9, B72)", async () => {
  const clock = new FakeClock();
  const [here] = createStreamPair();
  const connecting = outcomeOf(Client.connect(here, { clock, connectTimeoutMs: 30_000 }));
  await clock.advance(29_999);
  assert.equal(await stateOf(connecting), "pending");
  await clock.advance(1);
  const { error } = await connecting;
  assert.deepEqual([error?.code, error?.phase], ["negotiation_timeout", "handshake"]);
  assert.equal(clock.pendingTimers, 0);
  await showUnhandledRejections();
});
