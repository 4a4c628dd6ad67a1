// What a legacy client is asked by a server of ours always settles (V17), and its refusal is told as such (XB12).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JSONRPCErrorResponse, Params } from "../messages.ts";
import { heldBytes, waitUntil } from "./helpers.ts";
import { serveInMemory, settle } from "./sdk_transport_helpers.ts";
import { cancel, Gate, initialize, legacy, notification, SLOW, start } from "./server_helpers.ts";

/** A server that asks for roots, as often as its request says, with the time it says. */
function asker(outcomes: unknown[]): object {
  return {
    handlers: {
      async ask(
        params: Params,
        { requestInput }: { requestInput: (...args: unknown[]) => Promise<unknown> },
      ) {
        const { waits = true } = params;
        const timeoutMs = params.timeoutMs === "never" ? Infinity : params.timeoutMs;
        const answer = requestInput("roots/list", {}, { timeoutMs }).then(
          (value) => outcomes.push(value),
          (error) => outcomes.push(error),
        );
        if (waits) await answer;
        return {};
      },
    },
  };
}

test("An answer that cannot be read rejects the question at once (XC6, V17)", async (t) => {
  const lines = [
    `{"jsonrpc":"2.0","id":"server-1","result":null}`,
    `{"jsonrpc":"2.0","id":"server-1","result":[]}`,
    `{"jsonrpc":"2.0","id":"server-1","error":"no"}`,
    `{"jsonrpc":"2.0","id":"server-1"}`,
    `{"id":"server-1"}`,
    `[{"jsonrpc":"2.0","id":"server-1","result":null}]`,
    `[{"jsonrpc":"2.0","id":"server-1"}]`,
    `{"jsonrpc":"2.0","id":"server-1","result":{}`,
    `{"jsonrpc":"2.0","id":"server-1","result":{},"error":{"code":1,"message":""}}`,
    `{"id":"server-1","result":{"text":"${"x".repeat(2_000)}"}}`,
  ];
  for (const line of lines) {
    const outcomes: unknown[] = [];
    const session = start(t, { ...asker(outcomes), limits: { maxLineBytes: 1_000 } });
    const version = line.startsWith("[") ? "2025-03-26" : "2025-11-25";
    session.send(initialize(0, version, { roots: {} }), legacy(1, "ask"));
    await session.transcript.until(
      () => session.transcript.notifications("roots/list").length === 1,
      "asked",
    );
    session.send(line);
    assert.deepEqual((await session.response(1)).result, {});
    const error = outcomes[0] as Error;
    assert.equal(error.name, "InvalidResponseError", line);
    assert.match(error.message, /^Cannot read the answer to "roots\/list": /);
    assert.deepEqual(session.transcript.responsesTo("server-1"), [], "an answer is never answered");
    assert.equal(session.clock.pendingTimers, 0);
  }
});

test("A question that is not answered ends by its time, ten minutes by default, and is withdrawn (XC6, V17)", async (t) => {
  for (const timeoutMs of [undefined, 5_000, Infinity]) {
    const outcomes: unknown[] = [];
    const session = start(t, asker(outcomes));
    session.send(
      initialize(0, "2025-11-25", { roots: {} }),
      legacy(1, "ask", { timeoutMs: timeoutMs === Infinity ? "never" : timeoutMs }),
    );
    await session.settle();
    await session.clock.advance((timeoutMs === Infinity ? 1e9 : timeoutMs ?? 600_000) - 1);
    assert.equal(outcomes.length, 0);
    if (timeoutMs === Infinity) continue;
    await session.clock.advance(1);
    await session.response(1);
    const error = outcomes[0] as Error;
    assert.equal(error.name, "RequestTimeoutError");
    assert.deepEqual(session.transcript.messages.slice(-2), [
      notification("notifications/cancelled", { requestId: "server-1" }),
      { jsonrpc: "2.0", id: 1, result: {} },
    ]);
    session.send({ jsonrpc: "2.0", id: "server-1", result: { roots: [] } });
    await session.settle();
    assert.equal(outcomes.length, 1);
    assert.match(session.log.texts("warn").join(), /nothing was asked/);
  }
});

test("A question ends with the request that asked it: cancelled, answered, or at the end of the server (V17)", async (t) => {
  for (const how of ["cancelled", "answered", "ended"]) {
    const outcomes: unknown[] = [];
    const session = start(t, asker(outcomes));
    session.send(initialize(0, "2025-11-25", { roots: {} }), legacy(1, "ask", { waits: how !== "answered" }));
    await session.transcript.until(
      () => session.transcript.notifications("roots/list").length === 1,
      "asked",
    );
    if (how === "cancelled") session.send(cancel(1));
    if (how === "ended") session.end();
    await waitUntil(() => outcomes.length === 1);
    const error = outcomes[0] as Error;
    assert.equal(error.name, how === "answered" ? "TypeError" : "CancelledError");
    await session.settle();
    const withdrawn = session.transcript.notifications("notifications/cancelled");
    assert.equal(withdrawn.length, how === "ended" ? 0 : 1, how);
    assert.equal(session.clock.pendingTimers, 0);
  }
});

test("A handler that asks again and again holds none of the answers it got (V17)", SLOW, async (t) => {
  const gate = new Gate();
  let asked = 0;
  const session = start(t, {
    handlers: {
      async ask(_params, { requestInput }) {
        for (; asked < 200; asked++) await requestInput("roots/list");
        await gate.opened;
        return {};
      },
    },
  });
  session.send(initialize(0, "2025-11-25", { roots: {} }), legacy(1, "ask"));
  const answer = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n++) {
      const id = `server-${n + 1}`;
      await waitUntil(() => session.transcript.notifications("roots/list").length > n);
      session.send({ jsonrpc: "2.0", id, result: { text: String(n).padStart(65_536) } });
      await waitUntil(() => asked === n + 1);
    }
  };
  await answer(0, 20);
  const before = await heldBytes();
  await answer(20, 200);
  const held = await heldBytes() - before;
  assert.ok(held < 4 * 1_048_576, `${held} of 11 MiB are held`);
  gate.open();
  assert.deepEqual((await session.response(1)).result, {});
});

test("context.requestInput() rejects for what is no question (XC12)", async (t) => {
  const outcomes: unknown[] = [];
  const session = start(t, {
    handlers: {
      async x(_params: Params, context) {
        const ask = context.requestInput as (...args: unknown[]) => Promise<unknown>;
        for (
          const args of [[5], [""], ["roots/list", 5], ["roots/list", []], ["roots/list", {}, {
            timeoutMs: -1,
          }]]
        ) {
          await ask(...args).catch((error) => outcomes.push((error as Error).name));
        }
        return {};
      },
    },
  });
  session.send(initialize(0, "2025-11-25", { roots: {} }), legacy(1, "x"));
  await session.response(1);
  assert.deepEqual(outcomes, ["TypeError", "TypeError", "TypeError", "TypeError", "RangeError"]);
});

test("StdioServerTransport hands over an answer that cannot be read as an error, once (XC6, V17)", async (t) => {
  const served = await serveInMemory(t);
  for (const [index, rest] of [`,"result":null`, "", `,"error":{}`].entries()) {
    const id = `s${index}`;
    await served.transport.send(legacy(id, "roots/list"));
    served.client.send(`{"jsonrpc":"2.0","id":"${id}"${rest}}`);
    await settle();
    assert.equal(served.received.length, index + 1);
    const answer = served.received[index] as JSONRPCErrorResponse;
    assert.equal(answer.id, id);
    assert.match(answer.error.message, /^The answer cannot be read: /);
    assert.deepEqual(served.client.transcript.responsesTo(id), [], "an answer is never answered");
  }
  served.client.send(`{"jsonrpc":"2.0","id":"s0","result":null}`);
  await settle();
  assert.equal(served.received.length, 3, "once");
});
