/** Sending signals to a child or its group, with one outcome for what the three runtimes report differently. */

import type { SignalOutcome } from "../../runtime.ts";

/** Signals a group, or its leader alone where the group is out of reach. `killChild` tells whether the child was there. */
export function signalGroup(killGroup: () => void, killChild: () => boolean): SignalOutcome {
  try {
    killGroup();
    return "sent";
  } catch (error) {
    if (isGone(error)) return "gone";
    return killChild() ? "child_only" : "gone";
  }
}

/** Whether somebody is left in a group, asked with signal 0. One that may not be signalled is there. */
export function isGroupAlive(probeGroup: () => void): boolean {
  try {
    probeGroup();
    return true;
  } catch (error) {
    return !isGone(error);
  }
}

/** `Deno.kill` gives a name and no code, and a finished `Deno.ChildProcess` a `TypeError`. */
export function isGone(error: unknown): boolean {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  return code === "ESRCH" || name === "NotFound";
}
