// The example host as a process of its own, with servers that work, that cannot be started, and that are refused (rules H3, H4).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { runtimeName } from "../internal/runtime/detect.ts";
import { SLOW } from "./server_helpers.ts";
import { commandOf } from "./server_processes.ts";

/** Runs the host to its end, with a text on its stdin; gives what it has said. */
async function runHost(t: TestContext, args: string[], typed = ""): Promise<string> {
  const [command = "", ...rest] = commandOf("examples/host", args);
  // The sample starts its servers with `deno`.
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const host = spawn(command, rest, {
    stdio: "pipe",
    env: { ...process.env, PATH: path },
  });
  t.after(() => void host.kill("SIGKILL"));
  let text = "";
  host.stdout.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  host.stderr.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  host.stdin.end(typed);
  const [code] = await once(host, "close") as [number | null];
  assert.equal(code, 0, text);
  return text;
}

/** A configuration in a folder of its own. */
function writeConfig(t: TestContext, servers: { readonly [name: string]: unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), "host-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, ".mcp.json");
  writeFileSync(path, JSON.stringify({ mcpServers: servers }));
  return path;
}

/** The entry of a program of this module on the runtime under test. */
function entry(program: string): { command: string; args: string[] } {
  const [command = "", ...args] = commandOf(program);
  return { command, args };
}

test(
  "examples/host.ts --yes starts all, shows tools and progress, and goes on where an entry is broken (H3, H4)",
  SLOW,
  async (t) => {
    const path = writeConfig(t, {
      weather: entry("examples/weather_server"),
      dice: { ...entry("examples/plain_schema_server"), env: { TOKEN: "secret" } },
      broken: { command: "${NO_SUCH_VARIABLE}/server" },
      missing: { command: "no-such-program-anywhere" },
      dies: { command: process.execPath, args: ["--no-such-flag"] },
      far: { type: "http", url: "https://mcp.example.com/mcp" },
      off: { ...entry("examples/weather_server"), disabled: true },
    });
    const text = await runHost(t, [path, "--yes"]);
    assert.match(text, /^7 servers in /);
    assert.match(
      text,
      /\nweather: weather speaks 2026-07-28 \(modern\)\n {2}get-forecast +Forecast for a city\n/,
    );
    assert.deepEqual(
      [...text.matchAll(/\[(#+)\.*\] measurement (\d)/g)].map(([, bar, step]) => [bar!.length, step]),
      [
        [5, "1"],
        [10, "2"],
        [15, "3"],
        [20, "4"],
      ],
    );
    assert.match(text, /\n {2}measure: 4 measurements taken\n/);
    assert.match(text, /\ndice: dice speaks [^]*\n {2}roll +Rolls dice/);
    assert.match(text, /\nbroken: cannot be started: .*"NO_SUCH_VARIABLE" is not set/);
    assert.match(text, /\nmissing: cannot be started: .*no-such-program-anywhere/);
    assert.match(text, /\ndies: cannot be started: /);
    assert.match(text, /\nfar: skipped, it is remote\n/);
    assert.match(text, /\noff: skipped, it is disabled\n/);
    assert.match(text, /\n2 closed\n$/);
    assert.doesNotMatch(text, /secret/);
  },
);

test(
  "examples/host.ts runs what was agreed to and nothing else, and takes the end of its input for a no (H4)",
  SLOW,
  async (t) => {
    const path = writeConfig(t, {
      first: { ...entry("examples/weather_server"), env: { TOKEN: "secret" } },
      second: entry("examples/plain_schema_server"),
      third: entry("examples/everything_server"),
    });
    const text = await runHost(t, [path], "no\ny\n");
    assert.match(text, /\nfirst: TOKEN=… .*weather_server.*\nRun it\? \[y\/N\] /);
    assert.match(text, /\nfirst: not started, it was refused\n/);
    assert.match(text, /\nsecond: dice speaks /);
    assert.match(text, /\nthird: not started, it was refused\n/);
    assert.match(text, /\n1 closed\n$/);
    assert.doesNotMatch(text, /secret/);
  },
);

test("examples/host.ts has a sample that it reads if no file is given (H1, H2)", {
  ...SLOW,
  skip: runtimeName() === "deno" ? false : "the sample starts its servers with deno",
}, async (t) => {
  const text = await runHost(t, ["--yes"]);
  assert.match(text, /^4 servers in .*host\.mcp\.json\n/);
  assert.match(text, /\n {2}measure: 4 measurements taken\n/);
  assert.match(text, /\n2 closed\n$/);
});
