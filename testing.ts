/**
 * Tools for tests of servers, clients and hosts that start no process: streams and connections in memory, a clock that
 * only the test moves, and a runtime whose processes are made of method calls.
 *
 * @example A client and a server in memory
 * ```ts
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import { Client } from "@mcp/stdio/client";
 * import { Server } from "@mcp/stdio/server";
 * import assert from "node:assert/strict";
 *
 * const server = new Server({
 *   info: { name: "adder", version: "1.0.0" },
 *   tools: { add: { call: ({ a, b }) => String(Number(a) + Number(b)) } },
 * });
 * const [here, there] = createStreamPair();
 * const running = server.run(there);
 * const client = await Client.connect(here);
 *
 * const result = await client.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
 * assert.deepEqual(result.content, [{ type: "text", text: "3" }]);
 *
 * await client.close();
 * assert.equal((await running).reason, "eof");
 * ```
 *
 * @module
 */

import type { Connection } from "./connection.ts";
import { FRAMING_DEFAULTS } from "./internal/options.ts";
import { createMemoryPipe } from "./internal/testing/memory_pipe.ts";
import { StreamConnection } from "./internal/stream_connection.ts";
import type { ByteStreams, Clock } from "./runtime.ts";

export {
  createFakeRuntime,
  FakeProcess,
  type FakeRuntime,
  type FakeRuntimeOptions,
} from "./internal/testing/fake_runtime.ts";

/** Options for {@linkcode createStreamPair} and {@linkcode createConnectionPair}. */
export interface PairOptions {
  /**
   * How many bytes each direction holds before its writer has to wait.
   *
   * @default {65_536}
   */
  capacityBytes?: number | undefined;
}

/**
 * Makes two ends of a pair of pipes in memory: what one end writes, the other reads.
 *
 * @example
 * ```ts ignore
 * const [here, there] = createStreamPair();
 * server.run(there);
 * const client = await Client.connect(here);
 * ```
 */
export function createStreamPair(options: PairOptions = {}): [ByteStreams, ByteStreams] {
  const { capacityBytes = 65_536 } = options;
  const there = createMemoryPipe(capacityBytes);
  const back = createMemoryPipe(capacityBytes);
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}

/**
 * Makes two connections, each of which receives what the other sends. They run the real framing, so a test sees what a pipe would
 * hold.
 *
 * @example
 * ```ts
 * import { createConnectionPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const [here, there] = createConnectionPair();
 * here.send({ jsonrpc: "2.0", method: "notifications/initialized" });
 * const [received] = await there.receive() ?? [];
 * assert.ok(received?.kind === "message" && "method" in received.message);
 * ```
 */
export function createConnectionPair(options: PairOptions = {}): [Connection, Connection] {
  const [here, there] = createStreamPair(options);
  return [new StreamConnection(here, FRAMING_DEFAULTS), new StreamConnection(there, FRAMING_DEFAULTS)];
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until the test moves it.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const clock = new FakeClock();
 * let rang = false;
 * clock.setTimeout(() => rang = true, 60_000);
 * await clock.advance(59_999);
 * assert.equal(rang, false);
 * await clock.advance(1);
 * assert.equal(rang, true);
 * ```
 */
export class FakeClock implements Clock {
  #now = 0;
  #lastHandle = 0;
  readonly #timers = new Map<number, Timer>();

  /** How many timers are waiting. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Milliseconds that the test has let pass. */
  now(): number {
    return this.#now;
  }

  /** Calls back once `advance` has let `delayMs` pass. */
  setTimeout(callback: () => void, delayMs: number): unknown {
    this.#timers.set(++this.#lastHandle, { due: this.#now + delayMs, callback });
    return this.#lastHandle;
  }

  /** Cancels what `setTimeout` gave. */
  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** Lets time pass, timer by timer; after each, everything that follows from it in memory happens first. */
  async advance(durationMs: number): Promise<void> {
    const until = this.#now + durationMs;
    await settle();
    for (let next = this.#nextBy(until); next !== undefined; next = this.#nextBy(until)) {
      const [handle, timer] = next;
      this.#timers.delete(handle);
      this.#now = Math.max(this.#now, timer.due);
      timer.callback();
      await settle();
    }
    this.#now = until;
  }

  #nextBy(until: number): [number, Timer] | undefined {
    let next: [number, Timer] | undefined;
    for (const entry of this.#timers) {
      if (entry[1].due <= until && (next === undefined || entry[1].due < next[1].due)) next = entry;
    }
    return next;
  }
}

/** Lets everything happen that needs no time: streams in memory need a few turns. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => globalThis.setTimeout(resolve, 0));
}
