// The states of the server transport for the official SDK, row by row of the Kotlin page (S3), on streams in memory (rule K2).
// Row S3-15 keeps an older constructor alive; this module has one only. Row S3-35, one interface for all transports, is shown by the types.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JSONRPCMessage } from "../messages.ts";
import type { OpenStdioOptions } from "../runtime.ts";
import { StdioServerTransport } from "../sdk_transport.ts";
import { createFakeRuntime, createStreamPair } from "../testing.ts";
import { showUnhandledRejections, stateOf } from "./helpers.ts";
import { answering, createServed, RawClient, serveInMemory, settle } from "./sdk_transport_helpers.ts";
import { cancel, legacy, notification, SLOW } from "./server_helpers.ts";

const CLOSED = { name: "ProtocolError", code: -32000, message: /the transport is closed/ };

test("StdioServerTransport carries messages over any pair of byte streams (S3-01, S3-02, S3-14)", async (t) => {
  const served = await serveInMemory(t, { onmessage: answering });
  served.client.send(legacy(1, "first"), notification("notifications/x"), legacy("two", "second"));
  assert.deepEqual((await served.client.transcript.response(1)).result, { method: "first" });
  assert.deepEqual((await served.client.transcript.response("two")).result, { method: "second" });
  assert.deepEqual(
    served.received.map((message) => "method" in message && message.method),
    ["first", "notifications/x", "second"],
  );
});

test("StdioServerTransport takes its streams, one object of options, and start() (S3-13, S3-16)", async () => {
  const [here, there] = createStreamPair();
  const transport = new StdioServerTransport(there, {
    limits: { maxInFlightRequests: 1 },
    drainTimeoutMs: 100,
  });
  transport.onmessage = (message) => {
    if ("method" in message) {
      void transport.send({ jsonrpc: "2.0", id: (message as { id: number }).id, result: {} });
    }
  };
  await transport.start();
  const client = new RawClient(here);
  client.send(legacy(1, "ping"));
  assert.deepEqual((await client.transcript.response(1)).result, {});
  await transport.close();
});

test("StdioServerTransport writes each message without a further call (S3-06)", async (t) => {
  const { transport, client } = await serveInMemory(t);
  await transport.send(notification("notifications/x", { text: "a\nb" }));
  await client.transcript.until(() => client.transcript.messages.length === 1, "the message");
  assert.deepEqual(client.transcript.texts, [
    '{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"a\\nb"}}',
  ]);
});

test("StdioServerTransport reads nothing before it is started (S3-30)", async (t) => {
  const served = createServed(t);
  served.client.send(legacy(1, "early"));
  await settle();
  assert.equal(served.streams.readable.locked, false);
  assert.deepEqual(served.received, []);
  await served.transport.start();
  await settle();
  assert.deepEqual(served.ids, [1]);
});

test("StdioServerTransport.start() runs once; later it says why it does not (S3-31)", async (t) => {
  const { transport, ...served } = await serveInMemory(t);
  await assert.rejects(transport.start(), {
    name: "TypeError",
    message: /StdioServerTransport already started/,
  });
  await transport.close();
  await assert.rejects(transport.start(), { name: "TypeError", message: /is closed/ });
  assert.deepEqual(served.errors, []);
});

test("StdioServerTransport.close() before start touches no stream and tells nobody (S3-21)", async (t) => {
  const served = createServed(t);
  await served.transport.close();
  await served.transport.close();
  assert.equal(served.closes, 0);
  assert.equal(served.streams.readable.locked || served.streams.writable.locked, false);
  await assert.rejects(served.transport.start(), /is closed/);
  await assert.rejects(served.transport.send(notification("notifications/x")), CLOSED);
  // Whoever made the streams can still use them.
  served.client.send("bytes");
  const { value } = await served.streams.readable.getReader().read();
  assert.equal(new TextDecoder().decode(value), "bytes\n");
});

test("StdioServerTransport.send() rejects with -32000 before the start and after the end (S3-28, S3-29)", async (t) => {
  const { transport, client } = createServed(t);
  const early = { name: "ProtocolError", code: -32000, message: /the transport is not started/ };
  await assert.rejects(transport.send(notification("notifications/x")), early);
  await transport.start();
  await transport.send(notification("notifications/y"));
  await transport.close();
  await assert.rejects(transport.send(notification("notifications/z")), CLOSED);
  await client.ended;
  assert.deepEqual(client.transcript.messages.map(({ method }) => method), ["notifications/y"]);
});

test("StdioServerTransport.send() keeps the order of the calls (S3-27)", async (t) => {
  const { transport, client } = await serveInMemory(t);
  for (let n = 0; n < 500; n++) transport.send(notification("notifications/n", { n }));
  await transport.close();
  assert.deepEqual(client.transcript.messages.map(({ params }) => params.n), [...Array(500).keys()]);
});

for (const [how, row] of [["close()", "S3-10, S3-17"], ["the end of the input", "S3-11"]]) {
  test(`StdioServerTransport flushes 50 sends at ${how}, then calls onclose, then lets go of the streams (${row}, S3-12, S3-18, S3-20)`, async (t) => {
    const served = await serveInMemory(t);
    let flushed = -1;
    served.transport.onclose = () => {
      served.closes++;
      flushed = served.client.transcript.messages.length;
    };
    for (let n = 0; n < 50; n++) served.transport.send(notification("notifications/n", { n }));
    if (how === "close()") await served.transport.close();
    else served.client.end();
    await served.client.ended;
    await settle();
    assert.equal(served.client.transcript.messages.length, 50);
    assert.equal(flushed, 50);
    assert.equal(served.closes, 1);
    if (how === "close()") assert.equal(await served.client.inputReleased(), true);
    assert.deepEqual(served.errors, []);
  });
}

test("StdioServerTransport.close() may be called again, and at the same time (S3-22)", async (t) => {
  const served = await serveInMemory(t);
  await Promise.all([served.transport.close(), served.transport.close(), served.transport.close()]);
  await served.transport.close();
  assert.equal(served.closes, 1);
});

test("StdioServerTransport.close() resolves when onclose has been called (S3-20)", async (t) => {
  const served = await serveInMemory(t);
  await served.transport.close();
  assert.equal(served.closes, 1);
});

test("StdioServerTransport survives 2 000 races of start and close (S3-23)", SLOW, async () => {
  for (let round = 0; round < 2_000; round++) {
    const [here, there] = createStreamPair();
    const isOwn = round % 3 === 0;
    const transport = isOwn
      ? new StdioServerTransport(undefined, { runtime: createFakeRuntime({ stdio: there }) })
      : new StdioServerTransport(there);
    let closes = 0;
    transport.onclose = () => void closes++;
    const outcomes: string[] = [];
    const start = () =>
      transport.start().then(() => outcomes.push("started"), () => outcomes.push("refused"));
    const close = () => transport.close();
    const first = round % 2 === 0 ? start() : close();
    for (let turn = 0; turn < (round >> 2) % 8; turn++) await undefined;
    await Promise.all([round % 2 === 0 ? close() : start(), first]);
    await close();
    assert.equal(outcomes.length, 1);
    assert.ok(closes === 1 || (closes === 0 && outcomes[0] === "refused"), `${closes} ${outcomes}`);
    await assert.rejects(transport.send(notification("notifications/x")), CLOSED);
    here.writable.abort().catch(() => {});
  }
  await showUnhandledRejections();
});

test("StdioServerTransport calls onerror when the input fails, then onclose (S3-24, S3-25)", async () => {
  const [, there] = createStreamPair();
  const failure = new Error("the disk is on fire");
  const readable = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(failure) });
  const transport = new StdioServerTransport({ readable, writable: there.writable });
  const told: unknown[] = [];
  transport.onerror = (error) => told.push(error);
  transport.onclose = () => told.push("closed");
  await transport.start();
  await settle();
  assert.deepEqual(told, [failure, "closed"]);
});

test("StdioServerTransport calls onerror once and onclose once when the output is gone (K2)", async (t) => {
  const served = await serveInMemory(t, { onmessage: answering });
  served.client.breakOutput();
  served.client.send(legacy(1, "x"), legacy(2, "x"), legacy(3, "x"));
  await settle();
  assert.equal(served.errors.length, 1);
  assert.equal((served.errors[0] as { code?: unknown }).code, "EPIPE");
  assert.equal(served.closes, 1);
  await assert.rejects(served.transport.send(notification("notifications/x")), CLOSED);
});

test("StdioServerTransport tells that the output is gone also while it closes (K2)", async (t) => {
  const served = await serveInMemory(t, { stalled: true, capacityBytes: 10 });
  served.transport.send(notification("notifications/x", { text: "x".repeat(1_000) })).catch(() => {});
  served.transport.send(notification("notifications/y")).catch(() => {});
  const closing = served.transport.close();
  served.client.breakOutput();
  await closing;
  assert.deepEqual([served.errors.length, served.closes], [1, 1]);
});

test("StdioServerTransport goes on with the next message when onmessage throws, and answers the request (S3-32)", async (t) => {
  const failure = new Error("no");
  const served = await serveInMemory(t, {
    onmessage(message, served) {
      if ("method" in message && message.method === "throw") throw failure;
      if ("method" in message && message.method === "reject") return Promise.reject(failure);
      answering(message, served);
    },
  });
  served.client.send(legacy(1, "throw"), legacy(2, "reject"), notification("throw"), legacy(3, "good"));
  const { transcript } = served.client;
  assert.deepEqual((await transcript.response(3)).result, { method: "good" });
  for (const id of [1, 2]) {
    assert.deepEqual((await transcript.response(id)).error, { code: -32603, message: "Internal error" });
  }
  assert.deepEqual(served.errors, [failure, failure, failure]);
});

test("StdioServerTransport does not let onmessage hold up the next message (S3-26)", async (t) => {
  const served = await serveInMemory(t, { onmessage: () => new Promise(() => {}) });
  served.client.send(legacy(1, "x"), legacy(2, "x"));
  await settle();
  assert.deepEqual(served.ids, [1, 2]);
});

test("StdioServerTransport.close() awaits handlers, and not for ever (S3-33)", async (t) => {
  const served = await serveInMemory(t, { drainTimeoutMs: 5_000 });
  served.client.send(legacy(1, "quick"), legacy(2, "never"));
  await settle();
  const closing = served.transport.close();
  await served.answer(1);
  await served.clock.advance(4_999);
  assert.equal(await stateOf(closing), "pending");
  assert.equal(served.closes, 0);
  await served.clock.advance(1);
  await closing;
  assert.deepEqual(served.client.transcript.responsesTo(1)[0]!.result, {});
  assert.deepEqual(served.client.transcript.responsesTo(2)[0]!.error, {
    code: -32603,
    message: "Server is shutting down",
  });
  assert.equal(served.closes, 1);
});

test("StdioServerTransport.close() does not wait for a handler that is not there (S3-34)", async (t) => {
  const served = await serveInMemory(t);
  served.transport.onmessage = undefined;
  served.client.send(legacy(1, "x"));
  await settle();
  await served.transport.close();
  assert.equal(served.client.transcript.responsesTo(1)[0]!.error!.code, -32603);
  assert.match(served.errors[0]!.message, /onmessage is not set/);
});

test("StdioServerTransport answers what was accepted before the end of the input, then calls onclose once (K2)", async (t) => {
  const served = await serveInMemory(t, { limits: { maxInFlightRequests: 2 } });
  served.client.send(...[1, 2, 3, 4].map((id) => legacy(id, "slow")));
  served.client.end();
  await settle();
  assert.deepEqual(served.ids, [1, 2]);
  for (const id of [1, 2]) await served.answer(id);
  await settle();
  assert.deepEqual(served.ids, [1, 2, 3, 4], "what was read ahead is still handed over");
  assert.equal(served.closes, 0);
  for (const id of [3, 4]) await served.answer(id);
  await served.client.ended;
  await settle();
  assert.deepEqual(served.client.transcript.messages.map(({ id }) => id), [1, 2, 3, 4]);
  assert.equal(served.closes, 1);
});

test("StdioServerTransport fails what the client was asked when the client is gone (K2)", async (t) => {
  const served = await serveInMemory(t);
  await served.transport.send(legacy(7, "sampling/createMessage"));
  served.client.end();
  await settle();
  assert.deepEqual(served.received, [
    { jsonrpc: "2.0", id: 7, error: { code: -32000, message: "Connection closed" } },
  ]);
  assert.equal(served.closes, 1);
});

test("StdioServerTransport.close() may be called by a handler (K2)", async (t) => {
  const served = await serveInMemory(t, {
    onmessage(message, { transport, answer }) {
      transport.close();
      answer((message as { id: number }).id);
    },
  });
  served.client.send(legacy(1, "shutdown"));
  await served.client.ended;
  assert.deepEqual(served.client.transcript.responsesTo(1)[0]!.result, {});
});

test("StdioServerTransport survives callbacks that throw (K2)", async (t) => {
  const served = await serveInMemory(t);
  const fail = () => {
    throw new Error("no");
  };
  served.transport.onerror = fail;
  served.transport.onclose = fail;
  served.client.send("no json");
  await settle();
  await served.transport.close();
  assert.deepEqual(served.log.texts("error"), [
    "[mcp_stdio] onerror has failed: no",
    "[mcp_stdio] onclose has failed: no",
  ]);
});

test("StdioServerTransport hands over nothing on the stack of the stream it reads, nor of a send (S3-03, K2)", async () => {
  let depth = 0;
  let deepest = 0;
  const texts = [legacy(1, "a"), legacy(2, "b"), legacy(3, "c")].map((message) =>
    `${JSON.stringify(message)}\n`
  );
  const readable = new ReadableStream<Uint8Array>({
    pull(controller) {
      depth++;
      const text = texts.shift();
      if (text === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(text));
      depth--;
    },
  }, { highWaterMark: 0 });
  const [, { writable }] = createStreamPair();
  const transport = new StdioServerTransport({ readable, writable }, { limits: { maxInFlightRequests: 1 } });
  const ids: unknown[] = [];
  transport.onmessage = (message) => {
    deepest = Math.max(deepest, depth);
    ids.push((message as { id: unknown }).id);
  };
  await transport.start();
  for (let id = 1; id <= 3; id++) {
    await settle();
    assert.equal(ids.length, id);
    depth++;
    transport.send({ jsonrpc: "2.0", id, result: {} });
    depth--;
  }
  assert.deepEqual([ids, deepest], [[1, 2, 3], 0]);
});

test("StdioServerTransport writes to a slow client while a handler is busy (S3-05)", async (t) => {
  const served = await serveInMemory(t);
  served.client.send(legacy(1, "busy"));
  await settle();
  await served.transport.send(notification("notifications/x"));
  await settle();
  assert.equal(served.client.transcript.messages.length, 1);
});

test("StdioServerTransport without streams takes those of its process and guards stdout, unless told not to (K1)", async () => {
  for (const guardStdout of [undefined, true, false]) {
    const [here, stdio] = createStreamPair();
    let guards = 0;
    let exclusive: boolean | undefined;
    const runtime = Object.assign(createFakeRuntime({ stdio }), {
      guardStdout: () => () => void guards++,
    });
    const guarded = {
      ...runtime,
      guardStdout: () => (guards++, () => {}),
      openStdio: (options?: OpenStdioOptions) => {
        exclusive = options?.exclusive;
        return runtime.openStdio();
      },
    };
    const transport = new StdioServerTransport(undefined, { runtime: guarded, guardStdout });
    assert.equal(stdio.readable.locked, false, "nothing is opened before the start");
    await transport.start();
    const client = new RawClient(here);
    await transport.send(notification("notifications/x"));
    await transport.close();
    await client.ended;
    assert.equal(client.transcript.messages.length, 1);
    assert.equal(guards, guardStdout === false ? 0 : 1);
    assert.equal(exclusive, guardStdout !== false, "the wire is taken away from descriptor 1 too");
  }
});

test("StdioServerTransport refuses streams and limits that it cannot use", () => {
  const nodeStream = { readable: true, writable: true } as never;
  assert.throws(() => new StdioServerTransport(nodeStream), { name: "TypeError", message: /Web Streams/ });
  const [, streams] = createStreamPair();
  assert.throws(() => new StdioServerTransport(streams, { drainTimeoutMs: -1 }), RangeError);
  assert.throws(() => new StdioServerTransport(streams, { limits: { maxInFlightRequests: 0 } }), RangeError);
});

test("StdioServerTransport can have its callbacks and its start assigned anew, as the SDKs do (K1)", async (t) => {
  const served = createServed(t);
  const { transport } = served;
  const original = transport.start;
  let patched = 0;
  transport.start = async () => {
    patched++;
    transport.start = original;
    await original.call(transport);
  };
  await transport.start();
  assert.equal(patched, 1);
  await assert.rejects(transport.start(), /already started/);
  served.client.send(legacy(1, "x"));
  await settle();
  const later: JSONRPCMessage[] = [];
  transport.onmessage = (message) => void later.push(message);
  served.client.send(cancel(1), legacy(2, "x"));
  await settle();
  assert.deepEqual(later.length, 2);
  assert.equal("sessionId" in transport, false);
});
