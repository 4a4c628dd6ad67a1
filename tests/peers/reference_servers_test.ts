/** Our client against the reference servers of the MCP project: all four are of the legacy era. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { NegotiationError } from "@mcp/stdio/errors";
import type { InputHandler } from "@mcp/stdio/client";
import { waitUntil } from "../helpers.ts";
import { packageProgram, SLOW, spawnPeer, textOf, upTo } from "./harness.ts";

const EVERYTHING = packageProgram("mcp-server-everything");

test(
  "spawn() drives server-filesystem: lists, writes, reads, and refuses what lies outside",
  SLOW,
  async (t) => {
    const folder = temporaryFolder(t);
    const { client, close, warnings } = await spawnPeer(t, packageProgram("mcp-server-filesystem", folder));
    assert.equal(`${client.era} ${client.protocolVersion}`, "legacy 2025-11-25");
    const { tools } = await client.request("tools/list");
    assert.ok(tools.some(({ name }) => name === "read_text_file"));

    const path = join(folder, "wörter.txt");
    const text = "eins\nzwei – drei 🦀\n";
    await client.request("tools/call", { name: "write_file", arguments: { path, content: text } });
    const read = await client.request("tools/call", { name: "read_text_file", arguments: { path } });
    assert.equal(textOf(read), text);

    const outside = await client.request("tools/call", {
      name: "read_text_file",
      arguments: { path: "/etc/passwd" },
    });
    assert.equal(outside.isError, true);
    assert.match(textOf(outside), /Access denied/);
    assert.deepEqual(await close(), { exit: { code: 0 }, step: "eof" });
    assert.deepEqual(warnings, []);
  },
);

test("spawn() drives server-memory: creates, searches, and reads the graph", SLOW, async (t) => {
  const folder = temporaryFolder(t);
  const { client, close, warnings } = await spawnPeer(t, packageProgram("mcp-server-memory"), {
    env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
  });
  const { tools } = await client.request("tools/list");
  assert.ok(tools.some(({ name }) => name === "create_entities"));

  const entity = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
  await client.request("tools/call", { name: "create_entities", arguments: { entities: [entity] } });
  const found = await client.request("tools/call", { name: "search_nodes", arguments: { query: "program" } });
  assert.deepEqual(found.structuredContent, { entities: [entity], relations: [] });
  assert.deepEqual(await close(), { exit: { code: 0 }, step: "eof" });
  assert.deepEqual(warnings, []);
});

test("spawn() drives server-sequential-thinking: lists and calls its tool", SLOW, async (t) => {
  const { client, close, warnings } = await spawnPeer(t, packageProgram("mcp-server-sequential-thinking"));
  const { tools } = await client.request("tools/list");
  assert.deepEqual(tools.map(({ name }) => name), ["sequentialthinking"]);

  const thought = { thought: "a first one", thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true };
  const { structuredContent } = await client.request("tools/call", {
    name: "sequentialthinking",
    arguments: thought,
  });
  assert.equal((structuredContent as { thoughtNumber: number }).thoughtNumber, 1);
  assert.deepEqual(await close(), { exit: { code: 0 }, step: "eof" });
  assert.deepEqual(warnings, []);
});

test("spawn() drives server-everything: lists, calls, reads, gets and completes", SLOW, async (t) => {
  const { client, close, warnings } = await spawnPeer(t, EVERYTHING);
  assert.equal(client.serverInfo?.name, "mcp-servers/everything");
  assert.equal(`${client.era} ${client.protocolVersion}`, "legacy 2025-11-25");

  const { tools } = await client.request("tools/list");
  assert.ok(tools.some(({ name }) => name === "get-sum"));
  const sum = await client.request("tools/call", { name: "get-sum", arguments: { a: 2, b: 40 } });
  assert.equal(textOf(sum), "The sum of 2 and 40 is 42.");
  const wrong = await client.request("tools/call", { name: "get-sum", arguments: { a: "two" } });
  assert.equal(wrong.isError, true);
  await assert.rejects(client.request("no/such/method"), { name: "ProtocolError", code: -32601 });

  const { resources } = await client.request("resources/list");
  const { contents } = await client.request("resources/read", { uri: resources[0]!.uri });
  assert.ok(contents[0]!.text!.length > 0);
  const { resourceTemplates } = await client.request("resources/templates/list");
  assert.equal(resourceTemplates.length, 2);

  const { prompts } = await client.request("prompts/list");
  assert.ok(prompts.some(({ name }) => name === "completable-prompt"));
  const { completion } = await client.request("completion/complete", {
    ref: { type: "ref/prompt", name: "completable-prompt" },
    argument: { name: "name", value: "A" },
    context: { arguments: { department: "Engineering" } },
  });
  assert.deepEqual(completion.values, ["Alice"]);
  const prompt = await client.request("prompts/get", {
    name: "completable-prompt",
    arguments: { department: "Engineering", name: "Alice" },
  });
  assert.match(JSON.stringify(prompt.messages), /promote Alice/);
  assert.deepEqual(await close(), { exit: { code: 0 }, step: "eof" });
  assert.match(client.stderrTail, /STDIO/);
  assert.deepEqual(warnings, []);
});

test("spawn() gets every progress notification of server-everything, in order", SLOW, async (t) => {
  const { client, close, warnings } = await spawnPeer(t, EVERYTHING);
  const heard: number[] = [];
  const result = await client.request("tools/call", {
    name: "trigger-long-running-operation",
    arguments: { duration: 0.1, steps: 50 },
  }, { onProgress: ({ progress, total }) => heard.push(progress * (total === 50 ? 1 : -1)) });
  assert.match(textOf(result), /completed/);
  assert.deepEqual(heard, upTo(50));
  await close();
  assert.deepEqual(warnings, []);
});

test("spawn() answers what server-everything asks: roots, sampling and elicitation", SLOW, async (t) => {
  const asked: string[] = [];
  const answer = (
    method: string,
    result: ReturnType<InputHandler>,
  ): [string, InputHandler] => [method, () => {
    asked.push(method);
    return result;
  }];
  const { client, close, heard, warnings } = await spawnPeer(t, EVERYTHING, {
    inputHandlers: Object.fromEntries([
      answer("roots/list", { roots: [{ uri: "file:///tmp/there", name: "there" }] }),
      answer("sampling/createMessage", {
        model: "a test",
        role: "assistant",
        content: { type: "text", text: "as I was told" },
      }),
      answer("elicitation/create", { action: "accept", content: { name: "Ada", check: true } }),
    ]),
  });
  const call = async (name: string, args = {}) =>
    textOf(await client.request("tools/call", { name, arguments: args }));

  assert.match(await call("trigger-elicitation-request"), /Name: Ada/);
  assert.match(await call("trigger-sampling-request", { prompt: "go on", maxTokens: 10 }), /as I was told/);
  await heard("notifications/message", ({ data }) => /1 root\(s\) received/.test(String(data)));
  assert.match(await call("get-roots-list"), /there\s+URI: file:\/\/\/tmp\/there/);
  // The server asks for the roots again when it is told that they have changed.
  await client.notify("notifications/roots/list_changed");
  await waitUntil(() => asked.length === 4);
  assert.deepEqual(asked, ["elicitation/create", "sampling/createMessage", "roots/list", "roots/list"]);
  await close();
  assert.deepEqual(warnings, []);
});

test(
  "spawn() hands on what server-everything tells unasked, and ends it while its timers run",
  SLOW,
  async (t) => {
    const { client, close, heard, notifications, warnings } = await spawnPeer(t, EVERYTHING, {
      inputHandlers: { "sampling/createMessage": () => Promise.reject(new Error("not now")) },
      logLevel: "debug",
    });
    // It adds the tools that need sampling once it knows its client.
    await heard("notifications/tools/list_changed");
    const { tools } = await client.request("tools/list");
    assert.ok(tools.some(({ name }) => name === "trigger-sampling-request"));

    const uri = "demo://resource/dynamic/text/1";
    const listening = client.listen({ resourceSubscriptions: [uri] });
    assert.deepEqual(await listening.acknowledged, { resourceSubscriptions: [uri] });
    await client.request("tools/call", { name: "toggle-subscriber-updates" });
    const { value: event } = await listening.next();
    assert.deepEqual(event, {
      kind: "notification",
      method: "notifications/resources/updated",
      params: { uri },
    });

    const before = notifications.length;
    await client.request("tools/call", { name: "toggle-simulated-logging" });
    await heard("notifications/message", ({ data }) => /level[- ]message/.test(String(data)));
    assert.ok(notifications.length > before);

    const { exit, step } = await close({ shutdownGraceMs: 500 });
    assert.deepEqual({ exit, step }, { exit: { signal: "SIGTERM" }, step: "term" });
    assert.equal(await listening.ended, "local");
    assert.deepEqual(warnings, []);
  },
);

test("spawn() with era modern refuses a server of the legacy era, and ends it", SLOW, async (t) => {
  await assert.rejects(spawnPeer(t, EVERYTHING, { era: "modern" }), (error) => {
    assert.ok(error instanceof NegotiationError);
    assert.equal(error.code, "negotiation_failed");
    return true;
  });
});

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "peers-"));
  writeFileSync(join(folder, "there.txt"), "there");
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
