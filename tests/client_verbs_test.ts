// The verbs that people look for (rule C13).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "../client.ts";
import { InvalidResponseError } from "../errors.ts";
import type { Params } from "../messages.ts";
import { inhabit, meet, type Meeting, outcomeOf, settle } from "./_client_peer.ts";

const VERBS: ReadonlyArray<
  readonly [verb: string, call: (client: Client) => Promise<object>, method: string, params: Params]
> = [
  ["callTool", (client) => client.callTool("add", { a: 1 }), "tools/call", {
    name: "add",
    arguments: { a: 1 },
  }],
  ["callTool without arguments", (client) => client.callTool("add"), "tools/call", {
    name: "add",
    arguments: {},
  }],
  ["readResource", (client) => client.readResource("a://b"), "resources/read", { uri: "a://b" }],
  ["getPrompt", (client) => client.getPrompt("p", { x: "y" }), "prompts/get", {
    name: "p",
    arguments: { x: "y" },
  }],
  [
    "complete",
    (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "x", value: "y" }),
    "completion/complete",
    { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "y" } },
  ],
  [
    "complete with a context",
    (client) =>
      client.complete({ type: "ref/resource", uri: "a://{b}" }, { name: "b", value: "" }, {
        context: { arguments: { c: "d" } },
      }),
    "completion/complete",
    {
      ref: { type: "ref/resource", uri: "a://{b}" },
      argument: { name: "b", value: "" },
      context: { arguments: { c: "d" } },
    },
  ],
];

for (const [verb, call, method, params] of VERBS) {
  test(`Client.${verb}() makes the request that it stands for (C13)`, async () => {
    const { client, peer } = await meet();
    const answer = call(client);
    const request = await peer.takeRequest(method);
    const { _meta, ...sent } = request.params!;
    assert.deepEqual(sent, params);
    peer.answer(request, { resultType: "complete", told: 1 });
    assert.deepEqual(await answer, { resultType: "complete", told: 1 });
    await client.close();
  });
}

test("Client's verbs take the options of a request (C13)", async () => {
  const { client, peer, clock } = await meet();
  const calls = [
    client.callTool("add", {}, { timeoutMs: 100 }),
    client.readResource("a", { timeoutMs: 100 }),
    client.getPrompt("p", {}, { timeoutMs: 100 }),
    client.complete({ type: "ref/prompt", name: "p" }, { name: "x", value: "" }, { timeoutMs: 100 }),
    client.tools({ timeoutMs: 100 }).next(),
  ].map(outcomeOf<unknown>);
  await clock.advance(100);
  for (const call of calls) assert.equal((await call).error?.code, "request_timeout");
  assert.equal(peer.methods.filter((method) => method === "notifications/cancelled").length, 5);
  await client.close();
});

const LISTS = [
  ["tools", "tools/list", "tools"],
  ["resources", "resources/list", "resources"],
  ["resourceTemplates", "resources/templates/list", "resourceTemplates"],
  ["prompts", "prompts/list", "prompts"],
] as const;

for (const [verb, method, member] of LISTS) {
  test(`Client.${verb}() gives the items of all pages, each when it is come to (C13)`, async () => {
    const { client, peer } = await meet();
    const items = client[verb]();
    await settle();
    assert.ok(!peer.methods.includes(method), "nothing is asked before it is wanted");
    const names: string[] = [];
    const reading = (async () => {
      for await (const { name } of items) names.push(name);
    })();
    for (const [page, cursor] of [[1, undefined], [2, "2"], [3, "3"]] as const) {
      const request = await peer.takeRequest(method);
      assert.equal(request.params?.cursor, cursor);
      peer.answer(request, {
        [member]: [{ name: `${page}a` }, { name: `${page}b` }],
        ...(page < 3 ? { nextCursor: String(page + 1) } : {}),
      });
    }
    await reading;
    assert.deepEqual(names, ["1a", "1b", "2a", "2b", "3a", "3b"]);
    await client.close();
  });
}

async function answerLists(
  { peer }: Pick<Meeting, "peer">,
  pages: (cursor: unknown, n: number) => object,
  most = Infinity,
): Promise<void> {
  for (let n = 0; n < most; n++) {
    const request = await peer.takeRequest("tools/list");
    peer.answer(request, pages(request.params?.cursor, n));
  }
}

async function collect(client: Client): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of client.tools()) names.push(name);
  return names;
}

const CIRCLES: ReadonlyArray<
  readonly [what: string, page: (cursor: unknown, n: number) => object, reason: RegExp, pages: number]
> = [
  ["whose cursor is always the same", () => ({ tools: [], nextCursor: "a" }), /"nextCursor" came before/, 2],
  ["whose cursors go round", (_cursor, n) => ({ tools: [], nextCursor: "abc"[n % 3] }), /came before/, 4],
  ["whose cursor is no text", () => ({ tools: [], nextCursor: 5 }), /is no string/, 1],
  [
    "whose cursors are endless",
    (_cursor, n) => ({ tools: [], nextCursor: `${n}${"x".repeat(1_500_000)}` }),
    /very long cursors/,
    3,
  ],
  ["without its items", () => ({ nextCursor: "a" }), /"tools" is no array/, 1],
];

for (const [what, page, reason, pages] of CIRCLES) {
  test(`Client.tools() ends with an error at a page ${what} (C13)`, async () => {
    const meeting = await meet();
    const reading = outcomeOf(collect(meeting.client));
    await answerLists(meeting, page, pages);
    const { error } = await reading;
    assert.ok(error instanceof InvalidResponseError);
    assert.match(error.message, reason);
    await settle();
    assert.equal(meeting.peer.methods.filter((method) => method === "tools/list").length, pages);
    await meeting.client.close();
  });
}

test("Client.tools() takes a cursor that is null or empty for none (C13)", async () => {
  for (const nextCursor of [null, ""]) {
    const meeting = await meet();
    const reading = collect(meeting.client);
    await answerLists(meeting, () => ({ tools: [{ name: "a" }], nextCursor }), 1);
    assert.deepEqual(await reading, ["a"]);
    await meeting.client.close();
  }
});

test("Client.tools() asks for no page more when its loop is left (C13)", async () => {
  const meeting = await meet();
  answerLists(meeting, (_cursor, n) => ({ tools: [{ name: String(n) }], nextCursor: String(n) })).catch(
    () => {},
  );
  for await (const { name } of meeting.client.tools()) {
    if (name === "2") break;
  }
  await settle();
  assert.equal(meeting.peer.methods.filter((method) => method === "tools/list").length, 3);
  await meeting.client.close();
});

test("Client.request() refuses options in the place of params, also from untyped code (XF3)", async () => {
  const { client, peer } = await meet();
  const sent = peer.received.length;
  const untyped = client as unknown as { request(method: string, params: object): Promise<unknown> };
  const { signal } = new AbortController();
  assert.throws(
    () => untyped.request("tools/list", { timeoutMs: 1, signal }),
    /options stand behind the params/,
  );
  await settle();
  assert.equal(peer.received.length, sent);
  await client.close();
});

test("Client lets onLog hear what names its request, and gives the rest to onNotification (XF9, C3)", async () => {
  const unrouted: unknown[] = [];
  const heard: unknown[] = [];
  const { client, peers } = await inhabit(undefined, {
    onNotification: (_method, params) => void unrouted.push(params?.data),
  });
  const message = (data: string, progressToken?: unknown) => ({
    method: "notifications/message",
    params: { level: "info", data, ...(progressToken === undefined ? {} : { _meta: { progressToken } }) },
  });
  const peer = peers[0]!;
  const calls = [
    client.callTool("a", {}, { onLog: (_level, data) => void heard.push(data) }),
    client.callTool("b", {}, { onProgress: () => {} }),
    client.callTool("c", {}, { onNotification: (_method, params) => void heard.push(params?.data) }),
  ];
  const requests = [];
  for (const _call of calls) requests.push(await peer.takeRequest("tools/call"));
  const [a, b, c] = requests.map(({ params }) => (params!._meta as Params).progressToken);
  peer.send(message("of a", a), message("of b", b), message("of c", c), message("of none"));
  for (const request of requests) peer.answer(request);
  await Promise.all(calls);
  await settle();
  assert.deepEqual(heard, ["of a", "of c"]);
  assert.deepEqual(unrouted, ["of b", "of none"]);
  await client.close();
});
