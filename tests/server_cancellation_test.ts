// What a cancellation does, and what it never does (rule V3).
import assert from "node:assert/strict";
import { test } from "node:test";
import { CancelledError } from "../errors.ts";
import type { RequestContext } from "../server.ts";
import {
  call,
  cancel,
  Gate,
  initialize,
  legacy,
  modern,
  notification,
  start,
  textOf,
} from "./server_helpers.ts";
import { countTold } from "./helpers.ts";

const LOG_ALL = { "io.modelcontextprotocol/logLevel": "debug" };

test("Server writes nothing for a cancelled request, whatever its handler does (V3, B46)", async (t) => {
  const gate = new Gate();
  const endings: Record<string, () => unknown> = {
    result: () => "late",
    error: () => {
      throw new Error("late");
    },
  };
  const session = start(t, {
    tools: {
      stubborn: {
        async call({ how }, { progress, log, notify }) {
          progress(1);
          await gate.opened;
          progress(2);
          await log("error", "late");
          await notify("x-late");
          return endings[String(how)]!() as string;
        },
      },
      hello: { call: () => "hello" },
    },
  });
  for (const how of Object.keys(endings)) {
    session.send(call(how, "stubborn", { how }, { progressToken: how, ...LOG_ALL }));
  }
  await session.settle();
  assert.equal(session.transcript.messages.length, 2);
  session.send(cancel("result"), cancel("error", "the user clicked stop"));
  await session.settle();
  gate.open();
  session.send(call(3, "hello"));
  assert.equal(textOf(await session.response(3)), "hello");
  await session.settle();
  assert.equal(session.transcript.messages.length, 3);
});

test("Server fires the signal at once, with a CancelledError (V3)", async (t) => {
  const contexts = new Map<unknown, RequestContext>();
  const session = start(t, {
    handlers: {
      "x/wait": (_params, context) => {
        contexts.set(context.id, context);
        return new Promise(() => {});
      },
    },
  });
  session.send(modern(1, "x/wait"), modern("1", "x/wait"), modern(2, "x/wait"));
  await session.settle();
  const reasonOf = (id: unknown): CancelledError => contexts.get(id)!.signal.reason;
  session.send(cancel(1, "the user clicked stop"), cancel(2));
  await session.settle();

  assert.ok(reasonOf(1) instanceof CancelledError);
  assert.deepEqual([reasonOf(1).reason, reasonOf(1).serverShutdown], ["the user clicked stop", false]);
  assert.deepEqual([reasonOf(2).reason, reasonOf(2).serverShutdown], [undefined, false]);
  assert.equal(contexts.get("1")!.signal.aborted, false, `"1" is another request than 1`);
});

test("Server fires the signal before it handles the next line (V3)", async (t) => {
  const order: string[] = [];
  const session = start(t, {
    handlers: {
      "x/wait": (_params, { signal }) => new Promise(() => signal.onabort = () => order.push("aborted")),
      "x/next": () => {
        order.push("next");
        return {};
      },
    },
  });
  session.send(modern(1, "x/wait"), cancel(1), modern(2, "x/next"));
  await session.response(2);
  assert.deepEqual(order, ["aborted", "next"]);
});

test("A signal that is first looked at after the cancellation has fired (V3)", async (t) => {
  const gate = new Gate();
  const seen = new Gate();
  let aborted: boolean | undefined;
  const session = start(t, {
    handlers: {
      async "x/late"(_params, context) {
        await gate.opened;
        aborted = context.signal.aborted;
        seen.open();
        return {};
      },
    },
  });
  session.send(modern(1, "x/late"), cancel(1));
  await session.settle();
  gate.open();
  await seen.opened;
  assert.equal(aborted, true);
});

test("Server ignores cancellations that are unknown, late or malformed (V3)", async (t) => {
  const session = start(t, { tools: { hello: { call: () => "hello" } } });
  session.send(call(1, "hello"));
  await session.response(1);
  session.send(
    cancel(1),
    cancel(99),
    cancel("1"),
    notification("notifications/cancelled"),
    notification("notifications/cancelled", { requestId: null }),
    notification("notifications/cancelled", { requestId: 1.5 }),
    notification("notifications/cancelled", { requestId: { id: 1 } }),
    call(2, "hello"),
  );
  assert.equal(textOf(await session.response(2)), "hello");
  assert.equal(session.transcript.messages.length, 2);
  assert.equal(
    session.log.texts("debug").filter((text) => text.startsWith("[mcp_cancel] ignored")).length,
    7,
  );
  assert.deepEqual([session.log.texts("warn"), session.log.texts("error")], [[], []]);
});

test("Server answers initialize although it is cancelled (V3)", async (t) => {
  const session = start(t);
  session.send(initialize(1), cancel(1), legacy(2, "ping"));
  assert.equal((await session.response(1)).result.protocolVersion, "2025-11-25");
  await session.response(2);
});

test("Server lets an id be used again as soon as its request was cancelled (V3)", async (t) => {
  const gate = new Gate();
  let calls = 0;
  const session = start(t, {
    tools: {
      wait: {
        async call() {
          const own = ++calls;
          if (own === 1) await gate.opened;
          return `call ${own}`;
        },
      },
    },
  });
  session.send(call(1, "wait"), cancel(1), call(1, "wait"));
  assert.equal(textOf(await session.response(1)), "call 2");
  gate.open();
  await session.settle();
  assert.equal(session.transcript.messages.length, 1);
});

test("Server takes back what has not begun to leave when its request is cancelled (V3)", async (t) => {
  const session = start(t, {
    tools: {
      chatty: {
        async call({ size }, { progress, log }) {
          await log("info", "x".repeat(Number(size)));
          for (let step = 1; step <= 100; step++) progress(step);
          return new Promise(() => {});
        },
      },
      hello: { call: () => "hello" },
    },
  }, { capacityBytes: 1_024 });
  session.stall();
  session.send(call(0, "hello")); // What is read when the reader stalls.
  await session.settle();
  // The first one's message fills the pipe, so that all of the second one's wait.
  session.send(call(1, "chatty", { size: 4_096 }, LOG_ALL));
  await session.settle();
  session.send(call(2, "chatty", { size: 1 }, { progressToken: "two", ...LOG_ALL }));
  await session.settle();
  session.send(cancel(2), call(3, "hello"));
  await session.settle();
  session.resume();
  assert.equal(textOf(await session.response(3)), "hello");
  assert.deepEqual(session.transcript.notifications("notifications/progress"), []);
  assert.equal(session.transcript.notifications("notifications/message").length, 1);
});

test("Server tells a cancelled legacy client's request apart from its own question (V3)", async (t) => {
  const failures: unknown[] = [];
  const session = start(t, {
    tools: {
      ask: {
        async call(_args, { requestInput }) {
          await requestInput("roots/list").catch((error) => failures.push(error));
          return "late";
        },
      },
    },
  });
  session.send(initialize(0, "2025-11-25", { roots: {} }), legacy(1, "tools/call", { name: "ask" }));
  await session.transcript.until(() => session.transcript.notifications("roots/list").length === 1, "ask");
  const [asked] = session.transcript.notifications("roots/list");
  session.send(cancel(1, "enough"));
  await session.settle();
  // Its own question is withdrawn, and nothing is said of the client's request.
  const [withdrawn] = session.transcript.notifications("notifications/cancelled");
  assert.equal(withdrawn!.params.requestId, asked!.id);
  assert.ok(failures[0] instanceof CancelledError);
  assert.deepEqual(session.transcript.responsesTo(1), []);

  session.send({ jsonrpc: "2.0", id: asked!.id!, result: { roots: [] } }, legacy(2, "ping"));
  await session.response(2);
  assert.equal(session.transcript.messages.length, 4);
});

test("Server cancels one of 256 busy requests and one behind them (V3)", async (t) => {
  const aborted: unknown[] = [];
  const session = start(t, {
    tools: {
      wait: { call: (_args, { id, signal }) => new Promise(() => signal.onabort = () => aborted.push(id)) },
    },
  });
  session.send(...Array.from({ length: 512 }, (_, id) => call(id, "wait")));
  await session.settle();
  session.send(cancel(7), cancel(400));
  await session.settle();
  assert.deepEqual(aborted, [7]);
  assert.deepEqual(session.transcript.messages, []);
});

test("Server gives the permits of cancelled handlers that never end to others after 10 s (V3, V18)", async (t) => {
  const gates = new Map<unknown, Gate>();
  const session = start(t, {
    limits: { maxInFlightRequests: 2, maxQueuedRequests: 4 },
    tools: {
      hang: {
        call: async (_args, { id }) => {
          gates.set(id, new Gate());
          await gates.get(id)!.opened;
          return "too late";
        },
      },
      hello: { call: () => "hello" },
    },
  });
  session.send(call(1, "hang"), call(2, "hang"), cancel(1), cancel(2), call(3, "hello"));
  await session.settle();
  await session.clock.advance(9_999);
  assert.deepEqual(session.transcript.messages, [], "a handler has its time");
  await session.clock.advance(1);
  assert.equal(textOf(await session.response(3)), "hello");
  await session.clock.advance(1_000);
  assert.equal(
    countTold(session.log.texts("warn").filter((text) => text.includes("goes on 10000 ms after"))),
    2,
  );

  // One that ends after all has no second permit to give back.
  gates.get(1)!.open();
  gates.get(2)!.open();
  await session.settle();
  session.send(call(4, "hang"), call(5, "hang"), call(6, "hello"));
  await session.settle();
  assert.equal(session.transcript.messages.length, 1, "two run, and one waits");
  gates.get(4)!.open();
  assert.equal(textOf(await session.response(6)), "hello");

  // One that ends in its time leaves no timer.
  session.send(cancel(5));
  await session.settle();
  assert.ok(session.clock.pendingTimers > 0);
  gates.get(5)!.open();
  await session.settle();
  session.send(call(7, "hang"), cancel(7));
  await session.settle();
  session.end();
  await session.running;
  assert.equal(session.clock.pendingTimers, 0);
});
