// Programs that the tools of the tests run: each in a process group of its own, so that nothing of it is left behind.
import { spawn, spawnSync } from "node:child_process";
import process from "node:process";

/** How long the output of a program that has ended may still be held open by what it has started. */
const OUTPUT_GRACE_MS = 2_000;

const running = new Set<number>();

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  /** What it wrote to stdout and stderr, without colors. */
  readonly output: string;
  readonly isTimedOut: boolean;
}

/** Runs a program to its end, or until the time is over. */
export function runInGroup(
  [command, ...args]: readonly [string, ...string[]],
  { cwd, timeoutMs, env = process.env }: { cwd: string; timeoutMs: number; env?: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const { pid } = child;
    if (pid !== undefined) running.add(pid);
    let output = "";
    let isTimedOut = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output += text);
    }
    const timer = setTimeout(() => {
      isTimedOut = true;
      endGroup(pid);
    }, timeoutMs);
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("exit", (code) => {
      clearTimeout(timer);
      endGroup(pid);
      // deno-lint-ignore no-control-regex
      const end = (): void => resolve({ code, output: output.replaceAll(/\x1b\[[\d;]*m/g, ""), isTimedOut });
      const grace = setTimeout(end, OUTPUT_GRACE_MS);
      child.on("close", () => {
        clearTimeout(grace);
        end();
      });
    });
  });
}

/** Ends all that still runs when this process is told to end. */
export function endGroupsOnSignals(): void {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    process.once(signal, () => {
      for (const pid of running) endGroup(pid);
      process.exit(code);
    });
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  running.delete(pid);
  if (process.platform === "win32") {
    spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"]);
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The group has gone by itself.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
