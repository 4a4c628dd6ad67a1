/** The MCP Inspector's command line against our servers, in each era. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test, type TestContext } from "node:test";
import { createBrood, ROOT, RUNTIMES, SLOW } from "./harness.ts";
import { installPackages } from "./npm_install.ts";

const FOLDER = join(ROOT, "tests", "peers", "inspector");
const EVERYTHING = "examples/everything_server";
/** It has no prompts: the one way to make the Inspector ask for a method that is not there. */
const WEATHER = "examples/weather_server";

const problem = await installPackages(FOLDER);
const home = mkdtempSync(join(tmpdir(), "inspector-"));
after(() => rmSync(home, { recursive: true, force: true }));

for (const [index, era] of ["legacy", "auto", "modern"].entries()) {
  const options = { ...SLOW, skip: problem ?? false };
  const who = `the MCP Inspector, era ${era}, drives our server`;
  const { run } = RUNTIMES.find(({ name }) => name === "Node")!;

  test(`${who}: lists the tools and calls them`, options, async (t) => {
    const [list, sum, failed] = await Promise.all([
      inspect(t, era, run(EVERYTHING), "--method", "tools/list"),
      inspect(t, era, run(EVERYTHING), ...callOf("add", "a=2", "b=40")),
      inspect(t, era, run(EVERYTHING), ...callOf("fail")),
    ]);
    assert.equal(list.code, 0);
    const tools = list.result?.tools as Array<{ name: string }>;
    assert.deepEqual(tools.map(({ name }) => name).slice(0, 3), ["echo", "add", "fail"]);

    assert.equal(sum.code, 0);
    assert.deepEqual(sum.result?.structuredContent, { sum: 42 });
    // Only results of the modern era tell who gives them.
    assert.equal("_meta" in sum.result!, era !== "legacy");

    assert.equal(failed.code, 5);
    assert.equal(failed.result?.isError, true);
    assert.equal(failed.error?.code, "tool_is_error");
  });

  test(`${who}: is told of an unknown resource and of an unknown method`, options, async (t) => {
    const [resource, method] = await Promise.all([
      inspect(t, era, run(EVERYTHING), "--method", "resources/read", "--uri", "test://nothing"),
      inspect(t, era, run(WEATHER), "--method", "prompts/get", "--prompt-name", "nothing"),
    ]);
    assert.equal(resource.code, 1);
    assert.match(resource.error!.message, /Resource not found/);
    assert.equal(method.code, 1);
    assert.match(method.error!.message, /Method not found: prompts\/get/);
  });

  // A run takes seconds: each era meets one of the runtimes.
  const other = RUNTIMES[index]!;
  test(`${who} on ${other.name}: 300 calls, 50 at a time, all answered`, {
    ...SLOW,
    skip: problem ?? other.skip,
  }, async (t) => {
    const load = ["--load", "--load-requests", "300", "--load-concurrency", "50"];
    const called = callOf("echo", "text=x");
    const { code, result } = await inspect(t, era, other.run(EVERYTHING), ...called, ...load);
    assert.equal(code, 0);
    const { requests, ok, errors, toolErrors } = result as Record<string, number>;
    assert.deepEqual({ requests, ok, errors, toolErrors }, {
      requests: 300,
      ok: 300,
      errors: 0,
      toolErrors: 0,
    });
  });
}

interface Outcome {
  readonly code: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: string; message: string };
}

function callOf(name: string, ...args: string[]): string[] {
  return ["--method", "tools/call", "--tool-name", name, ...args.flatMap((arg) => ["--tool-arg", arg])];
}

/** Runs the Inspector once; nothing is left running after it. */
async function inspect(
  t: TestContext,
  era: string,
  server: readonly string[],
  ...args: string[]
): Promise<Outcome> {
  const brood = createBrood(t);
  const program = join(FOLDER, "node_modules", ".bin", "mcp-inspector");
  const base = [
    "--cli",
    "--protocol-era",
    era,
    "--format",
    "json",
    "-q",
    "-e",
    `PEER_TEST=${brood.env.PEER_TEST}`,
  ];
  // A server's arguments that begin with dashes would be the Inspector's.
  const all = [program, ...base, ...server.filter((arg) => !arg.startsWith("--")), ...args];
  const options = { cwd: ROOT, env: { ...process.env, ...brood.env, HOME: home }, timeout: SLOW.timeout };
  const outcome = await new Promise<Outcome>((resolve) => {
    execFile(process.execPath, all, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), ...parse(stdout), ...parse(stderr) });
    });
  });
  await brood.gone();
  return outcome;
}

/** The last line that is JSON. */
function parse(output: string): Partial<Outcome> {
  const line = output.split("\n").findLast((line) => line.startsWith("{"));
  return line === undefined ? {} : JSON.parse(line);
}
