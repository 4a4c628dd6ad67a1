// deno-lint-ignore-file no-console -- it shows what came
// The blocks of docs/calls.md, against a server in memory.
import { Client } from "@mcp/stdio/client";
import {
  ConnectionClosedError,
  InvalidResponseError,
  ProtocolError,
  RequestTimeoutError,
} from "@mcp/stdio/errors";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";

const server: Server = new Server({
  info: { name: "files", version: "1.0.0" },
  tools: {
    "read": { call: ({ path }) => `The text of ${path}` },
    "hang": {
      call: (_args, { signal }) => new Promise((_, reject) => signal.onabort = () => reject(signal.reason)),
    },
    "fail": { call: () => Promise.reject(new Error("The disk is full")) },
  },
  resources: { "file:///notes": { mimeType: "text/plain", read: () => "Notes" } },
  handlers: { "files/count": ({ folder }) => ({ count: folder === "/tmp" ? 3 : 0 }) },
});
const [here, there] = createStreamPair();
server.run(there);
const client = await Client.connect(here);

//#region verbs
const { content, isError } = await client.callTool("read", { path: "/notes.txt" });
const { contents } = await client.readResource("file:///notes");
for await (const tool of client.tools()) console.error(tool.name, tool.inputSchema);
//#endregion
assert.deepEqual([content[0]?.type, isError, contents[0]?.text], ["text", undefined, "Notes"]);

//#region request
const { tools } = await client.request("tools/list", {}); // params and result are typed
const { count } = await client.request("files/count", { folder: "/tmp" }); // an extension: objects
//#endregion
assert.deepEqual([tools.length, count], [3, 3]);

//#region time
const call = client.callTool("hang", {}, {
  timeoutMs: 50, // no answer for so long, and no progress with the next line
  resetTimeoutOnProgress: true,
  maxTimeoutMs: 600_000, // the whole call, whatever comes
});
//#endregion
await assert.rejects(call, {
  name: "RequestTimeoutError",
  message: 'Cannot await "tools/call" any longer: no answer within 50 ms (idle)',
});

//#region cancel
const controller = new AbortController();
const hanging = client.callTool("hang", {}, { signal: controller.signal });
controller.abort("the user closed the window"); // the server is told; the promise rejects with this
//#endregion
await assert.rejects(hanging, (reason) => reason === "the user closed the window");

//#region errors
async function callFail(): Promise<string> {
  try {
    const { content, isError } = await client.callTool("fail");
    if (isError) return `the tool says what went wrong: ${JSON.stringify(content)}`;
    return "it worked";
  } catch (error) {
    if (error instanceof ProtocolError) return `the server refused: ${error.code} ${error.message}`;
    if (error instanceof RequestTimeoutError) return "too slow; the server was told to stop";
    if (error instanceof InvalidResponseError) return `an answer that cannot be read: ${error.reason}`;
    if (error instanceof ConnectionClosedError) {
      return error.sent ? "the server went away, maybe after it did the work" : "it never got the call";
    }
    throw error;
  }
}
//#endregion
assert.match(await callFail(), /^the tool says what went wrong: .*The disk is full/);

const adding = setInterval(() => server.addTool("write", { call: () => "written" }), 20);
//#region listen
for await (const event of client.listen({ toolsListChanged: true })) {
  if (event.kind === "resubscribed") console.error("the server was started again: list everything anew");
  if (event.kind === "missed") console.error("more has changed than was kept: list everything anew");
  if (event.kind === "notification") break; // ends the subscription
}
//#endregion
clearInterval(adding);
await client.close();
assert.match(await callFail(), /it never got the call/);
