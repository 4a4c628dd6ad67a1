/** Ending a process and all that it has started, on Windows: by the system's own `taskkill`, or the process alone. */

import type { SignalOutcome } from "../../runtime.ts";
import { settlesWithin, systemClock } from "../clock.ts";
import type { WindowsStart } from "../windows/start.ts";
import { buildTreeKill } from "../windows/system_programs.ts";

/** So long a process whose tree could not be ended may take to be found ended, in milliseconds: it may have been first. */
const EXIT_GRACE_MS = 100;

/** What is done by the runtime. A program of the system that is run has no part in our stdio, and no window. */
export interface TreeEndMeans {
  readonly pid: number;
  /** This process's own system folder, whatever the environment of the other one says. */
  readonly systemRoot: string | undefined;
  readonly exited: Promise<unknown>;
  hasExited(): boolean;
  /** Runs a program and resolves to whether it ended with code 0. Rejects or throws if it cannot be run. */
  run(program: WindowsStart): Promise<boolean>;
  /** The same, done when it returns. */
  runNow(program: WindowsStart): boolean;
  /** Ends the process alone; tells whether it was there. */
  killChild(): boolean;
}

/** Ends the tree, and tells what came of it. */
export async function endTree(means: TreeEndMeans): Promise<SignalOutcome> {
  if (means.hasExited()) return "gone";
  try {
    if (await means.run(buildTreeKill(means.pid, means.systemRoot))) return "sent";
  } catch {
    // Then the process alone is ended, as if the program had failed.
  }
  await settlesWithin(systemClock, means.exited, EXIT_GRACE_MS);
  return endChild(means);
}

/** Ends the tree before this returns: this process ends, and with it the programs that it runs. */
export function endTreeNow(means: TreeEndMeans): SignalOutcome {
  if (means.hasExited()) return "gone";
  try {
    if (means.runNow(buildTreeKill(means.pid, means.systemRoot))) return "sent";
  } catch {
    // See above.
  }
  return endChild(means);
}

function endChild(means: TreeEndMeans): SignalOutcome {
  return !means.hasExited() && means.killChild() ? "child_only" : "gone";
}
