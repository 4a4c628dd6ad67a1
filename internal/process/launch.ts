import type { RuntimeAdapter, SpawnCommand } from "../../runtime.ts";
import {
  type EnvironmentInheritance,
  getVariable,
  listInheritedNames,
  resolveEnvironment,
} from "../environment.ts";
import { findExecutable } from "../windows/executable_search.ts";
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
 * @throws {ProcessError} If arguments cannot be passed to a batch file.
 */
export async function planLaunch(settings: LaunchSettings, runtime: RuntimeAdapter): Promise<SpawnCommand> {
  const { os } = runtime;
  const { command, args, cwd, processGroup, stderr } = settings;
  const request = { os, inheritEnv: settings.inheritEnv, passEnv: settings.passEnv };
  const own = settings.inheritEnv === "none" && settings.passEnv.length === 0
    ? {}
    : runtime.env(listInheritedNames(request));
  const env = resolveEnvironment({ ...request, own, env: settings.env });
  const plan = { command, args, cwd, env, processGroup, stderr };
  if (os !== "windows") return plan;
  const executable = await findExecutable({
    command,
    path: getVariable(os, env, "PATH"),
    pathExt: getVariable(os, env, "PATHEXT"),
    cwd: cwd ?? runtime.cwd(),
    isFile: (path) => runtime.isFile(path),
  });
  // What is not found is left to the system, which says so in its own words.
  return executable === undefined
    ? plan
    : { ...plan, ...buildStart(executable, args, getVariable(os, env, "SystemRoot")) };
}
