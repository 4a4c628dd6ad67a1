// Subscriptions: the listen streams of modern clients, and the same publications for a legacy one (rule V9).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JSONRPCMessage, Params, RequestId } from "../messages.ts";
import {
  call,
  cancel,
  initialize,
  legacy,
  type Message,
  modern,
  type Session,
  start,
  textOf,
} from "./server_helpers.ts";

const ID = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const UPDATED = "notifications/resources/updated";
const TOOLS = "notifications/tools/list_changed";

const everything = {
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
  },
};

function listen(id: RequestId, notifications: Params): JSONRPCMessage {
  return modern(id, "subscriptions/listen", { notifications });
}

async function acknowledged(session: Session, id: RequestId): Promise<Message> {
  const ofId = () =>
    session.transcript.notifications(ACKNOWLEDGED).filter(({ params }) => params._meta[ID] === id);
  await session.transcript.until(() => ofId().length > 0, `the acknowledgment of ${id}`);
  return ofId()[0]!;
}

test("Server acknowledges a listen first, with the filter it can deliver (V9)", async (t) => {
  const all = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["file:///a", "file:///b"],
  };
  const narrow = start(t, { tools: { hello: { call: () => "hello" } } });
  narrow.send(listen(1, { ...all, unknownKind: true }));
  assert.deepEqual((await acknowledged(narrow, 1)).params, {
    _meta: { [ID]: 1 },
    notifications: { toolsListChanged: true },
  });
  const wide = start(t, everything);
  wide.send(listen("s", all), listen(2, { toolsListChanged: false }));
  assert.deepEqual((await acknowledged(wide, "s")).params.notifications, all);
  assert.deepEqual((await acknowledged(wide, 2)).params.notifications, {});
});

test("Server accepts the specification's listen request as it stands (V9)", async (t) => {
  const session = start(t, everything);
  session.send(
    '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{' +
      '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":' +
      '{"name":"ExampleClient","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}},' +
      '"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///project/config.json"]}}}',
  );
  await acknowledged(session, 1);
  session.server.publish(UPDATED, { uri: "file:///project/config.json" });
  session.end();
  await session.running;
  assert.deepEqual(session.transcript.messages, [
    {
      jsonrpc: "2.0",
      method: ACKNOWLEDGED,
      params: {
        _meta: { [ID]: 1 },
        notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///project/config.json"] },
      },
    },
    { jsonrpc: "2.0", method: UPDATED, params: { _meta: { [ID]: 1 }, uri: "file:///project/config.json" } },
    {
      jsonrpc: "2.0",
      id: 1,
      result: {
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" }, [ID]: 1 },
        resultType: "complete",
      },
    },
    {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "server shutdown" },
    },
  ]);
});

test("Server stamps publications with the stream's id and sends only what was asked for (V9)", async (t) => {
  const session = start(t, everything);
  session.send(
    listen(1, { toolsListChanged: true }),
    listen("1", { resourceSubscriptions: ["file:///a"] }),
    listen(3, { resourceSubscriptions: ["file:///a", "file:///b"], promptsListChanged: true }),
  );
  await acknowledged(session, 3);
  const publish = session.server.publish.bind(session.server);
  publish(TOOLS);
  publish("notifications/prompts/list_changed");
  publish("notifications/resources/list_changed");
  publish(UPDATED, { uri: "file:///a", _meta: { a: 1 } });
  publish(UPDATED, { uri: "file:///b" });
  publish(UPDATED, { uri: "file:///c" });
  await session.settle();
  const heard = session.transcript.messages.slice(3).map(({ method, params }) => [
    method!.replace("notifications/", ""),
    params._meta[ID],
    params.uri,
  ]);
  assert.deepEqual(heard, [
    ["tools/list_changed", 1, undefined],
    ["prompts/list_changed", 3, undefined],
    ["resources/updated", "1", "file:///a"],
    ["resources/updated", 3, "file:///a"],
    ["resources/updated", 3, "file:///b"],
  ]);
  assert.equal(session.transcript.messages[5]!.params._meta.a, 1);
});

test("Server stamps the exact digits of an id beyond 2^53 (V9)", async (t) => {
  const session = start(t, everything);
  const text = JSON.stringify(listen(1, { toolsListChanged: true }));
  session.send(text.replace('"id":1', '"id":9007199254740993'));
  await session.settle();
  session.server.publish(TOOLS);
  await session.settle();
  assert.equal(session.transcript.texts.length, 2);
  for (const line of session.transcript.texts) assert.match(line, /subscriptionId":9007199254740993[,}]/);
  session.send(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}',
  );
  await session.settle();
  session.server.publish(TOOLS);
  await session.settle();
  assert.equal(session.transcript.texts.length, 2);
});

test("Server ends a listen that its client cancels without a word (V9)", async (t) => {
  const session = start(t, everything);
  session.send(listen(1, { toolsListChanged: true }), listen(2, { toolsListChanged: true }));
  await acknowledged(session, 2);
  // The reason text is the client's: it makes no shutdown of it.
  session.send(cancel(1, "server shutdown"), modern(3, "server/discover"));
  await session.response(3);
  session.server.publish(TOOLS);
  session.end();
  await session.running;
  const about1 = session.transcript.messages.filter(({ id, params }) =>
    id === 1 || params?._meta?.[ID] === 1 || params?.requestId === 1
  );
  assert.deepEqual(about1.map(({ method }) => method), [ACKNOWLEDGED]);
  assert.equal(session.transcript.notifications("notifications/cancelled").length, 1);
});

test("Server lets listens hold no permit, and answers Server busy over limits.maxListenStreams (V2)", async (t) => {
  const session = start(t, {
    ...everything,
    limits: { maxInFlightRequests: 1, maxQueuedRequests: 1, maxListenStreams: 2 },
    tools: { hello: { call: () => "hello" } },
  });
  session.send(listen(1, {}), listen(2, {}), listen(3, {}), call(4, "hello"));
  assert.deepEqual((await session.response(3)).error, { code: -32603, message: "Server busy" });
  assert.equal(textOf(await session.response(4)), "hello");
  session.send(cancel(1), listen(5, {}));
  await acknowledged(session, 5);
});

test("Server opens 1024 listens by default and tells each (V9)", async (t) => {
  const session = start(t, everything);
  session.send(...Array.from({ length: 1_025 }, (_, id) => listen(id, { toolsListChanged: true })));
  assert.equal((await session.response(1_024)).error?.message, "Server busy");
  session.server.publish(TOOLS);
  await session.transcript.until(
    () => session.transcript.notifications(TOOLS).length === 1_024,
    "all are told",
  );
});

test("Server refuses a second listen under an id that is in flight, and a request, and the first goes on (V5, V9)", async (t) => {
  const session = start(t, { ...everything, tools: { hello: { call: () => "hello" } } });
  session.send(listen("a", { toolsListChanged: true }));
  await acknowledged(session, "a");
  session.send(listen("a", { promptsListChanged: true }), call("a", "hello"), call("after", "hello"));
  await session.response("after");
  assert.deepEqual(session.transcript.responsesTo("a").map(({ error }) => error?.code), [-32600, -32600]);
  assert.equal(session.transcript.notifications(ACKNOWLEDGED).length, 1);
  session.server.publish(TOOLS);
  session.server.publish("notifications/prompts/list_changed");
  session.send(call("last", "hello"));
  await session.response("last");
  assert.equal(session.transcript.notifications(TOOLS).length, 1);
  assert.equal(session.transcript.notifications("notifications/prompts/list_changed").length, 0);
});

test("Server stamps a publication with the id of its stream, whatever its own metadata say (V9)", async (t) => {
  const session = start(t, everything);
  session.send(listen("a", { toolsListChanged: true }));
  await acknowledged(session, "a");
  session.server.publish(TOOLS, { _meta: { [ID]: "b", mine: 1 } });
  await session.transcript.until(() => session.transcript.notifications(TOOLS).length > 0, "the change");
  assert.deepEqual(session.transcript.notifications(TOOLS)[0]!.params, { _meta: { [ID]: "a", mine: 1 } });
});

test("Server has room again when a listen is cancelled that waits for the output (V1, V9)", async (t) => {
  const session = start(t, {
    ...everything,
    limits: { maxQueuedRequests: 1, maxQueuedBytes: 1_000 },
    tools: { big: { call: () => "x".repeat(5_000) } },
  }, { capacityBytes: 10 });
  session.stall();
  // The first answer is read, the second one on its way, and the third fills the output.
  for (const id of [1, 2, 3]) {
    session.send(call(id, "big"));
    await session.settle();
  }
  session.send(listen("a", { toolsListChanged: true }));
  await session.settle();
  session.send(cancel("a"));
  await session.settle();
  session.resume();
  session.send(call(4, "big"));
  assert.equal(textOf(await session.response(4)).length, 5_000);
  assert.equal(session.transcript.notifications(ACKNOWLEDGED).length, 0);
});

test("Server forgets the subscriptions of a legacy client that shakes hands anew (V8, V9)", async (t) => {
  const session = start(t, everything);
  session.send(initialize(1), legacy(2, "resources/subscribe", { uri: "file:///a" }));
  await session.response(2);
  session.send(initialize(3), legacy(4, "resources/subscribe", { uri: "file:///b" }));
  await session.response(4);
  session.server.publish(UPDATED, { uri: "file:///a" });
  session.server.publish(UPDATED, { uri: "file:///b" });
  session.send(legacy(5, "ping"));
  await session.response(5);
  const updates = session.transcript.notifications(UPDATED);
  assert.deepEqual(updates.map(({ params }) => params.uri), ["file:///b"]);
});

test("Server rejects a listen whose filter is none (V9)", async (t) => {
  const session = start(t, everything);
  const filters: unknown[] = [
    undefined,
    null,
    [],
    { toolsListChanged: "yes" },
    { resourceSubscriptions: "file:///a" },
    { resourceSubscriptions: [7] },
  ];
  for (const [id, filter] of filters.entries()) {
    session.send(listen(id, filter as Params));
    assert.equal((await session.response(id)).error?.code, -32602, JSON.stringify(filter));
  }
});

test("Server.publish() throws for what cannot be published, also before it runs (V9)", async (t) => {
  const session = start(t, everything);
  assert.throws(() => session.server.publish("notifications/progress"), TypeError);
  assert.throws(() => session.server.publish(UPDATED), TypeError);
  assert.throws(() => session.server.publish(UPDATED, { uri: 7 }), TypeError);
  session.end();
  await session.running;
  session.server.publish(TOOLS); // Nobody is left to hear it.
});

test("Server tells a legacy client what it publishes, in its own form (V9)", async (t) => {
  const session = start(t, everything);
  session.server.publish(TOOLS); // Nobody is there yet.
  session.send(
    initialize(1),
    legacy(2, "resources/subscribe", { uri: "file:///a" }),
    legacy(3, "resources/subscribe", { uri: "file:///b" }),
    legacy(4, "resources/unsubscribe", { uri: "file:///b" }),
    legacy(5, "resources/subscribe", { uri: 5 }),
    listen(6, { toolsListChanged: true }),
  );
  await acknowledged(session, 6);
  assert.equal((await session.response(5)).error?.code, -32602);
  session.server.publish(TOOLS);
  session.server.publish(UPDATED, { uri: "file:///a" });
  session.server.publish(UPDATED, { uri: "file:///b" });
  await session.settle();
  assert.deepEqual(session.transcript.messages.slice(6), [
    { jsonrpc: "2.0", method: TOOLS, params: { _meta: { [ID]: 6 } } },
    { jsonrpc: "2.0", method: TOOLS },
    { jsonrpc: "2.0", method: UPDATED, params: { uri: "file:///a" } },
  ]);
});

test("Server tells nobody what it has not declared (V9)", async (t) => {
  const session = start(t, { capabilities: { tools: {}, resources: { listChanged: true } } });
  session.send(
    initialize(1),
    legacy(2, "resources/subscribe", { uri: "file:///a" }),
    listen(3, { toolsListChanged: true, resourceSubscriptions: ["file:///a"], resourcesListChanged: true }),
  );
  assert.equal((await session.response(2)).error?.code, -32601);
  assert.deepEqual((await acknowledged(session, 3)).params.notifications, { resourcesListChanged: true });
  session.server.publish(TOOLS);
  session.server.publish(UPDATED, { uri: "file:///a" });
  await session.settle();
  assert.equal(session.transcript.messages.length, 3);
});

test("Server acknowledges before all else also when the output was full (V9)", async (t) => {
  const session = await startFull(t);
  session.send(listen(1, { toolsListChanged: true }), listen(2, { toolsListChanged: true }));
  await session.settle();
  session.server.publish(TOOLS);
  session.send(cancel(2)); // Its acknowledgment was not written yet, and is not any more.
  await session.settle();
  session.resume();
  await acknowledged(session, 1);
  session.server.publish(TOOLS);
  await session.transcript.until(() => session.transcript.notifications(TOOLS).length > 0, "the publication");
  const about = session.transcript.messages.filter(({ params }) => params?._meta?.[ID] !== undefined);
  assert.deepEqual(about.map(({ method, params }) => [method, params._meta[ID]]), [[ACKNOWLEDGED, 1], [
    TOOLS,
    1,
  ]]);
});

test("Server holds only the newest publication of a kind under a full output, none for the cancelled (V9)", async (t) => {
  const session = await startFull(t, [
    listen(1, { resourceSubscriptions: ["file:///a", "file:///b"] }),
    listen(2, { toolsListChanged: true }),
  ]);
  for (let revision = 1; revision <= 1_000; revision++) {
    session.server.publish(UPDATED, { uri: "file:///a", revision });
    session.server.publish(UPDATED, { uri: "file:///b", revision });
    session.server.publish(TOOLS);
  }
  session.send(cancel(2));
  await session.settle();
  session.resume();
  await session.transcript.until(() => session.transcript.notifications(UPDATED).length === 2, "two updates");
  await session.settle();
  const heard = session.transcript.notifications(UPDATED).map(({ params }) => [params.uri, params.revision]);
  assert.deepEqual(heard, [["file:///a", 1_000], ["file:///b", 1_000]]);
  assert.deepEqual(session.transcript.notifications(TOOLS), []);
});

test("Server ends listens at the end of input in their order, acknowledged or not, held updates first (V9)", async (t) => {
  const session = await startFull(t, [listen(1, { resourceSubscriptions: ["file:///a"] })]);
  session.server.publish(UPDATED, { uri: "file:///a" });
  session.send(listen(2, { toolsListChanged: true }));
  await session.settle();
  session.end();
  await session.settle();
  session.resume();
  await session.running;
  const about = (id: RequestId) =>
    session.transcript.messages
      .filter((message) =>
        message.id === id || message.params?._meta?.[ID] === id || message.params?.requestId === id
      )
      .map(({ method }) => method ?? "result");
  assert.deepEqual(about(1), [ACKNOWLEDGED, UPDATED, "result", "notifications/cancelled"]);
  assert.deepEqual(about(2), [ACKNOWLEDGED, "result", "notifications/cancelled"]);
});

/** A server whose client has stopped reading, so that its output is full. */
async function startFull(t: TestContext, first: JSONRPCMessage[] = []): Promise<Session> {
  const session = start(t, {
    ...everything,
    limits: { maxQueuedBytes: 1_024 },
    tools: { big: { call: () => "x".repeat(4_096) } },
  }, { capacityBytes: 1_024 });
  session.send(...first);
  await session.settle();
  session.stall();
  // One is read, one is in the pipe, one is queued.
  for (const id of ["b1", "b2", "b3"]) session.send(call(id, "big"));
  await session.settle();
  return session;
}
