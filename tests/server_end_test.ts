// How a server ends: drained at the end of input (rule V11), once, and safely from anywhere (V16).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CancelledError } from "../errors.ts";
import { Server } from "../server.ts";
import { createConnectionPair, createStreamPair } from "../testing.ts";
import { nextTurn, stateOf } from "./helpers.ts";
import {
  call,
  cancel,
  Gate,
  initialize,
  legacy,
  modern,
  type Session,
  SLOW,
  start,
  textOf,
} from "./server_helpers.ts";

const SHUTTING_DOWN = { code: -32603, message: "Server is shutting down" };

/** A tool that takes so long by the session's clock, whatever its signal says. */
function sleeper(session: () => Session): { call(args: { [name: string]: unknown }): Promise<string> } {
  return {
    async call({ ms }) {
      await new Promise((resolve) => session().clock.setTimeout(() => resolve(undefined), Number(ms)));
      return `slept ${ms}`;
    },
  };
}

test("Server answers all it has accepted when its input ends, then ends (V11)", async (t) => {
  const session: Session = start(t, {
    limits: { maxInFlightRequests: 2 },
    tools: { sleep: sleeper(() => session) },
  });
  session.send(...[1, 2, 3, 4].map((id) => call(id, "sleep", { ms: 300 })), modern(5, "x/unknown"));
  session.end();
  await session.clock.advance(299);
  assert.equal(await stateOf(session.running), "pending");
  await session.clock.advance(1_000);
  assert.deepEqual(await session.running, { reason: "eof" });
  for (const id of [1, 2, 3, 4]) assert.equal(textOf(session.transcript.responsesTo(id)[0]!), "slept 300");
  assert.equal(session.transcript.responsesTo(5).length, 1);
});

test("Server ends each listen at once with a result, then a cancellation, and only those (V11)", async (t) => {
  const session: Session = start(t, {
    capabilities: { tools: { listChanged: true } },
    tools: { sleep: sleeper(() => session) },
  });
  for (const id of ["a", "b"]) {
    session.send(modern(id, "subscriptions/listen", { notifications: { toolsListChanged: true } }));
  }
  session.send(call(1, "sleep", { ms: 300 }));
  await session.settle();
  session.end();
  await session.settle();
  const told = session.transcript.messages.slice(2).map(({ id, method, params, result }) => [
    method ?? result.resultType,
    id ?? params.requestId,
    params?.reason ?? result._meta["io.modelcontextprotocol/subscriptionId"],
  ]);
  assert.deepEqual(told, [
    ["complete", "a", "a"],
    ["notifications/cancelled", "a", "server shutdown"],
    ["complete", "b", "b"],
    ["notifications/cancelled", "b", "server shutdown"],
  ]);
  await session.clock.advance(300);
  await session.running;
  assert.equal(session.transcript.messages.length, 7);
  assert.equal(session.transcript.notifications("notifications/cancelled").length, 2);
});

test("Server aborts what runs longer than drainTimeoutMs after the end of input, and answers it (V11)", async (t) => {
  const reasons: CancelledError[] = [];
  const session = start(t, {
    drainTimeoutMs: 5_000,
    limits: { maxInFlightRequests: 3 },
    tools: {
      polite: {
        call: (_args, { signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              reject(signal.reason);
            });
          }),
      },
      quick: {
        call: (_args, { signal }) =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve("what there is so far"))),
      },
      deaf: { call: () => new Promise(() => {}) },
    },
  });
  session.send(call(1, "polite"), call(2, "quick"), call(3, "deaf"), call(4, "polite"));
  await session.settle();
  session.end();
  await session.clock.advance(4_999);
  assert.equal(session.transcript.messages.length, 0);
  await session.clock.advance(1_000);
  assert.deepEqual(await session.running, { reason: "eof" });
  assert.deepEqual(session.transcript.responsesTo(1)[0]!.error, SHUTTING_DOWN);
  assert.equal(textOf(session.transcript.responsesTo(2)[0]!), "what there is so far");
  assert.deepEqual(session.transcript.responsesTo(3)[0]!.error, SHUTTING_DOWN);
  assert.equal(session.transcript.responsesTo(4).length, 1, "a queued request is answered, too");
  assert.ok(reasons[0]!.serverShutdown && reasons[0]!.reason === undefined);
});

test("Server waits for in-flight requests for 10 s by default (V11)", async (t) => {
  const session: Session = start(t, { tools: { sleep: sleeper(() => session) } });
  session.send(call(1, "sleep", { ms: 9_900 }), call(2, "sleep", { ms: 20_000 }));
  session.end();
  await session.clock.advance(10_050);
  assert.equal(textOf(session.transcript.responsesTo(1)[0]!), "slept 9900");
  await session.clock.advance(100);
  assert.deepEqual(await session.running, { reason: "eof" });
  assert.deepEqual(session.transcript.responsesTo(2)[0]!.error, SHUTTING_DOWN);
});

test("Server fails what a legacy client can no longer answer at the end of its input (V11)", async (t) => {
  const session = start(t, {
    tools: {
      ask: { call: (_args, { requestInput }) => requestInput("roots/list").then(() => "answered") },
      late: {
        async call(_args, { requestInput }) {
          // On the fake clock: the test lets this time pass.
          await new Promise((resolve) => session.clock.setTimeout(() => resolve(undefined), 100));
          await requestInput("roots/list");
          return "answered";
        },
      },
    },
  });
  session.send(initialize(0, "2025-11-25", { roots: {} }));
  session.send(legacy(1, "tools/call", { name: "ask" }), legacy(2, "tools/call", { name: "late" }));
  await session.settle();
  session.end();
  await session.clock.advance(200);
  assert.deepEqual(await session.running, { reason: "eof" });
  for (const id of [1, 2]) assert.deepEqual(session.transcript.responsesTo(id)[0]!.error, SHUTTING_DOWN);
});

test("Server flushes all output before it resolves, to however slow a reader (V11)", SLOW, async (t) => {
  const session = start(t, { tools: { big: { call: () => "x".repeat(1 << 20) } } });
  session.stall();
  session.send(...[1, 2, 3].map((id) => call(id, "big")));
  session.end();
  await session.settle();
  assert.equal(await stateOf(session.running), "pending");
  session.resume();
  assert.deepEqual(await session.running, { reason: "eof" });
  await session.settle();
  for (const id of [1, 2, 3]) assert.equal(textOf(session.transcript.responsesTo(id)[0]!).length, 1 << 20);
  assert.equal(session.transcript.rest, "");
});

test("Server gives up a client that reads nothing for drainTimeoutMs, and waits for one that reads (V11)", async (t) => {
  const options = { limits: { maxQueuedBytes: 4_096 }, drainTimeoutMs: 1_000 };
  const tools = { big: { call: () => "x".repeat(4_096) } };
  const session = start(t, { ...options, tools }, { capacityBytes: 1_024 });
  session.stall();
  session.send(...[1, 2, 3, 4].map((id) => call(id, "big")));
  await session.settle();
  session.end();
  await session.clock.advance(900);
  assert.equal(await stateOf(session.running), "pending");
  await session.clock.advance(5_000);
  assert.equal(await stateOf(session.running), "fulfilled");
  assert.equal(session.log.texts("warn").length, 1);
});

test("Server.close() ends as the end of input does, and resolves when all is answered (V11, V16)", async (t) => {
  const session: Session = start(t, { tools: { sleep: sleeper(() => session) } });
  session.send(call(1, "sleep", { ms: 300 }));
  await session.settle();
  const closings = [session.server.close(), session.server.close()];
  session.send(call(2, "sleep", { ms: 1 })); // Too late.
  await session.clock.advance(200);
  assert.equal(await stateOf(closings[0]!), "pending");
  await session.clock.advance(200);
  await Promise.all(closings);
  await session.server.close();
  assert.deepEqual(await session.running, { reason: "closed" });
  await session.settle();
  assert.equal(session.transcript.messages.length, 1);
  assert.equal(textOf(session.transcript.messages[0]!), "slept 300");
});

test("Server.close() from within a handler loses no answer, whether the handler waits for it or not (V16)", async (t) => {
  const ways: Record<string, (server: Server) => string | Promise<string>> = {
    sync: (server) => {
      server.close();
      return "bye";
    },
    syncAwait: async (server) => {
      await server.close();
      return "bye";
    },
    async: async (server) => {
      await Promise.resolve();
      server.close();
      return "bye";
    },
    asyncAwait: async (server) => {
      await Promise.resolve();
      await server.close();
      return "bye";
    },
  };
  for (const [name, way] of Object.entries(ways)) {
    const session: Session = start(t, {
      tools: { bye: { call: () => way(session.server) }, sleep: sleeper(() => session) },
    });
    session.send(call(1, "sleep", { ms: 50 }), call(2, "bye"));
    await session.clock.advance(name === "asyncAwait" ? 11_000 : 60);
    assert.deepEqual(await session.running, { reason: "closed" }, name);
    assert.equal(textOf(await session.response(1)), "slept 50");
    assert.equal(textOf(await session.response(2)), "bye");
  }
});

test("Server.close() is safe before, during and after a run (V16)", async () => {
  const server = new Server({ info: { name: "test", version: "1.0.0" } });
  await Promise.all([server.close(), server.close()]);
  const [here, there] = createStreamPair();
  assert.deepEqual(await server.run(there), { reason: "closed" });
  const { done } = await here.readable.getReader().read();
  assert.equal(done, true);
  await server.close();
});

test("Server.run() runs once; a second call rejects and harms nothing (V16)", async (t) => {
  const session = start(t, { tools: { hello: { call: () => "hello" } } });
  await assert.rejects(session.server.run(createStreamPair()[1]), {
    name: "TypeError",
    message: "Cannot run the server: it has run before",
  });
  session.send(call(1, "hello"));
  assert.equal(textOf(await session.response(1)), "hello");
  session.end();
  await session.running;
  await assert.rejects(session.server.run(createStreamPair()[1]), TypeError);
});

test("Server.stop() aborts at once, answers, and leaves deaf handlers behind (V11)", async (t) => {
  const session = start(t, {
    tools: {
      polite: {
        call: (_args, { signal }) => new Promise((resolve) => signal.onabort = () => resolve("cut short")),
      },
      deaf: { call: () => new Promise(() => {}) },
    },
  });
  session.send(call(1, "polite"), call(2, "deaf"));
  await session.settle();
  session.server.stop();
  await session.clock.advance(150);
  assert.deepEqual(await session.running, { reason: "signal" });
  assert.equal(textOf(session.transcript.responsesTo(1)[0]!), "cut short");
  assert.deepEqual(session.transcript.responsesTo(2)[0]!.error, SHUTTING_DOWN);
});

test("Server.stop() hastens a drain that has begun; the first reason stays (V11)", async (t) => {
  const session = start(t, { tools: { deaf: { call: () => new Promise(() => {}) } } });
  session.send(call(1, "deaf"));
  await session.settle();
  session.end();
  await session.clock.advance(50);
  session.server.stop();
  await session.clock.advance(150);
  assert.deepEqual(await session.running, { reason: "eof" });
  assert.deepEqual(session.transcript.responsesTo(1)[0]!.error, SHUTTING_DOWN);
});

test("Server.stop() hastens the flush to a client that does not read (V11)", async (t) => {
  const tools = { big: { call: () => "x".repeat(4_096) } };
  const session = start(t, { tools }, { capacityBytes: 1_024 });
  session.stall();
  // One is read, one is in the pipe, the others are on their way.
  for (const id of [1, 2, 3, 4]) {
    session.send(call(id, "big"));
    await session.settle();
  }
  session.end();
  await session.clock.advance(500);
  session.server.stop();
  await session.clock.advance(999);
  assert.equal(await stateOf(session.running), "pending");
  await session.clock.advance(1);
  assert.equal(await stateOf(session.running), "fulfilled");
});

test("Server ended by an uncaught error answers what is in flight with Internal error, at once (V11)", async (t) => {
  const session = start(t, { tools: { deaf: { call: () => new Promise(() => {}) } } });
  session.send(call(1, "deaf"), call(2, "deaf"));
  await session.settle();
  const error = new Error("the sensor is on fire");
  session.server.stop({ reason: "uncaught_error", error });
  await session.settle();
  assert.deepEqual(await session.running, { reason: "uncaught_error", error });
  for (const id of [1, 2]) {
    assert.deepEqual(session.transcript.responsesTo(id)[0]!.error, {
      code: -32603,
      message: "Internal error",
    });
  }
});

test("Server waits at its end for no handler whose request was cancelled (V11, V3)", async (t) => {
  const session = start(t, { tools: { deaf: { call: () => new Promise(() => {}) } } });
  session.send(call(1, "deaf"), cancel(1));
  session.end();
  assert.deepEqual(await session.running, { reason: "eof" });
  assert.deepEqual(session.transcript.messages, []);
});

test("Server runs on any Connection (V16)", async () => {
  const server = new Server({ info: { name: "test", version: "1.0.0" } });
  const [here, there] = createConnectionPair();
  const running = server.run(there);
  here.send(modern(1, "server/discover"));
  const [inbound] = (await here.receive())!;
  assert.ok(inbound?.kind === "message" && "result" in inbound.message);
  await here.close();
  assert.deepEqual(await running, { reason: "eof" });
});

test("Server refuses options it cannot use, at once (V16)", () => {
  const info = { name: "test", version: "1.0.0" };
  const refused: Array<[options: object, kind: typeof TypeError | typeof RangeError]> = [
    [{}, TypeError],
    [{ info: { name: "x" } }, TypeError],
    [{ info, limits: { maxInFlightRequests: 0 } }, RangeError],
    [{ info, limits: { maxQueuedRequests: 1.5 } }, RangeError],
    [{ info, limits: { maxListenStreams: -1 } }, RangeError],
    [{ info, limits: { maxQueuedBytes: NaN } }, RangeError],
    [{ info, limits: { maxLineBytes: 0 } }, RangeError],
    [{ info, limits: { maxNestingDepth: Infinity } }, RangeError],
    [{ info, limits: { readBufferBytes: 0 } }, RangeError],
    [{ info, drainTimeoutMs: -1 }, RangeError],
    [{ info, pageSize: 0 }, RangeError],
    [{ info, cache: { ttlMs: -1 } }, RangeError],
    [{ info, cache: { ttlMs: 1.5 } }, RangeError],
    [{ info, cache: { cacheScope: "shared" } }, TypeError],
    [{ info, tools: { x: {} } }, TypeError],
    [{ info, tools: { "": { call: () => "" } } }, TypeError],
    [{ info, resources: { "test://a": {} } }, TypeError],
    [{ info, resources: { "test://{a*}": { read: () => "" } } }, TypeError],
    [{ info, prompts: { x: {} } }, TypeError],
  ];
  for (const [options, kind] of refused) {
    assert.throws(() => new Server(options as never), kind, JSON.stringify(options));
  }
});

test("Server answers bad lines that found the output full also when the input ends behind them (V5, V11)", async (t) => {
  const session = start(t, {
    limits: { maxQueuedBytes: 1_000 },
    tools: { big: { call: () => "x".repeat(5_000) } },
  }, { capacityBytes: 10 });
  session.stall();
  // The first answer is read, the second one on its way, and the third fills the output.
  for (const id of [1, 2, 3]) {
    session.send(call(id, "big"));
    await session.settle();
  }
  session.send("no json", "nor this", modern(4, "x/unknown"));
  session.end();
  await session.settle();
  session.resume();
  assert.deepEqual(await session.running, { reason: "eof" });
  for (const id of [1, 2, 3]) assert.equal(textOf(session.transcript.responsesTo(id)[0]!).length, 5_000);
  assert.deepEqual(session.transcript.responsesTo(null).map(({ error }) => error!.code), [-32700, -32700]);
  assert.equal(session.transcript.responsesTo(4)[0]?.error?.code, -32601);
});

test("Server takes on what waited for room although all before it has ended when the input had (V11, V18)", async (t) => {
  const gate = new Gate();
  const session = start(t, {
    capabilities: { tools: { listChanged: true } },
    limits: { maxInFlightRequests: 1, maxQueuedRequests: 1 },
    tools: {
      wait: { call: () => gate.opened.then(() => "waited") },
      quick: { call: () => "done" },
      slow: {
        async call() {
          for (let turn = 0; turn < 20; turn++) await nextTurn();
          return "done";
        },
      },
    },
  });
  // The second is queued and ends in the moment in which it begins; the others are kept aside.
  session.send(call(1, "wait"), call(2, "quick"), call(3, "slow"));
  session.send(modern(4, "subscriptions/listen", { notifications: { toolsListChanged: true } }));
  session.end();
  await session.settle();
  gate.open();
  assert.deepEqual(await session.running, { reason: "eof" });
  assert.equal(textOf(session.transcript.responsesTo(2)[0]!), "done");
  assert.equal(textOf(session.transcript.responsesTo(3)[0]!), "done");
  assert.deepEqual(session.transcript.responsesTo(4).map(({ error }) => error), [SHUTTING_DOWN]);
});

test("Server begins no queued request once it aborts those that run (V11)", async (t) => {
  const begun: unknown[] = [];
  const session = start(t, {
    limits: { maxInFlightRequests: 1 },
    tools: {
      wait: {
        call(_args, { id, signal }) {
          begun.push(id);
          return new Promise((resolve) => signal.onabort = () => resolve("cut short"));
        },
      },
    },
  });
  session.send(call(1, "wait"), call(2, "wait"), call(3, "wait"));
  await session.settle();
  session.server.stop();
  assert.deepEqual(await session.running, { reason: "signal" });
  assert.deepEqual(begun, [1]);
  assert.equal(textOf(session.transcript.responsesTo(1)[0]!), "cut short");
  for (const id of [2, 3]) assert.deepEqual(session.transcript.responsesTo(id)[0]!.error, SHUTTING_DOWN);
});
