// The docs: each program whose block they show runs here, and prints what they show of it.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { runtimeName } from "../internal/runtime/detect.ts";
import { ROOT } from "./_sources.ts";
import { runCli } from "./cli_helpers.ts";
import { GUIDES, PROGRAMS, SERVERS } from "./docs_examples.ts";
import { type Block, placeOf, readPages } from "./docs_pages.ts";
import {
  canRun,
  closeShell,
  exampleUrl,
  isShownAs,
  openShell,
  runExample,
  runLine,
  type Said,
} from "./docs_programs.ts";
import { createTurns } from "./helpers.ts";
import { SLOW } from "./server_helpers.ts";
import { commandOf } from "./server_processes.ts";

const PAGES = readPages();
const BLOCKS = PAGES.flatMap(({ blocks }) => blocks);
/** What starts a server by `deno` is run where that is found. */
const NEEDS_DENO = ["first_client", "sdk_client"];

for (const name of GUIDES) {
  // One that starts a server could leave it behind, and this process with it.
  const startsProcess = readFileSync(join(ROOT, `examples/${name}.ts`), "utf8").includes("process.execPath");
  test(`examples/${name}.ts does what its page says`, SLOW, async (t) => {
    if (!startsProcess) return void await import(exampleUrl(`examples/${name}`));
    const { code, stderr } = await runExample(t, `examples/${name}`);
    assert.equal(code, 0, stderr);
  });
}

// It has a test of its own, which is one of this file from here on.
await import(exampleUrl("examples/tested/forecast_test"));

for (const name of PROGRAMS) {
  const needsDeno = NEEDS_DENO.includes(name) && !hasDeno();
  const skip = needsDeno ? "it starts its server by deno, which is not here" : false;
  test(`examples/${name}.ts prints what is shown of it`, { ...SLOW, skip }, async (t) => {
    const said = await runExample(t, `examples/${name}`, { cwd: join(ROOT, "examples") });
    assert.equal(said.code, 0, said.stderr);
    for (const block of BLOCKS.filter(({ attributes }) => attributes.get("output") === name)) {
      assertShown(said, block);
    }
  });
}

for (const [name, { args, gives }] of Object.entries(SERVERS)) {
  test(`examples/${name}.ts answers`, SLOW, async () => {
    const { code, stdout, stderr } = await runCli([...args, "--", ...commandOf(`examples/${name}`)]);
    assert.equal(code, 0, stderr);
    assert.match(stdout.trim(), gives);
  });
}

const hasSqlite = await import("node:sqlite").then(() => true, () => false);
test("examples/notes_server.ts keeps notes from one start to the next", {
  ...SLOW,
  skip: hasSqlite ? false : "this runtime has no node:sqlite: Node has it from 22.13 on",
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "notes-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = ["--", ...commandOf("examples/notes_server", [join(folder, "notes.db")])];
  const added = await runCli(["call", "add-note", "text=buy salmon", ...server]);
  assert.match(added.stdout, /note:\/\/1/, added.stderr);
  const found = await runCli(["call", "find-notes", "text=salmon", "--json", ...server]);
  assert.deepEqual(found.json().structuredContent, { notes: [{ id: 1, text: "buy salmon" }] });
  const read = await runCli(["read", "note://1", ...server]);
  assert.equal(read.stdout, "buy salmon\n");
  const missing = await runCli(["read", "note://2", ...server]);
  assert.match(missing.stderr, /There is no note 2/);
});

const inTurn = createTurns();
for (const page of PAGES) {
  // Later lines of a page use what earlier ones have written: a whole page has its turn.
  const skip = inTurn();
  const shell = openShell(page.blocks.find(({ attributes }) => attributes.has("file")));
  after(() => closeShell(shell));
  for (const [index, block] of page.blocks.entries()) {
    if (block.attributes.get("output") !== "") continue;
    test(`${placeOf(block)}: the commands above print that`, { ...SLOW, skip }, async (t) => {
      const commands = page.blocks.slice(0, index).findLast(({ language }) => language === "sh");
      const lines = commands?.body.trim().split("\n").filter((line) => canRun(line)) ?? [];
      assert.ok(lines.length > 0, "there is no command that can be run");
      const wantsStderr = block.attributes.get("stream") === "stderr";
      const said = { stdout: "", stderr: "" };
      for (const line of lines) {
        const { stdout, stderr } = await runLine(t, line, shell, { wantsStderr });
        said.stdout += stdout;
        said.stderr += stderr;
      }
      assertShown(said, block);
    });
  }
}

function assertShown(said: Pick<Said, "stdout" | "stderr">, block: Block): void {
  const text = block.attributes.get("stream") === "stderr" ? said.stderr : said.stdout;
  assert.ok(
    isShownAs(text, block.body),
    `${placeOf(block)} shows\n${block.body}\nbut it is\n${text}\n${said.stderr}`,
  );
}

function hasDeno(): boolean {
  if (runtimeName() === "deno") return true;
  const folders = (process.env["PATH"] ?? "").split(process.platform === "win32" ? ";" : ":");
  return folders.some((folder) => ["deno", "deno.exe"].some((name) => existsSync(join(folder, name))));
}
