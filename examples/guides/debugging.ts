// The block of docs/debugging.md.
import { Client } from "@mcp/stdio/client";
import { silentLogger } from "@mcp/stdio/logger";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";

const seen: string[] = [];
const server = new Server({ info: { name: "traced", version: "1.0.0" } });
const [streams, there] = createStreamPair();
server.run(there);

//#region trace
const client = await Client.connect(streams, {
  traceFrames: true,
  logger: { ...silentLogger, debug: (text, details) => seen.push(`${text} ${JSON.stringify(details)}`) },
});
//#endregion
await client.close();
assert.match(seen.join("\n"), /server\/discover/);
