// What only a real Windows can show, or Wine: which files are started, and what is left of a tree.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { type Client, spawn, type SpawnOptions } from "../../client.ts";
import { silentLogger } from "../../logger.ts";
import { outcomeOf } from "../_client_peer.ts";
import { Script, type Step, untilGone } from "../_scripted_server.ts";
import { waitUntil } from "../helpers.ts";
import {
  name,
  program,
  readUntil,
  runtime,
  start,
  startCommand,
  textOf,
} from "../runtime_adapter/harness.ts";

/** Wine starts a program in seconds on a busy machine. */
const LIVE = {
  timeout: 180_000,
  skip: process.platform === "win32" ? false : "this is no Windows: deno task test:windows",
} as const;

const STUBBORN: readonly Step[] = [{ ignore: "eof" }];
const QUICK = { shutdownGraceMs: 200, terminateGraceMs: 200 } as const;

/** A folder that has nothing to do with where programs are looked for. */
function folderOf(t: TestContext, name = "live"): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `stdio ${name} `)));
  undo(t, () => waitUntil(() => isRemoved(folder), { what: `${folder} is removed` }));
  return folder;
}

/** A program that has just been ended may still hold its file or its folder. */
function isRemoved(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

const undone = new WeakMap<TestContext, (() => unknown)[]>();

/** What is done last is undone first: a folder is not removed under a process that stands in it. */
function undo(t: TestContext, action: () => unknown): void {
  const actions = undone.get(t) ?? [];
  if (actions.length === 0) {
    t.after(async () => {
      for (const each of actions.reverse()) await each();
    });
  }
  actions.push(action);
  undone.set(t, actions);
}

/** A program that ends with an error whatever it is asked to do: this runtime, which finds no such script. */
function plant(path: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  // No link: a file whose other name is running cannot be removed.
  copyFileSync(process.execPath, path);
}

/** Makes a folder this process's working directory for as long as the test runs. */
function standIn(t: TestContext, folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  undo(t, () => process.chdir(before));
}

/** Writes a batch file that hands its arguments on to a command, as those of npm do. */
function writeShim(path: string, command: readonly string[]): void {
  const words = command.map((word) => `"${word.replaceAll("%", "%%")}"`).join(" ");
  writeFileSync(path, `@ECHO off\r\nSETLOCAL\r\n${words} %*\r\n`);
}

/** A script behind a shim: host, cmd.exe, server. */
function shimOf(t: TestContext, script: Script, name = "server"): string {
  const folder = folderOf(t, "a & b (x) 100%");
  const path = join(folder, `${name}.cmd`);
  writeShim(path, [script.command, ...script.args.slice(0, -1)]);
  return path;
}

async function started(t: TestContext, options: SpawnOptions): Promise<Client> {
  const client = await spawn({ logger: silentLogger, stderr: "capture", ...options });
  undo(t, () => client.kill());
  return client;
}

test(
  "A taskkill.exe in the host's working directory is not run, and the tree is ended (P11, XE1)",
  LIVE,
  async (t) => {
    const folder = folderOf(t);
    plant(join(folder, "taskkill.exe"));
    standIn(t, folder);
    const script = new Script(t, [{ helper: "in" }, ...STUBBORN]);
    const client = await script.spawn(t);
    await script.until("its helper runs", () => script.of("helper").length > 0);
    const { exit, step } = await client.close(QUICK);
    assert.equal(step, "kill");
    assert.notEqual(exit, null);
    await untilGone(script.pids);
  },
);

for (const planted of [true, false]) {
  const how = planted ? "ends with an error" : "cannot be run";
  test(`A server is ended although taskkill ${how}, which is told once (P11, XE2)`, LIVE, async (t) => {
    const folder = folderOf(t);
    if (planted) plant(join(folder, "System32", "taskkill.exe"));
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const { SystemRoot } = process.env;
    const script = new Script(t, STUBBORN);
    const client = await script.spawn(t, { logger, env: { SystemRoot } });
    process.env["SystemRoot"] = folder;
    undo(t, () => process.env["SystemRoot"] = SystemRoot);
    const { exit, step } = await client.close(QUICK);
    assert.equal(step, "kill");
    assert.notEqual(exit, null);
    await untilGone(script.pids);
    // The warning is for a runtime, not for a server: only the first of these tests can see it.
    if (planted) assert.match(warnings.join("\n"), /^\[mcp_stdio\] only the server itself was ended/m);
  });
}

test(
  "A program that lies only in a working directory is not started by its name (P11, XE3)",
  LIVE,
  async (t) => {
    const folder = folderOf(t);
    plant(join(folder, "npx2.exe"));
    const code = async (options: Partial<SpawnOptions>) =>
      (await outcomeOf(started(t, { command: "npx2", args: ["no such script"], maxRestarts: 0, ...options })))
        .error?.code;
    assert.equal(await code({ cwd: folder }), "command_not_found");
    assert.equal(await code({ cwd: folder, inheritEnv: "none" }), "command_not_found");
    standIn(t, folder);
    assert.equal(await code({}), "command_not_found");
    // By its path it is what the user means; it ends since it finds no script.
    assert.equal(await code({ command: ".\\npx2" }), "exited_early");
  },
);

test(
  "A relative cwd is as good as an absolute one, for programs and for shims (P1, XE4)",
  LIVE,
  async (t) => {
    const folder = folderOf(t);
    const inner = join(folder, "sub dir");
    mkdirSync(inner);
    plant(join(inner, "relexe.exe"));
    standIn(t, folder);
    const script = new Script(t, [{ tell: { env: [] } }]);
    writeShim(join(inner, "rel.cmd"), [script.command, ...script.args.slice(0, -1)]);
    for (const [command, args] of [[".\\rel", script.args.slice(-1)], [".\\relexe", script.args]] as const) {
      const client = await started(t, { command, args, cwd: "sub dir" });
      await client.close();
    }
    assert.deepEqual(script.of("told").map(({ cwd }) => realpathSync(cwd!)), [inner, inner]);
  },
);

test("A script without an extension in PATH is no such command (P10, XE5)", LIVE, async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, "onlysh"), "#!/bin/sh\nexit 0\n");
  standIn(t, folder); // On the drive of that folder, whose name has the colon at which PATH is not cut.
  const { error } = await outcomeOf(started(t, { command: "onlysh", env: { PATH: folder } }));
  assert.equal(error?.code, "command_not_found");
  assert.match(String(error?.message), /^Cannot start "onlysh": no such command/);
});

test("A missing cwd is told with the user's command, also for a batch file (P10, XE6)", LIVE, async (t) => {
  const script = new Script(t, []);
  const cwd = join(folderOf(t), "gone");
  for (const command of [shimOf(t, script), script.command]) {
    const { error } = await outcomeOf(started(t, { command, args: ["x"], cwd }));
    const { code, command: named, args, cwd: told } = error as unknown as { [name: string]: unknown };
    assert.deepEqual([code, named, args, told], ["cwd_not_found", command, ["x"], cwd]);
  }
});

test("A file that is no program is told with what would start it (P10)", LIVE, async (t) => {
  const path = join(folderOf(t), "server.js");
  writeFileSync(path, "console.log(1)\n");
  const { error } = await outcomeOf(started(t, { command: path }));
  assert.match(
    String(error?.message),
    /no program that Windows can start \(a script is started by its interpreter: command "node"/,
  );
});

for (const how of ["by_exit", "by_error", "by_rejection", "returns"]) {
  test(`A host that ends ${how} leaves no server behind a shim (P9, XE7)`, LIVE, async (t) => {
    const script = new Script(t, [{ helper: "in" }, ...STUBBORN]);
    const direct = new Script(t, STUBBORN);
    const servers = [
      { command: shimOf(t, script), args: script.args.slice(-1) },
      { command: direct.command, args: direct.args },
    ];
    const host = await start(t, "host_client.ts", [how, JSON.stringify({ servers })], { stderr: "pipe" });
    await readUntil(host.stderr, "up\n");
    await host.exited;
    assert.ok(script.pids.length > 1, "the server and its helper were started");
    await untilGone([...script.pids, ...direct.pids]);
  });
}

for (const way of ["close", "kill"] as const) {
  test(`Client.${way}() ends a server behind a shim, and what that has started (P3, P4)`, LIVE, async (t) => {
    const script = new Script(t, [{ helper: "in" }, ...STUBBORN]);
    const client = await started(t, { command: shimOf(t, script), args: script.args.slice(-1) });
    await script.until("its helper runs", () => script.of("helper").length > 0);
    const report = way === "close" ? await client.close(QUICK) : await client.kill();
    assert.equal(report.step, "kill");
    assert.notEqual(report.exit, null);
    await untilGone(script.pids);
  });
}

test("The server's environment does not decide which cmd.exe runs (P11, XD9)", LIVE, async (t) => {
  const folder = folderOf(t);
  plant(join(folder, "System32", "cmd.exe"));
  const path = join(folder, "seven.cmd");
  writeFileSync(path, "@exit 7\r\n");
  for (
    const env of [{ SystemRoot: folder }, {
      SystemRoot: folder,
      ComSpec: join(folder, "System32", "cmd.exe"),
    }]
  ) {
    const { error } = await outcomeOf(started(t, { command: path, env, maxRestarts: 0 }));
    assert.deepEqual((error as unknown as { exit: unknown }).exit, { code: 7 });
  }
});

const ARGUMENTS: readonly (readonly string[])[] = [
  ["a b", "", "c\\", "d\\\\ e", "/?"],
  ['"', 'a"b', '\\"', '"quoted"', 'x\\\\"y z'],
  ["%PATH%", "%", "%%", "100%", "%cd:~,%"],
  ["^", "&", "|", "<", ">", "(", ")", "a&calc.exe", "^&", "a^b"],
  ["!x!", "!", "~", "*", "?", "$HOME", "`id`", "'single'"],
  ["ü", "漢字", "🎈", "zażółć"],
  ['{"a":"b c","d":["%x%","&"]}'],
  ['" & calc.exe & "', "& calc.exe", '"&"', '^"&calc', "%COMSPEC% /c calc"],
  ["-y", "--flag=1", "/c", "/s", "@file", "C:\\Program Files\\x"],
];
for (const behind of ["a program", "a shim"]) {
  test(`Arguments reach ${behind} as they are (P2, P11)`, LIVE, async (t) => {
    const script = new Script(t, [{ tell: { env: [] } }]);
    const command = behind === "a shim" ? shimOf(t, script) : script.command;
    const own = behind === "a shim" ? script.args.slice(-1) : script.args;
    for (const [index, args] of ARGUMENTS.entries()) {
      const client = await started(t, { command, args: [...own, ...args] });
      await client.close();
      assert.deepEqual(script.of("told")[index]?.args, args);
    }
  });
}

test("A name is found in PATH with the extensions of PATHEXT, as npx is (P11, B122)", LIVE, async (t) => {
  const folder = folderOf(t);
  const script = new Script(t, []);
  for (const name of ["npx3", "npx3.ps1"]) writeFileSync(join(folder, name), "echo not this one\n");
  writeShim(join(folder, "npx3.cmd"), [script.command, ...script.args.slice(0, -1)]);
  for (const env of [{ Path: folder }, { PATH: `C:\\nowhere;"${folder}\\"`, PATHEXT: ".ps1;.CMD" }]) {
    const client = await started(t, { command: "npx3", args: script.args.slice(-1), env });
    await client.close();
  }
  assert.equal(script.starts, 2);
});

test("What this process has named in its environment keeps the case of its names (P1)", LIVE, () => {
  const named = Object.keys(runtime.env(["PATH", "SYSTEMROOT", "windir"]));
  const all = Object.keys(runtime.env());
  assert.deepEqual(named.filter((name) => !all.includes(name)), []);
  assert.equal(named.length, 3);
});

test("A write that waits when its reader is ended rejects with EPIPE", LIVE, async (t) => {
  const [command = "", ...args] = program("never_reads.mjs");
  const child = await runtime.spawn({
    command,
    args,
    env: runtime.env(),
    stderr: "ignore",
    processGroup: true,
  });
  undo(t, () => child.killNow("group"));
  const writer = child.stdin.getWriter();
  const write = (async () => {
    for (;;) await writer.write(new Uint8Array(1_048_576));
  })();
  const rejected = assert.rejects(write, { code: "EPIPE" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await child.signal("SIGKILL", "group");
  await child.exited;
  await rejected;
  assert.equal(await child.signal("SIGTERM", "group"), "gone");
});

if (name === "deno") {
  /** The permissions of a host, and what it is told of what it cannot end. */
  const GRANTS: readonly (readonly [flags: readonly string[], warning: RegExp])[] = [
    [["--allow-run"], /^$/],
    [["--allow-run", "--allow-read"], /^$/],
    [[`--allow-run=${process.execPath}`, "--allow-read"], /^[^]*only the server itself was ended[^]*$/],
  ];
  for (const [flags, warning] of GRANTS) {
    const shown = flags.join(" ").replace(process.execPath, "…");
    test(`A Deno host with ${shown} ends its server on Windows, and asks nobody (P11)`, LIVE, async (t) => {
      const script = new Script(t, STUBBORN);
      const servers = [{ command: script.command, args: script.args }];
      const plan = JSON.stringify({ servers, options: QUICK });
      const command = program("host_client.ts", ["closes", plan], ["--no-prompt", "--allow-env", ...flags]);
      const host = await startCommand(t, command, { stderr: "pipe" });
      const text = (await textOf(host.stderr)).replace("up\n", "");
      assert.deepEqual(await host.exited, { code: 0 }, text);
      assert.match(text, warning);
      await untilGone(script.pids);
    });
  }
}
