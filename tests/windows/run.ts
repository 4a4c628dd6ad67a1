// The tests of processes on Windows: `deno task test:windows [node|deno|bun ...] [part of a file's name ...]`. Where this is no Windows,
// Windows builds of the runtimes run under Wine, which is set up once in the folder WINDOWS_CACHE, or in one of the system's
// temporary ones. Where Wine cannot be had, that is said, and nothing has failed.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../_sources.ts";
import { readJunit, type TestResult } from "./junit.ts";
import { openSystem, type TestSystem } from "./test_system.ts";
import { WINE_LIMITS } from "./wine_limits.ts";
import { WINDOWS_RUNTIMES, type WindowsRuntime } from "./windows_runtimes.ts";

const CACHE = process.env["WINDOWS_CACHE"] ?? join(tmpdir(), "mcp-stdio-windows");

/** What starts, ends and serves processes, and what reads what hosts on Windows write. */
const FILES = readdirSync(join(ROOT, "tests"))
  .filter((name) =>
    /^(runtime_adapter|windows|environment|command_line|tree_end|spawn_\w+|stderr_queue|process_\w+|server_process|server_serve|server_stdout|server_stderr|server_host|host_config|launch_all)_test\.ts$/
      .test(name)
  ).concat("windows/live_test.ts");

/** A file that has not ended by then hangs. */
const FILE_TIMEOUT_MS = 900_000;

interface Outcome {
  readonly runtime: WindowsRuntime;
  readonly file: string;
  readonly seconds: number;
  readonly results: readonly TestResult[];
  /** Why there are none. */
  readonly problem: string | undefined;
}

interface Failure extends TestResult {
  readonly runtime: WindowsRuntime;
  readonly file: string;
  /** Undefined if it is no matter of Wine. */
  readonly reason: string | undefined;
}

// deno-lint-ignore no-console
const say = (line: string): void => console.log(line);

const words = process.argv.slice(2);
const named = WINDOWS_RUNTIMES.filter((name) => words.includes(name));
const runtimes = named.length > 0 ? named : WINDOWS_RUNTIMES;
const parts = words.filter((word) => !WINDOWS_RUNTIMES.some((name) => name === word));
const files = FILES.filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)));

mkdirSync(CACHE, { recursive: true });
const system = openSystem(CACHE, runtimes, say);
if (typeof system === "string") say(`skipped: ${system}`);
else process.exitCode = await runAll(system);

async function runAll(system: TestSystem): Promise<number> {
  const outcomes: Outcome[] = [];
  try {
    for (const runtime of runtimes) {
      const program = system.prepare(runtime);
      for (const file of files) {
        const outcome = await runFile(system, runtime, program, file);
        outcomes.push(outcome);
        say(toRow(outcome));
      }
    }
  } finally {
    system.end();
  }
  return report(system, outcomes);
}

async function runFile(
  system: TestSystem,
  runtime: WindowsRuntime,
  program: string,
  file: string,
): Promise<Outcome> {
  const name = file.replaceAll("/", "-").replace(/\.ts$/, `-${runtime}`);
  const reportPath = join(CACHE, `${name}.xml`);
  const output = openSync(join(CACHE, `${name}.txt`), "w");
  rmSync(reportPath, { force: true });
  const [command = "", ...args] = system.command([
    program,
    ...argumentsFor(runtime, file, system.pathOf(reportPath)),
  ]);
  const begin = performance.now();
  const code = await new Promise<number | null | Error>((resolve) => {
    const child = spawn(command, args, {
      cwd: system.project,
      env: system.env,
      stdio: ["ignore", output, output],
    });
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve(new Error(`it has not ended within ${FILE_TIMEOUT_MS / 1_000} s`));
    }, FILE_TIMEOUT_MS);
    child.on("error", resolve).on("exit", (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
  const results = existsSync(reportPath) ? readJunit(readFileSync(reportPath, "utf8")) : [];
  const isTold = results.some(({ outcome }) => outcome === "failed") || code === 0 && results.length > 0;
  const problem = code instanceof Error
    ? code.message
    : isTold
    ? undefined
    : `it ended with code ${code} and told of ${results.length} tests: see ${join(CACHE, name)}.txt`;
  return { runtime, file, seconds: (performance.now() - begin) / 1_000, results, problem };
}

function argumentsFor(runtime: WindowsRuntime, file: string, report: string): string[] {
  switch (runtime) {
    case "node":
      return [
        "--test-reporter=junit",
        `--test-reporter-destination=${report}`,
        `build/tests/${file.replace(/\.ts$/, ".js")}`,
      ];
    case "deno":
      return ["test", "-A", "--no-check", "--no-lock", "--quiet", `--junit-path=${report}`, `tests/${file}`];
    case "bun":
      return [
        "test",
        "--timeout",
        "60000",
        "--reporter=junit",
        `--reporter-outfile=${report}`,
        `./tests/${file}`,
      ];
  }
}

function failuresOf({ runtime, file, results }: Outcome): Failure[] {
  const limits = (system as TestSystem).isWine ? WINE_LIMITS : [];
  return results.filter(({ outcome }) => outcome === "failed").map((result) => {
    const limit = limits.find(({ file: of, title, runtimes = WINDOWS_RUNTIMES }) =>
      of === file && runtimes.includes(runtime) && title.test(result.title)
    );
    return { ...result, runtime, file, reason: limit?.reason };
  });
}

function toRow(outcome: Outcome): string {
  const { runtime, file, seconds, results, problem } = outcome;
  const count = (wanted: string) => results.filter(({ outcome }) => outcome === wanted).length;
  const failures = failuresOf(outcome);
  const byWine = failures.filter(({ reason }) => reason !== undefined).length;
  const columns = [
    runtime.padEnd(4),
    file.padEnd(28),
    `${count("passed")} passed`.padStart(10),
    `${failures.length - byWine} failed`.padStart(9),
    `${byWine} by Wine`.padStart(9),
    `${count("skipped")} skipped`.padStart(10),
    `${seconds.toFixed(0)} s`.padStart(6),
  ];
  return `${columns.join("  ")}${problem === undefined ? "" : `  ${problem}`}`;
}

function report({ name }: TestSystem, outcomes: readonly Outcome[]): number {
  const failures = outcomes.flatMap(failuresOf);
  say(`\n${name}\n`);
  outcomes.map(toRow).forEach(say);
  const reasons = new Map<string, number>();
  for (const { outcome, detail } of outcomes.flatMap(({ results }) => results)) {
    if (outcome === "skipped" && detail !== "") reasons.set(detail, (reasons.get(detail) ?? 0) + 1);
  }
  if (reasons.size > 0) say("\nSkipped, as far as the runtime tells the reason:");
  for (const [reason, count] of reasons) say(`  ${count} x ${reason}`);
  const byWine = failures.filter(({ reason }) => reason !== undefined);
  const unexpected = failures.filter(({ reason }) => reason === undefined);
  if (byWine.length > 0) say("\nBecause of Wine, and not expected on Windows:");
  for (const { runtime, file, title, reason } of byWine) say(`  ${runtime} ${file}: ${title}\n    ${reason}`);
  if (unexpected.length > 0) say("\nFailed:");
  for (const { runtime, file, title, detail } of unexpected) {
    say(`  ${runtime} ${file}: ${title}\n    ${detail}`);
  }
  return unexpected.length > 0 || outcomes.some(({ problem }) => problem !== undefined) ? 1 : 0;
}
