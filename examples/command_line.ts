// A tour of `mcp-stdio`: what stands behind `$` can be typed with `npx @mcp/stdio`, `bunx @mcp/stdio` or
// `deno run -A jsr:@mcp/stdio/cli` in its place. Run it with
//
//     deno run -A examples/command_line.ts
import { main } from "@mcp/stdio/cli";
import { spawn } from "@mcp/stdio/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const isDeno = "Deno" in globalThis;
const runtime = [process.execPath, ...isDeno ? ["run", "--quiet", "-A"] : []];
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const weather = [...runtime, fileURLToPath(new URL(`weather_server.${extension}`, import.meta.url))];
const program = [...runtime, fileURLToPath(import.meta.resolve("@mcp/stdio/cli"))];
const folder = mkdtempSync(join(tmpdir(), "tour-"));
const recording = join(folder, "session.ndjson");

// A server from the shell.
await run("list", ["list"], weather);
await run("call get-forecast city=Bergen", ["call", "get-forecast", "city=Bergen"], weather);
await run("call measure steps=3", ["call", "measure", "steps=3"], weather);
await run("call get-forecast", ["call", "get-forecast"], weather);

// A recorder stands in the place of the server's command: here in a client, with a host in its file of servers.
say("$ mcp-stdio record session.ndjson -- weather");
const [command = "", ...args] = [...program, "record", recording, "--", ...weather];
const client = await spawn({ command, args });
await client.request("tools/call", { name: "get-forecast", arguments: { city: "Bangkok" } });
await client.request("tools/call", { name: "no-such-tool" }).catch(() => {}); // Its answer is an error, as it should be.
await client.close();

// What has passed, as lines, as bars and as a page; and the same said again to a server that may have changed.
await run("show session.ndjson", ["show", recording]);
await run("show session.ndjson --bars", ["show", recording, "--bars"]);
await run("show session.ndjson --html session.html", [
  "show",
  recording,
  "--html",
  join(folder, "session.html"),
]);
await run("replay session.ndjson", ["replay", recording], weather);
rmSync(folder, { recursive: true });

async function run(shown: string, args: readonly string[], server?: readonly string[]): Promise<void> {
  say(`$ mcp-stdio ${shown}${server === undefined ? "" : " -- weather"}`);
  const exitCode = await main(server === undefined ? args : [...args, "--", ...server]);
  say(`(exit code ${exitCode})`);
}

function say(line: string): void {
  process.stdout.write(`\n${line}\n`);
}
