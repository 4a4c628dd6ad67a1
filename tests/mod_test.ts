// The main module has every public name, but for those of the test tools and of the command line.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { VERSION } from "../internal/version.ts";
import { listSources, readCode, ROOT } from "./_sources.ts";

const DECLARATION = /^export (?:abstract |async )?(?:class|const|function|interface|type) (\w+)/gm;
const LIST = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?/gm;
const ALL = /^export \* from "\.\/([^"]+)"/gm;

test("mod.ts exports every name of every public module but testing.ts and cli.ts", () => {
  const given = namesOf("mod.ts");
  const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, string> };
  const modules = Object.values(exports).map((path) => path.slice("./".length));
  assert.ok(modules.length > 12 && given.size > 100, `${modules.length} modules, ${given.size} names`);
  const missing = modules.filter((file) => !["mod.ts", "testing.ts", "cli.ts"].includes(file)).flatMap((
    file,
  ) => [...namesOf(file)].filter((name) => !given.has(name)).map((name) => `${file}: ${name}`));
  assert.deepEqual(missing, []);
});

for (const face of ["client", "server", "host_config"]) {
  test(`${face}.ts gives out every option and shape of ${face}_options.ts`, () => {
    const given = namesOf(`${face}.ts`);
    const shapes = [...read(`${face}_options.ts`).matchAll(/^export (?:interface|type) (\w+)/gm)];
    assert.ok(shapes.length > 5);
    assert.deepEqual(shapes.map(([, name]) => name!).filter((name) => !given.has(name)), []);
  });
}

test("The version stands in one place, and deno.json says the same", () => {
  assert.equal(JSON.parse(read("deno.json")).version, VERSION);
  const saying = listSources().filter((file) => readCode(file).includes(`"${VERSION}"`));
  assert.deepEqual(saying, ["internal/version.ts"]);
});

test("mod.ts does no work of its own", () => {
  const statements = read("mod.ts").replace(/\/\*\*[^]*?\*\//g, "").replace(LIST, "").replace(ALL, "");
  assert.equal(statements.replaceAll(";", "").trim(), "");
});

/** What a module exports, its own and what it hands on. */
function namesOf(file: string): Set<string> {
  const text = read(file);
  const names = [...text.matchAll(DECLARATION)].map(([, name]) => name!);
  for (const [, list] of text.matchAll(LIST)) {
    names.push(
      ...list!.split(",").map((item) => item.trim().replace(/^type /, "")).filter((name) => name !== ""),
    );
  }
  for (const [, other] of text.matchAll(ALL)) names.push(...namesOf(other!));
  return new Set(names);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}
