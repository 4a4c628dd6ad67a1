// Random lives of clients and servers, in memory: `deno task model [schedules] [seed]`, or one of them again:
// `deno task model --replay '<schedule>'`. Also `bun tests/model.ts` and, after the build, `node build/tests/model.js`.
import process from "node:process";
import { runModel, runSchedule, Watch } from "./_model.ts";
import { randomSeed } from "./helpers.ts";

// deno-lint-ignore no-console
const say = (line: string): void => console.log(line);

const [first, second] = process.argv.slice(2);
if (first === "--replay") {
  const wrongs = await runSchedule(JSON.parse(second!), new Watch());
  say(wrongs.join("\n") || "nothing is wrong");
  process.exit(wrongs.length > 0 ? 1 : 0);
}
const [schedules = 100_000, seed = randomSeed()] = [first, second].map((given) =>
  given && Number(given) || undefined
);
say(`seed ${seed}, ${schedules} schedules`);
const start = performance.now();
try {
  const tally = await runModel({ schedules, seed, say });
  for (const [what, count] of [...tally].sort()) say(`  ${String(count).padStart(8)}  ${what}`);
  say(`nothing is wrong after ${((performance.now() - start) / 1_000).toFixed(1)} s`);
} catch (error) {
  say((error as Error).message);
  process.exit(1);
}
