// Breaks the library in small ways and looks whether the tests notice: `deno task mutations [--jobs=2] [area|id ...]`.
// Each edit is made in a copy of the repository, and only the tests that the row names are run.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { endGroupsOnSignals, runInGroup } from "../_child_group.ts";
import { ROOT } from "../_sources.ts";
import { AREAS, occurrences } from "./areas.ts";
import type { Mutation } from "./mutation.ts";

/** A test run that lasts longer hangs, which is one way to notice. */
const RUN_TIMEOUT_MS = 180_000;
const NOT_COPIED = new Set([".git", "node_modules", "build", "coverage"]);
const BUN = join(ROOT, "node_modules/.bin/bun");

type Runtime = NonNullable<Mutation["runtime"]>;
type Verdict = "killed" | "survived" | "stale" | "broken";
type Result = { readonly row: Mutation; readonly verdict: Verdict; readonly by: string };
type Run = { readonly passed: boolean; readonly by: string };

// deno-lint-ignore no-console
const say = (line: string): void => console.log(line);

const { values: options, positionals: wanted } = parseArgs({
  options: { jobs: { type: "string", default: "2" }, unchecked: { type: "boolean", default: false } },
  allowPositionals: true,
});

const rows = [...AREAS].flatMap(([area, list]) =>
  list.filter(({ id }) => wanted.length === 0 || wanted.includes(area) || wanted.includes(id))
);
if (rows.length === 0) throw new Error(`Cannot find a mutation: no area or id is ${wanted.join(", ")}`);

endGroupsOnSignals();
const results: Result[] = [];
const red = options.unchecked ? new Map<string, string>() : await runUnchanged();
const queue = [...rows];
await inCopies(async (copy) => {
  for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
    const result = await tryRow(copy, row);
    results.push(result);
    say(`${result.verdict.padEnd(8)}  ${row.id.padEnd(10)}  ${row.file}  ${result.by}`);
  }
});
process.exitCode = report();

/** The files that fail already as they are would notice everything: their rows cannot be judged. */
async function runUnchanged(): Promise<Map<string, string>> {
  const names = new Set(rows.flatMap((row) => row.tests.map((name) => `${row.runtime ?? "deno"} ${name}`)));
  const failing = new Map<string, string>();
  const waiting = [...names];
  say(`${names.size} test files as they are`);
  await inCopies(async (copy) => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const [runtime, file] = name.split(" ") as [Runtime, string];
      const { passed, by } = await runTests(copy, runtime, [file]);
      if (passed) continue;
      failing.set(name, by);
      say(`red       ${name}  ${by}`);
    }
  });
  return failing;
}

async function tryRow(copy: string, row: Mutation): Promise<Result> {
  const runtime = row.runtime ?? "deno";
  const failing = row.tests.find((name) => red.has(`${runtime} ${name}`));
  if (failing !== undefined) return { row, verdict: "broken", by: `${failing} fails without it` };
  const path = join(copy, row.file);
  const source = readFileSync(path, "utf8");
  const count = occurrences(source, row.find);
  if (count !== 1) return { row, verdict: "stale", by: `the text stands there ${count} times` };
  writeFileSync(path, source.replace(row.find, () => row.replace));
  try {
    const { passed, by } = await runTests(copy, runtime, row.tests);
    return { row, verdict: passed ? "survived" : "killed", by };
  } finally {
    writeFileSync(path, source);
  }
}

async function runTests(copy: string, runtime: Runtime, names: readonly string[]): Promise<Run> {
  const run = (...command: [string, ...string[]]) =>
    runInGroup(command, { cwd: copy, timeoutMs: RUN_TIMEOUT_MS });
  if (runtime === "node") {
    const built = await run("node", "node_modules/typescript/bin/tsc", "-p", ".", "--noCheck");
    if (built.code !== 0) return { passed: false, by: firstFailure(built.output) };
    await run("node", ".ci/build_package.mjs");
  }
  const files = names.map((name) => `./tests/${name}`);
  const { code, output, isTimedOut } = await run(...commandOf(runtime, files));
  if (isTimedOut) return { passed: false, by: `it hangs: still running after ${RUN_TIMEOUT_MS / 1_000} s` };
  return { passed: code === 0, by: code === 0 ? "" : firstFailure(output) };
}

function commandOf(runtime: Runtime, files: readonly string[]): [string, ...string[]] {
  if (runtime === "bun") return [BUN, "test", "--bail", "--timeout=60000", ...files];
  if (runtime === "deno") return [process.execPath, "test", "-A", "--no-check", "--fail-fast", ...files];
  return ["node", "--test", ...files.map((file) => `build/${file}`.replace(/\.ts$/, ".js"))];
}

/** The title of the first test that failed, in the words of whichever runner; without one, the first error. */
function firstFailure(output: string): string {
  const lines = output.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const words = [/\.\.\. FAILED/, /^\(fail\)/, /^(?:not ok|✖) /, /^error\b/i];
  const found = words.map((pattern) => lines.find((line) => pattern.test(line))).find((line) =>
    line !== undefined
  );
  return found ?? lines.at(-1) ?? "no output";
}

async function inCopies(work: (copy: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "mutations-"));
  try {
    await Promise.all(
      Array.from({ length: Math.min(Number(options.jobs), rows.length) }, (_, job) => {
        const copy = join(folder, String(job));
        cpSync(ROOT, copy, {
          recursive: true,
          filter: (source) => !NOT_COPIED.has(source.slice(ROOT.length + 1)),
        });
        symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "junction");
        return work(copy);
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(): number {
  const counted = results.filter(({ row }) => row.equivalent === undefined);
  const of = (verdict: Verdict): Result[] => counted.filter((result) => result.verdict === verdict);
  const killed = of("killed").length;
  const judged = killed + of("survived").length;
  say("");
  for (const { row, verdict, by } of counted) {
    if (verdict !== "killed") {
      say(`${verdict.padEnd(8)}  ${row.id}: ${verdict === "survived" ? row.breaks : by}`);
    }
  }
  for (const { row, verdict } of results) {
    if (row.equivalent === undefined) continue;
    if (verdict === "survived") say(`no effect  ${row.id}: ${row.equivalent}`);
    else say(`${verdict.padEnd(8)}  ${row.id}, which is said to have no effect`);
  }
  const unjudged = counted.length - judged;
  say(`${killed} of ${judged} noticed: ${(100 * killed / Math.max(judged, 1)).toFixed(1)} %`);
  if (unjudged > 0) say(`${unjudged} could not be judged`);
  return killed === judged && unjudged === 0 ? 0 : 1;
}
