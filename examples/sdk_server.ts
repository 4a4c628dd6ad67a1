// A server of the official SDK, served by this module: on its own it would speak one era, and `console.log` would break it.
import { serve } from "@mcp/stdio/server";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

await serve(() => {
  const server = new McpServer({ name: "greeter", version: "1.0.0" });
  server.registerTool(
    "greet",
    { description: "Greets somebody", inputSchema: z.object({ name: z.string() }) },
    ({ name }) => ({ content: [{ type: "text", text: `Hello, ${name}!` }] }),
  );
  return server;
});
