/** The catalogue for people, and one check with all its bytes. */

import type { Screen } from "../screen.ts";
import type { Check } from "./check.ts";
import type { Examined } from "./examination.ts";
import { placeOf, showPlace } from "./place.ts";
import type { RawLine } from "./raw_line.ts";
import { show, showMs } from "./shown.ts";
import type { TextOptions } from "./report_text.ts";

const MOST_SHOWN = 1_000;
const MOST_LINES = 60;
const MOST_PROCESSES = 3;
/** Longer lines are not made for a shell. */
const MOST_PASTED = 390;

/** Prints the catalogue. */
export function listChecks(table: readonly Check[], screen: Screen): void {
  let group = "";
  for (const check of table) {
    if (check.group !== group) screen.result(`${group === "" ? "" : "\n"}${screen.out.bold(check.group)}`);
    group = check.group;
    screen.result(`  ${check.id.padEnd(9)} ${check.level.padEnd(6)} ${check.title}`);
  }
}

/** Shows a check, and what was sent and came in its processes. */
export function explainCheck(check: Check, examined: Examined, screen: Screen, options: TextOptions): void {
  const { out } = screen;
  const say = (text = "") => screen.result(text);
  const place = placeOf(check, examined.facts.modern?.era ?? examined.facts.legacy?.era);
  say(`${out.bold(`${check.id} ${check.title}`)}   ${check.level}`);
  say(`where: ${showPlace(place)}${place.url === null ? "" : `  ${place.url}`}`);
  say(`sends: ${check.sends}`);
  say(`mend:  ${check.mend}`);
  for (const { era, finding } of examined.outcomes.filter((outcome) => outcome.check === check)) {
    say();
    say(`${era?.version ?? ""}  ${out.bold(finding.verdict)}  ${show(finding.summary, 600)}`);
    const numbers = new Set(finding.evidence.map(({ process }) => process));
    let shown = 0;
    for (const talk of examined.talks) {
      const { process } = talk;
      const isHere = numbers.size > 0 ? numbers.has(process.number) : process.checks.includes(check.id);
      if (!isHere || era !== undefined && talk.era !== undefined && talk.era.modern !== era.modern) continue;
      if (shown++ >= MOST_PROCESSES) break;
      sayProcess(talk.sent, process.lines, check, process.number, screen);
      const stdin = talk.sent.slice(0, 8).filter((line) => line.length < MOST_PASTED).map((line) =>
        `${line}\n`
      ).join("");
      say(out.dim(`  again: printf '${forPrintf(stdin)}' | ${options.commandLine}`));
    }
  }
}

/** A text between single quotes, as `printf` of a shell reads it. */
function forPrintf(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("%", "%%").replaceAll("'", "'\\''").replaceAll("\n", "\\n");
}

/** The lines of a process in the order in which they went and came. */
function sayProcess(
  sent: readonly string[],
  lines: readonly RawLine[],
  check: Check,
  number: number,
  screen: Screen,
): void {
  const { out } = screen;
  screen.result(out.dim(`  process ${number}`));
  const isWatched = check.how === "watch";
  const own = lines.filter((line) =>
    isWatched ? line.kind === "stray" || line.kind === "blank" : line.check === check.id
  );
  const from = own[0]?.sentBefore ?? sent.length;
  const shown: string[] = [];
  let next = Math.max(0, from - 2);
  for (const line of own) {
    for (; next < line.sentBefore; next++) shown.push(`  ${out.cyan("→")} ${show(sent[next], MOST_SHOWN)}`);
    shown.push(`  ${out.green("←")} ${showBytes(line)} ${out.dim(showMs(line.at))}`);
  }
  if (own.length === 0) {
    for (const text of sent.slice(-10)) shown.push(`  ${out.cyan("→")} ${show(text, MOST_SHOWN)}`);
  }
  for (const text of shown.slice(0, MOST_LINES)) screen.result(text);
  if (shown.length > MOST_LINES) screen.result(out.dim(`  … and ${shown.length - MOST_LINES} lines more`));
}

/** A line as text; as hexadecimal where its bytes are no text. */
function showBytes({ bytes, faults }: RawLine): string {
  if (!faults.has("not_utf8") && !faults.has("bom")) return show(bytes, MOST_SHOWN);
  const head = [...bytes.subarray(0, 64)];
  const hex = head.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const ascii = head.map((byte) => byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".").join("");
  return `${hex}  ${ascii}`;
}
