// `replay`: what a client said, said again, and what is answered otherwise (L5).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { Recorder } from "../internal/cli/record/recorder.ts";
import { readRecording } from "../internal/cli/recording/read_recording.ts";
import { findDifferences, NOTHING, readScript } from "../internal/cli/replay/script.ts";
import { strangerCommand } from "./_stranger.ts";
import { runCli } from "./cli_helpers.ts";
import { bytesOf } from "./helpers.ts";
import { SLOW } from "./server_helpers.ts";

function server(mode: string): string[] {
  return ["--", ...strangerCommand("cli_replayed.mjs", [mode])];
}

/** What was said, in order. */
type Said = readonly [from: "client" | "server", message: unknown];

function recordingOf(said: readonly Said[], keepsSecrets = true): string {
  let text = "";
  const recorder = new Recorder({ keepsSecrets, write: (lines) => text += lines });
  for (const [index, [from, message]] of said.entries()) {
    const line = typeof message === "string"
      ? message
      : JSON.stringify({ jsonrpc: "2.0", ...message as object });
    recorder.take(from, bytesOf(`${line}\n`), index * 10);
  }
  return text;
}

/** A session with the fixture in mode "first". */
const SESSION: readonly Said[] = [
  ["client", { id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } }],
  ["server", {
    id: 0,
    result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "r", version: "first" } },
  }],
  ["client", { method: "notifications/initialized" }],
  ["client", { id: 1, method: "tools/list" }],
  ["client", { id: 2, method: "tools/call", params: { name: "ask" } }],
  ["server", { id: 1, result: { tools: [{ name: "ask" }] } }],
  ["server", { id: "first-1", method: "elicitation/create", params: { message: "Who?" } }],
  ["client", { id: "first-1", result: { action: "accept", content: { name: "Ada" } } }],
  ["server", { id: 2, result: { content: [{ type: "text", text: "Hello, Ada!" }] } }],
  ["client", { id: 3, method: "tools/call", params: { name: "other" } }],
  ["server", { id: 3, result: { content: [{ type: "text", text: "token=firstsecret other" }] } }],
  ["client", { id: 4, method: "tools/call", params: { name: "late" } }],
  ["client", { method: "notifications/cancelled", params: { requestId: 4 } }],
];

function writeRecording(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "replay-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "a.ndjson");
  writeFileSync(path, text);
  return path;
}

test("readScript() tells what was said, after which answers, and what the server was answered (L5)", () => {
  const script = readScript(readRecording(bytesOf(recordingOf(SESSION))).events);
  assert.deepEqual(script.steps.map(({ after, call }) => [after, call]), [
    [[], 0],
    [[0], undefined],
    [[], 1],
    [[], 2],
    [[1, 2], 3],
    [[3], 4],
    [[], undefined],
  ]);
  assert.deepEqual(script.calls.map(({ id, tookMs, isCancelled }) => [id, tookMs, isCancelled]), [
    [0, 10, false],
    [1, 20, false],
    [2, 40, false],
    [3, 10, false],
    [4, undefined, true],
  ]);
  assert.deepEqual([...script.answers.keys()], ["elicitation/create"]);
  const odd = readScript(
    readRecording(bytesOf(recordingOf([["client", "rubbish"], ["server", { id: 9, result: {} }]]))).events,
  );
  assert.deepEqual([odd.steps.length, odd.calls.length], [1, 0]);
});

test("findDifferences() names the places, and leaves out what may differ (L5)", () => {
  const was = { a: [1, { b: "x" }, 3], c: null, same: { deep: [true] } };
  const is = { a: [1, { b: "y" }], c: 0, same: { deep: [true] }, d: 1 };
  assert.deepEqual(findDifferences(was, is), [
    { path: "a[1].b", was: "x", is: "y" },
    { path: "a[2]", was: 3, is: NOTHING },
    { path: "c", was: null, is: 0 },
    { path: "d", was: NOTHING, is: 1 },
  ]);
  assert.deepEqual(findDifferences(was, is, ["a[*].b", "d", "c"]).map(({ path }) => path), ["a[2]"]);
  assert.deepEqual(findDifferences(was, is, ["a"]).map(({ path }) => path), ["c", "d"]);
  assert.deepEqual(findDifferences({ x: 1 }, { x: 1 }), []);
  assert.deepEqual(findDifferences([], {}), [{ path: "", was: [], is: {} }]);
  assert.deepEqual(findDifferences({ __proto__: 1, toString: 1 }, { toString: 1 }), []);
});

test(
  "replay finds nothing where a server answers as before, whatever ids it has for its own questions (L5)",
  SLOW,
  async (t) => {
    const path = writeRecording(t, recordingOf(SESSION));
    const { code, stdout, stderr } = await runCli(["replay", path, ...server("first")]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /✓ initialize {2}10\.0 ms → /);
    assert.match(stdout, /✓ tools\/call ask {2}40\.0 ms → /);
    assert.match(stdout, /\n5 requests · 5 the same · exit code 0\n$/);
  },
);

test("replay shows what is answered otherwise, and --ignore leaves it out (L5)", SLOW, async (t) => {
  const path = writeRecording(t, recordingOf(SESSION));
  const other = await runCli(["replay", path, ...server("second")]);
  assert.equal(other.code, 1);
  assert.match(
    other.stdout,
    /✗ tools\/list .* otherwise\n {4}result\.tools\[0\]: \{"name":"ask"\} → nothing\n/,
  );
  assert.match(other.stdout, /result\.serverInfo\.version: "first" → "second"\n/);
  assert.match(other.stdout, /· 2 the same · 3 otherwise · /);
  const ignoring = [
    "--ignore",
    "result.tools",
    "--ignore",
    "result.serverInfo.*",
    "--ignore",
    "result.content[*].text",
  ];
  const ignored = await runCli(["replay", path, ...ignoring, ...server("second")]);
  assert.equal(ignored.code, 0, ignored.stdout);
  const json = (await runCli(["replay", path, "--json", ...server("second")])).json();
  assert.deepEqual(json.counts, { same: 2, other: 3 });
  assert.deepEqual(json.requests[1].differences, [{ path: "result.tools[0]", was: { name: "ask" } }]);
});

test("replay tells of a server that dies, does not answer, or breaks a rule (L5)", SLOW, async (t) => {
  const path = writeRecording(t, recordingOf(SESSION));
  const dead = await runCli(["replay", path, ...server("dies")]);
  assert.equal(dead.code, 1);
  assert.match(dead.stdout, /\? tools\/call ask .* no answer\n/);
  assert.match(dead.stdout, / · exit code 9\n$/);
  const printing = await runCli(["replay", path, "--ignore", "result", ...server("prints")]);
  assert.equal(printing.code, 1);
  assert.match(printing.stdout, /▲ text that is no message {2}just a note\n/);
  const mute = await runCli(["replay", path, "--timeout", "200ms", "--json", ...server("mute")]);
  assert.equal(mute.code, 1);
  assert.equal(mute.json().counts.missing, 2);
});

test(
  "replay compares what was masked as masked, and says that masked lines are not what they were (L6)",
  SLOW,
  async (t) => {
    const masked = recordingOf([...SESSION, ["client", {
      method: "notifications/x",
      params: { password: "hunter22" },
    }]], false);
    const path = writeRecording(t, masked);
    const { code, stdout, stderr } = await runCli(["replay", path, ...server("first")]);
    assert.equal(code, 0, stdout);
    assert.match(stderr, /warning: secrets are masked in 1 of the lines that are said/);
  },
);

test("replay needs a recording in which a client speaks, and a server that starts (L5)", SLOW, async (t) => {
  const silent = writeRecording(t, recordingOf([["server", { method: "notifications/x" }]]));
  assert.match(
    (await runCli(["replay", silent, ...server("first")])).stderr,
    /the client says nothing in it/,
  );
  assert.match(
    (await runCli(["replay", "/no/such/file", ...server("first")])).stderr,
    /there is no such file/,
  );
  const path = writeRecording(t, recordingOf(SESSION));
  assert.equal((await runCli(["replay", path, "--", "no-such-program-anywhere"])).code, 3);
  const first = writeRecording(t, recordingOf(SESSION.slice(0, 2)));
  assert.equal((await runCli(["replay", first, "--", process.execPath, "--no-such-flag"])).code, 3);
});

for (const when of ["before", "while"] as const) {
  test(`replay stops at once when Ctrl-C comes ${when} its server is started (L5)`, SLOW, async (t) => {
    const path = writeRecording(t, recordingOf(SESSION));
    const controller = new AbortController();
    const interrupt = () => controller.abort(new Error("Ctrl-C"));
    if (when === "before") interrupt();
    const { code, stderr } = await runCli(["replay", path, "--timeout", "1h", ...server("mute")], {
      interrupted: controller.signal,
      isTerminal: true,
      onStart: ({ stderr }) => {
        const write = stderr.write.bind(stderr);
        stderr.write = (content) => {
          write(content);
          if (stderr.text.includes("starting")) interrupt();
        };
      },
    });
    assert.equal(code, 130);
    assert.equal(stderr.includes("starting"), when === "while");
  });
}
