/**
 * What the page is given, and what it makes of it. Columns in the place of objects: fifty thousand rows are read at once, and
 * names of members would be most of the file.
 *
 * Every function of this folder is put into the page as text (see `page_script.ts`), so none may use anything but its arguments.
 */

import type { Bar, Row } from "../model.ts";

/** The page's data, as JSON. */
export interface PageData {
  readonly command: string;
  readonly at: string;
  readonly by: string;
  readonly durationMs: number;
  readonly isMasked: boolean;
  readonly unreadable: number;
  readonly rows: {
    readonly t: readonly number[];
    /** A place in `LANES` each, as one string of digits. */
    readonly lane: string;
    readonly role: string;
    readonly label: readonly string[];
    readonly text: readonly string[];
    readonly call: readonly number[];
    /** Only of rows that break one. */
    readonly breaks: { readonly [row: string]: readonly string[] };
  };
  readonly bars: {
    readonly from: string;
    readonly id: readonly string[];
    readonly method: readonly string[];
    readonly target: readonly string[];
    readonly state: string;
    readonly startedAt: readonly number[];
    readonly endedAt: readonly number[];
    readonly problem: readonly string[];
    readonly isProblem: string;
    readonly rows: ReadonlyArray<readonly number[]>;
  };
}

/** Names behind the digits. */
export const LANES = ["client", "server", "stderr", "process"] as const;
export const ROLES = [
  "request",
  "answer",
  "cancellation",
  "progress",
  "notification",
  "batch",
  "fault",
  "stderr",
  "process",
] as const;
export const STATES = ["done", "failed", "error", "cancelled", "lost", "open", "stream"] as const;

/** A row in the page. */
export interface PageRow extends Omit<Row, "call" | "isMasked"> {
  readonly index: number;
  readonly bar: PageBar | undefined;
}

/** A request in the page. */
export interface PageBar extends Bar {
  readonly index: number;
}

/** A recording in the page. */
export interface PageModel {
  readonly rows: readonly PageRow[];
  readonly bars: readonly PageBar[];
}

/** Makes rows and bars of columns. */
export function readPageData(
  data: PageData,
  names: { readonly lanes: typeof LANES; readonly roles: typeof ROLES; readonly states: typeof STATES },
): PageModel {
  const { rows, bars } = data;
  const none: readonly string[] = [];
  const readBars = bars.method.map((method, index): PageBar => ({
    index,
    from: bars.from[index] === "0" ? "client" : "server",
    id: bars.id[index]!,
    method,
    target: bars.target[index]!,
    state: names.states[Number(bars.state[index])]!,
    startedAt: bars.startedAt[index]!,
    endedAt: bars.endedAt[index]!,
    problem: bars.problem[index]!,
    isProblem: bars.isProblem[index] === "1",
    rows: bars.rows[index]!,
  }));
  const readRows = rows.t.map((t, index): PageRow => ({
    index,
    t,
    lane: names.lanes[Number(rows.lane[index])]!,
    role: names.roles[Number(rows.role[index])]!,
    label: rows.label[index]!,
    text: rows.text[index]!,
    bar: readBars[rows.call[index]!],
    breaks: rows.breaks[index] ?? none,
  }));
  return { rows: readRows, bars: readBars };
}
