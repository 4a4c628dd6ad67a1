// What a start that failed is told as, from what a runtime reports and what lies on the disk.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProcessErrorCode } from "../errors.ts";
import { commandNotFound, type PathProbe, spawnFailure } from "../internal/runtime/spawn_failure.ts";
import type { SpawnCommand } from "../runtime.ts";

function command(more: Partial<SpawnCommand> = {}): SpawnCommand {
  return { command: "tool", args: ["-x"], env: {}, stderr: "inherit", processGroup: true, ...more };
}

/** A system in which these are files, and these are directories. */
function system(
  os: "posix" | "windows",
  files: readonly string[] = [],
  directories: readonly string[] = [],
): PathProbe {
  return {
    os,
    isFile: (path) => Promise.resolve(files.includes(path)),
    isDirectory: (path) => Promise.resolve(directories.includes(path)),
  };
}

function failure(code: string, message = `spawn ${code}`): Error {
  return Object.assign(new Error(message), { code });
}

interface Row {
  readonly title: string;
  readonly os: "posix" | "windows";
  readonly env: Record<string, string>;
  readonly files?: readonly string[];
  readonly cause: Error;
  readonly code: ProcessErrorCode;
  readonly says: RegExp;
}

const rows: readonly Row[] = [
  {
    title: "a script without an extension in the one folder of PATH on Windows (XE5)",
    os: "windows",
    env: { Path: "C:\\tools" },
    files: ["C:\\tools/tool", "\\tools/tool", "C/tool", "C:\\tools\\tool"],
    cause: failure("ENOENT"),
    code: "command_not_found",
    says: /: no such command \(searched in the PATH it would be given\)$/,
  },
  {
    title: "a script whose interpreter is missing, on POSIX",
    os: "posix",
    env: { PATH: "/a:/b" },
    files: ["/b/tool"],
    cause: failure("ENOENT"),
    code: "spawn_failed",
    says: /interpreter named in its first line/,
  },
  {
    title: "a file that is no program on Windows, of Node and Bun",
    os: "windows",
    env: {},
    cause: failure("EFTYPE"),
    code: "spawn_failed",
    says: /no program that Windows can start \(start it by its interpreter, such as node or python\)$/,
  },
  {
    title: "a file that is no program on Windows, of Deno",
    os: "windows",
    env: {},
    cause: new Error("Failed to spawn 'server.js': %1 is not a valid Win32 application. (os error 193)"),
    code: "spawn_failed",
    says: /no program that Windows can start/,
  },
  {
    title: "a command line that is too long on Windows",
    os: "windows",
    env: {},
    cause: failure("ENAMETOOLONG"),
    code: "invalid_argument",
    says: /: the command line is too long$/,
  },
  {
    title: "a name that is too long on POSIX",
    os: "posix",
    env: {},
    cause: failure("ENAMETOOLONG"),
    code: "command_not_found",
    says: /no such command/,
  },
  {
    title: "a program that may not be started on Windows, which has no execute permission",
    os: "windows",
    env: {},
    cause: failure("EACCES"),
    code: "permission_denied",
    says: /: access is denied$/,
  },
];
for (const { title, os, env, files, cause, code, says } of rows) {
  test(`spawnFailure() tells ${title} (P10)`, async () => {
    const error = await spawnFailure(command({ env }), cause, system(os, files));
    assert.equal(error.code, code);
    assert.match(error.message, says);
    assert.equal(error.cause, cause);
  });
}

test("spawnFailure() names what the user asked for, not the program that runs it (P10, XE6)", async () => {
  const asked = { command: "npx", args: ["-y", "server"] };
  const start = command({
    command: "C:\\Windows\\System32\\cmd.exe",
    args: ["/d", "/s", "/c", '"npx.cmd"'],
    cwd: "C:\\gone",
    shown: asked,
  });
  const error = await spawnFailure(start, failure("ENOENT"), system("windows"));
  assert.equal(error.code, "cwd_not_found");
  assert.equal(error.message, 'Cannot start "npx": no such working directory: "C:\\\\gone"');
  assert.deepEqual([error.command, error.args, error.cwd], [asked.command, asked.args, "C:\\gone"]);
});

test("commandNotFound() blames a missing working directory first (P10)", async () => {
  const probe = system("windows", [], ["C:\\here"]);
  const [missing, here] = await Promise.all([
    commandNotFound(command({ cwd: "C:\\gone" }), probe),
    commandNotFound(command({ cwd: "C:\\here" }), probe),
  ]);
  assert.deepEqual([missing.code, here.code], ["cwd_not_found", "command_not_found"]);
  assert.deepEqual([here.systemCode, here.command, here.args], ["ENOENT", "tool", ["-x"]]);
});
