// deno-lint-ignore-file no-console -- it prints where it should not
import "@mcp/stdio/stdout-guard"; // the first import: others may print
import { serve } from "@mcp/stdio/server";

console.log("loading the index");

await serve({
  info: { name: "noisy", version: "1.0.0" },
  tools: {
    "count-words": {
      description: "Counts words",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      call({ text }) {
        console.log("counting");
        return `${String(text).split(" ").length} words`;
      },
    },
  },
});
