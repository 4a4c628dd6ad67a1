// What passes, told to `logger.debug` where it is asked for: on both sides, in both faces of the SDK, and never the content.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../client.ts";
import { FrameError } from "../errors.ts";
import { StreamConnection } from "../internal/stream_connection.ts";
import { FrameTrace } from "../internal/framing/frame_trace.ts";
import { FRAMING_DEFAULTS } from "../internal/options.ts";
import type { JSONRPCMessage } from "../messages.ts";
import { Server } from "../server.ts";
import { createStreamPair, FakeClock } from "../testing.ts";
import { createLog, inhabit, meet, settle } from "./_client_peer.ts";
import { bytesOf } from "./helpers.ts";
import { connectClient } from "./sdk_transport_client_helpers.ts";
import { serveInMemory } from "./sdk_transport_helpers.ts";

type Log = ReturnType<typeof createLog>;

/** The frames that a log tells of. */
function frames({ lines }: Pick<Log, "lines">): [string, Record<string, unknown>][] {
  return lines.filter(({ level, message }) => level === "debug" && message.startsWith("[mcp_frame] "))
    .map(({ message, facts }) => [message.slice("[mcp_frame] ".length), facts]);
}

/** Two ends of which the first one tells of what passes. */
function open(): { here: StreamConnection; there: StreamConnection; log: Log } {
  const log = createLog();
  const [here, there] = createStreamPair();
  return {
    here: new StreamConnection(here, { ...FRAMING_DEFAULTS, trace: new FrameTrace(log.logger) }),
    there: new StreamConnection(there, FRAMING_DEFAULTS),
    log,
  };
}

test("FrameTrace tells direction, kind, id, method and size of each frame", async () => {
  const { here, there, log } = open();
  const messages: JSONRPCMessage[] = [
    { jsonrpc: "2.0", id: 1, method: "é", params: { text: "SECRET" } },
    { jsonrpc: "2.0", method: "notifications/x", params: { text: "SECRET" } },
    { jsonrpc: "2.0", id: "a", result: { text: "SECRET" } },
    { jsonrpc: "2.0", id: 2, error: { code: -5, message: "SECRET", data: "SECRET" } },
    { jsonrpc: "2.0", error: { code: -32700, message: "SECRET" } },
  ];
  const kinds = [
    ["a request", { id: "1", method: '"é"' }],
    ["a notification", { method: '"notifications/x"' }],
    ["a result", { id: '"a"' }],
    ["an error response", { id: "2", code: -5 }],
    ["an error response", { id: "none", code: -32700 }],
  ] as const;
  const told = (direction: string) =>
    kinds.map(([kind, facts], index) => [
      `${direction} ${kind}`,
      { ...facts, bytes: bytesOf(JSON.stringify(messages[index])).length },
    ]);
  for (const message of messages) here.send(message);
  here.send(messages);
  await here.flushed();
  const batch = bytesOf(JSON.stringify(messages)).length;
  assert.deepEqual(frames(log), [...told("sent"), ["sent a batch", { members: 5, bytes: batch }]]);
  log.lines.length = 0;
  for (const message of messages) there.send(message);
  there.send(messages);
  await there.close();
  while (await here.receive() !== undefined);
  assert.deepEqual(frames(log), [...told("received"), ["received a batch", { members: 5, bytes: batch }]]);
  assert.ok(!JSON.stringify(log.lines).includes("SECRET"));
});

test("FrameTrace tells of bad lines, and nothing of their content", async () => {
  const log = createLog();
  const [here, there] = createStreamPair();
  const settings = { ...FRAMING_DEFAULTS, maxLineBytes: 50, trace: new FrameTrace(log.logger) };
  const connection = new StreamConnection(here, settings);
  const writer = there.writable.getWriter();
  await writer.write(
    bytesOf("SECRET\n\n", '{"jsonrpc":"2.0","id":5,"method":1}\n', `{"id":6,"x":"${"S".repeat(90)}"}\n`),
  );
  await writer.close();
  while (await connection.receive() !== undefined);
  assert.deepEqual(frames(log), [
    ["received a bad line", { reason: "invalid_json", id: "none", bytes: 6 }],
    ["received a bad line", { reason: "invalid_message", id: "5", bytes: 35 }],
    ["received a bad line", { reason: "too_long", id: "6", bytes: 105 }],
  ]);
});

test("FrameTrace tells of what leaves when it begins to leave, and not of what is withdrawn", async () => {
  const { here, log } = open();
  const first = here.send({ jsonrpc: "2.0", id: 1, method: "a", params: { text: "x".repeat(10_000) } });
  here.send({ jsonrpc: "2.0", id: 2, method: "b" });
  const withdrawn = here.send({ jsonrpc: "2.0", id: 3, method: "c" });
  assert.equal(first.begun, true);
  assert.deepEqual(frames(log).map(([, { id }]) => id), ["1"]);
  assert.ok(withdrawn.withdraw());
  withdrawn.accepted.catch(() => {});
  here.send({ jsonrpc: "2.0", id: 4, method: "d" });
  await here.flushed();
  assert.deepEqual(frames(log).map(([, { id }]) => id), ["1", "2", "4"]);
});

test("FrameTrace survives values that do something when they are looked at again", async () => {
  const { here, log } = open();
  for (let throwsAt = 1; throwsAt <= 12; throwsAt++) {
    let looks = 0;
    const message = { jsonrpc: "2.0", id: throwsAt, result: {} } as unknown as JSONRPCMessage;
    Object.defineProperty(message, "id", {
      enumerable: true,
      get: () => {
        if (++looks >= throwsAt) throw new Error("looked at");
        return throwsAt;
      },
    });
    try {
      here.send(message);
    } catch (error) {
      assert.ok(error instanceof FrameError, String(error));
    }
  }
  await here.flushed();
  const kinds = frames(log).map(([what]) => what);
  assert.ok(kinds.includes("sent a message that cannot be looked at"), kinds.join());
  assert.ok(kinds.includes("sent a result"), kinds.join());
});

test("A client and a server with traceFrames tell of all that passes; without it of nothing", async () => {
  for (const traceFrames of [true, false]) {
    const [theirs, ours] = [createLog(), createLog()];
    const [here, there] = createStreamPair();
    const tools = { echo: { call: () => "SECRET" } };
    const info = { name: "test", version: "1" };
    const server = new Server({ info, tools, logger: theirs.logger, traceFrames });
    const running = server.run(there);
    const client = await Client.connect(here, { clock: new FakeClock(), logger: ours.logger, traceFrames });
    await client.request("tools/call", { name: "echo", arguments: { text: "SECRET" } });
    await client.close();
    await running;
    const kinds = (log: Log) => frames(log).map(([what, { method }]) => `${what} ${method ?? ""}`.trim());
    const both = [["a request", "server/discover"], ["a result"], ["a request", "tools/call"], ["a result"]];
    const asks = (index: number) => index % 2 === 0;
    const expected = (isClient: boolean) =>
      both.map(([kind, method], index) =>
        `${asks(index) === isClient ? "sent" : "received"} ${kind}${
          method === undefined ? "" : ` "${method}"`
        }`
      );
    assert.deepEqual(kinds(ours), traceFrames ? expected(true) : []);
    assert.deepEqual(kinds(theirs), traceFrames ? expected(false) : []);
    assert.ok(!JSON.stringify([ours.lines, theirs.lines]).includes("SECRET"));
  }
});

test("Transports of the SDK and processes tell of what passes, too", async (t) => {
  const served = await serveInMemory(t, { traceFrames: true });
  served.client.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  await settle();
  await served.answer(1);
  await settle();
  const { transport, write, log } = await connectClient(t, { traceFrames: true });
  await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  await write([{ jsonrpc: "2.0", id: 1, result: {} }]);
  const told = (entries: readonly { text: string }[]) =>
    entries.map(({ text }) => text).filter((text) => text.startsWith("[mcp_frame]"));
  assert.deepEqual(told(served.log.entries), ["[mcp_frame] received a request", "[mcp_frame] sent a result"]);
  assert.deepEqual(told(log.entries), ["[mcp_frame] sent a request", "[mcp_frame] received a result"]);
  const { client, log: spawned } = await inhabit(undefined, { traceFrames: true });
  assert.equal(frames(spawned).length, 2);
  await client.close();
  const silent = await meet();
  assert.deepEqual(frames(silent.log), []);
  await silent.client.close();
});
