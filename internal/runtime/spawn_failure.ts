/** The one place that says why a process could not be started, in the same words whatever the runtime reported. */

import { ProcessError, type ProcessErrorCode } from "../../errors.ts";
import type { SpawnCommand } from "../../runtime.ts";

/** Looks at paths; undefined where that may not be known. */
export interface PathProbe {
  /** Whether a path names a directory. */
  isDirectory(path: string): Promise<boolean | undefined>;
  /** Whether a path names a file. */
  isFile(path: string): Promise<boolean | undefined>;
}

/** What a runtime's own report already tells. */
export interface SpawnClues {
  /** The working directory is what is missing. */
  readonly noCwd?: boolean;
  /** The runtime searched for the command itself, and passed over what it cannot execute. */
  readonly notOnPath?: boolean;
}

/** Refuses what no system can start. The runtimes disagree about these, some by throwing at once. */
export function checkCommand(command: SpawnCommand): void {
  const reason = command.command === ""
    ? "the command is empty"
    : command.command.includes("\0")
    ? "the command contains a null byte"
    : command.args.some((arg) => arg.includes("\0"))
    ? "an argument contains a null byte"
    : command.cwd?.includes("\0")
    ? "the working directory contains a null byte"
    : Object.entries(command.env).some(([name, value]) => !isVariable(name, value))
    ? "the environment contains a name or value that no system can hold"
    : undefined;
  if (reason !== undefined) throw processError("invalid_argument", command, reason);
}

/** On Windows there are hidden variables such as `=C:`, so the first character may be an equals sign. */
function isVariable(name: string, value: string): boolean {
  return name !== "" && !name.includes("=", 1) && !name.includes("\0") && !value.includes("\0");
}

const NOT_EXECUTABLE = { hint: "a directory or a file without execute permission" } as const;

/** Makes the error for a start that failed. */
export async function spawnFailure(
  command: SpawnCommand,
  cause: unknown,
  probe: PathProbe,
  clues: SpawnClues = {},
): Promise<ProcessError> {
  const systemCode = systemCodeOf(cause);
  const fail = (code: ProcessErrorCode, reason: string, facts: { systemCode?: string; hint?: string } = {}) =>
    processError(code, command, reason, { systemCode, ...facts }, cause);

  const { cwd } = command;
  if (cwd !== undefined && (clues.noCwd || (await probe.isDirectory(cwd)) === false)) {
    const systemCode = await probe.isFile(cwd) ? "ENOTDIR" : "ENOENT";
    return fail("cwd_not_found", `no such working directory: ${JSON.stringify(cwd)}`, { systemCode });
  }
  switch (systemCode) {
    case "ENOENT":
      if (!await isThere(command, probe)) break;
      if (clues.notOnPath) {
        return fail("permission_denied", "not executable", { ...NOT_EXECUTABLE, systemCode: "EACCES" });
      }
      return fail("spawn_failed", "the interpreter named in its first line is missing");
    case "ENOTDIR":
    case "ELOOP":
    case "ENAMETOOLONG":
      break;
    case "EACCES":
    case "EPERM":
      return fail("permission_denied", "not executable", NOT_EXECUTABLE);
    case undefined:
      return fail(
        (cause as Error | undefined)?.name === "TypeError" ? "invalid_argument" : "spawn_failed",
        (cause as Error | undefined)?.message ?? String(cause),
      );
    default:
      return fail("spawn_failed", systemCode);
  }
  const hint = isPath(command.command) ? undefined : "searched in the PATH it would be given";
  return fail("command_not_found", "no such command", hint === undefined ? {} : { hint });
}

/** Makes a `ProcessError` about a command. */
export function processError(
  code: ProcessErrorCode,
  command: SpawnCommand,
  reason: string,
  facts: { systemCode?: string | undefined; hint?: string | undefined } = {},
  cause?: unknown,
): ProcessError {
  return new ProcessError(
    code,
    `Cannot start ${JSON.stringify(command.command)}: ${reason}`,
    {
      command: command.command,
      args: command.args,
      cwd: command.cwd,
      searchedPath: pathVariable(command.env),
      ...facts,
    },
    cause === undefined ? {} : { cause },
  );
}

/** Whether there is anything by the name of the command, executable or not. */
async function isThere({ command, cwd, env }: SpawnCommand, probe: PathProbe): Promise<boolean> {
  const folders = isPath(command) ? [cwd ?? "."] : (pathVariable(env) ?? "").split(":");
  for (const folder of folders) {
    const path = command.startsWith("/") ? command : `${folder || "."}/${command}`;
    if (await probe.isFile(path) || await probe.isDirectory(path)) return true;
  }
  return false;
}

function isPath(command: string): boolean {
  return /[\\/]/.test(command);
}

/** Windows spells it `Path`, and takes any spelling. */
function pathVariable(env: Readonly<Record<string, string>>): string | undefined {
  return env.PATH ?? env[Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH"];
}

/** The system's code in an error of any runtime, as against a code of the runtime's own such as `ERR_INVALID_ARG_VALUE`. */
function systemCodeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
