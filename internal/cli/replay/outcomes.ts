/** What came of a replay, for people and for programs. */

import type { Screen } from "../screen.ts";
import { createWords } from "../show/page/words.ts";
import { showJson, showLine } from "../shown_text.ts";
import type { Outcome, ReplayResult } from "./replay.ts";
import { type Difference, NOTHING } from "./script.ts";

const { formatMs } = createWords();

/** So many differences of one answer are spelled out. */
const MOST_DIFFERENCES = 12;

const VERDICTS: Readonly<
  Record<Outcome["verdict"], readonly [unicode: string, ascii: string, word: string]>
> = {
  same: ["✓", "ok", "the same"],
  other: ["✗", "x", "otherwise"],
  missing: ["?", "?", "no answer"],
  new: ["✗", "x", "an answer where there was none"],
  unanswered: ["·", ".", "no answer, as before"],
};

/** Shows what came. */
export function showOutcomes(result: ReplayResult, isJson: boolean, screen: Screen): void {
  if (isJson) {
    screen.json(toJson(result));
    return;
  }
  const { out, isUnicode } = screen;
  for (const outcome of result.outcomes) showOutcome(outcome, screen);
  for (const { line, problem } of result.breaks) {
    screen.result(
      `${out.red(`${isUnicode ? "▲" : "^"} ${showLine(problem)}`)}  ${out.dim(showLine(line, 200))}`,
    );
  }
  for (const method of result.unexpected) {
    screen.result(
      out.yellow(`the server asks ${showLine(method, 100)}, to which the recording has no answer`),
    );
  }
  const counts = countVerdicts(result.outcomes).map(([verdict, count]) => `${count} ${VERDICTS[verdict][2]}`);
  screen.result();
  screen.result([`${result.outcomes.length} requests`, ...counts, result.exit].join(" · "));
}

function showOutcome({ call, verdict, tookMs, differences }: Outcome, screen: Screen): void {
  const { out, isUnicode } = screen;
  const [unicode, ascii, word] = VERDICTS[verdict];
  const sign = isUnicode ? unicode : ascii;
  const isGood = verdict === "same" || verdict === "unanswered";
  const name = showLine(`${call.method} ${call.target}`.trim(), 100);
  const took = [call.tookMs, tookMs].map((ms) => ms === undefined ? "-" : formatMs(ms)).join(
    isUnicode ? " → " : " -> ",
  );
  const mark = isGood ? out.green(sign) : out.red(sign);
  screen.result(
    `${mark} ${name}  ${out.dim(took)}${verdict === "same" ? "" : `  ${isGood ? word : out.red(word)}`}`,
  );
  for (const difference of differences.slice(0, MOST_DIFFERENCES)) {
    screen.result(`    ${formatDifference(difference, isUnicode)}`);
  }
  const left = differences.length - MOST_DIFFERENCES;
  if (left > 0) screen.result(out.dim(`    and ${left} more`));
}

function formatDifference({ path, was, is }: Difference, isUnicode: boolean): string {
  const show = (value: unknown) => value === NOTHING ? "nothing" : showLine(showJson(value), 120);
  return `${showLine(path, 200)}: ${show(was)} ${isUnicode ? "→" : "->"} ${show(is)}`;
}

function countVerdicts(outcomes: readonly Outcome[]): Array<[Outcome["verdict"], number]> {
  return (Object.keys(VERDICTS) as Outcome["verdict"][])
    .map((verdict): [Outcome["verdict"], number] => [
      verdict,
      outcomes.filter((outcome) => outcome.verdict === verdict).length,
    ])
    .filter(([, count]) => count > 0);
}

function toJson({ outcomes, breaks, unexpected, exit }: ReplayResult): unknown {
  return {
    counts: Object.fromEntries(countVerdicts(outcomes)),
    requests: outcomes.map(({ call, verdict, tookMs, differences, answer }) => ({
      id: call.id,
      method: call.method,
      target: call.target,
      verdict,
      ms: { was: call.tookMs ?? null, is: tookMs ?? null },
      differences: differences.map(({ path, was, is }) => ({
        path,
        ...toMember("was", was),
        ...toMember("is", is),
      })),
      ...verdict === "new" ? { answer } : {},
    })),
    breaks,
    unexpected,
    exit,
  };
}

/** What is not there is left away. */
function toMember(name: string, value: unknown): { [name: string]: unknown } {
  return value === NOTHING ? {} : { [name]: value };
}
