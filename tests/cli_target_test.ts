// Which server is meant: a command behind `--`, or an entry of a host's file; and `list`, which shows what it has.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { runCli, serverArgs } from "./cli_helpers.ts";
import { SLOW } from "./server_helpers.ts";
import { strangerCommand } from "./_stranger.ts";

/** A host's file in a folder of its own. */
function writeConfig(t: TestContext, servers: { readonly [name: string]: unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), "cli-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, ".mcp.json");
  writeFileSync(path, JSON.stringify({ mcpServers: servers }));
  return path;
}

function entry(program: string): { command: string; args: string[] } {
  const [command = "", ...args] = strangerCommand(program);
  return { command, args };
}

test("list shows what a server has, as text and as JSON (L1)", SLOW, async () => {
  const server = serverArgs("examples/everything_server");
  const plain = await runCli(["list", ...server]);
  assert.equal(plain.code, 0);
  assert.match(plain.stdout, /^everything 1\.0\.0 {2}modern 2026-07-28\n\ntools\n/);
  assert.match(plain.stdout, /\n {2}add a b +Adds two numbers\n/);
  assert.match(plain.stdout, /\n {2}progress \[steps\] \[ms\] +Reports progress/);
  assert.match(plain.stdout, /\n\nresources\n {2}test:\/\/static/);
  assert.match(plain.stdout, /\n\ntemplates\n {2}test:\/\/item\/\{id\}/);
  assert.match(plain.stdout, /\n\nprompts\n {2}greet name/);
  const json = (await runCli(["list", "--json", ...server])).json();
  assert.deepEqual(Object.keys(json), ["server", "tools", "resources", "resourceTemplates", "prompts"]);
  assert.ok(json.tools.some(({ name }: { name: string }) => name === "add"));
});

test("list KIND shows that kind alone, in either era (L1)", SLOW, async () => {
  const { code, stdout } = await runCli([
    "list",
    "tools",
    "--era",
    "legacy",
    ...serverArgs("examples/plain_schema_server"),
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /legacy 2025-11-25\n\ntools\n {2}roll count/);
  assert.doesNotMatch(stdout, /prompts|resources/);
});

test("--config FILE --server NAME starts that entry, with --env and --cwd over it (L1)", SLOW, async (t) => {
  const path = writeConfig(t, {
    other: { command: "no-such-program" },
    everything: { ...entry("examples/everything_server"), env: { FROM_FILE: "file", BOTH: "file" } },
  });
  const result = await runCli(
    ["list", "tools", "--config", path, "--server", "everything", "--env", "BOTH=line", "--json"],
  );
  assert.equal(result.code, 0, result.stderr);
  assert.equal(result.json().server.name, "everything");
});

const WRONG: ReadonlyArray<readonly [args: string[], code: number, message: RegExp]> = [
  [[], 2, /Cannot start a server: none is named\nusage: mcp-stdio list/],
  [["--"], 2, /Cannot start a server: none is named/],
  [["--server", "x"], 2, /Cannot use --server: it needs the file/],
  [["--config", "CONFIG"], 2, /Cannot choose a server of ".*" without --server: it has "broken", "far"\n/],
  [["--config", "CONFIG", "--server", "far", "--", "x"], 2, /there is a command behind -- and a --config/],
  [
    ["--config", "CONFIG", "--server", "none"],
    2,
    /Cannot find the server "none" in .*: it has "broken", "far"\n/,
  ],
  [
    ["--config", "CONFIG", "--server", "far"],
    3,
    /Cannot start "far" of .*: it is spoken to over the network/,
  ],
  [["--config", "CONFIG", "--server", "broken"], 3, /"NO_SUCH_VARIABLE" is not set/],
  [["--config", "/no/such/.mcp.json", "--server", "x"], 2, /there is no such file/],
  [
    ["--env", "NO_SUCH_VARIABLE", "--", "x"],
    2,
    /Cannot use --env "NO_SUCH_VARIABLE": there is no such variable here/,
  ],
  [["--env", "=1", "--", "x"], 2, /Cannot use --env "=1": it has no name/],
  [["--", "no-such-program-anywhere"], 3, /no-such-program-anywhere/],
  [["--cwd", "/no/such/folder", "--", "PROGRAM"], 3, /\/no\/such\/folder/],
  [["--timeout", "soon", "--", "x"], 2, /Cannot use --timeout "soon"/],
];

for (const [args, code, message] of WRONG) {
  test(`list ${args.join(" ")} ends with ${code} and says why (L1)`, SLOW, async (t) => {
    const path = writeConfig(t, {
      broken: { command: "${NO_SUCH_VARIABLE}/server" },
      far: { type: "http", url: "https://mcp.example.com/mcp" },
    });
    const result = await runCli([
      "list",
      ...args.map((word) => ({ CONFIG: path, PROGRAM: process.execPath })[word] ?? word),
    ]);
    assert.match(result.stderr, message);
    assert.equal(result.code, code);
    assert.equal(result.stdout, "");
  });
}
