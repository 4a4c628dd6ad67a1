/**
 * Servers that die at random moments under calls in flight: each call settles exactly once, with a result or a typed error,
 * and nothing is left in the end.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { type Client, spawn } from "../client.ts";
import { ConnectionClosedError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import type { Clock } from "../runtime.ts";
import { createRandom, nextTurn, type Random, waitUntil } from "./helpers.ts";
import { program } from "./runtime_adapter/harness.ts";

/** How much chaos there is. */
export interface ChaosOptions {
  /** How many servers die in all. */
  readonly lives: number;
  readonly seed: number;
  /** How many clients there are at a time. */
  readonly clients?: number;
  /** How many calls each of them has in flight. */
  readonly calls?: number;
  /** Told how it goes. */
  readonly say?: (line: string) => void;
}

/** What came of it. */
export interface ChaosReport {
  /** Deaths by kind. */
  readonly deaths: Map<string, number>;
  /** Calls by what became of them. */
  readonly outcomes: Map<string, number>;
}

const DEATHS = ["SIGKILL", "SIGTERM", "SIGSTOP and SIGKILL", "close_stdout", "half_line", "exit"] as const;

/** So many times as fast as the real one, so that waits between restarts cost little. */
const SPEED = 20;

/** A fast clock that knows how many timers wait. */
function createFastClock(): Clock & { pending: number } {
  const clock = {
    pending: 0,
    now: () => performance.now() * SPEED,
    setTimeout(callback: () => void, delayMs: number): unknown {
      clock.pending++;
      const timer = {
        handle: setTimeout(() => {
          clock.pending--;
          timer.handle = undefined;
          callback();
        }, delayMs / SPEED) as ReturnType<typeof setTimeout> | undefined,
      };
      return timer;
    },
    clearTimeout(timer: unknown): void {
      const { handle } = Object(timer) as { handle?: ReturnType<typeof setTimeout> };
      if (handle === undefined) return;
      clock.pending--;
      clearTimeout(handle);
      Object.assign(timer as object, { handle: undefined });
    },
  };
  return clock;
}

/** Runs it. Rejects if anything is not as it should be. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { lives, seed, clients = 4, calls = 64, say = () => {} } = options;
  const random = createRandom(seed);
  const report: ChaosReport = { deaths: new Map(), outcomes: new Map() };
  const clock = createFastClock();
  // What a runtime opens once and keeps is not counted.
  await new Household(clock, random, 1, report).run(1);
  const before = countWhatIsHeld();
  let died = 0;
  const share = Math.ceil(lives / clients);
  await Promise.all(Array.from({ length: clients }, async () => {
    await new Household(clock, random, calls, report).run(share, () => {
      if (++died % 100 === 0) say(`${died} of ${lives} lives`);
    });
  }));
  assert.equal(clock.pending, 0, "timers are left");
  await waitUntil(() => isSame(countWhatIsHeld(), before), { what: "nothing is left" }).catch(() => {
    assert.deepEqual(countWhatIsHeld(), before);
  });
  return report;
}

/** One client whose server dies again and again. */
class Household {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #calls: number;
  readonly #report: ChaosReport;
  #made = 0;
  #settled = 0;
  #isOver = false;

  constructor(clock: Clock, random: Random, calls: number, report: ChaosReport) {
    this.#clock = clock;
    this.#random = random;
    this.#calls = calls;
    this.#report = report;
  }

  async run(lives: number, onDeath: () => void = () => {}): Promise<void> {
    const [command, ...args] = program("client_chaos_server.mjs");
    const client = await spawn({
      command: command!,
      args,
      stderr: "capture",
      maxRestarts: 10 * lives + 10,
      timeoutMs: Infinity,
      maxTimeoutMs: Infinity,
      listenTimeoutMs: Infinity,
      probeTimeoutMs: 60_000 * SPEED,
      connectTimeoutMs: 60_000 * SPEED,
      logger: silentLogger,
      clock: this.#clock,
    });
    const workers = Array.from({ length: this.#calls }, (_, index) => this.#work(client, index));
    const listening = client.listen({ toolsListChanged: true });
    for (let life = 0, wasEarly = false; life < lives; life++) {
      wasEarly = await this.#die(client, wasEarly);
      onDeath();
    }
    await client.request("tools/list");
    this.#isOver = true;
    await (this.#random.oneIn(2) ? client.close() : client.kill());
    await Promise.all(workers);
    assert.equal(await listening.ended, "local");
    assert.equal(this.#settled, this.#made, "calls have settled more than once, or never");
    assert.equal(client.restartCount, lives);
  }

  /** Ends the server, at once or after it has worked for a while; waits for the next one. Gives whether it was at once. */
  async #die(client: Client, wasEarly: boolean): Promise<boolean> {
    const random = this.#random;
    // Not twice at once: a call is made again three times only.
    const isEarly = !wasEarly && random.oneIn(5);
    if (!isEarly) {
      await client.request("tools/list");
      await new Promise((resolve) => setTimeout(resolve, random.below(40)));
    }
    const { pid, restartCount } = client;
    const how = pid === undefined || isEarly ? "SIGKILL" : random.pick(DEATHS);
    count(this.#report.deaths, how);
    if (how === "SIGSTOP and SIGKILL") {
      process.kill(pid!, "SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, random.below(20)));
      process.kill(pid!, "SIGKILL");
    } else if (how === "SIGKILL" || how === "SIGTERM") {
      if (pid !== undefined) process.kill(pid, how);
    } else await client.notify("notifications/die", { how });
    await waitUntil(() => client.restartCount > restartCount && client.pid !== undefined, {
      what: `a server is started after ${how}`,
      timeoutMs: 60_000,
    });
    return isEarly;
  }

  /** Makes one call after the other. */
  async #work(client: Client, index: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const controller = new AbortController();
      const kind = this.#random.pick(["list", "list", "call", "call", "forced", "aborted"]);
      const echo = { index, n };
      const call = kind === "list"
        ? client.request("tools/list")
        : client.request("tools/call", { name: "x", arguments: echo }, {
          ...(kind === "forced" ? { retry: "force" as const } : {}),
          ...(kind === "aborted" ? { signal: controller.signal, onProgress: () => {} } : {}),
        });
      this.#made++;
      if (kind === "aborted") setTimeout(() => controller.abort("enough"), this.#random.below(20));
      await (call as Promise<{ structuredContent?: unknown }>).then((result) => {
        if (kind !== "list") assert.deepEqual(result.structuredContent, echo);
        count(this.#report.outcomes, `${kind}: result`);
      }, (error: unknown) => {
        if (kind === "aborted" && error === "enough") return count(this.#report.outcomes, "aborted: aborted");
        assert.ok(error instanceof ConnectionClosedError, String(error));
        if (kind === "list") assert.ok(this.#isOver, `an idempotent request has failed: ${error.message}`);
        count(this.#report.outcomes, `${kind}: connection_closed, ${error.sent ? "sent" : "not sent"}`);
      }).finally(() => this.#settled++);
      if (n % 50 === 0) await nextTurn();
    }
  }
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

interface Held {
  readonly children: number;
  readonly descriptors: number;
  readonly listeners: readonly number[];
}

/** What this process holds: children, zombies among them, descriptors, listeners. */
function countWhatIsHeld(): Held {
  const listeners = ["exit", "SIGTERM", "SIGINT", "SIGHUP"].map((event) => process.listenerCount(event));
  if (!existsSync("/proc/self/fd")) return { children: 0, descriptors: 0, listeners };
  const children = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === process.pid);
  return { children: children.length, descriptors: readdirSync("/proc/self/fd").length, listeners };
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()?.split(" ")[1]);
  } catch {
    return undefined; // It has just gone.
  }
}

/** Descriptors may become fewer: what the warm-up left is closed late. */
function isSame(now: Held, before: Held): boolean {
  return now.children <= before.children && now.descriptors <= before.descriptors &&
    now.listeners.every((listeners, index) => listeners === before.listeners[index]);
}
