/**
 * Small helpers of the tests: bytes and their cuts, seeded randomness, streams, promises looked at from outside, and
 * memory that is really held. Each works alike on Deno, Bun and Node.
 */

import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const encoder = new TextEncoder();

/** Text, or byte values, as UTF-8 bytes. */
export function bytesOf(...parts: readonly (string | Uint8Array | readonly number[])[]): Uint8Array {
  const chunks = parts.map((part) => {
    if (typeof part === "string") return encoder.encode(part);
    return part instanceof Uint8Array ? part : Uint8Array.from(part);
  });
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Text for bytes; throws when they are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** The bytes in two chunks, once for every place they can be cut, both ends included. Chunks are copies. */
export function* everySplit(bytes: Uint8Array): Generator<[Uint8Array, Uint8Array]> {
  for (let at = 0; at <= bytes.length; at++) yield [bytes.slice(0, at), bytes.slice(at)];
}

/** The bytes in chunks of `size`. Chunks are copies. */
export function chunked(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
  return chunks;
}

/** The bytes in chunks of one byte. */
export function byteByByte(bytes: Uint8Array): Uint8Array[] {
  return chunked(bytes, 1);
}

/** The bytes cut at up to `most` random places; some chunks are empty. Chunks are copies. */
export function randomCuts(bytes: Uint8Array, random: Random, most = 8): Uint8Array[] {
  const cuts = Array.from({ length: random.below(most + 1) }, () => random.below(bytes.length + 1));
  cuts.sort((left, right) => left - right);
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    chunks.push(bytes.slice(start, cut));
    start = cut;
  }
  return chunks;
}

/** Every way a stream test feeds its input: whole, in two chunks at every place, byte by byte, and cut at random. */
export function* everyCut(bytes: Uint8Array): Generator<Uint8Array[]> {
  yield [bytes.slice()];
  yield byteByByte(bytes);
  yield* everySplit(bytes);
  const random = createRandom(bytes.length);
  for (let round = 0; round < 20; round++) yield randomCuts(bytes, random);
}

/** Numbers that look random and can be had again with the same seed. */
export interface Random {
  /** The seed that gives the same numbers again. */
  readonly seed: number;
  /** An integer from 0 up to, and without, `limit`. */
  below(limit: number): number;
  /** One of the values. */
  pick<T>(values: readonly T[]): T;
  /** True once in so many calls. */
  oneIn(count: number): boolean;
}

/** Makes a generator of the kind xorshift32. */
export function createRandom(seed: number): Random {
  // A product of an odd number never maps a seed other than 0 to 0, at which the generator would stand still.
  let state = Math.imul(seed, 0x9e3779b1) | 0;
  if (state === 0) state = 1;
  function below(limit: number): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 0x1_0000_0000) * limit);
  }
  return {
    seed,
    below,
    pick: <T>(values: readonly T[]): T => values[below(values.length)]!,
    oneIn: (count) => below(count) === 0,
  };
}

/**
 * The seed in the environment variable `TEST_SEED`, a new one if that is `random`, and else always the same: a run of the suite says
 * the same of the same code. Print it when a test fails.
 */
export function testSeed(): number {
  const given = process.env["TEST_SEED"];
  if (given === "random") return randomSeed();
  const seed = Number(given);
  return Number.isSafeInteger(seed) && seed > 0 ? seed : 20_261_130;
}

/** A seed for what is to see something new each time. */
export function randomSeed(): number {
  return 1 + Math.floor(Math.random() * 0x7fff_fffe);
}

/** Whether tests of code that is the same on each runtime try all of it: on Deno, and everywhere with `TEST_FULL=1`. */
export const IS_FULL: boolean = "Deno" in globalThis || process.env["TEST_FULL"] === "1";

/**
 * This runtime's share of what takes processes and is the same on each: a third of the values, so that all three together
 * see all of them; all of them on each with `TEST_FULL=1`.
 */
export function share<T>(values: readonly T[]): readonly T[] {
  if (process.env["TEST_FULL"] === "1") return values;
  const turn = "Deno" in globalThis ? 0 : "Bun" in globalThis ? 1 : 2;
  return values.length < 3 ? values : values.filter((_, index) => index % 3 === turn);
}

/**
 * Turns for tests of what takes processes and is the same on each: Deno runs all of a file's, Bun and Node every other one.
 *
 * @returns What says, test by test, why one is left out; false if it is not.
 */
export function createTurns(): () => string | false {
  const own = "Bun" in globalThis ? 0 : 1;
  let turn = 0;
  return () => IS_FULL || turn++ % 2 === own ? false : "another runtime has its turn: set TEST_FULL=1";
}

/** How many rounds of `full` such a test makes: all, or else a tenth. */
export function rounds(full: number): number {
  return IS_FULL ? full : Math.ceil(full / 10);
}

/** A stream that gives the chunks, one for each time it is asked. */
export function streamOf<T>(chunks: Iterable<T>): ReadableStream<T> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream<T>({
    pull(controller): void {
      const { done, value } = iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

/** All that a stream gives up to its end. */
export async function collect<T>(readable: ReadableStream<T>): Promise<T[]> {
  const values: T[] = [];
  const reader = readable.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) values.push(next.value);
  return values;
}

/** How many events the lines of a log tell of: one each, or as many as the line says that there were more. */
export function countTold(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Number(/ \(and (\d+) more\)$/.exec(line)?.[1] ?? 1), 0);
}

/** Lets all microtasks, and the timers and I/O that are due, happen. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Waits until the condition holds; rejects if it does not within a time that a busy machine may need. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { what = String(condition), timeoutMs = 30_000 }: { what?: string; timeoutMs?: number } = {},
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!await condition()) {
    if (performance.now() > end) {
      throw new Error(`Cannot wait any longer: not within ${timeoutMs} ms: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Whether a promise is settled, and how, after this turn. */
export async function stateOf(promise: Promise<unknown>): Promise<"pending" | "fulfilled" | "rejected"> {
  let state: "pending" | "fulfilled" | "rejected" = "pending";
  promise.then(() => state = "fulfilled", () => state = "rejected");
  await nextTurn();
  return state;
}

/** Lets a rejection that nobody observes come to light: each of the three test runners fails the test for it. */
export async function showUnhandledRejections(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

/**
 * Asserts that `large` costs at most `factor` times what `small` costs, by {@linkcode cpuTime}. Each is measured several
 * times and the best counts, so that a busy machine cannot fail it. Where the runtime's own part grows faster than the size, `floor` is
 * what that part costs for `large`, and four times that is allowed, too: a second factor, such as the number of chunks,
 * would cost a thousand times.
 */
export async function assertGrowth(
  cost: (size: number) => number | Promise<number>,
  { small, large, factor, floor = () => 0 }: {
    small: number;
    large: number;
    factor: number;
    floor?: (size: number) => number;
  },
): Promise<void> {
  let [bestSmall, bestLarge, bestFloor] = [Infinity, Infinity, Infinity];
  for (let round = 0; round < 12; round++) {
    bestSmall = Math.min(bestSmall, Math.max(await cost(small), LEAST_CPU_TIME));
    bestLarge = Math.min(bestLarge, await cost(large));
    bestFloor = Math.min(bestFloor, floor(large));
    // The first round warms up.
    if (round > 0 && bestLarge <= Math.max(factor * bestSmall, 4 * bestFloor)) return;
  }
  const [one, many, least] = [bestSmall, bestLarge, bestFloor].map((time) => `${time.toFixed(1)} ms`);
  throw new Error(`${small} cost ${one}, ${large} cost ${many}, of which the runtime needs ${least}`);
}

/** Windows counts the time of processors in ticks: what takes less may be none. */
const LEAST_CPU_TIME = process.platform === "win32" ? 16 : 0;

/** Milliseconds that this process has had of the processors: unlike a clock, deaf to what else runs. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** How long this runtime itself takes to decode and parse a line of so many MiB. */
export function parseCost(mebibytes: number): number {
  const line = new Uint8Array(mebibytes * 1_048_576).fill(0x78);
  line[0] = line[line.length - 1] = 0x22;
  const start = cpuTime();
  const value: unknown = JSON.parse(new TextDecoder().decode(line));
  const time = cpuTime() - start;
  if (typeof value !== "string" || value.length !== line.length - 2) {
    throw new Error("Cannot measure: wrong value");
  }
  return time;
}

/** How many bytes this process holds in objects and buffers, after garbage has been collected. */
export async function heldBytes(): Promise<number> {
  const collect = findCollector();
  let held = Infinity;
  // Buffers are given back on another thread, some time after the collection.
  for (let round = 0; round < 10; round++) {
    await nextTurn();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    // Bun counts buffers as part of the heap, too.
    const now = "Bun" in globalThis ? heapUsed : heapUsed + external;
    if (now > held - 65_536) return Math.min(now, held);
    held = now;
  }
  return held;
}

function findCollector(): () => void {
  const { Bun, gc } = globalThis as { Bun?: { gc(synchronous: boolean): void }; gc?: () => void };
  if (Bun !== undefined) return () => Bun.gc(true);
  if (gc !== undefined) return gc;
  setFlagsFromString("--expose-gc");
  const found = runInNewContext("gc") as () => void;
  Object.assign(globalThis, { gc: found });
  return found;
}
