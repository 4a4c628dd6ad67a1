/** What is left to decide before a process is started on Windows. */

import type { RuntimeAdapter, SpawnCommand } from "../../runtime.ts";
import { checkCommand, commandNotFound } from "../runtime/spawn_failure.ts";
import { getVariable } from "../variables.ts";
import { findExecutable } from "../windows/executable_search.ts";
import { joinPath } from "../windows/paths.ts";
import { buildStart } from "../windows/start.ts";

/**
 * What is found is started by its full path, and what is not found is not handed to the system: that would look for it in the
 * working directory.
 */
export async function planOnWindows(plan: SpawnCommand, runtime: RuntimeAdapter): Promise<SpawnCommand> {
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
