// The docs as they are written: each block comes from a file that runs, each link leads somewhere, each name is there. That the
// programs behind the blocks do what is shown of them is for docs_runs_test.ts.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { parseHostConfig } from "../host_config.ts";
import { parseArguments } from "../internal/cli/arguments.ts";
import { COMMANDS } from "../internal/cli/commands.ts";
import { COMMON_OPTIONS, optionsOf } from "../internal/cli/help.ts";
import { listSources, readCode, ROOT } from "./_sources.ts";
import { EXAMPLES, GUIDES, PROGRAMS, SERVERS } from "./docs_examples.ts";
import {
  anchorsOf,
  linksOf,
  type Page,
  placeOf,
  readOtherPages,
  readPages,
  rewrite,
  sourceOf,
} from "./docs_pages.ts";
import { cliWordsOf, wordsOf } from "./docs_programs.ts";

/** Examples that another test file runs. */
const RUN_ELSEWHERE: { readonly [name: string]: string } = {
  "command_line": "cli_example_test.ts",
  "everything_server": "server_load_test.ts",
  "host": "host_example_test.ts",
  "small_host": "host_example_test.ts",
  "plain_schema_server": "server_examples_test.ts",
  "weather_server": "server_examples_test.ts",
  "zod_server": "server_examples_test.ts",
  "live_resource_server": "server_examples_test.ts",
  "notes_server": "docs_runs_test.ts",
  "tested/forecast_test": "docs_runs_test.ts",
};

/** Servers that the programs of {@linkcode PROGRAMS} start, and modules that the tests of `tested/` load. */
const RUN_BY_PROGRAMS = ["forecast", "ask_server", "tested/options"];

const PAGES = readPages();
const BLOCKS = PAGES.flatMap(({ blocks }) => blocks);

test("each block of TypeScript comes from a file, as that is: else run deno task docs", () => {
  const lost = BLOCKS.filter((block) => /^(?:ts|js|typescript|javascript)$/.test(block.language))
    .filter((block) => sourceOf(block) === undefined).map(placeOf);
  assert.deepEqual(lost, []);
  const told = BLOCKS.filter(({ language }) => language === "ts").filter(({ attributes }) =>
    !attributes.has("ignore")
  );
  assert.deepEqual(told.map(placeOf), [], "deno test --doc would run it without what stands around it");
  for (const page of PAGES) assert.equal(page.text, rewrite(page), page.path);
});

test("each example that is shown, and every other one, is run by a test", () => {
  const shown = BLOCKS.flatMap((block) => sourceOf(block)?.file ?? []).filter((file) => file.endsWith(".ts"));
  assert.ok(shown.length > 20, `${shown.length} blocks`);
  assert.deepEqual(shown.filter((file) => !file.startsWith("examples/")), []);
  const run = [
    ...PROGRAMS,
    ...Object.keys(SERVERS),
    ...RUN_BY_PROGRAMS,
    ...GUIDES,
    ...Object.keys(RUN_ELSEWHERE),
  ];
  assert.deepEqual(EXAMPLES.filter((name) => !run.includes(name)), []);
  for (const [name, file] of Object.entries(RUN_ELSEWHERE)) {
    const text = readFileSync(join(ROOT, "tests", file), "utf8");
    assert.ok(text.includes(`examples/${name}`), `${file} does not run examples/${name}`);
  }
});

test("no example casts", () => {
  for (const name of EXAMPLES) {
    const code = readFileSync(join(ROOT, `examples/${name}.ts`), "utf8").replaceAll(
      /^import .*$|\/\/.*$/gm,
      "",
    );
    const outside = code.replaceAll(/"(?:[^"\\]|\\.)*"|'[^'\n]*'/g, '""');
    assert.doesNotMatch(
      outside,
      /\bas (?:[A-Z{(]|unknown|any|string|number|never|typeof)|<any>|: any\b|@ts-/,
      name,
    );
  }
});

test("no example of a server loads node:process before a tool needs it: that takes a quarter of a start on Deno", () => {
  const codeOf = (name: string): string => readCode(`examples/${name}.ts`);
  const servers = EXAMPLES.filter((name) => /\bserve\(/.test(codeOf(name)));
  assert.ok(servers.length >= 8, `${servers.length} servers`);
  const loading = servers.filter((name) => /^import\s[^;]*"node:process"/m.test(codeOf(name)))
    // What it is started with has to be read before it serves.
    .filter((name) => !/\bprocess\.argv\b/.test(codeOf(name)));
  assert.deepEqual(loading, []);
});

test("each example is in the index of the examples", () => {
  const index = PAGES.find(({ path }) => path === "examples/README.md")?.text ?? "";
  const missing = EXAMPLES.filter((name) => !name.startsWith("guides/")).filter((name) =>
    !index.includes(`(${name}.ts)`)
  );
  assert.deepEqual(missing, []);
});

test("each page is in docs/README.md, begins with a sentence, says where to read on, and is not too long", () => {
  const index = PAGES.find(({ path }) => path === "docs/README.md")?.text ?? "";
  for (const { path } of PAGES.filter(({ path }) => path.startsWith("docs/") && path !== "docs/README.md")) {
    assert.ok(index.includes(`(${path.slice("docs/".length)})`), path);
  }
  // These two are looked things up in.
  const read = PAGES.filter(({ path }) =>
    path.startsWith("docs/") && !/README|doctor|troubleshooting/.test(path)
  );
  for (const { path, text } of read) {
    assert.match(text, /^# .+\n\n(?!```)/, `${path} does not begin with a sentence`);
    assert.match(text, /\n## See also\n/, path);
    assert.ok(text.split("\n").length <= 201, `${path} has more than 200 lines`);
  }
});

test("no name or command in a sentence is broken over two lines, where it could not be found or copied", () => {
  const broken = [...PAGES, ...readOtherPages()].flatMap(({ path, text }) =>
    text.replaceAll(/^```[^]*?^```$/gm, "").split("\n\n").flatMap((paragraph) =>
      (paragraph.match(/`[^`]+`/g) ?? []).filter((code) => code.includes("\n")).map((code) =>
        `${path}: ${code}`
      )
    )
  );
  assert.deepEqual(broken, []);
});

test("each link and anchor leads somewhere", () => {
  const all = [...PAGES, ...readOtherPages()];
  const byPath = new Map(all.map((page) => [page.path, page]));
  const broken = all.flatMap((page) =>
    linksOf(page).filter(({ file, anchor }) => !leadsSomewhere(file, anchor, byPath))
      .map(({ line, written }) => `${page.path}:${line}: ${written}`)
  );
  assert.deepEqual(broken, []);
});

function leadsSomewhere(
  file: string,
  anchor: string | undefined,
  byPath: ReadonlyMap<string, Page>,
): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  if (anchor === undefined) return true;
  const page = byPath.get(file);
  return page === undefined ? /^L\d+/.test(anchor) : anchorsOf(page).includes(anchor);
}

test("each link of a public comment leads somewhere", () => {
  const pages = [...PAGES, ...readOtherPages()];
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const links = listSources().filter((name) => !name.includes("/")).flatMap((path) =>
    linksOf({ path, text: readFileSync(join(ROOT, path), "utf8"), blocks: [] })
      .filter(({ written }) => written.startsWith("https:")).map((link) => ({ path, ...link }))
  );
  assert.ok(links.length > 2, `${links.length} links`);
  const broken = links.filter(({ file, anchor }) => !leadsSomewhere(file, anchor, byPath));
  assert.deepEqual(broken, []);
});

test("each file that is named to those who carry on is there", () => {
  const named = ["CONTRIBUTING.md", "SECURITY.md", "docs/internals.md"].flatMap((page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const found = text.matchAll(
      /(?<![\w/.-])(?:(?:internal|tests|examples|docs|bench|\.ci|\.github)\/[\w./-]*|\w+\.ts\b)/g,
    );
    return [...found].map(([name]) => ({ page, name }));
  });
  assert.ok(named.length > 80, `${named.length} files`);
  // A name without its folder stands behind another of that folder.
  const names = new Set(
    [...listSources(), ...EXAMPLES.map((name) => `${name}.ts`)].map((path) => basename(path)),
  );
  const lost = named.filter(({ name }) =>
    name.includes("/") ? !existsSync(join(ROOT, name)) : !names.has(name)
  );
  assert.deepEqual(lost, []);
});

test("README.md has whole links, since npm and JSR show it, and at most 130 lines", () => {
  const readme = PAGES.find(({ path }) => path === "README.md")!;
  assert.deepEqual(
    linksOf(readme).filter(({ written }) => !written.startsWith("https:") && !written.startsWith("#")),
    [],
  );
  assert.ok(readme.text.trimEnd().split("\n").length <= 130, `${readme.text.split("\n").length} lines`);
});

test("neither a page nor a public comment names a rule by its number (XF15)", () => {
  const files = [
    ...PAGES.map(({ path }) => path),
    ...listSources().filter((name) => !name.startsWith("internal/")),
  ];
  const found = files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const pattern = /\((?:rules?|design|cases?) [A-Z]{1,2}\d+|\b(?:rule|case) [A-Z]\d+/g;
    return [...text.matchAll(pattern)].map(([words]) => `${file}: ${words}`);
  });
  assert.deepEqual(found, []);
});

test("what people begin with has an example in its doc comment", () => {
  const whole = [
    "client.ts",
    "server.ts",
    "host_config.ts",
    "sdk_transport.ts",
    "framing.ts",
    "cli.ts",
  ];
  const lacking = whole.flatMap((file) => {
    const found = readFileSync(join(ROOT, file), "utf8").matchAll(
      /(\/\*\*(?:(?!\*\/)[^])*\*\/)\s*export (?:async )?(?:function|class) (\w+)/g,
    );
    return [...found].filter(([, comment]) => !comment!.includes("@example")).map(([, , name]) =>
      `${file}: ${name}`
    );
  });
  // A member is looked for by the code behind its comment.
  const members: ReadonlyArray<readonly [string, string]> = [
    ["client.ts", "request<Method extends MethodWithoutParams>("],
    ["client.ts", "callTool("],
    ["client.ts", "listen("],
    ["server_process.ts", "export async function spawnServer"],
    ["server.ts", "addTool<"],
    ["server.ts", "publish("],
    ["client_options.ts", "inputHandlers?:"],
    ["schema.ts", "export interface RequestContext"],
    ["schema.ts", "export interface ToolDefinition"],
    ["schema.ts", "export interface ResourceDefinition"],
    ["schema.ts", "export interface PromptDefinition"],
    ["schema.ts", "export function defineTool"],
    ["outputs.ts", "export interface InputRequiredResult"],
    ["internal/server/input_required.ts", "export const inputRequired"],
    ["errors.ts", "export class ProtocolError"],
    ["errors.ts", "export class StdioError"],
    ["testing.ts", "export function createStreamPair"],
    ["testing.ts", "export function createConnectionPair"],
    ["internal/testing/fake_runtime.ts", "export function createFakeRuntime"],
  ];
  for (const [file, code] of members) {
    const text = readFileSync(join(ROOT, file), "utf8");
    const before = text.slice(0, text.indexOf(`\n${text.includes(`\n  ${code}`) ? "  " : ""}${code}`));
    if (!before.slice(before.lastIndexOf("/**")).includes("@example")) lacking.push(`${file}: ${code}`);
  }
  assert.deepEqual(lacking, []);
});

test("each host file that is shown can be read, and its servers started", async () => {
  const shown = BLOCKS.filter(({ language, body }) =>
    language.startsWith("json") && /"(?:mcpServers|servers)"/.test(body)
  );
  assert.ok(shown.length > 2, `${shown.length} files`);
  for (const block of shown) {
    const { servers } = await parseHostConfig(block.body, {
      env: (name) => `value of ${name}`,
      resolveInput: ({ id }) => `answer to ${id}`,
    });
    assert.ok(servers.length > 0, placeOf(block));
    for (const { kind, error } of servers) assert.notEqual(kind, "invalid", `${placeOf(block)}: ${error}`);
  }
});

test("each text that is shown is what a program prints, or is marked as words of the source or as a figure", () => {
  const other = BLOCKS.filter(({ language, attributes }) =>
    language === "text" && !["output", "words", "figure"].some((name) => attributes.has(name))
  );
  assert.deepEqual(other.map(placeOf), []);
});

test("each name that stands in the text of a page is there", () => {
  const known = new Set(listSources().flatMap((file) => readCode(file).match(/[A-Za-z_$][\w$]*/g) ?? []));
  const lost = PAGES.flatMap(({ path, text, blocks }) => {
    const prose = blocks.reduce((rest, { body }) => rest.replace(body, ""), text).replaceAll(/^```.*$/gm, "")
      // What stands on the left there is of others.
      .replaceAll(path.startsWith("docs/from-") ? /^\|[^|]*\|/gm : /$^/g, "|");
    const names = [...prose.matchAll(/`([^`]+)`/g)].flatMap(([, code]) =>
      code!.match(/[A-Za-z_$][\w$]*/g) ?? []
    );
    return names.filter((name) => /[a-z][A-Z]/.test(name) && !known.has(name) && !NAMES_OF_OTHERS.has(name))
      .map((name) => `${path}: ${name}`);
  });
  assert.deepEqual(lost, []);
});

/** Of ssh, Node, runners, the SDK, fastmcp, and of a pattern; what a reader's own program has. */
const NAMES_OF_OTHERS = new Set([
  ...["BatchMode", "LogLevel", "toWeb", "SyntaxError", "afterEach", "zA", "makeServer"],
  ...["McpServer", "McpError", "SdkError", "serveStdio", "canAccess", "streamContent"],
]);

test("each command line of this module's program has a command and options that there are", () => {
  const lines = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ body }) =>
    body.trim().split("\n")
  );
  const inText = PAGES.flatMap(({ text }) => [...text.matchAll(/`((?:npx|bunx) @mcp\/stdio [^`\n]*)`/g)]);
  const written = [...lines, ...inText.map(([, code]) => code!)].map((line) =>
    line.replace(/ +(?:#|>) .*$/, "")
  )
    .map((line) => line.replace(/^deno run -A (?:jsr:@mcp\/stdio\/cli|cli\.ts)/, "npx @mcp/stdio"));
  const own = written.flatMap((line) => {
    const words = wordsOf(line);
    // A recorder may stand before a server, behind a command of its own.
    const starts = [0, words.indexOf("--") + 1];
    return starts.flatMap((at) => {
      const found = cliWordsOf(words.slice(at));
      return found === undefined ? [] : [{ line, words: found }];
    });
  });
  assert.ok(own.length > 25, `${own.length} lines`);
  for (const { line, words: [name, ...rest] } of own) {
    const command = COMMANDS.find((command) => command.name === name);
    assert.ok(command !== undefined, line);
    const { words } = parseArguments(rest, { ...COMMON_OPTIONS, ...optionsOf(command) });
    const [least, most] = command.words;
    // In a text some words stand for others.
    const isWhole = !/ (?:…|[A-Z]{3,})(?: |$)/.test(line);
    if (isWhole) assert.ok(words.length >= least && words.length <= most, line);
  }
});

test("every other block of JSON is JSON", () => {
  for (const block of BLOCKS.filter(({ language }) => language === "json")) JSON.parse(block.body);
});
