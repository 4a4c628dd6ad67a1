// A thousand servers killed at random moments: `deno task chaos [lives] [seed]`, also `bun tests/chaos.ts` and, after the
// build, `node build/tests/chaos.js`.
import process from "node:process";
import { runChaos } from "./_chaos.ts";
import { randomSeed } from "./helpers.ts";

// deno-lint-ignore no-console
const say = (line: string): void => console.log(line);

const [lives = 1_000, seed = randomSeed()] = process.argv.slice(2).map(Number);
say(`seed ${seed}, ${lives} lives`);
const start = performance.now();
const { deaths, outcomes } = await runChaos({ lives, seed, say });
const table = (counts: Map<string, number>): void => {
  for (const [what, count] of [...counts].sort()) say(`  ${String(count).padStart(8)}  ${what}`);
};
say("deaths");
table(deaths);
say("calls");
table(outcomes);
say(`nothing is left after ${((performance.now() - start) / 1_000).toFixed(1)} s`);
