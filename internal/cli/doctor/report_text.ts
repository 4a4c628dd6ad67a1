/** A run for people. */

import type { Paint } from "../paint.ts";
import type { Screen } from "../screen.ts";
import { hangText } from "../shown_text.ts";
import { causeOf } from "./causes.ts";
import type { Check } from "./check.ts";
import type { Examined } from "./examination.ts";
import { serverInfoOf } from "./facts.ts";
import { at } from "./raw_line.ts";
import { placeOf, showPlace } from "./place.ts";
import { listed, show, showBytes, showMs } from "./shown.ts";
import { byGroup, type CheckSummary, countVerdicts, firstThing, summarize } from "./summary.ts";
import type { Evidence, Verdict } from "./verdict.ts";
import { VERSION } from "../../version.ts";

/** What a report says beside the run. */
export interface TextOptions {
  readonly commandLine: string;
  /** Whether what is kept is told, too. */
  readonly verbose: boolean;
  readonly program: string;
}

const COUNT_WORDS: Readonly<Record<Verdict, readonly [one: string, many: string]>> = {
  pass: ["passed", "passed"],
  fail: ["failed", "failed"],
  warn: ["warning", "warnings"],
  note: ["note", "notes"],
  skip: ["skipped", "skipped"],
  unknown: ["not told", "not told"],
};
/** What is told, in this order: the first three in full, the others in a line each. */
const SECTIONS: ReadonlyArray<readonly [Verdict, title: string]> = [
  ["fail", "Failed"],
  ["warn", "Warnings"],
  ["unknown", "Not told"],
  ["note", "Notes"],
  ["skip", "Skipped"],
  ["pass", "Passed"],
];
const BAR_WIDTH = 16;
const BAR_COLUMNS = 80;
const INDENT = " ".repeat(12);

/** Writes it. */
export function reportText(examined: Examined, screen: Screen, options: TextOptions): void {
  const say = (text = "") => screen.result(text);
  const summaries = summarize(examined);
  for (const line of headOf(examined, screen.out, options)) say(line);
  say();
  if (examined.usable) {
    for (const [name, checks] of byGroup(summaries)) say(groupLine(name, checks, screen));
    say();
  }
  for (const [verdict, title] of SECTIONS) {
    const found = summaries.filter((each) => each.verdict === verdict);
    if (found.length === 0 || verdict === "pass" && !options.verbose) continue;
    say(colourOf(verdict, screen.out)(`${title} (${found.length})`));
    const lines = ["fail", "warn", "unknown"].includes(verdict)
      ? found.flatMap((each) => findingLines(each, screen, options))
      : foldBySummary(found).map((line) => `  ${line}`);
    for (const line of lines) say(line);
    say();
  }
  for (const line of lastLines(examined, summaries, screen.out)) say(line);
}

function headOf({ facts, talks }: Examined, paint: Paint, { commandLine }: TextOptions): string[] {
  const lines = [`${paint.bold(`mcp-stdio doctor ${VERSION}`)}   ${commandLine}`];
  const first = facts.modern ?? facts.legacy;
  if (first === undefined) return lines;
  const info = serverInfoOf(first);
  const name = [at(info, "name"), at(info, "version")].filter((part) =>
    typeof part === "string" && part !== ""
  );
  const eras = [
    facts.modern === undefined ? "no modern era" : `modern ${facts.modern.era.version}`,
    facts.legacy === undefined ? "no legacy era" : `legacy ${facts.legacy.era.version}`,
  ];
  lines.push(`${show(name.join(" ") || "a server without a name")}   ${eras.join(" · ")}`);
  const { lists } = first;
  const counts = lists === undefined ? [] : [
    countOf(lists.tools.items.length, "tool"),
    countOf(lists.resources.items.length, "resource"),
    countOf(lists.prompts.items.length, "prompt"),
  ];
  const memory = first.rssBytes === undefined ? [] : [showBytes(first.rssBytes)];
  lines.push(
    `first answer after ${showMs(first.firstAnswerMs)} · ${
      [...memory, ...counts, countOf(talks.length, "start")].join(" · ")
    }`,
  );
  const called = [...facts.called.values()].map(({ name: tool, why }) => `${tool} (${why})`);
  if (called.length > 0) lines.push(`called: ${listed(called)}`);
  if (facts.unstable) lines.push(paint.yellow("unstable: something came once and not again"));
  return lines;
}

function groupLine(
  name: string,
  checks: readonly CheckSummary[],
  { out, columns, isUnicode }: Screen,
): string {
  const counts = countVerdicts(checks.map(({ verdict }) => verdict));
  const told = (["fail", "warn", "note", "unknown", "skip"] as const)
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => colourOf(verdict, out)(countWords(counts[verdict], verdict)));
  const head = `  ${name.padEnd(10)}`;
  const tally = `${String(counts.pass).padStart(3)} of ${String(checks.length).padEnd(3)}`;
  if (columns === undefined || columns < BAR_COLUMNS) return `${head}${tally}  ${told.join(", ")}`.trimEnd();
  const filled = Math.round(counts.pass / checks.length * BAR_WIDTH);
  const [full, empty] = isUnicode ? ["█", "░"] : ["#", "."];
  const bar = out.green(full.repeat(filled)) + out.dim(empty.repeat(BAR_WIDTH - filled));
  return `${head}${bar} ${tally}  ${told.join(", ")}`.trimEnd();
}

function findingLines(
  { check, verdict, outcomes }: CheckSummary,
  { out: paint, columns = Infinity }: Screen,
  options: TextOptions,
): string[] {
  const outcome = outcomes[0]!;
  const { finding, era, level } = outcome;
  const place = placeOf(check, era);
  const colour = colourOf(verdict, paint);
  const eras = outcomes.length > 1 || era === undefined ? "" : ` (${era.version})`;
  const lines = [
    `  ${colour(check.id.padEnd(10))}${paint.bold(show(finding.summary || check.title, 400))}${
      paint.dim(eras)
    }`,
    `${INDENT}${paint.dim(`${level} · ${showPlace(place)} · ${check.title}`)}`,
  ];
  for (const each of finding.evidence.slice(0, options.verbose ? 8 : 2)) {
    lines.push(...evidenceLines(each, paint));
  }
  const cause = causeOf(outcome);
  if (cause !== undefined) lines.push(`${INDENT}from: ${cause}`);
  if (verdict !== "unknown") lines.push(...hangText(`${INDENT}mend: `, finding.mend ?? check.mend, columns));
  if (verdict === "fail") lines.push(`${INDENT}${paint.dim(`see it: ${explainLine(check, options)}`)}`);
  return lines;
}

/** What shows one check with its bytes. */
function explainLine({ id }: Check, { program, commandLine }: TextOptions): string {
  return `${program} doctor --explain ${id} -- ${commandLine}`;
}

function evidenceLines({ sent, got, check, process, ms, waitedMs }: Evidence, paint: Paint): string[] {
  const times = [
    process === undefined ? "" : `process ${process}`,
    check ?? "",
    ms === undefined ? "" : `after ${showMs(ms)}`,
    waitedMs === undefined ? "" : `waited ${showMs(waitedMs)}`,
  ].filter(Boolean).join(", ");
  return [
    ...sent === undefined ? [] : [`${INDENT}sent: ${sent}`],
    ...got === undefined ? [] : [`${INDENT}got:  ${got} ${paint.dim(`(${times})`)}`],
    ...got === undefined && sent !== undefined ? [`${INDENT}${paint.dim(`(${times})`)}`] : [],
  ];
}

/** Checks with the same to say stand on one line. */
function foldBySummary(found: readonly CheckSummary[]): string[] {
  const byText = new Map<string, string[]>();
  for (const { check, outcomes } of found) {
    const { finding } = outcomes[0]!;
    const text = show(finding.summary === "" ? check.title : `${check.title}: ${finding.summary}`, 300);
    const key = finding.verdict === "skip" ? show(finding.summary, 300) : text;
    byText.set(key, [...byText.get(key) ?? [], check.id]);
  }
  return [...byText].map(([text, ids]) => `${ids.join(" ").padEnd(9)}  ${text}`);
}

function lastLines({ seconds, talks }: Examined, summaries: readonly CheckSummary[], paint: Paint): string[] {
  const counts = countVerdicts(summaries.map(({ verdict }) => verdict));
  const told = (["pass", "fail", "warn", "note", "unknown", "skip"] as const)
    .filter((verdict) => counts[verdict] > 0 || verdict === "pass" || verdict === "fail")
    .map((verdict) => countWords(counts[verdict], verdict));
  const first = firstThing(summaries);
  const todo = first === undefined ? [] : [
    `What to do first: ${paint.bold(first.check.id)}, ${first.outcomes[0]!.finding.mend ?? first.check.mend}`,
  ];
  return [...todo, `${told.join(", ")} · ${countOf(talks.length, "start")}, ${seconds.toFixed(1)} s`];
}

function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

function countWords(count: number, verdict: Verdict): string {
  return `${count} ${COUNT_WORDS[verdict][count === 1 ? 0 : 1]}`;
}

function colourOf(verdict: Verdict, paint: Paint): (text: string) => string {
  switch (verdict) {
    case "fail":
      return paint.red;
    case "warn":
      return paint.yellow;
    case "note":
      return paint.cyan;
    case "pass":
      return paint.green;
    default:
      return paint.dim;
  }
}
