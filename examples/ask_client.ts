// Answers what a server asks its user, here without a user. Run it with
//
//     deno run -A examples/ask_client.ts
//
// deno-lint-ignore-file no-console -- it shows what came
import { spawn } from "@mcp/stdio/client";
import process from "node:process";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(import.meta.url.replace("ask_client", "ask_server"));

//#region answer
const client = await spawn({
  command: process.execPath,
  args: [server],
  inputHandlers: {
    "elicitation/create": (question) => {
      console.log(`asked: ${question.message}`);
      return { action: "accept", content: { people: 2 } }; // or "decline", or "cancel"
    },
  },
});
const { content } = await client.callTool("book-table", { restaurant: "Luna" });
//#endregion
for (const block of content) console.log(block.type === "text" ? block.text : block.type);
await client.close();
