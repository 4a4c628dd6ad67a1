// Runs the official conformance suite against our server, through the bridge, and against our client, through the shim.
//
//   deno task build && node build/tests/peers/conformance/run.js
//     [--set 2026-07-28|2025-11-25] [--runtime Deno|Bun|Node] [--only server|client] [scenario…]
//
// The suite is installed by npm into the folder `suite`, and runs on Bun: it does not start on Node 20. Its exit code is
// passed on. What it marks as not scored is about extensions and HTTP.
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { type Command, ROOT, RUNTIMES } from "../harness.ts";
import { installPackages } from "../npm_install.ts";
import { startBridge } from "./bridge.ts";

const SUITE = join(ROOT, "tests", "peers", "conformance", "suite");
const ENTRY = join(SUITE, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
const BUN = join(ROOT, "node_modules", ".bin", "bun");
/** The rest of the client scenarios is about OAuth and resuming event streams, which stdio does not have. */
const CLIENT_SCENARIOS: { [set: string]: readonly string[] } = {
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
    "http-standard-headers",
  ],
  "2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults"],
};

const { values: { set, runtime, only }, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    set: { type: "string", default: "2026-07-28" },
    runtime: { type: "string", default: "Node" },
    only: { type: "string" },
  },
});
const problem = await installPackages(SUITE);
if (problem !== undefined) throw new Error(`Cannot run the conformance suite: ${problem}`);
const codes = [
  ...only === "client" ? [] : await testServer(),
  ...only === "server" ? [] : await testClient(),
];
process.exitCode = Math.max(0, ...codes);

async function testServer(): Promise<number[]> {
  const { run } = RUNTIMES.find(({ name }) => name === runtime)!;
  const bridge = await startBridge(run("tests/peers/conformance/server"));
  try {
    const base = ["server", "--url", bridge.url];
    if (positionals.length === 0) return [await suite([...base, "--requirements", set])];
    return await inTurn(positionals, (name) => [...base, "--scenario", name, "--spec-version", set]);
  } finally {
    await bridge.close();
  }
}

function testClient(): Promise<number[]> {
  const client: Command = [process.execPath, join(ROOT, "build/tests/peers/conformance/client.js")];
  const names = positionals.length > 0 ? positionals : CLIENT_SCENARIOS[set]!;
  return inTurn(names, (name) => [
    ...["client", "--command", client.join(" ")],
    ...["--scenario", name, "--spec-version", set],
  ]);
}

async function inTurn(names: readonly string[], toArgs: (name: string) => string[]): Promise<number[]> {
  const codes: number[] = [];
  for (const name of names) codes.push(await suite(toArgs(name)));
  return codes;
}

function suite(args: readonly string[]): Promise<number> {
  const child = spawn(BUN, [ENTRY, ...args], { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
