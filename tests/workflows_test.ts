// The workflows name what there is: tasks, the Deno that `npm test` takes, and all runtimes and systems.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./_sources.ts";

const FOLDER = join(ROOT, ".github/workflows");
const files = readdirSync(FOLDER);
const texts = files.map((file) => readFileSync(join(FOLDER, file), "utf8"));
const all = texts.join("\n");

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

test("Each task of a workflow is one of deno.json", () => {
  const { tasks } = JSON.parse(read("deno.json"));
  const listed = /task: \[(.*)\]/.exec(all)?.[1]?.split(",").map((name) => name.trim().replaceAll('"', "")) ??
    [];
  const run = [...all.matchAll(/deno task ([\w:]+)/g)].map(([, name]) => name!);
  assert.ok(run.length > 5 && listed.length > 3);
  assert.deepEqual([...run, ...listed].filter((name) => !Object.hasOwn(tasks, name)), []);
});

test("The workflows take the Deno that npm test takes", () => {
  const [, version = ""] = /deno@([\d.]+) task test/.exec(read("package.json")) ?? [];
  const named = [...all.matchAll(/deno-version: (\S+)/g)].map(([, name]) => name);
  assert.ok(named.length > 4);
  assert.deepEqual(new Set(named), new Set([version]));
});

test("The tests run on three systems and on the oldest Node that is promised", () => {
  const { engines } = JSON.parse(read("package.json"));
  const [, oldest = ""] = /^>=(\d+)$/.exec(engines.node) ?? [];
  assert.match(all, /os: \[ubuntu-latest, macos-latest, windows-latest\]/);
  assert.match(all, new RegExp(`node: \\[${oldest}, \\d+\\]`));
});

test("A workflow may write nothing, but for the statement of where a version was built", () => {
  for (const [index, text] of texts.entries()) {
    assert.match(text, /^permissions:\n {2}contents: read$/m, files[index]);
    const rights = [...text.matchAll(/^ +([\w-]+): write$/gm)].map(([, right]) => right);
    assert.deepEqual(rights, files[index] === "publish.yml" ? ["id-token", "id-token"] : [], files[index]);
    assert.doesNotMatch(text, /secrets\./, files[index]);
  }
});
