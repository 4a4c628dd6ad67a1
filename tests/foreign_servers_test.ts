// Servers in the wild, as real processes: each connects, under our client and under StdioClientTransport, and is of use.
import assert from "node:assert/strict";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { type Client, type ClientOptions, spawn } from "../client.ts";
import { silentLogger } from "../logger.ts";
import type { JSONRPCMessage, Result } from "../messages.ts";
import { StdioClientTransport } from "../sdk_transport.ts";
import { Script, untilGone } from "./_scripted_server.ts";
import { outcomeOf } from "./_client_peer.ts";
import { waitUntil } from "./helpers.ts";
import { program, SLOW } from "./runtime_adapter/harness.ts";

const KINDS = [
  "shares one session",
  "answers all with id null",
  "answers all without an id",
  "prints without a line feed",
] as const;

/** A call to a server that prints on the same line is lost; all others are answered. */
const isSpoilt = (kind: string): boolean => kind === "prints without a line feed";

async function connect(t: TestContext, kind: string, options: ClientOptions): Promise<Client> {
  const [command, ...args] = program("foreign_server.mjs", [kind]);
  const client = await spawn({
    command: command!,
    args,
    logger: silentLogger,
    stderr: "capture",
    ...options,
  });
  t.after(async () => void await client.kill());
  return client;
}

for (const kind of KINDS) {
  for (const era of ["auto", "legacy"] as const) {
    test(`spawn() connects to a server that ${kind}, era ${era} (XB1, XB2, XB5)`, SLOW, async (t) => {
      const begin = performance.now();
      const client = await connect(t, kind, { era, probeTimeoutMs: 50_000 });
      assert.equal(client.era, "legacy");
      for (let round = 0; round < 3; round++) {
        assert.equal((await client.request("tools/list")).tools.length, 1);
        // Our own notifications are answered, too, and that means nothing.
        await client.notify("notifications/roots/list_changed");
        const controller = new AbortController();
        const given = outcomeOf(client.request("x/y", {}, { signal: controller.signal }));
        controller.abort();
        await given;
        const call = outcomeOf(
          client.request("tools/call", { name: "add", arguments: { a: round, b: 2 } }),
        );
        const { value, error } = await call;
        if (isSpoilt(kind)) assert.equal(error?.code, "invalid_response");
        else assert.equal((value?.content?.[0] as { text: string }).text, String(round + 2));
      }
      assert.equal(client.restartCount, 0);
      await client.close();
      assert.ok(performance.now() - begin < 45_000, "nothing has waited for a time limit");
    });
  }

  test(`StdioClientTransport connects to a server that ${kind} (XB1, XB2, XB5, K1)`, SLOW, async (t) => {
    const [command, ...args] = program("foreign_server.mjs", [kind]);
    const transport = new StdioClientTransport({
      command: command!,
      args,
      logger: silentLogger,
      stderr: "ignore",
    });
    t.after(() => transport.close());
    const received: JSONRPCMessage[] = [];
    transport.onmessage = (message) => void received.push(message);
    await transport.start();
    let lastId = -1;
    /** As an SDK asks: it waits for the answer of its id, and takes no other. */
    const ask = async (
      method: string,
      params = {},
    ): Promise<{ result?: Result; error?: { code: number } }> => {
      const id = ++lastId;
      await transport.send({ jsonrpc: "2.0", id, method, params });
      const find = () => received.find((message) => !("method" in message) && message.id === id);
      await waitUntil(() => find() !== undefined, { what: `${method} is answered`, timeoutMs: 45_000 });
      return find() as object;
    };
    assert.ok((await ask("server/discover")).error !== undefined);
    const { result } = await ask("initialize", { protocolVersion: "2025-11-25" });
    assert.equal(result?.protocolVersion, "2025-06-18");
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    for (let round = 0; round < 3; round++) {
      assert.equal((await ask("tools/list")).result?.nextCursor, undefined);
      await transport.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
      const answer = await ask("tools/call", { name: "add", arguments: { a: round, b: 2 } });
      if (isSpoilt(kind)) assert.equal(answer.error?.code, -32700);
      else assert.ok(answer.result !== undefined);
    }
    await transport.close();
  });
}

test("Client.listen() outlives a server that takes its time to start again (XB3)", SLOW, async (t) => {
  const script = new Script(t, [{ serve: "modern" }], [{ sleep: 1_500 }, { serve: "modern" }]);
  const client = await script.spawn(t, { listenTimeoutMs: 300, probeTimeoutMs: 30_000 });
  const listening = client.listen({ toolsListChanged: true });
  await listening.acknowledged;
  process.kill(client.pid!, "SIGKILL");
  assert.deepEqual(await listening.next(), {
    done: false,
    value: { kind: "resubscribed", filter: { toolsListChanged: true } },
  });
  assert.equal(client.restartCount, 1);
  await client.close();
  await untilGone(script.pids);
});
