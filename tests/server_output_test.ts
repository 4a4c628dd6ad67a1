// What a request says while it runs (rule V10), and the bounds of the output (V12). Its loss is in server_lost_test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoggingLevel, Params } from "../messages.ts";
import { type RequestContext, Server } from "../server.ts";
import { heldBytes, nextTurn, waitUntil } from "./helpers.ts";
import {
  call,
  Gate,
  initialize,
  legacy,
  LogSink,
  modern,
  notification,
  SLOW,
  start,
  steady,
  textOf,
} from "./server_helpers.ts";

const PROGRESS = "notifications/progress";
const LOG = "notifications/message";
const LEVELS: LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

function atLevel(level: string): Params {
  return { "io.modelcontextprotocol/logLevel": level };
}

test("Server sends progress only for a token, only rising, and before the response (V10)", async (t) => {
  const session = start(t, {
    tools: {
      steps: {
        call(_args, { progress }) {
          for (const value of [-1, 0, 0.5, 0.5, 0.25, 3, 2, 10]) progress(value, 10, `at ${value}`);
          return "done";
        },
      },
    },
  });
  session.send(
    call(1, "steps"),
    call(2, "steps", {}, { progressToken: "abc" }),
    call(3, "steps", {}, { progressToken: 0 }),
    call(4, "steps", {}, { progressToken: 1.5 }),
    call(5, "steps", {}, { progressToken: {} }),
  );
  await session.response(5);
  const { messages } = session.transcript;
  assert.deepEqual(messages.map(({ id, params }) => id ?? params.progressToken), [
    1,
    ...Array(5).fill("abc"),
    2,
    ...Array(5).fill(0),
    3,
    4,
    5,
  ]);
  assert.deepEqual(messages[2], {
    jsonrpc: "2.0",
    method: PROGRESS,
    params: { progressToken: "abc", progress: 0, total: 10, message: "at 0" },
  });
});

test("Server sends nothing of a request after its response (V10)", async (t) => {
  let context: RequestContext | undefined;
  const session = start(t, {
    tools: {
      leak: {
        call(_args, given) {
          context = given;
          return "done";
        },
      },
    },
  });
  session.send(call(1, "leak", {}, { progressToken: 1, ...atLevel("debug") }));
  await session.response(1);
  context!.progress(1);
  await context!.log("error", "late");
  await context!.notify("x-late");
  await assert.rejects(context!.requestInput("roots/list"), TypeError);
  await session.settle();
  assert.equal(session.transcript.messages.length, 1);
});

test("context.progress() refuses what is no number (V10)", async (t) => {
  const session = start(t, {
    handlers: {
      "x/progress": (params, { progress }) => (progress(params.a as number, params.b as number), {}),
    },
    tools: { bad: { call: (_args, { progress }) => progress(NaN) } },
  });
  session.send(
    modern(1, "x/progress", { a: "1" }),
    modern(2, "x/progress", { a: 1, b: "2" }),
    call(3, "bad", {}, { progressToken: 1 }),
  );
  for (const id of [1, 2]) assert.equal((await session.response(id)).error?.code, -32603);
  assert.equal(
    textOf(await session.response(3)),
    `Cannot report progress: "progress" must be a finite number, got NaN`,
  );
});

test("Server sends log messages at or above the level a request asks for, and none without (V10)", async (t) => {
  const session = start(t, {
    tools: {
      log: {
        async call(_args, { log }) {
          for (const level of LEVELS) await log(level, { level }, "tester");
          await log("emergency", undefined);
          return "logged";
        },
      },
    },
  });
  session.send(call(0, "log"));
  await session.response(0);
  assert.equal(session.transcript.messages.length, 1);
  for (const [rank, level] of LEVELS.entries()) {
    const before = session.transcript.messages.length;
    session.send(call(level, "log", {}, atLevel(level)));
    await session.response(level);
    const heard = session.transcript.messages.slice(before, -1);
    assert.deepEqual(heard.map(({ params }) => params.level), [...LEVELS.slice(rank), "emergency"]);
    assert.deepEqual(heard[0], {
      jsonrpc: "2.0",
      method: LOG,
      params: { level, logger: "tester", data: { level } },
    });
    assert.deepEqual(heard.at(-1)!.params, { level: "emergency", data: null });
  }
});

test("Server logs for a legacy client at the level it has set, and none without the capability (V10)", async (t) => {
  const tools = {
    log: { call: (_args: unknown, { log }: RequestContext) => log("info", "x").then(() => "") },
  };
  const session = start(t, { tools });
  const tool = (id: number) => legacy(id, "tools/call", { name: "log" });
  session.send(initialize(1), tool(2), legacy(3, "logging/setLevel", { level: "error" }), tool(4));
  await session.response(4);
  assert.equal(session.transcript.notifications(LOG).length, 1);

  const mute = start(t, { tools, capabilities: { logging: undefined } });
  mute.send(
    call(1, "log", {}, atLevel("debug")),
    initialize(2),
    legacy(3, "logging/setLevel", { level: "debug" }),
  );
  mute.send(tool(4));
  await mute.response(4);
  assert.equal((await mute.response(3)).error?.code, -32601);
  assert.deepEqual(mute.transcript.notifications(LOG), []);
});

test("context.log() and context.notify() refuse what they must not send (V10)", async (t) => {
  const refusals: string[] = [];
  const session = start(t, {
    tools: {
      refuse: {
        call(_args, { log, notify }) {
          assert.throws(() => log("loud" as LoggingLevel, "x"), TypeError);
          for (
            const method of [PROGRESS, LOG, "notifications/cancelled", "notifications/tools/list_changed"]
          ) {
            assert.throws(() => notify(method), TypeError);
            refusals.push(method);
          }
          return notify("x-own", { a: 1 }).then(() => "done");
        },
      },
    },
  });
  session.send(call(1, "refuse"));
  assert.equal(textOf(await session.response(1)), "done");
  assert.equal(refusals.length, 4);
  assert.deepEqual(session.transcript.messages[0], { jsonrpc: "2.0", method: "x-own", params: { a: 1 } });
});

test("Server keeps only the newest progress of a token while its output is full (V10)", async (t) => {
  const session = start(t, {
    limits: { maxQueuedBytes: 10_000 },
    tools: {
      flood: {
        async call({ token }, { progress }) {
          for (let step = 1; step <= 100_000; step++) progress(step, undefined, `${token}`);
          await nextTurn();
          for (let step = 100_001; step <= 200_000; step++) progress(step);
          return "done";
        },
      },
    },
  });
  session.stall();
  session.send(call(1, "flood", {}, { progressToken: "a" }), call(2, "flood", {}, { progressToken: "b" }));
  await session.settle();
  session.resume();
  await Promise.all([session.response(1), session.response(2)]);
  for (const token of ["a", "b"]) {
    const values = session.transcript.notifications(PROGRESS)
      .filter(({ params }) => params.progressToken === token)
      .map(({ params }) => params.progress);
    assert.ok(values.length < 1_000, `${values.length} for ${token}`);
    assert.equal(values.at(-1), 200_000);
    assert.ok(values.every((value, index) => index === 0 || value > values[index - 1]));
  }
});

test(
  "A handler that waits for context.log() loses nothing, one that does not is bounded (V10)",
  SLOW,
  async (t) => {
    const count = 20_000;
    const session = start(t, {
      limits: { maxQueuedBytes: 20_000 },
      tools: {
        patient: {
          async call(_args, { log }) {
            for (let line = 0; line < count; line++) await log("info", line);
            return "done";
          },
        },
        hasty: {
          call(_args, { log }) {
            for (let line = 0; line < count; line++) log("info", line);
            return "done";
          },
        },
      },
    });
    session.send(call("patient", "patient", {}, atLevel("debug")));
    await session.response("patient");
    const lines = session.transcript.notifications(LOG).map(({ params }) => params.data);
    assert.deepEqual(lines, Array.from({ length: count }, (_, line) => line));

    const before = session.transcript.bytes;
    session.send(call("hasty", "hasty", {}, atLevel("debug")));
    await session.response("hasty");
    const written = session.transcript.bytes - before;
    assert.ok(written > 20_000 && written < 60_000, `${written} bytes`);
    assert.deepEqual(session.log.texts("warn"), [
      '[mcp_stdio] the handler of "tools/call" does not wait for its messages: some were dropped',
    ]);
  },
);

test(
  "Server begins no request while limits.maxQueuedBytes of output wait, and stops reading (V12)",
  SLOW,
  async (t) => {
    let calls = 0;
    const session = start(t, {
      limits: { maxQueuedBytes: 100_000, maxQueuedRequests: 4 },
      tools: {
        big: {
          call() {
            calls++;
            return "x".repeat(50_000);
          },
        },
      },
    });
    session.stall();
    session.send(...Array.from({ length: 200 }, (_, id) => call(id, "big")));
    const begun = await steady(() => calls);
    assert.ok(begun < 20, `${begun} have begun`);
    session.resume();
    await session.transcript.until(() => session.transcript.messages.length === 200, "all answers");
    assert.equal(calls, 200);
  },
);

test(
  "Server keeps no more results for a client that does not read than may run at once, however many it asks for (XC9, V1, V12)",
  SLOW,
  async (t) => {
    let calls = 0;
    const gate = new Gate();
    const session = start(t, {
      limits: { maxInFlightRequests: 8, maxQueuedBytes: 100_000 },
      tools: {
        big: {
          async call() {
            calls++;
            await gate.opened;
            return "x".repeat(50_000);
          },
        },
      },
    });
    session.stall();
    session.send(...Array.from({ length: 200 }, (_, id) => call(id, "big")));
    await steady(() => calls);
    gate.open();
    // What the pipe takes in one go makes room for as many more; then none begins.
    const begun = await steady(() => calls);
    assert.ok(begun >= 8 && begun <= 3 * 8, `${begun} have begun`);
    session.resume();
    await session.transcript.until(() => session.transcript.messages.length === 200, "all answers");
  },
);

test("Server holds back errors, too, while its output is full (V12)", SLOW, async () => {
  const taken: number[] = [];
  const text = "x".repeat(2_000);
  const line = new TextEncoder().encode(`${JSON.stringify(legacy(1, "x/unknown", { text }))}\n{broken\n`);
  const readable = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      taken.push(1);
      // Without an end a server that never stops would never let the test go on.
      if (taken.length < 5_000) controller.enqueue(line);
      else controller.close();
    },
  }, { highWaterMark: 0 });
  const stuck = new Gate();
  const writable = new WritableStream<Uint8Array>({ write: () => stuck.opened });
  const logger = new LogSink();
  const server = new Server({
    info: { name: "test", version: "1.0.0" },
    limits: { maxQueuedBytes: 10_000 },
    drainTimeoutMs: 10,
    logger,
  });
  const running = server.run({ readable, writable });
  await waitUntil(() => taken.length > 100);
  assert.ok(await steady(() => taken.length) < 1_500, `${taken.length} were read`);
  server.stop();
  assert.deepEqual(await running, { reason: "signal" });
  assert.ok(logger.texts("warn").some((text) => text.includes("gave up writing")));
  stuck.open();
});

test(
  "Server never tears or mixes the lines of 50 handlers, whatever their size (V12, B43)",
  SLOW,
  async (t) => {
    const session = start(t, {
      tools: {
        mixed: {
          async call({ size }, { progress, log }) {
            for (let step = 1; step <= 20; step++) {
              progress(step, 20, "p".repeat(Number(size) / 20));
              await log("info", "l".repeat(step * 100));
            }
            return "x".repeat(Number(size));
          },
        },
      },
    });
    const sizes = Array.from({ length: 50 }, (_, index) => 10 + index * index * 100);
    session.send(
      ...sizes.map((size, id) => call(id, "mixed", { size }, { progressToken: id, ...atLevel("debug") })),
    );
    for (const [id, size] of sizes.entries()) assert.equal(textOf(await session.response(id)).length, size);
    assert.equal(session.transcript.notifications(LOG).length, 1_000);
    assert.equal(session.transcript.rest, "");
  },
);

test("Server holds no memory for a million notifications (V12)", SLOW, async (t) => {
  let told = 0;
  const session = start(t, { onNotification: () => told++ });
  const lines = `${JSON.stringify(notification("notifications/x", { text: "some text" }))}\n`.repeat(10_000);
  const chunk = new TextEncoder().encode(lines);
  const sendTen = async (): Promise<void> => {
    for (let round = 0; round < 10; round++) session.sendBytes(chunk);
    await session.settle();
  };
  await sendTen();
  await waitUntil(() => told === 100_000);
  const before = await heldBytes();
  for (let round = 1; round < 10; round++) await sendTen();
  await waitUntil(() => told === 1_000_000, { timeoutMs: 50_000 });
  const grown = await heldBytes() - before;
  // A pointer for each would be more.
  assert.ok(grown < 4 * 1_048_576, `${grown} bytes are held`);
  session.send(modern(1, "server/discover"));
  await session.response(1);
  assert.equal(session.transcript.messages.length, 1);
});

test("Log messages and notifications name the request that gave a progress token, and no other (XF9)", async (t) => {
  const tools = {
    say: {
      async call(_args: Params, { log, notify }: RequestContext): Promise<string> {
        await log("info", "a");
        await notify("x-a");
        await notify("x-b", { n: 1, _meta: { own: true } });
        return "";
      },
    },
  };
  const session = start(t, { tools });
  const said = [LOG, "x-a", "x-b"];
  session.send(call(1, "say", {}, { progressToken: "p", ...atLevel("debug") }));
  await session.response(1);
  assert.deepEqual(said.map((method) => session.transcript.notifications(method)[0]!.params), [
    { level: "info", data: "a", _meta: { progressToken: "p" } },
    { _meta: { progressToken: "p" } },
    { n: 1, _meta: { progressToken: "p", own: true } },
  ]);
  session.send(call(2, "say", {}, atLevel("debug")));
  await session.response(2);
  assert.deepEqual(said.map((method) => session.transcript.notifications(method)[1]!.params), [
    { level: "info", data: "a" },
    undefined,
    { n: 1, _meta: { own: true } },
  ]);
});
