// A tool with a plain JSON Schema. Its arguments are checked before the call; their types are unknown to the compiler.
import { serve } from "@mcp/stdio/server";

await serve({
  info: { name: "dice", version: "1.0.0" },
  tools: {
    "roll": {
      description: "Rolls dice and gives their sum",
      inputSchema: {
        type: "object",
        properties: { count: { type: "integer", minimum: 1, maximum: 100 } },
        required: ["count"],
      },
      call: ({ count }) => {
        const dice = Array.from({ length: Number(count) }, () => 1 + Math.floor(Math.random() * 6));
        return `${dice.join(" + ")} = ${dice.reduce((sum, die) => sum + die, 0)}`;
      },
    },
  },
});
