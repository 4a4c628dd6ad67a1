/** Sending signals to a child or its group, with one outcome for what the three runtimes report differently. */

import type { Signal, SignalOutcome } from "../../runtime.ts";
import { endTree, endTreeNow, type TreeEndMeans } from "./tree_end.ts";

/** What a child is signalled as: alone, or with its group, which on Windows is all that it has started. */
export abstract class SignalTarget {
  abstract readonly pid: number;
  protected readonly isWindows: boolean;
  readonly #processGroup: boolean;

  constructor(processGroup: boolean, isWindows: boolean) {
    this.#processGroup = processGroup;
    this.isWindows = isWindows;
  }

  protected abstract readonly hasExited: boolean;
  /** Whether its group may be signalled, and asked for. */
  protected get mayReachGroup(): boolean {
    return true;
  }
  /** Signals the process alone; tells whether it was there. */
  protected abstract killChild(signal: Signal): boolean;
  /** Signals a group by its negative id; throws what the runtime throws. */
  protected abstract kill(pid: number, signal: Signal | 0): void;
  abstract readonly exited: Promise<unknown>;
  /** How programs of Windows are run. */
  protected abstract systemPrograms(): Pick<TreeEndMeans, "systemRoot" | "run" | "runNow">;

  signal(signal: Signal, target: "child" | "group"): SignalOutcome | Promise<SignalOutcome> {
    return this.#endsTree(target) ? endTree(this.#treeEnd()) : this.#signal(signal, target);
  }

  killNow(target: "child" | "group"): SignalOutcome {
    return this.#endsTree(target) ? endTreeNow(this.#treeEnd()) : this.#signal("SIGKILL", target);
  }

  groupAlive(): boolean {
    // Without the permission to look at the group the child has to stand for it.
    if (!this.#leadsGroup || !this.mayReachGroup) return !this.hasExited;
    return isGroupAlive(() => this.kill(-this.pid, 0));
  }

  #signal(signal: Signal, target: "child" | "group"): SignalOutcome {
    // Windows has no signal that does not end a process, and the runtimes know this one there.
    const killChild = () => this.killChild(this.isWindows ? "SIGKILL" : signal);
    if (target === "child" || !this.#leadsGroup) return killChild() ? "sent" : "gone";
    if (!this.mayReachGroup) return killChild() ? "child_only" : "gone";
    return signalGroup(() => this.kill(-this.pid, signal), killChild);
  }

  #endsTree(target: "child" | "group"): boolean {
    return this.isWindows && target === "group" && this.#processGroup;
  }

  #treeEnd(): TreeEndMeans {
    const { pid, exited } = this;
    const killChild = () => this.killChild("SIGKILL");
    return { pid, exited, hasExited: () => this.hasExited, killChild, ...this.systemPrograms() };
  }

  get #leadsGroup(): boolean {
    return this.#processGroup && !this.isWindows;
  }
}

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
