// Proves the layers of CONTRIBUTING.md from the import lines: imports go down only, and one folder names runtimes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importsOf, listSources, readCode } from "./_sources.ts";

/** Rows from the bottom up; a file imports from its own row's folder or from lower rows. */
const ROWS: ReadonlyArray<readonly RegExp[]> = [
  [/^(messages|runtime|logger|schema|methods)\.ts$/],
  [/^errors\.ts$/, /^internal\/(options|clock|deferred|safe_logger|version)\.ts$/],
  [/^connection\.ts$/],
  [/^internal\/framing\//, /^internal\/era\.ts$/],
  [/^framing\.ts$/, /^internal\/stream_connection\.ts$/, /^internal\/runtime\//],
  [/^internal\/(server|client|process|host_config|testing|sdk)\//],
  [/^(server|client)_options\.ts$/],
  [/^client_settings\.ts$/],
  [/^(server|client|testing|sdk_transport|host_config|stdout_guard)\.ts$/],
  [/^mod\.ts$/],
];

/** Folders of one row that do not know each other, and faces that do not. */
const STRANGERS: ReadonlyArray<readonly [RegExp, RegExp]> = [
  [/^(server(_options)?\.ts|internal\/server\/)/, /^(client(_options|_settings)?\.ts|internal\/client\/)/],
  [/^(client(_options|_settings)?\.ts|internal\/client\/)/, /^(server(_options)?\.ts|internal\/server\/)/],
  [/^internal\/client\//, /^internal\/process\//],
  [/^internal\/server\//, /^internal\/process\//],
  [/^internal\/process\//, /^internal\/(client|server)\//],
];

/** Names of runtimes that only `internal/runtime/` may say. */
const RUNTIME_NAMES = /\b(?:Deno|Bun)\.|from "node:|import\("node:|globalThis\.(?:Deno|Bun|process)\b/;

const files = listSources();

test("every source file has its place in a layer", () => {
  assert.ok(files.length > 40, `only ${files.length} files were found`);
  assert.deepEqual(files.filter((file) => rowOf(file) === -1), []);
});

test("imports go down only", () => {
  const upward = files.flatMap((file) =>
    importsOf(file).filter((imported) => rowOf(imported) > rowOf(file)).map((imported) =>
      `${file} -> ${imported}`
    )
  );
  assert.deepEqual(upward, []);
});

test("server, client and process never import each other, and the cores never a process", () => {
  const meetings = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => STRANGERS.some(([one, other]) => one.test(file) && other.test(imported)))
      .map((imported) => `${file} -> ${imported}`)
  );
  assert.deepEqual(meetings, []);
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

test("the library imports no package but the schema validator, and that one lazily", () => {
  const foreign = files.flatMap((file) =>
    [...readCode(file).matchAll(/(?:from|import\()\s*"([^".][^"]*)"/g)]
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith("node:"))
      .map((name) => `${file}: ${name}`)
  );
  assert.deepEqual(foreign, ["internal/server/schemas.ts: @cfworker/json-schema"]);
  assert.match(readCode("internal/server/schemas.ts"), /import\("@cfworker\/json-schema"\)/);
});

test("the source can be stripped: no enum, namespace, parameter property or using", () => {
  const unstrippable = files.filter((file) =>
    /^\s*(?:export )?(?:const )?enum |^\s*(?:export )?namespace |^\s*(?:await )?using |[(,]\s*(?:private|public|protected|readonly)\s+\w+\s*[:?]/m
      .test(readCode(file))
  );
  assert.deepEqual(unstrippable, []);
});

function rowOf(file: string): number {
  return ROWS.findIndex((row) => row.some((pattern) => pattern.test(file)));
}
