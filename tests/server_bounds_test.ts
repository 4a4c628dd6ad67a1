// What a client can make pile up in a server has a bound (V18): URIs and subscriptions. What waits is in server_backlog_test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { initialize, legacy, modern, SLOW, start } from "./server_helpers.ts";

const UPDATED = "notifications/resources/updated";

const listen = (id: number, uris: readonly string[]) =>
  modern(id, "subscriptions/listen", { notifications: { resourceSubscriptions: uris } });
const resources = { "x://a": { read: () => "" } };

test("Server refuses a URI of more than 8 KiB wherever a client names one (XC15, V18)", async (t) => {
  const session = start(t, { resources });
  session.send(initialize(0));
  const longest = `x://${"é".repeat(4_094)}`;
  for (const [index, uri] of [longest, `${longest}x`].entries()) {
    const id = 10 * index;
    session.send(
      legacy(id + 1, "resources/subscribe", { uri }),
      legacy(id + 2, "resources/unsubscribe", { uri }),
      modern(id + 3, "resources/read", { uri }),
      listen(id + 4, ["x://a", uri]),
      legacy(id + 5, "ping"),
    );
    await session.response(id + 5);
    const refusals = [1, 2, 3, 4].map((n) => session.transcript.responsesTo(id + n)[0]?.error?.message);
    const tooLong = `Invalid params: "uri" is longer than 8192 bytes`;
    assert.deepEqual(
      refusals,
      index === 0
        ? [undefined, undefined, "Resource not found", undefined]
        : [tooLong, tooLong, tooLong, tooLong],
    );
  }
});

test(
  "Server keeps subscriptions in number and size, over both eras, and gives room back (XC15, V18)",
  SLOW,
  async (t) => {
    const session = start(t, { resources });
    session.send(initialize(0));
    const uris = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${prefix}://${n}`);
    // 10 000 in all: two streams and the legacy client.
    session.send(listen(1, uris("a", 5_000)), listen(2, uris("b", 4_999)));
    session.send(legacy(3, "resources/subscribe", { uri: "c://0" }));
    assert.deepEqual((await session.response(3)).result, {});
    session.send(
      legacy(4, "resources/subscribe", { uri: "c://0" }),
      legacy(5, "resources/subscribe", { uri: "c://1" }),
    );
    session.send(listen(6, ["d://0"]), listen(7, []));
    assert.deepEqual((await session.response(4)).result, {}, "it is subscribed already");
    for (const id of [5, 6]) {
      assert.deepEqual((await session.response(id)).error, { code: -32603, message: "Server busy" });
    }
    session.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    session.send(
      legacy(8, "resources/unsubscribe", { uri: "c://0" }),
      listen(9, uris("e", 5_001)),
      legacy(10, "ping"),
    );
    await session.response(10);
    assert.deepEqual([7, 9].map((id) => session.transcript.responsesTo(id).length), [0, 0], "they are open");
    session.server.publish(UPDATED, { uri: "e://5000" });
    await session.transcript.until(
      () => session.transcript.notifications(UPDATED).length === 1,
      "the update",
    );
    // A new handshake forgets the old subscriptions.
    session.send(legacy(11, "resources/subscribe", { uri: "c://0" }));
    assert.equal((await session.response(11)).error!.message, "Server busy");
  },
);

test("Server keeps at most 4 MiB of URIs (XC15, V18)", SLOW, async (t) => {
  const session = start(t, { resources });
  const long = (n: number) => `x://${n}/`.padEnd(8_192, "y");
  session.send(listen(1, Array.from({ length: 511 }, (_, n) => long(n))));
  session.send(listen(2, [long(511), long(512)]), listen(3, [long(511)]), modern(4, "server/discover"));
  await session.response(4);
  assert.equal(session.transcript.responsesTo(2)[0]?.error?.message, "Server busy");
  assert.deepEqual([1, 3].map((id) => session.transcript.responsesTo(id).length), [0, 0], "they are open");
});

test(
  "Server gives the room for subscriptions back when a legacy client shakes hands anew (XC15, V18)",
  SLOW,
  async (t) => {
    const session = start(t, { resources });
    for (let round = 0; round < 2; round++) {
      session.send(initialize(`hello ${round}`));
      // Of 8 KiB each: 4 MiB less one.
      const uris = Array.from({ length: 511 }, (_, n) => `x://${n}/`.padEnd(8_192, "x"));
      session.send(...uris.map((uri, n) => legacy(`${round} ${n}`, "resources/subscribe", { uri })));
      session.send(legacy(`done ${round}`, "ping"));
      await session.response(`done ${round}`);
      const busy = session.transcript.messages.filter(({ error }) => error !== undefined);
      assert.deepEqual(busy, []);
    }
  },
);

test("Subscriptions and publications meet in their decoded form (O4)", async (t) => {
  const session = start(t, { resources });
  session.send(
    initialize(0),
    legacy(1, "resources/subscribe", { uri: "x://caf%c3%a9" }),
    listen(2, ["x://my docs"]),
  );
  await session.response(1);
  session.server.publish(UPDATED, { uri: "x://café" });
  session.server.publish(UPDATED, { uri: "x://my%20docs" });
  session.server.publish(UPDATED, { uri: "x://my%2Fdocs" });
  await session.transcript.until(() => session.transcript.notifications(UPDATED).length === 2, "both");
  session.send(legacy(3, "resources/unsubscribe", { uri: "x://café" }));
  await session.response(3);
  session.server.publish(UPDATED, { uri: "x://café" });
  await session.settle();
  assert.equal(session.transcript.notifications(UPDATED).length, 2);
});
