/** Our client against servers on the official SDK, in each era they speak. No leg passes by falling back. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListenEvent, SpawnOptions } from "@mcp/stdio/client";
import { NegotiationError } from "@mcp/stdio/errors";
import { waitUntil } from "../helpers.ts";
import { type Command, fixture, SLOW, type Spawned, spawnPeer, textOf, upTo } from "./harness.ts";

interface Leg {
  readonly server: string;
  readonly command: Command;
  readonly era: NonNullable<SpawnOptions["era"]>;
  /** What is spoken. */
  readonly spoken: "modern 2026-07-28" | "legacy 2025-11-25";
}

const DUAL = fixture("sdk_v2_server.mjs");
const MODERN_ONLY = fixture("sdk_v2_server.mjs", "reject");
const V1 = fixture("sdk_v1_server.mjs");

const LEGS: readonly Leg[] = [
  { server: "SDK v2", command: DUAL, era: "auto", spoken: "modern 2026-07-28" },
  { server: "SDK v2", command: DUAL, era: "legacy", spoken: "legacy 2025-11-25" },
  { server: "SDK v2, modern only,", command: MODERN_ONLY, era: "auto", spoken: "modern 2026-07-28" },
  { server: "SDK v2, modern only,", command: MODERN_ONLY, era: "modern", spoken: "modern 2026-07-28" },
  { server: "SDK v1", command: V1, era: "auto", spoken: "legacy 2025-11-25" },
  { server: "SDK v1", command: V1, era: "legacy", spoken: "legacy 2025-11-25" },
];

for (const { server, command, era, spoken } of LEGS) {
  const who = `spawn() with era ${era} drives a server on ${server} in ${spoken}`;

  test(`${who}: lists, calls, reads, gets, completes`, SLOW, async (t) => {
    const peer = await spawnPeer(t, command, { era });
    assert.equal(`${peer.client.era} ${peer.client.protocolVersion}`, spoken);
    assert.match(peer.client.serverInfo!.name, /^sdk-v[12]$/);
    assert.equal(peer.client.instructions, "Ask me anything.");
    await listAndCall(peer);
    await readAndComplete(peer);
    assert.deepEqual(await peer.close(), { exit: { code: 0 }, step: "eof" });
    assert.deepEqual(peer.warnings, []);
  });

  test(`${who}: 250 of 250 progress notifications in order, at once and in 5 calls`, SLOW, async (t) => {
    const peer = await spawnPeer(t, command, { era });
    assert.equal(await progressOf(peer, 250), "250 steps");
    const results = await Promise.all(upTo(5).map(() => progressOf(peer, 50)));
    assert.deepEqual(results, Array(5).fill("50 steps"));
    await peer.close();
    assert.deepEqual(peer.warnings, []);
  });

  test(`${who}: answers an elicitation, cancels, hears logs and changes of the list`, SLOW, async (t) => {
    const peer = await spawnPeer(t, command, {
      era,
      logLevel: "debug",
      inputHandlers: {
        "elicitation/create": ({ message }) => {
          assert.equal(message, "Who are you?");
          return { action: "accept", content: { name: "Ada" } };
        },
      },
    });
    assert.equal(`${peer.client.era} ${peer.client.protocolVersion}`, spoken);
    const greeting = await peer.client.request("tools/call", { name: "greet", arguments: {} });
    assert.equal(textOf(greeting), "Hello, Ada! (asked once)");
    await cancel(peer);
    await hearLog(peer);
    await hearChange(peer);
    assert.deepEqual(await peer.close(), { exit: { code: 0 }, step: "eof" });
    assert.deepEqual(peer.warnings, []);
  });
}

test("spawn() with era legacy refuses a server that is modern only, and ends it", SLOW, async (t) => {
  await assert.rejects(spawnPeer(t, MODERN_ONLY, { era: "legacy" }), (error) => {
    assert.ok(error instanceof NegotiationError);
    assert.equal(error.code, "unsupported_version");
    assert.deepEqual(error.supported, ["2026-07-28"]);
    return true;
  });
});

test("spawn() with era modern refuses a server on SDK v1, and ends it", SLOW, async (t) => {
  await assert.rejects(spawnPeer(t, V1, { era: "modern" }), { code: "negotiation_failed" });
});

async function listAndCall({ client }: Spawned): Promise<void> {
  const { tools } = await client.request("tools/list");
  const names = tools.map(({ name }) => name);
  assert.deepEqual(names, ["add", "fail", "progress", "log", "greet", "sleep", "grow"]);

  const sum = await client.request("tools/call", { name: "add", arguments: { a: 2, b: 40 } });
  assert.deepEqual(sum.structuredContent, { sum: 42 });
  const failed = await client.request("tools/call", { name: "fail", arguments: {} });
  assert.equal(failed.isError, true);
  assert.match(textOf(failed), /it always fails/);
  await assert.rejects(client.request("no/such/method"), { name: "ProtocolError", code: -32601 });
}

async function readAndComplete({ client }: Spawned): Promise<void> {
  const { contents } = await client.request("resources/read", { uri: "test://item/7" });
  assert.equal(contents[0]!.text, "Item 7");
  const { resources } = await client.request("resources/list");
  assert.deepEqual(resources.map(({ uri }) => uri), ["test://static"]);
  const { messages } = await client.request("prompts/get", { name: "hello", arguments: { name: "Ada" } });
  assert.deepEqual(messages[0]!.content, { type: "text", text: "Say hello to Ada." });
  const { completion } = await client.request("completion/complete", {
    ref: { type: "ref/resource", uri: "test://item/{id}" },
    argument: { name: "id", value: "1" },
  });
  assert.deepEqual(completion.values, ["1", "10"]);
}

async function progressOf({ client }: Spawned, steps: number): Promise<string> {
  const heard: number[] = [];
  const result = await client.request("tools/call", { name: "progress", arguments: { steps } }, {
    onProgress: ({ progress }) => heard.push(progress),
  });
  assert.deepEqual(heard, upTo(steps));
  return textOf(result);
}

async function cancel({ client }: Spawned): Promise<void> {
  const controller = new AbortController();
  const sleeping = client.request("tools/call", { name: "sleep", arguments: {} }, {
    signal: controller.signal,
  });
  await client.request("tools/list"); // By then the server is at it.
  controller.abort("enough");
  await assert.rejects(sleeping, (reason) => reason === "enough");
  await waitUntil(() => client.stderrTail.includes("sleep was cancelled"));
}

/** A log message that names no request, in either era. */
async function hearLog({ client, heard }: Spawned): Promise<void> {
  await client.request("tools/call", { name: "log", arguments: {} });
  await heard("notifications/message", ({ data }) => data === "a log message");
}

async function hearChange({ client }: Spawned): Promise<void> {
  const listening = client.listen({ toolsListChanged: true });
  assert.deepEqual(await listening.acknowledged, { toolsListChanged: true });
  await client.request("tools/call", { name: "grow", arguments: {} });
  const { value } = await listening.next() as IteratorResult<ListenEvent>;
  assert.equal(value.kind === "notification" && value.method, "notifications/tools/list_changed");
  const { tools } = await client.request("tools/list");
  assert.ok(tools.some(({ name }) => name === "grown"));
  listening.close();
  assert.equal(await listening.ended, "local");
}
