// Servers that are made one file: what bundlers make of the npm package runs on each runtime (XF6). With TEST_FULL=1 every
// bundle runs on every runtime it is for, without it on one, and Rollup's, which is the hardest, on all.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { spawn } from "@mcp/stdio/client";
import { ProtocolError } from "@mcp/stdio/errors";
import { silentLogger } from "@mcp/stdio/logger";
import { bundleInto, BUNDLERS, type RuntimeName } from "./bundlers.ts";
import { findOnPath, ROOT, SLOW, UNHURRIED } from "./harness.ts";

const IS_FULL = process.env["TEST_FULL"] === "1";
const FOLDER = join(ROOT, "build/bundlers");

/** How a module is run that needs nothing beside it. */
const COMMANDS: Readonly<Record<RuntimeName, readonly string[]>> = {
  Node: [process.execPath],
  Deno: [process.env["DENO_PATH"] ?? findOnPath("deno") ?? "deno", "run", "--quiet", "--no-config"],
  Bun: [join(ROOT, "node_modules/.bin/bun")],
};

/** README's server, as it stands there; the same without the `await`, which comes to its end before anything is asked. */
const README_SERVER = readFileSync(join(ROOT, "examples/forecast.ts"), "utf8");
const PROGRAMS: ReadonlyMap<string, string> = new Map([
  ["README's server", README_SERVER],
  ["README's server without await", README_SERVER.replace("await serve", "serve")],
  [
    "a server that guards stdout first",
    `import "@mcp/stdio/stdout-guard";\nimport "./prints.mjs";\n${README_SERVER}`,
  ],
  [
    "a server of the official SDK",
    `import { serve } from "@mcp/stdio/server";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

await serve(() => {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  server.registerTool("get-forecast", { inputSchema: z.object({ city: z.string() }) }, ({ city }) => ({
    content: [{ type: "text", text: "Sunny in " + city + "." }],
  }));
  return server;
});`,
  ],
]);

prepare();
after(() => rmSync(FOLDER, { recursive: true, force: true }));

/** The package as npm has it, but for the types, in the node_modules of a project. */
function prepare(): void {
  const home = join(FOLDER, "node_modules/@mcp/stdio");
  rmSync(FOLDER, { recursive: true, force: true });
  execFileSync(process.execPath, [".ci/bundle.mjs", home], { cwd: ROOT, stdio: "inherit" });
  const { name, type, exports, sideEffects } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const toScript = (path: string) => path.replace(/^\.\/cli\./, "./program/cli.").replace(/\.ts$/, ".js");
  writeFileSync(
    join(home, "package.json"),
    JSON.stringify({
      name,
      type,
      exports: Object.fromEntries(
        Object.entries<string>(exports).map(([key, path]) => [key, toScript(path)]),
      ),
      sideEffects: sideEffects.map(toScript),
    }),
  );
  mkdirSync(join(FOLDER, "src"));
  writeFileSync(join(FOLDER, "package.json"), '{"type":"module"}');
  writeFileSync(join(FOLDER, "src/prints.mjs"), 'console.log("printed while it is loaded");');
  for (const [index, code] of [...PROGRAMS.values()].entries()) {
    writeFileSync(join(FOLDER, `src/${index}.mjs`), code);
  }
}

for (const [bundler, { runtimes }] of BUNDLERS) {
  for (const [index, program] of [...PROGRAMS.keys()].entries()) {
    const isWhole = IS_FULL || bundler === "rollup";
    if (index > 0 && !isWhole) continue;
    test(`${program} runs when ${bundler} has bundled it (XF6)`, { timeout: 300_000 }, async (t) => {
      const name = `${bundler.replaceAll(/\W+/g, "_")}_${index}`;
      const folder = join(FOLDER, "out", name);
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const file = await bundleInto(bundler, join(FOLDER, `src/${index}.mjs`), folder);
      if (runtimes.length === 0) return await callTools([file]);
      for (const runtime of isWhole ? runtimes : runtimes.slice(0, 1)) {
        await t.test(`on ${runtime}`, SLOW, () => callTools([...COMMANDS[runtime], file]));
      }
    });
  }
}

// From JSR come the sources themselves, which load what they need when they need it.
test("rollup makes one file of the sources that runs without await, and with it says what to do (XF6)", {
  timeout: 300_000,
}, async (t) => {
  const folder = join(FOLDER, "of_sources");
  mkdirSync(join(folder, "node_modules/@mcp"), { recursive: true });
  symlinkSync(join(ROOT, "build"), join(folder, "node_modules/@mcp/stdio"), "junction");
  const bundle = (name: string, code: string) => {
    writeFileSync(join(folder, `${name}.mjs`), code);
    return bundleInto("rollup", join(folder, `${name}.mjs`), join(folder, name));
  };
  const runs = await bundle("runs", README_SERVER.replace("await serve", "serve"));
  for (const [runtime, command] of Object.entries(COMMANDS)) {
    await t.test(`on ${runtime}`, SLOW, () => callTools([...command, runs]));
  }
  const waits = await bundle("waits", README_SERVER);
  const { stderr, status } = spawnSync(process.execPath, [waits], { encoding: "utf8", input: "" });
  assert.match(
    stderr,
    /a bundler has put it behind the program's own top-level await; have it make chunks, or call serve\(\) without await/,
  );
  assert.notEqual(status, 0);
});

/** Calls a tool in both eras, also with arguments that only the validator can tell about. */
async function callTools([command, ...args]: readonly string[]): Promise<void> {
  for (const era of ["modern", "legacy"] as const) {
    const stray: string[] = [];
    const client = await spawn({
      command: command!,
      args,
      era,
      ...UNHURRIED,
      stderr: "capture",
      logger: silentLogger,
      onStrayOutput: (line) => void stray.push(String(line)),
    });
    const call = (city: unknown) =>
      client.request("tools/call", { name: "get-forecast", arguments: { city } as Record<string, string> });
    assert.deepEqual((await call("Rome")).content, [{ type: "text", text: "Sunny in Rome." }]);
    const wrong = await call(7).catch((error: unknown) => error);
    const text = wrong instanceof ProtocolError ? wrong.message : JSON.stringify(wrong);
    assert.match(text, /city/);
    assert.match(text, /string/);
    assert.deepEqual(stray, []);
    const { exit } = await client.close();
    assert.deepEqual(exit, { code: 0 });
  }
}
