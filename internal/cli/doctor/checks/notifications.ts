/** OUT-12: no notification that nobody has asked for. */

import { type Check, group, lineEvidence, type WatchedLine, watchedLines, watchRow } from "../check.ts";
import type { Asked, Conversation } from "../conversation.ts";
import { LOG_LEVEL, SUBSCRIPTION_ID } from "../era.ts";
import { at, idKey, isAnswerTo } from "../raw_line.ts";
import { fail, type Finding, warn, worstOf } from "../verdict.ts";

const KINDS: ReadonlyMap<string, readonly [filter: string, capability: string]> = new Map([
  ["notifications/tools/list_changed", ["toolsListChanged", "tools"]],
  ["notifications/prompts/list_changed", ["promptsListChanged", "prompts"]],
  ["notifications/resources/list_changed", ["resourcesListChanged", "resources"]],
]);
const LEGACY_METHODS = new Set([
  "notifications/message",
  "notifications/progress",
  "notifications/cancelled",
  "notifications/resources/updated",
  "notifications/elicitation/complete",
  "notifications/tasks/status",
]);

export const NOTIFICATIONS: readonly Check[] = group("stdout", [watchRow({
  id: "OUT-12",
  level: "MUST",
  title: "no notification that nobody has asked for",
  place: { page: "basic/patterns/subscriptions", heading: "Opening a Stream" },
  legacyPlace: { page: "basic/lifecycle", heading: "Operation" },
  mend:
    "send list_changed and updated on open listens alone, with their subscriptionId; log messages only for requests " +
    "with a logLevel; progress only with the token of a request that runs",
  watch: (watched) =>
    worstOf(
      [...watchedLines(watched)].map((each) => {
        if (each.line.kind !== "notification" || each.talk.era === undefined) return undefined;
        return each.talk.era.modern ? judgeModern(each) : judgeLegacy(each);
      }),
    ),
})]);

function judgeModern(each: WatchedLine): Finding | undefined {
  const { line, talk } = each;
  const method = String(line.message?.["method"]);
  const shown = lineEvidence(each);
  switch (method) {
    case "notifications/progress":
      return hasToken(each) ? undefined : fail("progress with a token of no request", shown);
    case "notifications/message":
      return wasAskedBefore(talk, each, ({ params }) => at(params, "_meta", LOG_LEVEL) !== undefined)
        ? undefined
        : fail("a log message, though no request has a logLevel", shown);
    case "notifications/cancelled":
      return listenOf(talk, at(line.message, "params", "requestId")) === undefined
        ? fail("notifications/cancelled for something else than a listen", shown)
        : undefined;
  }
  const isUpdate = method === "notifications/resources/updated";
  if (method !== "notifications/subscriptions/acknowledged" && !isUpdate && !KINDS.has(method)) {
    return warn(`${method}, which the revision does not know`, shown);
  }
  const stamp = at(line.message, "params", "_meta", SUBSCRIPTION_ID);
  const listen = listenOf(talk, stamp);
  if (listen === undefined) return fail(`${method} without the subscriptionId of a listen`, shown);
  const kind = KINDS.get(method)?.[0];
  const uris = at(listen.params, "notifications", "resourceSubscriptions");
  const isAskedFor = isUpdate
    ? Array.isArray(uris) && uris.length > 0
    : kind === undefined || at(listen.params, "notifications", kind) === true;
  return isAskedFor ? undefined : fail(`${method} on a listen that has not asked for it`, shown);
}

function judgeLegacy(each: WatchedLine): Finding | undefined {
  const { line, talk } = each;
  const method = String(line.message?.["method"]);
  const shown = lineEvidence(each);
  const capability = KINDS.get(method)?.[1];
  if (capability !== undefined) {
    return at(talk.capabilities, capability, "listChanged") === true
      ? undefined
      : fail(`${method}, though ${capability}.listChanged is not declared`, shown);
  }
  if (method === "notifications/message") {
    return "logging" in talk.capabilities
      ? undefined
      : fail("a log message, though logging is not declared", shown);
  }
  if (method === "notifications/progress") {
    return hasToken(each) ? undefined : fail("progress with a token of no request", shown);
  }
  if (method === "notifications/resources/updated") {
    const uri = at(line.message, "params", "uri");
    return wasAskedBefore(
        talk,
        each,
        (asked) => asked.method === "resources/subscribe" && at(asked.params, "uri") === uri,
      )
      ? undefined
      : fail("resources/updated for a resource that was not subscribed to", shown);
  }
  return LEGACY_METHODS.has(method) ? undefined : warn(`${method}, which the revision does not know`, shown);
}

/** Whether the token is that of a request which was sent before and is not answered. */
function hasToken({ line, talk }: WatchedLine): boolean {
  const token = at(line.message, "params", "progressToken");
  if (token === undefined) return false;
  return talk.asked.some((asked) =>
    asked.from <= line.index && at(asked.params, "_meta", "progressToken") === token &&
    !talk.lines.slice(asked.from, line.index).some((earlier) => isAnswerTo(earlier, asked.id))
  );
}

function wasAskedBefore(
  talk: Conversation,
  { line }: WatchedLine,
  holds: (asked: Asked) => boolean,
): boolean {
  return talk.asked.some((asked) => asked.from <= line.index && holds(asked));
}

function listenOf(talk: Conversation, id: unknown): Asked | undefined {
  return talk.asked.find((asked) => asked.method === "subscriptions/listen" && idKey(asked.id) === idKey(id));
}
