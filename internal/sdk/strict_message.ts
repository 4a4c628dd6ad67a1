import { isJSONObject, isRequestId, type JSONRPCMessage } from "../../messages.ts";

/** The members that the SDKs' strict schemas know. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);

const RELATED_TASK = "io.modelcontextprotocol/related-task";

/**
 * Says why the SDKs would refuse a message although it is one, or undefined if they take it. They refuse in silence: whoever waits
 * for an answer would wait in vain.
 */
export function whyRefused(message: JSONRPCMessage): string | undefined {
  if ("id" in message && message.id !== undefined && !isTakenId(message.id)) {
    return `the member "id" is beyond 2^53`;
  }
  if ("error" in message) {
    return Number.isSafeInteger(message.error.code) ? undefined : `the error's "code" is beyond 2^53`;
  }
  return whatIsWrongWithMeta(("method" in message ? message.params : message.result)?._meta);
}

/** A message without the members for which the SDKs would refuse it. */
export function withoutUnknown(message: JSONRPCMessage): JSONRPCMessage {
  if (Object.keys(message).every((name) => KNOWN_MEMBERS.has(name))) return message;
  return Object.fromEntries(
    Object.entries(message).filter(([name]) => KNOWN_MEMBERS.has(name)),
  ) as unknown as JSONRPCMessage;
}

function whatIsWrongWithMeta(meta: unknown): string | undefined {
  if (meta === undefined) return undefined;
  if (!isJSONObject(meta)) return `"_meta" is not an object`;
  const { progressToken, [RELATED_TASK]: task } = meta;
  if (progressToken !== undefined && !(isRequestId(progressToken) && isTakenId(progressToken))) {
    return `"_meta" member "progressToken" is neither a string nor a safe integer`;
  }
  if (task !== undefined && !(isJSONObject(task) && typeof task.taskId === "string")) {
    return `"_meta" member "${RELATED_TASK}" has no "taskId"`;
  }
  return undefined;
}

function isTakenId(id: string | number): boolean {
  return typeof id === "string" || Number.isSafeInteger(id);
}
