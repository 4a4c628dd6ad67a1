// A host: reads the servers of a `.mcp.json`, asks before anything runs, starts all at once, lists their tools, calls one
// with progress, and leaves nothing running. Run it with
//
//     deno run -A examples/host.ts [path of a .mcp.json] [--yes]
import { type Client, spawn } from "@mcp/stdio/client";
import { type HostServer, launchAll, type LaunchOutcome, readHostConfig } from "@mcp/stdio/host-config";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What is called on each server that has it. It may be called: nobody but the sample's weather server is known to have it. */
const TOOL = "measure";

const flags = process.argv.slice(2);
const sample = fileURLToPath(new URL("host.mcp.json", import.meta.url));
const [path = sample] = flags.filter((flag) => flag !== "--yes");

const terminal = flags.includes("--yes") ? undefined : createInterface({ input: process.stdin });
const answers = terminal?.[Symbol.asyncIterator]();

const config = await readHostConfig(path);
say(`${config.servers.length} servers in ${path}`);
const outcomes = await launchAll(config, {
  // A host that runs more than once keeps the fingerprints of what was agreed to, and gives them as `approved`.
  consent: ask,
  launch: (options) => spawn({ ...options, stderr: "capture" }),
});
const clients = outcomes.flatMap((outcome) => outcome.kind === "launched" ? [outcome.value] : []);
try {
  for (const outcome of outcomes) await show(outcome);
} finally {
  // Each server gets the end of its input, and what does not help itself is ended.
  await Promise.all(clients.map((client) => client.close()));
  terminal?.close();
  say(`\n${clients.length} closed`);
}

/** Shows the very command, with what is secret masked. Only "y" is a consent; the end of the input is none. */
async function ask({ name, commandLine }: HostServer): Promise<boolean> {
  if (answers === undefined) return true;
  process.stdout.write(`\n${name}: ${commandLine}\nRun it? [y/N] `);
  const { value: answer = "" } = await answers.next();
  return /^y(es)?$/i.test(answer.trim());
}

/** What became of a server; what goes wrong with one is no matter of the others. */
async function show(outcome: LaunchOutcome<Client>): Promise<void> {
  const { name } = outcome.server;
  if (outcome.kind === "failed") return say(`\n${name}: cannot be started: ${messageOf(outcome.error)}`);
  if (outcome.kind === "skipped") return say(`\n${name}: skipped, it is ${outcome.reason}`);
  if (outcome.kind !== "launched") return say(`\n${name}: not started, it was ${outcome.kind}`);
  const client = outcome.value;
  say(`\n${name}: ${client.serverInfo?.name} speaks ${client.protocolVersion} (${client.era})`);
  try {
    await showTools(client);
  } catch (error) {
    say(`  has failed: ${messageOf(error)}`);
  }
}

async function showTools(client: Client): Promise<void> {
  if (client.capabilities?.tools === undefined) return say("  no tools");
  let cursor: string | undefined;
  do {
    const { tools, nextCursor } = await client.request("tools/list", cursor === undefined ? {} : { cursor });
    for (const { name, description = "" } of tools) say(`  ${name.padEnd(20)} ${description}`);
    if (tools.some(({ name }) => name === TOOL)) await call(client);
    cursor = nextCursor;
  } while (cursor !== undefined);
}

async function call(client: Client): Promise<void> {
  const { content = [] } = await client.request("tools/call", { name: TOOL, arguments: { steps: 4 } }, {
    onProgress: ({ progress, total = 1, message = "" }) => {
      const bar = "#".repeat(Math.round(progress / total * 20)).padEnd(20, ".");
      const line = `  [${bar}] ${message}`;
      // One line that changes, where there is somebody to see it.
      if (process.stdout.isTTY) process.stdout.write(`\r${line}`);
      else say(line);
    },
  });
  if (process.stdout.isTTY) say("");
  say(`  ${TOOL}: ${content.map((block) => block.type === "text" ? block.text : block.type).join(" ")}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
