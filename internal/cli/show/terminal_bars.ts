/** A recording in the terminal as bars: one for each request, on one time axis. */

import type { Screen } from "../screen.ts";
import { cutToWidth, showLine, widthOf } from "../shown_text.ts";
import type { Bar, BarState, ShowModel } from "./model.ts";
import { createWords } from "./page/words.ts";
import { outcomeOf, paintState } from "./terminal_rows.ts";

/** What bars are made of: states are told apart also without colour. */
const FILLS: Readonly<Record<BarState, readonly [unicode: string, ascii: string]>> = {
  done: ["█", "="],
  failed: ["▓", "!"],
  error: ["▒", "x"],
  cancelled: ["░", "/"],
  lost: ["╌", "?"],
  open: ["╌", "."],
  stream: ["─", "~"],
};

const { formatMs } = createWords();

const LABEL_WIDTH = 30;
const OUTCOME_WIDTH = 22;

/** Shows the requests to which the rows belong. */
export function showBars(model: ShowModel, places: readonly number[], screen: Screen): void {
  const shown = new Set(places);
  const bars = model.bars.filter((bar) => bar.rows.some((row) => shown.has(row)));
  const width = Math.max(20, (screen.columns ?? 100) - LABEL_WIDTH - OUTCOME_WIDTH - 2);
  const scale = (t: number): number => (model.durationMs === 0 ? 0 : (t / model.durationMs) * width);
  screen.result(screen.out.dim(`${" ".repeat(LABEL_WIDTH + 1)}${axisOf(model.durationMs, width)}`));
  for (const bar of bars) {
    const name = cutToWidth(showLine(`${bar.method} ${bar.target}`.trim(), 200), LABEL_WIDTH);
    const start = Math.min(width - 1, Math.floor(scale(bar.startedAt)));
    const length = Math.max(1, Math.min(width, Math.ceil(scale(bar.endedAt))) - start);
    const drawn = paintState(
      bar.state,
      FILLS[bar.state][screen.isUnicode ? 0 : 1].repeat(length),
      screen.out,
    );
    const padding = " ".repeat(Math.max(0, LABEL_WIDTH - widthOf(name)));
    const rest = " ".repeat(width - start - length);
    screen.result(`${name}${padding} ${" ".repeat(start)}${drawn}${rest} ${outcomeOf(bar, screen)}`);
    if (bar.problem !== "" && isProblem(bar)) {
      screen.result(
        `${" ".repeat(LABEL_WIDTH + 1)}${screen.out.dim(cutToWidth(showLine(bar.problem, 400), width))}`,
      );
    }
  }
}

function isProblem({ state }: Bar): boolean {
  return state === "error" || state === "failed";
}

/** The beginning, the middle and the end of the axis. */
function axisOf(durationMs: number, width: number): string {
  const middle = formatMs(durationMs / 2);
  const end = formatMs(durationMs);
  const left = `0${
    " ".repeat(
      Math.max(1, Math.floor(width / 2) - 1 - Math.floor(middle.length / 2)),
    )
  }${middle}`;
  return `${left}${" ".repeat(Math.max(1, width - left.length - end.length))}${end}`;
}
