import { spawn } from "@mcp/stdio/client";
import type { BenchClient } from "./frames.ts";

export async function connect(command: string, args: string[]): Promise<BenchClient> {
  const client = await spawn({ command, args, info: { name: "bench", version: "1.0.0" } });
  return {
    echo: (args) => client.request("tools/call", { name: "echo", arguments: args }),
    close: async () => void await client.close(),
  };
}
