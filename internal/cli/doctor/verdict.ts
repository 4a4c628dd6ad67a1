/** What a check says, and how its level bounds that. */

/** What a rule is: the specification's word, or ours. */
export type Level = "MUST" | "SHOULD" | "ADVICE";

/** What came of a check. `unknown`: what was sent proves nothing either way. */
export type Verdict = "pass" | "fail" | "warn" | "note" | "skip" | "unknown";

/** What a verdict stands on; texts are made fit to show. */
export interface Evidence {
  /** The number of the process in this run. */
  readonly process?: number | undefined;
  /** The check in whose process it was. */
  readonly check?: string | undefined;
  readonly sent?: string | undefined;
  readonly got?: string | undefined;
  /** The bytes that came, where they are no UTF-8. */
  readonly gotBase64?: string | undefined;
  /** From the sending to the line, in milliseconds. */
  readonly ms?: number | undefined;
  /** A bound that was hit. */
  readonly waitedMs?: number | undefined;
}

/** A verdict with its reason. */
export interface Finding {
  readonly verdict: Verdict;
  readonly summary: string;
  readonly evidence: readonly Evidence[];
  /** How to mend it, where what came tells more than the check can know. */
  readonly mend?: string;
  /** The stimulus has ended the server, which is worse than what the check is about. */
  readonly ended?: boolean;
}

/** Makes a finding. */
export type Make = (summary: string, ...evidence: readonly Evidence[]) => Finding;

const make = (verdict: Verdict): Make => (summary, ...evidence) => ({ verdict, summary, evidence });

/** The rule is kept. */
export const pass: Make = make("pass");
/** A MUST is broken, proved by bytes. */
export const fail: Make = make("fail");
/** A SHOULD is broken, or something milder. */
export const warn: Make = make("warn");
/** Breaks no rule, and somebody in the field. */
export const note: Make = make("note");
/** A condition is not there. */
export const skip: Make = make("skip");
/** Cannot tell. */
export const unknown: Make = make("unknown");

const ORDER: readonly Verdict[] = ["fail", "warn", "note", "unknown", "pass", "skip"];

/** The verdict that counts when there are several. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  return ORDER.find((each) => verdicts.includes(each)) ?? "skip";
}

/** The finding that counts, with the evidence of all that have its verdict; `ifNone` when nothing was found. */
export function worstOf(found: Iterable<Finding | undefined>, ifNone: Finding = pass("")): Finding {
  const findings = [...found].filter((each) => each !== undefined);
  const verdict = worst(findings.map((each) => each.verdict));
  const same = findings.filter((each) => each.verdict === verdict);
  if (same.length === 0) return ifNone;
  const summaries = [...new Set(same.map((each) => each.summary))];
  const shown = summaries.length > 4
    ? [...summaries.slice(0, 4), `and ${summaries.length - 4} more`]
    : summaries;
  return { verdict, summary: shown.join("; "), evidence: same.flatMap((each) => each.evidence).slice(0, 8) };
}

/** What may be said at most on a level, unless the server has ended. */
const MOST: Readonly<Record<Level, Verdict>> = { MUST: "fail", SHOULD: "warn", ADVICE: "note" };
/** What is said when a stimulus has ended the server. */
export const ENDED: Readonly<Record<Level, Verdict>> = { MUST: "fail", SHOULD: "fail", ADVICE: "warn" };

/** What the level allows; `raised` for a check whose rule says more in its milder or sharper forms. */
export function bounded(finding: Finding, level: Level, raised?: Verdict): Finding {
  const most = finding.ended === true ? ENDED[level] : raised ?? MOST[level];
  const rank = (verdict: Verdict) => ["note", "warn", "fail"].indexOf(verdict);
  return rank(finding.verdict) > rank(most) ? { ...finding, verdict: most } : finding;
}
