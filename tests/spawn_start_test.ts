import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { spawn, type SpawnOptions } from "../client.ts";
import { ProcessError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import { outcomeOf } from "./_client_peer.ts";
import { Script, type Step, untilGone } from "./_scripted_server.ts";
import { POSIX_SHELL, SLOW, WINDOWS } from "./runtime_adapter/harness.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "stdio-spawn-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a server was told by its start: arguments, environment, working directory. */
async function startOf(
  t: TestContext,
  names: string[],
  options: Partial<SpawnOptions> & { more?: string[] } = {},
): Promise<{ args: readonly string[]; env: { readonly [name: string]: string | null }; cwd: string }> {
  const { more = [], ...rest } = options;
  const script = new Script(t, [{ tell: { env: names } }]);
  const client = await script.spawn(t, { ...rest, args: [...script.args, ...more] });
  await client.close();
  const { args = [], env = {}, cwd = "" } = script.of("told")[0]!;
  return { args, env, cwd };
}

test("spawn() passes arguments as they are, without a shell (P2, S2-06)", SLOW, async (t) => {
  const more = [
    "a b",
    `c"d`,
    "e\\",
    "f^g",
    "%PATH%",
    "h&i",
    "j|k",
    "!x!",
    "",
    "ü 漢",
    "$HOME",
    "*",
    "`id`",
    "--flag=1",
    "a\nb",
  ];
  assert.deepEqual((await startOf(t, [], { more })).args, more);
});

test("spawn() starts in its cwd, and takes a leading ~ for what it is (P1, B114)", SLOW, async (t) => {
  const folder = folderOf(t);
  const { cwd, args } = await startOf(t, [], { cwd: folder, more: ["~/x.js"] });
  assert.ok(cwd.endsWith(basename(folder)));
  assert.deepEqual(args, ["~/x.js"]);
});

test(
  "spawn() gives a safe environment and what is set, and no more by default (P1, B111, B113)",
  SLOW,
  async (t) => {
    const secret = "AWS_SECRET_STDIO_TEST";
    process.env[secret] = "secret";
    t.after(() => void delete process.env[secret]);
    const names = ["PATH", "HOME", "TOKEN", secret, "LANG"];
    const lang = process.env["LANG"] ?? null;
    const path = process.env["PATH"];
    const { env } = await startOf(t, names, { env: { TOKEN: "x" } });
    assert.deepEqual(env, {
      PATH: path,
      HOME: process.env["HOME"] ?? null,
      TOKEN: "x",
      [secret]: null,
      LANG: lang,
    });
    const passed = await startOf(t, names, { passEnv: ["AWS_*"] });
    assert.equal(passed.env[secret], "secret");
    const all = await startOf(t, names, {
      inheritEnv: "all",
      env: { HOME: undefined, TOKEN: "y", LANG: null },
    });
    assert.deepEqual([all.env[secret], all.env.HOME, all.env.TOKEN, all.env.LANG], [
      "secret",
      null,
      "y",
      null,
    ]);
    const none = await startOf(t, names, { inheritEnv: "none", env: { ONLY: "z" } });
    assert.deepEqual([none.env.HOME, none.env[secret]], [null, null]);
  },
);

/** Starts that fail, and what the error says. */
const FAILURES: ReadonlyArray<
  [
    what: string,
    options: (folder: string) => Partial<SpawnOptions>,
    code: string,
    systemCode: string | undefined,
  ]
> = [
  [
    "a command that is not there",
    () => ({ command: "no-such-command-stdio" }),
    "command_not_found",
    "ENOENT",
  ],
  [
    "a path that is not there",
    (folder) => ({ command: join(folder, "missing") }),
    "command_not_found",
    "ENOENT",
  ],
  WINDOWS
    ? ["a directory", (folder) => ({ command: folder }), "command_not_found", "ENOENT"]
    : ["a directory", (folder) => ({ command: folder }), "permission_denied", "EACCES"],
  [
    "a file without the x-bit, or on Windows without an extension",
    (folder) => ({ command: join(folder, "plain") }),
    WINDOWS ? "command_not_found" : "permission_denied",
    WINDOWS ? "ENOENT" : "EACCES",
  ],
  ["an empty command", () => ({ command: "" }), "invalid_argument", undefined],
  ["a null byte in the command", () => ({ command: "a\0b" }), "invalid_argument", undefined],
  [
    "a null byte in an argument",
    () => ({ command: process.execPath, args: ["a\0b"] }),
    "invalid_argument",
    undefined,
  ],
  [
    "a cwd that is not there",
    (folder) => ({ command: process.execPath, cwd: join(folder, "missing") }),
    "cwd_not_found",
    "ENOENT",
  ],
  [
    "a cwd that is a file",
    (folder) => ({ command: process.execPath, cwd: join(folder, "plain") }),
    "cwd_not_found",
    "ENOTDIR",
  ],
];

for (const [what, toOptions, code, systemCode] of FAILURES) {
  test(`spawn() rejects ${what} with all a person needs (P10, B108)`, SLOW, async (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, "plain"), "");
    const options = toOptions(folder);
    let spawning: Promise<unknown> | undefined;
    assert.doesNotThrow(() => spawning = spawn({ command: "", logger: silentLogger, ...options }));
    const { error } = await outcomeOf(spawning!);
    assert.ok(error instanceof ProcessError, String(error));
    assert.deepEqual([error.code, error.systemCode], [code, systemCode]);
    assert.deepEqual([error.command, error.args, error.cwd], [
      options.command,
      options.args ?? [],
      options.cwd,
    ]);
    assert.equal(error.searchedPath, process.env["PATH"]);
    assert.ok(error.message.startsWith(`Cannot start ${JSON.stringify(options.command)}: `), error.message);
  });
}

test("spawn() searches the PATH that the server gets (P10, B110)", POSIX_SHELL, async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, "my-runner"), `#!/bin/sh\nexec "$@"\n`);
  chmodSync(join(folder, "my-runner"), 0o755);
  const script = new Script(t, [{ tell: { env: ["PATH"] } }]);
  const args = [script.command, ...script.args];
  const short = "/usr/bin:/bin";
  const failed = await outcomeOf(script.spawn(t, { command: "my-runner", args, env: { PATH: short } }));
  assert.deepEqual([failed.error?.code, failed.error?.searchedPath], ["command_not_found", short]);
  assert.match(String(failed.error?.hint), /PATH/);
  const path = `${folder}:${short}`;
  const client = await script.spawn(t, { command: "my-runner", args, env: { PATH: path } });
  await client.close();
  assert.equal(script.of("told")[0]?.env?.PATH, path);
});

test("spawn() tells what a server left behind that exits before it answers (P10, B79)", SLOW, async (t) => {
  const script = new Script(t, [{ stderr: "starting\nmissing API key\n" }, { exit: 78 }]);
  const args = [...script.args, "an argument"];
  const { error } = await outcomeOf(script.spawn(t, { args, env: { TOKEN: "secret" } }));
  assert.ok(error instanceof ProcessError);
  assert.deepEqual([error.code, error.exit, error.command, error.args], [
    "exited_early",
    { code: 78 },
    script.command,
    args,
  ]);
  assert.equal(error.stderrTail, "starting\nmissing API key\n");
  assert.match(
    error.message,
    /TOKEN=… .*['"]an argument['"].* with code 78; its stderr says: starting \| missing API key$/,
  );
  assert.ok(!JSON.stringify([error.message, error.args]).includes("secret"));
  assert.equal(script.starts, 2); // It may have been the probe.
  await untilGone(script.pids);
});

test(
  "spawn() waits for a slow server as long as it is told, and says what it waited for (E5, B70, B72)",
  SLOW,
  async (t) => {
    const slow = new Script(t, [{ sleep: 1_500 }]);
    const client = await slow.spawn(t, { connectTimeoutMs: 20_000, timeoutMs: 100 });
    await client.close();
    const silent = new Script(t, [{ stderr: "warming up\n" }, { ignore: "eof" }, { ignore: "SIGTERM" }, {
      stay: true,
    }]);
    const states: string[] = [];
    const { error } = await outcomeOf(
      silent.spawn(t, {
        // Wine takes seconds for a start on a busy machine.
        connectTimeoutMs: WINDOWS ? 10_000 : 1_000,
        shutdownGraceMs: 100,
        onStateChange: (state) => void states.push(state),
      }),
    );
    assert.deepEqual([error?.code, error?.phase, error?.stderrTail], [
      "negotiation_timeout",
      "probe",
      "warming up\n",
    ]);
    assert.deepEqual(states, ["closing", "closed"]);
    await untilGone(silent.pids);
  },
);

test("spawn() ends the tree of a start that is given up (B80, B101)", SLOW, async (t) => {
  const reason = new Error("mine");
  const script = new Script(t, [{ helper: "in", ignores: "SIGTERM" }, { ignore: "eof" }, { stay: true }]);
  for (
    const [command, ...args] of [
      [script.command, ...script.args],
      // Behind a shim it is a test of Windows.
      ...WINDOWS
        ? []
        : [["sh", "-c", [script.command, ...script.args].map((word) => `'${word}'`).join(" ") + "; true"]],
    ]
  ) {
    const controller = new AbortController();
    const { starts } = script;
    const spawning = outcomeOf(script.spawn(t, { command: command!, args, signal: controller.signal }));
    await script.until("the helper runs", () => script.of("helper").length > starts);
    controller.abort(reason);
    assert.equal((await spawning).error, reason);
    await untilGone(script.pids);
  }
});

/** stderr, however much there is and wherever it goes, holds nobody up. */
const STDERR: ReadonlyArray<[mode: SpawnOptions["stderr"], name: string]> = [
  ["capture", "capture"],
  ["ignore", "ignore"],
  [() => {}, "a function"],
  [() => {
    throw new Error("mine");
  }, "a function that throws"],
];

for (const [stderr, name] of STDERR) {
  test(
    `Client is answered by a server that floods stderr, with stderr ${name} (P2, B60, B61, B141)`,
    SLOW,
    async (t) => {
      const flood: Step = { stderr: "$x65536", times: 40 };
      const script = new Script(t, [
        flood,
        { serve: "modern", until: "tools/call" },
        { stderr: ".\r", times: 30_000 },
        flood,
        {
          write: `{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}\n`,
        },
      ]);
      const client = await script.spawn(t, { stderr });
      await client.request("tools/call", { name: "x" });
      assert.equal(client.stderrTail.length, name === "ignore" ? 0 : 65_536);
      await client.close();
    },
  );
}

test("Client takes nothing on stderr for a failure, and gives it line by line (P2, B62)", SLOW, async (t) => {
  const lines: string[] = [];
  const states: string[] = [];
  const script = new Script(t, [{ stderr: "Server running on stdio\nERROR something\n" }]);
  const client = await script.spawn(t, {
    stderr: (line) => void lines.push(line),
    onStateChange: (state) => void states.push(state),
  });
  await client.request("tools/list");
  await client.close();
  assert.deepEqual(lines, ["Server running on stdio", "ERROR something"]);
  assert.equal(client.stderrTail, "Server running on stdio\nERROR something\n");
  assert.deepEqual(states, ["ready", "closing", "closed"]);
});

test("Client reads and writes UTF-8 whatever the locale (P1, B14)", SLOW, async (t) => {
  const text = "漢字 🎉 e\u0301";
  for (const env of [{ LANG: "C", LC_ALL: "C" }, { LANG: null, LC_ALL: null }]) {
    const script = new Script(t, [{ stderr: `${text}\n` }]);
    const client = await script.spawn(t, { env });
    const result = await client.request("tools/call", { name: "x", arguments: { text } });
    assert.deepEqual(result.structuredContent, { text });
    await client.close();
    assert.equal(client.stderrTail, `${text}\n`);
  }
});
