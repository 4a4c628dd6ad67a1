/** Which rows and bars the page shows. */

import type { PageBar, PageModel, PageRow } from "./data.ts";

/** What is wanted. */
export interface PageFilter {
  /** What a row must hold, whatever the case. */
  readonly text: string;
  /** Lanes and states that are left out. */
  readonly hidden: ReadonlySet<string>;
  /** Only rows that break a rule. */
  readonly onlyBreaks: boolean;
}

/** What is shown. */
export interface PageSelection {
  readonly rows: readonly PageRow[];
  readonly bars: readonly PageBar[];
}

/** Chooses rows and bars. A request is shown if one of its rows is. */
export function filterPage(model: PageModel, filter: PageFilter): PageSelection {
  const { hidden, onlyBreaks } = filter;
  const text = filter.text.trim();
  // A regular expression goes through fifty thousand messages without making another copy of each.
  const pattern = text === "" ? undefined : new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
  const rows = model.rows.filter((row) => {
    if (hidden.has(row.lane)) return false;
    if (row.bar !== undefined && hidden.has(row.bar.state)) return false;
    if (onlyBreaks && row.breaks.length === 0) return false;
    return pattern === undefined || pattern.test(row.text) || pattern.test(row.label);
  });
  if (rows.length === model.rows.length) return { rows, bars: model.bars };
  const bars = new Set<PageBar>();
  for (const { bar } of rows) if (bar !== undefined) bars.add(bar);
  return { rows, bars: [...bars].sort((one, other) => one.index - other.index) };
}

/** The place of a row among those that are shown, or where it would stand. */
export function placeOfRow(rows: readonly PageRow[], index: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.index < index) low = middle + 1;
    else high = middle;
  }
  return low;
}
