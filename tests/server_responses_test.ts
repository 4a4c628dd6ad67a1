// What becomes of a handler's outcome (rule V4).
import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtocolError } from "../errors.ts";
import type { RequestContext } from "../server.ts";
import { countTold } from "./helpers.ts";
import { call, cancel, initialize, legacy, modern, notification, start, textOf } from "./server_helpers.ts";

test("Server sends a handler's ProtocolError as it is, and of other errors only Internal error (V4)", async (t) => {
  const secret = new Error("the password is swordfish");
  const session = start(t, {
    handlers: {
      "x/protocol": () => {
        throw new ProtocolError(-32050, "No such thing", { thing: 1 });
      },
      "x/sync": () => {
        throw secret;
      },
      "x/async": () => Promise.reject(secret),
      "x/odd": () => Promise.reject(undefined),
      "x/code": () => {
        throw new ProtocolError("broken" as unknown as number, "x");
      },
    },
  });
  session.send(...["protocol", "sync", "async", "odd", "code"].map((name) => modern(name, `x/${name}`)));
  const internal = { code: -32603, message: "Internal error" };
  assert.deepEqual((await session.response("protocol")).error, {
    code: -32050,
    message: "No such thing",
    data: { thing: 1 },
  });
  for (const id of ["sync", "async", "odd", "code"]) {
    assert.deepEqual((await session.response(id)).error, internal, id);
  }
  const logged = session.log.entries.filter(({ level }) => level === "error");
  assert.deepEqual(logged.map(({ text }) => text), [
    '[mcp_stdio] the handler of "x/sync" has failed: the password is swordfish',
    '[mcp_stdio] the handler of "x/async" has failed: the password is swordfish',
    '[mcp_stdio] the handler of "x/odd" has failed',
  ]);
  assert.deepEqual(logged[0]!.details, [{ error: secret }]);
});

test("Server answers -32603 for a result that is none or cannot be written (V4)", async (t) => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const results: Record<string, () => unknown> = {
    circular: () => circular,
    bigint: () => ({ value: 1n }),
    throwing: () => ({
      toJSON: () => {
        throw new Error("no");
      },
    }),
    getter: () => ({
      get resultType() {
        throw new Error("no");
      },
    }),
    array: () => [],
    number: () => 5,
    null: () => null,
    long: () => ({ value: "x".repeat(2_000) }),
    data: () => {
      throw new ProtocolError(-32050, "x", circular);
    },
    thenable: () => ({
      then: () => {
        throw new Error("no");
      },
    }),
  };
  const handlers = Object.fromEntries(
    Object.entries(results).map(([name, give]) => [`x/${name}`, give as () => Record<string, never>]),
  );
  const session = start(t, { handlers, limits: { maxLineBytes: 1_000 } });
  for (const name of Object.keys(results)) {
    session.send(modern(name, `x/${name}`));
    assert.equal((await session.response(name)).error?.code, -32603, name);
    assert.equal(session.transcript.responsesTo(name).length, 1);
  }
  session.send(modern("empty", "x/nothing"), modern("discover", "server/discover"));
  assert.equal((await session.response("empty")).error?.code, -32601);
  assert.ok((await session.response("discover")).result);
});

test("Server takes nothing from a handler for an empty result, and thenables for promises (V4)", async (t) => {
  const session = start(t, {
    handlers: {
      "x/void": () => undefined as unknown as Record<string, never>,
      "x/thenable": () =>
        ({ then: (resolve: (value: unknown) => void) => resolve({ value: 1 }) }) as unknown as Promise<never>,
    },
  });
  session.send(modern(1, "x/void"), modern(2, "x/thenable"));
  assert.equal((await session.response(1)).result.resultType, "complete");
  assert.equal((await session.response(2)).result.value, 1);
});

test("Server frees a request's id before its response is written (V4)", async (t) => {
  const session = start(t, { tools: { hello: { call: () => "hello" } } });
  const { transcript } = session;
  for (let round = 1; round <= 50; round++) {
    session.send(call(1, "hello"));
    await transcript.until(() => transcript.messages.length === round, `answer ${round}`);
  }
  assert.ok(transcript.messages.every((message) => textOf(message) === "hello"));
});

test("Server gives handlers all they need to know of their request (V4)", async (t) => {
  let seen: RequestContext | undefined;
  const session = start(t, {
    handlers: {
      "x/look": (_params, context) => {
        seen = context;
        return {};
      },
    },
  });
  const clientInfo = { name: "looker", version: "2.0.0" };
  session.send(modern("a", "x/look", { a: 1 }, { "io.modelcontextprotocol/clientInfo": clientInfo, x: 1 }));
  await session.response("a");
  assert.deepEqual([seen!.id, seen!.method, seen!.era], ["a", "x/look", "modern"]);
  assert.deepEqual([seen!.protocolVersion, seen!.clientInfo, seen!.clientCapabilities], [
    "2026-07-28",
    clientInfo,
    {},
  ]);
  assert.equal(seen!.meta.x, 1);
  session.send(initialize(1, "2025-06-18", { roots: {} }), legacy(2, "x/look"));
  await session.response(2);
  assert.deepEqual([seen!.era, seen!.protocolVersion, seen!.clientInfo?.name], [
    "legacy",
    "2025-06-18",
    "test",
  ]);
  assert.deepEqual([seen!.clientCapabilities, seen!.meta], [{ roots: {} }, {}]);
});

test("Server tells onNotification of all but cancellations, and survives what it throws (V4)", async (t) => {
  const told: unknown[] = [];
  const session = start(t, {
    onNotification(method, params) {
      told.push([method, params]);
      if (method.endsWith("throw")) throw new Error("no");
      if (method.endsWith("reject")) return Promise.reject(new Error("no")) as unknown as void;
    },
  });
  session.send(
    notification("notifications/roots/list_changed"),
    notification("x/throw", { a: 1 }),
    notification("x/reject"),
    cancel(7),
    modern(1, "server/discover"),
  );
  await session.response(1);
  await session.settle();
  assert.deepEqual(told, [
    ["notifications/roots/list_changed", undefined],
    ["x/throw", { a: 1 }],
    ["x/reject", undefined],
  ]);
  await session.clock.advance(1_000);
  assert.equal(countTold(session.log.texts("error")), 2);
});

test("Server survives a logger that throws (V4)", async (t) => {
  const fail = () => {
    throw new Error("the disk is full");
  };
  const session = start(t, { logger: { debug: fail, info: fail, warn: fail, error: fail } });
  session.send("{broken", cancel(1), modern(2, "server/discover"));
  assert.ok((await session.response(2)).result);
});
