// How requests run: rules V1 (permits and look-ahead), V2 (what needs no permit) and V4 (one response each; more of that in
// server_responses_test.ts).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type Job, JobQueue } from "../internal/server/job_queue.ts";
import { Server } from "../server.ts";
import { heldBytes, stateOf, waitUntil } from "./helpers.ts";
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

test("Server stops reading behind 1 MiB of requests for which permits and limits.maxQueuedRequests are used up (V1, V18)", async () => {
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
  const text = "x".repeat(250_000);
  const line = (id: number) => new TextEncoder().encode(`${JSON.stringify(call(id, "wait", { text }))}\n`);
  const readable = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (taken.length === 20) return controller.close();
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

  // One runs, two are queued, five are kept aside.
  await waitUntil(() => taken.length >= 8);
  assert.equal(await steady(() => taken.length), 8);
  gate.open();
  assert.deepEqual(await running, { reason: "eof" });
  assert.equal(written.split("\n").length - 1, 20);
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

test("JobQueue starts what waits for the output before what comes later (V1, V12)", () => {
  let full = true;
  const queue = new JobQueue({ maxRunning: 4, maxQueued: 4, outputFull: () => full });
  const started: string[] = [];
  const job = (name: string): Job => ({ withdrawn: false, start: () => started.push(name) < 0 });
  queue.admit(job("first"));
  full = false; // The queue is not told yet.
  queue.admit(job("second"));
  assert.deepEqual(started, ["first", "second"]);
});

test("JobQueue has room for the reader as soon as a job is withdrawn (V1)", async () => {
  const queue = new JobQueue({ maxRunning: 1, maxQueued: 1, outputFull: () => false });
  const waiting = { withdrawn: false, start: () => true };
  queue.admit({ withdrawn: false, start: () => true });
  queue.admit(waiting);
  const room = queue.room();
  assert.equal(await stateOf(room), "pending");
  waiting.withdrawn = true;
  queue.withdrew();
  assert.equal(await stateOf(room), "fulfilled");
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

test("Server reads a legacy client's answers behind requests that have no room (V2, V18)", async (t) => {
  const session = start(t, {
    limits: { maxInFlightRequests: 1, maxQueuedRequests: 1 },
    tools: {
      ask: { call: (_args, { requestInput }) => requestInput("roots/list").then(() => "answered") },
    },
  });
  session.send(initialize(0, "2025-11-25", { roots: {} }));
  const tool = (id: number) => legacy(id, "tools/call", { name: "ask" });
  session.send(tool(1), tool(2), tool(3), tool(4));
  // The answers stand behind request 4.
  for (const id of [1, 2, 3, 4]) {
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
