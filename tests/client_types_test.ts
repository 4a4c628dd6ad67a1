import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client, ListenEvent } from "../client.ts";
import type { DiscoverResult, Result } from "../messages.ts";
import type { Prompt, Tool } from "../methods.ts";
import type { CallToolResult } from "../schema.ts";
import { meet } from "./_client_peer.ts";

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends (<T>() => T extends Other ? 1 : 2) ? true
  : false;

function expectType<T extends true>(_proof?: T): void {}

/** Only compiled: the types are what is tested. */
function _typesOf(client: Client): void {
  const tools = client.request("tools/list");
  expectType<Same<Awaited<typeof tools>["tools"], Tool[]>>();
  const prompts = client.request("prompts/list", { cursor: "1" });
  expectType<Same<Awaited<typeof prompts>["prompts"], Prompt[]>>();
  const called = client.request("tools/call", { name: "x" });
  expectType<Same<Awaited<typeof called>, CallToolResult>>();
  const discovered = client.request("server/discover");
  expectType<Same<Awaited<typeof discovered>, DiscoverResult>>();
  const pinged = client.request("ping", {}, { timeoutMs: 5 });
  expectType<Same<Awaited<typeof pinged>, Result>>();
  const other = client.request("vendor/anything", { a: [1] });
  expectType<Same<Awaited<typeof other>, Result>>();
  const method: string = "tools/list";
  const dynamic = client.request(method);
  expectType<Same<Awaited<typeof dynamic>, Result>>();

  // @ts-expect-error -- the name of the tool is missing
  client.request("tools/call", { arguments: {} });
  // @ts-expect-error -- params that are required cannot be left out
  client.request("resources/read");
  // @ts-expect-error -- no such policy
  client.request("tools/list", {}, { retry: "always" });

  const listening = client.listen({ toolsListChanged: true });
  const next = listening.next();
  expectType<Same<Exclude<Awaited<typeof next>["value"], undefined>, ListenEvent>>();
}

test("Client.request() makes core methods and any other alike (C12)", async () => {
  assert.equal(typeof _typesOf, "function");
  const { client, peer } = await meet();
  const known = client.request("tools/list");
  peer.answer(await peer.take("tools/list"), { tools: [{ name: "t", inputSchema: { type: "object" } }] });
  assert.deepEqual((await known).tools.map(({ name }) => name), ["t"]);
  const unknown = client.request("vendor/anything", { a: 1 });
  const { params } = await peer.take("vendor/anything");
  assert.equal(params?.a, 1);
  peer.answer(peer.received.at(-1)!, { b: 2 });
  assert.equal((await unknown).b, 2);
  await client.close();
});

test("Client tells who the server is, in both eras (C12)", async () => {
  const modern = await meet({ greeting: { instructions: "Ask." } });
  assert.deepEqual(
    [
      modern.client.era,
      modern.client.protocolVersion,
      modern.client.serverInfo?.name,
      modern.client.instructions,
    ],
    ["modern", "2026-07-28", "scripted", "Ask."],
  );
  assert.deepEqual(modern.client.capabilities, { tools: { listChanged: true } });
  await modern.client.close();
  const legacy = await meet({ legacy: true });
  assert.deepEqual(
    [
      legacy.client.era,
      legacy.client.protocolVersion,
      legacy.client.serverInfo?.name,
      legacy.client.instructions,
    ],
    ["legacy", "2025-11-25", "scripted", undefined],
  );
  await legacy.client.close();
});
