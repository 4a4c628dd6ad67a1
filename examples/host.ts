// A host: reads the servers of a `.mcp.json`, asks before anything runs, starts all at once, lists their tools, calls one
// with progress, and leaves nothing running. Run it with
//
//     deno run -A examples/host.ts [path of a .mcp.json] [--yes] [--remember FILE]
import { type Client, spawn } from "@mcp/stdio/client";
import { type HostServer, launchAll, type LaunchOutcome, readHostConfig } from "@mcp/stdio/host-config";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const USAGE = `Starts the servers of a host's file, lists their tools, and ends them.

usage: host [FILE] [--yes] [--remember FILE]

  FILE             a .mcp.json, claude_desktop_config.json, .vscode/mcp.json or .cursor/mcp.json; a sample by default
  --yes            start everything without asking
  --remember FILE  where to keep what was agreed to: it is not asked for again
  --help           this text`;

/** What is called on each server that has it. It may be called: nobody but the sample's weather server is known to have it. */
const TOOL = "measure";

/** Says what is wrong with the call or the file, without a stack: the program is not what has to be fixed. */
function fail(error: unknown, code: number): never {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(code);
}

const { path, yes, remember } = readArguments();
const approved = new Set(await readApprovals());
const terminal = yes ? undefined : createInterface({ input: process.stdin });
const answers = terminal?.[Symbol.asyncIterator]();

const config = await readHostConfig(path).catch((error) => fail(error, 1));
say(`${config.servers.length} servers in ${path}`);
const outcomes = await launchAll(config, {
  approved,
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

function readArguments(): { path: string; yes: boolean; remember: string | undefined } {
  const sample = fileURLToPath(new URL("host.mcp.json", import.meta.url));
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        yes: { type: "boolean", default: false },
        remember: { type: "string" },
      },
    });
    if (values.help) {
      say(USAGE);
      process.exit(0);
    }
    return { path: positionals[0] ?? sample, yes: values.yes ?? false, remember: values.remember };
  } catch (error) {
    return fail(`${messageOf(error)}\n\n${USAGE}`, 2);
  }
}

/** What was agreed to before: the fingerprints, of which each stands for one exact launch. */
async function readApprovals(): Promise<string[]> {
  if (remember === undefined) return [];
  try {
    return (await readFile(remember, "utf8")).split("\n");
  } catch (error) {
    // The first time there is no such file.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    return fail(error, 1);
  }
}

/**
 * Shows the very command, with what is secret masked, and what else there is to know. Only "y" is a consent; the end of the
 * input is none.
 */
async function ask({ name, commandLine, warnings, fingerprint }: HostServer): Promise<boolean> {
  if (answers === undefined) return true;
  const notes = warnings.map((warning) => `! ${warning}\n`).join("");
  process.stdout.write(`\n${name}: ${commandLine}\n${notes}Run it? [y/N] `);
  const { value: answer = "" } = await answers.next();
  if (!/^y(es)?$/i.test(answer.trim())) return false;
  approved.add(fingerprint);
  if (remember !== undefined) await writeFile(remember, [...approved].join("\n"), { mode: 0o600 });
  return true;
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
