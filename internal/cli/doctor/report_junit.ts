/** A run as JUnit XML, for what runs tests. */

import { toEscape } from "../../shown_text.ts";
import { escapeMarkup, spellUnsafe } from "../shown_text.ts";
import type { Examined, Outcome } from "./examination.ts";
import { placeOf, showPlace } from "./place.ts";
import { GROUPS } from "./check.ts";
import { failsRun, type Strictness } from "./summary.ts";

/** The whole document. */
export function reportJUnit(examined: Examined, commandLine: string, strictness: Strictness): string {
  const suites = GROUPS.flatMap((group) => {
    const outcomes = examined.outcomes.filter(({ check }) => check.group === group);
    return outcomes.length === 0 ? [] : [suite(group, outcomes, examined, strictness)];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escape(`mcp-stdio doctor: ${commandLine}`)}">`,
    ...suites,
    "</testsuites>",
    "",
  ].join("\n");
}

function suite(
  group: string,
  outcomes: readonly Outcome[],
  { startedAt, usable }: Examined,
  strictness: Strictness,
): string {
  const cases = outcomes.map((outcome) => testCase(outcome, usable, strictness));
  const count = (kind: string) => cases.filter((text) => text.includes(`<${kind}`)).length;
  const time = outcomes.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
  const numbers = `tests="${cases.length}" failures="${count("failure")}" errors="${
    count("error")
  }" skipped="${count("skipped")}"`;
  const head = `name="mcp-stdio.${group}" ${numbers} time="${time.toFixed(3)}" timestamp="${
    startedAt.toISOString().slice(0, 19)
  }" hostname=""`;
  return [`  <testsuite ${head}>`, ...cases, "  </testsuite>"].join("\n");
}

function testCase(outcome: Outcome, usable: boolean, strictness: Strictness): string {
  const { check, era, ms } = outcome;
  const classname = `mcp-stdio.${check.group}${era === undefined ? "" : `.${era.version}`}`;
  const head = `classname="${escape(classname)}" name="${escape(`${check.id} ${check.title}`)}" time="${
    (ms / 1_000).toFixed(3)
  }"`;
  const body = bodyOf(outcome, usable, strictness);
  return body === "" ? `    <testcase ${head}/>` : `    <testcase ${head}>\n      ${body}\n    </testcase>`;
}

function bodyOf(outcome: Outcome, usable: boolean, strictness: Strictness): string {
  const { check, level, finding: { verdict, summary } } = outcome;
  const message = escape(summary || check.title);
  const details = detailsOf(outcome);
  if (verdict === "pass") return "";
  if (verdict === "skip") return `<skipped message="${message}"/>`;
  if (verdict === "unknown") return `<skipped message="cannot tell: ${message}"/>`;
  if (verdict === "fail" && !usable) {
    return `<error type="${check.id}" message="${message}">${escape(details)}</error>`;
  }
  return failsRun(verdict, strictness)
    ? `<failure type="${level}" message="${message}">${escape(details)}</failure>`
    : `<system-out>${escape(`${verdict}: ${details}`)}</system-out>`;
}

function detailsOf({ check, era, finding }: Outcome): string {
  const evidence = finding.evidence.flatMap(({ sent, got }) => [
    ...sent === undefined ? [] : [`sent: ${sent}`],
    ...got === undefined ? [] : [`got:  ${got}`],
  ]);
  return [
    finding.summary,
    showPlace(placeOf(check, era)),
    ...evidence,
    `mend: ${finding.mend ?? check.mend}`,
  ].join("\n");
}

/** XML 1.0 forbids most control characters, lone surrogates and two more. */
function escape(text: string): string {
  return escapeMarkup(spellUnsafe(text).replaceAll(/[\ufffe\uffff]/g, toEscape));
}
