// The whole table of checks and fixtures: `deno task test:doctor [NAME ...]`. Every check of its era runs on every fixture, and
// exactly those that the fixture names say something. It takes half an hour.
import process from "node:process";
import { FIXTURES } from "./doctor_fixtures.ts";
import { eachOf, runFixture } from "./doctor_helpers.ts";

// deno-lint-ignore no-console
const say = (line: string): void => console.log(line);

const wanted = process.argv.slice(2);
const fixtures = FIXTURES.filter(({ name }) =>
  wanted.length === 0 || wanted.some((start) => name.startsWith(start))
);
let failed = 0;
await eachOf(fixtures, 3, async (fixture) => {
  const faults = await runFixture(fixture, { full: true });
  failed += faults.length === 0 ? 0 : 1;
  say(faults.length === 0 ? `ok   ${fixture.name}` : `FAIL ${faults.join("\n     ")}`);
});
say(`${fixtures.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && fixtures.length > 0 ? 0 : 1;
