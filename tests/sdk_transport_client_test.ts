// The client transport for the official SDK on processes in memory: ownership, ends, frames that cannot be read (rules K1, K2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionClosedError } from "../errors.ts";
import type { JSONRPCMessage } from "../messages.ts";
import { StdioClientTransport } from "../sdk_transport.ts";
import { createFakeRuntime } from "../testing.ts";
import { stateOf } from "./helpers.ts";
import { connectClient as connect, createClient as create } from "./sdk_transport_client_helpers.ts";
import { afterMicrotasks } from "./sdk_transport_helpers.ts";
import { cancel, FakeClock, legacy, LogSink, notification, settle } from "./server_helpers.ts";

const CLOSED = { name: "ProtocolError", code: -32000, message: /the transport is closed/ };
const result = (id: number | string, more = {}): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  result: { ...more },
});
const discover = (id: number | string) => legacy(id, "server/discover");

test("StdioClientTransport starts the server in a group of its own, with a safe environment, and shows its pid (K1, P1)", async (t) => {
  const { transport, runtime } = create(t, { args: ["a b"], cwd: "/home", env: { TOKEN: "t" } });
  assert.equal(transport.pid, null);
  await transport.start();
  assert.equal(transport.pid, 1_000);
  const { command } = runtime.processes[0]!;
  assert.deepEqual(
    [command.command, command.args, command.cwd, command.env.TOKEN, command.processGroup, command.stderr],
    ["server", ["a b"], "/home", "t", true, "inherit"],
  );
  assert.ok("pid" in transport && "stderr" in transport, "SDK 2.x takes it for stdio by these");
  assert.equal(
    Object.hasOwn(Object.getPrototypeOf(transport), "_dispose"),
    false,
    "and probes in place without this",
  );
});

test("StdioClientTransport.start() runs once, and not after the end (K2)", async (t) => {
  const { transport } = await connect(t);
  await assert.rejects(transport.start(), {
    name: "TypeError",
    message: /StdioClientTransport already started/,
  });
  await transport.close();
  await assert.rejects(transport.start(), { name: "TypeError", message: /is closed/ });
});

test("StdioClientTransport.close() before start starts nothing and tells nobody (K2)", async (t) => {
  const { transport, runtime, told } = create(t);
  await transport.close();
  await assert.rejects(transport.start(), /is closed/);
  await assert.rejects(transport.send(notification("notifications/x")), CLOSED);
  assert.deepEqual([runtime.processes.length, told], [0, []]);
});

test("StdioClientTransport.send() rejects with -32000 before the start and after the end (K2)", async (t) => {
  const { transport, read } = create(t);
  await assert.rejects(transport.send(notification("x")), { code: -32000, message: /not started/ });
  await transport.start();
  await transport.send(notification("notifications/x"));
  await settle();
  assert.deepEqual(read(), [notification("notifications/x")]);
  await transport.close();
  await assert.rejects(transport.send(notification("notifications/x")), CLOSED);
});

test("StdioClientTransport.close() calls onclose at once and resolves when the process is reaped (K2, P3)", async (t) => {
  const { transport, runtime, clock, told } = await connect(t, {
    shutdownGraceMs: 100,
    terminateGraceMs: 200,
  });
  const process = runtime.processes[0]!;
  process.ignoresEndOfInput = true;
  process.ignoredSignals.add("SIGTERM");
  const closing = transport.close();
  assert.deepEqual(told, ["close"]);
  await clock.advance(100);
  assert.deepEqual(process.signals, ["SIGTERM"]);
  await clock.advance(199);
  assert.equal(await stateOf(closing), "pending");
  assert.equal(await stateOf(transport.close()), "pending", "another call waits, too");
  await clock.advance(1);
  await closing;
  assert.deepEqual(process.signals, ["SIGTERM", "SIGKILL"]);
  assert.deepEqual(transport.exitStatus, { signal: "SIGKILL" });
  assert.equal(transport.pid, null);
  assert.deepEqual(told, ["close"]);
});

test("StdioClientTransport tells how a server ended by itself, once, then onclose, once (K2)", async (t) => {
  const { transport, runtime, told, errors, clock } = await connect(t, { stderr: "capture" });
  const process = runtime.processes[0]!;
  await process.writeStderr("starting\nmissing API key\n");
  process.exit({ code: 78 });
  await clock.advance(1_000);
  assert.deepEqual(told, ["error", "close"]);
  const [error] = errors;
  assert.ok(error instanceof ConnectionClosedError);
  assert.deepEqual([error.reason, error.exit], ["exited", { code: 78 }]);
  assert.match(error.message, /the server has exited with code 78; its stderr says: .*missing API key/);
  assert.match(error.stderrTail, /missing API key/);
  assert.match(transport.stderrTail, /missing API key/);
  await assert.rejects(transport.send(notification("notifications/x")), CLOSED);
  await transport.close();
  assert.deepEqual(told, ["error", "close"]);
  assert.equal(runtime.processes.length, 1, "there are no restarts");
});

test("StdioClientTransport ends a server that ends its output or its input (C7, P3)", async (t) => {
  for (
    const [end, message] of [["closeStdout", /ended its output/], ["closeStdin", /closed its input/]] as const
  ) {
    const { transport, runtime, told, errors, clock } = await connect(t);
    runtime.processes[0]![end]();
    transport.send(notification("notifications/x")).catch(() => {});
    await clock.advance(10_000);
    assert.deepEqual(told, ["error", "close"]);
    assert.match(errors[0]!.message, message);
    assert.equal(runtime.processes[0]!.ended, true);
  }
});

test("StdioClientTransport notices the end of a server whose output somebody else holds (C7)", async (t) => {
  const { runtime, told, clock } = await connect(t);
  runtime.processes[0]!.exitHoldingStdout({ code: 1 });
  await clock.advance(1_000);
  assert.deepEqual(told, ["error", "close"]);
});

test("StdioClientTransport.start() rejects when the server cannot be started; onclose is called (P10)", async (t) => {
  const failure = new Error("no such command");
  const { transport, told, errors } = create(t, { onSpawn: () => Promise.reject(failure) });
  await assert.rejects(transport.start(), (error) => error === failure);
  assert.deepEqual([told, errors], [["error", "close"], [failure]]);
  await transport.close();
  assert.deepEqual(told, ["error", "close"]);
});

test("StdioClientTransport.close() during the start ends the process that comes (K2)", async (t) => {
  let release!: () => void;
  const { transport, runtime, told } = create(t, {
    onSpawn: () => new Promise<void>((resolve) => release = resolve),
  });
  const starting = transport.start();
  await settle();
  const closing = transport.close();
  release();
  await assert.rejects(starting, { code: -32000 });
  await closing;
  assert.equal(runtime.processes[0]!.ended, true);
  assert.deepEqual(told, ["close"]);
});

test("StdioClientTransport ends the server at once when its signal fires (P4)", async (t) => {
  const controller = new AbortController();
  const { runtime, told, errors, clock } = await connect(t, { signal: controller.signal });
  const process = runtime.processes[0]!;
  process.ignoresEndOfInput = true;
  const reason = new Error("the host ends");
  controller.abort(reason);
  await clock.advance(0);
  assert.deepEqual(process.signals, ["SIGKILL"]);
  assert.deepEqual([told, errors], [["error", "close"], [reason]]);
  await assert.rejects(
    create(t, { signal: controller.signal }).transport.start(),
    (error) => error === reason,
  );
});

test("StdioClientTransport.close() leaves its caller's signal as it is, and listens to it no more (S3-19)", async (t) => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  Object.assign(signal, {
    addEventListener: (...args: unknown[]) => (listeners++, Reflect.apply(addEventListener, signal, args)),
    removeEventListener: (
      ...args: unknown[]
    ) => (listeners--, Reflect.apply(removeEventListener, signal, args)),
  });
  const { transport } = await connect(t, { signal });
  assert.equal(listeners, 1);
  await transport.close();
  assert.deepEqual([signal.aborted, listeners], [false, 0]);
});

test("StdioClientTransport hands over what the server says, and takes away what the SDKs do not know (K1)", async (t) => {
  const { transport, received, write } = await connect(t);
  await transport.send(legacy(0, "ping"));
  await write([
    JSON.stringify({ ...result(0), trace: "abc" }),
    notification("notifications/x"),
    legacy("s", "roots/list"),
  ]);
  assert.deepEqual(received, [result(0), notification("notifications/x"), legacy("s", "roots/list")]);
});

test("StdioClientTransport lets progress be handled before the response in the same chunk (K2, F1 of the SDK)", async (t) => {
  const connected = await connect(t);
  const order: string[] = [];
  connected.transport.onmessage = (message) => {
    // The SDKs take one microtask; whoever is wrapped around them may take more.
    if (!("method" in message)) order.push(`response ${(message as { id: number }).id}`);
    else afterMicrotasks(3, () => order.push("progress"));
  };
  const progress = notification("notifications/progress", { progressToken: 0, progress: 1 });
  for (const id of [0, 1]) await connected.transport.send(legacy(id, "tools/call"));
  await connected.write([progress, progress, result(0), progress, result(1)]);
  assert.deepEqual(order, ["progress", "progress", "response 0", "progress", "response 1"]);
});

test("StdioClientTransport settles a request only by its own id and type; a late answer is told (C2, S1-70)", async (t) => {
  const { transport, received, errors, log, write } = await connect(t);
  for (const id of [0, 1, 2]) await transport.send(legacy(id, "tools/call"));
  await transport.send(cancel(2));
  await write([result(""), result("0"), result(2), result(9), result(1), result(1), result(0)]);
  assert.deepEqual(received, [result(1), result(0)]);
  assert.deepEqual(errors, []);
  assert.equal(log.texts("warn").length, 5);
  assert.equal(log.texts("warn").filter((text) => /its request was given up/.test(text)).length, 1);
});

for (
  const [what, answer, detail] of [
    ["is no JSON", `{"jsonrpc":"2.0","id":1,"result":{`, /not valid JSON/],
    ["has a result that is no object", `{"jsonrpc":"2.0","id":1,"result":5}`, /"result" is not an object/],
    [
      "has a result and an error",
      `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`,
      /both/,
    ],
    ["has no jsonrpc", `{"id":1,"result":{}}`, /"jsonrpc"/],
    [
      "is too long, with the id behind",
      `{"jsonrpc":"2.0","result":{"x":"${"y".repeat(2_000)}"},"id":1}`,
      /longer/,
    ],
    ["has a _meta that the SDKs refuse", `{"jsonrpc":"2.0","id":1,"result":{"_meta":5}}`, /"_meta"/],
  ] as const
) {
  test(`StdioClientTransport fails a request at once whose answer ${what} (C5, F13 of the SDK)`, async (t) => {
    const { transport, received, errors, write } = await connect(t, { limits: { maxLineBytes: 1_000 } });
    for (const id of [0, 1]) await transport.send(legacy(id, "tools/call"));
    await write([answer, result(0)]);
    const [failed, other] = received as Array<{ id: unknown; error: { code: number; message: string } }>;
    assert.deepEqual([failed!.id, failed!.error.code], [1, -32700]);
    assert.match(failed!.error.message, detail);
    assert.deepEqual(other, result(0));
    assert.deepEqual(errors.map(({ name }) => name), ["InvalidResponseError"]);
  });
}

test("StdioClientTransport gives an error without an id to the one request that it can mean (C5)", async (t) => {
  const connected = await connect(t);
  const { transport, received, errors, write } = connected;
  const error = { code: -32700, message: "Parse error" };
  for (const id of ["listen:0", 0, 1]) await transport.send(legacy(id, "x"));
  const heard = { "io.modelcontextprotocol/subscriptionId": "listen:0" };
  await write([notification("notifications/subscriptions/acknowledged", { _meta: heard })]);
  await write([`{"jsonrpc":"2.0","id":null,"error":${JSON.stringify(error)}}`]);
  assert.equal(received.length, 1, "two can be meant");
  assert.deepEqual([errors[0]!.name, errors[0]!.message], ["ProtocolError", "Parse error"]);
  await write([result(1), `{"jsonrpc":"2.0","id":null,"error":${JSON.stringify(error)}}`]);
  assert.deepEqual(received.slice(1), [result(1), { jsonrpc: "2.0", id: 0, error }]);
});

test("StdioClientTransport fails nothing for an error that its own notifications may have got (XB1, C5)", async (t) => {
  const { transport, received, errors, write } = await connect(t);
  const unnamed = (code: number) => `{"jsonrpc":"2.0","id":null,"error":{"code":${code},"message":"no"}}`;
  await transport.send(legacy(0, "initialize"));
  await write([result(0)]);
  await transport.send(notification("notifications/initialized"));
  await transport.send(legacy(1, "tools/list"));
  await write([unnamed(-32601), unnamed(-32600)]);
  await transport.send(cancel(1));
  await transport.send(legacy(2, "tools/list"));
  await write([unnamed(-32600), result(2)]);
  assert.deepEqual(received, [result(0), result(2)]);
  assert.equal(errors.length, 3);
  // Nothing else is written any more that it could be about, and it says that a request could not be read.
  await transport.send(legacy(3, "tools/list"));
  await write([unnamed(-32601)]);
  assert.equal(received.length, 2);
  await write([unnamed(-32700)]);
  assert.deepEqual(received.at(-1), { jsonrpc: "2.0", id: 3, error: { code: -32700, message: "no" } });
});

test("StdioClientTransport tells a bad line that nobody waits for; text on stdout is warned of only (C6)", async (t) => {
  const { errors, log, told, write } = await connect(t);
  await write(["server listening on stdio", '{"jsonrpc":"2.0","method":5}', '{"id":77,"result":{}}']);
  assert.deepEqual(errors.map(({ message }) => message), [
    'Cannot read a line: the member "method" is not a string',
    'Cannot read a line: the member "jsonrpc" is not "2.0"',
  ]);
  assert.deepEqual(log.texts("warn").length, 1);
  assert.deepEqual(told, ["error", "error"]);
});

test("StdioClientTransport tells what the SDKs would refuse in silence, and hands it over to nobody (K2)", async (t) => {
  const { received, errors, write } = await connect(t);
  await write([notification("notifications/x", { _meta: 5 }), notification("notifications/y")]);
  assert.deepEqual(received, [notification("notifications/y")]);
  assert.deepEqual(errors.map(({ message }) => message), [
    'Cannot read "notifications/x": "_meta" is not an object',
  ]);
});

test("StdioClientTransport takes a batch of answers (V8)", async (t) => {
  const { transport, received, write } = await connect(t);
  for (const id of [0, 1]) await transport.send(legacy(id, "x"));
  await write([JSON.stringify([result(0), 5, result(1)])]);
  assert.deepEqual(received, [result(0), result(1)]);
});

const SPOILT = { code: -32600, message: "Server already initialized" };
const refusal = (id: number | string, error: { code: number; message: string } = SPOILT): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error,
});

test("StdioClientTransport starts a server once more that refuses initialize because of the probe (XB2, E2, K2)", async (t) => {
  const { transport, runtime, received, told, clock, read, write } = await connect(t);
  await transport.send(discover("probe"));
  await write([refusal("probe", { code: -32601, message: "no" })]);
  await transport.send(legacy(0, "initialize"));
  await write([refusal(0)]);
  await clock.advance(5_000);
  assert.equal(runtime.processes.length, 2);
  assert.equal(received.length, 1, "the SDK hears nothing of it");
  assert.deepEqual(read(1), [legacy(0, "initialize")]);
  await write([result(0)], 1);
  assert.deepEqual(received.at(-1), result(0));
  assert.deepEqual([told, transport.pid], [[], 1_001]);
  // Once only.
  await transport.send(legacy(1, "initialize"));
  await write([refusal(1)], 1);
  assert.deepEqual(received.at(-1), refusal(1));
  assert.equal(runtime.processes.length, 2);
});

test("StdioClientTransport starts no server twice that refuses initialize for a reason of its own, or without a probe (E2)", async (t) => {
  for (
    const [probed, code, message] of [[true, -32603, "no token"], [
      false,
      -32600,
      "already initialized",
    ]] as const
  ) {
    const { transport, runtime, received, write } = await connect(t);
    if (probed) {
      await transport.send(discover("probe"));
      await write([refusal("probe", { code: -32601, message: "no" })]);
    }
    await transport.send(legacy(0, "initialize"));
    await write([refusal(0, { code, message })]);
    assert.deepEqual(received.at(-1), refusal(0, { code, message }));
    assert.equal(runtime.processes.length, 1);
  }
});

test("StdioClientTransport greets once more whose first answer stands behind text without a line feed (XB5, K2)", async (t) => {
  const { transport, received, errors, read, write } = await connect(t);
  for (const greeting of [discover("probe"), legacy(0, "initialize")]) {
    await transport.send(greeting);
    const { id } = greeting as { id: number | string };
    const said = read().length;
    await write([`loading… ${JSON.stringify(result(id))}`]);
    assert.deepEqual(read().slice(said), [greeting]);
    await write([result(id)]);
    assert.deepEqual(received.at(-1), result(id));
  }
  assert.deepEqual([received.length, errors.length], [2, 0]);
  await transport.send(legacy(1, "tools/list"));
  await write([`more… ${JSON.stringify(result(1))}`]);
  assert.equal((received.at(-1) as { error: { code: number } }).error.code, -32700);
});

test("StdioClientTransport says a greeting only once more, and may start the server anew all the same (XB2, XB5, K2)", async (t) => {
  const { transport, runtime, received, read, write, clock } = await connect(t);
  await transport.send(discover("probe"));
  const spoilt = `loading… ${JSON.stringify(result("probe"))}`;
  await write([spoilt]);
  await write([spoilt]);
  assert.equal(read().length, 2);
  assert.equal((received.at(-1) as { error: { code: number } }).error.code, -32700);
  await transport.send(legacy(0, "initialize"));
  await write([refusal(0)]);
  await clock.advance(5_000);
  assert.equal(runtime.processes.length, 2);
  assert.deepEqual(read(1), [legacy(0, "initialize")]);
});

test("StdioClientTransport tells the first cause of an end, not what ending the server has brought about (XB11, C7)", async (t) => {
  const { transport, runtime, errors, clock, write, told } = await connect(t);
  const server = runtime.processes[0]!;
  server.closeStdin();
  await transport.send(legacy(0, "x")).catch(() => {});
  for (let n = 0; n < 100 && !told.includes("close"); n++) {
    if (!server.ended) await write(["more"]).catch(() => {});
    if (clock.now() >= 2_000) server.exit({ code: 1 });
    await clock.advance(50);
  }
  const error = errors.at(-1);
  assert.ok(error instanceof ConnectionClosedError);
  assert.deepEqual([error.reason, error.exit], ["output_failed", { code: 1 }]);
  assert.match(error.message, /the server has closed its input and then exited with code 1/);
});

test("StdioClientTransport ends its server with the scope of an await using (XF18, K2)", async (t) => {
  const { transport, runtime } = await connect(t);
  await transport[Symbol.asyncDispose]();
  assert.ok(runtime.processes[0]!.ended);
});

test("StdioClientTransport survives callbacks that reject (XA6, K2)", async (t) => {
  const { transport, log, errors, write, runtime } = await connect(t, {
    stderr: (() => Promise.reject(new Error("mine"))) as () => void,
  });
  const reject = () => Promise.reject(new Error("mine")) as unknown as void;
  Object.assign(transport, { onmessage: reject, onclose: reject });
  await runtime.processes[0]!.writeStderr("a line\n");
  await write([notification("notifications/x")]);
  assert.equal(errors.length, 1);
  transport.onerror = reject;
  await write([notification("notifications/x")]);
  await transport.close();
  await settle();
  assert.deepEqual(log.texts("error"), [
    "[mcp_stdio] a receiver of stderr has failed: mine",
    "[mcp_stdio] onerror has failed: mine",
    "[mcp_stdio] onclose has failed: mine",
  ]);
});

test("StdioClientTransport survives callbacks that throw (K2)", async (t) => {
  const { transport, log, told, write } = await connect(t);
  transport.onmessage = () => {
    throw new Error("no");
  };
  await write([notification("notifications/x")]);
  assert.deepEqual(told, ["error"]);
  transport.onmessage = () => Promise.reject(new Error("no")) as unknown as void;
  await write([notification("notifications/x")]);
  assert.deepEqual(told, ["error", "error"]);
  transport.onclose = () => {
    throw new Error("no");
  };
  await transport.close();
  assert.deepEqual(log.texts("error"), ["[mcp_stdio] onclose has failed: no"]);
});

test("StdioClientTransport starts a server again that exits at the probe, and answers the probe with -32601 (K2, E2)", async (t) => {
  const { transport, runtime, received, told, clock, read, write } = await connect(t);
  await transport.send(discover("probe-1"));
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  assert.equal(runtime.processes.length, 2);
  assert.deepEqual(received.map((message) => (message as { error: { code: number } }).error.code), [-32601]);
  assert.deepEqual([told, transport.pid], [[], 1_001]);
  await transport.send(legacy(0, "initialize"));
  await settle();
  assert.deepEqual(read(1), [legacy(0, "initialize")]);
  await write([result(0)], 1);
  assert.deepEqual(received.at(-1), result(0));
  runtime.processes[1]!.exit({ code: 1 });
  await clock.advance(1_000);
  assert.deepEqual([told, runtime.processes.length], [["error", "close"], 2], "only once");
});

test("StdioClientTransport starts a server again only once, though it exits at each probe (K2)", async (t) => {
  const { transport, runtime, told, clock } = await connect(t);
  for (const [index, id] of ["probe-1", "probe-2"].entries()) {
    await transport.send(discover(id));
    runtime.processes[index]!.exit({ code: 1 });
    await clock.advance(1_000);
  }
  assert.deepEqual([told, runtime.processes.length], [["error", "close"], 2]);
});

test("StdioClientTransport sends what comes while the server is started again to the new one (K2)", async (t) => {
  let release!: () => void;
  const { transport, runtime, clock, read } = await connect(t, {
    onSpawn: (_process, index) => index === 0 ? undefined : new Promise<void>((resolve) => release = resolve),
  });
  await transport.send(discover("probe-1"));
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  const sending = transport.send(legacy(0, "initialize"));
  assert.equal(await stateOf(sending), "pending");
  release();
  await sending;
  await settle();
  assert.deepEqual(read(1), [legacy(0, "initialize")]);
});

test("StdioClientTransport does not start a server again that has answered, or was asked something else (K2)", async (t) => {
  for (const answered of [true, false]) {
    const { transport, runtime, told, clock, write } = await connect(t);
    await transport.send(discover("probe-1"));
    if (answered) {
      await write([result("probe-1")]);
      await transport.send(discover("probe-2"));
    } else await transport.send(legacy(0, "tools/list"));
    runtime.processes[0]!.exit({ code: 1 });
    await clock.advance(1_000);
    assert.deepEqual([told, runtime.processes.length], [["error", "close"], 1]);
  }
});

test("StdioClientTransport that cannot start the server again tells why and ends (K2)", async (t) => {
  const { transport, runtime, told, errors, clock } = await connect(t, {
    onSpawn: (_process, index) => index === 0 ? undefined : Promise.reject(new Error("gone from disk")),
  });
  await transport.send(discover("probe-1"));
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  assert.deepEqual(told, ["error", "close"]);
  assert.match(errors[0]!.message, /gone from disk/);
});

test("StdioClientTransport.close() while the server is started again leaves nothing behind (K2)", async (t) => {
  let release!: () => void;
  const { transport, runtime, told, clock, received } = await connect(t, {
    onSpawn: (_process, index) => index === 0 ? undefined : new Promise<void>((resolve) => release = resolve),
  });
  await transport.send(discover("probe-1"));
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  const closing = transport.close();
  release();
  await closing;
  assert.equal(runtime.processes[1]!.ended, true);
  assert.deepEqual([told, received], [["close"], []]);
});

test("StdioClientTransport.send() waits while the server does not read, and settles at the end (C8, F16 of the SDK)", async () => {
  const clock = new FakeClock();
  const options = { command: "deaf", runtime: createFakeRuntime(), clock, logger: new LogSink() };
  const deaf = new StdioClientTransport(options);
  await deaf.start();
  const message = notification("notifications/x", { text: "x".repeat(100_000) });
  const sends = Array.from({ length: 300 }, () => deaf.send(message));
  for (const send of sends) send.catch(() => {});
  assert.equal(await stateOf(sends[299]!), "pending");
  const closing = deaf.close();
  await clock.advance(10_000);
  await closing;
  const outcomes = await Promise.allSettled(sends);
  assert.equal(outcomes.length, 300);
  assert.equal((outcomes[299] as PromiseRejectedResult).reason.code, -32000);
});

test("StdioClientTransport rejects the send of a message that cannot be written (K2)", async (t) => {
  const { transport, received, write } = await connect(t, { limits: { maxLineBytes: 1_000 } });
  await assert.rejects(transport.send(legacy(0, "x", { text: "x".repeat(1_000) })), {
    code: "frame_too_long",
  });
  await write([result(0)]);
  assert.deepEqual(received, [], "it is not waited for");
});
