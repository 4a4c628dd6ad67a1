// Which answer belongs to which request, how it ended, and what breaks a rule (L4, L5).
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, Conversation, type Side } from "../internal/cli/recording/conversation.ts";

const META = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

/** What one side says. */
type Said = readonly [from: Side, message: Record<string, unknown>];

const ask = (id: unknown, method = "tools/call", params: Record<string, unknown> = {}): Said => [
  "client",
  { id, method, params: { ...params, _meta: { ...META, ...(params._meta as object | undefined) } } },
];
const answer = (id: unknown, result: unknown = {}): Said => ["server", { id, result }];
const fail = (id: unknown, code = -32602): Said => ["server", { id, error: { code, message: "no" } }];
const tell = (from: Side, method: string, params: unknown = {}): Said => [from, { method, params }];
const progress = (progressToken: unknown, value: unknown): Said =>
  tell("server", "notifications/progress", { progressToken, progress: value });

function play(lines: readonly Said[]): { calls: Call[]; breaks: string[][]; conversation: Conversation } {
  const conversation = new Conversation();
  const calls = new Set<Call>();
  const breaks = lines.map(([from, message], index) => {
    const seen = conversation.observe(index, from, { jsonrpc: "2.0", ...message });
    if (seen.call !== undefined) calls.add(seen.call);
    return [...seen.breaks];
  });
  return { calls: [...calls], breaks, conversation };
}

/** Sessions, with what is wrong with each of their lines. */
const SESSIONS: Readonly<Record<string, ReadonlyArray<readonly [said: Said, problem?: RegExp]>>> = {
  "a request and its answer": [[ask(1)], [answer(1)]],
  "ids of both types are two": [[ask(1)], [ask("1")], [answer("1")], [answer(1)]],
  "answers in any order": [[ask(1)], [ask(2)], [answer(2)], [fail(1)]],
  "an id in use": [[ask(1)], [ask(1), /an id that is in use/]],
  "an id used again": [[ask(1)], [answer(1)], [ask(1)], [answer(1)]],
  "an answer to nothing": [[ask(1)], [answer(2), /never made/]],
  "a second answer": [[ask(1)], [answer(1)], [answer(1), /a second answer/]],
  "cancelled": [[ask(1)], [tell("client", "notifications/cancelled", { requestId: 1 })]],
  "an answer to what was cancelled, which may have crossed it": [
    [ask(1)],
    [ask(2)],
    [tell("client", "notifications/cancelled", { requestId: 1 })],
    [answer(2)],
    [answer(1)],
  ],
  "an answer to what was cancelled, by a server that has read on": [
    [ask(1)],
    [tell("client", "notifications/cancelled", { requestId: 1 })],
    [ask(2)],
    [answer(2)],
    [answer(1), /that was cancelled/],
  ],
  "a cancellation that crosses the answer": [
    [ask(1)],
    [answer(1)],
    [tell("client", "notifications/cancelled", { requestId: 1 })],
  ],
  "initialize cannot be cancelled": [
    [["client", { id: 1, method: "initialize", params: {} }]],
    [tell("client", "notifications/cancelled", { requestId: 1 }), /"initialize" cannot be cancelled/],
  ],
  "progress": [
    [ask(1, "tools/call", { _meta: { progressToken: "t" } })],
    [progress("t", 1)],
    [progress("t", 2)],
    [progress("t", 2), /does not rise/],
    [progress("t", "3"), /does not rise/],
    [progress("u", 1), /no request gave/],
    [answer(1)],
    [progress("t", 3), /after the answer/],
  ],
  "progress of what was cancelled": [
    [ask(1, "tools/call", { _meta: { progressToken: 0 } })],
    [tell("client", "notifications/cancelled", { requestId: 1 })],
    [progress(0, 1)],
    [ask(2)],
    [answer(2)],
    [progress(0, 2), /that was cancelled/],
  ],
  "a token in use": [
    [ask(1, "tools/call", { _meta: { progressToken: 5 } })],
    [ask(2, "tools/call", { _meta: { progressToken: 5 } }), /token that is in use/],
  ],
  "neither era": [[["client", { id: 1, method: "tools/list" }], /neither "initialize"/]],
  "legacy": [
    [["client", { id: 1, method: "initialize", params: {} }]],
    [answer(1)],
    [tell("client", "notifications/initialized")],
    [["client", { id: 2, method: "tools/list" }]],
    [["server", { id: 1, method: "elicitation/create", params: {} }]],
    [["client", { id: 1, result: { action: "decline" } }]],
    [answer(2)],
  ],
  "a server that asks in the modern era": [
    [ask(1)],
    [["server", { id: 1, method: "ping" }], /a request from the server/],
  ],
  "an error for a line that could not be read": [
    [["client", { id: [], method: "x" }], /no JSON-RPC message/],
    [["server", { id: null, error: { code: -32600, message: "bad" } }]],
  ],
  "an error that names no request": [
    [ask(1)],
    [["server", { error: { code: -32600, message: "bad" } }], /names no request/],
  ],
  "a listen stream that the client ends": [
    [ask(9, "subscriptions/listen")],
    [stream(9, "notifications/subscriptions/acknowledged")],
    [tell("client", "notifications/cancelled", { requestId: 9 })],
    [stream(9, "notifications/tools/list_changed")],
    [ask(10)],
    [answer(10)],
    [stream(9, "notifications/tools/list_changed"), /a stream that is over/],
  ],
  "a listen stream": [
    [ask(9, "subscriptions/listen")],
    [stream(9, "notifications/tools/list_changed"), /before the acknowledgment/],
    [stream(9, "notifications/subscriptions/acknowledged")],
    [stream("9", "notifications/tools/list_changed")],
    [stream(8, "notifications/tools/list_changed"), /of no stream/],
    [answer(9)],
    [tell("server", "notifications/cancelled", { requestId: 9 })],
    [stream(9, "notifications/tools/list_changed"), /a stream that is over/],
  ],
};

function stream(id: unknown, method: string): Said {
  return tell("server", method, { _meta: { "io.modelcontextprotocol/subscriptionId": id } });
}

for (const [title, lines] of Object.entries(SESSIONS)) {
  test(`Conversation marks what breaks a rule, and nothing else: ${title} (L4)`, () => {
    const { breaks } = play(lines.map(([said]) => said));
    for (const [index, [, problem]] of lines.entries()) {
      if (problem === undefined) assert.deepEqual(breaks[index], [], `line ${index + 1}`);
      else assert.match(breaks[index]!.join("; "), problem, `line ${index + 1}`);
    }
  });
}

test("Conversation tells how each request ended, and when (L5)", () => {
  const { calls, conversation } = play([
    ask(1, "tools/call", { name: "weather" }),
    ask(2, "resources/read", { uri: "test://a" }),
    ask(3),
    ask(4),
    ask(5),
    answer(1, { isError: true, content: [{ type: "image" }, { type: "text", text: "it rains" }] }),
    fail(2),
    tell("client", "notifications/cancelled", { requestId: 3 }),
    answer(4),
  ]);
  conversation.end(99);
  assert.deepEqual(
    calls.map((
      { id, method, target, state, startedAt, endedAt, problem },
    ) => [id, method, target, state, startedAt, endedAt, problem]),
    [
      [1, "tools/call", "weather", "failed", 0, 5, "it rains"],
      [2, "resources/read", "test://a", "error", 1, 6, "-32602 no"],
      [3, "tools/call", "", "cancelled", 2, 7, ""],
      [4, "tools/call", "", "done", 3, 8, ""],
      [5, "tools/call", "", "lost", 4, 99, ""],
    ],
  );
});

test("Conversation takes batches apart where the revision has them (L4)", () => {
  const batch = [{ jsonrpc: "2.0", id: 1, method: "ping" }, { jsonrpc: "2.0", id: 2, method: "ping" }];
  const old = new Conversation();
  old.observe(0, "client", { jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
  old.observe(1, "server", { jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-03-26" } });
  assert.deepEqual(old.observe(2, "client", batch).breaks, []);
  assert.deepEqual(old.observe(3, "server", { jsonrpc: "2.0", id: 2, result: {} }).breaks, []);
  assert.match(new Conversation().observe(0, "client", batch).breaks[0]!, /a batch, which/);
  assert.match(old.observe(4, "client", [[]]).breaks.join(), /a batch in a batch/);
});

test("Conversation survives whatever is said, and forgets what is over (L4)", () => {
  const conversation = new Conversation();
  const values = [null, 5, "x", {}, { jsonrpc: "2.0" }, { jsonrpc: "2.0", id: 1, result: 5 }, {
    jsonrpc: "2.0",
    method: 5,
  }];
  for (const value of values) assert.equal(conversation.observe(0, "server", value).breaks.length, 1);
  for (const params of [null, { requestId: {} }, { progressToken: {} }, {}]) {
    for (const method of ["notifications/cancelled", "notifications/progress", "notifications/message"]) {
      conversation.observe(0, "server", { jsonrpc: "2.0", method, params });
    }
  }
  for (let id = 0; id < 30_000; id++) {
    conversation.observe(0, "client", { jsonrpc: "2.0", id, method: "ping" });
    conversation.observe(0, "server", { jsonrpc: "2.0", id, result: {} });
  }
  const late = (id: number) =>
    conversation.observe(0, "server", { jsonrpc: "2.0", id, result: {} }).breaks[0];
  assert.deepEqual([late(0), late(29_999)], [
    "an answer to a request that was never made",
    "a second answer",
  ]);
});

test("Conversation follows 100 000 open requests, and says nothing of what belongs to others (L4)", () => {
  for (const idOf of [(index: number) => index, () => "the same id"]) {
    const conversation = new Conversation();
    for (let index = 0; index <= 100_000; index++) {
      const params = { _meta: { progressToken: index } };
      conversation.observe(0, "client", { jsonrpc: "2.0", id: idOf(index), method: "tools/call", params });
    }
    const report = (progressToken: number) =>
      conversation.observe(0, "server", {
        ...{ jsonrpc: "2.0", method: "notifications/progress" },
        params: { progressToken, progress: 1 },
      });
    assert.equal(report(99_999).call?.id, idOf(99_999));
    const { call, breaks } = report(100_000);
    assert.equal(call, undefined);
    assert.deepEqual(breaks, []);
  }
});
