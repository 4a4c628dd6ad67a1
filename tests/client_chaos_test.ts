import assert from "node:assert/strict";
import { test } from "node:test";
import { runChaos } from "./_chaos.ts";
import { testSeed } from "./helpers.ts";

test("Client survives servers that die at random moments, and nothing is left (P5, P8, C7, C9)", {
  timeout: 120_000,
}, async () => {
  const seed = testSeed();
  try {
    const { outcomes } = await runChaos({ lives: 16, clients: 2, seed });
    assert.ok(outcomes.get("list: result")! > 0 && outcomes.get("call: result")! > 0);
  } catch (error) {
    throw new Error(`Run it again with TEST_SEED=${seed}`, { cause: error });
  }
});
