import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { spawn } from "../client.ts";
import { silentLogger } from "../logger.ts";
import type { ExitStatus } from "../runtime.ts";
import { createLog, outcomeOf } from "./_client_peer.ts";
import { isRunning, Script, type Step, timeOf, untilGone } from "./_scripted_server.ts";
import { showUnhandledRejections, waitUntil } from "./helpers.ts";
import { exiting, KILLED, SLOW, WINDOWS } from "./runtime_adapter/harness.ts";

/** Wine lets these wait for ever: see `windows/wine_limits.ts`. */
const MINUTE = { timeout: 60_000 } as const;
/** Reads no more. */
const DEAF: Step = WINDOWS ? { deaf: true } : { kill: "SIGSTOP" };
const CALL = { name: "silent" };
const SERVE = { serve: "modern", until: "tools/call" } as const;

/** Ways a server goes in the middle of a call, and what is told of it. */
const DEATHS: ReadonlyArray<[what: string, steps: Step[], reason: string, exit: ExitStatus | null]> = [
  ["exits with a code (B54)", [SERVE, { stderr: "no\n" }, { exit: 78 }], "exited", { code: 78 }],
  ["is killed (B54)", [SERVE, { stderr: "no\n" }, { kill: "SIGKILL" }], "exited", KILLED],
  [
    "is terminated",
    [SERVE, { stderr: "no\n" }, { kill: "SIGTERM" }],
    "exited",
    WINDOWS ? { code: 1 } : { signal: "SIGTERM" },
  ],
  [
    "exits while a helper in its group holds its stdout (F4)",
    [SERVE, { stderr: "no\n" }, { helper: "in", holds: "stdout" }, { exit: 1 }],
    "exited",
    { code: 1 },
  ],
  [
    "exits while a stranger holds its stdout (F4)",
    [SERVE, { stderr: "no\n" }, { helper: "out", holds: "stdout" }, { exit: 1 }],
    "exited",
    { code: 1 },
  ],
  [
    "exits while a stranger holds its stderr",
    [SERVE, { stderr: "no\n" }, { helper: "out", holds: "stderr" }, { exit: 1 }],
    "exited",
    { code: 1 },
  ],
  [
    "closes its stdout and stays (B89)",
    [SERVE, { stderr: "no\n" }, { close: "stdout" }, { stay: true }],
    "eof",
    null,
  ],
];

for (const [what, steps, reason, exit] of DEATHS) {
  test(`Client settles its calls when the server ${what} (C7)`, MINUTE, async (t) => {
    const script = new Script(t, steps);
    const client = await script.spawn(t, { maxRestarts: 0 });
    const calls = [1, 2, 3].map(() => outcomeOf(client.request("tools/call", CALL)));
    const idempotent = outcomeOf(client.request("tools/list"));
    const tookMs = await timeOf(() => Promise.all([...calls, idempotent]));
    // Five hundred from the death on; the rest is what the server took, and busy machines. A call's own time is a minute.
    assert.ok(tookMs < 20_000, `${tookMs} ms`);
    for (const call of [...calls, idempotent]) {
      const { error } = await call;
      assert.deepEqual([error?.code, error?.reason, error?.sent], ["connection_closed", reason, true]);
      assert.deepEqual(error?.exit, exit);
      assert.equal(error?.stderrTail, "no\n");
    }
    const { step } = await client.closed;
    assert.equal(step, exit === null ? "eof" : "already");
    assert.ok(!isRunning(script.pids[0]!));
    assert.deepEqual([client.state, client.pid], ["closed", undefined]);
    assert.equal((await outcomeOf(client.request("tools/list"))).error?.code, "connection_closed");
  });
}

test(
  "Client reads all of an answer that was written just before the exit (C7, B55, B12)",
  SLOW,
  async (t) => {
    const answer = `{"jsonrpc":"2.0","id":$id,"result":{"content":[],"text":"$x300000"}}\n`;
    const script = new Script(t, [SERVE, { write: answer }, { exit: 0 }]);
    const client = await script.spawn(t, { maxRestarts: 99 });
    for (let round = 0; round < 12; round++) {
      const result = await client.request("tools/call", CALL);
      assert.equal(String(result.text).length, 300_000);
      await waitUntil(() => client.restartCount === round + 1 && client.state === "ready");
      // A fresh record, as if it had lived for a minute.
      if (round % 3 === 2) await client.close();
      if (client.state === "closed") break;
    }
    assert.ok(script.starts >= 3);
  },
);

test(
  "Client reads an answer that was written before the exit while it writes itself (C7, B55, B57)",
  SLOW,
  async (t) => {
    const answer = `{"jsonrpc":"2.0","id":$id,"result":{"content":[],"text":"$x300000"}}\n`;
    for (let round = 0; round < 5; round++) {
      const script = new Script(t, [SERVE, { write: answer }, { exit: 0 }]);
      const client = await script.spawn(t, { maxRestarts: 0 });
      const call = outcomeOf(client.request("tools/call", CALL));
      const flood = outcomeOf(client.notify("notifications/x", { text: "x".repeat(5_000_000) }));
      const { value, error } = await call;
      assert.equal(String(value?.text).length, 300_000, String(error));
      assert.equal((await flood).error?.code, "connection_closed");
    }
  },
);

test("Client starts a server again that exits, and goes on (P8, B73)", SLOW, async (t) => {
  const script = new Script(t, [
    { serve: "modern", until: "tools/call" },
    { write: `{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}\n` },
    { serve: "modern", until: "tools/list" },
    { exit: 1 },
  ], []);
  const states: string[] = [];
  const log = createLog();
  const client = await script.spawn(t, {
    onStateChange: (state) => void states.push(state),
    logger: log.logger,
  });
  await client.request("tools/call", { name: "x" });
  const first = client.pid;
  const list = client.request("tools/list");
  const lost = outcomeOf(client.request("tools/call", CALL));
  assert.deepEqual((await list).tools, []);
  assert.equal((await lost).error?.code, "connection_closed");
  assert.notEqual(client.pid, first);
  assert.deepEqual(states, ["ready", "restarting", "ready"]);
  assert.deepEqual([client.restartCount, client.exitStatus, script.starts], [1, { code: 1 }, 2]);
  assert.deepEqual(
    log.lines.filter(({ level }) => level === "warn").map(({ message, facts }) => [message, facts.exit]),
    [
      ["[mcp_stdio] the server has ended and is started again", "code 1"],
    ],
  );
  // The new process's first line is the request: no handshake is replayed (S2-39).
  assert.equal(script.methods(1)[0], "tools/list");
  await client.close();
});

test("Client notices the exit of an idle server without being asked (P6, B97)", SLOW, async (t) => {
  const script = new Script(t, []);
  const states: string[] = [];
  const client = await script.spawn(t, { maxRestarts: 0, onStateChange: (state) => void states.push(state) });
  process.kill(client.pid!, "SIGKILL");
  const { exit } = await client.closed;
  assert.deepEqual([exit, client.pid, client.exitStatus], [KILLED, undefined, KILLED]);
  assert.deepEqual(states, ["ready", "closing", "closed"]);
});

test("Client asks a new process for open listen streams (C10, S2-38)", SLOW, async (t) => {
  const event =
    `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":$id}}}\n`;
  const acknowledged =
    `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":$id}}}\n`;
  const greet = { serve: "modern", until: "subscriptions/listen" } as const;
  const script = new Script(
    t,
    [greet, { write: acknowledged + event }, { sleep: 50 }, { exit: 1 }],
    [greet, { write: acknowledged + event }, { stay: true }],
  );
  const client = await script.spawn(t);
  const listening = client.listen({ toolsListChanged: true });
  const seen: string[] = [];
  for await (const { kind } of listening) {
    seen.push(kind);
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, ["notification", "resubscribed", "notification"]);
  const ids = script.of("line").map(({ line }) => JSON.parse(line!)).filter(({ method }) =>
    method === "subscriptions/listen"
  ).map(({ id }) => id);
  assert.equal(new Set(ids).size, 2);
  await client.close();
});

test("Client gives up a server that closes its stdin, in order (C7)", MINUTE, async (t) => {
  const script = new Script(t, [{ serve: "modern", until: "notifications/x" }, { close: "stdin" }], []);
  // It does not end by itself, for nothing tells it to.
  const client = await script.spawn(t, { shutdownGraceMs: 500 });
  const [first] = script.pids;
  await client.notify("notifications/x");
  // It takes a write to notice.
  const isTaken = async () => (await outcomeOf(client.notify("notifications/y"))).error === undefined;
  await waitUntil(async () => !await isTaken(), { timeoutMs: 30_000 });
  await waitUntil(() => client.restartCount === 1 && client.state === "ready", { timeoutMs: 30_000 });
  await client.request("tools/list");
  await untilGone([first!]);
  await client.close();
});

test("Client rejects a notification that a deaf server will never take (C8, B58)", SLOW, async (t) => {
  const script = new Script(t, [{ serve: "modern", until: "notifications/x" }, DEAF]);
  for (const how of ["kill", "close"] as const) {
    const client = await script.spawn(t, { maxRestarts: 0, shutdownGraceMs: 200 });
    const pid = client.pid!;
    await client.notify("notifications/x");
    const large = outcomeOf(client.notify("notifications/y", { text: "x".repeat(8_388_608) }));
    // So that the write is stuck in the pipe rather than queued; the assertion holds for both.
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (how === "kill") process.kill(pid, "SIGKILL");
    const closed = how === "close" ? client.close() : client.closed;
    assert.equal((await large).error?.code, "connection_closed");
    await closed;
  }
});

test(
  "Client raises nothing in its host when servers die under unobserved calls (C9, B56)",
  SLOW,
  async (t) => {
    const script = new Script(t, [SERVE, { exit: 1 }]);
    const client = await script.spawn(t, { maxRestarts: 0 });
    for (let n = 0; n < 5; n++) client.request("tools/call", CALL);
    client.notify("notifications/x");
    client.listen({ toolsListChanged: true });
    await client.closed;
    client.request("tools/list");
    await showUnhandledRejections();
  },
);

test(
  "spawn() rejects, and nothing comes late, when programs exit without reading (P10, B57)",
  SLOW,
  async () => {
    const info = { name: "x".repeat(1_048_576), version: "1" };
    const [command = "", ...args] = exiting(0);
    const outcomes = await Promise.all(
      Array.from(
        { length: 20 },
        () => outcomeOf(spawn({ command, args, info, logger: silentLogger, stderr: "ignore" })),
      ),
    );
    for (const { error } of outcomes) {
      assert.deepEqual([error?.code, error?.exit], ["exited_early", {
        code: 0,
      }]);
    }
    // A rejection that nobody sees has its time to come: there is no event to wait for.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await showUnhandledRejections();
  },
);

test(
  "Client shows 250 of 250 progress callbacks before the results of a real server (C2)",
  SLOW,
  async (t) => {
    const script = new Script(t, []);
    const client = await script.spawn(t);
    let seen = 0;
    for (let n = 0; n < 50; n++) {
      await client.request("tools/call", { name: "burst" }, { onProgress: () => void seen++ });
      assert.equal(seen, (n + 1) * 5);
    }
    await client.close();
  },
);

test("Client takes progress for a sign of life of a real server (C4, B67)", SLOW, async (t) => {
  const script = new Script(t, [
    SERVE,
    {
      write:
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$token,"progress":$n}}\n`,
      times: 8,
      pauseMs: 100,
    },
    { write: `{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}\n` },
  ]);
  const client = await script.spawn(t);
  await client.request("tools/call", CALL, { timeoutMs: 600, resetTimeoutOnProgress: true });
  await client.close();
});
