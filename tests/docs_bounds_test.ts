// docs/guarantees.md has each bound of the sources with its number, and each test that it names is there.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SERVER_DEFAULTS } from "../internal/server/settings.ts";
import { listSources, readCode, ROOT } from "./_sources.ts";

const PAGE = readFileSync(join(ROOT, "docs/guarantees.md"), "utf8");

/** Bounds of what no peer can make grow, or that a user never meets. */
const NOT_TOLD: ReadonlyMap<string, string> = new Map([
  ["internal/telling_lines.ts: MAX_LINE_LENGTH", "how long they are"],
  ["MOSTLY_FULL_BYTES", "when a buffer is given away"],
  ["MAX_LINES", "how much of stderr stands in an error"],
  ["MAX_TEXT_LENGTH", "how much of an error's text stands in another one"],
  ["MAX_KINDS", "how many kinds of warnings are counted"],
  ["MAX_KEY_LENGTH", "by how much of it a warning is known again"],
  ["MAX_KEY_BYTES", "keys of the scanner"],
  ["MAX_MATCHED_DEPTH", "brackets of the scanner"],
  ["MAX_BATCH_BYTES", "how much goes into one write"],
  ["MOST_LOOKS", "how often a pipe is looked at that a stranger holds"],
  ["MOST_PARTS", "how many parts of a URI are compared"],
  ["LONGEST_PART", "how long such a part is"],
  ["LONGEST_IDLE_MS", "how long a timer sleeps"],
  ["GREATEST_DELAY_MS", "the longest timer of the runtimes"],
  ["GREATEST_LINE_BYTES", "what `maxLineBytes` may be"],
  ["GREATEST_SHOWN_LINES", "how many lines a message names"],
  ["MOST_SIGNALS", "how this process ends itself"],
  ["MOST_FILES", "names of recordings"],
  ["LONGEST", "the longest id that is remembered"],
]);

const FOLDERS =
  /^(?:internal\/(?:server|client|sdk|framing|process|host_config|json_schema|runtime)\/|internal\/\w+\.ts$|\w+\.ts$)/;

test("docs/guarantees.md has each bound of the sources with its number", () => {
  const bounds = listSources().filter((file) => FOLDERS.test(file)).flatMap((file) => {
    const constants = readCode(file).matchAll(
      /^(?:export )?const ((?:MAX|GREATEST|MOST|LONGEST|REMEMBERED|KEPT|TAIL)\w*)(?:: number)? = ([\d_]+);/gm,
    );
    return [...constants].map(([, name = "", digits = ""]) => ({
      file,
      name,
      value: Number(digits.replaceAll("_", "")),
    }));
  });
  assert.ok(bounds.length > 35, `${bounds.length} bounds`);
  const unused = [...NOT_TOLD.keys()].filter((key) =>
    !bounds.some(({ file, name }) => key === name || key === `${file}: ${name}`)
  );
  assert.deepEqual(unused, [], "there is no such bound any more");
  const isLeftOut = (file: string, name: string) => NOT_TOLD.has(name) || NOT_TOLD.has(`${file}: ${name}`);
  const missing = bounds.filter(({ file, name, value }) => !isLeftOut(file, name) && !isTold(value))
    .map(({ file, name, value }) => `${file}: ${name} = ${value}`);
  assert.deepEqual(missing, []);
});

test("docs/guarantees.md has the default of each limit of a server", () => {
  for (const [name, value] of Object.entries(SERVER_DEFAULTS.limits)) {
    const row = PAGE.split("\n").find((line) => line.includes(`\`limits.${name}\``)) ?? "";
    assert.ok(formsOf(value).some((form) => row.includes(form)), `${name} = ${value}: ${row}`);
  }
});

test("docs/guarantees.md names tests that are there, in each row", () => {
  const rows = PAGE.split("\n").filter((line) =>
    line.startsWith("|") && !/^\| *-|^\| (?:what|as a) /.test(line)
  );
  assert.ok(rows.length > 60, `${rows.length} rows`);
  for (const row of rows) {
    const files = [...row.matchAll(/`(\w+_test\.ts)`/g)].map(([, file]) => file!);
    assert.ok(files.length > 0, row);
    for (const file of files) assert.ok(existsSync(join(ROOT, "tests", file)), file);
  }
});

function isTold(value: number): boolean {
  return formsOf(value).some((form) => PAGE.includes(form));
}

/** A number as the page may write it. */
function formsOf(value: number): string[] {
  const grouped = String(value).replaceAll(/\B(?=(\d{3})+$)/g, " ");
  const forms = [`${grouped} `, `${grouped},`, `${grouped};`];
  if (value % 1_024 === 0) forms.push(`${value / 1_024} KiB`);
  if (value % 1_048_576 === 0) forms.push(`${value / 1_048_576} MiB`, `${value / 1_048_576} Mi characters`);
  if (value % 1_000 === 0) forms.push(`${value / 1_000} s`);
  if (value % 1_000_000 === 0) forms.push(`${value / 1_000_000} million`);
  return forms;
}
