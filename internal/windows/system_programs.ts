/** The programs of Windows itself that are used here. */

import { joinPath } from "./paths.ts";
import type { WindowsStart } from "./start.ts";

/** Makes the command that ends a process and everything it started. */
export function buildTreeKill(pid: number, systemRoot: string | undefined): WindowsStart {
  if (!Number.isSafeInteger(pid) || pid <= 0) {
    throw new RangeError(`Cannot end a process tree: its id must be a positive integer, but is ${pid}`);
  }
  return {
    command: systemProgram("taskkill.exe", systemRoot),
    args: ["/PID", String(pid), "/T", "/F"],
    verbatimArguments: false,
  };
}

/** The full path of a program in the system folder: by its bare name Windows would look for it in the working directory first. */
export function systemProgram(name: string, systemRoot: string | undefined): string {
  const root = systemRoot !== undefined && /^[a-z]:[\\/]/i.test(systemRoot) ? systemRoot : "C:\\Windows";
  return joinPath(joinPath(root, "System32"), name);
}
