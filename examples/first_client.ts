// deno-lint-ignore-file no-console -- it shows what came
import { spawn } from "@mcp/stdio";

const client = await spawn({ command: "deno", args: ["run", "forecast.ts"] });

for await (const { name, description } of client.tools()) console.log(`${name}: ${description}`);
const { content } = await client.callTool("get-forecast", { city: "Oslo" }, { timeoutMs: 5_000 });
for (const block of content) console.log(block.type === "text" ? block.text : block.type);

const { exit, step } = await client.close();
console.log(`the server ended with code ${exit?.code}; it took: ${step}`);
