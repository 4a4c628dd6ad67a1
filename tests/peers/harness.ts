/** What the tests against peers share: the three runtimes, processes that can be found again, and small waits. */

import { randomUUID } from "node:crypto";
import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type Client,
  type CloseOptions,
  type CloseReport,
  spawn,
  type SpawnOptions,
} from "@mcp/stdio/client";
import { type Logger, silentLogger } from "@mcp/stdio/logger";
import type { Params } from "@mcp/stdio/messages";
import { waitUntil } from "../helpers.ts";

/** These tests run as JavaScript in `build/tests/peers/`. */
export const ROOT: string = fileURLToPath(new URL("../../../", import.meta.url));

/** For tests that start processes on a machine that may be busy. */
export const SLOW = { timeout: 60_000 } as const;

/** A program and its arguments. */
export type Command = readonly [command: string, ...args: string[]];

/** A runtime that servers of ours run on. */
export interface Runtime {
  readonly name: "Deno" | "Bun" | "Node";
  /** Why it cannot be used; false if it can. */
  readonly skip: string | false;
  /** The command that runs a program of this repository, named without its ending. */
  run(program: string, ...args: string[]): Command;
}

/** The runtimes, each with the way its users run a program. */
export const RUNTIMES: readonly Runtime[] = [denoRuntime(), bunRuntime(), {
  name: "Node",
  skip: false,
  run: (program, ...args) => [process.execPath, join(ROOT, "build", `${program}.js`), ...args],
}];

function denoRuntime(): Runtime {
  const path = process.env["DENO_PATH"] ?? findOnPath("deno");
  return {
    name: "Deno",
    skip: path === undefined ? "there is no deno on the PATH" : false,
    // Without any permission, as the README says.
    run: (program, ...args) => [path ?? "deno", "run", "--quiet", join(ROOT, `${program}.ts`), ...args],
  };
}

function bunRuntime(): Runtime {
  const path = join(ROOT, "node_modules", ".bin", "bun");
  return {
    name: "Bun",
    skip: isExecutable(path) ? false : "bun is not installed in node_modules",
    run: (program, ...args) => [path, join(ROOT, `${program}.ts`), ...args],
  };
}

/**
 * Why a test is left out on a runtime; false if it is not. What is the same on each and takes processes runs on one of them in turn:
 * those whose `turn`s follow each other are spread over the three. With `TEST_FULL=1` all run on each.
 */
export function outOfTurn(runtime: Runtime["name"], turn: number): string | false {
  if (process.env["TEST_FULL"] === "1" || RUNTIMES[turn % RUNTIMES.length]!.name === runtime) return false;
  return "another runtime has its turn: set TEST_FULL=1";
}

/** The command that runs a plain fixture of this folder on Node. */
export function fixture(file: string, ...args: string[]): Command {
  return [process.execPath, join(ROOT, "tests", "peers", "fixtures", file), ...args];
}

/** The command that runs the program of a package in `node_modules`. */
export function packageProgram(name: string, ...args: string[]): Command {
  return [process.execPath, join(ROOT, "node_modules", ".bin", name), ...args];
}

/** Where a program is on the PATH. */
export function findOnPath(name: string): string | undefined {
  return (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Processes that are found again by what they, and all they start, have in their environment. */
export interface Brood {
  /** For the environment of what is started. */
  readonly env: { readonly PEER_TEST: string };
  /** Waits until all of them are gone; rejects when some stay. */
  gone(): Promise<void>;
}

/** Marks what a test starts. What a failed test leaves behind is killed when it ends. */
export function createBrood(t: TestContext): Brood {
  const brood = watchProcesses();
  t.after(() => brood.kill());
  return brood;
}

/** The same without a test. */
export function watchProcesses(): Brood & { kill(): void } {
  const mark = randomUUID();
  return {
    env: { PEER_TEST: mark },
    gone: () =>
      waitUntil(() => processesMarked(mark).length === 0, {
        what: "nothing is left running",
        timeoutMs: 30_000,
      }),
    kill() {
      for (const pid of processesMarked(mark)) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has ended meanwhile.
        }
      }
    },
  };
}

/** Only Linux shows the environment of processes as files; elsewhere what `close()` reports must do. */
function processesMarked(mark: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
    } catch {
      return false; // It has ended meanwhile, or is not ours.
    }
  });
}

/** A client of ours with what it said and heard. */
export interface Spawned {
  readonly client: Client;
  readonly brood: Brood;
  /** What it warned of. */
  readonly warnings: string[];
  /** The notifications that named no request, in order. */
  readonly notifications: Array<{ method: string; params: Params | undefined }>;
  /** Waits for one of a method that holds what is asked. */
  heard(method: string, holds?: (params: Params) => boolean): Promise<void>;
  /** Closes the client; nothing is left running then. */
  close(options?: CloseOptions): Promise<CloseReport>;
}

/** As long as a server may take on a busy machine to end by itself when its input ends. */
export const UNHURRIED = { shutdownGraceMs: 30_000 } as const;

/** Starts a server with our `spawn()`; it does not outlive the test. */
export async function spawnPeer(
  t: TestContext,
  [command, ...args]: Command,
  options: Partial<SpawnOptions> = {},
): Promise<Spawned> {
  const brood = createBrood(t);
  const warnings: string[] = [];
  const notifications: Spawned["notifications"] = [];
  const starting = spawn({
    command,
    args,
    cwd: ROOT,
    stderr: "capture",
    logger: collector(warnings),
    onNotification: (method, params) => void notifications.push({ method, params }),
    ...UNHURRIED,
    ...options,
    env: { ...options.env, ...brood.env },
  });
  const client = await starting.catch(async (error) => {
    await brood.gone(); // A server that cannot be used is ended before the rejection, too.
    throw error;
  });
  t.after(() => client.kill());
  return {
    client,
    brood,
    warnings,
    notifications,
    heard: (method, holds = () => true) =>
      waitUntil(
        () => notifications.some((heard) => heard.method === method && holds(heard.params ?? {})),
        { what: `${method} is heard`, timeoutMs: 30_000 },
      ),
    async close(closeOptions) {
      const report = await client.close(closeOptions);
      await brood.gone();
      return report;
    },
  };
}

function collector(lines: string[]): Logger {
  const collect = (line: string) => void lines.push(line);
  return { ...silentLogger, warn: collect, error: collect };
}

/** The text of a tool result. */
export function textOf(result: { content?: unknown }): string {
  const blocks = result.content as Array<{ type: string; text?: string }> | undefined;
  return (blocks ?? []).map(({ text = "" }) => text).join("");
}

/** The integers from 1 up to and with `last`. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
