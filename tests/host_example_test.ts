// The example host as a process of its own, with servers that work, that cannot be started, and that are refused (rules H3, H4).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { runtimeName } from "../internal/runtime/detect.ts";
import { SLOW } from "./server_helpers.ts";
import { strangerCommand } from "./_stranger.ts";
import { commandOf } from "./server_processes.ts";

/** How the host runs, and how it has to end. */
interface Run {
  /** What is on its stdin, from the beginning. */
  typed?: string;
  /** What is typed when it asks. */
  answer?: string;
  code?: number;
  program?: string;
  cwd?: string;
}

/** Runs the host to its end; gives what it has said. */
async function runHost(t: TestContext, args: string[], run: Run = {}): Promise<string> {
  const { typed = "", answer, code = 0, program = "examples/host", cwd } = run;
  const [command = "", ...rest] = commandOf(program, args);
  // The sample starts its servers with `deno`.
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const host = spawn(command, rest, {
    stdio: "pipe",
    env: { ...process.env, PATH: path },
    cwd,
  });
  t.after(() => void host.kill("SIGKILL"));
  let text = "";
  host.stdout.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  host.stderr.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  if (answer === undefined) host.stdin.end(typed);
  else {
    host.stdout.on("data", () => {
      if (/\? \[y\/N\] $/.test(text)) host.stdin.end(answer);
    });
  }
  const [found] = await once(host, "close") as [number | null];
  assert.equal(found, code, text);
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

/** The entry of a program of this module, as a stranger's. */
function entry(program: string): { command: string; args: string[] } {
  const [command = "", ...args] = strangerCommand(program);
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
    const text = await runHost(t, [path], { typed: "no\ny\n" });
    assert.match(text, /\nfirst: TOKEN=… .*weather_server.*\nRun it\? \[y\/N\] /);
    assert.match(text, /\nfirst: not started, it was refused\n/);
    assert.match(text, /\nsecond: dice speaks /);
    assert.match(text, /\nthird: not started, it was refused\n/);
    assert.match(text, /\n1 closed\n$/);
    assert.doesNotMatch(text, /secret/);
  },
);

test(
  "examples/host.ts asks once for what it may remember, and again for what has changed (H4, XF10)",
  SLOW,
  async (t) => {
    const path = writeConfig(t, {
      weather: entry("examples/weather_server"),
      no: { command: "no-such-program-anywhere" },
    });
    const remember = join(dirname(path), "approved");
    const first = await runHost(t, [path, "--remember", remember], { typed: "y\nno\n" });
    assert.match(first, /\nweather: weather speaks /);
    assert.match(first, /\nno: not started, it was refused\n/);
    assert.match(readFileSync(remember, "utf8"), /^sha256:[0-9a-f]{64}$/);
    if (process.platform !== "win32") assert.equal(statSync(remember).mode & 0o777, 0o600);
    const second = await runHost(t, [path, "--remember", remember]);
    assert.match(second, /\nweather: weather speaks /);
    assert.doesNotMatch(second, /weather_server/);
    const { command, args } = entry("examples/weather_server");
    writeFileSync(
      path,
      JSON.stringify({ mcpServers: { weather: { command, args: [...args, "x"], env: { LD_X: "1" } } } }),
    );
    const third = await runHost(t, [path, "--remember", remember]);
    assert.match(third, /\nweather: LD_X=1 .* x\n! the variable "LD_X" can make .*\nRun it\? /);
    assert.match(third, /\nweather: not started, it was refused\n/);
  },
);

test(
  "examples/host.ts --help tells its use, and a wrong call or file what is wrong, without a stack (XF18)",
  SLOW,
  async (t) => {
    const help = await runHost(t, ["--help"]);
    assert.match(help, /^Starts the servers of a host's file.*\n\nusage: host /);
    const wrong = await runHost(t, ["--rember", "x"], { code: 2 });
    assert.match(wrong, /--rember/);
    assert.match(wrong, /\nusage: host /);
    const missing = await runHost(t, ["/no/such/file"], { code: 1 });
    assert.equal(missing, 'Cannot read the host configuration "/no/such/file": there is no such file\n');
    for (const text of [help, wrong, missing]) assert.doesNotMatch(text, /^\s+at /m);
  },
);

test("The small host of the docs is a program that runs as it stands (XF10)", SLOW, async (t) => {
  const path = writeConfig(t, { weather: { ...entry("examples/weather_server"), env: { TOKEN: "secret" } } });
  const run = { program: "examples/small_host", cwd: dirname(path) };
  const agreed = await runHost(t, [], { ...run, answer: "y\n" });
  assert.match(agreed, /^Run TOKEN=… .*weather_server\S*\? \[y\/N\] /);
  assert.match(agreed, /weather [^]*get-forecast/);
  // As in `echo y | …`, where the answer is there before the question.
  const piped = await runHost(t, [], { ...run, typed: "y\n" });
  assert.match(piped, /weather [^]*get-forecast/);
  const refused = await runHost(t, [], { ...run, answer: "n\n" });
  assert.doesNotMatch(refused, /get-forecast/);
});

test("examples/host.ts has a sample that it reads if no file is given (H1, H2)", {
  ...SLOW,
  skip: runtimeName() === "deno" ? false : "the sample starts its servers with deno",
}, async (t) => {
  const text = await runHost(t, ["--yes"]);
  assert.match(text, /^4 servers in .*host\.mcp\.json\n/);
  assert.match(text, /\n {2}measure: 4 measurements taken\n/);
  assert.match(text, /\n2 closed\n$/);
});
