/**
 * The official SDK's own tests of `serveStdio` and of its listen streams, told in our words against serve(). A title is that of the official
 * test; where we mean to do otherwise it says so.
 */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { inputRequired, McpServer, SdkError } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { SdkServer } from "../../internal/sdk/sdk_shapes.ts";
import type { JSONRPCMessage } from "../../messages.ts";
import { type SdkServed, type SdkServedOptions, serveSdkInMemory, settle } from "../sdk_transport_helpers.ts";
import {
  cancel,
  envelope,
  Gate,
  initialize,
  legacy,
  type Message,
  modern,
  notification,
} from "../server_helpers.ts";

const MODERN = "2026-07-28";
const PREFIX = "io.modelcontextprotocol/";

// packages/server/test/server/serveStdio.test.ts

interface Tracked extends SdkServed {
  readonly eras: string[];
  readonly closed: boolean[];
  readonly servers: McpServer[];
  /** Sends a request and gives its answer. */
  request(message: JSONRPCMessage): Promise<Message>;
}

function track(
  t: TestContext,
  options: SdkServedOptions & { before?: (server: McpServer) => void | Promise<void> } = {},
): Tracked {
  const { before, ...rest } = options;
  const eras: string[] = [];
  const closed: boolean[] = [];
  const servers: McpServer[] = [];
  const factory = async ({ era }: { era: string }): Promise<SdkServer> => {
    const index = eras.push(era) - 1;
    closed.push(false);
    const server = new McpServer({ name: "entry", version: "1.0.0" }, {
      capabilities: { tools: {} },
      instructions: "test instructions",
    });
    server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: "text", text }],
    }));
    server.server.onclose = () => void (closed[index] = true);
    servers.push(server);
    await before?.(server);
    return server;
  };
  const served = serveSdkInMemory(t, factory, rest);
  const request = (message: JSONRPCMessage) => {
    served.client.send(message);
    return served.client.transcript.response((message as { id: number }).id);
  };
  return { ...served, eras, closed, servers, request };
}

const callEcho = (id: number, text: string) =>
  modern(id, "tools/call", { name: "echo", arguments: { text } });

test("serveStdio: pins one 2025-era instance for the connection and serves it exactly like a hand-wired stdio server", async (t) => {
  const { request, client, eras } = track(t);
  const greeting = await request(initialize(1));
  assert.deepEqual(greeting.result, {
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "entry", version: "1.0.0" },
    instructions: "test instructions",
  });
  client.send(notification("notifications/initialized"));
  const { result } = await request(legacy(2, "tools/list"));
  assert.deepEqual([Object.keys(result), result.tools[0].name], [["tools"], "echo"]);
  const called = await request(legacy(3, "tools/call", { name: "echo", arguments: { text: "hi" } }));
  assert.deepEqual(called.result, { content: [{ type: "text", text: "hi" }] });
  assert.deepEqual(eras, ["legacy"]);
  assert.deepEqual((await request(legacy(4, "server/discover"))).error, {
    code: -32601,
    message: "Method not found",
  });
  const wire = client.transcript.texts.join("").toLowerCase();
  for (const word of ["2026", "discover", "envelope", "modern", "era", "resulttype", PREFIX]) {
    assert.ok(!wire.includes(word), word);
  }
});

test("serveStdio: a claim-less non-initialize opening also pins the legacy era (we ask for the envelope, rule V6)", async (t) => {
  const { request } = track(t);
  assert.equal((await request(legacy(1, "tools/list"))).error!.code, -32602);
});

test("serveStdio: a valid enveloped request pins one era-written 2026-07-28 instance", async (t) => {
  const { request, eras } = track(t);
  const { result } = await request(modern(1, "tools/list"));
  assert.deepEqual([result.tools[0].name, result.resultType], ["echo", "complete"]);
  assert.deepEqual((await request(callEcho(2, "modern leg"))).result.content, [{
    type: "text",
    text: "modern leg",
  }]);
  assert.deepEqual(eras, ["modern"]);
});

test("serveStdio: an enveloped initialize is classified by its valid modern claim and answered with a plain -32601", async (t) => {
  const { request, eras } = track(t);
  assert.deepEqual((await request(modern(1, "initialize"))).error, {
    code: -32601,
    message: "Method not found",
  });
  assert.deepEqual(eras, ["modern"]);
});

test("serveStdio: once the modern era is pinned, a late claim-less initialize answers -32022 (we serve it, rule V8)", async (t) => {
  const { request } = track(t);
  await request(modern(1, "tools/list"));
  assert.equal((await request(initialize(2))).result.protocolVersion, "2025-11-25");
  assert.equal((await request(callEcho(3, "still modern"))).result.resultType, "complete");
});

test("serveStdio: answers the probe from a modern instance, and the factory runs once", async (t) => {
  const { request, eras } = track(t);
  for (const id of [1, 2]) {
    const { result } = await request(modern(id, "server/discover"));
    assert.deepEqual([result.supportedVersions, result.resultType], [[MODERN], "complete"]);
  }
  assert.equal((await request(callEcho(3, "after the probe"))).result.content[0].text, "after the probe");
  assert.deepEqual(eras, ["modern"]);
});

test("serveStdio: discover followed by initialize falls back to a fresh legacy instance (we keep the other one)", async (t) => {
  const { request, eras, closed } = track(t);
  await request(modern(1, "server/discover"));
  assert.equal((await request(initialize(2))).result.protocolVersion, "2025-11-25");
  assert.deepEqual([eras, closed], [["modern", "legacy"], [false, false]]);
  assert.doesNotMatch(JSON.stringify(await request(legacy(3, "tools/list"))), /resultType/);
});

test("serveStdio: answers the probe even when the fallback initialize is pipelined immediately behind it", async (t) => {
  const { request, log, eras } = track(t);
  const [probe, greeting] = await Promise.all([
    request(modern(1, "server/discover")),
    request(initialize(2)),
  ]);
  assert.deepEqual(probe.result.supportedVersions, [MODERN]);
  assert.equal(greeting.result.protocolVersion, "2025-11-25");
  assert.deepEqual(eras, ["modern", "legacy"]);
  assert.ok((await request(legacy(3, "tools/list"))).result);
  assert.deepEqual(log.texts("error"), []);
});

test("serveStdio: a cancellation of the probe, enveloped or pipelined, leaves a working legacy session", async (t) => {
  const { client, request, log } = track(t);
  const params = {
    requestId: 1,
    reason: "aborted",
    _meta: envelope(),
  };
  client.send(modern(1, "server/discover"), notification("notifications/cancelled", params), initialize(2));
  await client.transcript.response(2);
  assert.ok((await request(legacy(3, "tools/list"))).result);
  assert.deepEqual([log.texts("error"), log.texts("warn")], [[], []]);
});

test("serveStdio: legacy: 'reject' answers a legacy opening with -32022 and never pins a legacy instance; drops a claim-less notification", async (t) => {
  const { client, request, eras } = track(t, { legacy: "reject" });
  client.send(notification("notifications/initialized"));
  const { error } = await request(initialize(1));
  assert.deepEqual([error!.code, error!.data], [-32022, { supported: [MODERN], requested: "2025-11-25" }]);
  assert.deepEqual([eras, client.transcript.messages.length], [[], 1]);
  assert.ok((await request(modern(2, "tools/list"))).result);
  assert.deepEqual(eras, ["modern"]);
});

test("serveStdio: malformed and unsupported envelope claims are answered and pin nothing", async (t) => {
  const { request, eras } = track(t);
  const broken = legacy(1, "tools/list", { _meta: { [`${PREFIX}protocolVersion`]: MODERN } });
  assert.match((await request(broken)).error!.message, /clientCapabilities/);
  const { error } = await request(
    modern(2, "tools/list", {}, { [`${PREFIX}protocolVersion`]: "2099-01-01" }),
  );
  assert.deepEqual([error!.code, error!.data.requested, error!.data.supported[0]], [
    -32022,
    "2099-01-01",
    MODERN,
  ]);
  assert.deepEqual(eras, []);
  assert.ok((await request(modern(3, "tools/list"))).result);
});

test("serveStdio: answers -32603 when the factory throws or the instance does not connect, reports it, and stays unpinned", async (t) => {
  let failures = 3;
  const { request, log, eras } = track(t, {
    before(server) {
      failures--;
      if (failures === 2) throw new Error("the factory failed");
      if (failures >= 0) server.connect = () => Promise.reject(new Error("connect failed"));
    },
  });
  for (const message of [initialize(1), modern(2, "tools/list"), modern(3, "server/discover")]) {
    assert.deepEqual((await request(message)).error, { code: -32603, message: "Internal error" });
  }
  assert.equal(log.texts("error").length, 3);
  assert.ok((await request(initialize(4))).result);
  assert.deepEqual(eras, ["legacy", "modern", "modern", "legacy"]);
});

for (const message of [initialize(1), modern(1, "server/discover")]) {
  test(`serveStdio: close() during the factory build stays closed: the late instance is closed and never delivered to (${(message as { method: string }).method}; its request is answered)`, async (t) => {
    const gate = new Gate();
    const { session, client, clock, closed, running } = track(t, {
      before: () => gate.opened,
      drainTimeoutMs: 100,
    });
    client.send(message);
    await settle();
    session.stop({ reason: "closed" });
    await clock.advance(100);
    await running;
    gate.open();
    await settle();
    assert.match(client.transcript.responsesTo(1)[0]!.error!.message, /shutting down/);
    assert.equal(client.transcript.messages.length, 1);
    // It was never connected; close() is what it gets.
    assert.deepEqual(closed, [false]);
  });
}

test("serveStdio: a handler calling ctx.mcpReq.requestSampling gets the typed era error locally, with zero sampling wire traffic", async (t) => {
  let observed: unknown;
  const { client, request } = track(t, {
    before: (server) =>
      void server.registerTool("sample", { inputSchema: z.object({}) }, async (_args, { mcpReq }) => {
        await mcpReq.requestSampling({ messages: [], maxTokens: 1 }).catch((error) => observed = error);
        return { content: [{ type: "text", text: "handled locally" }] };
      }),
  });
  await request(modern(1, "tools/call", { name: "sample", arguments: {} }));
  assert.ok(
    observed instanceof SdkError && observed.code === "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION",
    String(observed),
  );
  assert.equal(client.transcript.messages.length, 1);
});

test("serveStdio: handle.close() closes the pinned instance and the wire transport", async (t) => {
  const { session, client, request, closed, running } = track(t);
  await request(initialize(1));
  session.stop({ reason: "closed" });
  await running;
  await client.ended;
  assert.deepEqual(closed, [true]);
});

test("serveStdio: a write-once tool returning inputRequired() is fulfilled over the legacy-pinned connection", async (t) => {
  const { client, request } = track(t, {
    before: (server) =>
      void server.registerTool("confirm", { inputSchema: z.object({}) }, (_args, { mcpReq }) => {
        const responses = mcpReq.inputResponses as { confirm?: { content?: { ok?: boolean } } } | undefined;
        if (responses?.confirm?.content?.ok === true) {
          return { content: [{ type: "text", text: "confirmed" }] };
        }
        const requestedSchema = { type: "object" as const, properties: {} };
        return inputRequired({
          inputRequests: { confirm: inputRequired.elicit({ message: "OK?", requestedSchema }) },
        });
      }),
  });
  await request(initialize(1, "2025-11-25", { elicitation: { form: {} } }));
  client.send(legacy(2, "tools/call", { name: "confirm", arguments: {} }));
  const { transcript } = client;
  await transcript.until(() => transcript.notifications("elicitation/create").length === 1, "the question");
  const { id } = transcript.notifications("elicitation/create")[0]!;
  client.send({ jsonrpc: "2.0", id: id!, result: { action: "accept", content: { ok: true } } });
  assert.equal((await transcript.response(2)).result.content[0].text, "confirmed");
});

// packages/server/test/server/serveStdioListen.test.ts

const listen = (id: number | string, notifications: object) =>
  modern(id, "subscriptions/listen", { notifications });
const idOf = ({ params, result }: Message) => (params ?? result)?._meta?.[`${PREFIX}subscriptionId`];

test("serveStdio listen: ack is the first message, stamped with the listen id verbatim, and narrowed to the capabilities", async (t) => {
  const { client } = track(t);
  client.send(listen(7, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }));
  await client.transcript.until(() => client.transcript.messages.length === 1, "the acknowledgment");
  assert.deepEqual(client.transcript.messages, [{
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { _meta: { [`${PREFIX}subscriptionId`]: 7 }, notifications: { toolsListChanged: true } },
  }]);
});

test("serveStdio listen: changes reach only opted-in subscriptions, stamped per stream, and none after a cancellation", async (t) => {
  const { client, request, servers } = track(t);
  client.send(listen(1, { toolsListChanged: true }), listen(2, { promptsListChanged: true }));
  await request(modern(3, "tools/list"));
  const told = () => client.transcript.notifications("notifications/tools/list_changed");
  servers[0]!.registerTool("b", { inputSchema: z.object({}) }, () => ({ content: [] }));
  await client.transcript.until(() => told().length > 0, "the change");
  client.send(cancel(1));
  await request(modern(4, "tools/list"));
  servers[0]!.sendToolListChanged();
  await request(modern(5, "tools/list"));
  assert.deepEqual(told().map(idOf), [1]);
});

test("serveStdio listen: handle.close() emits one result per active subscription id, with the server's identity (and the cancellation of rule V11 behind it)", async (t) => {
  const { client, session, running, request } = track(t);
  client.send(listen("s1", { toolsListChanged: true }), listen("s2", { promptsListChanged: true }));
  await request(modern(1, "tools/list"));
  session.stop({ reason: "closed" });
  await running;
  const last = client.transcript.messages.slice(-4);
  assert.deepEqual(last.map((message) => message.id ?? message.params.requestId), ["s1", "s1", "s2", "s2"]);
  for (const { result } of last.filter(({ result }) => result !== undefined)) {
    assert.deepEqual([result.resultType, result._meta[`${PREFIX}serverInfo`].name], ["complete", "entry"]);
  }
});

test("serveStdio listen: refuses pre-ack with -32603 when at capacity; -32602 without an envelope; -32022 for another revision", async (t) => {
  const { request, client } = track(t, { limits: { maxListenStreams: 1 } });
  client.send(listen(1, { toolsListChanged: true }));
  assert.equal((await request(listen(2, { toolsListChanged: true }))).error!.code, -32603);
  assert.equal((await request(legacy(3, "subscriptions/listen", { notifications: {} }))).error!.code, -32602);
  const other = modern(4, "subscriptions/listen", { notifications: {} }, {
    [`${PREFIX}protocolVersion`]: "2099-01-01",
  });
  assert.equal((await request(other)).error!.code, -32022);
  assert.equal(client.transcript.notifications("notifications/subscriptions/acknowledged").length, 1);
});

test("serveStdio listen: a legacy-era connection passes change notifications through unchanged", async (t) => {
  const { client, request, servers } = track(t);
  await request(initialize(1));
  client.send(notification("notifications/initialized"));
  servers[0]!.sendToolListChanged();
  await request(legacy(2, "ping"));
  const [change] = client.transcript.notifications("notifications/tools/list_changed");
  assert.equal(idOf(change!), undefined);
});
