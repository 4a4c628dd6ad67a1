// Host files that are hostile, huge, or written by somebody who knew another format.
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { spawn } from "../client.ts";
import { HostConfigError } from "../errors.ts";
import {
  type HostConfig,
  type HostServer,
  parseHostConfig,
  type ParseHostConfigOptions,
} from "../host_config.ts";
import { untilAborted } from "../internal/abort.ts";
import { TaskQueue } from "../internal/task_queue.ts";
import { cpuTime } from "./helpers.ts";
import { assertLinear } from "./linear_time.ts";

type Options = Partial<ParseHostConfigOptions>;

function parse(value: unknown, options: Options = {}): Promise<HostConfig> {
  return parseHostConfig(typeof value === "string" ? value : JSON.stringify(value), { env: {}, ...options });
}

async function parseOne(entry: unknown, options: Options = {}): Promise<HostServer> {
  const { servers } = await parse({ mcpServers: { one: entry } }, options);
  return servers[0]!;
}

// ---- size

/** Files of about so many characters, each with what costs more than it looks like. */
const HEAPS: readonly [title: string, make: (size: number) => string][] = [
  ["arguments that are numbers", (size) => fileOf(`{"command":"x","args":[${"1,".repeat(size / 2)}1]}`)],
  ["arguments", (size) => fileOf(`{"command":"x","args":[${'"a",'.repeat(size / 4)}"b"]}`)],
  ["servers", (size) => `{"mcpServers":{${listOf(size / 25, (i) => `"s${i}":{"command":"x"}`)}}}`],
  ["servers of one name", (size) => `{"mcpServers":{${'"s":{"command":"x"},'.repeat(size / 20)}}}`],
  ["faults", (size) => `{"mcpServers":{${listOf(size / 14, (i) => `"s${i}":1`)}}}`],
  [
    "faults in each server",
    (size) => `{"mcpServers":{${listOf(size / 600, (i) => `"s${i}":{"args":[${"1,".repeat(280)}]}`)}}}`,
  ],
  ["blanks in one line", (size) => `{${" ".repeat(size)}"mcpServers":{}}`],
  ["comments", (size) => `{${"//\n".repeat(size / 3)}"mcpServers":{}}`],
  ["variables in one argument", (size) => fileOf(`{"command":"x","args":["${"${V}".repeat(size / 4)}"]}`)],
  [
    "arguments that are variables",
    (size) => fileOf(`{"command":"x","args":[${'"${V}",'.repeat(size / 7)}]}`),
  ],
  [
    "names of variables",
    (size) => fileOf(`{"command":"x","args":["${listOf(size / 10, (i) => `\${V${i}}`)}"]}`),
  ],
  ["variables", (size) => fileOf(`{"command":"x","env":{${listOf(size / 10, (i) => `"V${i}":""`)}}}`)],
  [
    "variables that steer",
    (size) => fileOf(`{"command":"x","env":{${listOf(size / 12, (i) => `"LD_${i}":""`)}}}`),
  ],
  ["unknown keys", (size) => fileOf(`{"command":"x",${listOf(size / 14, (i) => `"comm${i}":1`)}}`)],
  ["letters in one argument", (size) => fileOf(`{"command":"x","args":["${"a ".repeat(size / 2)}"]}`)],
  ["unseen letters in a name", (size) => `{"mcpServers":{"${"\u202e".repeat(size)}":1}}`],
  ["lists", (size) => `{"x":[${"[],".repeat(size / 3)}],"mcpServers":{}}`],
  ["signs in an address", (size) => fileOf(`{"url":"http://${"a@".repeat(size / 2)}"}`)],
];

function fileOf(entry: string): string {
  return `{"mcpServers":{"one":${entry}}}`;
}

function listOf(count: number, make: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => make(index)).join();
}

const ENV = { V: "x".repeat(8192) };

for (const [title, make] of HEAPS) {
  test(`parseHostConfig() takes time that grows with the size, for many ${title} (XD1, H5)`, async () => {
    await assertLinear((size) => parse(make(Math.ceil(size)), { env: ENV }), 160_000);
  });
}

test(
  "parseHostConfig() reads 20 MB of any shape within 3 seconds, and never ends in more than a fault (XD1, H5)",
  {
    skip: process.env["TEST_FULL"] === "1" ? false : "it moves 400 MB: set TEST_FULL=1",
    timeout: 600_000,
  },
  async () => {
    for (const [title, make] of HEAPS) {
      const text = make(20_000_000 * 200_000 / make(200_000).length);
      const begin = cpuTime();
      await parse(text, { env: ENV }).catch((error) =>
        assert.ok(error instanceof HostConfigError, String(error))
      );
      const time = cpuTime() - begin;
      assert.ok(time < 3000, `${title}: ${time.toFixed(0)} ms`);
    }
  },
);

const limits: readonly [title: string, text: () => string, message: RegExp][] = [
  [
    "too many servers",
    () => `{"mcpServers":{${listOf(20_001, (i) => `"s${i}":1`)}}}`,
    /"mcpServers" has more than 20000 servers/,
  ],
  ["too many keys", () => `{${listOf(50_001, (i) => `"k${i}":1`)}}`, /the file has more than 50000 keys/],
  ["too many levels", () => `{"x":${"[".repeat(1_000_000)}`, /values are nested deeper than 200 levels/],
  ["too many characters", () => " ".repeat(33_554_433), /the text has more than 33554432 characters/],
];
for (const [title, text, message] of limits) {
  test(`parseHostConfig() rejects ${title} (H5)`, async () => {
    await assert.rejects(parse(text()), (error: unknown) => {
      assert.ok(error instanceof HostConfigError && error.code === "invalid_config", String(error));
      assert.match(error.message, message);
      return true;
    });
  });
}

const bigEntries: readonly [title: string, entry: () => string, message: RegExp][] = [
  ["arguments", () => `{"command":"x","args":[${'"",'.repeat(50_001)}]}`, /"args" has more than 50000 parts/],
  [
    "variables",
    () => `{"command":"x","env":{${listOf(50_001, (i) => `"V${i}":""`)}}}`,
    /"env" has more than 50000 parts/,
  ],
  [
    "keys",
    () => `{"command":"x",${listOf(50_001, (i) => `"k${i}":1`)}}`,
    /the entry has more than 50000 parts/,
  ],
  [
    "characters that are put in",
    () => `{"command":"x","args":["${"${V}".repeat(140_000 / 2)}"]}`,
    /more than 1048576 characters are put in/,
  ],
  [
    "references",
    () => `{"command":"x","args":["${"${V}".repeat(100_001)}"]}`,
    /holds more than 100000 references/,
  ],
  [
    "names",
    () => `{"command":"x","args":[${listOf(11_000, (i) => `"\${U${i}:-}"`)}]}`,
    /the file refers to more than 10000 names/,
  ],
];
for (const [title, entry, message] of bigEntries) {
  test(`parseHostConfig() takes an entry with too many ${title} for invalid, and no other (XD1, H5)`, async () => {
    const { servers } = await parse(
      `{"mcpServers":{"a":{"command":"y"},"b":${entry()},"c":{"command":"z"}}}`,
      { env: ENV },
    );
    assert.deepEqual(servers.map(({ kind }) => kind), ["stdio", "invalid", "stdio"]);
    assert.match(servers[1]?.error?.message ?? "", message);
  });
}

test("parseHostConfig() puts no more into the strings of a file than it may hold itself, and spares entries without references (H5)", async () => {
  const entry = { command: "x", args: ["${V}".repeat(120)] };
  const mcpServers = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`s${index}`, entry]));
  const { servers } = await parse({ mcpServers: { ...mcpServers, last: { command: "y" } } }, { env: ENV });
  const failed = servers.filter(({ kind }) => kind === "invalid");
  assert.ok(failed.length >= 10 && failed.length < 30, `${failed.length}`);
  assert.match(failed[0]?.error?.message ?? "", /the file puts in too many characters/);
  assert.equal(servers.at(-1)?.kind, "stdio");
});

test("parseHostConfig() keeps a thousand problems of an entry, and one of each when a file has very many (XD1, H5)", async () => {
  const many = await parseOne({ command: "x", args: Array(5000).fill(1) });
  assert.equal(many.error?.problems.length, 1000);
  assert.match(many.error?.message ?? "", /; at least 981 more problems$/);
  const entry = { command: "x", args: Array(900).fill(1) };
  const mcpServers = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`s${index}`, entry]));
  const { servers } = await parse({ mcpServers });
  assert.deepEqual(
    [0, 21, 29].map((index) => servers[index]?.error?.problems.length),
    [900, 900, 1].map((count, index) => index === 1 ? servers[21]?.error?.problems.length : count),
  );
  assert.match(servers[29]?.error?.message ?? "", /; at least 1 more problems$/);
});

test("parseHostConfig() shows an argument of megabytes in a line of four thousand characters, with what is missing at its end (XD1, H5)", async () => {
  const { commandLine } = await parseOne({ command: "x", args: ["\u202e\n".repeat(1_000_000)] });
  assert.ok(commandLine.length <= 4096);
  assert.match(commandLine, / \[\d{7} characters not shown\]$/);
  assert.match(commandLine, /^x \$'(\\u202e\\n)+/);
});

test("TaskQueue lets many wait, and give up, in time that grows with their number (H5)", async () => {
  await assertLinear(async (count) => {
    const queue = new TaskQueue(8, 8);
    const aborter = new AbortController();
    const { signal } = aborter;
    const keys = Array.from({ length: count }, (_, index) => index % 2 === 0 ? "npx" : `k${index}`);
    await Promise.all(keys.map((key) => queue.run(key, () => Promise.resolve(), signal)));
    const waiting = keys.map(() =>
      queue.run("npx", () => untilAborted(new Promise(() => {}), signal), signal)
    );
    aborter.abort(new Error("enough"));
    for (const { status } of await Promise.allSettled(waiting)) assert.equal(status, "rejected");
  }, 8000);
});

// ---- what a person sees

test("parseHostConfig() shows what steers a program, masks the rest, and warns of it (XD3)", async () => {
  const env = { NODE_OPTIONS: "--require /tmp/x.js", LD_PRELOAD: "/tmp/x.so", KEY: "hush" };
  const server = await parseOne({ command: "npx", args: ["-y", "x"], env });
  assert.equal(server.commandLine, "NODE_OPTIONS='--require /tmp/x.js' LD_PRELOAD=/tmp/x.so KEY=… npx -y x");
  assert.deepEqual(server.warnings, [
    'the variable "NODE_OPTIONS" can make a program load code or act otherwise: it is set to "--require /tmp/x.js"',
    'the variable "LD_PRELOAD" can make a program load code or act otherwise: it is set to "/tmp/x.so"',
  ]);
  assert.ok(Object.isFrozen(server.warnings));
  assert.deepEqual((await parseOne({ command: "x", env: { KEY: "hush" } })).warnings, []);
});

test("parseHostConfig() warns of a system folder that a file sets (XD9)", async () => {
  const { warnings, commandLine } = await parseOne({ command: "x", env: { SystemRoot: "C:\\evil" } }, {
    os: "windows",
  });
  assert.deepEqual(warnings, [
    'the variable "SystemRoot" decides which programs are run: it is set to "C:\\\\evil"',
  ]);
  assert.equal(commandLine, "SystemRoot=C:\\evil x");
});

test("parseHostConfig() does not warn of what removes a variable, and stops after a hundred warnings (XD3)", async () => {
  const { servers } = await parse({ servers: { a: { command: "x", env: { LD_PRELOAD: null } } } });
  assert.deepEqual(servers[0]?.warnings, []);
  const env = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`LD_${index}`, "x"]));
  const { warnings } = await parseOne({ command: "x", env });
  assert.equal(warnings.length, 101);
  assert.equal(warnings[100], "there are 50 more warnings");
});

test("parseHostConfig() warns with no value that is a secret or would act on a terminal (XD3, XD8)", async () => {
  const env = {
    HTTPS_PROXY: "http://me:hush@p",
    LD_PRELOAD: "${PLACE}/x\u001b[2K",
    PIP_INDEX_URL: "${SECRET}",
  };
  const { warnings } = await parseOne({ command: "x", env }, { env: { PLACE: "/hush", SECRET: "hush" } });
  assert.doesNotMatch(warnings.join("\n"), /hush/);
  assert.match(warnings[1] ?? "", /"\$\{PLACE\}\/x\\u001b\[2K"$/);
});

const shown: readonly [title: string, entry: unknown, commandLine: string][] = [
  ["a secret of an argument", { command: "x", args: ["--key", "${SECRET}"] }, "x --key '${SECRET}'"],
  ["any variable of an argument", { command: "x", args: ["a${PLAIN:-b}c"] }, "x 'a${PLAIN:-b}c'"],
  ["a default that is used", { command: "x", args: ["${UNSET:-${PLAIN}/b}"] }, "x '${PLAIN}/b'"],
  ["what was put in for no reference", { command: "x", args: ["$${PLAIN}"] }, "x '${PLAIN}'"],
  ["where a program is", { command: "${PLAIN}/x", cwd: "/${PLAIN}" }, "(in /plain) plain/x"],
  [
    "a secret in a program's name",
    { command: "/${SECRET}/x", cwd: "/${API_TOKEN}" },
    "(in '/${API_TOKEN}') '/${SECRET}/x'",
  ],
  ["the place of the file", { command: "x", args: ["${CLAUDE_PROJECT_DIR}/y"] }, "x /p/y"],
  [
    "a key in clear",
    { command: "x", args: ["--api-key=sk-123", "--token", "hush"] },
    "x '--api-key=…' --token '…'",
  ],
];
for (const [title, entry, commandLine] of shown) {
  test(`parseHostConfig() shows ${title} in what it asks consent for (XD5, XD8)`, async () => {
    const env = { SECRET: "hush", PLAIN: "plain", API_TOKEN: "hush" };
    const server = await parseOne(entry, { env, path: "/p/.mcp.json" });
    assert.equal(server.commandLine, commandLine);
    assert.equal(server.kind, "stdio");
  });
}

test("spawn() shows no secret of its arguments in errors and logs (XD5)", { timeout: 60_000 }, async () => {
  const said: string[] = [];
  const say = (...args: unknown[]) => void said.push(args.map((arg) => JSON.stringify(arg)).join());
  const error = await spawn({
    command: process.execPath,
    // Whatever the runtime makes of it, it is no server.
    args: ["--version", "--api-key=sk-hush", "--token", "hush"],
    env: { KEY: "hush" },
    stderr: "ignore",
    logger: { debug: say, info: say, warn: say, error: say },
  }).then(() => assert.fail("it is no server"), (error) => error);
  assert.match(error.message, /--api-key=…/);
  assert.doesNotMatch([error.message, error.stack, ...said].join("\n"), /hush/);
});

test("parseHostConfig() follows the value of a reference that is not shown with the fingerprint (H3, XD8)", async () => {
  const entry = { command: "x", args: ["${SECRET}"] };
  const [one, two] = await Promise.all(["1", "2"].map((SECRET) => parseOne(entry, { env: { SECRET } })));
  assert.equal(one?.commandLine, two?.commandLine);
  assert.notEqual(one?.fingerprint, two?.fingerprint);
});

// ---- the place of the file

const places: readonly [title: string, options: Options, result: string | undefined][] = [
  ["from the file's place", { path: "/p/q/.mcp.json" }, "/p/q/server.js"],
  ["from the file's place on Windows", { path: "C:\\p\\.mcp.json", os: "windows" }, "C:\\p/server.js"],
  [
    "from the environment before it",
    { path: "/p/.mcp.json", env: { CLAUDE_PROJECT_DIR: "/e" } },
    "/e/server.js",
  ],
  ["from a project's editor folder", { path: "/p/.cursor/mcp.json", dialect: "claude_code" }, "/p/server.js"],
  ["from nowhere without a file", {}, undefined],
  ["from nowhere in another host's file", { path: "/p/claude_desktop_config.json" }, undefined],
];
for (const [title, options, result] of places) {
  test(`parseHostConfig() knows \${CLAUDE_PROJECT_DIR} ${title} (XD4)`, async () => {
    const server = await parseOne({ command: "${CLAUDE_PROJECT_DIR}/server.js" }, options);
    assert.equal(server.launch?.command, result);
    if (result === undefined) assert.match(server.error?.message ?? "", /"CLAUDE_PROJECT_DIR" is not set/);
  });
}

test("parseHostConfig() knows the folder of a plugin, and needs no default for either (XD4)", async () => {
  const args = ["${CLAUDE_PLUGIN_ROOT}/x", "${CLAUDE_PROJECT_DIR:-.}/y"];
  assert.deepEqual((await parseOne({ command: "c", args }, { path: "/p/.mcp.json" })).launch?.args, [
    "/p/x",
    "/p/y",
  ]);
});

// ---- what was meant

const misspelt: readonly [entry: unknown, field: string, guess: string][] = [
  [{ comand: "x" }, "command", "comand"],
  [{ cmd: "x" }, "command", "cmd"],
  [{ Command: "x" }, "command", "Command"],
  [{ type: "http", uri: "x" }, "url", "uri"],
];
for (const [entry, field, guess] of misspelt) {
  test(`parseHostConfig() asks whether ${field} was meant by ${guess} (XD6)`, async () => {
    const { error, warnings } = await parseOne(entry);
    assert.equal(error?.problems[0]?.message, `"${field}" is missing: did you mean it by "${guess}"?`);
    assert.ok(warnings.includes(`"${guess}" is not read: did you mean "${field}"?`));
  });
}

const strangers: readonly [key: string, meant: string | undefined][] = [
  ["arg", "args"],
  ["arguments", "args"],
  ["ARGS", "args"],
  ["agrs", "args"],
  ["enviroment", "env"],
  ["environment", "env"],
  ["env_file", "envFile"],
  ["workingDirectory", "cwd"],
  ["transport", "type"],
  ["autoApprove", undefined],
  ["alwaysAllow", undefined],
  ["description", undefined],
  ["timeout", undefined],
  ["tools", undefined],
  ["dev", undefined],
  ["__proto__", undefined],
  ["constructor", undefined],
];
for (const [key, meant] of strangers) {
  test(`parseHostConfig() ${meant === undefined ? "says nothing of" : "warns of"} the key ${key} (XD6, H1)`, async () => {
    const server = (await parse(`{"mcpServers":{"a":{"command":"x",${JSON.stringify(key)}:1}}}`)).servers[0];
    assert.equal(server?.kind, "stdio");
    assert.deepEqual(
      server?.warnings,
      meant === undefined ? [] : [`"${key}" is not read: did you mean "${meant}"?`],
    );
  });
}

test("parseHostConfig() warns of no key whose better half is there (XD6)", async () => {
  assert.deepEqual((await parseOne({ command: "x", cmd: "y", args: [], arg: 1 })).warnings, []);
});

const shapes: readonly [file: unknown, hint: string, options?: Options][] = [
  [{ mcpservers: {} }, 'did you mean it by "mcpservers"?'],
  [{ mcp_servers: {} }, 'did you mean it by "mcp_servers"?'],
  [{ mcpServer: {} }, 'did you mean it by "mcpServer"?'],
  [{ command: "x" }, 'the file is one entry: it belongs in "mcpServers", under a name'],
  [{ a: { command: "x" }, b: 1 }, 'the servers stand at the top: they belong in "mcpServers"'],
  [
    { mcp: { servers: {} } },
    '"mcp" has them, as in the settings of VS Code: "servers" belongs in a file of its own, ".vscode/mcp.json"',
  ],
  [
    { context_servers: { a: { command: "x" } } },
    '"context_servers" has them, as with a host whose files are not read: they belong in "mcpServers"',
  ],
  [{ servers: {} }, 'there is "servers": is it a file of the dialect "vscode"?', { dialect: "claude_code" }],
  [{ servers: {} }, 'there is "servers": is it a file of the dialect "vscode"?', {
    dialect: "claude_desktop",
  }],
];
for (const [file, hint, options] of shapes) {
  test(`parseHostConfig() says of ${JSON.stringify(file)} where servers belong (XD6)`, async () => {
    await assert.rejects(parse(file, options), (error: unknown) => {
      assert.ok(error instanceof HostConfigError);
      assert.ok(error.message.includes(`: ${hint} (line 1, column 1)`), error.message);
      return true;
    });
  });
}

test("parseHostConfig() has no guess for a file that looks like nothing (XD6)", async () => {
  await assert.rejects(parse({ editor: { theme: "dark" } }), {
    message:
      'Cannot read the host configuration: there is no "mcpServers", which holds the servers in the dialect "claude_code" (line 1, column 1)',
  });
});
