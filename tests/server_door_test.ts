// The one door that a server's messages leave by: whatever the client sends and user code hands in, what cannot be written costs
// one answer. Walked over a Server, over serve() with servers of an SDK, and over StdioServerTransport.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ProtocolError } from "../errors.ts";
import type { JSONRPCMessage, Params, RequestId, Result } from "../messages.ts";
import type { RequestContext } from "../server.ts";
import { listSources, readCode } from "./_sources.ts";
import { FakeV2 } from "./sdk_transport_fakes.ts";
import { countTold } from "./helpers.ts";
import { serveInMemory, serveSdkInMemory } from "./sdk_transport_helpers.ts";
import {
  call,
  cancel,
  initialize,
  legacy,
  type LogSink,
  modern,
  notification,
  settle,
  SLOW,
  start,
  type Transcript,
} from "./server_helpers.ts";

/** One of the three faces, seen as its client sees it. */
interface Seat {
  send(...messages: unknown[]): void;
  end(): void;
  readonly transcript: Transcript;
  readonly log: LogSink;
  readonly over: Promise<unknown>;
}

type Open = (t: TestContext, maxLineBytes?: number) => Promise<Seat>;

const tools = { hello: { call: () => "hello" } };

const SEATS: Readonly<Record<string, Open>> = {
  "Server": async (t, maxLineBytes) => {
    const session = start(t, { tools, limits: { maxLineBytes } });
    return await Promise.resolve({
      send: (...messages) => session.send(...messages as string[]),
      end: () => session.end(),
      transcript: session.transcript,
      log: session.log,
      over: session.running,
    });
  },
  "serve(factory)": async (t, maxLineBytes) => {
    const { client, log, running } = serveSdkInMemory(t, () => new FakeV2(), { limits: { maxLineBytes } });
    return await Promise.resolve({
      send: (...messages) => client.send(...messages as string[]),
      end: () => client.end(),
      transcript: client.transcript,
      log,
      over: running,
    });
  },
  "StdioServerTransport": async (t, maxLineBytes) => {
    const served = await serveInMemory(t, {
      limits: { maxLineBytes },
      onmessage(message, { answer }) {
        if (!("method" in message) || !("id" in message)) return;
        // As an SDK does whose handler fails or gives what cannot be written: its own promise rejects.
        answer(message.id!, { protocolVersion: "2025-03-26", method: message.method }).catch(() => {});
      },
    });
    return {
      send: (...messages) => served.client.send(...messages as string[]),
      end: () => served.client.end(),
      transcript: served.client.transcript,
      log: served.log,
      over: served.client.ended,
    };
  },
};

/** What a client can put its id into. */
const PLACES: Readonly<Record<string, (id: RequestId) => unknown[]>> = {
  "of an unknown method": (id) => [modern(id, "nope")],
  "of a request as short as can be": (id) => [{ jsonrpc: "2.0", id, method: "n" }],
  "of a request without its envelope": (id) => [legacy(id, "tools/list")],
  "of a request whose params are no object": (id) => [{ jsonrpc: "2.0", id, method: "x", params: [1] }],
  "of a call": (id) => [call(id, "hello")],
  "of a call of an unknown tool": (id) => [call(id, "nope")],
  "of server/discover": (id) => [modern(id, "server/discover")],
  "of initialize": (id) => [initialize(id)],
  "of a ping": (id) => [legacy(id, "ping")],
  "of a listen": (id) => [modern(id, "subscriptions/listen", { notifications: {} })],
  "of two requests": (id) => [modern(id, "nope"), modern(id, "nope")],
  "of a batch's member": (id) => [JSON.stringify([legacy(id, "ping"), legacy(id, "nope"), { id }])],
  "of what is no request": (id) => [{ jsonrpc: "2.0", id, method: 5 }, { jsonrpc: "2.0", id }],
  "of a line that is no JSON": (id) => [`{"id":${JSON.stringify(id)},"method":"x",`],
  "of a response": (id) => [{ jsonrpc: "2.0", id, result: {} }, { jsonrpc: "2.0", id, error: 5 }],
  "that a cancellation names": (id) => [cancel(id)],
  "of its progress": (id) => [notification("notifications/progress", { progressToken: id, progress: 1 })],
};

function lengthOf(line: unknown): number {
  return (typeof line === "string" ? line : JSON.stringify(line)).length;
}

for (const [name, open] of Object.entries(SEATS)) {
  test(
    `${name} goes on after an id that no answer can hold, wherever it stands (XA2, XA3)`,
    SLOW,
    async (t) => {
      // The longest id that is one, in a line that is just short enough: no answer with it is.
      const ids = ["i".repeat(4_000), "\u0001".repeat(660)];
      for (const id of ids) {
        for (const [place, lines] of Object.entries(PLACES)) {
          const limit = Math.max(1_000, ...lines(id).map(lengthOf));
          const seat = await open(t, limit);
          seat.send(initialize(0, "2025-03-26"));
          await seat.transcript.response(0);
          seat.send(...lines(id), legacy(1, "ping"));
          assert.ok(await seat.transcript.response(1), `an id ${place}`);
          // Where an answer is owed, there is one, if only with id null.
          if (place === "of a request as short as can be") {
            const answers = [...seat.transcript.responsesTo(id), ...seat.transcript.responsesTo(null)];
            assert.equal(answers.length, 1, place);
          }
          seat.end();
          await seat.over;
        }
      }
    },
  );

  test(`${name} answers an id of 16 MiB once, with id null, and goes on (XA2, V4)`, SLOW, async (t) => {
    const seat = await open(t);
    const frame = JSON.stringify({ jsonrpc: "2.0", id: "", method: "nope" }).length;
    const id = "i".repeat(16_777_216 - frame);
    seat.send({ jsonrpc: "2.0", id, method: "nope" }, initialize(1));
    assert.ok((await seat.transcript.response(1)).result);
    assert.equal(seat.transcript.responsesTo(null)[0]!.error!.code, -32600);
    assert.equal(seat.transcript.messages.length, 2);
  });
}

test("Server refuses or drops a listen whose id no answer can hold, and serves the others (XA3)", async (t) => {
  const id = "i".repeat(4_000);
  const listen = (id: RequestId) =>
    modern(id, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  const session = start(t, { tools, limits: { maxLineBytes: JSON.stringify(listen(id)).length } });
  session.send(listen(id), listen(2));
  await session.transcript.until(
    () => session.transcript.notifications("notifications/subscriptions/acknowledged").length > 0,
    "the acknowledgment",
  );
  session.server.publish("notifications/tools/list_changed");
  session.server.addTool("more", { call: () => "" });
  session.end();
  assert.deepEqual(await session.running, { reason: "eof" });
  assert.equal(session.transcript.notifications("notifications/tools/list_changed").length >= 2, true);
  assert.equal(session.transcript.responsesTo(2)[0]!.result.resultType, "complete");
});

/** Throws whatever is done to it. */
function thorn(): object {
  const fail = (): never => {
    throw new Error("do not touch");
  };
  return new Proxy({}, {
    get: fail,
    has: fail,
    ownKeys: fail,
    getPrototypeOf: fail,
    getOwnPropertyDescriptor: fail,
  });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const LIMIT = 10_000;
const HUGE = "x".repeat(LIMIT);
const cycle: { self?: unknown } = {};
cycle.self = cycle;

/** What cannot be written, by what it is. */
const UNWRITABLE: Readonly<Record<string, () => unknown>> = {
  "a bigint": () => 1n,
  "a cycle": () => cycle,
  "a text over the limit": () => HUGE,
  "a toJSON that throws": () => ({
    toJSON() {
      throw thorn();
    },
  }),
  "a getter that throws": () => ({
    get member() {
      throw new Error("no");
    },
  }),
  "a proxy that throws": thorn,
  "a proxy that was revoked": revoked,
};

/** What a handler can do with it. Each is called with what cannot be written. */
const DEEDS: Readonly<Record<string, (value: unknown, context: RequestContext) => unknown>> = {
  "gives it": (value) => value,
  "gives it later": (value) => Promise.resolve().then(() => value),
  "gives a result with it": (value) => ({ value }),
  "gives it as _meta": (value) => ({ _meta: { value } }),
  "throws it": (value) => {
    throw value;
  },
  "rejects with it": (value) => Promise.reject(value),
  "throws an Error with it": (value) => {
    throw Object.assign(new Error("failed"), { message: value });
  },
  "throws a ProtocolError with it": (value) => {
    throw new ProtocolError(-32000, "refused", value);
  },
  "throws a ProtocolError whose message it is": (value) => {
    throw new ProtocolError(-32000, value as string);
  },
  "logs it": async (value, { log }) => {
    await log("info", value);
    return {};
  },
  "notifies it": async (value, { notify }) => {
    await notify("x-custom", { value });
    return {};
  },
  "asks with it": async (value, { requestInput }) => await requestInput("roots/list", { value }),
  "asks with it and does not wait": (value, { requestInput }) => {
    requestInput("roots/list", { value });
    return {};
  },
  "reports progress with it": (value, { progress }) => {
    progress(1, 2, value as string);
    return {};
  },
  "gives a thenable": () => ({
    get then() {
      throw new Error("no");
    },
  }),
  "gives a thenable that is odd": () => ({
    then(resolve: (value: unknown) => void) {
      resolve({});
      throw thorn();
    },
  }),
};

test(
  "Server answers once whatever a handler hands in that cannot be written (XA5, XA7, V4)",
  SLOW,
  async (t) => {
    const values = Object.entries(UNWRITABLE);
    for (const [deed, act] of Object.entries(DEEDS)) {
      for (const method of ["x/do", "tools/call"]) {
        const handle = (index: unknown, context: RequestContext) => act(values[Number(index)]![1](), context);
        const session = start(t, {
          limits: { maxLineBytes: LIMIT, maxInFlightRequests: 1 },
          handlers: {
            "x/do": (params, context) => handle((params.arguments as Params).index, context) as Result,
          },
          tools: { do: { call: ({ index }: Params, context) => handle(index, context) as string } },
        });
        session.send(initialize("hello", "2025-11-25", { roots: {} }));
        // There is one permit: whatever kept it would stop the next.
        for (const [index, [what]] of values.entries()) {
          const _meta = { progressToken: index };
          session.send(legacy(index, method, { name: "do", arguments: { index }, _meta }));
          await session.response(index);
          assert.equal(session.transcript.responsesTo(index).length, 1, `${method} ${deed}: ${what}`);
        }
        session.end();
        assert.deepEqual(await session.running, { reason: "eof" });
        const answers = session.transcript.messages.filter(({ id }) => id !== undefined);
        assert.equal(answers.length, 1 + values.length, deed);
      }
    }
  },
);

test("Server drops progress that cannot be written with a log line, also while its output is full (XA5)", async (t) => {
  for (const isFull of [false, true]) {
    const session = start(t, {
      limits: { maxLineBytes: LIMIT, maxQueuedBytes: 1_000 },
      tools: {
        work: {
          call(_args: Params, { progress }) {
            progress(1, 2, isFull ? "x".repeat(2_000) : "");
            progress(2, 2, HUGE);
            return "done";
          },
        },
      },
    }, { capacityBytes: 100 });
    if (isFull) session.stall();
    session.send(call(1, "work", {}, { progressToken: "p" }));
    await session.settle();
    session.resume();
    assert.equal((await session.response(1)).result.content[0].text, "done");
    assert.equal(session.log.texts("error").filter((text) => text.includes("cannot be written")).length, 1);
  }
});

test("Server.publish() drops what cannot be written with a log line (XA3)", async (t) => {
  const session = start(t, { resources: { "x://a": { read: () => "" } }, limits: { maxLineBytes: LIMIT } });
  const filter = { resourceSubscriptions: ["x://a"] };
  session.send(
    modern(1, "subscriptions/listen", { notifications: filter }),
    initialize(2),
    legacy(3, "resources/subscribe", { uri: "x://a" }),
  );
  await session.response(3);
  const updated = "notifications/resources/updated";
  for (const make of Object.values(UNWRITABLE)) {
    session.server.publish(updated, { uri: "x://a", value: make() });
  }
  session.server.publish(updated, { uri: "x://a" });
  await session.transcript.until(() => session.transcript.notifications(updated).length === 2, "both");
  await settle();
  assert.equal(session.transcript.notifications(updated).length, 2);
  await session.clock.advance(1_000);
  assert.equal(countTold(session.log.texts("error")), 2 * Object.keys(UNWRITABLE).length);
});

test("A transport of the SDK tells whoever sends what cannot be written, and answers in its place (XA2, K2)", async (t) => {
  for (const [what, make] of Object.entries(UNWRITABLE)) {
    const served = await serveInMemory(t, { limits: { maxLineBytes: LIMIT } });
    served.client.send(legacy(1, "work"));
    await settle();
    const value = make();
    await assert.rejects(served.transport.send({ jsonrpc: "2.0", id: 1, result: { value } }), {
      name: "FrameError",
    }, what);
    await assert.rejects(
      served.transport.send({ jsonrpc: "2.0", method: "x", params: { value } }),
      { name: "FrameError" },
      what,
    );
    await assert.rejects(
      served.transport.send({ jsonrpc: "2.0", id: "s1", method: "roots/list", params: { value } }),
      { name: "FrameError" },
      what,
    );
    assert.equal((await served.client.transcript.response(1)).error!.code, -32603);
    await served.transport.close();
    assert.deepEqual(served.client.transcript.messages.length, 1, what);
  }
});

test("What is no message does not go out (XC12, S2-10)", async (t) => {
  const odd = [
    {},
    { jsonrpc: "2.0" },
    { jsonrpc: "2.0", id: 1 },
    { jsonrpc: "2.0", method: 5 },
    [],
    "text",
    5,
    null,
    {
      jsonrpc: "2.0",
      method: "x",
      params: [1],
    },
    { jsonrpc: "2.0", id: 1.5, result: {} },
    { jsonrpc: "2.0", id: 1, result: 5 },
  ];
  const served = await serveInMemory(t);
  for (const message of odd) {
    const what = JSON.stringify(message);
    await assert.rejects(served.transport.send(message as JSONRPCMessage), { name: "TypeError" }, what);
  }
  const { transcript } = served.client;
  assert.deepEqual(transcript.messages, []);

  const outcomes: unknown[] = [];
  const session = start(t, {
    handlers: {
      async x(_params, context) {
        const notify = context.notify as (...args: unknown[]) => Promise<void>;
        for (const args of [[5], [""], [undefined], ["x", 5], ["x", [1]], ["x", "y"]]) {
          try {
            await notify(...args);
          } catch (error) {
            outcomes.push((error as Error).name);
          }
        }
        return {};
      },
    },
  });
  session.send(modern(1, "x"));
  await session.response(1);
  assert.deepEqual(outcomes, Array(6).fill("TypeError"));
  assert.equal(session.transcript.messages.length, 1);
  const publish = session.server.publish.bind(session.server) as (...args: unknown[]) => void;
  for (
    const args of [[5], ["x"], ["notifications/tools/list_changed", 5], [
      "notifications/resources/updated",
      [],
    ]]
  ) {
    assert.throws(() => publish(...args), { name: "TypeError" });
  }
});

test("Nothing of the server's side sends but its one door (XA2)", () => {
  const senders = listSources()
    .filter((file) => /^internal\/server\/|^internal\/sdk\/(server_wire|sdk_|serve_sdk)|^server/.test(file))
    .filter((file) => /\bconnection\)?\.send\(|\.#connection\.send\(/.test(readCode(file)));
  assert.deepEqual(senders, ["internal/server/outbox.ts"]);
});
