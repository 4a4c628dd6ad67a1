// Runs the benches in turns (limit, ours, official, limit, …), so that a machine whose speed drifts is fair to all, and writes
// the medians and ratios to bench/RESULTS.md and bench/results.svg; then what things cost in memory, and how cost grows.
// `deno task bench`, or `deno task bench --quick` for less than two minutes and no files.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { measureCalls, measureServers } from "./growth.ts";
import { measureMemory } from "./memory.ts";
import { drawRatios } from "./plot.ts";

export type Kind = "limit" | "ours" | "official";
type Runtime = "node" | "bun" | "deno";

interface Work {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** Whether more is better. */
  readonly rising: boolean;
  readonly kinds: readonly Kind[];
  readonly rounds: number;
  /** What a run prints, as the figure of this work. */
  readonly figure: (printed: Record<string, number>) => number;
  /** Whether the target of section 14 of the design is met. */
  readonly target: string;
  readonly isMet: (figures: Record<Kind, number>) => boolean;
}

const isQuick = process.argv.includes("--quick");
const ROUNDS = isQuick ? 2 : 5;
const ALL: readonly Kind[] = ["limit", "ours", "official"];

const WORKS: readonly Work[] = [
  {
    name: "pipelined",
    title: "echo of 100 B, 64 in flight",
    unit: "calls/s",
    rising: true,
    kinds: ALL,
    rounds: ROUNDS,
    figure: ({ perSecond }) => perSecond!,
    target: "≥ 0.75 of the limit, ≥ 3.5 × official",
    isMet: ({ limit, ours, official }) => ours >= 0.75 * limit && ours >= 3.5 * official,
  },
  {
    name: "sequential",
    title: "one at a time",
    unit: "µs/call",
    rising: false,
    kinds: ALL,
    rounds: ROUNDS,
    figure: ({ us }) => us!,
    target: "≤ 1.25 × the limit",
    isMet: ({ limit, ours }) => ours <= 1.25 * limit,
  },
  {
    name: "large",
    title: "8 MiB results",
    unit: "MB/s",
    rising: true,
    kinds: ALL,
    rounds: ROUNDS,
    figure: ({ mbPerSecond }) => mbPerSecond!,
    target: "≥ 0.8 of the limit",
    isMet: ({ limit, ours }) => ours >= 0.8 * limit,
  },
  {
    name: "start",
    title: "spawn to first answer",
    unit: "ms",
    rising: false,
    kinds: ALL,
    rounds: ROUNDS,
    figure: ({ ms }) => ms!,
    target: "≤ 1.3 × the limit",
    isMet: ({ limit, ours }) => ours <= 1.3 * limit,
  },
  {
    name: "unread",
    title: "4 000 × 100 KB answers unread",
    unit: "MB grown",
    rising: false,
    kinds: ["ours", "official"],
    rounds: 1,
    figure: ({ growthMb }) => growthMb!,
    target: "< 32 MB",
    isMet: ({ ours }) => ours < 32,
  },
];

const RUNTIMES: readonly Runtime[] = ["node", "bun", "deno"];
const samples = new Map<string, number[]>();

for (let round = 0; round < ROUNDS; round++) {
  for (const work of WORKS) {
    for (const runtime of RUNTIMES) {
      for (const kind of work.kinds) {
        if (round >= work.rounds) continue;
        const key = keyOf(work, runtime, kind);
        const figure = work.figure(run(work, runtime, kind));
        samples.set(key, [...samples.get(key) ?? [], figure]);
        process.stderr.write(`${key}: ${format(figure)} ${work.unit}\n`);
      }
    }
  }
}

const rows = WORKS.flatMap((work) =>
  RUNTIMES.map((runtime) => {
    const figures = { limit: NaN, ours: NaN, official: NaN };
    for (const kind of work.kinds) figures[kind] = median(samples.get(keyOf(work, runtime, kind))!);
    return { work, runtime, figures, isMet: work.isMet(figures) };
  })
);
const table = renderTable();
process.stdout.write(`${table}\n`);
if (!isQuick) {
  const costs = `${await renderGrowth()}\n${await renderMemory()}`;
  process.stdout.write(`${costs}\n`);
  writeFileSync("bench/RESULTS.md", `${table}\n${costs}`);
  const bars = rows.filter(({ work }) => work.kinds.length === 3).map(({ work, runtime, figures }) => ({
    group: work.title,
    label: runtime,
    ours: ratio(work, figures.ours, figures.limit),
    official: ratio(work, figures.official, figures.limit),
  }));
  writeFileSync("bench/results.svg", drawRatios(bars));
}

function run(work: Work, runtime: Runtime, kind: Kind): Record<string, number> {
  const isBuilt = runtime === "node";
  const program = (name: string) => isBuilt ? `build/bench/programs/${name}.js` : `bench/programs/${name}.ts`;
  const command: Record<Runtime, string[]> = {
    node: ["node"],
    bun: ["node_modules/.bin/bun"],
    deno: [process.execPath, "run", "-A", "--no-check"],
  };
  const server = [...command[runtime], program(`${kind}_server`)];
  // A client that is none of ours watches the memory, so the same one watches all.
  const client = work.name === "unread"
    ? [...command.node, "build/bench/programs/unread.js", isQuick ? "1000" : "4000", "100000"]
    : [...command[runtime], program("drive"), kind, work.name];
  const calls = isQuick
    ? { pipelined: "12000", sequential: "1000", large: "2" }
    : { pipelined: "80000", sequential: "8000", large: "6" };
  const env = {
    ...process.env,
    CALLS: calls[work.name as keyof typeof calls] ?? "",
    WARM_UP_CALLS: isQuick ? "5000" : "20000",
  };
  const [file, ...args] = [...client, ...server];
  return JSON.parse(
    execFileSync(file!, args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "inherit"] }),
  );
}

function keyOf(work: Work, runtime: Runtime, kind: Kind): string {
  return `${work.name} ${runtime} ${kind}`;
}

/** As good as the other is 1; better is more. */
function ratio(work: Work, one: number, other: number): number {
  return work.rising ? one / other : other / one;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function format(value: number): string {
  if (Number.isNaN(value)) return "–";
  return value >= 1_000 ? Math.round(value).toLocaleString("en").replaceAll(",", " ") : value.toPrecision(3);
}

function renderTable(): string {
  const lines = rows.map(({ work, runtime, figures, isMet }) => {
    const { limit, ours, official } = figures;
    const ofLimit = Number.isNaN(limit) ? "–" : ratio(work, ours, limit).toFixed(2);
    const ofOfficial = ratio(work, ours, official).toFixed(1);
    const name = `${work.title} (${work.unit})`;
    return `| ${name} | ${runtime} | ${format(official)} | ${format(ours)} | ${
      format(limit)
    } | ${ofLimit} | ${ofOfficial} | ${work.target} | ${isMet ? "yes" : "no"} |`;
  });
  return [
    "# Results",
    "",
    `Medians of ${ROUNDS} rounds taken in turns in one run, both ends of one kind, on ${machine()}.`,
    "Ratios count from bad to good: 1 is as good as the limit, 3 is three times as good as the official SDK. Rates are taken",
    `after ${isQuick ? "5 000" : "20 000"} calls of warm-up.`,
    "",
    "| work | runtime | official SDK | ours | limit | ours : limit | ours : official | target | met |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
}

async function renderGrowth(): Promise<string> {
  const calls = [];
  for (const inFlight of [1, 64, 256, 1_024]) calls.push(await measureCalls(inFlight));
  const servers = [];
  for (const count of [1, 10, 100]) servers.push(await measureServers(count));
  return [
    "## How cost grows",
    "",
    "Both ends ours, on Deno. One server, by calls in flight:",
    "",
    "| in flight | calls/s |",
    "| --- | --- |",
    ...calls.map(({ inFlight, perSecond }) => `| ${inFlight} | ${format(perSecond)} |`),
    "",
    "Servers that are started at once, called once each at the same time, and closed:",
    "",
    "| servers | started and connected (ms) | called (ms) | closed and reaped (ms) |",
    "| --- | --- | --- | --- |",
    ...servers.map(({ servers, startMs, callMs, closeMs }) =>
      `| ${servers} | ${format(startMs)} | ${format(callMs)} | ${format(closeMs)} |`
    ),
    "",
  ].join("\n");
}

async function renderMemory(): Promise<string> {
  const costs = await measureMemory();
  return [
    "## What things cost in memory",
    "",
    "On Deno, in one process, after a collection.",
    "",
    "| what | bytes each |",
    "| --- | --- |",
    ...costs.map(({ what, bytes }) => `| ${what} | ${format(bytes)} |`),
    "",
  ].join("\n");
}

function machine(): string {
  const version = (file: string, ...args: string[]) =>
    execFileSync(file, args, { encoding: "utf8" }).trim().split("\n")[0]!;
  const sdk =
    JSON.parse(readFileSync("node_modules/@modelcontextprotocol/server/package.json", "utf8")).version;
  const cpus = readFileSync("/proc/cpuinfo", "utf8").match(/^processor/gm)?.length;
  return `${cpus} cores of Linux, Node ${version("node", "--version").slice(1)}, Bun ${
    version("node_modules/.bin/bun", "--version")
  }, ${
    version(process.execPath, "--version").replace(/ \(.*/, "").replace("deno", "Deno")
  }, official SDK ${sdk}`;
}
