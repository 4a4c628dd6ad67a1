// Tools with zod schemas (any Standard Schema will do): checked before the call and after it, and typed.
import { serve } from "@mcp/stdio/server";
import { z } from "zod";

await serve({
  info: { name: "units", version: "1.0.0" },
  tools: {
    "to-celsius": {
      description: "Turns degrees Fahrenheit into degrees Celsius",
      inputSchema: z.object({
        fahrenheit: z.number().describe("Degrees Fahrenheit"),
        digits: z.int().min(0).default(1),
      }),
      outputSchema: z.object({ celsius: z.number() }),
      call: ({ fahrenheit, digits }) => ({ celsius: Number(((fahrenheit - 32) / 1.8).toFixed(digits)) }),
    },
  },
});
