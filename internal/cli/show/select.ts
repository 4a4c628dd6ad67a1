/** Which rows of a recording are shown. Pure. */

import type { ShowModel } from "./model.ts";

/** What is wanted; each narrows the others. */
export interface Selection {
  readonly onlyProblems: boolean;
  /** Names of lanes; all when empty. */
  readonly lanes: readonly string[];
  /** Methods of requests; all when empty. */
  readonly methods: readonly string[];
  /** What a row must hold, whatever the case. */
  readonly text: string | undefined;
}

/** The places of the rows that are wanted. */
export function selectRows(model: ShowModel, selection: Selection): number[] {
  const { onlyProblems, lanes, methods, text } = selection;
  const needle = text?.toLowerCase();
  const places: number[] = [];
  for (const [index, row] of model.rows.entries()) {
    const bar = row.call < 0 ? undefined : model.bars[row.call];
    if (lanes.length > 0 && !lanes.includes(row.lane)) continue;
    if (methods.length > 0 && !(bar !== undefined && methods.includes(bar.method))) continue;
    const isProblem = row.breaks.length > 0 || bar?.isProblem === true;
    if (onlyProblems && !isProblem) continue;
    if (needle !== undefined && !row.text.toLowerCase().includes(needle)) continue;
    places.push(index);
  }
  return places;
}
