// The blocks of docs/long-work.md.
import { Client } from "@mcp/stdio/client";
import { defineTool } from "@mcp/stdio/schema";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";

const FILES = ["a.txt", "b.txt", "c.txt"];
const indexed: string[] = [];
let work = (_file: string, _signal: AbortSignal): Promise<void> => Promise.resolve();

//#region progress
const indexFiles = defineTool({
  description: "Indexes all files",
  async call(_args, { progress, signal }) {
    for (const [index, file] of FILES.entries()) {
      signal.throwIfAborted();
      await work(file, signal); // hand the signal on: to fetch, to a query, to a child process
      indexed.push(file);
      progress(index + 1, FILES.length, file);
    }
    return `${FILES.length} files indexed`;
  },
});
//#endregion

//#region log
const checkFiles = defineTool({
  description: "Checks all files",
  async call(_args, { log }) {
    for (const file of FILES) await log("info", { file, state: "fine" }, "checker");
    return "All files are fine";
  },
});
//#endregion

//#region limits
const server = new Server({
  info: { name: "files", version: "1.0.0" },
  tools: { "index-files": indexFiles, "check-files": checkFiles },
  limits: { maxInFlightRequests: 4 }, // a fifth call waits until one of four has ended
  drainTimeoutMs: 30_000, // how long calls may go on after the host has gone
});
//#endregion

const [here, there] = createStreamPair();
const running = server.run(there);
const client = await Client.connect(here);

//#region client
const seen: string[] = [];
await client.callTool("index-files", {}, {
  onProgress: ({ progress, total, message }) => seen.push(`${progress} of ${total}: ${message}`),
});
await client.callTool("check-files", {}, {
  logLevel: "info", // without it the server sends none
  onLog: (level, data) => seen.push(`${level}: ${JSON.stringify(data)}`),
});
//#endregion
assert.deepEqual(seen, [
  "1 of 3: a.txt",
  "2 of 3: b.txt",
  "3 of 3: c.txt",
  'info: {"file":"a.txt","state":"fine"}',
  'info: {"file":"b.txt","state":"fine"}',
  'info: {"file":"c.txt","state":"fine"}',
]);

indexed.length = 0;
const stop = new AbortController();
work = async (file) => {
  if (file === "b.txt") stop.abort("enough");
  await new Promise((resolve) => setTimeout(resolve, 5));
};
await assert.rejects(
  client.callTool("index-files", {}, { signal: stop.signal }),
  (reason) => reason === "enough",
);
await client.close();
assert.equal((await running).reason, "eof");
assert.ok(indexed.length < 3);
