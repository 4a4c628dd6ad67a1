/** Servers as processes of the runtime under test, driven by raw bytes. */

import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../internal/runtime/detect.ts";
import type { JSONRPCMessage, RequestId } from "../messages.ts";
import { waitUntil } from "./helpers.ts";
import { type Message, Transcript } from "./server_helpers.ts";

/** As long as something may take that takes a second on a quiet machine; what does not happen at all takes ten, or a minute. */
export const SECOND_UNDER_LOAD_MS = 8_000;

const IS_BUILT = import.meta.url.endsWith(".js");

/** The path of a program of this module, such as `examples/everything_server` or `tests/fixtures/server_exits`. */
export function programPath(name: string): string {
  return fileURLToPath(new URL(`../${name}.${IS_BUILT ? "js" : "ts"}`, import.meta.url));
}

/** The command that runs a program on the runtime under test. */
export function commandOf(
  name: string,
  args: readonly string[] = [],
  flags: readonly string[] = ["-A"],
): string[] {
  const isDeno = runtimeName() === "deno";
  return [process.execPath, ...isDeno ? ["run", "--quiet", ...flags] : [], programPath(name), ...args];
}

/** How to start a server. */
export interface StartOptions {
  args?: readonly string[];
  env?: Record<string, string>;
  /** Flags for Deno. */
  flags?: readonly string[];
  stdio?: SpawnOptions["stdio"];
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Starts a server; it does not outlive the test. */
export function startProcess(t: TestContext, name: string, options: StartOptions = {}): ServerProcess {
  const { args, env = {}, flags, stdio = ["pipe", "pipe", "pipe"] } = options;
  const [command = "", ...rest] = commandOf(name, args, flags);
  const child = spawn(command, rest, { stdio, env: { ...process.env, ...env } });
  const server = new ServerProcess(child);
  t.after(async () => {
    server.kill("SIGKILL");
    await server.exited;
  });
  return server;
}

/** Starts a server from a shell, which arranges its descriptors; `"$@"` is the server. */
export function startInShell(
  t: TestContext,
  name: string,
  script: string,
  args: readonly string[] = [],
): ServerProcess {
  const server = new ServerProcess(spawn("sh", ["-c", script, "sh", ...commandOf(name, args)]));
  t.after(async () => {
    server.kill("SIGKILL");
    await server.exited;
  });
  return server;
}

/** A running server. Everything it writes is read and checked, unless reading is paused. */
export class ServerProcess {
  readonly child: ChildProcess;
  readonly transcript: Transcript = new Transcript();
  /** Resolves when the process is gone and its output is read. */
  readonly exited: Promise<Exit>;
  exit: Exit | undefined;
  stderr = "";
  #failure: unknown;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    child.stdout?.on("data", (chunk: Uint8Array) => {
      try {
        this.transcript.push(chunk);
      } catch (error) {
        this.#failure ??= error;
      }
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.stderr += text);
    this.exited = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        this.exit = { code, signal };
        if (this.#failure === undefined) resolve(this.exit);
        else reject(this.#failure);
      });
    });
    this.exited.catch(() => {});
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Writes messages, one to a line, or lines as they are, in one go. */
  send(...messages: ReadonlyArray<JSONRPCMessage | string>): void {
    const lines = messages.map((each) => typeof each === "string" ? each : JSON.stringify(each));
    this.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Writes text or bytes. */
  write(data: string | Uint8Array): void {
    this.child.stdin!.write(data);
  }

  /** Ends the server's input. */
  end(): void {
    this.child.stdin!.end();
  }

  /** Stops reading what the server writes, and reads on. */
  stall(): void {
    this.child.stdout!.pause();
  }

  resume(): void {
    this.child.stdout!.resume();
  }

  /** Closes the reading end of the server's stdout. */
  breakOutput(): void {
    this.child.stdout!.destroy();
  }

  /** Not by `child.kill`: Deno's then takes the child for dead. */
  kill(signal: NodeJS.Signals): void {
    if (this.exit !== undefined) return;
    try {
      process.kill(this.pid, signal);
    } catch {
      // It has just ended.
    }
  }

  /** Waits for a response; fails at once if the server has ended without it. */
  async response(id: RequestId | null, timeoutMs = 30_000): Promise<Message> {
    const there = () => this.transcript.responsesTo(id).length > 0;
    await this.until(
      () => there() || this.exit !== undefined,
      `the response to ${JSON.stringify(id)}`,
      timeoutMs,
    );
    if (!there()) throw new Error(`The server ended without answering ${id}: ${this.stderr.slice(-2_000)}`);
    return this.transcript.responsesTo(id)[0]!;
  }

  /** Waits until something holds, and says what the server has told if it does not. */
  async until(condition: () => boolean, what: string, timeoutMs = 30_000): Promise<void> {
    try {
      await waitUntil(() => {
        if (this.#failure !== undefined) throw this.#failure;
        return condition();
      }, { what, timeoutMs });
    } catch (error) {
      throw new Error(
        `${error instanceof Error ? error.message : error}; stderr: ${this.stderr.slice(-2_000)}`,
        {
          cause: error,
        },
      );
    }
  }

  /** Waits for a text on stderr. */
  async saying(text: string): Promise<void> {
    await this.until(() => this.stderr.includes(text), JSON.stringify(text));
  }

  /** How much memory the process occupies, in MiB; Linux only. */
  rss(): number {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.pid}/status`, "utf8"))?.[1]) / 1_024;
  }
}

/** How much time a process has spent on a processor, in milliseconds; Linux only. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Lets some time pass, where nothing can be waited for. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
