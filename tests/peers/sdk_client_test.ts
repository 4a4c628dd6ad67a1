/** Clients on the official SDK against our servers on each runtime. Each leg says what must be spoken. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../helpers.ts";
import { outOfTurn, RUNTIMES, SLOW, textOf, upTo } from "./harness.ts";
import { SDK_CLIENTS, type SdkClient } from "./sdk_clients.ts";

const EVERYTHING = "examples/everything_server";
const CONFORMANCE = "tests/peers/conformance/server";

for (const { name: runtime, skip, run } of RUNTIMES) {
  for (const [row, { name, spoken, connect }] of SDK_CLIENTS.entries()) {
    const who = `${name} drives our server on ${runtime} in ${spoken}`;
    const inTurn = (test: number) => ({ ...SLOW, skip: skip || outOfTurn(runtime, row + test) });

    test(
      `${who}: lists, calls, errors, resources, prompts, completion, cancellation`,
      inTurn(0),
      async (t) => {
        const peer = await connect(t, run(EVERYTHING));
        assert.equal(peer.spoken, spoken);
        assert.deepEqual(peer.client.getServerVersion(), { name: "everything", version: "1.0.0" });
        await callTools(peer);
        await readResources(peer);
        await getPrompts(peer);
        await cancel(peer);
        await peer.close();
        assert.deepEqual(peer.errors, []);
      },
    );

    test(
      `${who}: every progress notification arrives or is reported late by the SDK`,
      inTurn(1),
      async (t) => {
        const peer = await connect(t, run(EVERYTHING));
        await followProgress(peer, { steps: 20, ms: 1 });
        await followProgress(peer, { steps: 200, ms: 0 });
        await peer.close();
      },
    );

    test(`${who}: answers what a tool asks, and hears that the list has changed`, inTurn(2), async (t) => {
      const peer = await connect(t, run(CONFORMANCE));
      assert.equal(peer.spoken, spoken);
      await answer(peer);
      if (peer.v2 !== undefined) await hearChange(peer.v2, peer);
      await peer.close();
      assert.deepEqual(peer.errors, []);
    });
  }
}

async function callTools({ client, call, request }: SdkClient): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).slice(0, 3), ["echo", "add", "fail"]);
  const sum = await call("add", { a: 2, b: 40 });
  assert.deepEqual(sum.structuredContent, { sum: 42 });
  assert.equal(textOf(sum), "42");
  const text = 'ä – 🦀 \u2028 \\ " \n';
  assert.equal(textOf(await call("echo", { text })), text);
  assert.equal(textOf(await call("echo", { size: 1_000_000 })).length, 1_000_000);

  const failed = await call("fail");
  assert.equal(failed.isError, true);
  assert.equal(textOf(failed), "this tool always fails");
  assert.equal((await call("add", { a: "two" })).isError, true);
  await assert.rejects(call("nothing"), { code: -32602, message: /Unknown tool: nothing/ });
  await assert.rejects(request("no/such/method"), { code: -32601, message: /no\/such\/method/ });
}

async function readResources({ client }: SdkClient): Promise<void> {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri), ["test://static"]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ["test://item/{id}"]);
  const { contents } = await client.readResource({ uri: "test://item/7" });
  assert.deepEqual(contents, [{ uri: "test://item/7", mimeType: "text/plain", text: "Item 7" }]);
  await assert.rejects(client.readResource({ uri: "test://nothing" }), { message: /not found/i });
}

async function getPrompts({ client }: SdkClient): Promise<void> {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map(({ name }) => name), ["greet"]);
  const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
  assert.deepEqual(messages, [{ role: "user", content: { type: "text", text: "Say hello to Ada." } }]);
  const ofPrompt = await client.complete({
    ref: { type: "ref/prompt", name: "greet" },
    argument: { name: "name", value: "A" },
  });
  assert.deepEqual(ofPrompt.completion.values, ["Ada", "Alan"]);
  const ofTemplate = await client.complete({
    ref: { type: "ref/resource", uri: "test://item/{id}" },
    argument: { name: "id", value: "1" },
  });
  assert.deepEqual(ofTemplate.completion.values, ["1", "10"]);
}

/** The server stops what is cancelled, and says nothing more about it. */
async function cancel({ call }: SdkClient): Promise<void> {
  const running = async () => (JSON.parse(textOf(await call("inflight"))) as { running: number }).running;
  const controller = new AbortController();
  const sleeping = call("sleep", { ms: 60_000 }, { signal: controller.signal });
  const rejected = assert.rejects(sleeping, /enough/);
  await waitUntil(async () => await running() === 1);
  controller.abort("enough");
  await rejected;
  await waitUntil(async () => await running() === 0);
}

/**
 * The SDK settles a call before it hands on progress that came in the same chunk, and reports that as unknown: what was
 * heard and what was reported must be all there is.
 */
async function followProgress(
  { call, errors }: SdkClient,
  args: { steps: number; ms: number },
): Promise<void> {
  const told: number[] = [];
  const before = errors.length;
  const result = await call("progress", args, { onprogress: ({ progress }) => told.push(progress) });
  assert.equal(textOf(result), `${args.steps} steps`);
  await waitUntil(() => told.length + errors.length - before >= args.steps);
  const late = errors.slice(before).map((error) => Number(/"progress":(\d+)/.exec(error)?.[1]));
  assert.deepEqual([...told, ...late], upTo(args.steps));
}

async function answer({ call, spoken }: SdkClient): Promise<void> {
  if (spoken.startsWith("legacy")) {
    const text = textOf(await call("test_elicitation", { message: "Who are you?" }));
    assert.match(text, /action=accept, content=.*"response":"Ada"/);
  }
  assert.equal(textOf(await call("test_input_required_result_elicitation")), "Hello, Ada!");
}

async function hearChange(client: NonNullable<SdkClient["v2"]>, { spoken, call }: SdkClient): Promise<void> {
  let changes = 0;
  client.setNotificationHandler("notifications/tools/list_changed", () => void changes++);
  const subscription = spoken.startsWith("modern")
    ? await client.listen({ toolsListChanged: true })
    : undefined;
  if (subscription !== undefined) assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true });
  await call("test_trigger_tool_change");
  await waitUntil(() => changes === 1);
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === "added"));
  await subscription?.close();
}
