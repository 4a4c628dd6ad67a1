// The sources of the library, read as text by the tests of its structure.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT: string = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The files of ours that a file imports, as paths from the root. */
export function importsOf(file: string): string[] {
  return [...readCode(file).matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path]) =>
    resolve(file, path!)
  );
}

/** Those that are loaded with it: not its types, nor what it loads when it comes to that. */
export function loadedWith(file: string): string[] {
  const statements = readCode(file).matchAll(
    /^(?:import|export)\s+(type\s)?([^;"]*?)\s*from\s*"(\.[^"]+)"/gm,
  );
  return [...statements]
    .filter(([, isType, names]) => isType === undefined && !namesOnlyTypes(names!))
    .map(([, , , path]) => resolve(file, path!));
}

/** A file's text without comments, in which everything may be named. */
export function readCode(file: string): string {
  return readFileSync(join(ROOT, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
}

/** All files, as paths from the root. */
export function listSources(): string[] {
  const roots = readdirSync(ROOT).filter((name) => name.endsWith(".ts"));
  const internals = readdirSync(join(ROOT, "internal"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `internal/${name.replaceAll("\\", "/")}`);
  return [...roots, ...internals];
}

function namesOnlyTypes(names: string): boolean {
  const list = /^\{([\s\S]*)\}$/.exec(names)?.[1]?.split(",").map((name) => name.trim()).filter(Boolean);
  return list !== undefined && list.every((name) => name.startsWith("type "));
}

function resolve(file: string, path: string): string {
  return relative(ROOT, join(ROOT, dirname(file), path)).replaceAll("\\", "/");
}

/** The folder with deno.json: the sources are looked at, also when a test runs from the build. */
function findRoot(folder: string): string {
  try {
    readFileSync(join(folder, "deno.json"));
    return folder;
  } catch {
    return findRoot(dirname(folder));
  }
}
