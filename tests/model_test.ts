// Random lives of clients and servers: each call is settled exactly once and with what is its own, nothing is written after a
// cancellation, nothing goes unobserved, and nothing is left. More of them: `deno task model`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runModel, scheduleOf, Watch } from "./_model.ts";
import { ProcessWorld } from "./_model_process.ts";
import { drain } from "./_model_clock.ts";
import { heldBytes, IS_FULL, rounds, testSeed } from "./helpers.ts";

const SEED = testSeed();
const SCHEDULES = rounds(2_000);
const PROCESSES = IS_FULL ? 8 : 4;

test(
  `Client and Server keep their rules in ${SCHEDULES} random lives in memory, and hold nothing (C9, V3, V4)`,
  {
    timeout: 240_000,
  },
  async () => {
    // What is made once and kept, compiled code above all, is not counted.
    await runModel({ schedules: 200, seed: SEED });
    const before = await heldBytes();
    const tally = await runModel({ schedules: SCHEDULES, seed: SEED + 1 });
    const held = await heldBytes() - before;
    assert.ok(held < 4 * 1_048_576, `TEST_SEED=${SEED}: ${held} bytes are held`);
    for (const what of ["result", "ConnectionClosedError", "ProtocolError", "RequestTimeoutError"]) {
      assert.ok((tally.get(`call: ${what}`) ?? 0) > 0, `TEST_SEED=${SEED}: no call ended so: ${what}`);
    }
  },
);

test(
  `Client keeps its rules over ${PROCESSES} random lives of processes (C7, P5)`,
  { timeout: 240_000 },
  async () => {
    const watch = new Watch();
    try {
      for (let index = 0; index < PROCESSES; index++) {
        const { config, steps } = scheduleOf(SEED, index);
        const world = new ProcessWorld({
          config: { ...config, final: index % 4 === 0 ? "kill" : "close" },
          steps,
        });
        const wrongs = [...await world.run()];
        await drain();
        wrongs.push(...watch.take());
        assert.deepEqual(wrongs, [], `TEST_SEED=${SEED}, schedule ${index}`);
      }
    } finally {
      watch.end();
    }
  },
);
