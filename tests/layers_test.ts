// Proves the layers of CONTRIBUTING.md from the import lines: imports go down only, and one folder names runtimes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importsOf, listSources, readCode, ROOT } from "./_sources.ts";

/** Files and folders, as the two lists of CONTRIBUTING.md have them. */
const { rows, neighbours } = readLayers();

/** The two sides, faces and what is behind them. */
const SERVER_SIDE = /^(server(_options)?\.ts|internal\/server\/)/;
const CLIENT_SIDE = /^(client(_options)?\.ts|internal\/client(_setup)?\/)/;

/** Names of runtimes that only `internal/runtime/` may say. */
const RUNTIME_NAMES = /\b(?:Deno|Bun)\.|from "node:|import\("node:|globalThis\.(?:Deno|Bun|process)\b/;
/** The parts of the command line that judge or write down bytes, with nothing of ours between them and a server. */
const RAW_COMMANDS = /^internal\/cli\/(doctor|record|recording|replay)\//;

const files = listSources();

test("every source file has its place in a layer, and every place is there (T6)", () => {
  assert.ok(files.length > 40, `only ${files.length} files were found`);
  assert.deepEqual(files.filter((file) => placeOf(file) === undefined), []);
  const empty = [...rows.keys()].filter((place) => !files.some((file) => isIn(file, place)));
  assert.deepEqual(empty, []);
});

test("imports go down, or to a neighbour that may be known (T6)", () => {
  assert.deepEqual(findImports((file, imported) => !mayImport(placeOf(file)!, placeOf(imported)!)), []);
});

test("every neighbour that may be known is used (T6)", () => {
  const unused = neighbours.filter(([user, used]) =>
    findImports((file, imported) => isIn(file, user) && isIn(imported, used)).length === 0
  );
  assert.deepEqual(unused, []);
});

test("server and client never meet, whatever the rows", () => {
  const meet = (one: RegExp, other: RegExp) =>
    findImports((file, imported) => one.test(file) && other.test(imported));
  assert.deepEqual([...meet(SERVER_SIDE, CLIENT_SIDE), ...meet(CLIENT_SIDE, SERVER_SIDE)], []);
});

test("the cores know Connection and never a stream", () => {
  const streams = files.filter((file) => /^internal\/(client|server)\//.test(file))
    .filter((file) => /ReadableStream|WritableStream|stream_connection/.test(readCode(file)));
  assert.deepEqual(streams, []);
});

test("only internal/runtime/ names a runtime", () => {
  const naming = files.filter((file) => !file.startsWith("internal/runtime/"))
    .filter((file) => RUNTIME_NAMES.test(readCode(file)));
  assert.deepEqual(naming, []);
});

test("the command line is no server, and what looks at bytes is no client of ours either (L2, L4)", () => {
  const isCommand = (file: string) => file.startsWith("internal/cli/");
  assert.deepEqual(findImports((file, imported) => isCommand(file) && SERVER_SIDE.test(imported)), []);
  assert.deepEqual(
    findImports((file, imported) => RAW_COMMANDS.test(file) && CLIENT_SIDE.test(imported)),
    [],
  );
});

test("the library imports no package but the schema validator, and that one lazily", () => {
  const foreign = files.flatMap((file) =>
    [...readCode(file).matchAll(/(?<!")(?:from|import\()\s*"([^".][^"]*)"/g)]
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith("node:"))
      .map((name) => `${file}: ${name}`)
  );
  assert.deepEqual(foreign, ["internal/json_schema/schema_checker.ts: @cfworker/json-schema"]);
  assert.match(readCode("internal/json_schema/schema_checker.ts"), /import\("@cfworker\/json-schema"\)/);
});

test("the source can be stripped: no enum, namespace, parameter property or using", () => {
  const unstrippable = files.filter((file) =>
    /^\s*(?:export )?(?:const )?enum |^\s*(?:export )?namespace |^\s*(?:await )?using |[(,]\s*(?:private|public|protected|readonly)\s+\w+\s*[:?]/m
      .test(readCode(file))
  );
  assert.deepEqual(unstrippable, []);
});

function findImports(isWanted: (file: string, imported: string) => boolean): string[] {
  return files.flatMap((file) =>
    importsOf(file).filter((imported) => isWanted(file, imported)).map((imported) => `${file} -> ${imported}`)
  );
}

function mayImport(place: string, imported: string): boolean {
  const areFolders = place.endsWith("/") && imported.endsWith("/");
  return place === imported || rows.get(imported)! < rows.get(place)! ||
    rows.get(imported) === rows.get(place) && !areFolders ||
    neighbours.some(([user, used]) => user === place && used === imported);
}

/** The place of the list that a file is in: itself or the folder. */
function placeOf(file: string): string | undefined {
  return [...rows.keys()].find((place) => isIn(file, place));
}

function isIn(file: string, place: string): boolean {
  return place.endsWith("/") ? file.startsWith(place) : file === place;
}

/** Reads `- **3** what they know: a list of places` and `- a place uses a list of places`. */
function readLayers(): { rows: Map<string, number>; neighbours: [user: string, used: string][] } {
  const text = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const layers = /^## Layers$([\s\S]*?)^## /m.exec(text)![1]!;
  const items = [...layers.matchAll(/^- ([\s\S]*?)(?=\n- |\n\n)/gm)].map(([, item]) => item!);
  const rows = new Map<string, number>();
  const neighbours: [string, string][] = [];
  for (const item of items) {
    const row = /^\*\*(\d+)\*\* [^`]*: (?=`)/.exec(item);
    const places = listPlaces(row === null ? item : item.slice(row[0].length));
    if (row !== null) { for (const place of places) rows.set(place, Number(row[1])); }
    else neighbours.push(...places.slice(1).map((used): [string, string] => [places[0]!, used]));
  }
  return { rows, neighbours };
}

function listPlaces(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, place]) => place!);
}
