/** A real server process that does what a test writes down: see `fixtures/scripted_server.mjs`. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { type Client, spawn, type SpawnOptions } from "../client.ts";
import { silentLogger } from "../logger.ts";
import { waitUntil } from "./helpers.ts";
import { program } from "./runtime_adapter/harness.ts";

/** What a scripted server does next. When the list is through, it serves as a modern server. */
export type Step =
  /** Waits for a message of this method, for any with `*`, or for an ignored `eof`, and passes over others. */
  | { readonly on: string }
  /** Answers what comes, until a message of a method, which is left to the next step. */
  | { readonly serve: "modern" | "legacy"; readonly until?: string }
  /** Writes to stdout: `$id` and `$token` are those of the last request, `$x100` is a hundred times x, `$n` the round. */
  | { readonly write: string | readonly string[]; readonly times?: number; readonly pauseMs?: number }
  | { readonly bytes: readonly number[] }
  | { readonly stderr: string; readonly times?: number }
  | { readonly sleep: number }
  /** Closes a stream and goes on. */
  | { readonly close: "stdin" | "stdout" | "stderr" }
  | { readonly ignore: "eof" | "SIGTERM" | "SIGINT" }
  /** Starts a process that stays, in the server's group or out of it. */
  | { readonly helper: "in" | "out"; readonly holds?: "stdout" | "stderr"; readonly ignores?: "SIGTERM" }
  | { readonly exit: number }
  | { readonly kill: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGSEGV" }
  | { readonly stay: true }
  /** Stays and reads no more. */
  | { readonly deaf: true }
  /** Records its arguments, its working directory and these variables. */
  | { readonly tell: { readonly env: readonly string[] } };

/** What a scripted server has recorded. */
export interface Record {
  readonly kind: "start" | "line" | "eof" | "signal" | "helper" | "told";
  /** Which start of the server it was, from 0. */
  readonly run: number;
  readonly pid?: number;
  readonly line?: string;
  readonly signal?: string;
  readonly env?: { readonly [name: string]: string | null };
  readonly args?: readonly string[];
  readonly cwd?: string;
}

/** A script, and what came of it. */
export class Script {
  readonly command: string;
  readonly args: readonly string[];
  readonly #record: string;

  /** Each list is for one start of the server, the last one for all that follow. What is left of it ends with the test. */
  constructor(t: TestContext, ...runs: ReadonlyArray<readonly Step[]>) {
    const folder = mkdtempSync(join(tmpdir(), "stdio-script-"));
    this.#record = join(folder, "record");
    const [command, ...args] = program("scripted_server.mjs", [
      JSON.stringify({ record: this.#record, runs }),
    ]);
    this.command = command!;
    this.args = args;
    t.after(() => {
      for (const pid of this.pids) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It is gone, as it should be.
        }
      }
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** All that was recorded. */
  get records(): Record[] {
    if (!existsSync(this.#record)) return [];
    return readFileSync(this.#record, "utf8").split("\n").filter((line) => line !== "").map((line) =>
      JSON.parse(line)
    );
  }

  /** The ids of all servers and helpers. */
  get pids(): number[] {
    return this.records.flatMap(({ pid }) => pid === undefined ? [] : [pid]);
  }

  /** How often it was started. */
  get starts(): number {
    return this.of("start").length;
  }

  of(kind: Record["kind"], run?: number): Record[] {
    return this.records.filter((record) => record.kind === kind && (run === undefined || record.run === run));
  }

  /** The methods that a run of the server has read. */
  methods(run: number): string[] {
    return this.of("line", run).map(({ line }) => line!.startsWith("{") ? JSON.parse(line!).method : line!);
  }

  /** Waits until something was recorded. */
  async until(what: string, holds: (records: Record[]) => boolean): Promise<void> {
    await waitUntil(() => holds(this.records), { what, timeoutMs: 30_000 });
  }

  /** Starts it, and leaves it time to end by itself on a busy machine. The client does not outlive the test. */
  async spawn(t: TestContext, options: Partial<SpawnOptions> = {}): Promise<Client> {
    const { command, args } = this;
    const client = await spawn({
      command,
      args,
      logger: silentLogger,
      stderr: "capture",
      shutdownGraceMs: 30_000,
      ...options,
    });
    t.after(async () => void await client.kill());
    return client;
  }
}

/** Whether a process runs: one that has ended and was not reaped by whoever inherited it does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return stateOfProcess(pid) !== "Z";
}

/** The state of a process as the system shows it, such as `S` or `Z`; undefined where it shows none. */
export function stateOfProcess(pid: number): string | undefined {
  // Wine shows the files of Linux, in which the ids mean others.
  if (process.platform === "win32") return undefined;
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()?.[0];
  } catch {
    return undefined;
  }
}

/** Waits until none of the processes runs any more. */
export async function untilGone(pids: readonly number[], timeoutMs = 30_000): Promise<void> {
  await waitUntil(() => !pids.some(isRunning), {
    what: `the processes ${pids.join(", ")} are gone`,
    timeoutMs,
  });
}

/** How long something takes, in milliseconds. */
export async function timeOf(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/** Waits until a process has been stopped by a signal, where the system shows it. */
export async function untilStopped(pid: number): Promise<void> {
  await waitUntil(() => (stateOfProcess(pid) ?? "T") === "T", { what: `${pid} has stopped` });
}
