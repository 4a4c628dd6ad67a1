import type { RuntimeAdapter, SpawnCommand } from "../../runtime.ts";
import { type EnvironmentInheritance, listInheritedNames, resolveEnvironment } from "../environment.ts";

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
  if (os !== "windows") return plan;
  const { planOnWindows } = await import("./windows_launch.ts");
  return await planOnWindows(plan, runtime);
}
