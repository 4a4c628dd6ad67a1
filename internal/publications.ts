/** What a server can publish: which member of a filter asks for it, and which capability declares it. */

import { canonicalUri } from "./canonical_uri.ts";
import type { Params, ServerCapabilities, SubscriptionFilter } from "../messages.ts";

interface Publication {
  readonly member: keyof SubscriptionFilter;
  readonly isDeclared: (capabilities: ServerCapabilities) => boolean;
}

/** By method. */
export const PUBLICATIONS: ReadonlyMap<string, Publication> = new Map([
  ["notifications/tools/list_changed", {
    member: "toolsListChanged",
    isDeclared: ({ tools }) => tools?.listChanged === true,
  }],
  ["notifications/prompts/list_changed", {
    member: "promptsListChanged",
    isDeclared: ({ prompts }) => prompts?.listChanged === true,
  }],
  ["notifications/resources/list_changed", {
    member: "resourcesListChanged",
    isDeclared: ({ resources }) => resources?.listChanged === true,
  }],
  ["notifications/resources/updated", {
    member: "resourceSubscriptions",
    isDeclared: ({ resources }) => resources?.subscribe === true,
  }],
]);

/** Whether a server declares that it publishes something. */
export function isDeclared(method: string, capabilities: ServerCapabilities): boolean {
  return PUBLICATIONS.get(method)?.isDeclared(capabilities) ?? false;
}

/** As much of a filter as a server can deliver; members that are not known are left out. */
export function narrowFilter(
  filter: SubscriptionFilter,
  capabilities: ServerCapabilities,
): SubscriptionFilter {
  const narrow: SubscriptionFilter = {};
  for (const { member, isDeclared } of PUBLICATIONS.values()) {
    if (!filter[member] || !isDeclared(capabilities)) continue;
    if (member === "resourceSubscriptions") narrow[member] = filter.resourceSubscriptions;
    else narrow[member] = true;
  }
  return narrow;
}

/** Whether a filter asks for a publication; `uris` are those of its resources, in canonical form. */
export function asksFor(
  filter: SubscriptionFilter,
  uris: ReadonlySet<string>,
  method: string,
  params: Params | undefined,
): boolean {
  const member = PUBLICATIONS.get(method)?.member;
  if (member === undefined) return false;
  if (member !== "resourceSubscriptions") return filter[member] === true;
  return typeof params?.uri === "string" && uris.has(canonicalUri(params.uri));
}
