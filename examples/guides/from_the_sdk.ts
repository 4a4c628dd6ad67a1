// The block of docs/from-the-sdk.md: examples/sdk_server.ts without the SDK.
import { Client } from "@mcp/stdio/client";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";
import { z } from "zod";

//#region server
const greeter = new Server({
  info: { name: "greeter", version: "1.0.0" },
  tools: {
    "greet": {
      description: "Greets somebody",
      inputSchema: z.object({ name: z.string() }),
      call: ({ name }) => `Hello, ${name}!`,
    },
  },
});
//#endregion
const [here, there] = createStreamPair();
greeter.run(there);
const client = await Client.connect(here);
assert.deepEqual((await client.callTool("greet", { name: "Ada" })).content, [{
  type: "text",
  text: "Hello, Ada!",
}]);
await client.close();
