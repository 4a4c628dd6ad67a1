// What the transports for the official SDK make of their options (rule K1): the same as spawn() and serve() do.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "../logger.ts";
import { StdioClientTransport, type StdioClientTransportOptions } from "../sdk_transport.ts";
import { connectClient, createClient } from "./sdk_transport_client_helpers.ts";
import { serveInMemory } from "./sdk_transport_helpers.ts";
import { legacy, settle } from "./server_helpers.ts";

const hostEnv = { PATH: "/bin", HOME: "/home/me", SECRET: "s", NODE_OPTIONS: "--inspect" };

for (
  const [what, options, names] of [
    ["a safe part", {}, ["HOME", "PATH"]],
    ["a safe part and what is named", { passEnv: ["SECRET"] }, ["HOME", "PATH", "SECRET"]],
    ["all", { inheritEnv: "all" }, ["HOME", "NODE_OPTIONS", "PATH", "SECRET"]],
    ["nothing but what is given", { inheritEnv: "none", env: { OWN: "1" } }, ["OWN"]],
  ] satisfies Array<[string, Partial<StdioClientTransportOptions>, string[]]>
) {
  test(`StdioClientTransport hands ${what} of the environment to the server (K1, P1)`, async (t) => {
    const { runtime } = await connectClient(t, { hostEnv, ...options });
    assert.deepEqual(Object.keys(runtime.processes[0]!.command.env).sort(), names);
  });
}

test("StdioClientTransport starts a server that keeps this process alive, in a group unless told not to (K1, P1)", async (t) => {
  for (const processGroup of [undefined, true, false]) {
    const { runtime } = await connectClient(t, { processGroup });
    const [process] = runtime.processes;
    assert.deepEqual([process!.command.processGroup, process!.keepsAlive], [processGroup ?? true, true]);
  }
});

test("StdioClientTransport does with the server's stderr what it is told (K1, P1, P2)", async (t) => {
  const lines: string[] = [];
  const outcomes: unknown[] = [];
  const onLine = (line: string) => void lines.push(line);
  for (const stderr of [undefined, "inherit", "ignore", "capture", "tee", onLine] as const) {
    const { transport, runtime } = await connectClient(t, { stderr });
    const process = runtime.processes[0]!;
    await process.writeStderr("one\ntwo\n");
    await settle();
    assert.equal(transport.stderr, null);
    outcomes.push([process.command.stderr, runtime.stderrText, transport.stderrTail]);
  }
  assert.deepEqual(outcomes, [
    ["inherit", "", ""],
    ["inherit", "", ""],
    ["ignore", "", ""],
    ["pipe", "", "one\ntwo\n"],
    ["pipe", "one\ntwo\n", "one\ntwo\n"],
    ["pipe", "", "one\ntwo\n"],
  ]);
  assert.deepEqual(lines, ["one", "two"]);
});

test("StdioClientTransport gives a server its graces, the second as long as the first by default (K1, P3)", async (t) => {
  for (const [given, term, kill] of [[undefined, 300, 300], [100, 300, 100]] as const) {
    const { transport, runtime, clock } = await connectClient(t, {
      shutdownGraceMs: 300,
      terminateGraceMs: given,
    });
    const process = runtime.processes[0]!;
    process.ignoresEndOfInput = true;
    process.ignoredSignals.add("SIGTERM");
    const closing = transport.close();
    await clock.advance(term - 1);
    assert.deepEqual(process.signals, []);
    await clock.advance(1);
    assert.deepEqual(process.signals, ["SIGTERM"]);
    await clock.advance(kill - 1);
    assert.deepEqual(process.signals, ["SIGTERM"]);
    await clock.advance(1);
    assert.deepEqual(process.signals, ["SIGTERM", "SIGKILL"]);
    await closing;
  }
});

test("StdioClientTransport refuses durations and limits that it cannot use, at once (K1)", () => {
  for (
    const wrong of [
      { shutdownGraceMs: -1, terminateGraceMs: 1 },
      { terminateGraceMs: NaN },
      { limits: { maxLineBytes: 0 } },
      { limits: { maxNestingDepth: 1.5 } },
      { limits: { readBufferBytes: 0 } },
    ]
  ) {
    assert.throws(() => new StdioClientTransport({ command: "server", ...wrong }), { name: "RangeError" });
  }
});

test("StdioClientTransport and StdioServerTransport are not harmed by a logger that throws (K2)", async (t) => {
  const fail = () => {
    throw new Error("no");
  };
  const logger: Logger = { debug: fail, info: fail, warn: fail, error: fail };
  const { transport, received, write } = await connectClient(t, { logger });
  await transport.send(legacy(1, "x"));
  await write(["a banner", { jsonrpc: "2.0", id: 9, result: {} }, { jsonrpc: "2.0", id: 1, result: {} }]);
  assert.deepEqual(received, [{ jsonrpc: "2.0", id: 1, result: {} }]);
  await transport.close();

  const served = await serveInMemory(t, { logger });
  served.client.send("no json", legacy(2, "x"));
  await settle();
  assert.deepEqual(served.ids, [2]);
  assert.equal((await served.client.transcript.response(null)).error!.code, -32700);
});

test("StdioClientTransport that was not started has no server to tell of (K1)", (t) => {
  const { transport } = createClient(t);
  assert.deepEqual([transport.pid, transport.exitStatus, transport.stderrTail], [null, null, ""]);
});
