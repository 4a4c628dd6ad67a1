// The blocks of docs/tools.md. Each tool is called, and gives what the page says.
import { Client } from "@mcp/stdio/client";
import { ProtocolError } from "@mcp/stdio/errors";
import { ErrorCode } from "@mcp/stdio/messages";
import { defineTool } from "@mcp/stdio/schema";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";
import { z } from "zod";
import * as mini from "zod/mini";

const ARTICLES = ["Salmon in the river", "Salmon on the plate", "A river runs dry"];

//#region describe
const searchArchive = defineTool({
  title: "Search the archive",
  description: "Finds articles by a word in their title. Search before you quote an article.",
  inputSchema: {
    type: "object",
    properties: {
      word: { type: "string", minLength: 1, description: 'One word, such as "salmon"' },
      limit: { type: "integer", minimum: 1, maximum: 50, description: "How many titles; 10 without it" },
    },
    required: ["word"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  call: ({ word, limit = 10 }) => {
    const found = ARTICLES.filter((title) => title.toLowerCase().includes(String(word).toLowerCase()));
    return found.length === 0 ? `Nothing about ${word}.` : found.slice(0, Number(limit)).join("\n");
  },
});
//#endregion

//#region zod
const toCelsius = defineTool({
  description: "Turns degrees Fahrenheit into degrees Celsius",
  inputSchema: z.object({
    fahrenheit: z.number().describe("Degrees Fahrenheit"),
    digits: z.int().min(0).default(1),
  }),
  // `fahrenheit` and `digits` are numbers here, and `digits` is 1 if it was left out.
  call: ({ fahrenheit, digits }) => ((fahrenheit - 32) / 1.8).toFixed(digits),
});
//#endregion

//#region json-schema
const shout = defineTool({
  description: "Gives a text back in capitals",
  // zod/mini, zod 3 and valibot do not say what they are in JSON Schema, so you do.
  inputSchema: mini.object({ text: mini.string() }),
  inputJsonSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  call: ({ text }) => text.toUpperCase(),
});
//#endregion

//#region structured
const measureRoom = defineTool({
  description: "Measures the room",
  outputSchema: z.object({ celsius: z.number(), humidity: z.number() }),
  call: () => ({ celsius: 21.5, humidity: 0.4 }),
});
//#endregion

const bytes = btoa("not really a picture");

//#region content
const drawChart = defineTool({
  description: "Draws a chart of the last day",
  call: () => [
    { type: "text", text: "The last day, hour by hour:" },
    { type: "image", mimeType: "image/png", data: bytes }, // base64
    { type: "resource_link", uri: "log://today", name: "the numbers behind it" },
  ],
});
//#endregion

//#region fail
const readArticle = defineTool({
  description: "Reads an article",
  inputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  call({ title }) {
    // The model reads this text, and can try again.
    if (!ARTICLES.includes(String(title))) {
      throw new Error(`There is no article "${title}": search for it first`);
    }
    // The host is told that the call itself was wrong; a model may never see it.
    if (title === "A river runs dry") {
      throw new ProtocolError(ErrorCode.invalidParams, "Sign in to read this article");
    }
    return `${title}: …`;
  },
});
//#endregion

const options = { info: { name: "archive", version: "1.0.0" } };
const server: Server = new Server({
  ...options,
  tools: {
    "search-archive": searchArchive,
    "to-celsius": toCelsius,
    "shout": shout,
    "measure-room": measureRoom,
    "draw-chart": drawChart,
    "read-article": readArticle,
  },
});
const [here, there] = createStreamPair();
server.run(there);
const client = await Client.connect(here);

async function textOf(name: string, args?: { [name: string]: unknown }): Promise<string> {
  const { content, isError } = await client.callTool(name, args);
  return `${isError ? "isError: " : ""}${
    content.map((block) => block.type === "text" ? block.text : block.type)
  }`;
}

assert.equal(await textOf("search-archive", { word: "salmon", limit: 1 }), "Salmon in the river");
assert.equal(await textOf("search-archive", { word: "cod" }), "Nothing about cod.");
assert.equal(
  await textOf("search-archive", { limit: 0 }),
  'isError: Invalid arguments: "word" is missing\nlimit: 0 is less than 1',
);
assert.equal(await textOf("to-celsius", { fahrenheit: 100 }), "37.8");
assert.equal(await textOf("shout", { text: "hey" }), "HEY");
const { structuredContent, content } = await client.callTool("measure-room");
assert.deepEqual(structuredContent, { celsius: 21.5, humidity: 0.4 });
assert.deepEqual(content, [{ type: "text", text: '{"celsius":21.5,"humidity":0.4}' }]);
assert.match(await textOf("draw-chart"), /^The last day, hour by hour:,image,resource_link$/);
assert.match(
  await textOf("read-article", { title: "Cod" }),
  /^isError: There is no article "Cod": search for it first$/,
);
await assert.rejects(client.callTool("read-article", { title: "A river runs dry" }), {
  code: -32602,
  message: "Sign in to read this article",
});

const names: string[] = [];
for await (const { name } of client.tools()) names.push(name);
assert.equal(names.length, 6);

//#region change
server.addTool("count-articles", { call: () => `${ARTICLES.length} articles` });
server.removeTool("draw-chart");
//#endregion
assert.equal(await textOf("count-articles"), "3 articles");
await assert.rejects(client.callTool("draw-chart"), /Unknown tool: draw-chart/);
await client.close();
