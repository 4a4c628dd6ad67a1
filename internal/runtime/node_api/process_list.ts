/** What runs on this machine, as Linux shows it below /proc; elsewhere nothing is known. */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** One process. */
export interface ListedProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** `Z` for one that has ended and was not reaped. */
  readonly state: string;
  /** Memory that it holds. */
  readonly rssBytes: number;
  /** Time it has spent on a processor, in milliseconds. */
  readonly cpuMs: number;
  /** Its command line. */
  readonly command: string;
}

const PAGE_BYTES = 4_096;
/** A tick of the counters in `stat`. */
const TICK_MS = 10;

/** All processes, or undefined where that cannot be told. */
export function listProcesses(): ListedProcess[] | undefined {
  let names: string[];
  try {
    names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined; // Not Linux, or not allowed.
  }
  const found = names.map((name) => readProcess(Number(name)));
  return found.filter((each): each is ListedProcess => each !== undefined);
}

/** The processes that have the variable in their environment; undefined where that cannot be told. */
export function listMarked(variable: string): ListedProcess[] | undefined {
  return listProcesses()?.filter(({ pid, state }) => state !== "Z" && hasVariable(pid, variable));
}

/** A process and all that it has started, as far as their parents live. */
export function listTree(pid: number): ListedProcess[] | undefined {
  const all = listProcesses();
  const tree = all?.filter((each) => each.pid === pid);
  if (all === undefined || tree === undefined) return undefined;
  for (let at = 0; at < tree.length; at++) {
    tree.push(...all.filter(({ parentPid }) => parentPid === tree[at]!.pid));
  }
  return tree;
}

/** Ends one that was listed just now. */
export function endListed({ pid }: ListedProcess): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended, or belongs to somebody else.
  }
}

function readProcess(pid: number): ListedProcess | undefined {
  try {
    // The name in brackets may hold anything, a bracket included.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return {
      pid,
      parentPid: Number(fields[1]),
      state: fields[0]!,
      rssBytes: Number(fields[21]) * PAGE_BYTES,
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      command,
    };
  } catch {
    return undefined; // It has just ended.
  }
}

function hasVariable(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(variable);
  } catch {
    return false; // It has just ended, or belongs to somebody else.
  }
}
