import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { BenchClient } from "./frames.ts";

export async function connect(command: string, args: string[]): Promise<BenchClient> {
  const client = new Client({ name: "bench", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  await client.connect(new StdioClientTransport({ command, args, maxBufferSize: 64 * 1_048_576 }));
  return {
    echo: (args) => client.callTool({ name: "echo", arguments: args }),
    close: () => client.close(),
  };
}
