// The life of a served process, on real processes: ends of input, hooks, signals, lost pipes, errors (rules V11 to V15).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { call, legacy, modern, SLOW, textOf } from "./server_helpers.ts";
import {
  commandOf,
  isAlive,
  pause,
  SECOND_UNDER_LOAD_MS,
  ServerProcess,
  startProcess,
} from "./server_processes.ts";

const LIFE = "tests/fixtures/server_life";
const POSIX = { ...SLOW, skip: process.platform === "win32" ? "needs a POSIX shell" : false } as const;

function startLife(t: TestContext, settings: object = {}): ServerProcess {
  return startProcess(t, LIFE, { args: [JSON.stringify(settings)] });
}

/** Starts the server from a shell, which arranges its descriptors; `"$@"` is the server. */
function startInShell(t: TestContext, script: string, settings: object = {}): ServerProcess {
  const command = commandOf(LIFE, [JSON.stringify(settings)]);
  const server = new ServerProcess(spawn("sh", ["-c", script, "sh", ...command]));
  t.after(async () => {
    server.kill("SIGKILL");
    await server.exited;
  });
  return server;
}

/** How long the process takes to end from now on, in milliseconds. */
async function timeToEnd(server: ServerProcess): Promise<number> {
  const begin = performance.now();
  await server.exited;
  return performance.now() - begin;
}

async function ready(server: ServerProcess): Promise<void> {
  server.send(legacy("ready", "ping"));
  await server.response("ready");
}

test("An idle server ends at the end of its input: code 0, quietly and promptly (V11)", SLOW, async (t) => {
  const server = startLife(t);
  await ready(server);
  server.end();
  const took = await timeToEnd(server);
  assert.deepEqual(server.exit, { code: 0, signal: null });
  assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
  assert.equal(server.stderr, "hook: eof\nhook: done\nserved: eof\n");
  assert.equal(server.transcript.messages.length, 1);
});

for (
  const [kind, redirect] of Object.entries({
    "a pipe that is closed already": 'true | "$@"',
    "/dev/null": '"$@" </dev/null',
    "a closed descriptor": '"$@" <&-',
  })
) {
  test(`A server whose input is ${kind} ends at once, with one call of its hook (V11)`, POSIX, async (t) => {
    const server = startInShell(t, redirect);
    assert.deepEqual(await server.exited, { code: 0, signal: null });
    assert.equal(server.stderr, "hook: eof\nhook: done\nserved: eof\n");
  });
}

test("A server answers requests from a file, into a file (V11)", POSIX, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "stdio-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const requests = Array.from(
    { length: 100 },
    (_, id) => `${JSON.stringify(call(id, "big", { size: 10_000 }))}\n`,
  );
  writeFileSync(join(folder, "in"), requests.join(""));
  const stdio = [openSync(join(folder, "in"), "r"), openSync(join(folder, "out"), "w"), "pipe" as const];
  const server = startProcess(t, LIFE, { stdio });
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  server.transcript.push(readFileSync(join(folder, "out")));
  assert.equal(server.transcript.messages.length, 100);
  assert.equal(server.transcript.rest, "");
});

test("A server reads what was in the pipe before it was there to read it (V11)", SLOW, async (t) => {
  const server = startLife(t, { delayMs: 500 });
  server.send(call(1, "pid"), call(2, "big", { size: 5 }));
  assert.equal(textOf(await server.response(1)), String(server.pid));
  server.end();
  assert.equal((await server.exited).code, 0);
  assert.equal(textOf(server.transcript.responsesTo(2)[0]!), "xxxxx");
});

for (
  const [kind, script] of Object.entries({
    "its parent's own pipes": '"$@"',
    "true pipes": 'cat | "$@" | cat',
  })
) {
  test(`A server over ${kind} takes and gives lines of any size, each at once (V12)`, POSIX, async (t) => {
    const server = startInShell(t, script);
    for (const size of [16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 1 << 20, 9 << 20]) {
      const request = JSON.stringify(call(size, "big", { size, fill: "" }));
      server.send(request.replace('"fill":""', `"fill":"${"y".repeat(Math.max(0, size - request.length))}"`));
      // Its input stays open: nothing waits for the end.
      assert.equal(textOf(await server.response(size)).length, size);
    }
    server.end();
    assert.equal((await server.exited).code, 0);
  });
}

test("A server whose client reads nothing for a while loses no byte (V12)", SLOW, async (t) => {
  const server = startLife(t);
  await ready(server);
  server.stall();
  server.send(...Array.from({ length: 10 }, (_, id) => call(id, "big", { size: 300 << 10 })));
  await pause(1_000);
  server.resume();
  for (let id = 0; id < 10; id++) assert.equal(textOf(await server.response(id)).length, 300 << 10);
});

test(
  "An answer of 1 MiB and then close() arrive whole at a slow reader, before the exit (V11, V16)",
  SLOW,
  async (t) => {
    const server = startLife(t);
    await ready(server);
    server.stall();
    server.send(call(1, "closeWith", { size: 1 << 20 }));
    await pause(500);
    assert.equal(server.exit, undefined);
    server.resume();
    assert.deepEqual(await server.exited, { code: 0, signal: null });
    assert.equal(textOf(server.transcript.responsesTo(1)[0]!).length, 1 << 20);
    assert.match(server.stderr, /served: closed\n$/);
  },
);

test("Four requests and the end of input at once: four answers, then code 0 (V11)", SLOW, async (t) => {
  const server = startLife(t);
  server.send(call(1, "sleep", { ms: 300 }), call(2, "pid"), call(3, "big", { size: 5 }), legacy(4, "ping"));
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.equal(textOf(server.transcript.responsesTo(1)[0]!), "slept 300 ms");
  assert.equal(server.transcript.messages.length, 4);
});

test(
  "A handler that takes too long is answered with an error at the deadline, and the process ends (V11)",
  SLOW,
  async (t) => {
    const server = startLife(t, { drainTimeoutMs: 300, lingerMs: 100 });
    server.send(call(1, "sleep", { ms: 60_000 }), call(2, "sleep", { ms: 1 }));
    await server.response(2);
    server.end();
    const took = await timeToEnd(server);
    assert.deepEqual(server.exit, { code: 0, signal: null });
    assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
    assert.equal(server.transcript.responsesTo(1)[0]!.error!.message, "Server is shutting down");
  },
);

for (const keep of ["timer", "socket"]) {
  test(
    `A process that a ${keep} keeps alive is ended after lingerMs, with one line saying so (V15)`,
    SLOW,
    async (t) => {
      const server = startLife(t, { keep, lingerMs: 200 });
      await ready(server);
      server.end();
      const took = await timeToEnd(server);
      assert.deepEqual(server.exit, { code: 0, signal: null });
      assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
      assert.match(
        server.stderr,
        /served: eof\n\[mcp_stdio\] ended the process 200 ms after its server \(eof\): .*alive.*\n$/,
      );
    },
  );
}

test("The hook is awaited, once, with the reason, before the process ends (V15)", SLOW, async (t) => {
  const server = startLife(t, { hookMs: 300 });
  await ready(server);
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.equal(server.stderr, "hook: eof\nhook: done\nserved: eof\n");
});

test("A hook that hangs is waited for no longer than drainTimeoutMs (V15)", SLOW, async (t) => {
  const server = startLife(t, { hookMs: -1, keep: "timer", drainTimeoutMs: 200, lingerMs: 100 });
  await ready(server);
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.match(server.stderr, /hook: eof\nwarning: .*onClose did not end within 200 ms\nserved: eof\n/);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(
    `${signal} ends a server with answers and its hook, although a timer keeps it alive (V15)`,
    POSIX,
    async (t) => {
      const server = startLife(t, { keep: "timer" });
      server.send(call(1, "sleep", { ms: 60_000 }));
      await ready(server);
      server.kill(signal);
      const took = await timeToEnd(server);
      assert.deepEqual(server.exit, { code: 0, signal: null });
      assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
      assert.equal(server.transcript.responsesTo(1)[0]!.error!.message, "Server is shutting down");
      assert.match(server.stderr, /^hook: signal\nhook: done\nserved: signal\n/);
    },
  );
}

test("SIGTERM hastens the end of a server that drains (V15)", POSIX, async (t) => {
  const server = startLife(t);
  server.send(call(1, "sleep", { ms: 60_000 }));
  await ready(server);
  server.end();
  await pause(200);
  assert.equal(server.exit, undefined);
  server.kill("SIGTERM");
  const took = await timeToEnd(server);
  assert.deepEqual(server.exit, { code: 0, signal: null });
  assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
  assert.equal(server.transcript.responsesTo(1)[0]!.error!.message, "Server is shutting down");
});

test("A second SIGTERM ends the process at once, with code 143 (V15)", POSIX, async (t) => {
  const server = startLife(t, { hookMs: -1 });
  await ready(server);
  server.kill("SIGTERM");
  await server.saying("hook: signal");
  server.kill("SIGTERM");
  assert.deepEqual(await server.exited, { code: 143, signal: null });
});

test("SIGPIPE never kills (V15)", POSIX, async (t) => {
  const server = startLife(t);
  await ready(server);
  server.kill("SIGPIPE");
  server.send(call(1, "pid"));
  await server.response(1);
});

test(
  "A client that closes its reading end ends the server, quietly, and its handlers stop (V13)",
  SLOW,
  async (t) => {
    const server = startLife(t, { keep: "timer", lingerMs: 100 });
    server.send(call(1, "chatter"));
    await server.until(() => server.transcript.messages.length > 3, "some ticks");
    server.breakOutput();
    const took = await timeToEnd(server);
    assert.deepEqual(server.exit, { code: 0, signal: null });
    assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
    assert.match(
      server.stderr,
      /^chatter: aborted\nhook: output_failed\nhook: done\nserved: output_failed\n/,
    );
    assert.doesNotMatch(server.stderr, /EPIPE|Error/);
  },
);

test(
  "A client that closes both pipes before the answer leaves no trace of an error (V13)",
  SLOW,
  async (t) => {
    const server = startLife(t);
    server.send(call(1, "sleep", { ms: 300 }));
    await ready(server);
    server.breakOutput();
    server.end();
    assert.deepEqual(await server.exited, { code: 0, signal: null });
    assert.match(server.stderr, /^hook: (eof|output_failed)\nhook: done\nserved: \1\n$/);
  },
);

for (const tool of ["throwLater", "rejectLater"]) {
  test(
    `An error nobody catches (${tool}) is reported, answered, and ends the process with code 1 (V15)`,
    SLOW,
    async (t) => {
      const server = startLife(t);
      server.send(call(1, "sleep", { ms: 60_000 }));
      await ready(server);
      server.send(call(2, tool));
      assert.deepEqual(await server.exited, { code: 1, signal: null });
      for (const id of [1, 2]) {
        assert.deepEqual(server.transcript.responsesTo(id)[0]!.error, {
          code: -32603,
          message: "Internal error",
        });
      }
      assert.match(server.stderr, /^\[mcp_stdio\] uncaught: Error: (thrown|rejected) in a timer\n/);
      assert.match(server.stderr, /hook: uncaught_error\nhook: done\n$/);
    },
  );
}

test("Errors that other code of the process handles are left to it (V15)", SLOW, async (t) => {
  const server = startLife(t, { ownErrors: true });
  await ready(server);
  server.send(call(1, "throwLater"), call(2, "rejectLater"));
  await server.saying("own handler: Error: thrown in a timer");
  await server.saying("own handler: Error: rejected in a timer");
  server.send(call(3, "pid"));
  await server.response(3);
  assert.doesNotMatch(server.stderr, /mcp_stdio/);
});

/**
 * A host that passes its input on to the server, and when it is killed dies without a word. `$HELPER` is what else holds
 * its end of the server's input.
 */
const HOST =
  'fifo=$(mktemp -u); mkfifo $fifo; "$@" <$fifo & echo "server $!" >&2; exec 4>$fifo; rm $fifo; $HELPER exec cat >&4';

async function killHost(
  t: TestContext,
  helper: string,
  settings: object,
): Promise<{ host: ServerProcess; pid: number }> {
  const host = startInShell(t, HOST.replace("$HELPER", helper), settings);
  await ready(host);
  const pid = Number(/server (\d+)/.exec(host.stderr)?.[1]);
  t.after(() => isAlive(pid) && process.kill(pid, "SIGKILL"));
  host.kill("SIGKILL");
  return { host, pid };
}

test("A server whose host is killed sees the end of its input, and ends (V11)", POSIX, async (t) => {
  const { host, pid } = await killHost(t, "", { keep: "timer", lingerMs: 100 });
  await host.until(() => !isAlive(pid), "the end of the server", SECOND_UNDER_LOAD_MS);
  await host.saying("served: eof\n");
});

test(
  "With parentCheckMs a server ends with its host although somebody holds the pipe (V15)",
  POSIX,
  async (t) => {
    const { host, pid } = await killHost(t, "sleep 8 >&4 2>&4 &", { parentCheckMs: 100 });
    await host.until(() => !isAlive(pid), "the end of the server", SECOND_UNDER_LOAD_MS);
    await host.saying("served: parent_exited\n");
  },
);

test("Without parentCheckMs it stays as long as somebody holds the pipe (V15)", POSIX, async (t) => {
  const { host, pid } = await killHost(t, "sleep 2 >&4 2>&4 &", {});
  await pause(700);
  assert.equal(isAlive(pid), true);
  assert.doesNotMatch(host.stderr, /served/);
  await host.saying("served: eof\n");
});

test("A line over the limit does not make a server deaf that something keeps alive (V5)", SLOW, async (t) => {
  const server = startLife(t, { keep: "timer", maxLineBytes: 1 << 20, lingerMs: 100 });
  const long = JSON.stringify(call(1, "pid", { fill: "x".repeat(2 << 20) }));
  server.send(long, call(2, "pid"));
  assert.equal((await server.response(1)).error?.message, "Request exceeds limits.maxLineBytes");
  assert.equal(textOf(await server.response(2)), String(server.pid));
  assert.match(server.stderr, /^warning: \[mcp_router\] dropped a line: .*1048576/);
  server.end();
  assert.equal((await server.exited).code, 0);
});

test("A cut-off frame harms nothing but itself (V5)", SLOW, async (t) => {
  const server = startLife(t);
  server.write(JSON.stringify(call(1, "pid")).slice(0, 40));
  await pause(200);
  server.send("", call(2, "pid"));
  assert.equal(textOf(await server.response(2)), String(server.pid));
  assert.equal(server.transcript.responsesTo(null).length, 1);
});

test("A ping and a cancellation do not wait for a call of five seconds (V2)", SLOW, async (t) => {
  const server = startLife(t);
  server.send(call(1, "chatter"));
  await server.until(() => server.transcript.messages.length > 0, "a tick");
  const begin = performance.now();
  server.send(
    legacy(2, "ping"),
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
  );
  await server.response(2);
  await server.saying("chatter: aborted");
  assert.ok(performance.now() - begin < SECOND_UNDER_LOAD_MS / 4);
  const ticks = server.transcript.notifications("x-tick").length;
  server.send(modern(3, "server/discover"));
  await server.response(3);
  assert.equal(server.transcript.notifications("x-tick").length, ticks);
  assert.deepEqual(server.transcript.responsesTo(1), []);
});

test(
  "A process that a server has started and that holds its pipes does not keep it from ending (V15)",
  POSIX,
  async (t) => {
    const server = startLife(t, { lingerMs: 100 });
    server.send(call(1, "holdPipes", { ms: 3_000 }));
    const helper = Number(textOf(await server.response(1)));
    server.end();
    await server.until(
      () => !isAlive(server.pid) || server.exit !== undefined,
      "the end of the server",
      2_500,
    );
    assert.equal(isAlive(helper), true);
    process.kill(helper, "SIGKILL");
    await server.exited;
  },
);
