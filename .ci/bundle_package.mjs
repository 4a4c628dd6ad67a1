// Makes the tarball that `deno pack` has made, build/mcp-stdio.tgz if none is given, what npm is to have: bundles in place of
// the modules, one file where there were dozens, since Node takes a millisecond to load each; and what package.json says of
// the module. The types stay as they are. What a bundle exports must be what its module did.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [TARBALL = "build/mcp-stdio.tgz", BUNDLE = "build/bundle"] = process.argv.slice(2);
const FOLDER = join(dirname(TARBALL), "package");
const PROGRAM = "./program/cli.js";
/** The repository, where a workflow publishes from it; npm asks that the package names the same. */
const { GITHUB_REPOSITORY } = process.env;

rmSync(FOLDER, { recursive: true, force: true });
execFileSync("tar", ["xzf", TARBALL, "-C", dirname(TARBALL)]);
const packed = readJson(join(FOLDER, "package.json"));
const before = await namesOf(FOLDER);
packed.exports["./cli"] = { ...packed.exports["./cli"], import: PROGRAM, default: PROGRAM };

for (const file of readdirSync(FOLDER, { recursive: true, encoding: "utf8" })) {
  if (file.endsWith(".js")) rmSync(join(FOLDER, file));
}
cpSync(BUNDLE, FOLDER, { recursive: true });
assert.deepEqual(await namesOf(BUNDLE), before);

const described = describe(readJson("package.json"));
writeFileSync(join(FOLDER, "package.json"), `${JSON.stringify(described, undefined, 2)}\n`);
writeFileSync(join(FOLDER, "README.md"), withWholeLinks(readFileSync("README.md", "utf8")));
writeFileSync(join(FOLDER, "THIRD-PARTY.md"), licenceOfValidator());
const version = execFileSync(process.execPath, [join(FOLDER, PROGRAM), "--version"], { encoding: "utf8" });
assert.equal(version, `${described.version}\n`);
execFileSync("tar", ["czf", TARBALL, "-C", dirname(TARBALL), "package"]);
rmSync(FOLDER, { recursive: true });
process.stdout.write(`${TARBALL} has ${Object.keys(before).length} bundled entries\n`);

/** What `deno pack` knows, and what the repository's own package.json says. The validator is part of the bundles. */
function describe({ description, keywords, license, repository, engines, sideEffects, bin }) {
  const { dependencies: { "@cfworker/json-schema": _, ...dependencies }, ...rest } = packed;
  assert.deepEqual(dependencies, {}, "a dependency is neither bundled nor declared");
  const url = GITHUB_REPOSITORY === undefined
    ? repository.url
    : `git+https://github.com/${GITHUB_REPOSITORY}.git`;
  const page = toPage(url);
  const { name, version, ...others } = rest;
  return {
    name,
    version,
    description,
    keywords,
    license,
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
    repository: { ...repository, url },
    engines,
    ...others,
    sideEffects: sideEffects.map(toScript),
    bin: Object.fromEntries(Object.entries(bin).map(([command, path]) => [command, toScript(path)])),
  };
}

/** Links into the repository lead nowhere in a package. */
function withWholeLinks(readme) {
  const page = toPage(described.repository.url);
  const raw = page.replace("//github.com/", "//raw.githubusercontent.com/");
  return readme
    .replaceAll(/(!\[[^\]]*\]\()(?!https?:|#)([^)]+)\)/g, `$1${raw}/HEAD/$2)`)
    .replaceAll(/((?<!!)\[[^\]]*\]\()(?!https?:|#)([^)]+)\)/g, `$1${page}/blob/HEAD/$2)`);
}

function licenceOfValidator() {
  const { name, version, license, author } = readJson("node_modules/@cfworker/json-schema/package.json");
  const holder = typeof author === "string" ? author : author?.name;
  return `The bundles contain ${name} ${version} of ${holder}, under the ${license} license, whose text is that of LICENSE.\n`;
}

function toPage(url) {
  return url.replace(/^git\+/, "").replace(/\.git$/, "");
}

function toScript(path) {
  return path === "./cli.ts" ? PROGRAM : path.replace(/\.ts$/, ".js");
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

async function namesOf(folder) {
  const modules = Object.entries(packed.exports).map(async ([name, { default: path }]) => [
    name,
    Object.keys(await import(pathToFileURL(resolve(folder, path)))).sort(),
  ]);
  return Object.fromEntries(await Promise.all(modules));
}
