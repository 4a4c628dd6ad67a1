/** How far a request is: a bar that grows on a terminal, a line now and then elsewhere. */

import type { Progress } from "../../client.ts";
import type { Clock } from "../../runtime.ts";
import type { Screen } from "./screen.ts";
import { showLine } from "./shown_text.ts";

/** How often a bar is drawn at most: more is not seen. */
const FRAME_MS = 40;
/** How often a plain line is written at most where no total says when a tenth is done. */
const LINE_MS = 1_000;
const BAR_WIDTH = 24;

/** Shows the progress of one request. */
export class ProgressLine {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #label: string;
  #shownAt = -Infinity;
  #tenths = -1;

  constructor(label: string, screen: Screen, clock: Clock) {
    this.#label = label;
    this.#screen = screen;
    this.#clock = clock;
  }

  /** It is so far. */
  update(progress: Progress): void {
    const now = this.#clock.now();
    if (this.#screen.moves) {
      if (now - this.#shownAt < FRAME_MS && progress.progress !== progress.total) return;
      this.#screen.status(`${this.#label} ${formatBar(progress, this.#screen.isUnicode)}`);
    } else {
      const tenths = tenthsOf(progress);
      if (tenths === undefined ? now - this.#shownAt < LINE_MS : tenths === this.#tenths) return;
      this.#tenths = tenths ?? -1;
      this.#screen.note(`${this.#label} ${formatProgress(progress)}`);
    }
    this.#shownAt = now;
  }

  /** It is over. */
  end(): void {
    this.#screen.status("");
  }
}

/** A bar where the total is known; else only what was said. */
export function formatBar(progress: Progress, isUnicode: boolean): string {
  const share = shareOf(progress);
  if (share === undefined) return formatProgress(progress);
  const filled = Math.round(share * BAR_WIDTH);
  const [full, empty] = isUnicode ? ["█", "░"] : ["#", "."];
  const bar = full.repeat(filled) + empty.repeat(BAR_WIDTH - filled);
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} % ${formatProgress(progress)}`;
}

/** In words: `3 of 10: a message`. */
export function formatProgress({ progress, total, message }: Progress): string {
  const done = total === undefined ? String(progress) : `${progress} of ${total}`;
  return typeof message === "string" && message !== "" ? `${done}: ${showLine(message, 200)}` : done;
}

function tenthsOf(progress: Progress): number | undefined {
  const share = shareOf(progress);
  return share === undefined ? undefined : Math.floor(share * 10);
}

/** From 0 to 1; undefined where that cannot be told. Numbers of servers are not trusted. */
function shareOf({ progress, total }: Progress): number | undefined {
  if (typeof total !== "number" || !(total > 0)) return undefined;
  return Math.min(1, Math.max(0, progress / total));
}
