/** Tests of what an adapter does for the process it runs in. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { detectRuntime } from "../../internal/runtime/detect.ts";
import type { ExitStatus, Signal } from "../../runtime.ts";
import {
  ENV,
  name,
  POSIX_PROGRAMS,
  POSIX_SIGNALS,
  program,
  readUntil,
  runtime,
  SLOW,
  start,
  startCommand,
  textOf,
} from "./harness.ts";

const PIPED = { stderr: "pipe" } as const;
const STUBBORN = JSON.stringify(program("ignores_sigterm.mjs"));

test("detectRuntime() gives one adapter per process", async () => {
  assert.equal(await detectRuntime(), runtime);
  assert.match(runtime.name, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+`));
  assert.equal(runtime.pid, process.pid);
  assert.equal(runtime.parentPid, process.ppid);
  assert.equal(runtime.cwd(), process.cwd());
  assert.equal(runtime.os, process.platform === "win32" ? "windows" : "posix");
});

test("RuntimeAdapter.env() gives all names, or those that are asked for and set", () => {
  assert.deepEqual(runtime.env(), { ...process.env });
  assert.deepEqual(runtime.env(["PATH", "NO_SUCH_NAME"]), { PATH: ENV.PATH });
});

test("RuntimeAdapter reads files and tells them from directories", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "stdio-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "zażółć.json");
  writeFileSync(path, "ż🎈\n");
  assert.equal(await runtime.readTextFile(path), "ż🎈\n");
  await assert.rejects(runtime.readTextFile(join(folder, "missing")), { code: "ENOENT" });
  assert.deepEqual(
    await Promise.all([folder, path, join(folder, "missing")].map((each) => runtime.isDirectory(each))),
    [true, false, false],
  );
  assert.deepEqual(
    await Promise.all([folder, path, join(folder, "missing")].map((each) => runtime.isFile(each))),
    [false, true, false],
  );
});

test("RuntimeAdapter.readTextFile() reads no more than is allowed, and of what is no regular file nothing (XD7)", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "stdio-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "large");
  // A character that stands on both sides of a read, and a byte order mark, which is kept.
  const text = `\ufeff${"x".repeat(65_531)}ż${"y".repeat(70_000)}`;
  writeFileSync(path, text);
  const size = new TextEncoder().encode(text).length;
  assert.equal(await runtime.readTextFile(path, { maxBytes: size, regular: true }), text);
  await assert.rejects(runtime.readTextFile(path, { maxBytes: size - 1 }), {
    name: "RangeError",
    message: `Cannot read ${JSON.stringify(path)}: it has more than ${size - 1} bytes`,
  });
  await assert.rejects(runtime.readTextFile(join(folder, "no"), { regular: true }), { code: "ENOENT" });
  await assert.rejects(runtime.readTextFile(folder, { regular: true }), {
    name: "TypeError",
    message: `Cannot read ${JSON.stringify(folder)}: it is no regular file`,
  });
});

test("RuntimeAdapter.readTextFile() neither waits for a pipe nor reads a device without end (XD7)", {
  ...SLOW,
  skip: process.platform === "win32" ? "Windows has no such files" : false,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "stdio-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const path of [pipe, "/dev/zero", "/dev/tty"]) {
    await assert.rejects(runtime.readTextFile(path, { regular: true }), { name: "TypeError" });
  }
  await assert.rejects(runtime.readTextFile("/dev/zero", { maxBytes: 1_000_000 }), { name: "RangeError" });
});

const ENDS: { kind: string; signal?: Signal; exit: ExitStatus | "error"; stderr?: string }[] = [
  { kind: "normally", exit: { code: 0 } },
  { kind: "by_exit_code", exit: { code: 5 } },
  { kind: "by_exit", exit: { code: 3 } },
  { kind: "by_process_exit", exit: { code: 3 } },
  { kind: "by_error", exit: "error" },
  { kind: "by_rejection", exit: "error" },
  { kind: "after_handled_errors", exit: { code: 0 }, stderr: "handled rejection\nhandled error\nended\n" },
  { kind: "by_signal", signal: "SIGTERM", exit: { signal: "SIGTERM" }, stderr: "ended\n" },
  { kind: "by_signal", signal: "SIGHUP", exit: { signal: "SIGHUP" }, stderr: "ended\n" },
  { kind: "by_signal", signal: "SIGINT", exit: { signal: "SIGINT" }, stderr: "ended\n" },
  { kind: "after_handled_signal", signal: "SIGTERM", exit: { code: 0 }, stderr: "handled SIGTERM\nended\n" },
  {
    kind: "after_handled_process_signal",
    signal: "SIGTERM",
    exit: { code: 0 },
    stderr: "handled SIGTERM\nended\n",
  },
];
if (name !== "deno") {
  ENDS.push({
    kind: "by_signal_exit",
    signal: "SIGTERM",
    exit: { signal: "SIGTERM" },
    stderr: "raised again\nended\n",
  });
}

for (const { kind, signal, exit, stderr } of ENDS) {
  test(
    `onProcessEnd() calls back when this process ends ${kind} ${signal ?? ""}`.trimEnd(),
    signal === undefined ? SLOW : POSIX_SIGNALS,
    async (t) => {
      const host = await start(t, "host_ends.ts", [kind, STUBBORN], PIPED);
      await readUntil(host.stdout, "up");
      if (signal !== undefined) assert.equal(host.signal(signal, "child"), "sent");
      // The host's child holds this pipe, so its end says that the child is gone too.
      const text = await textOf(host.stderr);
      const status = await host.exited;
      assert.equal(text.match(/ended\n/g)?.length, 1, text);
      if (stderr !== undefined) assert.equal(text, stderr);
      if (exit === "error") {
        assert.ok(status?.code !== undefined && status.code !== 0, JSON.stringify(status));
      } else assert.deepEqual(status, exit, text);
    },
  );
}

test("RuntimeAdapter works beside another copy of itself", POSIX_SIGNALS, async (t) => {
  const host = await start(t, "host_has_two.ts", [], PIPED);
  assert.equal(await readUntil(host.stdout, "\n"), "frame\n");
  assert.equal(await readUntil(host.stderr, "\n"), "no frame\n");
  host.signal("SIGTERM", "child");
  assert.deepEqual((await textOf(host.stderr)).split("\n").sort(), ["", "first", "second"]);
  assert.deepEqual(await host.exited, { signal: "SIGTERM" });
});

test("onProcessEnd() does not call back when it is undone", SLOW, async (t) => {
  const host = await start(t, "host_ends.ts", ["undone", STUBBORN], PIPED);
  assert.equal(await textOf(host.stderr), "");
  assert.deepEqual(await host.exited, { code: 0 });
});

test("onUncaughtError() keeps the process from ending until it is undone", SLOW, async (t) => {
  const host = await start(t, "host_catches.ts", [], PIPED);
  const text = await textOf(host.stderr);
  assert.match(text, /^caught first\ncaught second\n[^]*third[^]*$/);
  assert.equal(text.match(/^ended$/gm)?.length, 1, text);
  const status = await host.exited;
  assert.ok(status?.code !== undefined && status.code !== 0, JSON.stringify(status));
});

test(
  "onSignal() calls back until it is undone, and then the signal ends the process",
  POSIX_SIGNALS,
  async (t) => {
    const host = await start(t, "host_listens.ts", [], PIPED);
    assert.equal(await readUntil(host.stderr, "\n"), "up\n");
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      host.signal(signal, "child");
      assert.equal(await readUntil(host.stderr, "\n"), `${signal}\n`);
    }
    host.signal("SIGTERM", "child");
    assert.deepEqual(await host.exited, { signal: "SIGTERM" });
  },
);

test("RuntimeAdapter keeps no process alive by guards, listeners and unread stdio", SLOW, async (t) => {
  const host = await start(t, "host_listens_only.ts", [], PIPED);
  assert.equal(await textOf(host.stderr), "");
  assert.deepEqual(await host.exited, { code: 0 });
});

test("ifStillAlive() calls back in a process that something keeps alive", SLOW, async (t) => {
  const host = await start(t, "host_stays.ts", [], PIPED);
  assert.match(await textOf(host.stderr), name === "node" ? /^kept by <.*TCP.*>\n$/ : /^kept by <.*>\n$/);
  assert.deepEqual(await host.exited, { code: 4 });
});

for (const [way, file] of [["closes", "echoes_bytes.mjs"], ["kills", "ignores_sigterm.mjs"]] as const) {
  test(`spawn() lets this process end by itself after it ${way} the child`, SLOW, async (t) => {
    const host = await start(t, "host_starts.ts", [way, JSON.stringify(program(file))], PIPED);
    assert.equal(await textOf(host.stderr), "through\n");
    assert.deepEqual(await host.exited, { code: 0 });
  });
}

for (const way of ["unrefs", "unrefs_and_reads"]) {
  test(`ChildHandle.unref() lets this process end while the child runs: it ${way}`, SLOW, async (t) => {
    // A child that ends with its input, which the host's end closes, so that none is left behind.
    const child = JSON.stringify(program("echoes_bytes.mjs"));
    const host = await start(t, "host_starts.ts", [way, child], PIPED);
    assert.equal(await textOf(host.stderr), "through\n");
    assert.deepEqual(await host.exited, { code: 0 });
  });
}

test("ChildHandle.stdin raises nothing in the host, even late, when children die", SLOW, async (t) => {
  const host = await start(t, "host_writes_to_dying.ts", [], PIPED);
  assert.equal(await textOf(host.stderr), "EPIPE\n");
  assert.deepEqual(await host.exited, { code: 0 });
});

if (name === "deno") {
  const limited = async (t: Parameters<typeof startCommand>[0], flags: string[], args = ["sleep", "60"]) => {
    const host = await startCommand(t, program("host_limited.ts", args, ["--no-prompt", ...flags]), PIPED);
    return JSON.parse(await textOf(host.stderr));
  };

  test("spawn() names the flag when Deno may not run the command", POSIX_PROGRAMS, async (t) => {
    for (const flags of [[], ["--allow-run=cat"], ["--allow-env"]]) {
      const { names: _names, all: _all, ...told } = await limited(t, flags);
      assert.deepEqual(told, {
        name: "ProcessError",
        code: "permission_denied",
        hint: "run with --allow-run=sleep; with it already, there is no such command",
      });
    }
  });

  test(
    "ChildHandle.signal() reaches the child only, when Deno may run no more than it",
    POSIX_PROGRAMS,
    async (t) => {
      const gone = { after: "gone", groupAlive: false, exit: { signal: "SIGTERM" } };
      const scoped = await limited(t, ["--allow-run=sleep", "--allow-env=HOME"]);
      assert.deepEqual(scoped, { outcome: "child_only", ...gone, names: ["HOME"], all: false });
      const bare = await limited(t, ["--allow-run", "--allow-env"]);
      assert.deepEqual(bare, { outcome: "sent", ...gone, names: ["HOME", "PATH"], all: true });
    },
  );

  test(
    "spawn() finds a command that Deno may run by an empty entry of PATH, which is here",
    POSIX_PROGRAMS,
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), "own-command-"));
      t.after(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, "own-command"), "#!/bin/sh\nexec /bin/sleep 60\n", { mode: 0o755 });
      const flags = ["--no-prompt", "--allow-run=./own-command"];
      const host = await startCommand(
        t,
        program("host_limited.ts", ["path=/no/such/folder:", "own-command"], flags),
        { ...PIPED, cwd: folder },
      );
      const { outcome, exit } = JSON.parse(await textOf(host.stderr));
      assert.deepEqual([outcome, exit], ["child_only", { signal: "SIGTERM" }]);
    },
  );

  test(
    "spawn() tells a missing cwd and a missing command apart without permission to read",
    POSIX_PROGRAMS,
    async (t) => {
      const { code, hint } = await limited(t, ["--allow-run"], ["no-such-command"]);
      assert.deepEqual([code, hint], ["command_not_found", "searched in the PATH it would be given"]);
      for (const flag of ["--allow-run", "--allow-run=true"]) {
        const { code } = await limited(t, [flag], ["cwd=/no/such/folder", "true"]);
        assert.equal(code, "cwd_not_found");
      }
    },
  );
}
