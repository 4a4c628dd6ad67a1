// What serve() does with its process, on a process of the test's own: guard, signals, errors, the hook (rules V14, V15).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { RuntimeAdapter } from "../runtime.ts";
import { serve, type ServeOptions, Server, type ServerEnd, type ServerOptions } from "../server.ts";
import { createFakeRuntime, createStreamPair, type FakeRuntime } from "../testing.ts";
import { stateOf } from "./helpers.ts";
import { call, FakeClock, Gate, LogSink, settle, Transcript } from "./server_helpers.ts";

/** A served process, and everything that is done to its runtime. */
interface Process {
  readonly runtime: FakeRuntime & {
    guards: number;
    lingers: Array<[ms: number, end: (what: string) => void]>;
  };
  readonly clock: FakeClock;
  readonly log: LogSink;
  readonly transcript: Transcript;
  readonly serving: Promise<ServerEnd>;
  /** The rejection that stands for the end of the process. */
  readonly ended: Promise<unknown>;
  send(...messages: unknown[]): Promise<void>;
  end(): void;
}

const tools = {
  hello: { call: () => "hello" },
  deaf: { call: () => new Promise<string>(() => {}) },
};

function serveInMemory(
  t: TestContext,
  options: Partial<ServerOptions & ServeOptions> = {},
  own: Partial<RuntimeAdapter> = {},
): Process {
  const [here, stdio] = createStreamPair();
  const runtime = Object.assign(createFakeRuntime({ stdio }), {
    guards: 0,
    lingers: [] as Array<[number, (what: string) => void]>,
    guardStdout() {
      runtime.guards++;
      return () => runtime.guards--;
    },
    ifStillAlive: (ms: number, end: (what: string) => void) => void runtime.lingers.push([ms, end]),
    ...own,
  });
  const clock = new FakeClock();
  const log = new LogSink();
  const info = { name: "test", version: "1.0.0" };
  const serving = serve({
    info,
    tools: tools as ServerOptions["tools"],
    clock,
    logger: log,
    ...options,
    runtime,
  });
  const transcript = new Transcript();
  const reading = here.readable.pipeTo(new WritableStream({ write: (chunk) => transcript.push(chunk) }));
  reading.catch(() => {});
  const writer = here.writable.getWriter();
  writer.closed.catch(() => {});
  const ended = serving.then(() => undefined, (error) => error);
  t.after(async () => {
    writer.close().catch(() => {});
    await clock.advance(60_000);
    await ended;
  });
  return {
    runtime,
    clock,
    log,
    transcript,
    serving,
    ended,
    async send(...messages) {
      const text = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
      await writer.write(new TextEncoder().encode(text));
      await settle();
    },
    end: () => void writer.close().catch(() => {}),
  };
}

test("serve() guards stdout from its call on, unless told not to (V14)", async (t) => {
  const guarded = serveInMemory(t);
  const open = serveInMemory(t, { guardStdout: false });
  for (const process of [guarded, open]) process.end();
  await Promise.all([guarded.serving, open.serving]);
  assert.equal(guarded.runtime.guards, 1, "it lasts as long as the process");
  assert.equal(open.runtime.guards, 0);
});

test("serve() ends at SIGTERM and SIGINT with answers, and at a second signal at once (V15)", async (t) => {
  for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
    const reasons: string[] = [];
    const process = serveInMemory(t, { onClose: ({ reason }) => void reasons.push(reason) });
    await process.send(call(1, "deaf"));
    process.runtime.raise(signal);
    assert.throws(() => process.runtime.raise("SIGTERM"), /ended with code 143/);
    assert.throws(() => process.runtime.raise(signal), new RegExp(`ended with code ${code}`));
    await process.clock.advance(200);
    assert.deepEqual(await process.serving, { reason: "signal" });
    assert.equal(process.transcript.responsesTo(1)[0]!.error!.message, "Server is shutting down");
    assert.deepEqual(reasons, ["signal"]);
    // The listeners are gone: a signal now does what it does by default.
    process.runtime.raise(signal);
    assert.deepEqual(process.runtime.exitCodes, [143, code]);
  }
});

test("serve() leaves signals alone when told to (V15)", async (t) => {
  const process = serveInMemory(t, { signals: false });
  process.runtime.raise("SIGTERM");
  process.runtime.raise("SIGTERM");
  await process.send(call(1, "hello"));
  assert.equal(process.transcript.messages.length, 1);
});

test("serve() ends a process that stays after lingerMs, with code 0 and one line naming why (V15)", async (t) => {
  const forever = serveInMemory(t, { lingerMs: Infinity });
  forever.end();
  await forever.serving;
  assert.deepEqual(forever.runtime.lingers, []);
  for (const [lingerMs, expected] of [[undefined, 1_000], [50, 50]] as const) {
    const process = serveInMemory(t, { lingerMs });
    await process.send(call(1, "hello"));
    process.end();
    assert.deepEqual(await process.serving, { reason: "eof" });
    const [[ms, end]] = process.runtime.lingers as [[number, (what: string) => void]];
    assert.equal(ms, expected);
    assert.throws(() => end("Timeout"), /ended with code 0/);
    assert.equal(
      process.runtime.stderrText,
      `[mcp_stdio] ended the process ${ms} ms after its server (eof): kept alive by Timeout\n`,
    );
  }
});

test("serve() lets a process linger for at most 500 ms after a signal (V15)", async (t) => {
  const process = serveInMemory(t);
  process.runtime.raise("SIGTERM");
  await process.serving;
  assert.equal(process.runtime.lingers[0]![0], 500);
});

test("serve() awaits onClose, with the reason, before it resolves (V15)", async (t) => {
  const gate = new Gate();
  const ends: ServerEnd[] = [];
  const process = serveInMemory(t, {
    async onClose(end) {
      ends.push(end);
      await gate.opened;
    },
  });
  process.end();
  await settle();
  assert.deepEqual(ends, [{ reason: "eof" }]);
  assert.equal(await stateOf(process.serving), "pending");
  gate.open();
  assert.deepEqual(await process.serving, { reason: "eof" });
  assert.equal(ends.length, 1);
});

test("serve() waits for onClose at most drainTimeoutMs, and survives what it throws (V15)", async (t) => {
  const hanging = serveInMemory(t, { drainTimeoutMs: 500, onClose: () => new Promise(() => {}) });
  hanging.end();
  await hanging.clock.advance(499);
  assert.equal(await stateOf(hanging.serving), "pending");
  await hanging.clock.advance(1);
  await hanging.serving;
  assert.deepEqual(hanging.log.texts("warn"), ["[mcp_stdio] onClose did not end within 500 ms"]);

  const hooks: Array<() => void> = [
    () => {
      throw new Error("no");
    },
    () => Promise.reject(new Error("no")) as unknown as void,
  ];
  for (const onClose of hooks) {
    const process = serveInMemory(t, { onClose });
    process.end();
    assert.deepEqual(await process.serving, { reason: "eof" });
    assert.deepEqual(process.log.texts("error"), ["[mcp_stdio] onClose has failed: no"]);
  }
});

test("serve() can be ended at once while onClose runs (V15)", async (t) => {
  const process = serveInMemory(t, { onClose: () => new Promise(() => {}) });
  process.runtime.raise("SIGTERM");
  await settle();
  assert.throws(() => process.runtime.raise("SIGINT"), /ended with code 130/);
});

test("serve() reports an uncaught error, answers what is in flight, and ends with code 1 (V15)", async (t) => {
  const ends: ServerEnd[] = [];
  const process = serveInMemory(t, { onClose: (end) => void ends.push(end) });
  await process.send(call(1, "deaf"), call(2, "deaf"));
  const error = new Error("the sensor is on fire");
  process.runtime.throwUncaught(error);
  process.runtime.throwUncaught("and the smoke alarm with it");
  await settle();
  assert.match(String(await process.ended), /ended with code 1$/);
  assert.deepEqual(process.runtime.exitCodes, [1]);
  assert.deepEqual(ends, [{ reason: "uncaught_error", error }]);
  for (const id of [1, 2]) {
    assert.deepEqual(process.transcript.responsesTo(id)[0]!.error, {
      code: -32603,
      message: "Internal error",
    });
  }
  const lines = process.runtime.stderrText;
  assert.match(lines, /^\[mcp_stdio\] uncaught: Error: the sensor is on fire\n/);
  assert.match(lines, /\[mcp_stdio\] uncaught: and the smoke alarm with it\n$/);
});

test("serve() ends with code 1 also when the error comes while it drains (V15)", async (t) => {
  const process = serveInMemory(t);
  await process.send(call(1, "deaf"));
  process.end();
  await settle();
  process.runtime.throwUncaught(new Error("late"));
  await process.clock.advance(200);
  assert.match(String(await process.ended), /ended with code 1$/);
  assert.equal(process.transcript.responsesTo(1).length, 1);
});

test("serve() watches uncaught errors only while it serves, and not when told not to (V15)", async (t) => {
  const off = serveInMemory(t, { uncaughtErrors: false });
  off.runtime.throwUncaught(new Error("not ours"));
  await off.send(call(1, "hello"));
  assert.equal(off.transcript.messages.length, 1);
  const over = serveInMemory(t);
  await over.send(call(1, "hello"));
  over.end();
  await over.serving;
  over.runtime.throwUncaught(new Error("not ours any more"));
  assert.deepEqual([over.runtime.stderrText, over.runtime.exitCodes], ["", []]);
});

test("serve() with parentCheckMs ends once its parent is gone, and without it does not look (V15)", async (t) => {
  const process = serveInMemory(t, { parentCheckMs: 100 });
  await process.send(call(1, "deaf"));
  await process.clock.advance(1_000);
  assert.equal(await stateOf(process.serving), "pending");
  process.runtime.parentPid = 1;
  await process.clock.advance(99);
  assert.equal(await stateOf(process.serving), "pending");
  await process.clock.advance(300);
  assert.deepEqual(await process.serving, { reason: "parent_exited" });
  assert.equal(process.transcript.responsesTo(1).length, 1);

  const blind = serveInMemory(t);
  await blind.clock.advance(500); // Until it has looked for a terminal.
  assert.equal(blind.clock.pendingTimers, 0);
  const over = serveInMemory(t, { parentCheckMs: 100 });
  over.end();
  await over.serving;
  assert.equal(over.clock.pendingTimers, 0);
});

test("serve() takes a Server, too, and refuses options it cannot use (V15)", async () => {
  const info = { name: "test", version: "1.0.0" };
  const [here, stdio] = createStreamPair();
  const server = new Server({ info });
  const serving = serve(server, { runtime: createFakeRuntime({ stdio }) });
  await settle();
  await server.close();
  assert.deepEqual(await serving, { reason: "closed" });
  await here.readable.cancel();
  await assert.rejects(serve({ info, lingerMs: -1 }), RangeError);
  await assert.rejects(serve({ info, parentCheckMs: NaN }), RangeError);
  await assert.rejects(serve({ info, drainTimeoutMs: -1 }), RangeError);
});

test("serve() leaves nothing behind when its server cannot run (V16)", async (t) => {
  const info = { name: "test", version: "1.0.0" };
  const server = new Server({ info });
  const [, there] = createStreamPair();
  const [, stdio] = createStreamPair();
  server.run(there);
  t.after(() => server.close());
  const runtime = createFakeRuntime({ stdio });
  await assert.rejects(serve(server, { runtime }), /it has run before/);
  runtime.raise("SIGTERM");
  runtime.raise("SIGTERM");
  runtime.throwUncaught(new Error("not ours"));
  assert.deepEqual([runtime.stderrText, runtime.exitCodes], ["", []]);
});

test("serve() gives a Server's own logger, clock and drainTimeoutMs to the process as it gives those of options (T1)", async () => {
  for (const isInstance of [true, false]) {
    const [here, stdio] = createStreamPair();
    const clock = new FakeClock();
    const log = new LogSink();
    const options = { info: { name: "test", version: "1.0.0" }, drainTimeoutMs: 100, logger: log, clock };
    const process = {
      runtime: createFakeRuntime({ stdio }),
      lingerMs: Infinity,
      onClose: () => new Promise<void>(() => {}),
    };
    const serving = isInstance ? serve(new Server(options), process) : serve({ ...options, ...process });
    await here.writable.close();
    await clock.advance(100);
    assert.deepEqual(await serving, { reason: "eof" });
    assert.deepEqual(log.texts("warn"), ["[mcp_stdio] onClose did not end within 100 ms"]);
  }
});

test("serve() says why it has ended when nothing came, and when its parent is gone (XC10)", async (t) => {
  const silent = serveInMemory(t);
  silent.end();
  await silent.serving;
  assert.match(
    silent.runtime.stderrText,
    /^\[mcp_stdio\] stdin was at its end before anything came: .*docker run -i\)\n$/,
  );

  const heard = serveInMemory(t);
  await heard.send(call(1, "hello"));
  heard.end();
  await heard.serving;
  assert.equal(heard.runtime.stderrText, "");

  const orphan = serveInMemory(t, { parentCheckMs: 1_000 });
  orphan.runtime.parentPid++;
  await orphan.clock.advance(1_000);
  assert.equal((await orphan.serving).reason, "parent_exited");
  assert.equal(
    orphan.runtime.stderrText,
    "[mcp_stdio] the process that started this one is gone: the server has ended\n",
  );
});

test("serve() tells a person at a terminal that it waits for a client, and nobody else (V14)", async (t) => {
  for (const isTerminal of [true, false, Promise.resolve(true), Promise.resolve(false), undefined]) {
    for (const hasClient of [true, false]) {
      const own = isTerminal === undefined ? {} : { stdinIsTerminal: () => isTerminal };
      const process = serveInMemory(t, {}, own);
      await process.clock.advance(100);
      if (hasClient) await process.send(call(1, "hello"));
      await process.clock.advance(10_000);
      const expected = await isTerminal && !hasClient
        ? /^\[mcp_stdio\] this is an MCP server, and it waits for a client: .*mcp\/stdio list --.*\n$/
        : /^$/;
      assert.match(process.runtime.stderrText, expected);
    }
  }
});

test("serve() sets no timer before a first answer: on Deno the first one of a process is dear", async (t) => {
  const process = serveInMemory(t, {}, { stdinIsTerminal: () => false });
  await process.send(call(1, "hello"));
  assert.equal(process.transcript.responsesTo(1).length, 1);
  assert.equal(process.clock.pendingTimers, 0);
});
