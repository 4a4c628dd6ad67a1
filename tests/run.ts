// The suite: `deno task test [--jobs=N] [deno|bun|node|docs|peers ...] [part of a file's name ...]`. Each test file is a process of
// its own on each runtime, and some run side by side.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { endGroupsOnSignals, runInGroup } from "./_child_group.ts";
import { ROOT } from "./_sources.ts";

const LEGS = ["deno", "bun", "node", "docs", "peers"] as const;
type Leg = typeof LEGS[number];

/** A file that has not ended by then hangs. */
const JOB_TIMEOUT_MS = 900_000;

/** What takes longest begins first, so that nothing long is left alone at the end. */
const LONGEST_FIRST = [
  ...[
    "runtime_adapter_test",
    "doctor_fixtures_test",
    "bundlers_test",
    "sdk_transport_server_test",
    "doctor_test",
  ],
  ...["sdk_transport_client_test", "matrix_test", "inspector_test", "package_test", "server_load_test"],
  ...[
    "cli_call_test",
    "cli_record_test",
    "doctor_",
    "spawn_",
    "server_process_test",
    "host_",
    "docs",
    "types_test",
  ],
  ...[
    "sdk_",
    "model_test",
    "framing_fuzz_test",
    "server_host_test",
    "line_splitter_test",
    "json_corpus_test",
  ],
];

/** They may have to fetch packages: the Inspector, and what `deno bundle` bundles with. */
const FETCHING = ["inspector_test.ts", "bundlers_test.ts"];

/** Node reads the certificates that a variable names at each start, which takes it longer than all the rest of its start. */
const { NODE_EXTRA_CA_CERTS: _, ...ENV_TO_START_SOON } = process.env;

interface Job {
  readonly leg: Leg;
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Outcome extends Job {
  readonly counts: Counts | undefined;
  readonly seconds: number;
  /** Why it counts as failed; undefined if all is well. */
  readonly problem: string | undefined;
}

// deno-lint-ignore no-console
const say = (line: string): void => console.log(line);

const { values, positionals } = parseArgs({ options: { jobs: { type: "string" } }, allowPositionals: true });
const legs = positionals.filter((word): word is Leg => LEGS.some((leg) => leg === word));
const parts = positionals.filter((word) => !LEGS.some((leg) => leg === word));
/** Three for each core: most files wait for a process or a timer half of the time. */
const width = Number(values.jobs ?? Math.min(3 * availableParallelism(), 16));
if (!Number.isInteger(width) || width < 1) {
  throw new RangeError(`--jobs must be a positive integer, got ${values.jobs}`);
}

const begin = performance.now();
const jobs = collectJobs(legs.length === 0 ? LEGS : legs).filter(({ name }) =>
  parts.length === 0 || parts.some((part) => name.includes(part))
);
if (jobs.length === 0) throw new Error(`Cannot run anything: no file has ${parts.join(" or ")} in its name`);

endGroupsOnSignals();
const outcomes: Outcome[] = [];
/** What runs as JavaScript waits for it; the others do not. */
const building = jobs.some(isBuilt) ? build() : undefined;
await Promise.all(Array.from({ length: width }, runJobs));
process.exitCode = report();

function collectJobs(wanted: readonly Leg[]): Job[] {
  const files = listTests("tests");
  const bun = join(ROOT, "node_modules/.bin/bun");
  const onNode = (leg: Leg, path: string, name: string): Job => ({
    leg,
    name,
    command: ["node", "--test-reporter=spec", `build/${path}/${name.replace(/\.ts$/, ".js")}`],
  });
  const byLeg: { readonly [leg in Leg]: () => Job[] } = {
    deno: () =>
      files.map((name) => ({
        leg: "deno",
        name,
        command: [process.execPath, "test", "-A", "--no-check", `tests/${name}`],
      })),
    bun: () =>
      files.map((name) => ({
        leg: "bun",
        name,
        command: [bun, "test", "--timeout=60000", `./tests/${name}`],
      })),
    node: () => files.map((name) => onNode("node", "tests", name)),
    docs: () => [{
      leg: "docs",
      name: "docs",
      command: [process.execPath, "test", "-A", "--doc", "--ignore=tests,interop,build,bench"],
    }],
    peers: () => listTests("tests/peers").map((name) => onNode("peers", "tests/peers", name)),
  };
  const all = wanted.flatMap((leg) => byLeg[leg]());
  return all.sort((left, right) => rankOf(left) - rankOf(right));
}

function listTests(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter((name) => name.endsWith("_test.ts")).sort();
}

function rankOf({ name }: Job): number {
  const rank = LONGEST_FIRST.findIndex((start) => name.startsWith(start));
  return rank < 0 ? LONGEST_FIRST.length : rank;
}

function isBuilt({ leg }: Job): boolean {
  return leg === "node" || leg === "peers";
}

/** Compiles all once for Node, which also checks the types of the library and of all tests. */
async function build(): Promise<boolean> {
  const start = performance.now();
  const { code, output } = await runInGroup([process.execPath, "task", "build"], {
    cwd: ROOT,
    timeoutMs: JOB_TIMEOUT_MS,
  });
  const isGood = code === 0 && existsSync(join(ROOT, "build/package.json"));
  say(`${isGood ? "ok  " : "FAIL"}  build  ${inSeconds(performance.now() - start)}`);
  if (!isGood) say(indent(output));
  return isGood;
}

async function runJobs(): Promise<void> {
  let isReady = building === undefined;
  for (;;) {
    // Until the build is there, those run that need none.
    const next = isReady ? 0 : jobs.findIndex((job) => !isBuilt(job));
    if (next < 0) {
      await building;
      isReady = true;
      continue;
    }
    const [job] = jobs.splice(next, 1);
    if (job === undefined) return;
    outcomes.push(await runJob(job));
    void building?.then(() => isReady = true);
  }
}

async function runJob(job: Job): Promise<Outcome> {
  if (isBuilt(job) && !await building) {
    return { ...job, counts: undefined, seconds: 0, problem: "it could not be built" };
  }
  const start = performance.now();
  const { code, output, isTimedOut } = await runInGroup(job.command, {
    cwd: ROOT,
    env: isBuilt(job) && !FETCHING.includes(job.name) ? ENV_TO_START_SOON : process.env,
    timeoutMs: JOB_TIMEOUT_MS,
  });
  const took = performance.now() - start;
  const counts = readCounts(job.leg, output);
  const problem = problemOf(code, isTimedOut, counts);
  const told = counts === undefined ? "no totals" : describeCounts(counts);
  say(
    `${problem === undefined ? "ok  " : "FAIL"}  ${job.leg.padEnd(5)}  ${job.name}  ${told}  ${
      inSeconds(took)
    }`,
  );
  if (problem !== undefined) say(`${indent(output)}\n      ${job.leg} ${job.name}: ${problem}`);
  return { ...job, counts, seconds: took / 1_000, problem };
}

/** A file that says nothing of tests has not run them, whatever its exit code is. */
function problemOf(code: number | null, isTimedOut: boolean, counts: Counts | undefined): string | undefined {
  if (isTimedOut) return `still running after ${inSeconds(JOB_TIMEOUT_MS)}`;
  if (counts !== undefined && counts.failed > 0) return `${counts.failed} failed`;
  if (code !== 0) return `it ended with ${code === null ? "a signal" : `code ${code}`}`;
  if (counts === undefined) return "it printed no totals";
  return counts.passed + counts.skipped === 0 ? "it has no tests" : undefined;
}

/** The totals that a runner prints at its end. */
function readCounts(leg: Leg, output: string): Counts | undefined {
  if (leg === "deno" || leg === "docs") {
    const line = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed(?:.*? \| (\d+) ignored)?/m.exec(output);
    return line === null ? undefined : toCounts(line[1], line[2], line[3]);
  }
  const isBun = leg === "bun";
  const count = (word: string): string | undefined =>
    (isBun ? new RegExp(`^ *(\\d+) ${word}$`, "m") : new RegExp(`^(?:ℹ|#) ${word} (\\d+)$`, "m")).exec(output)
      ?.[1];
  if (count("pass") === undefined || count("fail") === undefined) return undefined;
  const failed = Number(count("fail")) + Number(count("cancelled") ?? 0);
  return toCounts(count("pass"), String(failed), count(isBun ? "skip" : "skipped"));
}

function toCounts(passed = "0", failed = "0", skipped = "0"): Counts {
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

function describeCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

function report(): number {
  const failing = outcomes.filter(({ problem }) => problem !== undefined);
  say("");
  for (const { leg, name, problem } of failing) say(`FAIL  ${leg}  ${name}: ${problem}`);
  for (const leg of LEGS) {
    const own = outcomes.filter((outcome) => outcome.leg === leg);
    if (own.length === 0) continue;
    const sum = { passed: 0, failed: 0, skipped: 0 };
    for (const { counts } of own) {
      for (const key of ["passed", "failed", "skipped"] as const) sum[key] += counts?.[key] ?? 0;
    }
    const seconds = own.reduce((total, outcome) => total + outcome.seconds, 0);
    const state = own.every(({ problem }) => problem === undefined) ? "ok  " : "FAIL";
    say(
      `${state}  ${leg.padEnd(5)}  ${describeCounts(sum)}, ${own.length} files in ${
        inSeconds(1_000 * seconds)
      }`,
    );
  }
  const cpuMs = childrenCpuMs();
  const cpu = cpuMs === undefined ? "" : `, ${inSeconds(cpuMs)} of processors' time`;
  say(`${outcomes.length} files, ${width} at a time, in ${inSeconds(performance.now() - begin)}${cpu}`);
  return failing.length === 0 ? 0 : 1;
}

/** How long what was run has kept processors busy, whatever else they had to do. Only Linux tells, in its hundredths of a second. */
function childrenCpuMs(): number | undefined {
  if (process.platform !== "linux") return undefined;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "      ");
}
