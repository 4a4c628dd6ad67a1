// The blocks of docs/resources-and-prompts.md. Each resource is read, and gives what the page says.
import { Client } from "@mcp/stdio/client";
import { ProtocolError } from "@mcp/stdio/errors";
import { ErrorCode } from "@mcp/stdio/messages";
import type { ResourceDefinition } from "@mcp/stdio/schema";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";

const PAGES: { [name: string]: string } = { "getting started": "# Getting started", "faq": "# Questions" };

//#region resource
const config: ResourceDefinition = {
  title: "The configuration",
  mimeType: "application/json",
  read: () => JSON.stringify({ language: "en" }),
};
//#endregion

//#region bytes
const logo: ResourceDefinition = {
  mimeType: "image/png",
  read: () => new Uint8Array([0x89, 0x50, 0x4e, 0x47]), // goes out in base64
};
//#endregion

//#region template
const page: ResourceDefinition = {
  name: "page",
  mimeType: "text/markdown",
  complete: { name: (typed) => Object.keys(PAGES).filter((name) => name.startsWith(typed)) },
  read({ uri, variables: { name = "" } }) {
    // `name` is decoded, and any text: look it up, or check it, before you make a path of it.
    const text = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
    if (text === undefined) throw new ProtocolError(ErrorCode.invalidParams, "Resource not found", { uri });
    return text;
  },
};
//#endregion

//#region define
const server: Server = new Server({
  info: { name: "manual", version: "1.0.0" },
  resources: {
    "manual://config": config,
    "manual://logo": logo,
    "manual://pages/{name}": page,
  },
  cache: { ttlMs: 60_000 }, // clients may keep what they have read for a minute
});
//#endregion

const [here, there] = createStreamPair();
server.run(there);
const client = await Client.connect(here);
const read = async (uri: string) => (await client.readResource(uri)).contents[0];
assert.deepEqual(await read("manual://config"), {
  uri: "manual://config",
  mimeType: "application/json",
  text: '{"language":"en"}',
});
assert.equal((await read("manual://logo"))?.blob, "iVBORw==");
assert.equal((await read("manual://pages/getting%20started"))?.text, "# Getting started");
assert.equal((await read("manual://pages/getting started"))?.text, "# Getting started");
await assert.rejects(client.readResource("manual://pages/..%2F..%2Fetc"), { code: -32602 });
const { completion } = await client.complete(
  { type: "ref/resource", uri: "manual://pages/{name}" },
  { name: "name", value: "ge" },
);
assert.deepEqual(completion.values, ["getting started"]);

const listening = client.listen({ resourceSubscriptions: ["manual://config"], resourcesListChanged: true });
await listening.acknowledged;
//#region publish
server.publish("notifications/resources/updated", { uri: "manual://config" });
server.addResource("manual://news", { read: () => "Nothing yet" }); // tells that the list has changed
//#endregion
const told: string[] = [];
for await (const event of listening) {
  if (event.kind === "notification") told.push(event.method);
  if (told.length === 2) break;
}
assert.deepEqual(told, ["notifications/resources/updated", "notifications/resources/list_changed"]);
await client.close();
