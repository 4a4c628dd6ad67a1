/** Runs of `doctor` in this process, on servers of the test. */

import { fileURLToPath } from "node:url";
import { ROOT } from "./_sources.ts";
import { strangerCommand } from "./_stranger.ts";
import { Examination, type Examined } from "../internal/cli/doctor/examination.ts";
import { DEFAULTS, type DoctorOptions } from "../internal/cli/doctor/options.ts";
import { CATALOGUE, TABLE } from "../internal/cli/doctor/table.ts";
import type { Verdict } from "../internal/cli/doctor/verdict.ts";
import { isSelected } from "../internal/cli/doctor/selection.ts";
import { detectRuntime } from "../internal/runtime/detect.ts";
import type { DoctorFixture } from "./doctor_fixtures.ts";

/** Examines a server. */
export async function examine(
  command: readonly string[],
  options: Partial<DoctorOptions> = {},
): Promise<Examined> {
  const [program = "", ...args] = command;
  return await new Examination({
    ...DEFAULTS,
    launch: {
      command: program,
      args,
      cwd: undefined,
      env: {},
      inheritEnv: "all",
      passEnv: [],
      processGroup: true,
      stderr: "pipe",
    },
    runtime: await detectRuntime(),
    ...options,
  }, TABLE).run();
}

/** The command of the fixture server. */
export function fixtureCommand(args: readonly string[] = []): string[] {
  return strangerCommand("doctor_server.mjs", args);
}

/** What was said, by id; the worse of two eras. */
export function verdictsOf({ outcomes }: Examined): Map<string, Verdict> {
  const ranks: readonly Verdict[] = ["skip", "pass", "unknown", "note", "warn", "fail"];
  const verdicts = new Map<string, Verdict>();
  for (const { check: { id }, finding: { verdict } } of outcomes) {
    const before = verdicts.get(id);
    if (before === undefined || ranks.indexOf(verdict) > ranks.indexOf(before)) verdicts.set(id, verdict);
  }
  return verdicts;
}

/** What is asked of a fixture in a short run: its check, those of its group that share a process, and the watchers. */
export function neighboursOf(id: string): string[] {
  const check = CATALOGUE.find((each) => each.id === id)!;
  return CATALOGUE
    .filter((each) =>
      each.id === id || each.how === "watch" || each.how === "shared" && each.group === check.group
    )
    .map((each) => each.id);
}

/**
 * Runs a fixture, and says what is otherwise than it should be. `doctor` has limits in real time: what a busy machine has run into
 * is looked at again with more patience.
 */
export async function runFixture(
  fixture: DoctorFixture,
  { full = false }: { full?: boolean } = {},
): Promise<string[]> {
  let faults: string[] = [];
  for (const patience of [1, 3, 9]) {
    faults = await runFixtureOnce(fixture, full, patience);
    if (faults.length === 0) break;
  }
  return faults;
}

async function runFixtureOnce(fixture: DoctorFixture, full: boolean, patience: number): Promise<string[]> {
  const { name, id, verdict, also, era, serves = era, options } = fixture;
  const examined = await examine(fixtureCommand(["--break", name, "--eras", serves]), {
    confirm: full,
    maxStarts: 200,
    era,
    ...full ? {} : { only: neighboursOf(id) },
    ...options,
    // All checks have their bounds then, not only those that are to be hit.
    patience: patience * (options.patience ?? 1) * (full ? 2.5 : 1),
  });
  const faults: string[] = [];
  const verdicts = verdictsOf(examined);
  if (verdicts.get(id) !== verdict) {
    const said = examined.outcomes.filter(({ check }) => check.id === id).map(({ finding }) =>
      finding.summary
    );
    faults.push(
      `${name}: ${id} is ${verdicts.get(id) ?? "not there"} instead of ${verdict} (${said.join("; ")})`,
    );
  }
  for (const { check, finding } of examined.outcomes) {
    const isQuiet = ["pass", "skip", "unknown"].includes(finding.verdict);
    if (isQuiet || check.id === id || also.some((pattern) => isSelected(check, [pattern], []))) continue;
    faults.push(`${name}: ${check.id} is ${finding.verdict}, too (${finding.summary})`);
  }
  return faults;
}

/** Does something for each of many, some at a time. */
export async function eachOf<T>(
  values: readonly T[],
  jobs: number,
  act: (value: T) => Promise<void>,
): Promise<void> {
  const queue = [...values];
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (let value = queue.shift(); value !== undefined; value = queue.shift()) await act(value);
  }));
}

/** The path of a file of the repository. */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, `file://${ROOT}/`));
}
