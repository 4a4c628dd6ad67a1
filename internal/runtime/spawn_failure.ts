/** The one place that says why a process could not be started, in the same words whatever the runtime reported. */

import { ProcessError, type ProcessErrorCode } from "../../errors.ts";
import type { RuntimeAdapter, SpawnCommand } from "../../runtime.ts";

/** What is asked of the system: its kind, and what is at a path. */
export type PathProbe = Pick<RuntimeAdapter, "os" | "isDirectory" | "isFile">;

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

const NO_PROGRAM_HINT = "start it by its interpreter, such as node or python";

/** Facts beside the command. */
interface Facts {
  readonly systemCode?: string | undefined;
  readonly hint?: string | undefined;
}

/** Makes the error for a start that failed. */
export async function spawnFailure(
  command: SpawnCommand,
  cause: unknown,
  probe: PathProbe,
  clues: SpawnClues = {},
): Promise<ProcessError> {
  const missing = await missingCwd(command, probe, clues, cause);
  if (missing !== undefined) return missing;
  const systemCode = systemCodeOf(cause);
  const { message = String(cause), name = "" } = (cause ?? {}) as Partial<Error>;
  const fail = (code: ProcessErrorCode, reason: string, facts: Facts = {}) =>
    processError(code, command, reason, { systemCode, ...facts }, cause);
  const scriptHint = commandHint(shownOf(command).command, shownOf(command).args);
  const notExecutable = { hint: scriptHint ?? "a directory or a file without execute permission" };
  if (probe.os === "windows") {
    if (systemCode === "EFTYPE" || /\(os error 193\)/.test(message)) {
      const hint = scriptHint ?? NO_PROGRAM_HINT;
      return fail("spawn_failed", "it is no program that Windows can start", { hint, systemCode: "EFTYPE" });
    }
    if (systemCode === "EACCES" || systemCode === "EPERM") {
      return fail("permission_denied", "access is denied");
    }
    if (systemCode === "ENAMETOOLONG") return fail("invalid_argument", "the command line is too long");
  }
  switch (systemCode) {
    case "ENOENT":
      if (!await isThere(command, probe)) break;
      if (clues.notOnPath) {
        return fail("permission_denied", "not executable", { ...notExecutable, systemCode: "EACCES" });
      }
      return fail("spawn_failed", "the interpreter named in its first line is missing");
    case "ENOTDIR":
    case "ELOOP":
    case "ENAMETOOLONG":
      break;
    case "EACCES":
    case "EPERM":
      return fail("permission_denied", "not executable", notExecutable);
    case undefined:
      return fail(name === "TypeError" ? "invalid_argument" : "spawn_failed", message);
    default:
      return fail("spawn_failed", systemCode);
  }
  return noSuchCommand(command, systemCode, cause);
}

/** Makes the error for a command that was looked for in vain, or for the working directory if that is missing. */
export async function commandNotFound(command: SpawnCommand, probe: PathProbe): Promise<ProcessError> {
  return await missingCwd(command, probe, {}) ?? noSuchCommand(command, "ENOENT");
}

async function missingCwd(
  command: SpawnCommand,
  probe: PathProbe,
  clues: SpawnClues,
  cause?: unknown,
): Promise<ProcessError | undefined> {
  const { cwd } = command;
  if (cwd === undefined || !clues.noCwd && (await probe.isDirectory(cwd)) !== false) return undefined;
  const systemCode = await probe.isFile(cwd) ? "ENOTDIR" : "ENOENT";
  const reason = `no such working directory: ${JSON.stringify(cwd)}`;
  return processError("cwd_not_found", command, reason, { systemCode }, cause);
}

function noSuchCommand(command: SpawnCommand, systemCode: string | undefined, cause?: unknown): ProcessError {
  const asked = shownOf(command);
  const searched = isPath(asked.command) ? undefined : "searched in the PATH it would be given";
  const hint = [searched, commandHint(asked.command, asked.args)].filter((each) => each !== undefined).join(
    "; ",
  );
  return processError("command_not_found", command, "no such command", {
    systemCode,
    hint: hint || undefined,
  }, cause);
}

function shownOf(command: SpawnCommand): Pick<SpawnCommand, "command" | "args"> {
  return command.shown ?? command;
}

/** Makes a `ProcessError` about a command. */
export function processError(
  code: ProcessErrorCode,
  command: SpawnCommand,
  reason: string,
  facts: Facts = {},
  cause?: unknown,
): ProcessError {
  const shown = shownOf(command);
  return new ProcessError(
    code,
    `Cannot start ${JSON.stringify(shown.command)}: ${reason}`,
    {
      command: shown.command,
      args: shown.args,
      cwd: command.cwd,
      searchedPath: pathVariable(command.env),
      ...facts,
    },
    cause === undefined ? {} : { cause },
  );
}

/** Whether there is anything by the name of the command, executable or not. On Windows that does not matter. */
async function isThere({ command, cwd, env }: SpawnCommand, probe: PathProbe): Promise<boolean> {
  if (probe.os === "windows") return false;
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

/** Extensions of scripts, and what runs them. */
const INTERPRETERS: Readonly<Record<string, string>> = {
  js: "node",
  mjs: "node",
  cjs: "node",
  ts: "deno",
  py: "python",
  rb: "ruby",
  sh: "sh",
  ps1: "powershell",
  jar: "java",
};

/** A hint for a command that was not found, or is no program; undefined if its look tells nothing. */
export function commandHint(command: string, args: readonly string[]): string | undefined {
  if (/^~/.test(command)) return "no shell is involved, which would expand ~: give the whole path";
  if (/\$\w|\$\{|%\w+%/.test(command)) return "no shell is involved, which would expand variables";
  if (/^(["']).*\1$/s.test(command)) return "the quotes are part of the command: leave them out";
  const [program = "", ...words] = command.trim().split(/\s+/);
  if (words.length > 0 && (!/[\\/]/.test(command) || isFollowedByArguments(program, words))) {
    return `arguments belong in args: command ${JSON.stringify(program)}, args ${
      JSON.stringify([...words, ...args])
    }`;
  }
  const interpreter = INTERPRETERS[/\.(\w+)$/.exec(command)?.[1]?.toLowerCase() ?? ""];
  if (interpreter === undefined) return undefined;
  const shown = JSON.stringify([command, ...args]);
  return `a script is started by its interpreter: command ${JSON.stringify(interpreter)}, args ${shown}`;
}

/** A path may have spaces: then only the look of its words tells where it ends. */
function isFollowedByArguments(program: string, words: readonly string[]): boolean {
  return words.some((word) => word.startsWith("-")) ||
    /[\\/](?:node|deno|bun|npx|uvx|python[\d.]*)(?:\.\w+)?$/.test(program);
}
