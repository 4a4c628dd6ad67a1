/** Whether work takes time in proportion to its size, whatever else the machine does. */

import { cpuTime, IS_FULL } from "./helpers.ts";

const PARTS = 8;
/** Work that grows with the square takes eight times as long in one piece as in eight. */
const FACTOR = 3;
const ROUNDS = 40;
const LONG_MS = 15_000;

/**
 * Asserts that work of a size takes about as long as the same work in eight pieces; of a quarter of it where less is tried. The two are measured in turns, and one
 * round in which it is so is enough: load makes a round longer, and never shorter.
 */
export async function assertLinear(
  work: (size: number) => unknown,
  fullSize: number,
): Promise<void> {
  const size = IS_FULL ? fullSize : PARTS * Math.ceil(fullSize / (4 * PARTS));
  const begin = performance.now();
  let best = Infinity;
  for (let round = 0; round < ROUNDS && performance.now() - begin < LONG_MS; round++) {
    const inPieces = await measure(async () => {
      for (let part = 0; part < PARTS; part++) await work(size / PARTS);
    });
    const inOne = await measure(() => work(size));
    best = Math.min(best, inOne / inPieces);
    // Less than a millisecond says nothing.
    if (inOne <= Math.max(FACTOR * inPieces, 1)) return;
  }
  throw new Error(`${size} in one took ${best.toFixed(1)} times as long as in ${PARTS} pieces`);
}

async function measure(work: () => unknown): Promise<number> {
  const begin = cpuTime();
  await work();
  return cpuTime() - begin;
}
