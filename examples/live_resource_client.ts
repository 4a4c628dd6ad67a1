// Listens to a resource and reads it again each time it changes. Run it with
//
//     deno run -A examples/live_resource_client.ts
//
// deno-lint-ignore-file no-console -- it shows what came
import { spawn } from "@mcp/stdio/client";
import process from "node:process";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(import.meta.url.replace("resource_client", "resource_server"));
const client = await spawn({ command: process.execPath, args: [server] });

//#region listen
const uri = "counter://value";
const listening = client.listen({ resourceSubscriptions: [uri] });
await listening.acknowledged; // from here on no change is missed

await client.callTool("increment");
await client.callTool("increment");
for await (const event of listening) {
  // Also after `resubscribed` and `missed`, which say that changes may have been missed.
  const { contents } = await client.readResource(uri);
  console.log(`${event.kind}: the counter stands at ${contents[0]?.text}`);
  if (contents[0]?.text === "2") break; // ends the subscription
}
//#endregion
await client.close();
