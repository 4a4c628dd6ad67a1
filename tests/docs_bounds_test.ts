// docs/guarantees.md has each bound of the sources with its number, and each test that it names is there.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SERVER_DEFAULTS } from "../internal/server/settings.ts";
import { listSources, readCode, ROOT } from "./_sources.ts";

/** The rows of the page's tables, without their heads. */
const ROWS = readFileSync(join(ROOT, "docs/guarantees.md"), "utf8").split("\n").filter((line) =>
  line.startsWith("|") && !/^\| *-|^\| (?:what|as a \w+) {2,}\|/.test(line)
);

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
  ["LARGEST_KEPT_BYTES", "when a buffer is given away"],
  ["LARGEST_BLOCK_BYTES", "in what blocks a line is gathered"],
  ["MOST_KNOWN_NAMES", "how many names are judged only once"],
  ["internal/cli/recording/mask.ts: MAX_DEPTH", "how deep is looked for secrets"],
  ["MOST_SIGNALS", "how this process ends itself"],
  ["MOST_FILES", "names of recordings"],
]);

/** The row of the page that each bound stands in, by its first cell. */
const TOLD: ReadonlyMap<string, string> = new Map([
  ["logger.ts: MAX_LINE_LENGTH", "log lines"],
  ["MAX_LINES_PER_SECOND", "log lines"],
  ["MAX_BATCH_MEMBERS", "a batch of revision 2025-03-26"],
  ["MAX_ID_BYTES", "an id"],
  ["MAX_BACKLOG_LENGTH", "lines kept aside"],
  ["MAX_LET_GO", "handlers that go on after a cancellation"],
  ["MAX_URI_BYTES", "a URI"],
  ["MAX_SUBSCRIBED", "resources listened to"],
  ["MAX_SUBSCRIBED_LENGTH", "resources listened to"],
  ["MAX_ROUNDS", "questions to a client"],
  ["MAX_COMPLETIONS", "completions in an answer"],
  ["MOST_TOLD", "what is told of wrong arguments"],
  ["LONGEST_LINE", "what is told of wrong arguments"],
  ["MOST_COMPARED", "comparisons for `uniqueItems`"],
  ["MAX_QUEUED_BYTES", "stderr that nobody reads"],
  ["internal/client/notification_queue.ts: MAX_WAITING_BYTES", "other notifications for it"],
  ["MAX_WAITING", "changes for a slow `listen`"],
  ["internal/client/listening.ts: MAX_WAITING_BYTES", "changes for a slow `listen`"],
  ["MAX_RUNNING", "questions to the user"],
  ["MAX_QUESTIONS", "questions to the user"],
  ["MAX_WAITING_ANSWERS", "answers that the server does not read"],
  ["MAX_INPUT_ROUNDS", "rounds of questions"],
  ["MAX_PAGES", "pages of a list"],
  ["MAX_CURSORS_LENGTH", "pages of a list"],
  ["REMEMBERED_IDS", "ids of calls that were given up"],
  ["TAIL_LENGTH", "stderr that is kept"],
  ["internal/process/stderr_drain.ts: MAX_LINE_LENGTH", "stderr that is kept"],
  ["MAX_RETRIES", "repeats of a call"],
  ["LONGEST_REASON_BYTES", "a reason that is told to it"],
  ["MOST_WAITING", "notifications while your factory makes a server"],
  ["KEPT", "ids of cancelled and of given-up calls"],
  ["LONGEST", "ids of cancelled and of given-up calls"],
  ["GREATEST_CONFIG_LENGTH", "the file"],
  ["GREATEST_SERVERS", "servers in it"],
  ["GREATEST_PARTS", "arguments and variables of a server"],
  ["internal/host_config/jsonc.ts: GREATEST_DEPTH", "nesting"],
  ["internal/host_config/expansion.ts: GREATEST_DEPTH", "references in a text"],
  ["GREATEST_REFERENCES", "references in a text"],
  ["GREATEST_NAMES", "references in a text"],
  ["GREATEST_EXPANSION", "what references put in"],
  ["GREATEST_PROBLEMS", "problems that are told"],
  ["GREATEST_SHOWN_PROBLEMS", "problems that are told"],
  ["GREATEST_WARNINGS", "warnings of an entry"],
  ["GREATEST_ENV_FILE_BYTES", "an `envFile`"],
  ["LONGEST_MS", "what has passed and is not written down yet"],
  ["MOST_BYTES", "what has passed and is not written down yet"],
  ["MOST_OPEN", "open requests that are followed"],
  ["REMEMBERED", "finished requests that are remembered"],
]);

const FOLDERS =
  /^(?:internal\/(?:server|client|sdk|framing|process|host_config|json_schema|runtime|cli\/record(?:ing)?)\/|internal\/\w+\.ts$|\w+\.ts$)/;

test("docs/guarantees.md has each bound of the sources with its number", () => {
  const bounds = listSources().filter((file) => FOLDERS.test(file)).flatMap((file) => {
    const constants = readCode(file).matchAll(
      /^(?:export )?const ((?:MAX|GREATEST|LARGEST|MOST|LONGEST|REMEMBERED|KEPT|TAIL)\w*)(?:: number)? = ([\d_]+);/gm,
    );
    return [...constants].map(([, name = "", digits = ""]) => ({
      file,
      name,
      value: Number(digits.replaceAll("_", "")),
    }));
  });
  assert.ok(bounds.length > 35, `${bounds.length} bounds`);
  const named = [...NOT_TOLD.keys(), ...TOLD.keys()];
  const unused = named.filter((key) =>
    !bounds.some(({ file, name }) => key === name || key === `${file}: ${name}`)
  );
  assert.deepEqual(unused, [], "there is no such bound any more");
  const missing = bounds.flatMap(({ file, name, value }) => {
    const keys = [`${file}: ${name}`, name];
    if (keys.some((key) => NOT_TOLD.has(key))) return [];
    const label = keys.map((key) => TOLD.get(key)).find((label) => label !== undefined);
    if (label === undefined) return [`${keys[0]} = ${value}: which row tells it?`];
    return isTold(label, value) ? [] : [`${keys[0]} = ${value}: not in the row "${label}"`];
  });
  assert.deepEqual(missing, []);
});

test("docs/guarantees.md has the default of each limit of a server", () => {
  for (const [name, value] of Object.entries(SERVER_DEFAULTS.limits)) {
    const row = ROWS.find((line) => line.includes(`, \`limits.${name}\``)) ?? "";
    assert.ok(formsOf(value).some((form) => row.includes(form)), `${name} = ${value}: ${row}`);
  }
});

test("docs/guarantees.md names tests that are there, in each row", () => {
  assert.ok(ROWS.length > 60, `${ROWS.length} rows`);
  for (const row of ROWS) {
    const files = [...row.matchAll(/`(\w+_test\.ts)`/g)].map(([, file]) => file!);
    assert.ok(files.length > 0, row);
    for (const file of files) assert.ok(existsSync(join(ROOT, "tests", file)), file);
  }
});

function isTold(label: string, value: number): boolean {
  const row = ROWS.find((line) => line.split("|")[1]?.trim() === label) ?? "";
  return formsOf(value).some((form) => row.includes(form));
}

/** A number as the page may write it. */
function formsOf(value: number): string[] {
  const grouped = String(value).replaceAll(/\B(?=(\d{3})+$)/g, " ");
  const forms = [" ", ",", ";"].map((end) => ` ${grouped}${end}`);
  if (value % 1_024 === 0) forms.push(` ${value / 1_024} KiB`);
  if (value % 1_048_576 === 0) forms.push(` ${value / 1_048_576} MiB`, ` ${value / 1_048_576} Mi characters`);
  if (value % 1_000 === 0) forms.push(` ${value / 1_000} s`);
  if (value % 1_000_000 === 0) forms.push(` ${value / 1_000_000} million`);
  return forms;
}
