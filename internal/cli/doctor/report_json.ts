/** A run as JSON. Members are only added within a `schema`. */

import { VERSION } from "../../version.ts";
import { causeOf } from "./causes.ts";
import { describeExit } from "./conversation.ts";
import type { Examined, Outcome } from "./examination.ts";
import { serverInfoOf } from "./facts.ts";
import type { DoctorOptions } from "./options.ts";
import { placeOf } from "./place.ts";
import { at } from "./raw_line.ts";
import { show } from "./shown.ts";
import { countVerdicts } from "./summary.ts";

/** What there is to say of evidence; null where there is nothing. */
const EVIDENCE = ["process", "check", "sent", "got", "gotBase64", "ms", "waitedMs"] as const;

/** The run as one value. */
export function reportJson(examined: Examined, options: DoctorOptions, ok: boolean): unknown {
  const { facts, outcomes, talks, seconds, startedAt } = examined;
  const first = facts.modern ?? facts.legacy;
  const info = first === undefined ? undefined : serverInfoOf(first);
  return {
    doctor: VERSION,
    schema: 1,
    command: [options.launch.command, ...options.launch.args],
    startedAt: startedAt.toISOString(),
    seconds: round(seconds),
    server: first === undefined ? null : {
      name: at(info, "name") ?? null,
      version: at(info, "version") ?? null,
      eras: [facts.modern, facts.legacy].filter((each) => each !== undefined).map((each) => each.era.version),
      versions: Object.fromEntries(facts.versions),
      capabilities: first.capabilities,
      firstAnswerMs: Math.round(first.firstAnswerMs),
      rssBytes: first.rssBytes ?? null,
    },
    tools: { called: [...facts.called.values()], slow: options.slow?.name ?? null },
    counts: countVerdicts(outcomes.map(({ finding }) => finding.verdict)),
    ok,
    unstable: facts.unstable,
    checks: outcomes.map(outcomeJson),
    processes: talks.map(({ process, era }) => ({
      n: process.number,
      checks: process.checks,
      era: era?.version ?? null,
      exit: process.end === undefined ? null : {
        code: process.end.exit?.code ?? null,
        signal: process.end.exit?.signal ?? null,
        step: process.end.step,
        text: describeExit(process.end.exit),
      },
      stderrTail: show(process.stderr.lastLines(5), 600),
    })),
  };
}

/** What was said about one check. */
export function outcomeJson(outcome: Outcome): unknown {
  const { check, era, level, finding, ms, confirmed } = outcome;
  return {
    id: check.id,
    group: check.group,
    title: check.title,
    level,
    era: era?.version ?? null,
    verdict: finding.verdict,
    summary: finding.summary,
    spec: placeOf(check, era),
    evidence: finding.evidence.map((each) =>
      Object.fromEntries(EVIDENCE.map((name) => [name, each[name] ?? null]))
    ),
    cause: causeOf(outcome) ?? null,
    mend: finding.mend ?? check.mend,
    ms: Math.round(ms),
    confirmed: confirmed ?? null,
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
