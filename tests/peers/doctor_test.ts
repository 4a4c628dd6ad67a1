// `doctor` on servers that nobody here wrote, and on our own: no check is red for what keeps the rules. What is known to
// break one is named, and shown by hand in docs/doctor.md.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { ROOT } from "../_sources.ts";
import { examine } from "../doctor_helpers.ts";

const SLOW = { timeout: 240_000 };
const REFERENCE = `${ROOT}/node_modules/@modelcontextprotocol`;
/** A server in JavaScript: as its users run it with `TEST_FULL=1`, and else on Bun, which needs half of Node's time for it. */
const script = (path: string, ...args: string[]): string[] => [
  process.env["TEST_FULL"] === "1" ? process.execPath : `${ROOT}/node_modules/.bin/bun`,
  path,
  ...args,
];
const peer = (name: string): string[] => script(`${ROOT}/tests/peers/fixtures/${name}`);

/** More servers on an SDK that is there already: they are looked at with `TEST_FULL=1`. */
const MORE = [
  "server-filesystem",
  "server-memory",
  "server-sequential-thinking",
  "examples/weather_server.ts",
];

/** By name: the command, and the checks of which it is known that it fails them. */
const SERVERS: ReadonlyMap<string, readonly [command: string[], fails: readonly string[]]> = new Map([
  ["the SDK 1.x", [peer("sdk_v1_server.mjs"), []]],
  // It looks at the version of the first request alone.
  ["the SDK 2.x", [peer("sdk_v2_server.mjs"), ["ERA-06"]]],
  ["server-everything", [script(`${REFERENCE}/server-everything/dist/index.js`), []]],
  ["server-filesystem", [script(`${REFERENCE}/server-filesystem/dist/index.js`, ROOT), []]],
  ["server-memory", [script(`${REFERENCE}/server-memory/dist/index.js`), []]],
  ["server-sequential-thinking", [script(`${REFERENCE}/server-sequential-thinking/dist/index.js`), []]],
  ["examples/everything_server.ts", [script(`${ROOT}/build/examples/everything_server.js`), []]],
  ["examples/weather_server.ts", [script(`${ROOT}/build/examples/weather_server.js`), []]],
  ["a server by hand in Python", [["python3", `${ROOT}/tests/fixtures/doctor_python.py`], []]],
]);

const hasPython = spawnSync("python3", ["--version"]).status === 0;

for (const [name, [command, fails]] of SERVERS) {
  const skip = command[0] === "python3" && !hasPython
    ? "there is no python3 here"
    : MORE.includes(name) && process.env["TEST_FULL"] !== "1"
    ? "set TEST_FULL=1"
    : false;
  test(`doctor finds nothing red in ${name} but what is known (L3)`, { ...SLOW, skip }, async () => {
    const { outcomes, usable, facts } = await examine(command, { quick: true });
    assert.ok(usable);
    const red = outcomes.filter(({ finding }) => finding.verdict === "fail");
    assert.deepEqual(
      red.map(({ check, finding }) => `${check.id}: ${finding.summary}`).filter((text) =>
        !fails.includes(text.split(":")[0]!)
      ),
      [],
    );
    assert.deepEqual([...new Set(red.map(({ check }) => check.id))], [...fails]);
    assert.equal(facts.unstable, false);
  });
}
