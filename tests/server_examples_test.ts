// The example servers, each as a process driven by raw lines; on Deno without any permission.
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, initialize, legacy, modern, SLOW, textOf } from "./server_helpers.ts";
import { startProcess } from "./server_processes.ts";

const NO_PERMISSION = { flags: ["--no-prompt"] };
const ID = "io.modelcontextprotocol/subscriptionId";

test("examples/plain_schema_server.ts checks its arguments and answers in both eras", SLOW, async (t) => {
  const server = startProcess(t, "examples/plain_schema_server", NO_PERMISSION);
  server.send(call(1, "roll", { count: 3 }), call(2, "roll", { count: 0 }), call(3, "roll", { count: "3" }));
  assert.match(textOf(await server.response(1)), /^\d \+ \d \+ \d = \d+$/);
  for (const id of [2, 3]) assert.equal((await server.response(id)).result.isError, true);
  server.send(initialize(4), legacy(5, "tools/call", { name: "roll", arguments: { count: 1 } }));
  assert.match(textOf(await server.response(5)), /^\d = \d$/);
  server.end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.equal(server.stderr, "");
});

test(
  "examples/zod_server.ts lists its schemas, fills in defaults and gives structured content",
  SLOW,
  async (t) => {
    const server = startProcess(t, "examples/zod_server", { flags: ["--no-prompt"] });
    server.send(
      modern(1, "tools/list"),
      call(2, "to-celsius", { fahrenheit: 100 }),
      call(3, "to-celsius", { fahrenheit: 100, digits: 3 }),
      call(4, "to-celsius", { fahrenheit: "100", digits: -1 }),
    );
    const [tool] = (await server.response(1)).result.tools;
    assert.deepEqual(tool.inputSchema.required, ["fahrenheit"]);
    assert.equal(tool.inputSchema.properties.fahrenheit.description, "Degrees Fahrenheit");
    assert.deepEqual(tool.outputSchema.required, ["celsius"]);
    assert.deepEqual((await server.response(2)).result.structuredContent, { celsius: 37.8 });
    assert.deepEqual((await server.response(3)).result.structuredContent, { celsius: 37.778 });
    assert.match(textOf(await server.response(4)), /fahrenheit: .*\ndigits: /);
    server.end();
    assert.equal((await server.exited).code, 0);
  },
);

test("examples/live_resource_server.ts tells its listeners when the resource changes", SLOW, async (t) => {
  const server = startProcess(t, "examples/live_resource_server", NO_PERMISSION);
  const notifications = { resourceSubscriptions: ["counter://value"] };
  server.send(modern("l", "subscriptions/listen", { notifications }), call(1, "increment"));
  await server.response(1);
  server.send(modern(2, "resources/read", { uri: "counter://value" }));
  assert.equal((await server.response(2)).result.contents[0].text, "1");
  assert.deepEqual(server.transcript.notifications("notifications/resources/updated"), [{
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri: "counter://value", _meta: { [ID]: "l" } },
  }]);
  server.end();
  assert.equal((await server.exited).code, 0);
});

test(
  "examples/weather_server.ts answers, reports progress, and can be made to crash",
  SLOW,
  async (t) => {
    const server = startProcess(t, "examples/weather_server", NO_PERMISSION);
    server.send(
      call(1, "get-forecast", { city: "Bergen" }),
      call(2, "measure", { steps: 2 }, { progressToken: "m" }),
    );
    assert.equal(textOf(await server.response(1)), "Bergen: rain, 9 °C");
    assert.equal(textOf(await server.response(2)), "2 measurements taken");
    assert.equal(server.transcript.notifications("notifications/progress").length, 2);
    server.send(call(3, "crash"));
    assert.deepEqual(await server.exited, { code: 70, signal: null });
    assert.match(server.stderr, /the sensor is on fire/);
  },
);
