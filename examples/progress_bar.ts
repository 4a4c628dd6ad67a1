// Calls a slow tool and shows a bar; Ctrl-C gives the call up and ends the server. Run it with
//
//     deno run -A examples/progress_bar.ts
import { spawn } from "@mcp/stdio/client";
import process from "node:process";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(import.meta.url.replace("progress_bar", "weather_server"));
const client = await spawn({ command: process.execPath, args: [server] });

//#region bar
const stop = new AbortController();
process.once("SIGINT", () => stop.abort("stopped by the user"));

const { content } = await client.callTool("measure", { steps: 4 }, {
  signal: stop.signal,
  timeoutMs: 10_000, // between two reports, since progress starts it anew
  resetTimeoutOnProgress: true,
  onProgress({ progress, total = progress, message = "" }) {
    const bar = "#".repeat(Math.round(20 * progress / total)).padEnd(20, ".");
    const line = `[${bar}] ${progress} of ${total} ${message}`;
    // A line that changes where somebody watches, else one line for each report.
    process.stdout.write(process.stdout.isTTY ? `\r${line}\x1b[K` : `${line}\n`);
  },
});
//#endregion
if (process.stdout.isTTY) process.stdout.write("\n"); // behind the bar
for (const block of content) process.stdout.write(block.type === "text" ? `${block.text}\n` : "");
await client.close();
