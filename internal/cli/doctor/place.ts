/** Where a rule stands: the page of the revision that holds, and its address. */

import type { Place } from "./check.ts";
import type { Era } from "./era.ts";

/** A place in a revision. */
export interface PlacedRule {
  readonly revision: string | null;
  readonly page: string;
  readonly heading: string | null;
  readonly url: string | null;
}

const SITE = "https://modelcontextprotocol.io/specification";

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

/** The place of a rule in the revision of an era; the newest without one. */
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
