/** Results and notifications against the schema of their revision, loaded when one is looked at. */

import type { JSONSchema } from "../../../../schema.ts";
import { type Checker, createChecker } from "../../../json_schema/schema_checker.ts";
import type { Members } from "../raw_line.ts";

/** By method: the definition of its result. */
const RESULTS: ReadonlyMap<string, string> = new Map([
  ["server/discover", "DiscoverResult"],
  ["initialize", "InitializeResult"],
  ["tools/list", "ListToolsResult"],
  ["resources/list", "ListResourcesResult"],
  ["resources/templates/list", "ListResourceTemplatesResult"],
  ["prompts/list", "ListPromptsResult"],
  ["resources/read", "ReadResourceResult"],
  ["prompts/get", "GetPromptResult"],
  ["tools/call", "CallToolResult"],
  ["completion/complete", "CompleteResult"],
  ["subscriptions/listen", "SubscriptionsListenResult"],
]);

const NOTIFICATIONS: ReadonlyMap<string, string> = new Map([
  ["notifications/cancelled", "CancelledNotification"],
  ["notifications/progress", "ProgressNotification"],
  ["notifications/message", "LoggingMessageNotification"],
  ["notifications/tools/list_changed", "ToolListChangedNotification"],
  ["notifications/prompts/list_changed", "PromptListChangedNotification"],
  ["notifications/resources/list_changed", "ResourceListChangedNotification"],
  ["notifications/resources/updated", "ResourceUpdatedNotification"],
  ["notifications/subscriptions/acknowledged", "SubscriptionsAcknowledgedNotification"],
]);

const LOADERS: ReadonlyMap<string, () => Promise<{ readonly SCHEMA: string }>> = new Map([
  ["2026-07-28", () => import("./revision_2026_07_28.ts")],
  ["2025-11-25", () => import("./revision_2025_11_25.ts")],
  ["2025-06-18", () => import("./revision_2025_06_18.ts")],
  ["2025-03-26", () => import("./revision_2025_03_26.ts")],
  ["2024-11-05", () => import("./revision_2024_11_05.ts")],
]);

const loaded = new Map<string, Promise<JSONSchema>>();
const checkers = new Map<string, Checker>();

/** What is wrong with a result by the schema of its revision; nothing for what the revision does not define. */
export function resultProblems(version: string, method: string, result: Members): Promise<readonly string[]> {
  const definition = result["resultType"] === "input_required" ? "InputRequiredResult" : RESULTS.get(method);
  return problems(version, definition, result);
}

/** The same for a notification. */
export function notificationProblems(version: string, message: Members): Promise<readonly string[]> {
  return problems(version, NOTIFICATIONS.get(String(message["method"])), message);
}

async function problems(
  version: string,
  definition: string | undefined,
  value: Members,
): Promise<readonly string[]> {
  const load = LOADERS.get(version);
  if (definition === undefined || load === undefined) return [];
  const key = `${version} ${definition}`;
  let check = checkers.get(key);
  if (check === undefined) {
    let schema = loaded.get(version);
    if (schema === undefined) {
      schema = load().then(({ SCHEMA }) => JSON.parse(SCHEMA) as JSONSchema);
      loaded.set(version, schema);
    }
    const whole = await schema;
    const place = "$defs" in whole ? "$defs" : "definitions";
    // Methods of another revision have no definition here.
    if (!(definition in (whole[place] as Members))) return [];
    check = createChecker({ ...whole, $ref: `#/${place}/${definition}` });
    checkers.set(key, check);
  }
  return (await check(value)).problems ?? [];
}
