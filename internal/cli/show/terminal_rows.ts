/** A recording in the terminal, line by line. */

import { parseJson } from "../json_text.ts";
import type { Screen } from "../screen.ts";
import { cutToWidth, showJson, showLine, showText, widthOf } from "../shown_text.ts";
import { type Bar, type BarState, countModel, type Row, type ShowModel } from "./model.ts";
import { createWords } from "./page/words.ts";

const { states: STATES, lanes: LANES, formatMs, formatTime } = createWords();

/** Signs for terminals that cannot be expected to have others; they tell states and sides apart as the others do. */
const PLAIN_SIGNS: Readonly<Record<BarState, string>> = {
  done: "ok",
  failed: "!",
  error: "x",
  cancelled: "/",
  lost: "?",
  open: "...",
  stream: "~",
};
const PLAIN_ARROWS: Readonly<Record<Row["lane"], string>> = {
  client: ">",
  server: "<",
  stderr: "|",
  process: "*",
};

/** Shows rows. */
export function showRows(
  model: ShowModel,
  places: readonly number[],
  { isFull }: { readonly isFull: boolean },
  screen: Screen,
): void {
  const { out, columns, isUnicode } = screen;
  const width = formatTime(model.durationMs).length;
  for (const place of places) {
    const row = model.rows[place]!;
    const bar = row.call < 0 ? undefined : model.bars[row.call];
    const time = out.dim(formatTime(row.t).padStart(width));
    const outcome = bar !== undefined && bar.rows[0] === place ? outcomeOf(bar, screen) : "";
    const room = columns === undefined ? Infinity : columns - width - 5 - widthOf(plain(outcome)) - 1;
    const label = cutToWidth(showLine(row.label, 400), Math.max(20, Math.min(room, 400)));
    const line = `${time}  ${arrowOf(row, screen)} ${labelOf(row, label, bar, screen)}`;
    screen.result(outcome === "" ? line : `${line}  ${outcome}`);
    for (const problem of row.breaks) {
      screen.result(
        `${" ".repeat(width + 4)}${out.red(`${isUnicode ? "▲" : "^"} ${showLine(problem, 300)}`)}`,
      );
    }
    if (isFull && row.lane !== "stderr" && row.lane !== "process") {
      screen.result(formatMessage(row.text, " ".repeat(width + 4)));
    }
  }
}

function arrowOf(row: Row, { out, isUnicode }: Screen): string {
  const arrow = isUnicode ? LANES[row.lane]![1] : PLAIN_ARROWS[row.lane];
  return row.lane === "client" ? out.cyan(arrow) : row.lane === "server" ? out.green(arrow) : out.dim(arrow);
}

function labelOf(row: Row, label: string, bar: Bar | undefined, { out }: Screen): string {
  if (row.role === "fault") return out.red(label);
  if (row.role === "stderr") return out.dim(label);
  if (row.role === "process") return out.magenta(label);
  if (row.role === "answer" && (bar?.state === "error" || bar?.state === "failed")) return out.red(label);
  return row.role === "request" ? out.bold(label) : label;
}

/** How a request ended and how long it took, in its own colour. */
export function outcomeOf(bar: Bar, { out, isUnicode }: Screen): string {
  const [word, unicodeSign] = STATES[bar.state]!;
  const sign = isUnicode ? unicodeSign : PLAIN_SIGNS[bar.state];
  const took = bar.state === "open" || bar.state === "lost" || bar.state === "stream"
    ? ""
    : ` ${formatMs(bar.endedAt - bar.startedAt)}`;
  const text = `${sign} ${word}${took}`;
  return paintState(bar.state, text, out);
}

/** The colour of a state. */
export function paintState(state: BarState, text: string, paint: Screen["out"]): string {
  switch (state) {
    case "done":
      return paint.green(text);
    case "failed":
    case "error":
      return paint.red(text);
    case "cancelled":
      return paint.yellow(text);
    case "lost":
      return paint.magenta(text);
    default:
      return paint.blue(text);
  }
}

/** What there is in the recording, in two lines. */
export function showSummary(model: ShowModel, screen: Screen): void {
  const { out } = screen;
  const { start, durationMs } = model;
  const { requests, states, breaks } = countModel(model);
  const ended = (Object.keys(PLAIN_SIGNS) as BarState[])
    .filter((state) => states[state] !== undefined)
    .map((state) => paintState(state, `${states[state]} ${STATES[state]![0]}`, out));
  const facts = [
    `${requests} ${requests === 1 ? "request" : "requests"}`,
    ...ended,
    breaks === 0
      ? out.green("no rule broken")
      : out.red(`${breaks} ${breaks === 1 ? "line breaks" : "lines break"} a rule`),
  ];
  screen.result();
  if (start !== undefined) {
    screen.result(`${out.bold(showLine(start.command))}  ${out.dim(`${start.at}, ${formatMs(durationMs)}`)}`);
  }
  screen.result(facts.join(" · "));
}

function formatMessage(text: string, indent: string): string {
  // What is no JSON is shown as it is.
  const parsed = parseJson(text);
  const shown = parsed === undefined ? showText(text) : showJson(parsed.value, 2);
  return shown.split("\n").map((line) => indent + line).join("\n");
}

/** A text without the codes of colours. */
function plain(text: string): string {
  // deno-lint-ignore no-control-regex -- that is what they begin with
  return text.replaceAll(/\x1b\[\d+m/g, "");
}
