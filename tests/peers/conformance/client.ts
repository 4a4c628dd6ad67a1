// Our client under the official conformance suite: it is told the scenario in its environment, and the URL of the
// suite's server, which it reaches through the shim, in its last argument.
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Client, spawn } from "@mcp/stdio/client";
import type { JSONObject } from "@mcp/stdio/messages";
import type { ElicitParams, ElicitResult } from "@mcp/stdio/methods";

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const isModern = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28";

const client = await spawn({
  command: process.execPath,
  args: [fileURLToPath(new URL("shim.js", import.meta.url)), process.argv.at(-1)!],
  info: { name: "conformance", version: "1.0.0" },
  era: isModern ? "modern" : "legacy",
  inputHandlers: { "elicitation/create": answerElicitation },
});
try {
  await run(client);
} finally {
  await client.close();
}

async function run(client: Client): Promise<void> {
  const { tools } = await client.request("tools/list");
  const call = (name: string, args: JSONObject = {}) =>
    client.request("tools/call", { name, arguments: args });
  const names = tools.map(({ name }) => name);
  switch (scenario) {
    case "tools_call":
      await call(names[0]!, { a: 2, b: 3 });
      return;
    case "elicitation-sep1034-client-defaults":
      await call("test_client_elicitation_defaults");
      return;
    case "sep-2322-client-request-state":
      await Promise.all([call("test_mrtr_echo_state"), call("test_mrtr_unrelated")]);
      await call("test_mrtr_no_state");
      await call("test_mrtr_no_result_type");
      return;
    case "json-schema-2020-12-preservation": {
      const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")!.inputSchema;
      await call("json_schema_echo", { schema });
      return;
    }
    case "http-standard-headers":
      await useEverything(client, names);
      return;
  }
}

async function useEverything(client: Client, tools: readonly string[]): Promise<void> {
  for (const name of tools) await client.request("tools/call", { name, arguments: {} });
  const { resources } = await client.request("resources/list");
  for (const { uri } of resources) await client.request("resources/read", { uri });
  const { prompts } = await client.request("prompts/list");
  for (const { name } of prompts) await client.request("prompts/get", { name });
}

/** Accepts with the defaults; what has none is true. */
function answerElicitation({ requestedSchema }: ElicitParams): ElicitResult {
  const { properties = {} } = requestedSchema as { properties?: { [name: string]: { default?: unknown } } };
  const content = Object.entries(properties).map(([name, { default: value = true }]) => [name, value]);
  return { action: "accept", content: Object.fromEntries(content) };
}
