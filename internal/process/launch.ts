import type { RuntimeAdapter, SpawnCommand } from "../../runtime.ts";
import { type EnvironmentInheritance, listInheritedNames, resolveEnvironment } from "../environment.ts";
import { getVariable } from "../variables.ts";
import { checkCommand, commandNotFound } from "../runtime/spawn_failure.ts";
import { findExecutable } from "../windows/executable_search.ts";
import { joinPath } from "../windows/paths.ts";
import { buildStart } from "../windows/start.ts";

/** What a user asks to have started; nothing is left to default but what may be absent. */
export interface LaunchSettings {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string | undefined | null>>;
  readonly inheritEnv: EnvironmentInheritance;
  readonly passEnv: readonly string[];
  readonly processGroup: boolean;
  readonly stderr: SpawnCommand["stderr"];
}

/**
 * Decides all that is left to decide before a process is started: its environment and, on Windows, which file the command
 * means and how its arguments are quoted (rules P1, P2, P11).
 *
 * @throws {ProcessError} On Windows, if there is no such program, or if arguments cannot be passed to a batch file.
 */
export async function planLaunch(settings: LaunchSettings, runtime: RuntimeAdapter): Promise<SpawnCommand> {
  const { os } = runtime;
  const { command, args, cwd, processGroup, stderr } = settings;
  const request = { os, inheritEnv: settings.inheritEnv, passEnv: settings.passEnv };
  const own = settings.inheritEnv === "none" && settings.passEnv.length === 0
    ? {}
    : runtime.env(listInheritedNames(request));
  const env = resolveEnvironment({ ...request, own, env: settings.env });
  const plan: SpawnCommand = { command, args, cwd, env, processGroup, stderr };
  return os === "windows" ? await planOnWindows(plan, runtime) : plan;
}

/**
 * What is found is started by its full path, and what is not found is not handed to the system: that would look for it in the
 * working directory.
 */
async function planOnWindows(plan: SpawnCommand, runtime: RuntimeAdapter): Promise<SpawnCommand> {
  checkCommand(plan);
  const { command, args, cwd, env } = plan;
  const executable = await findExecutable({
    command,
    path: getVariable("windows", env, "PATH"),
    pathExt: getVariable("windows", env, "PATHEXT"),
    cwd: cwd === undefined ? runtime.cwd() : joinPath(runtime.cwd(), cwd),
    isFile: (path) => runtime.isFile(path),
  });
  // Deno, where it may not look, does not look in the working directory either.
  if (executable === "unknown") return plan;
  if (executable === undefined) throw await commandNotFound(plan, runtime);
  // Of this process: a server's environment must not decide which cmd.exe runs.
  const systemRoot = getVariable("windows", runtime.env(["SystemRoot"]), "SystemRoot");
  return { ...plan, ...buildStart(executable, args, systemRoot), shown: { command, args } };
}
