/**
 * The page's script: functions of `page/` as text. They are checked and tested like any other code, and need no build: whatever
 * runs this file has made JavaScript of them, and a function knows its own text. Each uses nothing but its arguments, so a name
 * that a bundler has changed elsewhere does no harm.
 */

import { type PageParts, startPage } from "./page/app.ts";
import { createBarShapes } from "./page/bar_shapes.ts";
import { createBars } from "./page/bars.ts";
import { LANES, readPageData, ROLES, STATES } from "./page/data.ts";
import { createDetail } from "./page/detail.ts";
import { filterPage, placeOfRow } from "./page/filter.ts";
import { createList } from "./page/list.ts";
import { createOverview } from "./page/overview.ts";
import { createTimeScale } from "./page/time_scale.ts";
import { createWords } from "./page/words.ts";

/** The functions, by the names under which the page has them. */
export const PAGE_FUNCTIONS: Omit<PageParts, "names"> = {
  readPageData,
  filterPage,
  placeOfRow,
  createTimeScale,
  createWords,
  createBarShapes,
  createBars,
  createList,
  createOverview,
  createDetail,
};

/** The names that data is packed with. */
export const PAGE_NAMES: PageParts["names"] = { lanes: LANES, roles: ROLES, states: STATES };

/** The script. */
export function makePageScript(): string {
  const parts = Object.entries(PAGE_FUNCTIONS).map(([name, part]) => `  ${name}: ${part.toString()},`);
  return [
    '"use strict";',
    // Some bundlers wrap functions so that they keep their names.
    "const __name = (value) => value;",
    `const parts = {`,
    `  names: ${JSON.stringify(PAGE_NAMES)},`,
    ...parts,
    "};",
    `(${startPage.toString()})(parts, window);`,
  ].join("\n");
}
