// deno-lint-ignore-file no-console -- it shows what came
import { StdioClientTransport } from "@mcp/stdio/sdk-transport";
import { Client } from "@modelcontextprotocol/client";

const client = new Client({ name: "cli", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: "deno", args: ["run", "forecast.ts"] }));

const { content } = await client.callTool({ name: "get-forecast", arguments: { city: "Oslo" } });
console.log(JSON.stringify(content));
await client.close(); // ends the server, and what it started
