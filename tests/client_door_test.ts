// The one way out of a client: nothing that a server sends, and no value that a user hands in, can make it throw at others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, type ClientOptions } from "../client.ts";
import { FrameError } from "../errors.ts";
import type { ElicitResult } from "../methods.ts";
import { createStreamPair } from "../testing.ts";
import { listSources, readCode } from "./_sources.ts";
import { createLog, meet, type Meeting, outcomeOf, Peer, prepareHouse, settle } from "./_client_peer.ts";
import { showUnhandledRejections } from "./helpers.ts";
import { connectClient } from "./sdk_transport_client_helpers.ts";
import { legacy as legacyRequest } from "./server_helpers.ts";

const LIMITS = { maxLineBytes: 2_000 };

function raise(thrown: unknown): never {
  throw thrown;
}

const cycle: { [name: string]: unknown } = {};
cycle.self = cycle;

/** Values that no message can hold. */
const UNWRITABLE: ReadonlyArray<readonly [what: string, value: () => unknown]> = [
  ["a bigint", () => 1n],
  ["a cycle", () => cycle],
  ["a getter that throws", () => Object.defineProperty({}, "x", { enumerable: true, get: () => raise(1) })],
  ["a toJSON that throws no error", () => ({ toJSON: () => raise(Symbol("no text")) })],
  ["a toJSON that throws an error without a text", () => ({
    toJSON: () => raise(Object.defineProperty(new Error(), "message", { get: () => raise(2) })),
  })],
  ["a proxy that allows nothing", () => new Proxy({}, { ownKeys: () => raise(3), get: () => raise(4) })],
  ["a text over the limit", () => "x".repeat(3_000)],
];

/** The client still works. */
async function assertAlive({ client, peer }: Pick<Meeting, "client" | "peer">): Promise<void> {
  const call = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  assert.deepEqual((await call).tools, []);
  await showUnhandledRejections();
}

test("Nothing of a client, nor of a transport under an SDK's client, sends but the one door", () => {
  const files = listSources().filter((file) =>
    /^client\.ts$|^internal\/client(_setup)?\/|^internal\/sdk\/(process_wire|server_questions|sent_requests)\.ts$/
      .test(file)
  );
  assert.ok(files.length > 25);
  const sending = files.filter((file) => /\.send\(|\benqueue\(/.test(readCode(file)));
  assert.deepEqual(sending, ["internal/client/door.ts"]);
});

for (const [what, value] of UNWRITABLE) {
  for (const legacy of [false, true]) {
    test(`A ${legacy ? "legacy" : "modern"} client refuses ${what} to whom it comes from, and goes on (XA4)`, async () => {
      const answers: unknown[] = [];
      const meeting = await meet({
        legacy,
        limits: LIMITS,
        inputHandlers: {
          "elicitation/create": () => ({ content: answers.shift() }) as unknown as ElicitResult,
        },
      });
      const { client, peer, log } = meeting;
      const params = () => ({ name: "x", arguments: { value: value() } });
      for (const ask of ["tools/call", "x/y"]) {
        assert.ok(
          (await outcomeOf(client.request(ask as string, params()))).error instanceof FrameError,
          ask,
        );
      }
      assert.ok((await outcomeOf(client.notify("notifications/x", params()))).error instanceof FrameError);
      const filter = { toolsListChanged: value() as boolean };
      const listening = legacy ? undefined : client.listen(filter);
      if (listening !== undefined) await assert.rejects(listening.acknowledged, FrameError);

      answers.push(value());
      if (legacy) {
        peer.send({ id: "q", method: "elicitation/create", params: {} });
        await settle();
        const { id, error } = peer.received.at(-1)!;
        assert.deepEqual([id, error], ["q", { code: -32603, message: "Internal error" }]);
        assert.equal(log.of("error").length, 1);
      } else {
        const call = outcomeOf(client.request("tools/call", { name: "x" }));
        peer.answer(await peer.take("tools/call"), {
          resultType: "input_required",
          inputRequests: { a: { method: "elicitation/create" } },
        });
        assert.ok((await call).error instanceof FrameError);
      }
      await assertAlive(meeting);
      await client.close();
    });
  }

  test(`StdioClientTransport refuses ${what} to whom it comes from, and answers its server (XA4)`, async (t) => {
    const { transport, read, write, received, log } = await connectClient(t, { limits: LIMITS });
    const send = (message: object) => transport.send(message as Parameters<typeof transport.send>[0]);
    await assert.rejects(
      send({ jsonrpc: "2.0", id: 0, method: "x", params: { value: value() } }),
      FrameError,
    );
    await assert.rejects(send({ jsonrpc: "2.0", method: "x", params: { value: value() } }), FrameError);
    await write([legacyRequest("q", "elicitation/create")]);
    await send({ jsonrpc: "2.0", id: "q", result: { value: value() } });
    await settle();
    assert.deepEqual(read(), [{
      jsonrpc: "2.0",
      id: "q",
      error: { code: -32603, message: "Internal error" },
    }]);
    assert.equal(log.texts("error").length, 1);
    await send({ jsonrpc: "2.0", id: 1, method: "ping" });
    await write([{ jsonrpc: "2.0", id: 1, result: {} }]);
    assert.equal(received.length, 2);
  });
}

test("Client refuses params that throw when they are read, and goes on (XA4)", async () => {
  for (const legacy of [false, true]) {
    const meeting = await meet({ legacy });
    const { client, peer } = meeting;
    const sent = peer.received.length;
    const wrong = [
      Object.defineProperty({ name: "x" }, "arguments", { enumerable: true, get: () => raise(1) }),
      Object.defineProperty({ name: "x" }, "_meta", { get: () => raise(2) }),
      new Proxy({ name: "x" }, { ownKeys: () => raise(3), get: () => raise(4) }),
    ];
    for (const params of wrong) {
      const options = { onProgress: () => {} };
      const { error } = await outcomeOf(client.request("tools/call", params, options));
      assert.ok(error instanceof FrameError, String(error));
      assert.ok((await outcomeOf(client.request("tools/call", params))).error instanceof FrameError);
    }
    await settle();
    assert.equal(peer.received.length, sent);
    await assertAlive(meeting);
    await client.close();
  }
});

test("StdioClientTransport refuses what is no message (XC12, S2-11)", async (t) => {
  const { transport, read } = await connectClient(t);
  for (
    const message of [{}, 5, [], { jsonrpc: "2.0", id: 1, method: 5 }, {
      jsonrpc: "2.0",
      method: "x",
      params: [1],
    }]
  ) {
    await assert.rejects(transport.send(message as never), TypeError);
  }
  await settle();
  assert.deepEqual(read(), []);
});

test("Client.request() and notify() refuse what is no message (XC12, S2-11)", async () => {
  const { client, peer } = await meet();
  const sent = peer.received.length;
  const untyped = client as unknown as {
    [name in "request" | "notify"]: (...args: unknown[]) => Promise<unknown>;
  };
  for (const wrong of [[5], [undefined], ["x", [1]], ["x", 5], ["x", null], ["x", "text"]]) {
    assert.throws(() => untyped.request(...wrong), TypeError, String(wrong));
    assert.throws(() => untyped.notify(...wrong), TypeError, String(wrong));
  }
  await settle();
  assert.equal(peer.received.length, sent);
  await client.close();
});

/** The longest line that still is a request: whatever repeats its id in more words does not fit. */
function askedWithLongId(method: string): string {
  const [head, tail] = [`{"jsonrpc":"2.0","id":"`, `","method":"${method}"}`];
  return `${head}${"i".repeat(LIMITS.maxLineBytes - head.length - tail.length)}${tail}\n`;
}

for (const method of ["roots/list", "sampling/createMessage", "x", "ping"]) {
  test(`Client lives when it cannot answer a legacy server's "${method}" for the length of its id (XA1)`, async () => {
    const meeting = await meet({
      legacy: true,
      limits: LIMITS,
      inputHandlers: { "roots/list": () => raise(new Error("no")) },
    });
    meeting.peer.write(askedWithLongId(method));
    await assertAlive(meeting);
    const told = meeting.log.lines.filter(({ level, message }) =>
      level === "error" && /written/.test(message)
    );
    assert.ok(told.length > 0 || method === "ping", "the answer that could not be written is told");
    await meeting.client.close();
  });
}

test("Client lives when a server uses an id of nearly 16 MiB (XA1)", async () => {
  const meeting = await meet({ legacy: true });
  const [head, tail] = [`{"jsonrpc":"2.0","id":"`, `","method":"roots/list"}`];
  meeting.peer.write(`${head}${"i".repeat(16_777_216 - head.length - tail.length)}${tail}\n`);
  await assertAlive(meeting);
  assert.ok(meeting.log.lines.length > 0);
  await meeting.client.close();
});

/** Every place in which a server can put an id or a token. */
const PLACES: ReadonlyArray<readonly [place: string, message: (id: string) => object]> = [
  ["a request", (id) => ({ id, method: "elicitation/create", params: {} })],
  ["a ping", (id) => ({ id, method: "ping" })],
  ["a result", (id) => ({ id, result: {} })],
  ["an error", (id) => ({ id, error: { code: 1, message: "no" } })],
  ["a message that is none", (id) => ({ id, result: 5 })],
  ["a cancellation", (id) => ({ method: "notifications/cancelled", params: { requestId: id, reason: id } })],
  [
    "a progress token",
    (id) => ({ method: "notifications/progress", params: { progressToken: id, progress: 1 } }),
  ],
  ["a token in _meta", (id) => ({ method: "notifications/x", params: { _meta: { progressToken: id } } })],
  ["a subscription id", (id) => ({
    method: "notifications/x",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": id } },
  })],
];

for (const [place, message] of PLACES) {
  test(`Clients of both eras, and StdioClientTransport, live through a very long id in ${place} (XA1)`, async (t) => {
    const line = `${JSON.stringify({ jsonrpc: "2.0", ...message("i".repeat(2_000_000)) })}\n`;
    for (const legacy of [false, true]) {
      const inputHandlers = { "elicitation/create": () => ({ action: "accept" as const }) };
      const meeting = await meet({ legacy, inputHandlers });
      const { client, peer, log } = meeting;
      peer.write(`${line}[${line.trimEnd()}]\n`);
      await assertAlive(meeting);
      await client.close();
      const said = JSON.stringify(
        log.lines.map(({ message, facts }) => [message, Object.values(facts).map(String)]),
      );
      assert.ok(said.length < 10_000, "nothing of it goes into a log");
    }
    const { transport, received, write } = await connectClient(t);
    await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    await write([line.trimEnd(), { jsonrpc: "2.0", id: 1, result: {} }]);
    assert.deepEqual(received.at(-1), { jsonrpc: "2.0", id: 1, result: {} });
  });
}

const error = (message: unknown): Error => Object.defineProperty(new Error(), "message", { value: message });

const REASONS: ReadonlyArray<readonly [what: string, reason: unknown]> = [
  ["an error whose text is over the limit", new Error("x".repeat(3_000))],
  ["a text over the limit", "x".repeat(3_000)],
  ["an error whose text is a bigint", error(1n)],
  ["an error whose text is a cycle", error(cycle)],
  ["an error whose text throws", Object.defineProperty(new Error(), "message", { get: () => raise(1) })],
  ["a proxy that allows nothing", new Proxy({}, { get: () => raise(4), getPrototypeOf: () => raise(5) })],
];

for (const [what, reason] of REASONS) {
  test(`Client gives a request up for ${what}, and keeps that to itself (XA4, C4)`, async () => {
    const meeting = await meet({ limits: LIMITS });
    const { client, peer } = meeting;
    const controller = new AbortController();
    const call = client.request("tools/call", { name: "x" }, { signal: controller.signal });
    const { id } = await peer.take("tools/call");
    controller.abort(reason);
    const caught = await call.then(() => assert.fail("it was answered"), (thrown: unknown) => [thrown]);
    assert.ok(caught[0] === reason);
    assert.deepEqual((await peer.take("notifications/cancelled")).params, { requestId: id });
    await assertAlive(meeting);
    await client.close();
  });
}

const GREETINGS: ReadonlyArray<readonly [what: string, options: ClientOptions]> = [
  ["a capability that is a bigint", { capabilities: { x: 1n } as ClientOptions["capabilities"] }],
  ["a name that is a cycle", { info: { name: cycle as unknown as string, version: "1" } }],
  ["a limit under which no greeting fits", { limits: { maxLineBytes: 20 } }],
];

for (const [what, options] of GREETINGS) {
  for (const era of ["auto", "modern", "legacy"] as const) {
    test(`spawn() and Client.connect() reject at once with ${what}, era ${era} (XA8)`, async () => {
      const { spawn, runtime, clock } = prepareHouse(() => {}, { era, ...options });
      const { error } = await outcomeOf(spawn());
      assert.ok(error instanceof FrameError);
      assert.equal(runtime.processes.length, 1);
      assert.equal(clock.now(), 0);

      const [here, there] = createStreamPair();
      const peer = new Peer(there);
      const connecting = Client.connect(here, { era, logger: createLog().logger, ...options });
      assert.ok((await outcomeOf(connecting)).error instanceof FrameError);
      assert.deepEqual(peer.lines, []);
    });
  }
}
