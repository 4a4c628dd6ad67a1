// The blocks of docs/ask-the-user.md that stand in no whole example.
import { Client } from "@mcp/stdio/client";
import { defineTool } from "@mcp/stdio/schema";
import { inputRequired, Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";

//#region model
const summarize = defineTool({
  description: "Sums up a text",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  call({ text }, { inputResponses }) {
    const answer = inputResponses?.summary;
    if (answer !== undefined) return { structuredContent: answer.content };
    const summary = inputRequired.sampling({
      messages: [{ role: "user", content: { type: "text", text: `Sum up in one sentence: ${text}` } }],
      maxTokens: 200,
    });
    return inputRequired({ inputRequests: { summary } });
  },
});
//#endregion

//#region roots
const listRoots = defineTool({
  description: "Says where it may work",
  call(_args, { inputResponses }) {
    if (inputResponses !== undefined) return JSON.stringify(inputResponses.roots);
    return inputRequired({ inputRequests: { roots: inputRequired.roots() } });
  },
});
//#endregion

const server = new Server({
  info: { name: "asks", version: "1.0.0" },
  tools: { summarize, "list-roots": listRoots },
});

//#region handlers
const [here, there] = createStreamPair();
server.run(there);
const client = await Client.connect(here, {
  inputHandlers: {
    "sampling/createMessage": ({ messages }) => ({
      role: "assistant",
      content: { type: "text", text: `A summary of ${messages.length} message` },
      model: "a-model",
    }),
    "roots/list": () => ({ roots: [{ uri: "file:///home/me/project", name: "project" }] }),
  },
});
//#endregion
const { structuredContent } = await client.callTool("summarize", { text: "It was a dark and stormy night." });
assert.deepEqual(structuredContent, { type: "text", text: "A summary of 1 message" });
const { content } = await client.callTool("list-roots");
assert.match(JSON.stringify(content), /file:\/\/\/home\/me\/project/);
await client.close();

const [there2, here2] = createStreamPair();
new Server({ info: { name: "asks", version: "1.0.0" }, tools: { summarize } }).run(there2);
const mute = await Client.connect(here2);
await assert.rejects(mute.callTool("summarize", { text: "…" }), {
  code: -32021,
  message: "Missing required client capability: sampling",
});
await mute.close();
