// The main module has every public name, but for those of the test tools.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

const DECLARATION = /^export (?:abstract |async )?(?:class|const|function|interface|type) (\w+)/gm;
const LIST = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?/gm;
const ALL = /^export \* from "\.\/([^"]+)"/gm;

test("mod.ts exports every name of every public module but testing.ts", () => {
  const given = namesOf("mod.ts");
  const modules = readdirSync(ROOT).filter((file) => /^\w+\.ts$/.test(file));
  assert.ok(modules.length > 12 && given.size > 100, `${modules.length} modules, ${given.size} names`);
  const missing = modules.filter((file) => file !== "mod.ts" && file !== "testing.ts").flatMap((file) =>
    [...namesOf(file)].filter((name) => !given.has(name)).map((name) => `${file}: ${name}`)
  );
  assert.deepEqual(missing, []);
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

/** The sources also when this runs as JavaScript, from the folder that is built. */
function findRoot(folder: string): string {
  return existsSync(join(folder, "deno.json")) ? folder : findRoot(dirname(folder));
}
