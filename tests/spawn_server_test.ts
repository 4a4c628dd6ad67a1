// A server's process without a client (S1-36): started, owned and ended by us, spoken to by whoever likes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, ServerProcess, spawnServer, type SpawnServerOptions } from "../client.ts";
import { ProcessError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import { createFakeRuntime } from "../testing.ts";
import { createLog, outcomeOf, Peer, settle } from "./_client_peer.ts";
import { Script, untilGone } from "./_scripted_server.ts";
import { SLOW } from "./runtime_adapter/harness.ts";

function prepare(options: Partial<SpawnServerOptions> = {}) {
  const peers: Peer[] = [];
  const runtime = createFakeRuntime({ onSpawn: (process) => void peers.push(new Peer(process)) });
  return {
    peers,
    runtime,
    start: () => spawnServer({ command: "server", runtime, logger: silentLogger, ...options }),
  };
}

test("spawnServer() starts a process that any client of the protocol can talk to (S1-36)", async () => {
  const { start, peers, runtime } = prepare({ stderr: "capture" });
  const server = await start();
  assert.ok(server instanceof ServerProcess);
  assert.deepEqual([server.pid, server.exitStatus], [1_000, null]);
  server.connection.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  peers[0]!.answer(await peers[0]!.take("ping"));
  const [inbound] = await server.connection.receive() ?? [];
  assert.deepEqual(inbound?.kind === "message" && inbound.message, { jsonrpc: "2.0", id: 1, result: {} });
  await runtime.processes[0]!.writeStderr("hello\n");
  await settle();
  assert.equal(server.stderrTail, "hello\n");
  assert.deepEqual(await server.close(), { exit: { code: 0 }, step: "eof" });
  assert.deepEqual(await server.exited, { code: 0 });
  assert.deepEqual([server.pid, server.exitStatus], [undefined, { code: 0 }]);
});

test("spawnServer() ends its process at once by kill() and by its signal, and in order with its scope (S1-36, P4)", async () => {
  const killed = await prepare().start();
  assert.equal((await killed.kill()).step, "kill");

  const controller = new AbortController();
  const aborted = await prepare({ signal: controller.signal }).start();
  controller.abort();
  assert.deepEqual(await aborted.exited, { signal: "SIGKILL" });

  const scoped = await prepare().start();
  await scoped[Symbol.asyncDispose]();
  assert.deepEqual(await scoped.exited, { code: 0 });
});

test("spawnServer() starts nothing for a signal that is aborted, and ends what was just being started (P4)", async () => {
  const reason = new Error("enough");
  const none = prepare({ signal: AbortSignal.abort(reason) });
  await assert.rejects(none.start(), reason);
  assert.equal(none.runtime.processes.length, 0);

  const controller = new AbortController();
  const runtime = createFakeRuntime({ onSpawn: () => controller.abort(reason) });
  const starting = spawnServer({
    command: "server",
    runtime,
    logger: silentLogger,
    signal: controller.signal,
  });
  await assert.rejects(starting, reason);
  assert.deepEqual(await runtime.processes[0]!.handle.exited, { signal: "SIGKILL" });
});

test("Client.connect() takes a process and ends it (S1-36)", async () => {
  const { start, peers } = prepare({ args: ["-v"] });
  const server = await start();
  const connecting = Client.connect(server, { logger: silentLogger });
  await peers[0]!.discover();
  const client = await connecting;
  assert.equal(client.pid, 1_000);
  // It is taken.
  await assert.rejects(Client.connect(server), /another client has it/);
  await assert.rejects(client.restart(), TypeError);
  assert.deepEqual(await client.close(), { exit: { code: 0 }, step: "eof" });
  assert.deepEqual(await server.exited, { code: 0 });
});

test("Client.connect() tells of a process that exits before it has answered, and does not start it again (S1-36, P10)", async () => {
  const { start, peers, runtime } = prepare({ args: ["-v"], stderr: "capture" });
  const server = await start();
  const connecting = outcomeOf(Client.connect(server, { logger: silentLogger }));
  await peers[0]!.take("server/discover");
  await runtime.processes[0]!.writeStderr("missing API key\n");
  runtime.processes[0]!.exit({ code: 78 });
  const { error } = await connecting;
  assert.ok(error instanceof ProcessError, String(error));
  assert.match(error.message, /server -v.*exited before answering the probe, with code 78.*missing API key/);
  assert.equal(runtime.processes.length, 1);
});

test("Client.connect() rejects with a connection that somebody else reads (C9)", async () => {
  const { start, peers } = prepare();
  const server = await start();
  const read = server.connection.receive();
  const { logger } = createLog();
  const { error } = await outcomeOf(
    Client.connect(server.connection, { logger, shutdownGraceMs: 10 } as object),
  );
  assert.equal(error?.name, "NegotiationError");
  peers[0]!.end();
  await read;
  await server.kill();
});

test("spawnServer() owns a real process with all that it starts (S1-36)", SLOW, async (t) => {
  const script = new Script(t, [{ helper: "in" }, { serve: "modern" }]);
  const server = await spawnServer({
    command: script.command,
    args: script.args,
    logger: silentLogger,
    stderr: "capture",
  });
  const client = await Client.connect(server, { logger: silentLogger });
  assert.deepEqual((await client.request("tools/list")).tools, []);
  await client.close();
  await untilGone(script.pids);
  assert.equal(script.pids.length, 2);
});
