// Puts the bundles in build/bundle in place of the modules of the npm tarball, one file where there were dozens: Node
// takes a millisecond to load each. The types stay as they are. What a bundle exports must be what its module did. The program
// has bundles of its own, so that it does not cut those of the library into more pieces.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const TARBALL = "build/mcp-stdio.tgz";
const FOLDER = "build/package";
const PROGRAM = "./program/cli.js";

rmSync(FOLDER, { recursive: true, force: true });
execFileSync("tar", ["xzf", TARBALL, "-C", "build"]);
const manifest = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
const before = await namesOf(FOLDER);
manifest.exports["./cli"] = { ...manifest.exports["./cli"], import: PROGRAM, default: PROGRAM };
manifest.bin = { "mcp-stdio": PROGRAM };

for (const file of readdirSync(FOLDER, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".js")) rmSync(join(FOLDER, file));
}
cpSync("build/bundle", FOLDER, { recursive: true });
writeFileSync(join(FOLDER, "package.json"), JSON.stringify(manifest, undefined, 2));
assert.deepEqual(await namesOf("build/bundle"), before);
assert.equal(
  execFileSync("node", [join(FOLDER, PROGRAM), "--version"], { encoding: "utf8" }),
  `${manifest.version}\n`,
);
execFileSync("tar", ["czf", TARBALL, "-C", "build", "package"]);
rmSync(FOLDER, { recursive: true });
process.stdout.write(`${TARBALL} has ${Object.keys(before).length} bundled entries\n`);

async function namesOf(folder) {
  const modules = Object.entries(manifest.exports).map(async ([name, { default: path }]) => [
    name,
    Object.keys(await import(pathToFileURL(resolve(folder, path)))).sort(),
  ]);
  return Object.fromEntries(await Promise.all(modules));
}
