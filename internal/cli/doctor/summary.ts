/** What a run came to, as all reports tell it. */

import { type Check, type Group, GROUPS } from "./check.ts";
import type { Examined, Outcome } from "./examination.ts";
import { type Verdict, worst } from "./verdict.ts";

/** How strict the exit code is. */
export type Strictness = "must" | "should" | "advice";

/** A check with what was said about it in each era. */
export interface CheckSummary {
  readonly check: Check;
  readonly verdict: Verdict;
  /** The outcomes that have the verdict. */
  readonly outcomes: readonly Outcome[];
}

/** Checks by what was said, the worse verdict of two eras. */
export function summarize({ outcomes }: Pick<Examined, "outcomes">): CheckSummary[] {
  const byCheck = new Map<Check, Outcome[]>();
  for (const outcome of outcomes) byCheck.set(outcome.check, [...byCheck.get(outcome.check) ?? [], outcome]);
  return [...byCheck].map(([check, all]) => {
    const verdict = worst(all.map(({ finding }) => finding.verdict));
    return { check, verdict, outcomes: all.filter(({ finding }) => finding.verdict === verdict) };
  });
}

export type Counts = Record<Verdict, number>;

/** How many checks have each verdict. */
export function countVerdicts(verdicts: Iterable<Verdict>): Counts {
  const counts: Counts = { pass: 0, fail: 0, warn: 0, note: 0, skip: 0, unknown: 0 };
  for (const verdict of verdicts) counts[verdict]++;
  return counts;
}

/** The groups that have checks in this run, with theirs. */
export function byGroup(
  summaries: readonly CheckSummary[],
): Array<readonly [Group, readonly CheckSummary[]]> {
  return GROUPS.map((name) => [name, summaries.filter(({ check }) => check.group === name)] as const)
    .filter(([, checks]) => checks.length > 0);
}

/** Whether nothing stands against the server. `known` are findings of a former run. */
export function isOk(
  { outcomes, usable }: Examined,
  strictness: Strictness,
  known: ReadonlySet<string> = new Set(),
): boolean {
  return usable &&
    outcomes.every((outcome) => !failsRun(outcome.finding.verdict, strictness) || known.has(keyOf(outcome)));
}

/** Whether a verdict fails a run. */
export function failsRun(verdict: Verdict, strictness: Strictness): boolean {
  return BAD[strictness].includes(verdict);
}

const BAD: Readonly<Record<Strictness, readonly Verdict[]>> = {
  must: ["fail"],
  should: ["fail", "warn"],
  advice: ["fail", "warn", "note"],
};

/** A finding as a former run may have it, too. */
function keyOf({ check, era, finding }: Outcome): string {
  return `${check.id} ${era?.version ?? ""} ${finding.verdict}`;
}

/** What to mend first among fails, by the beginning of its id. */
const FIRST = ["START-01", "OUT-01", "OUT-06", "NOTE-01", "REQ"];

/** The one thing to do first; undefined if there is nothing. */
export function firstThing(summaries: readonly CheckSummary[]): CheckSummary | undefined {
  const rank = ({ check: { id } }: CheckSummary) => {
    const at = FIRST.findIndex((start) => id.startsWith(start));
    return at === -1 ? FIRST.length : at;
  };
  for (const verdict of ["fail", "warn"] as const) {
    const found = summaries.filter((each) => each.verdict === verdict).sort((one, other) =>
      rank(one) - rank(other)
    );
    if (found.length > 0) return found[0];
  }
  return undefined;
}
