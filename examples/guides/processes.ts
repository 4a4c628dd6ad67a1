// The blocks of docs/processes.md: a server in a process of its own, on the runtime that this runs on.
import { ConnectionClosedError } from "@mcp/stdio/errors";
import { type ClientState, spawn } from "@mcp/stdio/client";
import { silentLogger } from "@mcp/stdio/logger";
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";

const flags = "Deno" in globalThis ? ["run", "--quiet", "-A"] : [];
const server = fileURLToPath(import.meta.url.replace("guides/processes", "everything_server"));
const folder = tmpdir();
const token = "a-token";
const states: ClientState[] = [];

//#region start
const client = await spawn({
  command: process.execPath, // a program, and nothing else: no shell reads this
  args: [...flags, server], // each argument apart
  cwd: folder,
  env: { GITHUB_TOKEN: token, TZ: undefined }, // sets one, and keeps one out
  passEnv: ["MY_APP_*"], // further names of your own environment
  stderr: "capture", // keeps the end of it in `client.stderrTail`
  onStateChange: (state) => states.push(state),
  logger: silentLogger,
});
//#endregion
const { content } = await client.callTool("env");
const env = JSON.parse(content[0]?.type === "text" ? content[0].text : "{}");
assert.equal(env.GITHUB_TOKEN, token);
assert.equal(env.TZ, undefined);
assert.ok("PATH" in env || "Path" in env);

//#region crash
const calls = [
  client.callTool("crash", { code: 7 }), // the server ends in the middle of it
  client.callTool("sleep", { ms: 500 }, { retry: "force" }), // may be made twice
];
const [crashed, slept] = await Promise.allSettled(calls);
if (crashed?.status === "rejected" && crashed.reason instanceof ConnectionClosedError) {
  const { exit, sent, stderrTail } = crashed.reason; // { code: 7 }, true, what the server said last
  assert.deepEqual([exit, sent, stderrTail], [{ code: 7 }, true, ""]);
}
assert.equal(slept?.status, "fulfilled"); // by the server that was started in its place
//#endregion
assert.equal(crashed?.status, "rejected");
assert.equal(client.restartCount, 1);

//#region close
const report = await client.close({ shutdownGraceMs: 5_000 });
// { exit: { code: 0 }, step: "eof" }: the end of its input was enough
//#endregion
assert.deepEqual(report, { exit: { code: 0 }, step: "eof" });
assert.deepEqual(states, ["ready", "restarting", "ready", "closing", "closed"]);
