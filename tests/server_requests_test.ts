// How requests run: rules V1 (permits and look-ahead), V2 (what needs no permit) and V4 (one response each).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ProtocolError } from "../errors.ts";
import { type Job, JobQueue } from "../internal/server/job_queue.ts";
import { type RequestContext, Server } from "../server.ts";
import { heldBytes, waitUntil } from "./helpers.ts";
import {
  call,
  cancel,
  Gate,
  initialize,
  legacy,
  modern,
  notification,
  type Session,
  SLOW,
  start,
  steady,
  textOf,
} from "./server_helpers.ts";

/** A server whose one tool waits at a gate, and what is known of its calls. */
function startGated(
  t: TestContext,
  limits: { maxInFlightRequests?: number; maxQueuedRequests?: number } = {},
): { session: Session; started: string[]; release: (id: unknown) => void; running: () => number } {
  const gates = new Map<unknown, Gate>();
  const started: string[] = [];
  let running = 0;
  const session = start(t, {
    limits,
    tools: {
      wait: {
        async call(_args, { id }) {
          const gate = new Gate();
          gates.set(id, gate);
          started.push(String(id));
          running++;
          await gate.opened;
          running--;
          return `done ${id}`;
        },
      },
    },
  });
  return { session, started, release: (id) => gates.get(id)!.open(), running: () => running };
}

const DEFAULT_LIMIT = 256;

test(
  "Server runs 256 requests at the same time by default, and more in their order (V1)",
  SLOW,
  async (t) => {
    const { session, started, release, running } = startGated(t);
    session.send(...Array.from({ length: 300 }, (_, id) => call(id, "wait")));
    await waitUntil(() => running() === DEFAULT_LIMIT);
    assert.equal(await steady(() => started.length), DEFAULT_LIMIT);

    for (let id = 0; id < 300; id++) {
      release(id);
      await session.response(id);
      assert.ok(running() <= DEFAULT_LIMIT);
    }
    assert.deepEqual(started, Array.from({ length: 300 }, (_, id) => String(id)));
    assert.equal(session.transcript.messages.length, 300);
  },
);

test("Server runs at most limits.maxInFlightRequests at the same time (V1)", async (t) => {
  const { session, started, release } = startGated(t, { maxInFlightRequests: 2 });
  session.send(call(1, "wait"), call(2, "wait"), call(3, "wait"));
  await session.settle();
  assert.deepEqual(started, ["1", "2"]);

  release(2);
  await session.response(2);
  await session.settle();
  assert.deepEqual(started, ["1", "2", "3"]);
  assert.equal(session.transcript.messages.length, 1);
});

test("Server stops reading when permits and limits.maxQueuedRequests are used up (V1)", async () => {
  const taken: number[] = [];
  const gate = new Gate();
  const limits = { maxInFlightRequests: 1, maxQueuedRequests: 2 };
  const tools = {
    wait: {
      async call(): Promise<string> {
        await gate.opened;
        return "";
      },
    },
  };
  const server = new Server({ info: { name: "test", version: "1.0.0" }, limits, tools });
  const line = (id: number) => new TextEncoder().encode(`${JSON.stringify(call(id, "wait"))}\n`);
  const readable = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (taken.length === 10) return controller.close();
      taken.push(taken.length);
      controller.enqueue(line(taken.length));
    },
  }, { highWaterMark: 0 });
  let written = "";
  const writable = new WritableStream<Uint8Array>({
    write(chunk): void {
      written += new TextDecoder().decode(chunk);
    },
  });
  const running = server.run({ readable, writable });

  // One runs, two are queued, one waits for room in the reader's hand.
  await waitUntil(() => taken.length >= 4);
  assert.equal(await steady(() => taken.length), 4);
  gate.open();
  assert.deepEqual(await running, { reason: "eof" });
  assert.equal(written.split("\n").length - 1, 10);
});

test("Server never runs a queued request that was cancelled (V1)", async (t) => {
  const { session, started, release } = startGated(t, { maxInFlightRequests: 1, maxQueuedRequests: 2 });
  session.send(call(1, "wait"), call(2, "wait"), call(3, "wait"), cancel(2), call(4, "wait"));
  await session.settle();
  for (const id of [1, 3, 4]) {
    release(id);
    await session.response(id);
  }
  assert.deepEqual(started, ["1", "3", "4"]);
  assert.deepEqual(session.transcript.responsesTo(2), []);
});

test("Server reads on when a cancellation frees a place in the full look-ahead (V1)", async (t) => {
  const { session, started, release } = startGated(t, { maxInFlightRequests: 1, maxQueuedRequests: 1 });
  // The third request waits in the reader's hand, so that only a cancellation before it can be seen.
  session.send(call(1, "wait"), call(2, "wait"), cancel(2), call(3, "wait"), cancel(1));
  await session.settle();
  assert.deepEqual(started, ["1"], "the handler of 1 still has its permit");
  release(1);
  await session.settle();
  release(3);
  assert.equal(textOf(await session.response(3)), "done 3");
  assert.equal(session.transcript.messages.length, 1);
});

test("Server holds no memory for requests that were cancelled in the queue (V1)", SLOW, async (t) => {
  const { session, started, release } = startGated(t, { maxInFlightRequests: 1, maxQueuedRequests: 4 });
  session.send(call("first", "wait"));
  await session.settle();
  const before = await heldBytes();
  for (let round = 0; round < 200; round++) {
    const ids = Array.from({ length: 50 }, (_, index) => `${round}-${index}`);
    session.send(...ids.flatMap((id) => [call(id, "wait", { text: id.padEnd(4_096) }), cancel(id)]));
    await session.settle();
  }
  const grown = await heldBytes() - before;
  assert.ok(grown < 12 * 2 ** 20, `${grown} of 40 MiB are held`);
  session.send(call("last", "wait"));
  release("first");
  await waitUntil(() => started.includes("last"));
  release("last");
  await session.response("last");
  assert.deepEqual(started, ["first", "last"]);
});

test("JobQueue keeps its bounds while jobs are withdrawn (V1)", async () => {
  const queue = new JobQueue({ maxRunning: 1, maxQueued: 2, outputFull: () => false });
  let started = 0;
  const createJob = (): Job & { withdrawn: boolean } => ({ withdrawn: false, start: () => ++started > 0 });
  queue.admit(createJob());
  for (let round = 0; round < 1_000; round++) {
    const [first, second] = [createJob(), createJob()];
    queue.admit(first);
    queue.admit(second);
    assert.equal(queue.crowded, true);
    first.withdrawn = true;
    queue.withdrew();
    assert.equal(queue.crowded, false);
    queue.ended(); // The second one begins, now or in a microtask.
    await Promise.resolve();
    assert.deepEqual([started, queue.running], [round + 2, 1]);
  }
});

test("Server takes responses and cancellations while no permit is free (V2)", async (t) => {
  const answers: unknown[] = [];
  const aborted: unknown[] = [];
  const session = start(t, {
    limits: { maxInFlightRequests: 2, maxQueuedRequests: 2 },
    tools: {
      ask: {
        async call(_args, { requestInput }) {
          answers.push(await requestInput("roots/list"));
          return "answered";
        },
      },
      wait: { call: (_args, { id, signal }) => new Promise(() => signal.onabort = () => aborted.push(id)) },
    },
  });
  session.send(initialize(0, "2025-11-25", { roots: {} }));
  const tool = (id: number, name: string) => legacy(id, "tools/call", { name });
  session.send(tool(1, "ask"), tool(2, "wait"), tool(3, "wait"), tool(4, "wait"));
  await session.settle();
  const [asked] = session.transcript.notifications("roots/list");
  session.send({ jsonrpc: "2.0", id: asked!.id!, result: { roots: [] } }, cancel(2));
  assert.equal(textOf(await session.response(1)), "answered");
  assert.deepEqual([answers, aborted], [[{ roots: [] }], [2]]);
});

test("Server answers what it has no room for while it awaits a legacy client's answers (V2)", async (t) => {
  const session = start(t, {
    limits: { maxInFlightRequests: 1, maxQueuedRequests: 1 },
    tools: {
      ask: { call: (_args, { requestInput }) => requestInput("roots/list").then(() => "answered") },
    },
  });
  session.send(initialize(0, "2025-11-25", { roots: {} }));
  const tool = (id: number) => legacy(id, "tools/call", { name: "ask" });
  session.send(tool(1), tool(2), tool(3));
  const { error } = await session.response(3);
  assert.deepEqual(error, { code: -32603, message: "Server busy" });

  // Otherwise the answers would stand behind request 3 for ever.
  for (const id of [1, 2]) {
    await waitUntil(() => session.transcript.notifications("roots/list").length === id);
    const asked = session.transcript.notifications("roots/list").at(-1)!;
    session.send({ jsonrpc: "2.0", id: asked.id!, result: { roots: [] } });
    assert.equal(textOf(await session.response(id)), "answered");
  }
});

test("Server answers built-in requests while every permit is taken (V2)", async (t) => {
  const { session } = startGated(t, { maxInFlightRequests: 1, maxQueuedRequests: 4 });
  session.send(call(1, "wait"), modern(2, "server/discover"), initialize(3), legacy(4, "ping"));
  assert.ok((await session.response(2)).result.supportedVersions.includes("2026-07-28"));
  assert.equal((await session.response(3)).result.protocolVersion, "2025-11-25");
  assert.deepEqual((await session.response(4)).result, {});
});

test("Server answers Server busy when a task cannot be started, and gives the permit back (V2)", async (t) => {
  let fails = true;
  const session = start(t, {
    limits: { maxInFlightRequests: 1 },
    startTask(task) {
      if (fails) throw new Error("no task to be had");
      task();
    },
    tools: { hello: { call: () => "hello" } },
  });
  session.send(call(1, "hello"), call(2, "hello"));
  assert.deepEqual((await session.response(1)).error, { code: -32603, message: "Server busy" });
  assert.deepEqual((await session.response(2)).error, { code: -32603, message: "Server busy" });
  fails = false;
  session.send(call(3, "hello"));
  assert.equal(textOf(await session.response(3)), "hello");
});

test("Server lets startTask begin a request later, once, and survives what it throws after that (V2)", async (t) => {
  const tasks: Array<() => void> = [];
  let calls = 0;
  const session = start(t, {
    limits: { maxInFlightRequests: 1 },
    startTask(task) {
      tasks.push(task);
      if (tasks.length < 2) return;
      task();
      throw new Error("too late to matter");
    },
    tools: { hello: { call: () => `call ${++calls}` } },
  });
  session.send(call(1, "hello"), call(2, "hello"));
  await session.settle();
  assert.equal(tasks.length, 1);
  tasks[0]!();
  tasks[0]!();
  assert.equal(textOf(await session.response(1)), "call 1");
  assert.equal(textOf(await session.response(2)), "call 2");
  assert.equal(session.log.texts("error").length, 1);
});

test("Server answers in the order handlers end, each request once (V4)", async (t) => {
  const { session, release } = startGated(t);
  session.send(...[1, 2, 3, 4].map((id) => call(id, "wait")));
  await session.settle();
  for (const id of [3, 1, 4, 2]) {
    release(id);
    await session.response(id);
  }
  assert.deepEqual(session.transcript.messages.map(({ id }) => id), [3, 1, 4, 2]);
});

test("Server sends a handler's ProtocolError as it is, and of other errors only Internal error (V4)", async (t) => {
  const secret = new Error("the password is swordfish");
  const session = start(t, {
    handlers: {
      "x/protocol": () => {
        throw new ProtocolError(-32050, "No such thing", { thing: 1 });
      },
      "x/sync": () => {
        throw secret;
      },
      "x/async": () => Promise.reject(secret),
      "x/odd": () => Promise.reject(undefined),
      "x/code": () => {
        throw new ProtocolError("broken" as unknown as number, "x");
      },
    },
  });
  session.send(...["protocol", "sync", "async", "odd", "code"].map((name) => modern(name, `x/${name}`)));
  const internal = { code: -32603, message: "Internal error" };
  assert.deepEqual((await session.response("protocol")).error, {
    code: -32050,
    message: "No such thing",
    data: { thing: 1 },
  });
  for (const id of ["sync", "async", "odd", "code"]) {
    assert.deepEqual((await session.response(id)).error, internal, id);
  }
  const logged = session.log.entries.filter(({ level }) => level === "error");
  assert.deepEqual(logged.map(({ text }) => text), [
    '[mcp_stdio] the handler of "x/sync" has failed',
    '[mcp_stdio] the handler of "x/async" has failed',
    '[mcp_stdio] the handler of "x/odd" has failed',
  ]);
  assert.deepEqual(logged[0]!.details, [{ error: secret }]);
});

test("Server answers -32603 for a result that is none or cannot be written (V4)", async (t) => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const results: Record<string, () => unknown> = {
    circular: () => circular,
    bigint: () => ({ value: 1n }),
    throwing: () => ({
      toJSON: () => {
        throw new Error("no");
      },
    }),
    getter: () => ({
      get resultType() {
        throw new Error("no");
      },
    }),
    array: () => [],
    number: () => 5,
    null: () => null,
    long: () => ({ value: "x".repeat(2_000) }),
    data: () => {
      throw new ProtocolError(-32050, "x", circular);
    },
    thenable: () => ({
      then: () => {
        throw new Error("no");
      },
    }),
  };
  const handlers = Object.fromEntries(
    Object.entries(results).map(([name, give]) => [`x/${name}`, give as () => Record<string, never>]),
  );
  const session = start(t, { handlers, limits: { maxLineBytes: 1_000 } });
  for (const name of Object.keys(results)) {
    session.send(modern(name, `x/${name}`));
    assert.equal((await session.response(name)).error?.code, -32603, name);
    assert.equal(session.transcript.responsesTo(name).length, 1);
  }
  session.send(modern("empty", "x/nothing"), modern("discover", "server/discover"));
  assert.equal((await session.response("empty")).error?.code, -32601);
  assert.ok((await session.response("discover")).result);
});

test("Server takes nothing from a handler for an empty result, and thenables for promises (V4)", async (t) => {
  const session = start(t, {
    handlers: {
      "x/void": () => undefined as unknown as Record<string, never>,
      "x/thenable": () =>
        ({ then: (resolve: (value: unknown) => void) => resolve({ value: 1 }) }) as unknown as Promise<never>,
    },
  });
  session.send(modern(1, "x/void"), modern(2, "x/thenable"));
  assert.equal((await session.response(1)).result.resultType, "complete");
  assert.equal((await session.response(2)).result.value, 1);
});

test("Server frees a request's id before its response is written (V4)", async (t) => {
  const session = start(t, { tools: { hello: { call: () => "hello" } } });
  const { transcript } = session;
  for (let round = 1; round <= 50; round++) {
    session.send(call(1, "hello"));
    await transcript.until(() => transcript.messages.length === round, `answer ${round}`);
  }
  assert.ok(transcript.messages.every((message) => textOf(message) === "hello"));
});

test("Server gives handlers all they need to know of their request (V4)", async (t) => {
  let seen: RequestContext | undefined;
  const session = start(t, {
    handlers: {
      "x/look": (_params, context) => {
        seen = context;
        return {};
      },
    },
  });
  const clientInfo = { name: "looker", version: "2.0.0" };
  session.send(modern("a", "x/look", { a: 1 }, { "io.modelcontextprotocol/clientInfo": clientInfo, x: 1 }));
  await session.response("a");
  assert.deepEqual([seen!.id, seen!.method, seen!.era], ["a", "x/look", "modern"]);
  assert.deepEqual([seen!.protocolVersion, seen!.clientInfo, seen!.clientCapabilities], [
    "2026-07-28",
    clientInfo,
    {},
  ]);
  assert.equal(seen!.meta.x, 1);
  session.send(initialize(1, "2025-06-18", { roots: {} }), legacy(2, "x/look"));
  await session.response(2);
  assert.deepEqual([seen!.era, seen!.protocolVersion, seen!.clientInfo?.name], [
    "legacy",
    "2025-06-18",
    "test",
  ]);
  assert.deepEqual([seen!.clientCapabilities, seen!.meta], [{ roots: {} }, {}]);
});

test("Server tells onNotification of all but cancellations, and survives what it throws (V4)", async (t) => {
  const told: unknown[] = [];
  const session = start(t, {
    onNotification(method, params) {
      told.push([method, params]);
      if (method.endsWith("throw")) throw new Error("no");
      if (method.endsWith("reject")) return Promise.reject(new Error("no")) as unknown as void;
    },
  });
  session.send(
    notification("notifications/roots/list_changed"),
    notification("x/throw", { a: 1 }),
    notification("x/reject"),
    cancel(7),
    modern(1, "server/discover"),
  );
  await session.response(1);
  await session.settle();
  assert.deepEqual(told, [
    ["notifications/roots/list_changed", undefined],
    ["x/throw", { a: 1 }],
    ["x/reject", undefined],
  ]);
  assert.equal(session.log.texts("error").length, 2);
});

test("Server survives a logger that throws (V4)", async (t) => {
  const fail = () => {
    throw new Error("the disk is full");
  };
  const session = start(t, { logger: { debug: fail, info: fail, warn: fail, error: fail } });
  session.send("{broken", cancel(1), modern(2, "server/discover"));
  assert.ok((await session.response(2)).result);
});
