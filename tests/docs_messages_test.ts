// docs/troubleshooting.md has every error and every warning, by its words: they stand in the source, and some are provoked here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { Client, type ClientOptions, spawn } from "../client.ts";
import { StdioError } from "../errors.ts";
import { parseHostConfig, readHostConfig } from "../host_config.ts";
import { silentLogger } from "../logger.ts";
import { Server } from "../server.ts";
import { createFakeRuntime, createStreamPair, FakeClock } from "../testing.ts";
import { meet, Peer } from "./_client_peer.ts";
import { listSources, readCode, ROOT } from "./_sources.ts";
import { readPages } from "./docs_pages.ts";

const PAGE = readFileSync(join(ROOT, "docs/troubleshooting.md"), "utf8");

/** The part of the page that is about words of ours. */
const OURS = PAGE.slice(0, PAGE.indexOf("\n## Words of other programs"));

/** Messages of the page: the headings, and items that begin with one. */
const HEADINGS = [...OURS.matchAll(/^### (?=.*`)(.*)$/gm)].map(([, heading]) => codesOf(heading!)[0]!);

function codesOf(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}

/** Every text that the sources may say, with `…` for what they put in. */
const TEXTS: readonly string[] = listSources().filter((file) => !file.startsWith("internal/cli/"))
  .flatMap((file) => textsOf(readCode(file)));

/** The string and template literals of a code; what a template puts in becomes `…`, and its own literals stand for themselves. */
function textsOf(code: string): string[] {
  const texts: string[] = [];
  const literal =
    /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*)`/g;
  for (const [, double, single, template] of code.matchAll(literal)) {
    const text = double ?? single ?? template ?? "";
    texts.push(
      text.replaceAll(/\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}/g, "…").replaceAll(/\\n/g, "").replaceAll(
        /\\(.)/g,
        "$1",
      ),
    );
    if (template !== undefined) {
      for (const [, inner] of text.matchAll(/\$\{((?:[^{}`]|`[^`]*`|\{[^{}]*\})*)\}/g)) {
        texts.push(...textsOf(inner!));
      }
    }
  }
  return texts;
}

/** The fixed parts of a message that are long enough to be told from others. */
function wordsOf(message: string): string[] {
  return message.split(/…|"/).map((part) => part.replaceAll(/^[\s:;,.()]+|[\s:;,.(]+$/g, "")).filter((part) =>
    part.length >= 6
  );
}

/** All of them, and the lines of the sources as they are: quotes in a pattern would hide what stands behind them. */
const SAID: string = [
  ...TEXTS,
  ...listSources().flatMap((file) =>
    readCode(file).replaceAll(/\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}/g, "…").split("\n")
  ),
].join("\n");

/** Whether words may be said: as a whole, or as a few parts that are put together, of which each is long enough to be told. */
function isSaid(words: string, parts = 4): boolean {
  if (SAID.includes(words)) return true;
  const ends = [...words.matchAll(/(?= )/g)].map(({ index }) => index).filter((end) => end >= 4).reverse();
  const end = ends.find((end) => SAID.includes(words.slice(0, end)));
  return parts > 1 && end !== undefined && words.length - end > 4 && isSaid(words.slice(end + 1), parts - 1);
}

test("each error of errors.ts has an entry in docs/troubleshooting.md, with each of its codes", () => {
  const code = readFileSync(join(ROOT, "errors.ts"), "utf8");
  const classes = [...code.matchAll(/^export class (\w+) extends (\w+) \{([^]*?)^\}/gm)];
  assert.ok(classes.length >= 9, `${classes.length} classes`);
  for (const [, name = "", base = "", body = ""] of classes) {
    assert.ok(OURS.includes(`\`${name}\``), `${name} has no entry`);
    if (base !== "StdioError") continue;
    const type = /declare readonly code: ([^;]+);/.exec(body)?.[1] ?? "";
    const union = type.startsWith('"')
      ? type
      : new RegExp(`export type ${type} =([^;]+);`).exec(code)?.[1] ?? "";
    const codes = [...union.matchAll(/"(\w+)"/g)].map(([, each]) => each!);
    assert.ok(codes.length > 0, `${name} has no codes`);
    for (const each of codes) {
      const entry = OURS.split("\n\n").find((part) =>
        part.includes(`\`${name}\``) && part.includes(`\`${each}\``)
      );
      assert.ok(entry !== undefined, `no entry names ${name} beside ${each}`);
    }
  }
});

test("each warning that a user may meet has an entry in docs/troubleshooting.md", () => {
  const entries = codesOf(OURS.replaceAll(/\s*\n\s*/g, " "));
  const warnings = TEXTS.filter((text) => /^\[mcp_(?:stdio|router)\] /.test(text));
  assert.ok(warnings.length > 35, `${warnings.length} warnings`);
  const missing = warnings.filter((text) => {
    if (NOT_WARNED.some((part) => text.startsWith(part))) return false;
    const words = wordsOf(text).filter((part) => !/^\[mcp_\w+\]$/.test(part));
    return words.length > 0 && !entries.some((entry) => words.every((part) => entry.includes(part)));
  });
  assert.deepEqual(missing, []);
});

test("each error that a user may meet has an entry in docs/troubleshooting.md", () => {
  const entries = codesOf(OURS.replaceAll(/\s*\n\s*/g, " "));
  const errors = listSources().flatMap((file) => textsOf(readCode(file))).filter((text) =>
    text.startsWith("Cannot ")
  )
    .map((text) => text.split("usage: ")[0]!);
  assert.ok(errors.length > 150, `${errors.length} errors`);
  const missing = errors.filter((text) => {
    if (NOT_MET.some((part) => text.startsWith(part))) return false;
    const words = wordsOf(text).filter((part) => part !== "Cannot");
    return words.length > 0 && !entries.some((entry) => words.every((part) => entry.includes(part)));
  });
  assert.deepEqual(missing, []);
});

/** What would be a fault of this module, what becomes a warning, and what only tests meet. */
const NOT_MET = [
  "Cannot open stdio: the fake runtime",
  "Cannot end a process tree: its id",
  "Cannot ask: the conversation was not opened",
  "Cannot run …: no permission",
  "Cannot create …: there are",
];

/** What only `logger.debug` and `logger.info` are told, and the beginning of what is put together. */
const NOT_WARNED = ["[mcp_router] could not unsubscribe", "[mcp_stdio] the output is gone"];

test("the words of each entry stand in the source", () => {
  const items = [...OURS.matchAll(/^ *- (`[^`]+`)/gm)].map(([, code]) => codesOf(code!)[0]!);
  const inLine = codesOf(OURS.replaceAll(/\s*\n\s*/g, " ")).filter((code) =>
    /^(?:Cannot |\[mcp_)/.test(code)
  );
  const messages = [...new Set([...HEADINGS, ...items, ...inLine])].filter((message) =>
    !FOREIGN.includes(message)
  );
  assert.ok(messages.length > 100, `${messages.length} messages`);
  const wrong = messages.flatMap((message) =>
    wordsOf(message).filter((words) => !isSaid(words)).map((words) => `${message}: "${words}"`)
  );
  assert.deepEqual(wrong, []);
});

test("what a page shows as words of this module stands in the source", () => {
  const shown = readPages().flatMap(({ blocks }) => blocks).filter(({ attributes }) =>
    attributes.has("words")
  );
  assert.ok(shown.length > 0);
  const wrong = shown.flatMap(({ body }) => body.trim().split("\n")).filter((line) => !isSaid(line));
  assert.deepEqual(wrong, []);
});

/** Words of others among ours. */
const FOREIGN = ["Cannot find module", "Cannot use import statement outside a module"];

/** Something that goes wrong, and the entry that it must have. */
interface Case {
  readonly heading: string;
  readonly provoke: () => Promise<unknown>;
}

const CASES: readonly Case[] = [
  {
    heading: 'Cannot start "…": no such command',
    provoke: () => spawn({ command: "no-such-program anywhere", logger: silentLogger }),
  },
  {
    heading: 'Cannot start "…": no such working directory: "…"',
    provoke: () =>
      spawn({ command: process.execPath, cwd: join(ROOT, "no-such-folder"), logger: silentLogger }),
  },
  {
    heading: 'Cannot start "…": "args" must be an array of strings, such as …, but is …',
    // @ts-expect-error -- it is what the message is about
    provoke: () => spawn({ command: "node", args: "server.js" }),
  },
  {
    heading: "Cannot use the server …: it exited before answering the …, with …; its stderr says: …",
    provoke: () => {
      const runtime = createFakeRuntime({
        onSpawn: async (started) => {
          await started.writeStderr("Error: missing API key\n");
          started.exit({ code: 1 });
        },
      });
      return spawn({ command: "server", stderr: "capture", runtime, logger: silentLogger });
    },
  },
  {
    heading: "Cannot use the server …: no answer to the … within … ms",
    provoke: () => greet(async (_peer, clock) => await clock.advance(60_000)),
  },
  {
    heading:
      "Cannot use the server …: it frames its messages with Content-Length headers, as language servers do",
    provoke: () => greet((peer) => peer.write("Content-Length: 20\r\n\r\n")),
  },
  {
    heading: "Cannot agree on a revision: the server… speaks …, this client …",
    provoke: () =>
      greet(async (peer) =>
        peer.refuse(await peer.take(), -32022, "no", { supported: ["2099-01-01"], requested: "" })
      ),
  },
  {
    heading: "Cannot use the server…: it does not speak a revision of the modern era",
    provoke: () => greet(async (peer) => peer.refuse(await peer.take(), -32601), { era: "modern" }),
  },
  {
    heading: "Cannot use the server…: initialize failed: …",
    provoke: () =>
      greet(async (peer) => peer.refuse(await peer.take(), -32603, "no license"), { era: "legacy" }),
  },
  {
    heading: "Cannot use the server: it ended before it answered the …",
    provoke: () => greet((peer) => peer.end()),
  },
  {
    heading: 'Cannot await "…" any longer: no answer within … ms (…)',
    provoke: () => call(async (_peer, clock) => await clock.advance(60_000)),
  },
  { heading: 'Cannot complete "…": the server has …', provoke: () => call((peer) => peer.end()) },
  {
    heading: 'Cannot read the answer to "…": …',
    provoke: () =>
      call(async (peer) => peer.write(`{"jsonrpc":"2.0","id":${(await peer.take("x")).id},"result":7}\n`)),
  },
  {
    heading: "Cannot write the message: it is longer than … bytes",
    provoke: () => call(() => {}, { text: "x".repeat(17_000_000) }),
  },
  { heading: "Cannot write the message as JSON: …", provoke: () => call(() => {}, { number: 1n }) },
  {
    heading: 'Cannot make a server: "…" must be an object, each under its …, but …',
    // @ts-expect-error -- it is what the message is about
    provoke: () => Promise.resolve().then(() => new Server({ info: INFO, tools: [] })),
  },
  {
    heading: 'Cannot define …: "…" is not a function',
    // @ts-expect-error -- it is what the message is about
    provoke: () => Promise.resolve().then(() => new Server({ info: INFO, tools: { x: {} } })),
  },
  {
    heading: "Cannot use the … schema of …: …",
    provoke: () =>
      Promise.resolve().then(() =>
        new Server({
          info: INFO,
          tools: { x: { inputSchema: { type: "object", pattern: "(" }, call: () => "" } },
        })
      ),
  },
  {
    heading: 'Cannot read the host configuration "…": …',
    provoke: () => readHostConfig(join(ROOT, "no-such-file.json")),
  },
  {
    heading: 'Cannot use the server "…"… : …',
    provoke: async () => {
      const text = '{ "mcpServers": { "a": { "command": "${NO_SUCH_VARIABLE}" } } }';
      const { servers } = await parseHostConfig(text, { env: {} });
      throw servers[0]?.error;
    },
  },
];

const INFO = { name: "test", version: "1.0.0" };

/** Connects a client to a server that does what a test says. */
async function greet(
  serve: (peer: Peer, clock: FakeClock) => unknown,
  options: ClientOptions = {},
): Promise<void> {
  const [here, there] = createStreamPair();
  const clock = new FakeClock();
  const connecting = Client.connect(here, { clock, logger: silentLogger, ...options });
  const served = serve(new Peer(there), clock);
  await Promise.all([connecting, served]);
}

async function call(serve: (peer: Peer, clock: FakeClock) => unknown, params: object = {}): Promise<void> {
  const { client, peer, clock } = await meet();
  try {
    await Promise.all([client.request("x", { ...params }), serve(peer, clock)]);
  } finally {
    await client.close();
  }
}

for (const { heading, provoke } of CASES) {
  test(`docs/troubleshooting.md has what is said: ${heading}`, async () => {
    assert.ok(HEADINGS.includes(heading), `no entry is called ${heading}`);
    const error = await provoke().then(() => undefined, (error) => error);
    assert.ok(error instanceof Error, "nothing went wrong");
    const pattern = heading.split("…").map((part) => part.trim().replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
      .join("[^]*?");
    assert.match(error.message, new RegExp(`^${pattern}`));
    const entry = OURS.slice(OURS.indexOf(`\n### \`${heading}\``)).split("\n### ")[1] ?? "";
    assert.ok(
      entry.includes(`\`${error.name}\``) || error instanceof TypeError,
      `${error.name} is not named`,
    );
    if (error instanceof StdioError) {
      assert.ok(entry.includes(`\`${error.code}\``), `${error.code} is not named`);
    }
  });
}
