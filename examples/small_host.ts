// deno-lint-ignore-file no-console -- it is the README's host, which talks to a person
import { spawn } from "@mcp/stdio/client";
import { launchAll, readHostConfig } from "@mcp/stdio/host-config";
import process from "node:process";
import { createInterface } from "node:readline/promises";

const config = await readHostConfig(".mcp.json");
const outcomes = await launchAll(config, {
  async consent({ commandLine }) {
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    const answer = await terminal.question(`Run ${commandLine}? [y/N] `);
    terminal.close();
    return answer === "y";
  },
  launch: (options) => spawn(options),
});

for (const outcome of outcomes) {
  if (outcome.kind !== "launched") continue;
  console.log(outcome.server.name, await outcome.value.request("tools/list", {}));
  await outcome.value.close();
}
