// Runs the benches in turns (limit, ours, official, limit, …), so that a machine whose speed drifts is fair to all, and writes
// the medians and ratios to bench/RESULTS.md and bench/results.svg; then what things cost in memory, and how cost grows.
// `deno task bench`, or `deno task bench --quick` for less than two minutes and no files.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { measureCalls, renderServers } from "./growth.ts";
import { measureMemory } from "./memory.ts";
import { drawRatios } from "./plot.ts";
import { type Form, type Kind, median, programOf, runJson, type Runtime, RUNTIMES } from "./runtimes.ts";

interface Work {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** Whether more is better. */
  readonly rising: boolean;
  readonly kinds: readonly Kind[];
  readonly runtimes: readonly Runtime[];
  readonly form: Form;
  readonly rounds: number;
  /** How often it is run in a round. */
  readonly runs: number;
  /** What a run prints, as the figure of this work. */
  readonly figure: (printed: Record<string, number>) => number;
  /** Whether the target of section 14 of the design is met. */
  readonly target: string | Readonly<Partial<Record<Runtime, string>>>;
  readonly isMet: (figures: Record<Kind, number>, runtime: Runtime) => boolean;
}

const isQuick = process.argv.includes("--quick");
const ROUNDS = isQuick ? 2 : 5;
const ALL: readonly Kind[] = ["limit", "ours", "official"];
/** As many times as long as the limit a start may take. */
const START_TARGETS: Readonly<Record<Form, Readonly<Partial<Record<Runtime, number>>>>> = {
  source: { bun: 3, deno: 1.7 },
  tarball: { node: 1.2, bun: 2, deno: 1.3 },
};

const WORKS: readonly Work[] = [
  {
    name: "pipelined",
    title: "echo of 100 B, 64 in flight",
    unit: "calls/s",
    rising: true,
    kinds: ALL,
    runtimes: RUNTIMES,
    form: "source",
    rounds: ROUNDS,
    runs: 1,
    figure: ({ perSecond }) => perSecond!,
    target: "≥ 0.8 of the limit, ≥ 5 × official",
    isMet: ({ limit, ours, official }) => ours >= 0.8 * limit && ours >= 5 * official,
  },
  {
    name: "sequential",
    title: "one at a time",
    unit: "µs/call",
    rising: false,
    kinds: ALL,
    runtimes: RUNTIMES,
    form: "source",
    rounds: ROUNDS,
    runs: 1,
    figure: ({ us }) => us!,
    target: "≤ 1.15 × the limit",
    isMet: ({ limit, ours }) => ours <= 1.15 * limit,
  },
  {
    name: "large",
    title: "8 MiB results",
    unit: "MB/s",
    rising: true,
    kinds: ALL,
    runtimes: RUNTIMES,
    form: "source",
    rounds: ROUNDS,
    runs: 1,
    figure: ({ mbPerSecond }) => mbPerSecond!,
    target: "≥ 0.9 of the limit",
    isMet: ({ limit, ours }) => ours >= 0.9 * limit,
  },
  toStart("tarball", "spawn to first answer"),
  toStart("source", "spawn to first answer, of source modules"),
  {
    name: "unread",
    title: "4 000 × 100 KB answers unread",
    unit: "MB grown",
    rising: false,
    kinds: ["ours", "official"],
    runtimes: RUNTIMES,
    form: "source",
    rounds: 1,
    runs: 1,
    figure: ({ growthMb }) => growthMb!,
    target: "< 16 MB",
    isMet: ({ ours }) => ours < 16,
  },
];

const samples = new Map<string, number[]>();

for (let round = 0; round < ROUNDS; round++) {
  for (const work of WORKS) {
    if (round >= work.rounds) continue;
    for (const runtime of work.runtimes) {
      for (const kind of Array.from({ length: work.runs }, () => work.kinds).flat()) {
        const key = keyOf(work, runtime, kind);
        const figure = work.figure(run(work, runtime, kind));
        samples.set(key, [...samples.get(key) ?? [], figure]);
        process.stderr.write(`${key}: ${format(figure)} ${work.unit}\n`);
      }
    }
  }
}

const rows = WORKS.flatMap((work) =>
  work.runtimes.map((runtime) => {
    const figures = { limit: NaN, ours: NaN, official: NaN };
    for (const kind of work.kinds) figures[kind] = median(samples.get(keyOf(work, runtime, kind))!);
    return { work, runtime, figures, isMet: work.isMet(figures, runtime) };
  })
);
const table = renderTable();
process.stdout.write(`${table}\n`);
if (!isQuick) {
  const costs = `${await renderGrowth()}\n${await renderMemory()}`;
  const peers = renderPythonPeer();
  process.stdout.write(`${costs}\n${peers}\n`);
  writeFileSync("bench/RESULTS.md", `${table}\n${costs}${peers === "" ? "" : `\n${peers}`}`);
  const bars = rows.filter(({ work }) => work.kinds.length === 3).map(({ work, runtime, figures }) => ({
    group: work.title,
    label: runtime,
    ours: ratio(work, figures.ours, figures.limit),
    official: ratio(work, figures.official, figures.limit),
  }));
  writeFileSync("bench/results.svg", drawRatios(bars));
}

/** A start of both ends, of which the official SDK has the same modules in any form. */
function toStart(form: Form, title: string): Work {
  const targets = START_TARGETS[form];
  const runtimes = RUNTIMES.filter((runtime) => targets[runtime] !== undefined);
  return {
    name: "start",
    title,
    unit: "ms",
    rising: false,
    kinds: ALL,
    runtimes,
    form,
    rounds: ROUNDS,
    runs: 3,
    figure: ({ ms }) => ms!,
    target: Object.fromEntries(runtimes.map((runtime) => [runtime, `≤ ${targets[runtime]} × the limit`])),
    isMet: ({ limit, ours }, runtime) => ours <= targets[runtime]! * limit,
  };
}

function run(work: Work, runtime: Runtime, kind: Kind): Record<string, number> {
  const server = programOf(runtime, `${kind}_server`, work.form);
  // A client that is none of ours watches the memory, so the same one watches all.
  const client = work.name === "unread"
    ? [...programOf("node", "unread"), isQuick ? "1000" : "4000", "100000"]
    : [...programOf(runtime, "drive", work.form), kind, work.name];
  const calls = isQuick
    ? { pipelined: 12_000, sequential: 1_000, large: 2 }
    : { pipelined: 80_000, sequential: 8_000, large: 6 };
  // What takes several times as long is as sure after fewer calls.
  const share = kind === "official" ? 0.4 : 1;
  return runJson([...client, ...server], {
    CALLS: String(Math.ceil((calls[work.name as keyof typeof calls] ?? 0) * share)),
    WARM_UP_CALLS: String((isQuick ? 5_000 : 20_000) * share),
  });
}

function keyOf(work: Work, runtime: Runtime, kind: Kind): string {
  return `${work.name} ${runtime} ${kind} ${work.form}`;
}

/** As good as the other is 1; better is more. */
function ratio(work: Work, one: number, other: number): number {
  return work.rising ? one / other : other / one;
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
    const target = typeof work.target === "string" ? work.target : work.target[runtime];
    const name = `${work.title} (${work.unit})`;
    return `| ${name} | ${runtime} | ${format(official)} | ${format(ours)} | ${
      format(limit)
    } | ${ofLimit} | ${ofOfficial} | ${target} | ${isMet ? "yes" : "no"} |`;
  });
  return [
    "# Results",
    "",
    `Medians of ${ROUNDS} rounds taken in turns in one run, both ends of one kind, on ${machine()}.`,
    "Ratios count from bad to good: 1 is as good as the limit, 3 is three times as good as the official SDK. Rates are taken",
    `after ${isQuick ? "5 000" : "20 000"} calls of warm-up, two fifths of that with the official SDK.`,
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
  return [
    "## How cost grows",
    "",
    "Both ends ours, on Deno. One server, by calls in flight:",
    "",
    "| in flight | calls/s |",
    "| --- | --- |",
    ...calls.map(({ inFlight, perSecond }) => `| ${inFlight} | ${format(perSecond)} |`),
    "",
    renderServers([1, 10, 100], 1_000),
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

/** A server in another language, if `PEER_PYTHON` is an interpreter that has the package `mcp`. */
function renderPythonPeer(): string {
  const python = process.env["PEER_PYTHON"] ?? "";
  if (python === "") {
    process.stderr.write("PEER_PYTHON names no interpreter: no server of the Python SDK is measured\n");
    return "";
  }
  const lines = RUNTIMES.map((runtime) => {
    const rates = (["ours", "official"] as const).map((kind) => {
      const client = [...programOf(runtime, "drive"), kind, "pipelined"];
      const { perSecond } = runJson([...client, python, "bench/programs/python_server.py"], {
        CALLS: "2000",
        WARM_UP_CALLS: "200",
      });
      return format(perSecond!);
    });
    return `| ${runtime} | ${rates.join(" | ")} |`;
  });
  return [
    "## A server of the Python SDK",
    "",
    "Echo of 100 B, 64 in flight, in calls a second, by the client:",
    "",
    "| runtime | ours | official SDK |",
    "| --- | --- | --- |",
    ...lines,
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
