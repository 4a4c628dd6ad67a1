/**
 * Servers on the official SDK, v1 and v2, over our transport and under serve(), on each runtime: driven by raw bytes (rules K1 to
 * K3).
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { call, cancel, initialize, legacy, modern, notification, textOf } from "../server_helpers.ts";
import { ServerProcess } from "../server_processes.ts";
import { createBrood, outOfTurn, ROOT, RUNTIMES, SLOW, upTo } from "./harness.ts";
import { describeServer, type How, type Sdk, SERVER_KINDS, SERVER_PROGRAM } from "./sdk_servers.ts";

for (const { name: runtime, skip, run } of RUNTIMES) {
  const options = { ...SLOW, skip };

  const start = (t: TestContext, sdk: Sdk, how: How, settings: object = {}): ServerProcess => {
    const brood = createBrood(t);
    const [command, ...args] = run(SERVER_PROGRAM, sdk, how, JSON.stringify(settings));
    const env = { ...process.env, ...brood.env };
    return new ServerProcess(spawn(command, args, { cwd: ROOT, env, stdio: "pipe" }));
  };

  for (const [kind, [sdk, how]] of SERVER_KINDS.entries()) {
    const who = describeServer(sdk, how);
    /** Each test of a kind of server is on one of the runtimes, so that each runtime has all tests and all kinds. */
    const inTurn = (test: number) => ({ ...SLOW, skip: skip || outOfTurn(runtime, kind + test) });

    test(
      `${who} on ${runtime} answers bad lines, big ids and what the SDK would drop (V5, F3 and F17 of the SDK)`,
      inTurn(0),
      async (t) => {
        const server = start(t, sdk, how);
        server.send(initialize(0, "2025-03-26"));
        await server.response(0);
        server.send(
          "no json",
          '{"jsonrpc":"2.0","id":7,"method":5}',
          '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
          JSON.stringify([legacy(8, "ping"), legacy(9, "ping")]),
          JSON.stringify({ ...legacy(10, "ping"), trace: "abc" }),
          legacy(11, "tools/list", { _meta: 5 }),
        );
        server.write(Uint8Array.from([0xff, 0x0a]));
        server.send(legacy("last", "ping"));
        await server.response("last");
        await server.response(10);
        assert.deepEqual(server.transcript.responsesTo(null).map(({ error }) => error!.code), [
          -32700,
          -32700,
        ]);
        assert.equal((await server.response(7)).error!.code, -32600);
        assert.equal((await server.response(11)).error!.code, -32602);
        assert.deepEqual((await server.response(9)).result, {});
        await server.until(
          () => server.transcript.texts.some((text) => /"id":9007199254740993[,}]/.test(text)),
          "the answer with the digits that came",
        );
        server.end();
        assert.deepEqual(await server.exited, { code: 0, signal: null });
      },
    );

    test(
      `${who} on ${runtime} keeps console.log off the wire, and is silent after a cancellation (V14, V3, F9 of the SDK)`,
      inTurn(1),
      async (t) => {
        const server = start(t, sdk, how);
        const said = () => server.transcript.notifications("notifications/progress").length;
        server.send(initialize(0), legacy(1, "tools/call", { name: "print", arguments: {} }));
        assert.equal(textOf(await server.response(1)), "printed");
        await server.saying("forged");
        const _meta = { progressToken: 2 };
        server.send(legacy(2, "tools/call", { name: "stubborn", arguments: { ms: 500 }, _meta }));
        await server.until(() => said() >= 2, "progress");
        server.send(cancel(2), legacy(3, "tools/call", { name: "sleep", arguments: { ms: 700 } }));
        server.send(legacy(4, "ping"));
        await server.response(4);
        const before = said();
        await server.response(3);
        assert.equal(said(), before);
        assert.deepEqual(server.transcript.responsesTo(2), []);
        server.end();
        assert.equal((await server.exited).code, 0);
      },
    );

    test(
      `${who} on ${runtime} answers what was asked right before the end, and then ends (V11, F8 of the SDK)`,
      inTurn(2),
      async (t) => {
        const server = start(t, sdk, how);
        server.send(initialize(0), legacy(1, "tools/call", { name: "sleep", arguments: { ms: 300 } }));
        server.send(
          ...upTo(50).map((id) => legacy(100 + id, "tools/call", { name: "add", arguments: { a: id } })),
        );
        server.end();
        assert.deepEqual(await server.exited, { code: 0, signal: null });
        assert.equal(textOf(server.transcript.responsesTo(1)[0]!), "slept 300 ms");
        for (const id of upTo(50)) {
          assert.equal(textOf(server.transcript.responsesTo(100 + id)[0]!), String(id));
        }
        assert.match(server.stderr, how === "connect" ? /closed\n$/ : /served: eof\n$/);
      },
    );

    test(
      `${who} on ${runtime} takes a request of 11 MB and refuses one over the limit, and goes on (F5, F2 of the SDK)`,
      inTurn(3),
      async (t) => {
        const server = start(t, sdk, how);
        const big = (id: number, size: number) =>
          legacy(id, "tools/call", {
            name: "add",
            arguments: { a: 1, b: 2 },
            _meta: { fill: "x".repeat(size) },
          });
        server.send(initialize(0), big(1, 11_000_000), big(2, 17_000_000), legacy(3, "ping"));
        await server.response(3);
        assert.equal(textOf(await server.response(1)), "3");
        assert.equal((await server.response(2)).error!.code, -32600);
        server.end();
        assert.equal((await server.exited).code, 0);
      },
    );

    test(
      `${who} on ${runtime} gives up a handler that never returns, and ends when its client has gone (V11, V13)`,
      inTurn(4),
      async (t) => {
        const server = start(t, sdk, how, { drainTimeoutMs: 200 });
        server.send(initialize(0), legacy(1, "tools/call", { name: "never", arguments: {} }));
        await server.response(0);
        server.end();
        assert.equal((await server.exited).code, 0);
        assert.match(server.transcript.responsesTo(1)[0]!.error!.message, /shutting down/);

        const other = start(t, sdk, how);
        other.send(initialize(0));
        await other.response(0);
        other.breakOutput();
        other.send(legacy(1, "tools/call", { name: "add", arguments: {} }));
        assert.equal((await other.exited).code, 0);
      },
    );
  }

  test(
    `A server on SDK v2 under serve() on ${runtime} judges every request by itself (V6, V8, F7 of the SDK)`,
    options,
    async (t) => {
      const server = start(t, "v2", "serve");
      server.send(
        legacy(1, "tools/list"),
        modern(2, "server/discover"),
        cancel("nobody"),
        call(3, "add", { a: 1, b: 2 }),
        initialize(4),
        notification("notifications/initialized"),
        legacy(5, "tools/call", { name: "add", arguments: { a: 2, b: 2 } }),
        call(6, "add", { a: 3, b: 2 }),
        legacy(7, "server/discover"),
        modern(8, "tools/list", {}, { "io.modelcontextprotocol/protocolVersion": "1999-01-01" }),
        modern(9, "tools/list", {}, { "io.modelcontextprotocol/clientCapabilities": 5 }),
        modern(10, "ping"),
        legacy(11, "ping"),
      );
      await server.response(6);
      await server.response(11);
      assert.equal((await server.response(1)).error!.code, -32602);
      assert.match((await server.response(1)).error!.message, /protocolVersion/);
      assert.deepEqual((await server.response(2)).result.supportedVersions, ["2026-07-28"]);
      for (
        const [id, text, era] of [[3, "3", "complete"], [5, "4", undefined], [6, "5", "complete"]] as const
      ) {
        const message = await server.response(id);
        assert.deepEqual([textOf(message), message.result.resultType], [text, era]);
      }
      assert.equal((await server.response(4)).result.protocolVersion, "2025-11-25");
      assert.equal((await server.response(7)).error!.code, -32601);
      const { error } = await server.response(8);
      assert.deepEqual([error!.code, error!.data.requested], [-32022, "1999-01-01"]);
      assert.ok(error!.data.supported.includes("2026-07-28") && error!.data.supported.includes("2025-11-25"));
      assert.equal((await server.response(9)).error!.code, -32602);
      assert.equal((await server.response(10)).error!.code, -32601);
      assert.deepEqual((await server.response(11)).result, {});
      server.end();
      assert.equal((await server.exited).code, 0);
      assert.equal(server.stderr.match(/made for/g)!.length, 2, "one instance for each era");
    },
  );

  test(
    `A server on SDK v2 under serve() on ${runtime} has listen streams that end with the shutdown pair (V9, V11)`,
    options,
    async (t) => {
      const server = start(t, "v2", "serve");
      const listen = (id: string, notifications: object) =>
        modern(id, "subscriptions/listen", { notifications });
      server.send(
        listen("a", { toolsListChanged: true, promptsListChanged: true }),
        listen("b", { resourcesListChanged: true }),
        listen("c", { toolsListChanged: true }),
        cancel("c", "server shutdown"),
        listen("d", 5 as never),
        listen("a", {}),
      );
      const told = (method: string) => server.transcript.notifications(method);
      await server.until(
        () => told("notifications/subscriptions/acknowledged").length >= 2,
        "two acknowledgments",
      );
      assert.equal((await server.response("d")).error!.code, -32602);
      assert.equal((await server.response("a")).error!.code, -32600, "it is in flight");
      server.send(call(1, "grow"));
      await server.response(1);
      await server.until(() => told("notifications/tools/list_changed").length >= 1, "the change");
      server.end();
      assert.equal((await server.exited).code, 0);
      const ID = "io.modelcontextprotocol/subscriptionId";
      const acknowledged = told("notifications/subscriptions/acknowledged").map(({ params }) => params);
      assert.deepEqual(
        acknowledged.filter(({ _meta }) => _meta[ID] !== "c").map((params) => params.notifications),
        [
          { toolsListChanged: true },
          {},
        ],
      );
      assert.deepEqual(told("notifications/tools/list_changed").map(({ params }) => params._meta[ID]), ["a"]);
      for (const id of ["a", "b"]) {
        const end = server.transcript.messages.slice(-4).filter(({ result, params }) =>
          result?._meta?.[ID] === id || params?.requestId === id
        );
        assert.deepEqual(end.map(({ result, params }) => result?.resultType ?? params.reason), [
          "complete",
          "server shutdown",
        ]);
      }
      assert.deepEqual(server.transcript.messages.filter(({ params }) => params?.requestId === "c"), []);
    },
  );

  test(
    `A server on SDK v1 under serve() on ${runtime} names the revisions it has to modern requests (K3)`,
    options,
    async (t) => {
      const server = start(t, "v1", "serve");
      server.send(modern(1, "server/discover"), call(2, "add"), legacy(3, "tools/list"));
      assert.equal((await server.response(1)).error!.code, -32601);
      const { error } = await server.response(2);
      assert.deepEqual([error!.code, error!.data.supported[0], error!.data.requested], [
        -32022,
        "2025-11-25",
        "2026-07-28",
      ]);
      assert.ok((await server.response(3)).result.tools.length > 3, "and asks for no handshake, as ever");
      server.end();
      assert.equal((await server.exited).code, 0);
      assert.equal(
        server.stderr.match(/made for/g)!.length,
        1,
        "the instance that was made for the modern era serves the other",
      );
    },
  );

  test(
    `A server on SDK v2 under serve() on ${runtime} that rejects the legacy era says what it speaks (V7)`,
    options,
    async (t) => {
      const server = start(t, "v2", "serve", { legacy: "reject" });
      server.send(initialize(1), legacy(2, "ping"), call(3, "add", { a: 1 }));
      const { error } = await server.response(1);
      assert.deepEqual([error!.code, error!.data.supported], [-32022, ["2026-07-28"]]);
      assert.equal((await server.response(2)).error!.code, -32602);
      assert.equal(textOf(await server.response(3)), "1");
      server.end();
      assert.equal((await server.exited).code, 0);
    },
  );

  test(
    `A server on SDK v2 under serve() on ${runtime} ends at SIGTERM with answers, and its handlers' signals fire (V15)`,
    {
      ...options,
      skip: skip || (process.platform === "win32" ? "Windows has no SIGTERM" : false),
    },
    async (t) => {
      const server = start(t, "v2", "serve");
      server.send(call(1, "never"), call(2, "sleep", { ms: 60_000 }), modern(3, "server/discover"));
      await server.response(3);
      server.kill("SIGTERM");
      assert.deepEqual(await server.exited, { code: 0, signal: null });
      for (const id of [1, 2]) {
        assert.match(server.transcript.responsesTo(id)[0]!.error!.message, /shutting down/);
      }
      assert.match(server.stderr, /served: signal\n/);
    },
  );
}
