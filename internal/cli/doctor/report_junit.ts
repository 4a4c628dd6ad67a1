/** A run as JUnit XML, for what runs tests. */

import { toEscape } from "../../shown_text.ts";
import { spellUnsafe } from "../shown_text.ts";
import type { Examined, Outcome } from "./examination.ts";
import { placeOf, showPlace } from "./place.ts";
import { GROUPS } from "./check.ts";
import type { Strictness } from "./summary.ts";

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
  const { check, era, finding, ms } = outcome;
  const classname = `mcp-stdio.${check.group}${era === undefined ? "" : `.${era.version}`}`;
  const head = `classname="${escape(classname)}" name="${escape(`${check.id} ${check.title}`)}" time="${
    (ms / 1_000).toFixed(3)
  }"`;
  const body = bodyOf(outcome, usable, strictness);
  return body === "" ? `    <testcase ${head}/>` : `    <testcase ${head}>\n      ${body}\n    </testcase>`;

  function bodyOf({ level }: Outcome, isUsable: boolean, strict: Strictness): string {
    const summary = escape(finding.summary || check.title);
    switch (finding.verdict) {
      case "pass":
        return "";
      case "skip":
        return `<skipped message="${summary}"/>`;
      case "unknown":
        return `<skipped message="cannot tell: ${summary}"/>`;
      case "fail":
        return isUsable
          ? `<failure type="${level}" message="${summary}">${escape(detailsOf(outcome))}</failure>`
          : `<error type="${check.id}" message="${summary}">${escape(detailsOf(outcome))}</error>`;
      case "warn":
      case "note": {
        const counts = strict === "advice" || strict === "should" && finding.verdict === "warn";
        return counts
          ? `<failure type="${level}" message="${summary}">${escape(detailsOf(outcome))}</failure>`
          : `<system-out>${escape(`${finding.verdict}: ${detailsOf(outcome)}`)}</system-out>`;
      }
    }
  }
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
  ].join(
    "\n",
  );
}

/** XML 1.0 forbids most control characters, lone surrogates and two more. */
function escape(text: string): string {
  return spellUnsafe(text).replaceAll(/[\ufffe\uffff]/g, toEscape)
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
