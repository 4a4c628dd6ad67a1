// Each check of `doctor` is proved by a server that breaks just its rule. Here a fixture runs its check, what shares a process
// with it, and everything that looks at lines; `deno task test:doctor` runs all checks on each.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CATALOGUE } from "../internal/cli/doctor/table.ts";
import { FIXTURES } from "./doctor_fixtures.ts";
import { eachOf, examine, fixtureCommand, runFixture, verdictsOf } from "./doctor_helpers.ts";
import { IS_FULL, share } from "./helpers.ts";

const SLOW = { timeout: 300_000 };
const JOBS = 3;

test("doctor: every check has a fixture, and every fixture a check (L3)", () => {
  const ids = CATALOGUE.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const proved = new Set(FIXTURES.map(({ id }) => id));
  assert.deepEqual(ids.filter((id) => !proved.has(id)), []);
  assert.deepEqual([...proved].filter((id) => !ids.includes(id)), []);
});

for (
  const part of ["START", "OUT", "ERR", "FRAME", "REQ", "NOTE", "ERA", "CAN", "PROG", "LOG", "LISTEN", "LIST"]
) proveGroup(part);
for (const part of ["CACHE", "TOOL", "ASK", "RES", "PROMPT", "COMP", "LOAD", "END"]) proveGroup(part);

/** Each fixture on one of the runtimes, so that each group is seen on each. */
function proveGroup(part: string): void {
  const all = FIXTURES.filter(({ id }) => id.split("-")[0] === part);
  const some = share(all);
  test(`doctor: of the ${part} fixtures exactly the right one is red (L3)`, SLOW, async () => {
    assert.notEqual(all.length, 0);
    const faults: string[] = [];
    await eachOf(some, JOBS, async (fixture) => void faults.push(...await runFixture(fixture)));
    assert.deepEqual(faults, []);
  });
}

test("doctor: a server that keeps every rule passes every check (L3)", SLOW, async () => {
  const tool = (name: string, args = {}) => ({ name, args });
  const examined = await examine(fixtureCommand(), {
    maxStarts: 200,
    slow: tool("slow", { ms: 600 }),
    progress: tool("progress"),
    log: tool("log"),
    ask: tool("ask"),
    change: tool("change"),
    crash: tool("crash"),
    lean: true,
    ...IS_FULL ? {} : { skip: ["load", "REQ-13", "FRAME-08", "ERA-12", "ERA-08"] },
  });
  const others = [...verdictsOf(examined)].filter(([, verdict]) => verdict !== "pass");
  // It writes nothing to stderr, and no text is named that it should echo.
  const expected = [["TOOL-05", "skip"], ...IS_FULL ? [["LOAD-01", "unknown"]] : []];
  assert.deepEqual(others.sort(), expected.sort());
  assert.equal(examined.facts.unstable, false);
});
