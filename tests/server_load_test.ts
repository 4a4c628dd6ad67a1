// Raw bytes for examples/everything_server.ts under load: permits, cancellation, order, memory (rules V1, V3, V11, V12).
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { nextTurn } from "./helpers.ts";
import { call, cancel, initialize, legacy, modern, notification, SLOW, textOf } from "./server_helpers.ts";
import { pause, SECOND_UNDER_LOAD_MS, type ServerProcess, startProcess } from "./server_processes.ts";

const EVERYTHING = "examples/everything_server";
const TEST = { timeout: 120_000 } as const;
/** Memory is read from /proc. */
const MEMORY = { ...TEST, skip: existsSync("/proc/self/status") ? false : "there is no /proc" } as const;

function startEverything(t: TestContext): ServerProcess {
  return startProcess(t, EVERYTHING);
}

/** Integers from 0. */
function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

async function inflight(
  server: ServerProcess,
  id: string,
): Promise<{ running: number; mostRunning: number }> {
  server.send(call(id, "inflight"));
  return JSON.parse(textOf(await server.response(id)));
}

test("300 requests at once are all answered, with at most 256 running (V1)", TEST, async (t) => {
  const server = startEverything(t);
  server.send(...upTo(300).map((id) => call(id, "sleep", { ms: 300 })));
  for (const id of upTo(300)) assert.equal(textOf(await server.response(id)), "slept 300 ms");
  assert.deepEqual(await inflight(server, "after"), { running: 0, mostRunning: 256 });
  server.end();
  assert.equal((await server.exited).code, 0);
});

test(
  "One running and one queued request are cancelled while the look-ahead is full (V1, V3)",
  TEST,
  async (t) => {
    const server = startEverything(t);
    server.send(...upTo(512).map((id) => call(id, "sleep", { ms: 1_000 })), cancel(7), cancel(400));
    server.send(call("behind", "echo", { text: "here" }));
    assert.equal(textOf(await server.response("behind")), "here");
    await server.until(() => server.transcript.messages.length === 511, "the other 510 answers");
    assert.deepEqual(server.transcript.responsesTo(7), []);
    assert.deepEqual(server.transcript.responsesTo(400), []);
    server.end();
    assert.equal((await server.exited).code, 0);
  },
);

test("A stubborn handler puts no byte on the wire after its cancellation (V3)", TEST, async (t) => {
  const server = startEverything(t);
  server.send(call(1, "stubborn", { ms: 1_000 }, { progressToken: "s" }));
  const progress = () => server.transcript.notifications("notifications/progress");
  await server.until(() => progress().length >= 3, "some progress");
  server.send(cancel(1, "user clicked stop"), modern(2, "server/discover"));
  await server.response(2);
  const { bytes } = server.transcript;
  // Its handler has gone on to its end.
  for (let round = 0; (await inflight(server, `i${round}`)).running > 0; round++) await pause(20);
  const after = server.transcript.messages.slice(
    server.transcript.messages.findIndex(({ id }) => id === 2) + 1,
  );
  assert.ok(after.every(({ id }) => String(id).startsWith("i")));
  assert.ok(server.transcript.bytes > bytes);
  assert.deepEqual(server.transcript.responsesTo(1), []);
});

test("End of input with 20 requests in flight: 20 answers, then exit code 0 (V11)", TEST, async (t) => {
  const server = startEverything(t);
  server.send(...upTo(20).map((id) => call(id, "sleep", { ms: 300 })));
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  for (const id of upTo(20)) assert.equal(textOf(server.transcript.responsesTo(id)[0]!), "slept 300 ms");
  assert.equal(server.transcript.messages.length, 20);
  assert.equal(server.stderr, "everything: closed (eof)\n");
});

test(
  "End of input with two listens: for each its result, then notifications/cancelled (V11)",
  TEST,
  async (t) => {
    const server = startEverything(t);
    const notifications = { toolsListChanged: true, resourceSubscriptions: ["test://static"] };
    server.send(
      modern("a", "subscriptions/listen", { notifications }),
      modern("b", "subscriptions/listen", { notifications }),
      call(1, "publish", { uri: "test://static" }),
      call(2, "publish", { uri: "test://other" }),
    );
    // Calls run at the same time: only an answered one comes before the next.
    await server.response(1);
    await server.response(2);
    server.send(call(3, "publish"), call(4, "sleep", { ms: 500 }));
    await server.response(3);
    server.end();
    assert.equal((await server.exited).code, 0);
    assert.equal(textOf(server.transcript.responsesTo(4)[0]!), "slept 500 ms");
    for (const id of ["a", "b"]) {
      const kinds = server.transcript.messages
        .filter((message) =>
          message.id === id || message.params?.requestId === id ||
          message.params?._meta?.["io.modelcontextprotocol/subscriptionId"] === id
        )
        .map(({ method, params, result }) => [method ?? result.resultType, params?.reason].join(" "));
      assert.deepEqual(kinds, [
        "notifications/subscriptions/acknowledged ",
        "notifications/resources/updated ",
        "notifications/tools/list_changed ",
        "complete ",
        "notifications/cancelled server shutdown",
      ]);
    }
  },
);

test("SIGTERM under load ends the server in under a second, with no torn line (V15)", TEST, async (t) => {
  const server = startEverything(t);
  let id = 0;
  let loading = true;
  const load = (async () => {
    while (loading) {
      const calls = upTo(50).map(() => call(id++, "echo", { size: 1_000 + id % 5_000 }));
      server.send(...calls, call(`s${id}`, "sleep", { ms: 60_000 }));
      await nextTurn();
    }
  })();
  await server.until(() => server.transcript.messages.length > 500, "some load");
  const begin = performance.now();
  server.kill("SIGTERM");
  const exit = await server.exited;
  const took = performance.now() - begin;
  loading = false;
  await load;
  assert.deepEqual(exit, { code: 0, signal: null });
  assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
  assert.equal(server.transcript.rest, "");
  assert.match(server.stderr, /everything: closed \(signal\)\n$/);
});

for (
  const [count, size, more] of [
    // As many as would be seen if they were held, and no more.
    [1_000, 100_000, {}],
    [200, 524_288, {}],
    [1_000, 100_000, { ms: 1 }],
    [400, 262_144, { ms: 1 }],
  ] as const
) {
  const isAsync = "ms" in more;
  // Asynchronous handlers have all begun before the first has something to say: what they hold is the bound, however many
  // requests there are. Each answer is there as a value and as the bytes of its line.
  const heldMiB = isAsync ? (2 * 256 * size) / 2 ** 20 : 0;
  const kind = isAsync ? "asynchronous" : "synchronous";
  test(
    `${count} ${kind} answers of ${size} bytes that nobody reads keep memory flat (V12)`,
    MEMORY,
    async (t) => {
      const server = startEverything(t);
      // The first calls load and warm up what all need.
      server.send(...upTo(20).map((id) => call(`w${id}`, "echo", { size, ...more })));
      for (const id of upTo(20)) await server.response(`w${id}`);
      const before = server.rss();
      server.stall();
      server.send(...upTo(count).map((id) => call(id, "echo", { size, ...more })));
      let peak = 0;
      for (let round = 0; round < 20; round++) {
        await pause(50);
        peak = Math.max(peak, server.rss());
      }
      // What a collector leaves lying for a while grows with what is held.
      assert.ok(peak - before < 1.3 * heldMiB + 48, `from ${before} to ${peak} MiB`);

      server.resume();
      await server.until(() => server.transcript.messages.length === count + 20, "all answers", 100_000);
      assert.equal(textOf(await server.response(count - 1)).length, size);
      server.end();
      assert.equal((await server.exited).code, 0);
    },
  );
}

test("A million notifications leave no trace in memory (V12)", MEMORY, async (t) => {
  const server = startEverything(t);
  const chunk = `${JSON.stringify(notification("notifications/x", { text: "some text" }))}\n`.repeat(10_000);
  const sendChunk = () =>
    new Promise<void>((resolve, reject) =>
      server.child.stdin!.write(chunk, (error) => error ? reject(error) : resolve())
    );
  for (let round = 0; round < 10; round++) await sendChunk();
  server.send(modern("before", "server/discover"));
  await server.response("before");
  const before = server.rss();
  for (let round = 0; round < 90; round++) await sendChunk();
  server.send(modern("after", "server/discover"));
  await server.response("after", 100_000);
  assert.ok(server.rss() - before < 48, `from ${before} to ${server.rss()} MiB`);
});

test(
  "50 handlers answer 2 MiB each to a slow reader: whole lines, bounded memory (V12, B43)",
  MEMORY,
  async (t) => {
    const server = startEverything(t);
    server.send(call("w", "echo", { size: 2 << 20 }));
    await server.response("w");
    const before = server.rss();
    const sizes = upTo(50).map((index) => index % 5 === 0 ? 10 + index : 2 << 20);
    server.send(...sizes.map((size, id) => call(id, "echo", { size })));
    let peak = 0;
    const slow = setInterval(() => {
      server.stall();
      peak = Math.max(peak, server.rss());
      setTimeout(() => server.resume(), 10);
    }, 20);
    for (const [id, size] of sizes.entries()) {
      assert.equal(textOf(await server.response(id, 100_000)).length, size);
    }
    clearInterval(slow);
    assert.ok(peak - before < 100, `from ${before} to ${peak} MiB`);
    server.resume();
    server.end();
    assert.equal((await server.exited).code, 0);
  },
);

test("Both eras, four legacy revisions and batches are served by one process (V8)", SLOW, async (t) => {
  const server = startEverything(t);
  for (const version of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
    const id = (name: string) => `${name} ${version}`;
    server.send(
      call(id("modern"), "echo", { text: "m" }),
      initialize(id("init"), version),
      notification("notifications/initialized"),
      legacy(id("legacy"), "tools/call", { name: "echo", arguments: { text: "l" } }),
      JSON.stringify([legacy(id("b1"), "ping"), legacy(id("b2"), "ping")]),
    );
    assert.equal((await server.response(id("init"))).result.protocolVersion, version);
    assert.equal((await server.response(id("modern"))).result.resultType, "complete");
    assert.deepEqual((await server.response(id("legacy"))).result, {
      content: [{ type: "text", text: "l" }],
    });
    if (version === "2025-03-26") assert.deepEqual((await server.response(id("b2"))).result, {});
  }
  assert.equal(server.transcript.responsesTo(null).length, 3);
});

test("Lines from 50 handlers at once, with progress, are whole (V12)", TEST, async (t) => {
  const server = startEverything(t);
  server.send(
    ...upTo(50).flatMap((id) => [
      call(id, "progress", { steps: 100 }, { progressToken: id }),
      call(`e${id}`, "echo", { size: 10_000 * id, ms: id }),
    ]),
  );
  for (const id of upTo(50)) {
    await server.response(id);
    assert.equal(textOf(await server.response(`e${id}`)).length, 10_000 * id);
  }
  assert.equal(server.transcript.rest, "");
});
