// A resource that changes while the server runs: clients that listen for its URI are told, and read it again.
import { serve, Server } from "@mcp/stdio/server";

const URI = "counter://value";
let value = 0;

const server: Server = new Server({
  info: { name: "counter", version: "1.0.0" },
  resources: {
    [URI]: { title: "The counter", mimeType: "text/plain", read: () => String(value) },
  },
  tools: {
    "increment": {
      description: "Counts on by one",
      call: () => {
        value++;
        server.publish("notifications/resources/updated", { uri: URI });
        return `The counter stands at ${value}.`;
      },
    },
  },
});

await serve(server);
