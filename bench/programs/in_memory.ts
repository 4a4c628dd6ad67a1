// So many clients in one process, each with a server at the other end of streams in memory, that are connected, called once each
// at the same time, and closed: `in_memory.ts <count>`; prints one line of JSON. The memory is of both ends.
import { Client } from "@mcp/stdio/client";
import { Server } from "@mcp/stdio/server";
import { createStreamPair } from "@mcp/stdio/testing";
import process from "node:process";

const count = Number(process.argv[2]);
const before = process.memoryUsage().rss;
const times = [performance.now()];
const running: Promise<unknown>[] = [];
const clients = await Promise.all(Array.from({ length: count }, () => {
  const [here, there] = createStreamPair();
  const server = new Server({
    info: { name: "bench", version: "1.0.0" },
    tools: { echo: { inputSchema: { type: "object" }, call: ({ text }) => String(text) } },
  });
  running.push(server.run(there));
  return Client.connect(here);
}));
times.push(performance.now());
await Promise.all(clients.map((client) => client.callTool("echo", { text: "x" })));
times.push(performance.now());
const bytesPerClient = (process.memoryUsage().rss - before) / count;
await Promise.all(clients.map((client) => client.close()));
await Promise.all(running);
times.push(performance.now());
const [connectMs, callMs, closeMs] = times.slice(1).map((time, index) => time - times[index]!);
process.stdout.write(`${JSON.stringify({ connectMs, callMs, closeMs, bytesPerClient })}\n`);
