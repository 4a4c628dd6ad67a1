import { serve } from "@mcp/stdio/server";

await serve({
  info: { name: "bench", version: "1.0.0" },
  tools: {
    echo: {
      description: "Gives back a text, or one of the given size",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" }, size: { type: "integer", minimum: 0 } },
      },
      call: ({ text = "", size }) => size === undefined ? String(text) : "x".repeat(Number(size)),
    },
  },
});
