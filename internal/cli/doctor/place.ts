/** Where a rule stands: the page of the revision that holds, and its address. */

import type { CheckBase, Place } from "./check.ts";
import { type Era, LEGACY_VERSIONS } from "./era.ts";

/** A place in a revision. */
export interface PlacedRule {
  readonly revision: string | null;
  readonly page: string;
  readonly heading: string | null;
  readonly url: string | null;
}

const SITE = "https://modelcontextprotocol.io/specification";

const NEWEST_LEGACY: Era = { modern: false, version: LEGACY_VERSIONS[0]! };

/** Pages that had another name before 2026-07-28. */
const LEGACY_PAGES: ReadonlyMap<string, string> = new Map([
  ["basic/transports/stdio", "basic/transports"],
  ["basic/patterns/cancellation", "basic/utilities/cancellation"],
  ["basic/patterns/progress", "basic/utilities/progress"],
  ["basic/patterns/index", "basic"],
  ["basic/index", "basic"],
]);
const OTHERS: ReadonlyMap<string, string | null> = new Map([
  ["RFC 8259", "https://www.rfc-editor.org/rfc/rfc8259"],
  ["JSON-RPC 2.0", "https://www.jsonrpc.org/specification"],
  ["advice", null],
]);

/** The place of a check's rule in the revision of an era; without one in the newest that has the rule. */
export function placeOf({ place, legacyPlace, eras }: CheckBase, era: Era | undefined): PlacedRule {
  const isLegacy = era === undefined ? eras === "legacy" || eras === "legacy_only" : !era.modern;
  return placeIn(isLegacy ? legacyPlace ?? place : place, era ?? (isLegacy ? NEWEST_LEGACY : undefined));
}

/** A place in the revision of an era; in the newest without one. */
export function placeIn({ page, heading }: Place, era: Era | undefined): PlacedRule {
  const other = OTHERS.get(page);
  if (other !== undefined) return { revision: null, page, heading: heading ?? null, url: other };
  // A page of one revision alone is written with its date.
  const [, dated, rest] = /^(\d{4}-\d{2}-\d{2}) (.+)$/.exec(page) ?? [];
  const revision = dated ?? era?.version ?? "2026-07-28";
  const known = rest ?? page;
  const named = revision < "2026-07-28" ? LEGACY_PAGES.get(known) ?? known : known;
  const url = `${SITE}/${revision}/${named.replace(/\/?index$/, "")}`;
  return { revision, page: named, heading: heading ?? null, url };
}

/** For people: `basic/transports/stdio § Shutdown`. */
export function showPlace({ page, heading }: Pick<PlacedRule, "page" | "heading">): string {
  return heading === null || heading === undefined ? page : `${page} § ${heading}`;
}
