// The life of a served process, on real processes: ends of input, hooks, signals, lost pipes, errors (rules V11 to V15). What
// goes over its pipes is in server_wire_test.ts, how it outlives its host or not in server_host_test.ts.
//
// B18 asks for an end of the session at a line over the limit, so that no server is alive and deaf. By F5 and V5 the line
// is answered and the session goes on: the test shows that it is not deaf, and that it ends.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { call, legacy, modern, SLOW, textOf } from "./server_helpers.ts";
import { waitUntil } from "./helpers.ts";
import {
  commandOf,
  isAlive,
  pause,
  SECOND_UNDER_LOAD_MS,
  type ServerProcess,
  startInShell,
  startProcess,
} from "./server_processes.ts";

const LIFE = "tests/fixtures/server_life";
const HOOKED = "hook: eof\nhook: done\nserved: eof\n";
const HAS_SCRIPT = spawnSync("script", ["--version"]).status === 0;
const AT_TERMINAL = { ...SLOW, skip: HAS_SCRIPT ? false : "needs the script command of util-linux" } as const;
const POSIX = { ...SLOW, skip: process.platform === "win32" ? "needs a POSIX shell" : false } as const;

function startLife(t: TestContext, settings: object = {}): ServerProcess {
  return startProcess(t, LIFE, { args: [JSON.stringify(settings)] });
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

test(
  "An idle server ends at the end of its input: code 0, quietly and promptly (V11, B22, B26)",
  SLOW,
  async (t) => {
    const server = startLife(t);
    await ready(server);
    server.end();
    const took = await timeToEnd(server);
    assert.deepEqual(server.exit, { code: 0, signal: null });
    assert.ok(took < SECOND_UNDER_LOAD_MS, `${took} ms`);
    assert.equal(server.stderr, "hook: eof\nhook: done\nserved: eof\n");
    assert.equal(server.transcript.messages.length, 1);
  },
);

for (
  const [kind, redirect] of Object.entries({
    "a pipe that is closed already": 'true | "$@"',
    "/dev/null": '"$@" </dev/null',
    "a closed descriptor": '"$@" <&-',
  })
) {
  test(
    `A server whose input is ${kind} ends at once, with one call of its hook (V11, B22)`,
    POSIX,
    async (t) => {
      const server = startInShell(t, LIFE, redirect);
      assert.deepEqual(await server.exited, { code: 0, signal: null });
      const said = "[mcp_stdio] stdin was at its end before anything came";
      assert.equal(server.stderr.replace(/(: a server needs).*\n/, "\n").replace(`${said}\n`, ""), HOOKED);
      assert.ok(server.stderr.includes(said), "and it says why (XC10)");
    },
  );
}

test(
  "A server at a terminal says that it waits for a client, and serves one who types (V14)",
  AT_TERMINAL,
  async (t) => {
    const [command, ...args] = commandOf(LIFE).map((part) => `'${part}'`);
    const child = spawn("script", ["-qefc", [command, ...args].join(" "), "/dev/null"]);
    t.after(() => void child.kill("SIGKILL"));
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => said += text);
    await waitUntil(() => said.includes("waits for a client"), { timeoutMs: 30_000 });
    child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"ping"}\n`);
    await waitUntil(() => said.includes(`{"jsonrpc":"2.0","id":1,"result":{}}`), { timeoutMs: 30_000 });
    child.stdin.end("\u0004");
    await waitUntil(() => said.includes("served: eof"), { timeoutMs: 30_000 });
  },
);

test(
  "An answer of 1 MiB and then close() arrive whole at a slow reader, before the exit (V11, V16, B36)",
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

test("Four requests and the end of input at once: four answers, then code 0 (V11, B25)", SLOW, async (t) => {
  const server = startLife(t);
  server.send(call(1, "sleep", { ms: 300 }), call(2, "pid"), call(3, "big", { size: 5 }), legacy(4, "ping"));
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.equal(textOf(server.transcript.responsesTo(1)[0]!), "slept 300 ms");
  assert.equal(server.transcript.messages.length, 4);
});

test(
  "A handler that takes too long is answered with an error at the deadline, and the process ends (V11, B25)",
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
    assert.equal(server.transcript.rest, "");
  },
);

for (const keep of ["timer", "socket"]) {
  test(
    `A process that a ${keep} keeps alive is ended after lingerMs, with one line saying so (V15, B23)`,
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

test("The hook is awaited, once, with the reason, before the process ends (V15, B50)", SLOW, async (t) => {
  const server = startLife(t, { hookMs: 300 });
  await ready(server);
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.equal(server.stderr, "hook: eof\nhook: done\nserved: eof\n");
});

test("A hook that hangs is waited for no longer than drainTimeoutMs (V15, B23, B50)", SLOW, async (t) => {
  const server = startLife(t, { hookMs: -1, keep: "timer", drainTimeoutMs: 200, lingerMs: 100 });
  await ready(server);
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  // The logger's lines wait in a queue of their own.
  assert.match(server.stderr, /hook: eof\nserved: eof\n|hook: eof\nwarning: .*\nserved: eof\n/);
  assert.match(server.stderr, /warning: .*onClose did not end within 200 ms\n/);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(
    `${signal} ends a server with answers and its hook, although a timer keeps it alive (V15, B31)`,
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

test("A second SIGTERM ends the process at once, with code 143 (V15, B31)", POSIX, async (t) => {
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
  "A client that closes its reading end ends the server, quietly, and its handlers stop (V13, B28)",
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
  "A client that closes both pipes before the answer leaves no trace of an error (V13, B29)",
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

test(
  "A line over the limit does not make a server deaf that something keeps alive (V5, B18)",
  SLOW,
  async (t) => {
    const server = startLife(t, { keep: "timer", limits: { maxLineBytes: 1 << 20 }, lingerMs: 100 });
    const long = JSON.stringify(call(1, "pid", { fill: "x".repeat(2 << 20) }));
    server.send(long, call(2, "pid"));
    assert.equal((await server.response(1)).error?.message, "Request exceeds limits.maxLineBytes");
    assert.equal(textOf(await server.response(2)), String(server.pid));
    assert.match(server.stderr, /^warning: \[mcp_router\] dropped a line: .*1048576/);
    server.end();
    assert.equal((await server.exited).code, 0);
  },
);

test("A ping and a cancellation do not wait for a call that goes on for ever (V2, B42)", SLOW, async (t) => {
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
