import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { outcomeOf } from "./_client_peer.ts";
import {
  isRunning,
  Script,
  stateOfProcess,
  type Step,
  timeOf,
  untilGone,
  untilStopped,
} from "./_scripted_server.ts";
import { KILLED, POSIX_ORPHANS, POSIX_SHELL, SLOW, WINDOWS } from "./runtime_adapter/harness.ts";

const GRACES = { shutdownGraceMs: 300, terminateGraceMs: 300 };
const X = "notifications/x";

/** How a server is ended, what that takes, and what it sees. */
const LADDER: [what: string, steps: Step[], step: string, exit: object, seen: string[], atLeastMs: number][] =
  [
    ["ends with its input (B84)", [], "eof", { code: 0 }, ["eof"], 0],
    // Windows has one step after the end of input.
    WINDOWS
      ? ["stays", [{ ignore: "eof" }], "kill", KILLED, ["eof"], 300]
      : ["ends on SIGTERM", [{ ignore: "eof" }], "term", { signal: "SIGTERM" }, ["eof"], 300],
    [
      "ignores both (B83)",
      [{ ignore: "eof" }, { ignore: "SIGTERM" }],
      "kill",
      KILLED,
      WINDOWS ? ["eof"] : ["eof", "signal"],
      WINDOWS ? 300 : 600,
    ],
  ];
if (!WINDOWS) {
  const steps: Step[] = [{ serve: "modern", until: X }, { kill: "SIGSTOP" }];
  LADDER.push(["has stopped", steps, "kill", { signal: "SIGKILL" }, [], 600]);
}

for (const [what, steps, step, exit, seen, atLeastMs] of LADDER) {
  test(`Client.close() ends a server that ${what} (P3)`, SLOW, async (t) => {
    const script = new Script(t, steps);
    const client = await script.spawn(t);
    const pid = client.pid!;
    await client.notify(X);
    if (what === "has stopped") await untilStopped(pid);
    let report;
    const tookMs = await timeOf(async () => report = await client.close(GRACES));
    assert.deepEqual(report, { exit, step });
    assert.ok(tookMs >= atLeastMs, `${tookMs} ms`);
    assert.ok(!isRunning(pid));
    assert.deepEqual([client.pid, client.exitStatus], [undefined, exit]);
    const kinds = script.records.map(({ kind }) => kind).filter((kind) =>
      kind === "eof" || kind === "signal"
    );
    assert.deepEqual(kinds, seen);
  });
}

test(
  "Client.close() closes stdin first, and sends nothing in the first grace (P3, S1-74, S2-35)",
  SLOW,
  async (t) => {
    const script = new Script(t, [
      { ignore: "SIGTERM" },
      { ignore: "eof" },
      { serve: "modern", until: X },
      { sleep: 500 },
      { exit: 0 },
    ]);
    const client = await script.spawn(t);
    await client.notify(X);
    assert.equal((await client.close({ shutdownGraceMs: 30_000 })).step, "eof");
    assert.deepEqual(script.of("signal"), []);
  },
);

test("Client.close() lets a server write to the end what it has to say (P3, V11)", SLOW, async (t) => {
  const script = new Script(t, [
    { ignore: "eof" },
    { serve: "modern", until: "eof" },
    { write: "$x300000\n", times: 3 },
    { exit: 0 },
  ]);
  const client = await script.spawn(t);
  assert.deepEqual(await client.close(), { exit: { code: 0 }, step: "eof" });
  assert.equal(client.stderrTail, "");
});

/** On Windows nobody finds what a server has left behind; libuv takes it along, other runtimes do not. */
const ORPHANED = WINDOWS ? "by chance" : true;

/** What a server leaves behind or hides behind, and whether that ends with it. */
const TREES: ReadonlyArray<
  [what: string, steps: Step[], helperEnds: boolean | "by chance", step: string, withinMs: number]
> = [
  ["a helper that holds its stdout (B86)", [{ helper: "in", holds: "stdout" }], ORPHANED, "eof", 1_500],
  ["a helper that holds its stderr (B86)", [{ helper: "in", holds: "stderr" }], ORPHANED, "eof", 1_500],
  [
    "a helper that ignores SIGTERM (B99)",
    [{ helper: "in", ignores: "SIGTERM" }, { ignore: "eof" }],
    true,
    WINDOWS ? "kill" : "term",
    3_000,
  ],
  [
    "a helper, and ignores SIGTERM itself (S1-73)",
    [{ helper: "in" }, { ignore: "eof" }, { ignore: "SIGTERM" }],
    true,
    "kill",
    3_000,
  ],
  ["a stranger that holds its stdout", [{ helper: "out", holds: "stdout" }], false, "eof", 1_500],
  ["a stranger that holds its stderr", [{ helper: "out", holds: "stderr" }], false, "eof", 1_500],
];

for (const [what, steps, helperEnds, step, withinMs] of TREES) {
  test(
    `Client.close() does not wait for the pipes of a server that has started ${what} (P3)`,
    SLOW,
    async (t) => {
      const script = new Script(t, steps);
      const client = await script.spawn(t);
      await script.until("the helper runs", (records) => records.some(({ kind }) => kind === "helper"));
      const [helper] = script.of("helper");
      let report;
      const tookMs = await timeOf(async () => report = await client.close(GRACES));
      assert.equal((report as unknown as { step: string }).step, step);
      assert.ok(tookMs < withinMs * 4, `${tookMs} ms`); // Four times, for busy machines.
      if (helperEnds === true) await untilGone([helper!.pid!]);
      else if (helperEnds === false) assert.ok(isRunning(helper!.pid!));
    },
  );
}

for (
  const [name, wrap] of [
    ["a wrapper", (command: string) => ["-c", `${command}; true`]],
    ["two wrappers", (command: string) => ["-c", `sh -c '${command.replaceAll("'", `'\\''`)}; true'; true`]],
  ] as const
) {
  test(
    `Client.close() ends the server behind ${name}, and what it started (P3, B99, B101, B102)`,
    POSIX_SHELL,
    async (t) => {
      const script = new Script(t, [{ ignore: "eof" }, { helper: "in" }]);
      const quoted = [script.command, ...script.args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
        .join(" ");
      const client = await script.spawn(t, { command: "sh", args: wrap(quoted) });
      await script.until("the helper runs", (records) => records.some(({ kind }) => kind === "helper"));
      assert.notEqual(client.pid, script.pids[0]);
      await client.close(GRACES);
      await untilGone(script.pids);
    },
  );
}

test(
  "Client.close() signals only the child without a process group (P3, S1-72)",
  POSIX_ORPHANS,
  async (t) => {
    const script = new Script(t, [{ helper: "in" }]);
    const client = await script.spawn(t, { processGroup: false });
    await script.until("the helper runs", (records) => records.some(({ kind }) => kind === "helper"));
    await client.close(GRACES);
    assert.ok(isRunning(script.of("helper")[0]!.pid!));
  },
);

test("Client.close() gives a relay time to pass the end of input on (P3, B115)", SLOW, async (t) => {
  // The relay dies of SIGTERM without a word; it needs 300 ms to tell its far side that the input ended.
  const script = new Script(t, [{ ignore: "eof" }, { serve: "modern", until: X }, { sleep: 300 }, {
    exit: 0,
  }]);
  const client = await script.spawn(t);
  await client.notify(X);
  assert.deepEqual(await client.close(), { exit: { code: 0 }, step: "eof" });
});

test("Client.kill() ends the whole tree at once (P4)", SLOW, async (t) => {
  const script = new Script(t, [{ ignore: "eof" }, { ignore: "SIGTERM" }, {
    helper: "in",
    ignores: "SIGTERM",
  }]);
  const client = await script.spawn(t);
  await script.until("the helper runs", (records) => records.some(({ kind }) => kind === "helper"));
  const call = outcomeOf(client.request("tools/call", { name: "silent" }));
  assert.deepEqual(await client.kill(), { exit: KILLED, step: "kill" });
  assert.equal((await call).error?.reason, "killed");
  await untilGone(script.pids);
  assert.deepEqual([script.of("eof"), script.of("signal")], [[], []]);
});

test("Client.kill() hastens a close under way (P4)", SLOW, async (t) => {
  const script = new Script(t, [{ ignore: "eof" }]);
  const client = await script.spawn(t);
  const closed = client.close({ shutdownGraceMs: 60_000 });
  await script.until("the server has seen the end of input", () => script.of("eof").length > 0);
  assert.equal((await client.kill()).step, "kill");
  assert.equal((await closed).step, "kill");
});

test("Client.kill() in the middle of restarts leaves no process (P4, S1-80)", SLOW, async (t) => {
  const script = new Script(t, [{ serve: "modern", until: X }, { exit: 1 }]);
  for (let round = 0; round < 12; round++) {
    const client = await script.spawn(t, { maxRestarts: 9 });
    client.notify(X);
    await new Promise((resolve) => setTimeout(resolve, round * 12));
    await client.kill();
    const { starts } = script;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(script.starts, starts);
    await untilGone(script.pids);
  }
});

test("Client.close() is no crash, however fast the server exits (P8, B76)", SLOW, async (t) => {
  const script = new Script(t, []);
  for (let round = 0; round < 10; round++) {
    const client = await script.spawn(t);
    assert.equal((await client.close()).step, "eof");
    assert.deepEqual([client.restartCount, client.state], [0, "closed"]);
  }
  assert.equal(script.starts, 10);
  await untilGone(script.pids);
});

test("spawn() and close() leave no zombie, no timer and no listener (P5, C9, B82)", SLOW, async (t) => {
  const listeners = () =>
    ["exit", "SIGTERM", "SIGINT", "SIGHUP"].map((event) => process.listenerCount(event));
  const before = listeners();
  const script = new Script(t, []);
  await Promise.all(Array.from({ length: 6 }, async () => {
    const client = await script.spawn(t);
    await client.request("tools/list");
    await client.close();
  }));
  assert.deepEqual(listeners(), before);
  assert.equal(script.starts, 6);
  // Not even as zombies.
  assert.deepEqual(script.pids.map(stateOfProcess), Array(6).fill(undefined));
});

test("Client disposes of itself (P3, S1-81)", SLOW, async (t) => {
  const script = new Script(t, []);
  const client = await script.spawn(t);
  await client[Symbol.asyncDispose]();
  await untilGone(script.pids);
  await client[Symbol.asyncDispose]();
});

test("Client writes nothing after close (P4, S1-82)", SLOW, async (t) => {
  const script = new Script(t, [{ ignore: "eof" }]);
  const client = await script.spawn(t);
  await client.request("tools/list");
  const queued = [outcomeOf(client.request("tools/list")), outcomeOf(client.notify(X))];
  const closed = client.close(GRACES);
  const late = [outcomeOf(client.request("tools/list")), outcomeOf(client.notify(X))];
  for (const { error } of await Promise.all([...queued, ...late])) {
    assert.deepEqual([error?.code, error?.sent], ["connection_closed", false]);
  }
  await closed;
  assert.deepEqual(script.methods(0), ["server/discover", "tools/list"]);
});
