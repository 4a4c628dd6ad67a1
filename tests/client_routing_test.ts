import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../client.ts";
import { createDeferred } from "../internal/promises.ts";
import { MetaKey, type Params } from "../messages.ts";
import { createStreamPair } from "../testing.ts";
import { DISCOVERED, meet, outcomeOf, Peer, settle } from "./_client_peer.ts";
import { countTold, nextTurn, showUnhandledRejections, stateOf } from "./helpers.ts";

const progress = (progressToken: unknown, value = 1) => ({
  method: "notifications/progress",
  params: { progressToken, progress: value },
});

function raise(error: Error): never {
  throw error;
}

test("Client shows 250 of 250 progress callbacks before the results (C2)", async () => {
  const { client, peer } = await meet();
  let seen = 0;
  for (let n = 0; n < 50; n++) {
    const call = client.request("tools/call", { name: "burst" }, { onProgress: () => void seen++ });
    const request = await peer.takeRequest("tools/call");
    const { progressToken } = request.params!._meta as Params;
    peer.send(...[1, 2, 3, 4, 5].map((value) => progress(progressToken, value)), {
      id: request.id,
      result: {},
    });
    await call;
    assert.equal(seen, (n + 1) * 5);
  }
  await client.close();
});

test("Client keeps the wire order within a request, whatever ends it (C2, S1-58)", async () => {
  const { client, peer } = await meet();
  const endings = [
    (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":{}}\n`,
    (id: unknown) => `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no"}}\n`,
    (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":5}\n`,
  ];
  for (const ending of endings) {
    const order: string[] = [];
    const call = outcomeOf(
      client.request("tools/call", { name: "x" }, {
        onProgress: ({ progress }) => order.push(String(progress)),
      }),
    ).then(() => order.push("end"));
    const { id } = await peer.take("tools/call");
    peer.write(
      [1, 2, 3].map((value) => JSON.stringify({ jsonrpc: "2.0", ...progress(id, value) }) + "\n").join("") +
        ending(id),
    );
    await call;
    assert.deepEqual(order, ["1", "2", "3", "end"]);
  }
  await client.close();
});

test("Client shows nothing more once the caller has aborted (C4)", async () => {
  const { client, peer } = await meet();
  const controller = new AbortController();
  const seen: number[] = [];
  const call = outcomeOf(client.request("tools/call", { name: "x" }, {
    signal: controller.signal,
    onProgress: ({ progress }) => {
      seen.push(progress);
      if (progress === 2) controller.abort("enough");
    },
  }));
  const { id } = await peer.take("tools/call");
  peer.send(progress(id, 1), progress(id, 2), progress(id, 3));
  assert.equal((await call).error, "enough");
  await settle();
  assert.deepEqual(seen, [1, 2]);
  await client.close();
});

test("Client routes by progress token and subscription id only (C3, S1-44, S1-45)", async () => {
  const unrouted: unknown[] = [];
  const { client, peer, log } = await meet({
    onNotification: (method, params) => void unrouted.push([method, params]),
  });
  const seen: unknown[] = [];
  const options = (name: string) => ({
    onProgress: (value: unknown) => void seen.push([name, "progress", value]),
    onLog: (...told: unknown[]) => void seen.push([name, "log", ...told]),
    onNotification: (...told: unknown[]) => void seen.push([name, "notification", ...told]),
  });
  const calls = ["a", "b"].map((name) => client.request("tools/call", { name }, options(name)));
  const [a, b] = [await peer.take("tools/call"), await peer.take("tools/call")];
  peer.send(
    progress(a.id, 1),
    progress(b.id, 2),
    { method: "notifications/message", params: { level: "info", data: 3, _meta: { progressToken: a.id } } },
    { method: "notifications/x", params: { _meta: { progressToken: b.id } } },
    // Log messages name no request on stdio (S1-48, S1-49), and absent params stay absent (S1-50).
    { method: "notifications/message", params: { level: "error", data: 4 } },
    { method: "notifications/tools/list_changed" },
  );
  peer.answer(a);
  peer.answer(b);
  await Promise.all(calls);
  await settle();
  assert.deepEqual(
    seen,
    [
      ["a", "progress", { progressToken: a.id, progress: 1 }],
      ["a", "log", "info", 3, undefined],
      ["b", "progress", { progressToken: b.id, progress: 2 }],
      ["b", "notification", "notifications/x", { _meta: { progressToken: b.id } }],
    ],
  );
  assert.deepEqual(unrouted, [
    ["notifications/message", { level: "error", data: 4 }],
    ["notifications/tools/list_changed", undefined],
  ]);
  assert.deepEqual(log.of("warn"), []);
  await client.close();
});

test("Client drops a notification that names no request in flight (C3, S1-46)", async () => {
  const unrouted: string[] = [];
  const { client, peer, log, clock } = await meet({ onNotification: (method) => void unrouted.push(method) });
  let seen = 0;
  const call = client.request("tools/call", { name: "x" }, {
    onProgress: () => seen++,
    onNotification: () => seen++,
  });
  const plain = client.request("tools/call", { name: "y" });
  const [first, second] = [await peer.take("tools/call"), await peer.take("tools/call")];
  const event = (id: unknown) => ({
    method: "notifications/tools/list_changed",
    params: { _meta: { [MetaKey.subscriptionId]: id } },
  });
  peer.send(
    progress(99),
    progress(String(first.id)), // Another type is another token (S1-101).
    progress(second.id), // It asked for none.
    progress({ not: "a token" }),
    event(99),
    event(first.id), // Not a listen stream.
  );
  peer.answer(first);
  peer.send(progress(first.id)); // It is over.
  peer.answer(second);
  await Promise.all([call, plain]);
  await settle();
  assert.equal(seen, 0);
  assert.deepEqual(unrouted, []);
  const text = "[mcp_router] dropped a frame: a notification that names no request in flight";
  await clock.advance(1_000);
  assert.equal(countTold(log.of("warn")), 7);
  assert.ok(log.of("warn").every((line) => line.startsWith(text)));
  await client.close();
});

test("Client calls back for a notification that was the server's first output (C3, S1-52)", async () => {
  for (let round = 0; round < 20; round++) {
    const seen: unknown[] = [];
    const [here, there] = createStreamPair();
    const peer = new Peer(there);
    const log = (data: string) => ({ method: "notifications/message", params: { level: "info", data } });
    peer.send(log("first"));
    const connecting = Client.connect(here, {
      onNotification: (_method, params) => void seen.push(params?.data),
    });
    const { id } = await peer.take("server/discover");
    peer.send(log("second"), { id, result: DISCOVERED });
    const client = await connecting;
    await nextTurn();
    assert.deepEqual(seen, ["first", "second"]);
    await client.close();
  }
});

test("Client delivers notifications in order, awaiting each callback (C3)", async () => {
  const seen: string[] = [];
  const { client, peer } = await meet({
    onNotification: async (_method, params) => {
      seen.push(`begin ${params!.data}`);
      await settle();
      seen.push(`end ${params!.data}`);
    },
  });
  peer.send(
    ...[1, 2, 3].map((data) => ({ method: "notifications/message", params: { level: "info", data } })),
  );
  const call = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await call; // Not held up.
  for (let turn = 0; turn < 5; turn++) await settle();
  assert.deepEqual(seen, ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
  await client.close();
});

test("Client goes on when a callback of its own throws or rejects, and logs it (XA6, C3)", async () => {
  for (const fails of [(error: Error) => Promise.reject(error), (error: Error) => raise(error)]) {
    let calls = 0;
    const fail = (): Promise<void> => {
      calls++;
      return fails(new Error("mine")) as Promise<void>;
    };
    const { client, peer, log, clock } = await meet({
      onNotification: fail,
      onStrayOutput: fail,
      onStateChange: fail,
    });
    peer.send({ method: "notifications/a" }, { method: "notifications/b" });
    peer.write("stray\n");
    const call = client.request("tools/call", { name: "x" });
    peer.answer(await peer.take("tools/call"), { ok: true });
    assert.equal((await call).ok, true);
    await showUnhandledRejections();
    assert.equal(calls, 4);
    await clock.advance(1_000);
    assert.equal(countTold(log.of("error")), 4);
    assert.ok(log.lines.every(({ level, facts }) => level !== "error" || /mine/.test(String(facts.error))));
    await client.close();
  }
});

test("Client fails a request whose callback throws or rejects with that, and the server is told (XA6, C3, S1-69)", async () => {
  const mine = new Error("mine");
  const log = { method: "notifications/message", params: { level: "info", data: 1 } };
  const notices = (progressToken: unknown): { [name: string]: object } => ({
    onProgress: progress(progressToken),
    onLog: { ...log, params: { ...log.params, _meta: { progressToken } } },
    onNotification: { method: "notifications/x", params: { _meta: { progressToken } } },
  });
  for (const name of ["onProgress", "onLog", "onNotification"]) {
    for (const fail of [() => raise(mine), () => Promise.reject(mine)]) {
      for (const inlineNotifications of [false, true]) {
        const { client, peer, log } = await meet();
        const call = outcomeOf(
          client.request("tools/call", { name }, {
            inlineNotifications,
            resetTimeoutOnProgress: true,
            [name]: fail,
          }),
        );
        const { id } = await peer.take("tools/call");
        peer.send(notices(id)[name]!);
        assert.equal((await call).error, mine);
        // The text of the error is not the server's business.
        assert.deepEqual((await peer.take("notifications/cancelled")).params, { requestId: id });
        await showUnhandledRejections();
        assert.deepEqual(log.lines, []);
        await client.close();
      }
    }
  }
});

test("Client fails a request whose callback throws although the answer stands right behind (C3, S1-69)", async () => {
  const { client, peer } = await meet();
  for (const answer of [{ result: { resultType: "complete" } }, { error: { code: 1, message: "no" } }]) {
    const call = outcomeOf(
      client.request("tools/call", { name: "x" }, { onProgress: () => raise(new Error("mine")) }),
    );
    const { id } = await peer.take("tools/call");
    peer.send(progress(id, 1), progress(id, 2), { id, ...answer });
    assert.equal((await call).error?.message, "mine");
  }
  await settle();
  assert.ok(!peer.methods.includes("notifications/cancelled")); // There is nothing to stop any more.
  await client.close();
});

test("Client logs what a callback throws whose request is over (C3, C9)", async () => {
  const gate = createDeferred();
  const { client, peer, log } = await meet();
  const call = client.request("tools/call", { name: "x" }, {
    onProgress: async () => {
      await gate.promise;
      throw new Error("mine");
    },
  });
  const { id } = await peer.take("tools/call");
  peer.send(progress(id, 1), { id, result: { ok: true } });
  assert.equal((await call).ok, true);
  gate.resolve();
  await showUnhandledRejections();
  assert.deepEqual(log.lines.map(({ level, facts }) => [level, String(facts.error)]), [[
    "error",
    "Error: mine",
  ]]);
  await client.close();
});

test("Client goes on when its logger throws (C3, C9)", async () => {
  const fail = () => {
    throw new Error("the log is full");
  };
  const { client, peer } = await meet({ logger: { debug: fail, info: fail, warn: fail, error: fail } });
  peer.send({ id: 99, result: {} });
  const call = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await call;
  await client.close();
});

test("Client runs inline callbacks before it routes the next frame (C3, S1-55, S1-56)", async () => {
  const { client, peer } = await meet();
  const order: string[] = [];
  const listening = client.request("tools/call", { name: "1" }, {
    inlineNotifications: true,
    onProgress: ({ progress }) => void order.push(`progress ${progress}`),
  });
  const call = peer.take("tools/call");
  for (let round = 0; round < 100; round++) {
    const other = client.request("tools/list").then(() => order.push(`answer ${round}`));
    const { id } = await peer.take("tools/list");
    peer.send(progress((await call).id, round), { id, result: {} });
    await other;
  }
  assert.deepEqual(order, Array.from({ length: 100 }, (_, n) => [`progress ${n}`, `answer ${n}`]).flat());
  peer.answer(await call);
  await listening;
  await client.close();
});

test("Client may make a request in an inline callback: it is answered later (C3, S1-57)", async () => {
  const { client, peer } = await meet();
  let inner: Promise<unknown> | undefined;
  const call = client.request("tools/call", { name: "x" }, {
    inlineNotifications: true,
    onProgress: () => void (inner = client.request("tools/list")),
  });
  const { id } = await peer.take("tools/call");
  peer.send(progress(id));
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await inner;
  peer.answer({ id: id! });
  await call;
  await client.close();
});

test("Client holds the next frame while an inline onNotification runs (C3, S1-53)", async () => {
  const gate = createDeferred();
  const order: string[] = [];
  const { client, peer } = await meet({
    inlineNotifications: true,
    onNotification: async () => {
      await gate.promise;
      order.push("notification");
    },
  });
  const call = client.request("tools/list").then(() => order.push("answer"));
  const { id } = await peer.take("tools/list");
  peer.send({ method: "notifications/x" }, { id, result: {} });
  assert.equal(await stateOf(call), "pending");
  gate.resolve();
  await call;
  assert.deepEqual(order, ["notification", "answer"]);
  await client.close();
});

test("Client holds each member of a batch while an inline onNotification runs (C3, V8)", async () => {
  let running = 0;
  let most = 0;
  const { client, peer } = await meet({
    legacy: true,
    greeting: { protocolVersion: "2025-03-26" },
    inlineNotifications: true,
    onNotification: async () => {
      most = Math.max(most, ++running);
      await nextTurn();
      running--;
    },
  });
  const call = client.request("tools/list");
  const { id } = await peer.take("tools/list");
  const told = Array.from({ length: 20 }, () => ({ jsonrpc: "2.0", method: "notifications/x" }));
  peer.write(`${JSON.stringify([...told, { jsonrpc: "2.0", id, result: {} }])}\n`);
  await call;
  assert.deepEqual([most, running], [1, 0]);
  await client.close();
});

test("Client is closed although an inline callback never returns (C3, P3)", async () => {
  const { client, peer, clock } = await meet({
    inlineNotifications: true,
    onNotification: () => new Promise(() => {}),
  });
  peer.send({ method: "notifications/x" });
  await settle();
  await client.close();
  await settle();
  assert.equal(clock.pendingTimers, 0);
});

test("Client reads answers however many notifications wait, and drops log messages past the bound (XB9, C3)", async () => {
  const gate = createDeferred();
  const seen: unknown[] = [];
  let inner: Promise<unknown> | undefined;
  const { client, peer, log, clock } = await meet({
    limits: { maxQueuedNotifications: 16 },
    onNotification: async (method, params) => {
      seen.push(method === "notifications/message" ? params!.data : method);
      // It may wait for an answer of the server: that stands behind all that the server has told.
      if (inner === undefined) await (inner = client.request("tools/list"));
      await gate.promise;
    },
  });
  const message = (data: number) => ({ method: "notifications/message", params: { level: "info", data } });
  peer.send(message(0));
  const request = await peer.take("tools/list");
  for (let n = 1; n <= 1_100; n++) peer.send(message(n), { method: `notifications/x${n}` });
  peer.answer(request, { tools: [] });
  await inner;
  gate.resolve();
  for (let turn = 0; turn < 40 && seen.length < 1_109; turn++) await settle();
  // The queue held 16: eight log messages and eight others; from then on there was room for the others alone.
  const kept = seen.filter((one) => typeof one === "number");
  assert.deepEqual(kept, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(seen.length - kept.length, 1_100);
  await clock.advance(1_000);
  assert.equal(countTold(log.of("warn")), 1_100 - 8);
  assert.ok(log.of("warn").length <= 2, "one warning, and one that counts");
  assert.ok(log.of("warn").every((line) => /dropped a log message: onNotification is too slow/.test(line)));
  await client.close();
});

test("Client keeps no more than 8 MiB of notifications for a listener that never returns (XB9)", async () => {
  const { client, peer, log, clock } = await meet({ onNotification: () => new Promise(() => {}) });
  const text = "x".repeat(100_000);
  for (let n = 0; n < 200; n++) peer.send({ method: "notifications/x", params: { n, text } });
  const call = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [] });
  await call;
  await clock.advance(1_000);
  const dropped = countTold(log.of("warn"));
  assert.ok(dropped > 100 && dropped < 165, `${dropped} of 200 were dropped`);
  await client.close();
});

test("Client holds nothing back from a listener that takes no time, however much comes at once (C3)", async () => {
  let seen = 0;
  const { client, peer, log } = await meet({
    limits: { maxQueuedNotifications: 4 },
    onNotification: () => void seen++,
  });
  const message = { method: "notifications/message", params: { level: "info", data: 1 } };
  for (let n = 0; n < 50; n++) peer.send(...Array.from({ length: 200 }, () => message));
  for (let turn = 0; turn < 40 && seen < 10_000; turn++) await settle();
  assert.equal(seen, 10_000);
  assert.deepEqual(log.of("warn"), []);
  await client.close();
});

test("Client hands out values that later frames do not change (C3, S1-54)", async () => {
  const kept: Params[] = [];
  const { client, peer } = await meet({
    onNotification: (_method, params) => void kept.push(Object.freeze(params!)),
  });
  peer.send({ method: "notifications/message", params: { level: "info", data: { n: 1 } } });
  for (let n = 0; n < 100; n++) {
    peer.send({ method: "notifications/message", params: { level: "info", data: { n } } });
  }
  await settle();
  assert.deepEqual(kept[0], { level: "info", data: { n: 1 } });
  assert.equal(kept.length, 101);
  await client.close();
});

test("Client drops progress that is no number, and the request goes on (C3)", async () => {
  const { client, peer, log, clock } = await meet();
  const seen: unknown[] = [];
  const call = client.request("tools/call", { name: "x" }, {
    onProgress: ({ progress }) => void seen.push(progress.toFixed(1)),
  });
  const { id } = await peer.takeRequest("tools/call");
  for (const value of [null, "5", {}, [], true]) {
    peer.send({ method: "notifications/progress", params: { progressToken: id, progress: value } });
  }
  peer.send({ method: "notifications/progress", params: { progressToken: id } });
  peer.write(
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${id},"progress":1e999}}\n`,
  );
  peer.send(progress(id, 2));
  peer.answer({ id });
  await call;
  assert.deepEqual(seen, ["2.0"]);
  await clock.advance(1_000);
  assert.equal(countTold(log.of("warn")), 7);
  assert.match(log.of("warn")[0]!, /progress that is no number/);
  await client.close();
});
