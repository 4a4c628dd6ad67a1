/** Tests of `RuntimeAdapter.spawn()` with what cannot be started. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ProcessError } from "../../errors.ts";
import type { SpawnCommand } from "../../runtime.ts";
import {
  command,
  POSIX_FILES,
  POSIX_SEARCH,
  POSIX_SHELL,
  program,
  runtime,
  SLOW,
  startCommand,
  textOf,
  WINDOWS,
} from "./harness.ts";

const folder = mkdtempSync(join(tmpdir(), "stdio-"));
test.after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

mkdirSync(join(folder, "a_folder"));
const notExecutable = file("not_executable", "no program\n", 0o644);
const noInterpreter = file("no_interpreter", "#!/no/such/interpreter\n", 0o755);
const PATH = `/nowhere:${folder}`;

/** Where what has to be said could not be seen yet. */
const TOO_LONG = { ...SLOW, skip: WINDOWS ? "Wine, where this was tried, has no limit" : false } as const;

interface Case {
  title: string;
  command: SpawnCommand;
  code: string;
  systemCode: string | undefined;
  message?: RegExp;
  /** What is told on Windows, if that is something else. */
  windows?: Pick<Case, "code" | "systemCode" | "message">;
  options?: typeof POSIX_FILES;
}

/** A file without an extension that can be started is none, and neither is a directory. */
const NO_PROGRAM = { code: "command_not_found", systemCode: "ENOENT" } as const;

const CASES: Case[] = [
  {
    title: "a missing command as command_not_found",
    command: command("no-such-command", ["a"], { env: { PATH } }),
    code: "command_not_found",
    systemCode: "ENOENT",
    message: /^Cannot start "no-such-command": no such command \(.*PATH/,
  },
  {
    title: "a missing path as command_not_found",
    command: command("/no/such/command", []),
    code: "command_not_found",
    systemCode: "ENOENT",
  },
  {
    title: "a path through a file as command_not_found",
    command: command(join(notExecutable, "x"), []),
    code: "command_not_found",
    systemCode: "ENOTDIR",
    windows: NO_PROGRAM,
  },
  {
    title: "a relative path that is not in the cwd as command_not_found",
    command: command("./sh", [], { cwd: folder }),
    code: "command_not_found",
    systemCode: "ENOENT",
  },
  {
    title: "a directory as permission_denied",
    command: command(join(folder, "a_folder"), []),
    code: "permission_denied",
    systemCode: "EACCES",
    windows: NO_PROGRAM,
  },
  {
    title: "a directory in the PATH as permission_denied",
    command: command("a_folder", [], { env: { PATH } }),
    code: "permission_denied",
    systemCode: "EACCES",
    windows: NO_PROGRAM,
  },
  {
    title: "a file that is not executable as permission_denied",
    command: command(notExecutable, []),
    code: "permission_denied",
    systemCode: "EACCES",
    message: /not executable/,
    windows: NO_PROGRAM,
  },
  {
    title: "a file in the PATH that is not executable as permission_denied",
    command: command("not_executable", [], { env: { PATH } }),
    code: "permission_denied",
    systemCode: "EACCES",
    windows: NO_PROGRAM,
  },
  {
    title: "a missing interpreter as spawn_failed",
    command: command(noInterpreter, []),
    code: "spawn_failed",
    systemCode: "ENOENT",
    message: /interpreter/,
    windows: NO_PROGRAM,
  },
  {
    title: "a missing cwd as cwd_not_found",
    command: command("true", [], { cwd: "/no/such/folder" }),
    code: "cwd_not_found",
    systemCode: "ENOENT",
    message: /no such working directory: "\/no\/such\/folder"$/,
  },
  {
    title: "a missing cwd of a missing command as cwd_not_found",
    command: command("/no/such/command", [], { cwd: "/no/such/folder" }),
    code: "cwd_not_found",
    systemCode: "ENOENT",
  },
  {
    title: "a cwd that is a file as cwd_not_found",
    command: command("true", [], { cwd: notExecutable }),
    code: "cwd_not_found",
    systemCode: "ENOTDIR",
  },
  {
    title: "an argument that is too long as spawn_failed",
    command: command("true", ["x".repeat(1 << 20)]),
    code: "spawn_failed",
    systemCode: "E2BIG",
    options: TOO_LONG,
  },
  { title: "an empty command", command: command("", []), code: "invalid_argument", systemCode: undefined },
  {
    title: "a null byte in the command",
    command: command("a\0", []),
    code: "invalid_argument",
    systemCode: undefined,
  },
  {
    title: "a null byte in an argument",
    command: command("true", ["a\0b"]),
    code: "invalid_argument",
    systemCode: undefined,
  },
  {
    title: "a null byte in the cwd",
    command: command("true", [], { cwd: "/\0" }),
    code: "invalid_argument",
    systemCode: undefined,
  },
  {
    title: "a null byte in the environment",
    command: command("true", [], { env: { PATH: "/bin", A: "a\0b" } }),
    code: "invalid_argument",
    systemCode: undefined,
  },
  {
    title: "an empty name in the environment",
    command: command("true", [], { env: { PATH: "/bin", "": "a" } }),
    code: "invalid_argument",
    systemCode: undefined,
  },
];

for (const { title, command, options = SLOW, windows, ...elsewhere } of CASES) {
  const { code, systemCode, message } = WINDOWS && windows !== undefined ? windows : elsewhere;
  test(`spawn() reports ${title}`, options, async () => {
    const promise = runtime.spawn(command);
    assert.ok(promise instanceof Promise, "it does not throw");
    const error = await promise.then(() => assert.fail("it was started"), (error) => error);
    assert.ok(error instanceof ProcessError, String(error));
    assert.deepEqual(
      [error.code, error.systemCode, error.command, error.args, error.cwd, error.searchedPath],
      [code, systemCode, command.command, command.args, command.cwd, command.env.PATH],
      error.message,
    );
    if (message !== undefined) assert.match(error.message, message);
  });
}

test("spawn() reports that no descriptors are left as spawn_failed", POSIX_SHELL, async (t) => {
  const limited = ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh", ...program("host_is_full.ts")];
  const host = await startCommand(t, limited, { stderr: "pipe" });
  assert.equal(await textOf(host.stderr), "ProcessError spawn_failed EMFILE\n");
});

test("spawn() runs a script without a first line by the shell", POSIX_FILES, async (t) => {
  file("plain_script", 'echo "ran with $1"\n', 0o755);
  for (
    const [name, options] of [[join(folder, "plain_script"), {}], ["plain_script", {
      env: { PATH },
    }]] as const
  ) {
    const child = await startCommand(t, [name, "an argument"], options);
    assert.equal(await textOf(child.stdout), "ran with an argument\n");
    assert.deepEqual(await child.exited, { code: 0 });
  }
});

test("spawn() takes a relative command from the working directory of the child", POSIX_SEARCH, async (t) => {
  file("here", "#!/bin/sh\necho here\n", 0o755);
  const child = await startCommand(t, ["./here"], { cwd: folder });
  assert.equal(await textOf(child.stdout), "here\n");
});
