import { Client, Server } from "@mcp/stdio";
import { createStreamPair } from "@mcp/stdio/testing";
import assert from "node:assert/strict";
import { test } from "node:test";
import { options } from "./options.ts";

//#region test
test("get-forecast names the city", async () => {
  const [here, there] = createStreamPair();
  new Server(options).run(there);
  const client = await Client.connect(here);
  const { content } = await client.callTool("get-forecast", { city: "Oslo" });
  assert.deepEqual(content, [{ type: "text", text: "Sunny in Oslo." }]);
  await client.close();
});
//#endregion
