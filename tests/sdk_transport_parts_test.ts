// Small parts of the transports for the official SDK: what the SDKs refuse, and ids that are remembered (rule K2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentIds } from "../internal/sdk/recent_ids.ts";
import { whyRefused } from "../internal/sdk/strict_message.ts";
import type { JSONRPCMessage } from "../messages.ts";
import { legacy, notification } from "./server_helpers.ts";

const TASK = "io.modelcontextprotocol/related-task";
const withMeta = (_meta: unknown) => legacy(1, "x", { _meta });

for (
  const [what, message, reason] of [
    ["a request", legacy(1, "x"), undefined],
    ["a notification", notification("notifications/x", {}), undefined],
    ["an error without an id", { jsonrpc: "2.0", error: { code: 1, message: "" } }, undefined],
    ["an id of 2^53 - 1", legacy(2 ** 53 - 1, "x"), undefined],
    ["an id of 2^53", legacy(2 ** 53, "x"), /"id" is beyond 2\^53/],
    ["an answer under such an id", { jsonrpc: "2.0", id: 2 ** 53, result: {} }, /"id" is beyond 2\^53/],
    ["a code beyond 2^53", { jsonrpc: "2.0", id: 1, error: { code: 1e16, message: "" } }, /"code" is beyond/],
    ["a code with a fraction", { jsonrpc: "2.0", id: 1, error: { code: 1.5, message: "" } }, /"code"/],
    ["a _meta that is no object", withMeta([]), /"_meta" is not an object/],
    ["a token of either type", withMeta({ progressToken: "" }), undefined],
    ["a token with a fraction", withMeta({ progressToken: 1.5 }), /"progressToken" is neither/],
    ["a token that is null", withMeta({ progressToken: null }), /"progressToken" is neither/],
    ["a task", withMeta({ [TASK]: { taskId: "1" } }), undefined],
    ["a task without its id", withMeta({ [TASK]: {} }), /"taskId"/],
  ] satisfies Array<[string, JSONRPCMessage, RegExp | undefined]>
) {
  test(`whyRefused() ${reason === undefined ? "lets pass" : "tells of"} ${what} (K2)`, () => {
    const why = whyRefused(message);
    if (reason === undefined) assert.equal(why, undefined);
    else assert.match(why!, reason);
  });
}

test("RecentIds remembers the newest 1 024 ids, told apart by type, and none that is very long", () => {
  const ids = new RecentIds();
  for (let id = 0; id < 1_024; id++) ids.add(id);
  assert.deepEqual([ids.has(0), ids.has("0"), ids.has(1_023)], [true, false, true]);
  ids.add(0); // It is the newest again.
  ids.add("more");
  assert.deepEqual([ids.has(0), ids.has(1), ids.has("more")], [true, false, true]);
  ids.add("x".repeat(1_025));
  assert.equal(ids.has("x".repeat(1_025)), false);
  assert.deepEqual([ids.delete(2), ids.has(2), ids.delete(2)], [true, false, false]);
});
