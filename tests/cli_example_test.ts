// The tour of the command line, as a process of its own (L1, L4, L5).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseHostConfig } from "../host_config.ts";
import { ROOT } from "./_sources.ts";
import { SLOW } from "./server_helpers.ts";
import { commandOf } from "./server_processes.ts";

test("examples/command_line.ts lists, calls, records, shows and says again (L1, L4, L5)", SLOW, async (t) => {
  const [command = "", ...args] = commandOf("examples/command_line");
  const tour = spawn(command, args, { stdio: "pipe" });
  t.after(() => void tour.kill("SIGKILL"));
  let text = "";
  tour.stdout.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  tour.stderr.setEncoding("utf8").on("data", (chunk: string) => text += chunk);
  tour.stdin.end();
  const [code] = await once(tour, "close") as [number | null];
  assert.equal(code, 0, text);
  assert.match(text, /\n {2}get-forecast city {2}Forecast for a city\n/);
  assert.match(text, /\nBergen: rain, 9 °C\n/);
  assert.match(text, /measure 3 of 3: measurement 3\n/);
  assert.match(text, /error: Cannot call "get-forecast": "city" is missing\n/);
  assert.match(text, /→ tools\/call get-forecast {2}✓ done /);
  assert.match(text, /→ tools\/call no-such-tool {2}✗ error /);
  assert.match(text, /█/);
  assert.match(text, /session\.html" is written/);
  assert.match(text, /\n3 requests · 3 the same · exit code 0\n/);
  assert.deepEqual([...text.matchAll(/\(exit code (\d)\)/g)].map(([, exitCode]) => exitCode), [
    ..."00020000",
  ]);
});

test("examples/record.mcp.json is a host's file with a recorder before the server (L4)", async () => {
  const text = readFileSync(join(ROOT, "examples/record.mcp.json"), "utf8");
  const { servers } = await parseHostConfig(text, { env: {} });
  assert.equal(
    servers[0]?.commandLine,
    "npx -y @mcp/stdio record weather.ndjson -- deno run weather_server.ts",
  );
});
