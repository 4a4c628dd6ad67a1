/**
 * The official Python SDK, which shares no code with the ones in TypeScript, against our client and our servers. It runs
 * when it is asked for: with `PEER_PYTHON=install` (once, into `build/python`), or with the path of an interpreter that
 * has the package `mcp` in `PEER_PYTHON`.
 */

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import {
  type Command,
  createBrood,
  fixture,
  ROOT,
  RUNTIMES,
  SLOW,
  spawnPeer,
  textOf,
  upTo,
} from "./harness.ts";

const VERSION = "2.3.0";
const VENV = join(ROOT, "build", "python");

const python = preparePython();
const skip = python.problem ?? false;
/** A fixture on that interpreter. */
const program = (file: string, ...args: string[]): Command => [python.path, fixture(file)[1]!, ...args];

for (
  const { era, spoken } of [
    { era: "auto", spoken: "modern 2026-07-28" },
    { era: "modern", spoken: "modern 2026-07-28" },
    { era: "legacy", spoken: "legacy 2025-11-25" },
  ] as const
) {
  test(
    `spawn() with era ${era} drives a server on the Python SDK in ${spoken}`,
    { ...SLOW, skip },
    async (t) => {
      const { client, close, warnings } = await spawnPeer(t, program("python_server.py"), {
        era,
        inputHandlers: { "elicitation/create": () => ({ action: "accept", content: { name: "Ada" } }) },
      });
      assert.equal(`${client.era} ${client.protocolVersion}`, spoken);
      assert.equal(client.instructions, "Ask me anything.");
      const call = (name: string, args = {}) => client.request("tools/call", { name, arguments: args });

      const { tools } = await client.request("tools/list");
      assert.deepEqual(tools.map(({ name }) => name), ["add", "fail", "progress", "greet"]);
      assert.deepEqual((await call("add", { a: 2, b: 40 })).structuredContent, { result: 42 });
      assert.equal((await call("fail")).isError, true);
      await assert.rejects(client.request("no/such/method"), { name: "ProtocolError", code: -32601 });
      const steps: number[] = [];
      await client.request("tools/call", { name: "progress", arguments: { steps: 250 } }, {
        onProgress: ({ progress }) => steps.push(progress),
      });
      assert.deepEqual(steps, upTo(250));
      const { contents } = await client.request("resources/read", { uri: "test://item/7" });
      assert.equal(contents[0]!.text, "Item 7");
      // The SDK does not ask legacy clients itself.
      if (client.era === "modern") assert.equal(textOf(await call("greet")), "Hello, Ada! (asked once)");

      assert.deepEqual(await close(), { exit: { code: 0 }, step: "eof" });
      assert.deepEqual(warnings, []);
    },
  );
}

for (const { name: runtime, skip: missing, run } of RUNTIMES) {
  for (
    const { mode, version } of [
      { mode: "auto", version: "2026-07-28" },
      { mode: "2026-07-28", version: "2026-07-28" },
      { mode: "legacy", version: "2025-11-25" },
    ]
  ) {
    const title = `the Python SDK, mode ${mode}, drives our server on ${runtime} in ${version}`;
    test(title, { ...SLOW, skip: skip || missing }, async (t) => {
      const server = run("examples/everything_server");
      assert.deepEqual(await runClient(t, program("python_client.py", mode, ...server)), {
        version,
        tools: ["echo", "add", "fail"],
        sum: { sum: 42 },
        failed: [true, "this tool always fails"],
        text: "ä – 🦀 \u2028",
        steps: upTo(20),
        done: "20 steps",
        unknown: -32602,
        read: "Item 7",
        prompt: "Say hello to Ada.",
        completion: ["Ada", "Alan"],
      });
    });
  }
}

/** What a client printed as its last line. */
async function runClient(t: TestContext, [command, ...args]: Command): Promise<unknown> {
  const brood = createBrood(t);
  const options = { cwd: ROOT, env: { ...process.env, ...brood.env }, timeout: SLOW.timeout };
  const output = await new Promise<string>((resolve, reject) => {
    execFile(command, args, options, (error, stdout) => error === null ? resolve(stdout) : reject(error));
  });
  await brood.gone();
  return JSON.parse(output.trim().split("\n").at(-1)!);
}

function preparePython(): { path: string; problem?: string } {
  const given = process.env["PEER_PYTHON"] ?? "";
  const own = join(VENV, "bin", "python");
  if (given !== "" && given !== "install") return { path: given };
  if (existsSync(own)) return { path: own };
  if (given === "") return { path: own, problem: "set PEER_PYTHON=install to test against the Python SDK" };
  try {
    const options = { stdio: "pipe", timeout: 120_000, encoding: "utf8" } as const;
    execFileSync("python3", ["-m", "venv", VENV], options);
    execFileSync(own, ["-m", "pip", "install", "--retries", "0", "--quiet", `mcp==${VERSION}`], options);
    return { path: own };
  } catch (error) {
    const [line = ""] = String(error instanceof Error ? error.message : error).split("\n");
    return { path: own, problem: `mcp ${VERSION} for Python cannot be installed: ${line}` };
  }
}
