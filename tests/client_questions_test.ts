// What servers ask of their client: how much of it at once, for how long, and what waits meanwhile (rules C4, C11).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { InputHandler } from "../client.ts";
import { InvalidResponseError } from "../errors.ts";
import type { JSONRPCRequest, RequestId } from "../messages.ts";
import { silentLogger } from "../logger.ts";
import { StdioClientTransport } from "../sdk_transport.ts";
import { createFakeRuntime } from "../testing.ts";
import { inhabit, meet, outcomeOf, Peer, settle } from "./_client_peer.ts";
import { stateOf } from "./helpers.ts";
import { connectClient } from "./sdk_transport_client_helpers.ts";
import { legacy as legacyRequest } from "./server_helpers.ts";

const ELICIT = { method: "elicitation/create", params: { message: "sure?" } };

/** A person who answers when told to. */
class Person {
  readonly signals: AbortSignal[] = [];
  readonly #gates: Array<() => void> = [];
  asked = 0;

  readonly handlers: { readonly [method: string]: InputHandler } = {
    "elicitation/create": (_params, { signal }) => {
      this.asked++;
      this.signals.push(signal);
      return new Promise((resolve) => this.#gates.push(() => resolve({ action: "accept" })));
    },
  };

  /** How many questions stand open. */
  get open(): number {
    return this.#gates.length;
  }

  async answer(count = 1): Promise<void> {
    for (const open of this.#gates.splice(0, count)) open();
    await settle();
  }
}

const wanted = (count: number) => ({
  resultType: "input_required",
  inputRequests: Object.fromEntries(Array.from({ length: count }, (_, n) => [`q${n}`, ELICIT])),
});

test("Client lets no call of a legacy server run out of time while a person is asked (XB4, C4)", async () => {
  const person = new Person();
  const { client, peer, clock } = await meet({ legacy: true, inputHandlers: person.handlers });
  const options = { timeoutMs: 1_500, maxTimeoutMs: 2_000 };
  const call = outcomeOf(client.request("tools/call", { name: "x" }, options));
  await peer.take("tools/call");
  await clock.advance(1_000);
  peer.send({ id: 1, ...ELICIT }, { id: 2, ...ELICIT });
  await settle();
  // One that is made meanwhile waits for the same server.
  const other = outcomeOf(client.request("tools/list", {}, { timeoutMs: 100 }));
  await clock.advance(3_600_000);
  await person.answer();
  await clock.advance(3_600_000);
  assert.equal(await stateOf(Promise.race([call, other])), "pending");
  await person.answer();
  await clock.advance(99);
  assert.equal(await stateOf(other), "pending");
  await clock.advance(1);
  assert.equal((await other).error?.code, "request_timeout");
  await clock.advance(399);
  assert.equal(await stateOf(call), "pending");
  await clock.advance(1);
  assert.equal((await call).error?.code, "request_timeout");
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client lets time go on when the server withdraws its question (XB4, C4)", async () => {
  const person = new Person();
  const { client, peer, clock } = await meet({ legacy: true, inputHandlers: person.handlers });
  const call = outcomeOf(client.request("tools/call", { name: "x" }, { timeoutMs: 1_000 }));
  peer.send({ id: 1, ...ELICIT });
  await settle();
  await clock.advance(5_000);
  peer.send({ method: "notifications/cancelled", params: { requestId: 1 } });
  await settle();
  await clock.advance(1_000);
  assert.equal((await call).error?.code, "request_timeout");
  await person.answer();
  assert.ok(!peer.methods.includes("(response)"));
  await client.close();
  assert.equal(clock.pendingTimers, 0);
});

test("Client does not let a ping stop the time (XB4, C4)", async () => {
  const { client, peer, clock } = await meet({ legacy: true });
  const call = outcomeOf(client.request("tools/call", { name: "x" }, { timeoutMs: 1_000 }));
  peer.send({ id: 1, method: "ping" });
  await settle();
  await clock.advance(1_000);
  assert.equal((await call).error?.code, "request_timeout");
  await client.close();
});

const WITHDRAWALS: ReadonlyArray<readonly [what: string, legacy: boolean]> = [
  ["the server withdraws it", true],
  ["the server asks under its id again", true],
  ["the server is lost", true],
  ["the client is closed", true],
  ["the client is closed", false],
  ["its call is given up", false],
  ["another question of its call has failed", false],
];

for (const [what, legacy] of WITHDRAWALS) {
  test(`Client tells the handler of a ${legacy ? "legacy" : "modern"} question when ${what} (XB4, C11)`, async () => {
    const person = new Person();
    const controller = new AbortController();
    let fail = (_error: Error): void => {};
    const { client, peer } = await meet({
      legacy,
      inputHandlers: {
        ...person.handlers,
        "roots/list": () => new Promise((_, reject) => fail = reject),
      },
    });
    const call = outcomeOf(
      client.request("tools/call", { name: "x" }, { signal: controller.signal }),
    );
    const request = await peer.take("tools/call");
    if (legacy) peer.send({ id: 1, ...ELICIT });
    else {
      const inputRequests = { a: ELICIT, b: { method: "roots/list" } };
      peer.answer(request, { resultType: "input_required", inputRequests });
    }
    await settle();
    assert.equal(person.signals[0]!.aborted, false);
    if (what.endsWith("withdraws it")) {
      peer.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    } else if (what.endsWith("again")) peer.send({ id: 1, ...ELICIT });
    else if (what.endsWith("lost")) peer.end();
    else if (what.endsWith("closed")) await client.close();
    else if (what.endsWith("given up")) controller.abort();
    else fail(new Error("mine"));
    await settle();
    assert.equal(person.signals[0]!.aborted, true);
    const { error } = what.endsWith("failed") ? await call : {};
    if (what.endsWith("failed")) assert.equal(error?.message, "mine");
    await person.answer();
    await client.close();
    assert.ok(!peer.methods.includes("(response)") || what.endsWith("again"));
  });
}

test("Client does not tell a handler that has answered of what comes later (C11)", async () => {
  for (const legacy of [true, false]) {
    const person = new Person();
    const { client, peer } = await meet({ legacy, inputHandlers: person.handlers });
    const call = client.request("tools/call", { name: "x" });
    const request = await peer.take("tools/call");
    if (legacy) peer.send({ id: 1, ...ELICIT });
    else peer.answer(request, wanted(1));
    await settle();
    await person.answer();
    peer.answer(legacy ? request : await peer.take("tools/call"), { resultType: "complete" });
    await call;
    await client.close();
    assert.equal(person.signals[0]!.aborted, false);
  }
});

test("Client asks sixteen questions at once, in their order, and the rest as those are answered (XB13, C11)", async () => {
  const person = new Person();
  const { client, peer } = await meet({ inputHandlers: person.handlers });
  const calls = [client.request("tools/call", { name: "1" }), client.request("tools/call", { name: "2" })];
  for (const _call of calls) peer.answer(await peer.take("tools/call"), wanted(20));
  await settle();
  assert.equal(person.open, 16);
  await person.answer(3);
  assert.deepEqual([person.open, person.asked], [16, 19]);
  for (let n = 0; n < 40; n++) await person.answer();
  assert.deepEqual([person.open, person.asked], [0, 40]);
  for (const _call of calls) {
    const again = await peer.takeRequest("tools/call");
    assert.equal(Object.keys(again.params!.inputResponses as object).length, 20);
    peer.answer(again, { resultType: "complete" });
  }
  await Promise.all(calls);
  await client.close();
});

test("Client puts no question any more whose call was given up while it waited for its turn (XB13, C11)", async () => {
  const person = new Person();
  const { client, peer } = await meet({ inputHandlers: person.handlers });
  const controller = new AbortController();
  const first = outcomeOf(client.request("tools/call", { name: "1" }, { signal: controller.signal }));
  peer.answer(await peer.take("tools/call"), wanted(100));
  await settle();
  const second = client.request("tools/call", { name: "2" });
  peer.answer(await peer.take("tools/call"), wanted(1));
  await settle();
  controller.abort();
  await first;
  assert.equal(person.asked, 16);
  // Those that run hold their permits until they have ended, also when nobody waits for them.
  await person.answer(1);
  assert.equal(person.asked, 17);
  await person.answer(16);
  peer.answer(await peer.take("tools/call"), { resultType: "complete" });
  await second;
  await client.close();
});

test("Client fails a call whose server wants to know more than 256 things at once (XB13, C11)", async () => {
  const person = new Person();
  const { client, peer } = await meet({ inputHandlers: person.handlers });
  const call = outcomeOf(client.request("tools/call", { name: "x" }));
  peer.answer(await peer.take("tools/call"), wanted(50_000));
  const { error } = await call;
  assert.ok(error instanceof InvalidResponseError);
  assert.match(error.message, /asked for more than 256 inputs at once/);
  assert.equal(person.asked, 0);
  await client.close();
});

/** Answers of the client to the server, by id. */
const answersTo = (received: ReadonlyArray<{ id?: RequestId; method?: string }>) =>
  received.filter(({ method }) => method === undefined);

test("Client lets 256 questions of a legacy server wait and refuses the others (XB8, C11)", async () => {
  const person = new Person();
  const { client, peer } = await meet({ legacy: true, inputHandlers: person.handlers });
  for (let id = 0; id < 1_000; id++) peer.send({ id, ...ELICIT });
  for (let turn = 0; turn < 10; turn++) await settle();
  assert.equal(person.open, 16);
  const refused = answersTo(peer.received) as Array<{ error?: { code: number; message: string } }>;
  assert.equal(refused.length, 1_000 - 256);
  assert.deepEqual(refused[0]!.error?.code, -32603);
  assert.match(refused[0]!.error!.message, /busy/);
  const call = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await call;
  await client.close();
});

test("Client reads a server no further that asks and asks and does not read the answers (XB8)", async () => {
  const { client, peers, runtime } = await inhabit((peer) => void peer.initialize());
  const peer = peers[0]!;
  peer.stopReading();
  const asked = () => peer.accepted;
  for (let id = 0; id < 8_000; id++) peer.send({ id, method: "ping", params: { text: "x".repeat(100) } });
  for (let turn = 0; turn < 20; turn++) await settle();
  const taken = asked();
  assert.ok(taken < 4_000, `${taken} of 8000 were read`);
  await settle();
  assert.equal(asked(), taken);
  peer.goOnReading();
  for (let turn = 0; turn < 400 && answersTo(peer.received).length < 8_000; turn++) await settle();
  assert.equal(answersTo(peer.received).length, 8_000);
  await client.close();
  assert.equal(runtime.processes.length, 1);
});

test("StdioClientTransport hands 256 questions of its server on and refuses the others (XB8, K2)", async (t) => {
  const { received, write, read, transport } = await connectClient(t);
  await write(Array.from({ length: 300 }, (_, id) => legacyRequest(id, "elicitation/create")));
  await settle();
  assert.equal(received.length, 256);
  const refused = read() as Array<{ id: number; error: { code: number } }>;
  assert.deepEqual(refused.map(({ id, error }) => [id, error.code])[0], [256, -32603]);
  assert.equal(refused.length, 44);
  // An answer, and a question that is withdrawn, make room.
  await transport.send({ jsonrpc: "2.0", id: 0, result: {} });
  await write([
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    legacyRequest(400, "elicitation/create"),
    legacyRequest(401, "elicitation/create"),
    legacyRequest(402, "elicitation/create"),
  ]);
  assert.equal(received.length, 256 + 1 + 2);
});

test("StdioClientTransport reads a server no further that does not read the answers (XB8, K2)", async () => {
  const runtime = createFakeRuntime();
  const transport = new StdioClientTransport({ command: "server", runtime, logger: silentLogger });
  let answered = 0;
  transport.onmessage = (message) => {
    answered++;
    transport.send({ jsonrpc: "2.0", id: (message as JSONRPCRequest).id, result: {} }).catch(() => {});
  };
  await transport.start();
  const server = new Peer(runtime.processes[0]!);
  server.stopReading();
  for (let id = 0; id < 8_000; id++) server.send({ id, method: "ping", params: { text: "x".repeat(100) } });
  for (let turn = 0; turn < 20; turn++) await settle();
  assert.ok(answered > 256 && answered < 4_000, `${answered} of 8000 were read`);
  server.goOnReading();
  for (let turn = 0; turn < 400 && server.received.length < 8_000; turn++) await settle();
  assert.equal(server.received.length, 8_000);
  await transport.close();
});
