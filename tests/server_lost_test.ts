// Output that is gone (rule V13) and input that fails (rule V11).
//
// B29 asks for a send that rejects: here it resolves, since the signal has told the handler already, and a rejection that it
// does not look at would end the process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CancelledError } from "../errors.ts";
import { Server } from "../server.ts";
import { nextTurn, stateOf, waitUntil } from "./helpers.ts";
import { call, Gate, LogSink, start } from "./server_helpers.ts";

test("Server ends quietly when its output is gone: handlers aborted, input cancelled (V13)", async (t) => {
  const reasons: CancelledError[] = [];
  const session = start(t, {
    tools: {
      wait: {
        call: (_args, { signal }) => new Promise(() => signal.onabort = () => reasons.push(signal.reason)),
      },
      hello: { call: () => "hello" },
    },
  });
  session.send(call(1, "wait"), call(2, "wait"));
  await session.settle();
  session.breakOutput();
  session.send(call(3, "hello"));
  await session.settle();
  await session.clock.advance(1_000);
  const end = await session.running;
  assert.equal(end.reason, "output_failed");
  assert.equal((end.error as { code?: string }).code, "EPIPE");
  assert.equal(reasons.length, 2);
  assert.ok(reasons.every((reason) => reason instanceof CancelledError && reason.serverShutdown));
  assert.deepEqual(session.log.entries.map(({ level, text }) => [level, text]), [
    ["info", "[mcp_stdio] the output is gone: EPIPE: broken pipe, write"],
  ]);
});

test("Server notices a lost output while it drains, and waits for nobody (V13)", async (t) => {
  const session = start(t, {
    tools: {
      wait: { call: (_args, { signal }) => new Promise(() => signal.onabort = () => {}) },
      say: {
        async call(_args, { signal }) {
          await new Promise((resolve) => session.clock.setTimeout(() => resolve(undefined), 1_000));
          return signal.aborted ? "" : "said";
        },
      },
    },
  });
  session.send(call(1, "wait"), call(2, "say"));
  await session.settle();
  session.end();
  session.breakOutput();
  await session.clock.advance(1_200);
  assert.equal(await stateOf(session.running), "fulfilled");
  assert.deepEqual(await session.running, { reason: "eof" });
});

test("A handler that waits to send goes on when the output is gone (V13)", async (t) => {
  const waiting = new Gate();
  let wentOn = false;
  const session = start(t, {
    limits: { maxQueuedBytes: 1_000 },
    tools: {
      big: {
        async call(_args, { log }) {
          await log("info", "x".repeat(100_000));
          waiting.open();
          await log("info", "x".repeat(100_000));
          await log("info", "x".repeat(100_000));
          wentOn = true;
          return "";
        },
      },
    },
  }, { capacityBytes: 1_000 });
  session.stall();
  session.send(call(1, "big", {}, { "io.modelcontextprotocol/logLevel": "debug" }));
  await waiting.opened;
  session.breakOutput();
  await session.settle();
  assert.equal((await session.running).reason, "output_failed");
  await waitUntil(() => wentOn);
});

test("Server ends when its input fails, and answers what came before (V11)", async () => {
  const logger = new LogSink();
  const server = new Server({ info: { name: "test", version: "1.0.0" }, logger });
  const failure = new Error("the disk is on fire");
  const readable = new ReadableStream<Uint8Array>({
    start(controller): void {
      controller.enqueue(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'));
    },
    async pull(controller): Promise<void> {
      await nextTurn();
      controller.error(failure);
    },
  });
  let written = "";
  const writable = new WritableStream<Uint8Array>({
    write(chunk): void {
      written += new TextDecoder().decode(chunk);
    },
  });
  assert.deepEqual(await server.run({ readable, writable }), { reason: "input_failed", error: failure });
  assert.equal(written, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
  assert.deepEqual(logger.texts("warn"), ["[mcp_stdio] the input has failed: the disk is on fire"]);
});
