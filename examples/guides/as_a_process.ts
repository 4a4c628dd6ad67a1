// The block of docs/testing.md that starts a server as a host does.
import { spawn } from "@mcp/stdio/client";
import assert from "node:assert/strict";
import process from "node:process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(import.meta.url.replace("guides/as_a_process", "tested/forecast"));

//#region process
const printed: string[] = [];
const client = await spawn({
  command: process.execPath,
  args: [main],
  stderr: "capture",
  onStrayOutput: (text) => printed.push(text),
});
await client.callTool("get-forecast", { city: "Oslo" });
const { exit, step } = await client.close();
assert.deepEqual({ exit, step, printed }, { exit: { code: 0 }, step: "eof", printed: [] });
//#endregion
