// Puts the bundles in build/bundle in place of the modules of the npm tarball, one file where there were dozens: Node
// takes a millisecond to load each. The types stay as they are. What a bundle exports must be what its module did.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const TARBALL = "build/mcp-stdio.tgz";
const FOLDER = "build/package";

rmSync(FOLDER, { recursive: true, force: true });
execFileSync("tar", ["xzf", TARBALL, "-C", "build"]);
const { exports } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
const entries = Object.values(exports).map(({ default: path }) => path);
const before = await namesOf(FOLDER);

for (const file of readdirSync(FOLDER, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".js")) rmSync(join(FOLDER, file));
}
cpSync("build/bundle", FOLDER, { recursive: true });
assert.deepEqual(await namesOf("build/bundle"), before);
execFileSync("tar", ["czf", TARBALL, "-C", "build", "package"]);
rmSync(FOLDER, { recursive: true });
process.stdout.write(`${TARBALL} has ${entries.length} bundled entries\n`);

async function namesOf(folder) {
  const modules = entries.map(async (path) => [
    path,
    Object.keys(await import(pathToFileURL(resolve(folder, path)))).sort(),
  ]);
  return Object.fromEntries(await Promise.all(modules));
}
