// The line of whoever made a request, in what it rejects with (XF14).
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ConnectionClosedError,
  InvalidResponseError,
  ProtocolError,
  RequestTimeoutError,
} from "../errors.ts";
import { meet, type Meeting, settle } from "./_client_peer.ts";
import { showUnhandledRejections } from "./helpers.ts";

/** How a request can go wrong, with what has to happen for it. */
const WAYS: ReadonlyArray<readonly [what: string, kind: unknown, happens: (meeting: Meeting) => unknown]> = [
  [
    "is refused",
    ProtocolError,
    async ({ peer }) => peer.refuse(await peer.take("tools/list"), -5, "no\nwhere"),
  ],
  ["times out", RequestTimeoutError, ({ clock }) => clock.advance(60_000)],
  ["is answered with what cannot be read", InvalidResponseError, async ({ peer }) => {
    peer.write(`{"jsonrpc":"2.0","id":${(await peer.take("tools/list")).id},"result":5}\n`);
  }],
  ["is lost", ConnectionClosedError, async ({ peer }) => {
    await peer.take("tools/list");
    peer.end();
  }],
];

/** The trace of an error, line by line. */
const traceOf = (error: Error): string[] => error.stack!.split("\n").filter((line) => /^\s+at /.test(line));

for (const [what, kind, happens] of WAYS) {
  test(`A request that ${what} rejects with the line of its caller (XF14)`, async () => {
    const meeting = await meet();
    async function somebodyCalls(): Promise<unknown> {
      return await meeting.client.request("tools/list");
    }
    const outcome = somebodyCalls().then(() => assert.fail("it was answered"), (thrown: unknown) => thrown);
    await happens(meeting);
    const error = await outcome;
    assert.ok(error instanceof Error && error instanceof (kind as typeof Error));
    assert.ok(error.stack!.startsWith(`${error.name}: ${error.message}\n`), error.stack);
    assert.match(traceOf(error)[0]!, /somebodyCalls/);
    assert.match(traceOf(error)[0]!, /client_caller_test/);
    await meeting.client.close();
  });
}

test("A request rejects with the line of its caller also behind what it was shown, and in the legacy era (XF14)", async () => {
  const { client, peer } = await meet({ legacy: true });
  async function somebodyCalls(): Promise<unknown> {
    return await client.request("tools/call", { name: "x" }, { onProgress: () => {} });
  }
  const outcome = somebodyCalls().then(() => assert.fail("it was answered"), (thrown: unknown) => thrown);
  const { id } = await peer.take("tools/call");
  peer.send(
    { method: "notifications/progress", params: { progressToken: id, progress: 1 } },
    { id, error: { code: -1, message: "no" } },
  );
  assert.match(traceOf(await outcome as Error)[0]!, /somebodyCalls/);
  await client.close();
});

test("Requests that are awaited together each have the line of their caller (XF14)", async () => {
  const { client, peer } = await meet();
  async function somebodyCalls(): Promise<unknown> {
    return await Promise.all([client.request("tools/list"), client.request("tools/list")]);
  }
  const outcome = somebodyCalls().then(() => assert.fail("it was answered"), (thrown: unknown) => thrown);
  await peer.take("tools/list");
  peer.refuse(await peer.take("tools/list"), -5);
  const error = await outcome as Error;
  // Bun does not look through what waits for several.
  if (!("Bun" in globalThis)) {
    assert.ok(traceOf(error).some((line) => /somebodyCalls/.test(line)), error.stack);
  }
  await client.close();
});

test("A request that nobody awaited when it was refused rejects with the trace that there is (XF14)", async () => {
  const { client, peer } = await meet();
  const call = client.request("tools/list");
  peer.refuse(await peer.take("tools/list"), -5);
  await settle();
  const error = await call.then(() => assert.fail("it was answered"), (thrown: Error) => thrown);
  assert.ok(traceOf(error).length > 0, error.stack);
  await client.close();
});

test("What others threw is left as it is, and what nobody waits for is no unhandled rejection (XF14, C9)", async () => {
  const mine = new ProtocolError(-1, "mine");
  const { stack } = mine;
  const { client, peer } = await meet({ inputHandlers: { "roots/list": () => Promise.reject(mine) } });
  const controller = new AbortController();
  const calls = [
    client.request("tools/list", {}, { signal: controller.signal }),
    client.request("tools/call", { name: "x" }, {
      onProgress: () => {
        throw mine;
      },
    }),
    client.request("tools/call", { name: "y" }),
  ].map((call) => call.then(() => assert.fail("it was answered"), (thrown: unknown) => thrown));
  const [, first, second] = [
    await peer.take("tools/list"),
    await peer.take("tools/call"),
    await peer.take("tools/call"),
  ];
  controller.abort(mine);
  peer.send({ method: "notifications/progress", params: { progressToken: first.id, progress: 1 } });
  peer.answer(second, { resultType: "input_required", inputRequests: { a: { method: "roots/list" } } });
  for (const call of calls) assert.ok(await call === mine);
  assert.equal(mine.stack, stack);

  client.request("tools/list");
  peer.refuse(await peer.take("tools/list"), -5);
  Object.freeze(client.request("tools/list"));
  peer.refuse(await peer.take("tools/list"), -5);
  await settle();
  await showUnhandledRejections();
  client.request("tools/list");
  await client.close();
  await showUnhandledRejections();
});
