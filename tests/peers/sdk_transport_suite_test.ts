/**
 * The official SDK's own tests of its stdio transports, told in our words against ours: its unit tests, its end-to-end scenarios, its
 * integration tests. A title is that of the official test; where we mean to do otherwise it says so.
 */

import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { silentLogger } from "../../logger.ts";
import type { JSONRPCMessage } from "../../messages.ts";
import {
  StdioClientTransport,
  type StdioClientTransportOptions,
  StdioServerTransport,
} from "../../sdk_transport.ts";
import { createStreamPair } from "../../testing.ts";
import { waitUntil } from "../helpers.ts";
import { createServed, RawClient, settle } from "../sdk_transport_helpers.ts";
import { initialize, legacy, type Message, modern, notification } from "../server_helpers.ts";
import { type Command, createBrood, fixture, ROOT, RUNTIMES, SLOW, textOf, UNHURRIED } from "./harness.ts";

const NODE = RUNTIMES[2]!;
const POSIX = { ...SLOW, skip: process.platform === "win32" ? "needs POSIX" : false } as const;
const MODERN = "2026-07-28";

// packages/server/test/server/stdio.test.ts

test("server/stdio: should start then close cleanly", async (t) => {
  const served = createServed(t);
  await served.transport.start();
  assert.equal(served.closes, 0);
  await served.transport.close();
  assert.deepEqual([served.closes, served.errors], [1, []]);
});

test("server/stdio: should not read until started", async (t) => {
  const served = createServed(t);
  served.client.send(legacy(1, "ping"));
  await settle();
  assert.deepEqual(served.received, []);
  await served.transport.start();
  await waitUntil(() => served.received.length === 1);
  assert.deepEqual(served.received, [legacy(1, "ping")]);
});

test("server/stdio: should read multiple messages", async (t) => {
  const served = createServed(t);
  const messages = [legacy(1, "ping"), notification("notifications/initialized")];
  served.client.send(...messages);
  await served.transport.start();
  await waitUntil(() => served.received.length === 2);
  assert.deepEqual(served.received, messages);
});

/** A transport whose output fails when told to. */
async function startFailing(): Promise<
  { transport: StdioServerTransport; events: string[]; fail: () => void }
> {
  const failure = new Error("EPIPE");
  let fail!: () => void;
  const writable = new WritableStream<Uint8Array>({
    start: (controller) => void (fail = () => controller.error(failure)),
    write: () => new Promise((_resolve, reject) => fail = () => reject(failure)),
  });
  const [, { readable }] = createStreamPair();
  const transport = new StdioServerTransport({ readable, writable }, {
    logger: silentLogger,
    limits: { maxQueuedBytes: 1 },
  });
  const events: string[] = [];
  transport.onerror = ({ message }) => events.push(message);
  transport.onclose = () => events.push("close");
  await transport.start();
  return { transport, events, fail: () => fail() };
}

for (
  const title of [
    "should close and fire onerror when stdout errors",
    "should fire onerror before onclose on stdout error",
  ]
) {
  test(`server/stdio: ${title}`, async () => {
    const { events, fail } = await startFailing();
    fail();
    await waitUntil(() => events.length === 2);
    assert.deepEqual(events, ["EPIPE", "close"]);
  });
}

test("server/stdio: should not fire onclose twice when close() is called after stdout error", async () => {
  const { transport, events, fail } = await startFailing();
  fail();
  await transport.close();
  await settle();
  assert.deepEqual(events, ["EPIPE", "close"]);
});

test("server/stdio: should reject send() when stdout errors before drain", async () => {
  const { transport, fail } = await startFailing();
  const sends = [1, 2].map((id) => transport.send(legacy(id, "ping")));
  await settle();
  fail();
  await assert.rejects(sends[1]!, { code: -32000 });
  await Promise.allSettled(sends);
});

test("server/stdio: should reject send() after transport is closed", async (t) => {
  const { transport } = createServed(t);
  await transport.start();
  await transport.close();
  await assert.rejects(transport.send(legacy(1, "ping")), /closed/);
});

test("server/stdio: should respect custom maxBufferSize option, should fire onerror and close when ReadBuffer overflows (we tell the error and go on)", async (t) => {
  for (const maxLineBytes of [100, undefined]) {
    const served = createServed(t, { limits: { maxLineBytes } });
    await served.transport.start();
    served.client.sendBytes(new Uint8Array(maxLineBytes === undefined ? 17 << 20 : 101).fill(0x41));
    served.client.send("", legacy(1, "ping"));
    await waitUntil(() => served.received.length === 1);
    assert.equal((served.errors[0] as { code?: unknown }).code, "too_long");
    assert.equal(served.closes, 0);
  }
});

// packages/client/test/client/stdio.test.ts

function createClientTransport(t: TestContext, options: StdioClientTransportOptions): {
  transport: StdioClientTransport;
  received: JSONRPCMessage[];
  events: string[];
} {
  const brood = createBrood(t);
  const env = { ...options.env, ...brood.env };
  const transport = new StdioClientTransport({
    logger: silentLogger,
    stderr: "capture",
    ...UNHURRIED,
    ...options,
    env,
  });
  const received: JSONRPCMessage[] = [];
  const events: string[] = [];
  transport.onmessage = (message) => void received.push(message);
  transport.onerror = ({ name }) => void events.push(name);
  transport.onclose = () => void events.push("close");
  t.after(async () => {
    await transport.close();
    await brood.gone();
  });
  return { transport, received, events };
}

test("client/stdio: should start then close cleanly; should return child process pid", POSIX, async (t) => {
  const { transport, events } = createClientTransport(t, { command: "/usr/bin/tee" });
  assert.equal(transport.pid, null);
  await transport.start();
  assert.ok(transport.pid! > 0);
  assert.deepEqual(events, []);
  await transport.close();
  assert.deepEqual(events, ["close"]);
  assert.equal(transport.pid, null);
});

test("client/stdio: should read messages", POSIX, async (t) => {
  const { transport, received } = createClientTransport(t, { command: "/usr/bin/tee" });
  const messages = [legacy(1, "ping"), notification("notifications/initialized")];
  await transport.start();
  for (const message of messages) await transport.send(message);
  await waitUntil(() => received.length === 2);
  assert.deepEqual(received, messages);
});

for (
  const [title, size, maxLineBytes] of [
    ["should respect custom maxBufferSize option", 200, 100],
    ["should fire onerror and close when ReadBuffer overflows", 17 << 20, undefined],
  ] as const
) {
  test(`client/stdio: ${title} (the server's end closes it, not the line)`, SLOW, async (t) => {
    const args = ["-e", `process.stdout.write(Buffer.alloc(${size}, 0x41))`];
    const { transport, events } = createClientTransport(t, {
      command: process.execPath,
      args,
      limits: { maxLineBytes },
    });
    await transport.start();
    await waitUntil(() => events.includes("close"));
    assert.deepEqual(events, ["ConnectionClosedError", "close"]);
  });
}

test(
  "client/stdio: _dispose releases the parent-side pipe handles even when a helper process holds the child stdio (as close() does)",
  POSIX,
  async (t) => {
    // The helper outlives the test by far: it is the test that must not wait for it.
    const script = `
    const { spawn } = require("child_process");
    spawn(process.execPath, ["-e", "setTimeout(() => {}, 30000)"], { stdio: "inherit" });
    process.stderr.write("ready\\n");
    process.stdin.on("end", () => process.exit(0));
    process.stdin.resume();`;
    const { transport } = createClientTransport(t, { command: process.execPath, args: ["-e", script] });
    await transport.start();
    await waitUntil(() => transport.stderrTail.includes("ready"));
    const begin = performance.now();
    await transport.close();
    assert.ok(performance.now() - begin < 10_000);
    assert.deepEqual(transport.exitStatus, { code: 0 });
  },
);

// test/e2e/scenarios/stdio.test.ts and stdio-dual-era.test.ts

async function connect(
  t: TestContext,
  [command, ...args]: Command,
  options: Partial<StdioClientTransportOptions> & { mode?: "auto" } = {},
): Promise<{ client: Client; transport: StdioClientTransport; closes: () => number }> {
  const { mode, ...rest } = options;
  const { transport, events } = createClientTransport(t, { command, args, cwd: ROOT, ...rest });
  const client = new Client(
    { name: "c", version: "0" },
    mode === undefined ? {} : { versionNegotiation: { mode } },
  );
  await client.connect(transport);
  return { client, transport, closes: () => events.filter((event) => event === "close").length };
}

const echo = async (client: Client, text: string) =>
  textOf(await client.callTool({ name: "echo", arguments: { text } }));
const EVERYTHING = NODE.run("examples/everything_server");

/** Node with something done first. */
function preloaded(script: string, [command, ...args]: Command): Command {
  return [command, "--import", `data:text/javascript,${encodeURIComponent(script)}`, ...args];
}

test("transport:stdio:clean-shutdown", SLOW, async (t) => {
  const watch = `process.on("SIGTERM", () => process.stderr.write("sigterm received\\n"));
    process.stdin.on("end", () => process.stderr.write("stdin eof\\n"));`;
  const { client, transport, closes } = await connect(t, preloaded(watch, fixture("sdk_transport_raw.mjs")));
  assert.equal(textOf(await client.callTool({ name: "add", arguments: { a: 1, b: 1 } })), "2");
  await client.close();
  assert.deepEqual([closes(), transport.pid, transport.exitStatus], [1, null, { code: 0 }]);
  assert.match(transport.stderrTail, /stdin eof/);
  assert.doesNotMatch(transport.stderrTail, /sigterm/);
});

test("transport:stdio:no-embedded-newlines", SLOW, async (t) => {
  const payload = [
    "first",
    "second\r",
    "",
    '{"jsonrpc":"2.0","id":99,"method":"tools/call"}',
    "\u2028last",
    "",
  ].join("\n");
  const folder = mkdtempSync(join(tmpdir(), "stdio-wire-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [there, back] = [join(folder, "there"), join(folder, "back")];
  for (const file of [there, back]) appendFileSync(file, "");
  const tee = `import { spawn } from "node:child_process"; import { appendFileSync } from "node:fs";
    const [there, back, command, ...args] = process.argv.slice(1);
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    process.stdin.on("data", (c) => { appendFileSync(there, c); child.stdin.write(c); }).on("end", () => child.stdin.end());
    child.stdout.on("data", (c) => { appendFileSync(back, c); process.stdout.write(c); });
    child.on("exit", (code) => process.exit(code ?? 1));`;
  const command: Command = [process.execPath, "--input-type=module", "-e", tee, there, back, ...EVERYTHING];
  const { client } = await connect(t, command);
  assert.equal(await echo(client, payload), payload);
  assert.equal(await echo(client, "still framed"), "still framed");
  const linesOf = (file: string) => {
    const text = readFileSync(file, "utf8");
    assert.ok(text.endsWith("\n"));
    return text.slice(0, -1).split("\n").map((line) => JSON.parse(line));
  };
  assert.deepEqual([linesOf(there).length, linesOf(back).length], [4, 3]);
});

test("transport:stdio:shutdown-escalation", POSIX, async (t) => {
  const deaf =
    `process.on("SIGTERM", () => process.stderr.write("sigterm ignored\\n")); setInterval(() => {}, 1000);`;
  const { client, transport } = await connect(t, preloaded(deaf, fixture("sdk_transport_raw.mjs")), {
    shutdownGraceMs: 300,
    terminateGraceMs: 1_000,
  });
  await client.close();
  assert.match(transport.stderrTail, /sigterm ignored/);
  assert.deepEqual(transport.exitStatus, { signal: "SIGKILL" });
});

test("transport:stdio:stderr-passthrough", SLOW, async (t) => {
  const lines: string[] = [];
  const { client } = await connect(t, fixture("sdk_transport_raw.mjs"), {
    stderr: (line) => void lines.push(line),
  });
  assert.equal(textOf(await client.callTool({ name: "add", arguments: { a: 1, b: 1 } })), "2");
  assert.deepEqual(lines, ["started"]);
});

test("lifecycle:connect:onerror-pre-handshake", SLOW, async (t) => {
  const garbage =
    `process.stdout.write('not json at all\\n{"jsonrpc":"1.0","id":1,"method":5}\\n'); setInterval(() => {}, 1000);
    process.stdin.on("end", () => process.exit()).resume();`;
  const { transport } = createClientTransport(t, { command: process.execPath, args: ["-e", garbage] });
  const client = new Client({ name: "c", version: "0" });
  const errors: string[] = [];
  client.onerror = ({ message }: Error) => void errors.push(message);
  await assert.rejects(client.connect(transport, { timeout: 2_000 }), { code: "REQUEST_TIMEOUT" });
  assert.ok(errors.some((message) => message.includes('"jsonrpc"')), String(errors));
});

test("transport:stdio:default-env-safelist", SLOW, async (t) => {
  process.env.E2E_SECRET_SENTINEL = "should not reach the child";
  t.after(() => delete process.env.E2E_SECRET_SENTINEL);
  const { client } = await connect(t, EVERYTHING);
  const names = Object.keys(JSON.parse(textOf(await client.callTool({ name: "env", arguments: {} }))));
  assert.equal(names.includes("E2E_SECRET_SENTINEL"), false);
  assert.ok(names.includes("PATH"));
});

test(
  "transport:stdio:pre-started-tolerated (the recognizable rejection; the server is left alone)",
  SLOW,
  async (t) => {
    const [command, ...args] = fixture("sdk_transport_raw.mjs");
    const { transport, events } = createClientTransport(t, { command, args });
    await transport.start();
    const { pid } = transport;
    await assert.rejects(
      new Client({ name: "c", version: "0" }).connect(transport),
      /StdioClientTransport already started/,
    );
    assert.equal(transport.pid, pid);
    process.kill(pid!, 0);
    assert.deepEqual(events, []);
  },
);

test(
  "typescript:transport:stdio:dual-era-serving (with one process, so that server/discover is on the pipe)",
  SLOW,
  async (t) => {
    for (const mode of [undefined, "auto"] as const) {
      const server = NODE.run("tests/peers/fixtures/sdk_transport_server", "v2", "serve");
      const { client } = await connect(t, server, mode === undefined ? {} : { mode });
      assert.equal(client.getNegotiatedProtocolVersion(), mode === "auto" ? MODERN : "2025-11-25");
      assert.equal(textOf(await client.callTool({ name: "add", arguments: { a: 1, b: 1 } })), "2");
      await client.close();
    }
  },
);

// test/integration/test/server/dualEraStdio.test.ts

test(
  "serveStdio over a real pipe: probe-then-fallback connection, driven through our client transport by hand",
  SLOW,
  async (t) => {
    const [command, ...args] = NODE.run("tests/peers/fixtures/sdk_transport_server", "v2", "serve");
    const { transport, received } = createClientTransport(t, { command, args, cwd: ROOT });
    await transport.start();
    const request = async (message: JSONRPCMessage) => {
      await transport.send(message);
      const find = () => received.find((each) => "id" in each && each.id === (message as { id: unknown }).id);
      await waitUntil(() => find() !== undefined, { timeoutMs: 30_000 });
      return find() as Message;
    };
    assert.deepEqual((await request(modern("probe", "server/discover"))).result.supportedVersions, [MODERN]);
    assert.equal((await request(initialize("greeting"))).result.protocolVersion, "2025-11-25");
    await transport.send(notification("notifications/initialized"));
    const { result } = await request(legacy("list", "tools/list"));
    assert.deepEqual([result.tools.length > 3, result.resultType], [true, undefined]);
  },
);

// packages/core-internal/test/shared/protocolTransportHandling.test.ts

test("Protocol: should send response to the correct transport when multiple clients are connected (a server instance each)", async (t) => {
  const answers = await Promise.all([1, 2].map(async (n) => {
    const [here, there] = createStreamPair();
    const server = new McpServer({ name: `server ${n}`, version: "1.0.0" });
    await server.connect(new StdioServerTransport(there));
    const client = new RawClient(here);
    t.after(() => server.close());
    client.send(initialize(1));
    return (await client.transcript.response(1)).result.serverInfo.name;
  }));
  assert.deepEqual(answers, ["server 1", "server 2"]);
});
