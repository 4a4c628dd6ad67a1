import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod/v4";

serveStdio(() => {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool(
    "echo",
    {
      description: "Echo",
      inputSchema: z.object({ text: z.string().optional(), size: z.number().optional() }),
    },
    ({ text = "", size }) => ({
      content: [{ type: "text", text: size === undefined ? text : "x".repeat(size) }],
    }),
  );
  return server;
});
