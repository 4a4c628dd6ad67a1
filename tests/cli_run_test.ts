// The program around the commands: help, usage, exit codes, where results go, and what is shown of them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { test } from "node:test";
import { main } from "../cli.ts";
import { ConnectionClosedError, ProtocolError } from "../errors.ts";
import { type Command, EXIT, UsageError } from "../internal/cli/command.ts";
import { COMMANDS } from "../internal/cli/commands.ts";
import { VERSION } from "../internal/version.ts";
import { runCli, runProgram, serverArgs } from "./cli_helpers.ts";
import { SLOW } from "./server_helpers.ts";
import { commandOf as processOf } from "./server_processes.ts";

/** A command that does what a test says. */
function commandOf(run: Command["run"], more: Partial<Command> = {}): Command {
  return {
    name: "probe",
    summary: "what a test says",
    usage: "[WORD]",
    examples: [{ line: "probe -- server", what: "an example" }],
    server: "one",
    options: {},
    words: [0, 1],
    run,
    ...more,
  };
}

const ok = commandOf(() => Promise.resolve(EXIT.ok));

test("each command has help with its usage, all of its options and an example", async () => {
  for (const command of COMMANDS) {
    for (const args of [[command.name, "--help"], ["help", command.name], [command.name, "--wrong", "-h"]]) {
      const { code, stdout, stderr } = await runCli(args);
      assert.equal(code, 0, command.name);
      assert.equal(stderr, "");
      assert.match(stdout, new RegExp(`^mcp-stdio ${command.name}: `));
      assert.match(stdout, new RegExp(`\n  mcp-stdio ${command.name} `));
      assert.match(stdout, new RegExp(`\nExamples?\n  # .+\n  mcp-stdio ${command.name}`));
      for (const name of [...Object.keys(command.options), "json"]) {
        assert.ok(stdout.includes(`--${name}`), name);
      }
    }
    assert.ok(command.examples.length >= 1);
  }
});

test("help lists every command and the exit codes; without a command it goes to stderr", async () => {
  const asked = await runCli(["--help"]);
  assert.equal(asked.code, EXIT.ok);
  for (const { name, summary } of COMMANDS) {
    assert.ok(asked.stdout.includes(`${name}`) && asked.stdout.includes(summary));
  }
  assert.match(asked.stdout, /Exit codes: 0 all well, 1 the answer is no, 2 wrong usage, 3 the server/);
  const empty = await runCli([]);
  assert.deepEqual([empty.code, empty.stdout], [EXIT.usage, ""]);
  assert.equal(empty.stderr, asked.stdout);
  assert.deepEqual((await runCli(["--version"])).stdout, `${VERSION}\n`);
});

const WRONG: ReadonlyArray<readonly [args: string[], message: RegExp]> = [
  [["prob"], /there is no such command, but probe\n/],
  [["help", "prob"], /there is no such command, but probe\n/],
  [["--json"], /Cannot use --json: a command comes first/],
  [["probe", "--jsn"], /there is no such option, but --json\n/],
  [
    ["probe", "one", "two"],
    /Cannot run probe with "two": a server's command stands behind --\nusage: mcp-stdio probe \[WORD\]/,
  ],
];

for (const [args, message] of WRONG) {
  test(`mcp-stdio ${args.join(" ")} is wrong usage: exit code 2, a line on stderr, nothing on stdout`, async () => {
    const { code, stdout, stderr } = await runCli(args, { commands: [ok] });
    assert.equal(code, EXIT.usage);
    assert.match(stderr, message);
    assert.match(stderr, /^error: /);
    if (!args.includes("--json")) assert.equal(stdout, "");
  });
}

const THROWN: ReadonlyArray<readonly [error: Error, code: number, name: string | number]> = [
  [new UsageError("Cannot do it: no"), EXIT.usage, "usage"],
  [new RangeError("Cannot use it"), EXIT.usage, "usage"],
  [new ProtocolError(-32602, "bad \x1b[31m arguments", { field: "x" }), EXIT.no, -32602],
  [
    new ConnectionClosedError("Cannot send: gone", {
      reason: "exited",
      sent: true,
      stderrTail: "no \x07 key\n",
    }),
    EXIT.unusable,
    "connection_closed",
  ],
];

for (const [error, expected, name] of THROWN) {
  test(`a command that throws ${error.name} ends with ${expected}, and says so as JSON with --json`, async () => {
    const command = commandOf(() => Promise.reject(error));
    const plain = await runCli(["probe"], { commands: [command] });
    assert.deepEqual([plain.code, plain.stdout], [expected, ""]);
    assert.match(plain.stderr, /^error: /);
    // deno-lint-ignore no-control-regex -- none of them may be shown
    assert.doesNotMatch(plain.stderr, /[\x00-\x09\x0b-\x1f]/);
    const json = await runCli(["probe", "--json"], { commands: [command] });
    assert.equal(json.code, expected);
    assert.equal(json.json().error.code, name);
  });
}

test("a fault of the program itself is not taken for an answer", async () => {
  await assert.rejects(
    runCli(["probe"], { commands: [commandOf(() => Promise.reject(new Error("a fault")))] }),
    /a fault/,
  );
});

test("results go to stdout and everything else to stderr; what moves is only on a terminal", async () => {
  const command = commandOf((_invocation, { screen }) => {
    screen.status("working");
    screen.note("a note");
    screen.result("a result");
    screen.warn("a warning");
    screen.json({ text: "\x1b[31m\u202e" });
    return Promise.resolve(EXIT.ok);
  });
  const piped = await runCli(["probe"], { commands: [command] });
  assert.equal(piped.stdout, 'a result\n{"text":"\\u001b[31m\\u202e"}\n');
  assert.equal(piped.stderr, "a note\nwarning: a warning\n");
  const seen = await runCli(["probe"], { commands: [command], isTerminal: true });
  // deno-lint-ignore no-control-regex -- that is what moves it
  assert.match(seen.stderr, /^\x1b\[2mworking\x1b\[22m\r\x1b\[Ka note\n\x1b\[2mworking/);
  assert.ok(seen.stderr.endsWith("\r\x1b[K"), "the line that moved is taken away");
  const dumb = await runCli(["probe"], { commands: [command], isTerminal: true, env: { TERM: "dumb" } });
  assert.equal(dumb.stderr, piped.stderr);
});

const COLOURS: ReadonlyArray<
  readonly [isTerminal: boolean, env: Record<string, string>, isColoured: boolean]
> = [
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { TERM: "dumb" }, false],
  [false, { FORCE_COLOR: "1" }, true],
  [false, { FORCE_COLOR: "" }, true],
  [true, { FORCE_COLOR: "0" }, false],
  [true, { NO_COLOR: "1", FORCE_COLOR: "1" }, true],
];

for (const [isTerminal, env, isColoured] of COLOURS) {
  test(`colour: terminal ${isTerminal}, ${JSON.stringify(env)} gives ${isColoured}`, async () => {
    const command = commandOf((_invocation, { screen }) => {
      screen.result(screen.out.red("x"));
      return Promise.resolve(EXIT.ok);
    });
    const { stdout } = await runCli(["probe"], { commands: [command], isTerminal, env });
    assert.equal(stdout, isColoured ? "\x1b[31mx\x1b[39m\n" : "x\n");
  });
}

test("a command that was interrupted ends with 130", async () => {
  const controller = new AbortController();
  const command = commandOf(() => {
    controller.abort(new Error("Ctrl-C"));
    return Promise.reject(controller.signal.reason);
  });
  const { code } = await runCli(["probe"], { commands: [command], interrupted: controller.signal });
  assert.equal(code, EXIT.interrupted);
});

test("main() of cli.ts runs a command line and gives its exit code", async () => {
  assert.equal(await main(["list", "rubbish", "--", "server"]), EXIT.usage);
});

test("cli.ts as a program writes to its streams and ends with the exit code", SLOW, async (t) => {
  const version = await runProgram(t, ["--version"]);
  assert.deepEqual(version, { code: 0, stdout: `${VERSION}\n`, stderr: "" });
  const wrong = await runProgram(t, ["list", "--no-such-option"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^error: Cannot use --no-such-option/);
});

test("a full disk under the results is told, and the exit code says so", {
  ...SLOW,
  skip: existsSync("/dev/full") ? false : "the system has no /dev/full",
}, async (t) => {
  for (const args of [["--version"], ["list", ...serverArgs("examples/weather_server")]]) {
    const stdout = openSync("/dev/full", "w");
    const { code, stderr } = await runProgram(t, args, { stdout });
    closeSync(stdout);
    assert.equal(code, EXIT.no);
    assert.match(stderr, /^error: Cannot write the results: .*(ENOSPC|[Nn]o space left)/);
  }
});

test("whoever reads only the beginning of the results has had all that it wanted", SLOW, async (t) => {
  const [command = "", ...rest] = processOf("cli", ["--help"]);
  const child = spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => void child.kill("SIGKILL"));
  child.stdout.destroy();
  assert.deepEqual(await once(child, "close"), [EXIT.ok, null]);
});
