// The npm package as it is published: what linters of packages say, what it tells about itself, and that it can be used.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { VERSION } from "../../internal/version.ts";
import { readPages, sourceOf } from "../docs_pages.ts";
import { findOnPath, ROOT } from "./harness.ts";

const FOLDER = join(ROOT, "build/package_test");
const TARBALL = join(FOLDER, "mcp-stdio.tgz");
const PROJECT = join(FOLDER, "project");
const LONG = { timeout: 300_000 } as const;
const DENO = process.env["DENO_PATH"] ?? findOnPath("deno");

function run(command: string, args: readonly string[], cwd = ROOT): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** What a line of a shell prints to stdout, whatever it ends with; `deno` is found. */
function runLine(line: string, cwd: string): string {
  const PATH = [dirname(DENO!), process.env["PATH"]].join(delimiter);
  const { stdout } = spawnSync(line, { cwd, shell: true, encoding: "utf8", env: { ...process.env, PATH } });
  return stdout;
}

/** What the file of a package says, without any look at its types. */
// deno-lint-ignore no-explicit-any
function readJson(path: string): any {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** The files that are loaded with one. */
function loadedWith(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?["'](\.[^"']+)["']/g)) {
    loadedWith(join(dirname(file), path!), loaded);
  }
  return loaded;
}

after(() => rmSync(FOLDER, { recursive: true, force: true }));

test("deno task pack makes a tarball that npm installs", { ...LONG, skip: DENO === undefined }, async (t) => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(PROJECT, { recursive: true });
  execFileSync(DENO!, ["pack", "--quiet", "--allow-dirty", "--no-source-maps", "-o", TARBALL], {
    cwd: ROOT,
    stdio: "ignore",
  });
  const bundle = join(FOLDER, "bundle");
  run(process.execPath, [".ci/bundle.mjs", bundle]);
  run(process.execPath, [".ci/bundle_package.mjs", TARBALL, bundle]);
  writeFileSync(join(PROJECT, "package.json"), '{"private":true,"type":"module"}');
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--no-package-lock", TARBALL], PROJECT);
  const installed = join(PROJECT, "node_modules/@mcp/stdio");
  const described = readJson(join(installed, "package.json"));

  await t.test("It tells what it is, whence it is, and what it needs (XF18)", () => {
    assert.equal(described.version, VERSION);
    assert.equal(described.version, readJson(join(ROOT, "deno.json")).version);
    assert.ok(described.description.length > 40);
    assert.ok(described.keywords.includes("mcp"));
    assert.equal(described.license, "MIT");
    assert.match(described.repository.url, /^git\+https:\/\/github\.com\/.*\.git$/);
    assert.match(described.homepage, /^https:\/\/github\.com\//);
    assert.match(described.bugs, /^https:\/\/github\.com\//);
    assert.deepEqual(described.engines, { node: ">=20" });
    assert.deepEqual(described.sideEffects, ["./stdout_guard.js", "./program/cli.js"]);
    assert.equal(described.dependencies, undefined);
    assert.deepEqual(Object.keys(described.exports), Object.keys(readJson(join(ROOT, "deno.json")).exports));
  });

  await t.test("Its README has no link that leads nowhere (XF18)", () => {
    const links = [...readFileSync(join(installed, "README.md"), "utf8").matchAll(/\]\(([^)]+)\)/g)];
    assert.ok(links.length > 3);
    for (const [, link = ""] of links) {
      assert.match(link, /^https:|^#/, link);
      const file = /\/main\/([^#]+)/.exec(link)?.[1];
      assert.ok(file === undefined || existsSync(join(ROOT, file)), `there is no ${file}`);
    }
  });

  await t.test("The licenses of what is in it are there", () => {
    assert.ok(existsSync(join(installed, "LICENSE")));
    assert.match(readFileSync(join(installed, "THIRD-PARTY.md"), "utf8"), /@cfworker\/json-schema .* MIT/);
  });

  await t.test("Its command line runs (XF18)", () => {
    const said = run(join(PROJECT, "node_modules/.bin/mcp-stdio"), ["--version"], PROJECT);
    assert.match(said, new RegExp(`\\b${VERSION.replaceAll(".", "\\.")}\\b`));
  });

  await t.test("A server and a client are three files each, of which they share one: each file takes a part of a start", () => {
    const [server, client] = ["server.js", "client.js"].map((file) => loadedWith(join(installed, file)));
    assert.equal(server!.size, 3);
    assert.equal(client!.size, 3);
    assert.equal([...server!].filter((file) => client!.has(file)).length, 1);
  });

  await t.test("Its modules load, each by its name, on each runtime", () => {
    const names = Object.keys(described.exports).map((path) => path.replace(/^\./, "@mcp/stdio"))
      // This one diverts what the program says.
      .filter((name) => !name.endsWith("/stdout-guard"));
    const code = names.map((name, index) => `import * as m${index} from "${name}";`).join("\n") +
      `\nconsole.log([${names.map((_, index) => `Object.keys(m${index}).length`)}].join());`;
    writeFileSync(join(PROJECT, "loads.mjs"), code);
    const said = [
      run(process.execPath, ["loads.mjs"], PROJECT),
      run(DENO!, ["run", "--quiet", "loads.mjs"], PROJECT),
      run(join(ROOT, "node_modules/.bin/bun"), ["loads.mjs"], PROJECT),
    ];
    assert.deepEqual(new Set(said).size, 1, said.join());
  });

  await t.test("Who follows docs/first-server.md gets a server that is called, tested and in a host", () => {
    const folder = join(PROJECT, "newcomer");
    mkdirSync(folder, { recursive: true });
    const { blocks } = readPages().find(({ path }) => path === "docs/first-server.md")!;
    // In the order of the page: later blocks replace files of earlier ones.
    const said: string[] = [];
    for (const block of blocks) {
      const { file } = sourceOf(block) ?? {};
      if (file !== undefined) writeFileSync(join(folder, basename(file)), block.body);
      const host = block.attributes.get("file");
      if (host !== undefined) writeFileSync(join(folder, host), block.body.replaceAll("/home/me", folder));
      if (block.language !== "sh") continue;
      for (const line of block.body.trim().split("\n")) {
        if (!line.startsWith("npx @mcp/stdio ")) continue;
        said.push(runLine(line.replace("npx ", "npx --offline "), folder));
      }
    }
    assert.equal(said.length, 5);
    assert.match(said[0]!, /get-forecast city[^]*forecast:\/\/cities[^]*plan-a-day city/);
    assert.equal(said[1], "Sunny in Oslo.\n");
    assert.match(said[2]!, /^Invalid arguments: city: must be string/);
    assert.match(said[3]!, /\d+ passed, 0 failed/);
    assert.match(said[4]!, /get-forecast city/);
    run(DENO!, ["test", "--quiet", "--no-check"], folder);
    execFileSync(join(ROOT, "node_modules/.bin/bun"), ["test", "./forecast_test.ts"], {
      cwd: folder,
      stdio: "ignore",
    });
  });

  await t.test("Its types are whole: strict programs compile without skipping any", () => {
    writeFileSync(join(PROJECT, "uses.ts"), USES);
    writeFileSync(
      join(PROJECT, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
          ...{ target: "es2022", lib: ["es2023", "esnext.disposable"], module: "nodenext" },
          ...{ typeRoots: [join(ROOT, "node_modules/@types")], types: ["node"] },
        },
        files: ["uses.ts"],
      }),
    );
    run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."], PROJECT);
  });

  await t.test("publint finds nothing", async () => {
    // Bundled types of a linter are of no use here.
    const name = "publint";
    const { publint } = await import(name);
    const { messages } = await publint({ pkgDir: installed, strict: true });
    assert.deepEqual(messages, []);
  });

  await t.test("@arethetypeswrong/cli finds nothing but that it has ES modules only", () => {
    const attw = join(ROOT, "node_modules/.bin/attw");
    const { problems } = JSON.parse(run(attw, ["--profile", "esm-only", "--format", "json", TARBALL]));
    const kinds = Object.keys(problems ?? {});
    assert.deepEqual(kinds.filter((kind) => !["CJSResolvesToESM", "NoResolution"].includes(kind)), []);
  });
});

const USES = `import { serve, spawn, Server, Client } from "@mcp/stdio";
import { type HostConfig, launchAll, readHostConfig, resolveLaunch } from "@mcp/stdio/host-config";
import { StdioServerTransport } from "@mcp/stdio/sdk-transport";
import { createStreamPair } from "@mcp/stdio/testing";
import { HostConfigError } from "@mcp/stdio/errors";

export async function main(): Promise<void> {
  const config: HostConfig = await readHostConfig(".mcp.json");
  for (const server of config.servers) if (server.kind === "stdio") await resolveLaunch(server);
  const outcomes = await launchAll(config, { consent: () => false, launch: (options) => spawn(options) });
  for (const outcome of outcomes) if (outcome.kind === "launched") await outcome.value.close();
  const server = new Server({
    info: { name: "a", version: "1" },
    tools: { add: { inputSchema: { type: "object" }, call: ({ a }) => String(a) } },
  });
  await serve(server);
  console.log(Client, StdioServerTransport, createStreamPair, HostConfigError);
}
`;
