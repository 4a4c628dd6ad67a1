import assert from "node:assert/strict";
import { test } from "node:test";
import { HostConfigError, StdioError } from "../errors.ts";
import {
  type HostConfig,
  type HostConfigDialect,
  type HostServer,
  parseHostConfig,
  type ParseHostConfigOptions,
  readHostConfig,
} from "../host_config.ts";
import type { RuntimeAdapter } from "../runtime.ts";
import { listSources, readCode } from "./_sources.ts";

type Options = Partial<ParseHostConfigOptions>;

function parse(value: unknown, options: Options = {}): Promise<HostConfig> {
  return parseHostConfig(typeof value === "string" ? value : JSON.stringify(value), { env: {}, ...options });
}

/** Parses a file with this one entry. */
async function parseOne(entry: unknown, options: Options = {}): Promise<HostServer> {
  const key = options.dialect === "vscode" ? "servers" : "mcpServers";
  const { servers } = await parse({ [key]: { one: entry } }, options);
  assert.equal(servers.length, 1);
  return servers[0] as HostServer;
}

async function errorOf(promise: Promise<unknown>): Promise<HostConfigError> {
  const error = await promise.then(() => assert.fail("did not reject"), (error) => error);
  assert.ok(error instanceof HostConfigError, String(error));
  return error;
}

function fieldsOf(server: HostServer): (readonly [field: string, message: string])[] {
  assert.equal(server.kind, "invalid");
  return (server.error?.problems ?? []).map(({ field, message }) => [field, message] as const);
}

// ---- what a file says

const samples: readonly [path: string, dialect: HostConfigDialect, text: string, launches: unknown[]][] = [
  [
    "/home/me/claude_desktop_config.json",
    "claude_desktop",
    `{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Projects"]
    },
    "git": {
      "command": "uvx",
      "args": ["mcp-server-git", "--repository", "/Users/me/Projects/app"]
    }
  }
}`,
    [
      {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Projects"],
        env: {},
      },
      { command: "uvx", args: ["mcp-server-git", "--repository", "/Users/me/Projects/app"], env: {} },
    ],
  ],
  [
    "/project/.mcp.json",
    "claude_code",
    `{
  "mcpServers": {
    "local-db": {
      "type": "stdio",
      "command": "/path/to/server",
      "args": ["--config", "\${CLAUDE_PROJECT_DIR}/config.json"],
      "env": { "DB_URL": "\${DB_URL:-postgresql://localhost}" }
    }
  }
}`,
    [{
      command: "/path/to/server",
      args: ["--config", "/project/config.json"],
      env: { DB_URL: "postgresql://localhost" },
    }],
  ],
];
for (const [path, dialect, text, launches] of samples) {
  test(`parseHostConfig() reads the sample of ${dialect} (H1, S2-43, S2-45, S2-46)`, async () => {
    const config = await parse(text, { path, env: { CLAUDE_PROJECT_DIR: "/project" } });
    assert.equal(config.dialect, dialect);
    assert.deepEqual(config.servers.map((server) => server.launch), launches);
  });
}

test("parseHostConfig() makes equal launches and fingerprints of four dialects (B133)", async () => {
  const env = { KEY: "k", HOME: "/home/me" };
  const entry = (reference: string, folder: string) => ({
    command: "npx",
    args: ["-y", "server", folder],
    env: { KEY: reference },
    cwd: "./sub",
  });
  const files: readonly [path: string, file: unknown][] = [
    ["/p/claude_desktop_config.json", { mcpServers: { x: entry("${KEY}", "/p") } }],
    ["/p/.mcp.json", { mcpServers: { x: entry("${KEY}", "/p") } }],
    ["/p/.vscode/mcp.json", { servers: { x: entry("${env:KEY}", "${workspaceFolder}") } }],
    ["/p/.cursor/mcp.json", { mcpServers: { x: entry("${env:KEY}", "${workspaceFolder}") } }],
  ];
  const configs = await Promise.all(files.map(([path, file]) => parse(file, { path, env })));
  assert.deepEqual(configs.map(({ dialect }) => dialect), [
    "claude_desktop",
    "claude_code",
    "vscode",
    "cursor",
  ]);
  for (const { servers: [server] } of configs) {
    assert.deepEqual(server?.launch, {
      command: "npx",
      args: ["-y", "server", "/p"],
      env: { KEY: "k" },
      cwd: "/p/sub",
    });
    assert.equal(server?.fingerprint, configs[0]?.servers[0]?.fingerprint);
  }
});

test("parseHostConfig() allows comments, trailing commas and one byte order mark (H1, B129)", async () => {
  const text =
    '\ufeff{ // servers\n "mcpServers": { /* one */ "a": { "command": "x", "args": ["1",], }, }, }';
  const { servers } = await parse(text);
  assert.deepEqual(servers[0]?.launch, { command: "x", args: ["1"], env: {} });
});

const badFiles: readonly [title: string, text: string, message: string, place: string][] = [
  ["a missing comma", '{\n "mcpServers": {}\n "x": 1 }', 'expected "," or "}", but found "\\""', "3:2"],
  ["an empty file", "", "expected a value, but the text ends", "1:1"],
  ["a second byte order mark", "\ufeff\ufeff{}", 'expected a value, but found "\\ufeff"', "1:1"],
  ["UTF-16", "\ufffd\ufffd{\0", "the text is not UTF-8, it looks like UTF-16", "1:1"],
  ["an array", "[]", "the file must hold an object", "1:1"],
  ["no servers", '{"mcpservers":{}}', 'there is no "mcpServers", which holds the servers', "1:1"],
  ["servers that are no object", '{"mcpServers":[]}', '"mcpServers" must be an object', "1:15"],
  ["servers twice", '{"mcpServers":{},\n"mcpServers":{}}', '"mcpServers" stands more than once', "2:1"],
];
for (const [title, text, message, place] of badFiles) {
  test(`parseHostConfig() rejects ${title} with its place, and never takes it for an empty list (B129)`, async () => {
    const error = await errorOf(parse(text, { path: "/p/mcp.json" }));
    assert.ok(error instanceof StdioError);
    const [line, column] = place.split(":");
    assert.equal(error.code, "invalid_config");
    assert.equal(error.path, "/p/mcp.json");
    assert.equal(error.server, undefined);
    assert.ok(
      error.message.startsWith(`Cannot read the host configuration "/p/mcp.json": ${message}`),
      error.message,
    );
    assert.ok(error.message.endsWith(`(line ${line}, column ${column})`), error.message);
    assert.equal(error.problems.length, 1);
  });
}

test("parseHostConfig() takes Claude Desktop's settings without servers for an empty list (H1)", async () => {
  const { servers, raw } = await parse({ globalShortcut: "x" }, { path: "/a/claude_desktop_config.json" });
  assert.deepEqual([servers, raw], [[], { globalShortcut: "x" }]);
});

test("parseHostConfig() keeps unknown keys of the file and of entries (H1)", async () => {
  const entry = { command: "x", args: ["y"], autoApprove: ["z"], disabled: true };
  const { raw, servers } = await parse({ mcpServers: { a: entry }, theme: { dark: true } });
  assert.deepEqual(raw, { mcpServers: { a: entry }, theme: { dark: true } });
  assert.deepEqual([servers[0]?.raw, servers[0]?.disabled], [entry, true]);
  assert.equal((await parseOne({ command: "x", enabled: false })).disabled, true);
  assert.equal((await parseOne({ command: "x", disabled: "yes" })).disabled, false);
});

test("parseHostConfig() has the file as it stands ready, and makes it once (H1)", async () => {
  const { raw } = await parse('{"mcpServers":{},"a":[1,]/**/}');
  assert.deepEqual(raw, { mcpServers: {}, a: [1] });
  const config = await parse({ mcpServers: {}, b: {} });
  assert.equal(config.raw, config.raw);
  assert.deepEqual(Object.keys(config), ["path", "dialect", "servers", "inputs", "raw"]);
});

// ---- dialects

const bothKeys = { mcpServers: { a: { command: "a" } }, servers: { b: { command: "b" } } };
const detections: readonly [
  title: string,
  file: unknown,
  options: Options,
  dialect: string,
  names: string,
][] = [
  ["both keys and no path as claude_code", bothKeys, {}, "claude_code", "a"],
  ["both keys below .vscode as vscode", bothKeys, { path: "/p/.vscode/mcp.json" }, "vscode", "b"],
  ["both keys below .cursor as cursor", bothKeys, { path: "/p/.cursor/mcp.json" }, "cursor", "a"],
  ["both keys as it is told", bothKeys, { dialect: "vscode" }, "vscode", "b"],
  ["servers alone as vscode", { servers: {} }, { path: "/x/mcp.json" }, "vscode", ""],
  ["servers alone below .cursor as vscode", { servers: {} }, { path: "/.cursor/mcp.json" }, "vscode", ""],
  [
    "mcpServers alone below .vscode as claude_code",
    { mcpServers: {} },
    { path: ".vscode/a.json" },
    "claude_code",
    "",
  ],
  ["a Windows path", { mcpServers: {} }, { path: "C:\\p\\.cursor\\mcp.json", os: "windows" }, "cursor", ""],
];
for (const [title, file, options, dialect, names] of detections) {
  test(`parseHostConfig() reads ${title} (B133)`, async () => {
    const config = await parse(file, options);
    assert.equal(config.dialect, dialect);
    assert.equal(config.servers.map(({ name }) => name).join(), names);
  });
}

test("parseHostConfig() rejects a dialect it does not know, as misuse", async () => {
  for (const dialect of ["emacs", "constructor", "toString", 1 as unknown as string]) {
    await assert.rejects(parse({ mcpServers: {} }, { dialect: dialect as HostConfigDialect }), {
      name: "TypeError",
      message: `Cannot use "dialect" as it is not known: current value is "${dialect}"`,
    });
  }
});

const misuses: readonly [title: string, call: () => Promise<unknown>, message: RegExp][] = [
  [
    "no options",
    () => (parseHostConfig as (text: string) => Promise<unknown>)('{"mcpServers":{"a":{"command":"${X}"}}}'),
    /the option "env" must be an object or a function, but is undefined; give \{\} if there are no variables/,
  ],
  [
    "no env",
    () => parseHostConfig("{}", {} as ParseHostConfigOptions),
    /the option "env" must be .* undefined/,
  ],
  [
    "an env of a wrong type",
    () => parseHostConfig("{}", { env: "A=1" } as unknown as ParseHostConfigOptions),
    /the option "env" must be .* a string/,
  ],
  [
    "a null env",
    () => parseHostConfig("{}", { env: null } as unknown as ParseHostConfigOptions),
    /the option "env" must be .* null/,
  ],
  [
    "a parsed file",
    () => parseHostConfig({ mcpServers: {} } as unknown as string, { env: {} }),
    /its text is no string, but an object/,
  ],
];
for (const [title, call, message] of misuses) {
  test(`parseHostConfig() called from JavaScript with ${title} names what is wrong (XF21)`, async () => {
    await assert.rejects(call, (error: unknown) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^Cannot parse the host configuration: /);
      assert.match(error.message, message);
      return true;
    });
  });
}

test("A host dialect is one entry of a table: no other file knows one by its name", () => {
  const knowing = listSources().filter((file) => /^host_config|^internal\/host_config\//.test(file))
    .filter((file) => /["'](?:claude_code|claude_desktop|vscode|cursor)["']/.test(readCode(file)));
  assert.deepEqual(knowing, ["internal/host_config/dialects.ts"]);
});

const references: readonly [dialect: HostConfigDialect, text: string, result: string | RegExp][] = [
  ["claude_code", "${env:X}", /the prefix "env:" is not known to the dialect "claude_code"/],
  ["claude_desktop", "${input:x}", /the prefix "input:" is not known to the dialect "claude_desktop"/],
  ["claude_code", "${workspaceFolder}", /"workspaceFolder" is not set/],
  ["cursor", "${env:X}", "x"],
  ["cursor", "${X}${env:U:-d}", "xd"],
  ["cursor", "${input:x}", /the prefix "input:" is not known to the dialect "cursor"/],
  [
    "cursor",
    "${workspaceFolder}|${workspaceFolderBasename}|${userHome}|${pathSeparator}|${/}",
    "/w s/p|p|/home/me|/|/",
  ],
  [
    "vscode",
    "${workspaceFolder}|${workspaceFolderBasename}|${userHome}|${pathSeparator}|${/}",
    "/w s/p|p|/home/me|/|/",
  ],
  ["vscode", "${config:a.b}", /the prefix "config:" is not known to the dialect "vscode"/],
  ["vscode", "${env:U}", /the variable "U" is not set/],
  ["vscode", "${command:x}", /the prefix "command:"/],
  ["claude_code", "${1}", /"1" is no name of a variable/],
  ["claude_code", "${X-d}", /"X-d" is no name of a variable/],
  ["claude_code", "${}", /"" is no name of a variable/],
  ["claude_code", "${constructor}", /"constructor" is not set/],
  ["claude_code", "${ProgramFiles(x86)}", "C:\\p"],
];
for (const [dialect, text, result] of references) {
  test(`parseHostConfig() ${typeof result === "string" ? "expands" : "refuses"} ${text} in ${dialect} (B133)`, async () => {
    const env = { X: "x", HOME: "/home/me", "ProgramFiles(x86)": "C:\\p" };
    const server = await parseOne({ command: "c", args: [text] }, {
      dialect,
      env,
      workspaceFolder: "/w s/p",
    });
    if (typeof result === "string") assert.deepEqual(server.launch?.args, [result]);
    else {
      assert.deepEqual(fieldsOf(server).map(([field]) => field), ["args[0]"]);
      assert.match(server.error?.message ?? "", result);
    }
  });
}

test("parseHostConfig() knows no workspace for a person's own ~/.cursor/mcp.json (B133)", async () => {
  const options = { env: { HOME: "/home/me" }, path: "/home/me/.cursor/mcp.json" };
  const server = await parseOne({ command: "c", args: ["${workspaceFolder}"] }, options);
  assert.match(server.error?.message ?? "", /"args\[0]" .*"workspaceFolder" is not known/);
});

// ---- inputs

const vscodeFile = {
  inputs: [
    { type: "promptString", id: "key", description: "API key", password: true },
    { type: "pickString", id: "region", options: ["eu", "us"], default: "eu" },
    { type: "promptString", id: "unused" },
    { type: "promptString" },
    "no input",
  ],
  servers: {
    a: { command: "c", args: ["--key=${input:key}", "${input:region}"], env: { KEY: "${input:key}" } },
    b: { command: "c", args: ["${input:key}"] },
  },
};

test("parseHostConfig() reports inputs, asks for each once when it is referred to, and masks passwords (H1, B133)", async () => {
  const asked: string[] = [];
  const config = await parse(vscodeFile, {
    resolveInput: (input) => {
      asked.push(input.id);
      return input.id === "key" ? Promise.resolve("hush") : undefined;
    },
  });
  assert.deepEqual(config.inputs, [
    {
      id: "key",
      type: "promptString",
      description: "API key",
      default: undefined,
      password: true,
      options: [],
    },
    {
      id: "region",
      type: "pickString",
      description: undefined,
      default: "eu",
      password: false,
      options: ["eu", "us"],
    },
    {
      id: "unused",
      type: "promptString",
      description: undefined,
      default: undefined,
      password: false,
      options: [],
    },
  ]);
  assert.deepEqual(asked, ["key", "region"]);
  const [a] = config.servers;
  assert.deepEqual(a?.launch, { command: "c", args: ["--key=hush", "eu"], env: { KEY: "hush" } });
  assert.equal(a?.commandLine, "KEY=… c '--key=${input:key}' eu");
});

test("parseHostConfig() says which input has no value, which is unknown, and which could not be asked for (B133)", async () => {
  const noValue = (await parse(vscodeFile)).servers[1];
  assert.equal(noValue?.error?.code, "missing_variable");
  assert.equal(noValue?.error?.variable, "input:key");
  const unknown = await parseOne({ command: "${input:x}" }, { dialect: "vscode" });
  assert.match(unknown.error?.message ?? "", /the input "x" is not described in "inputs"/);
  const failing = await parse(vscodeFile, { resolveInput: () => Promise.reject(new Error("no terminal")) });
  assert.match(
    failing.servers[1]?.error?.message ?? "",
    /the input "key" could not be asked for: no terminal/,
  );
});

// ---- expansion

test("parseHostConfig() expands command, args, env values and cwd, never keys, never twice (H2, S2-49)", async () => {
  const env = { A: "a", TWICE: "${A}" };
  const server = await parseOne({
    command: "${A}/${TWICE}",
    args: ["${TWICE}", "$${A}"],
    env: { "${A}": "${A}", B: "${TWICE}" },
    cwd: "/${A}",
    "${A}": "${UNSET}",
  }, { env });
  assert.deepEqual(server.launch, {
    command: "a/${A}",
    args: ["${A}", "${A}"],
    env: { "${A}": "a", B: "${A}" },
    cwd: "/a",
  });
});

test("parseHostConfig() names server, field and variable of what is missing, and no value (H2, B131, S2-50)", async () => {
  const path = "/p/.mcp.json";
  const entry = {
    command: "${CMD}",
    args: ["hush1", "${ARG:-${NESTED}}"],
    env: { TOKEN: "hush2${GH_TOKEN}${SECRET}", OK: "${SECRET}" },
    cwd: "/hush3/${DIR}",
  };
  const server = await parseOne(entry, { path, env: { SECRET: "hush4" } });
  const { error } = server;
  assert.equal(error?.code, "missing_variable");
  assert.equal(error?.path, path);
  assert.equal(error?.server, "one");
  assert.equal(error?.variable, "CMD");
  assert.deepEqual(error?.problems.map(({ field, variable }) => [field, variable]), [
    ["command", "CMD"],
    ["args[1]", "NESTED"],
    ["env.TOKEN", "GH_TOKEN"],
    ["cwd", "DIR"],
  ]);
  assert.ok(
    error?.message.startsWith(
      'Cannot use the server "one" in "/p/.mcp.json": "command" cannot be expanded: the variable "CMD" is not set',
    ),
    error?.message,
  );
  assert.doesNotMatch(error?.message ?? "", /hush/);
});

test("parseHostConfig() looks variables up as the system names them (B128)", async () => {
  const entry = { command: "${path}" };
  assert.equal((await parseOne(entry, { os: "windows", env: { Path: "p" } })).launch?.command, "p");
  assert.equal((await parseOne(entry, { env: { Path: "p" } })).kind, "invalid");
  assert.equal((await parseOne(entry, { env: (name) => `<${name}>` })).launch?.command, "<path>");
});

// ---- entries

const wrong: readonly [title: string, entry: unknown, fields: Record<string, RegExp>][] = [
  ["no object", "npx", { "": /the entry must be an object, but is a string/ }],
  ["null", null, { "": /the entry must be an object, but is null/ }],
  ["no command", { args: [] }, { command: /"command" is missing/ }],
  ["an empty command", { command: "" }, { command: /"command" is empty/ }],
  ["a command that expands to nothing", { command: "${U:-}" }, { command: /"command" is empty/ }],
  ["a command with NUL", { command: "a\0b" }, { command: /"command" holds a NUL character/ }],
  ["an unknown type", { type: "carrier pigeon", command: "x" }, {
    type: /"type" is not known: "carrier pigeon"/,
  }],
  ["a type of a wrong type", { type: 1, command: "x" }, { type: /"type" must be a string, but is a number/ }],
  ["an http server without address", { type: "http" }, { url: /"url" is missing/ }],
  ["an address of a wrong type", { type: "sse", url: 1 }, { url: /"url" must be a string, but is a number/ }],
  [
    "everything of a wrong type",
    { command: ["npx"], args: "-y", env: ["A"], cwd: 1 },
    {
      command: /"command" must be a string, but is an array/,
      args: /"args" must be an array of strings, but is a string/,
      env: /"env" must be an object of strings, but is an array/,
      cwd: /"cwd" must be a string, but is a number/,
    },
  ],
  [
    "values of a wrong type",
    { command: "x", args: [1, "a", null], env: { PORT: 3000, ON: true, X: null, Y: {} } },
    {
      "args[0]": /must be a string, but is a number/,
      "args[2]": /must be a string, but is null/,
      "env.X": /must be a string, but is null/,
      "env.Y": /must be a string, but is an object/,
    },
  ],
  ["a broken reference", { command: "x", args: ["ok", "a${A"] }, {
    "args[1]": /holds a "\${" at character 2/,
  }],
  ["impossible names", { command: "x", env: { "": "1", "A=B": "2" } }, { "env.": /name/, "env.A=B": /name/ }],
  ["an empty cwd", { command: "x", cwd: "" }, { cwd: /"cwd" is empty/ }],
];
for (const [title, entry, fields] of wrong) {
  test(`parseHostConfig() reports ${title}, all fields at once (B135)`, async () => {
    const server = await parseOne(entry);
    const found = fieldsOf(server);
    assert.deepEqual(found.map(([field]) => field), Object.keys(fields));
    for (const [field, message] of found) assert.match(message, fields[field] as RegExp);
    assert.equal(server.error?.code, "invalid_config");
  });
}

test("parseHostConfig() gives the line and column of each problem (B135)", async () => {
  const text = '{ "mcpServers": {\n  "a": { "command": 1,\n    "args": ["x",\n      2] } } }';
  const { servers } = await parse(text);
  assert.deepEqual(servers[0]?.error?.problems.map(({ field, line, column }) => [field, line, column]), [
    ["command", 2, 21],
    ["args[1]", 4, 7],
  ]);
  assert.match(
    servers[0]?.error?.message ?? "",
    /is a number \(line 2, column 21\); .* \(line 4, column 7\)$/,
  );
});

test("parseHostConfig() keeps a message short and the list of problems whole (B135)", async () => {
  const { error } = await parseOne({ command: "x", args: Array(1000).fill(1) });
  assert.equal(error?.problems.length, 1000);
  assert.match(error?.message ?? "", /"args\[19]" [^;]*; 980 more problems$/);
});

test("parseHostConfig() takes numbers and booleans in env for their text in the file (B135)", async () => {
  const { servers } = await parse(
    '{"mcpServers":{"a":{"command":"x","env":{"A":3000,"B":1.10,"C":12345678901234567890,"D":true}}}}',
  );
  assert.deepEqual(servers[0]?.launch?.env, { A: "3000", B: "1.10", C: "12345678901234567890", D: "true" });
});

test("parseHostConfig() lets null remove a variable in VS Code's files (B135)", async () => {
  const server = await parseOne({ command: "x", env: { A: null, B: "b" } }, { dialect: "vscode" });
  assert.deepEqual(server.launch?.env, { A: null, B: "b" });
  assert.equal(server.commandLine, "B=… x");
});

test("parseHostConfig() shows every entry, whatever is wrong with one (H3, B109)", async () => {
  const { servers } = await parse({
    mcpServers: {
      a: { command: "x" },
      b: 7,
      c: { command: "${U}" },
      d: { url: "https://x.test" },
      e: { command: "y" },
    },
  });
  assert.deepEqual(servers.map(({ name, kind }) => `${name} ${kind}`), [
    "a stdio",
    "b invalid",
    "c invalid",
    "d remote",
    "e stdio",
  ]);
});

test("parseHostConfig() does not let one of two equal names hide the other (H3)", async () => {
  const text = '{"mcpServers":{"a":{"command":"good"},"b":{"command":"b"},"a":{"command":"evil"}}}';
  const { servers } = await parse(text);
  assert.deepEqual(servers.map(({ name, kind }) => `${name} ${kind}`), ["a invalid", "b stdio"]);
  assert.match(servers[0]?.error?.message ?? "", /stands more than once/);
});

test("parseHostConfig() does not let one of two equal keys hide the other (H3)", async () => {
  const { servers } = await parse(
    '{"mcpServers":{"a":{"command":"x","command":"y","env":{"A":"1","A":"2"}}}}',
  );
  assert.deepEqual(fieldsOf(servers[0] as HostServer).map(([field]) => field), ["command", "env.A"]);
});

test("parseHostConfig() takes __proto__ and constructor for names like any other (H3)", async () => {
  const text =
    '{"mcpServers":{"__proto__":{"command":"x","env":{"__proto__":"1"}},"constructor":{"command":"y"}}}';
  const { servers } = await parse(text);
  assert.deepEqual(servers.map(({ name, kind }) => `${name} ${kind}`), [
    "__proto__ stdio",
    "constructor stdio",
  ]);
  assert.deepEqual(Object.entries(servers[0]?.launch?.env ?? {}), [["__proto__", "1"]]);
});

const remotes: readonly [title: string, entry: unknown, url: string][] = [
  ["http", { type: "http", url: "https://x.test/${X}", command: "ignored" }, "https://x.test/${X}"],
  ["sse", { type: "sse", url: "https://x.test" }, "https://x.test"],
  ["streamable-http", { type: "streamable-http", url: "https://x.test" }, "https://x.test"],
  ["no type but a url", { url: "https://x.test" }, "https://x.test"],
  ["no type but a serverUrl", { serverUrl: "https://x.test" }, "https://x.test"],
];
for (const [title, entry, url] of remotes) {
  test(`parseHostConfig() lists an entry with ${title} as remote, not as failed (H2, S2-46)`, async () => {
    const server = await parseOne(entry);
    assert.ok(server.kind === "remote");
    assert.deepEqual([server.url, server.launch, server.error], [url, undefined, undefined]);
  });
}

test("parseHostConfig() takes an entry with command and url and no type for stdio (S2-46)", async () => {
  assert.equal((await parseOne({ command: "x", url: "https://x.test" })).kind, "stdio");
});

// ---- paths

const folders: readonly [title: string, cwd: string, options: Options, resolved: string][] = [
  ["a relative one from the file's folder", "sub", { path: "/p/q/.mcp.json" }, "/p/q/sub"],
  ["./ from the file's folder", "./", { path: "/p/q/.mcp.json" }, "/p/q"],
  ["../ without a look at links", "../x", { path: "/p/q/.mcp.json" }, "/p/q/../x"],
  [
    "a relative one from the project of .vscode",
    "sub",
    { path: "/p/.vscode/mcp.json", dialect: "vscode" },
    "/p/sub",
  ],
  ["an absolute one as it is", "/abs", { path: "/p/q/.mcp.json" }, "/abs"],
  ["a relative one as it is without a file", "sub", {}, "sub"],
  ["a leading ~ as it is", "~/x", { path: "/p/.mcp.json" }, "/p/~/x"],
  ["a leading ~ from the home folder when told", "~/x", { expandTilde: true, env: { HOME: "/h" } }, "/h/x"],
  ["~ alone when told", "~", { expandTilde: true, homeDirectory: "/h" }, "/h"],
  ["~user as it is", "~you/x", { expandTilde: true, homeDirectory: "/h", path: "/p/.mcp.json" }, "/p/~you/x"],
  ["a file in the root", "sub", { path: "/.mcp.json" }, "/sub"],
  ["a Windows path", "sub", { path: "C:\\p\\.mcp.json", os: "windows" }, "C:\\p\\sub"],
  ["a Windows root", ".\\sub", { path: "C:\\.mcp.json", os: "windows" }, "C:\\sub"],
  ["another Windows drive", "D:\\x", { path: "C:\\p\\.mcp.json", os: "windows" }, "D:\\x"],
  [
    "a Windows home",
    "~\\x",
    { path: "C:\\p\\.mcp.json", os: "windows", expandTilde: true, env: { UserProfile: "C:\\me" } },
    "C:\\me\\x",
  ],
];
for (const [title, cwd, options, resolved] of folders) {
  test(`parseHostConfig() takes as cwd ${title} (B114)`, async () => {
    assert.equal((await parseOne({ command: "x", cwd }, options)).launch?.cwd, resolved);
  });
}

test("parseHostConfig() leaves a leading ~ in args unless it is told otherwise, and never touches a value's (B114)", async () => {
  const entry = { command: "~/bin/x", args: ["~/x.js", "a~/b", "${V}"], env: { A: "~/x" } };
  const env = { HOME: "/h", V: "~/v" };
  assert.deepEqual((await parseOne(entry, { env })).launch, {
    command: "~/bin/x",
    args: ["~/x.js", "a~/b", "~/v"],
    env: { A: "~/x" },
  });
  assert.deepEqual((await parseOne(entry, { env, expandTilde: true })).launch, {
    command: "/h/bin/x",
    args: ["/h/x.js", "a~/b", "~/v"],
    env: { A: "~/x" },
  });
  const lost = await parseOne({ command: "~/x" }, { expandTilde: true });
  assert.match(lost.error?.message ?? "", /"command" begins with "~", and the home folder is not known/);
});

// ---- consent

test("parseHostConfig() shows the exact command line, with values masked and escapes spelled out (H3, S2-51)", async () => {
  const server = await parseOne({
    command: "npx",
    args: ["-y", "some server", "\u001b[2K\rls"],
    env: { TOKEN: "${T}" },
    cwd: "/p",
  }, { env: { T: "hush" } });
  assert.equal(server.commandLine, "(in /p) TOKEN=… npx -y 'some server' $'\\u001b[2K\\rls'");
});

test("parseHostConfig() shows for other entries the address or the line as written (H3)", async () => {
  const remote = await parseOne({ type: "http", url: "https://me:hush@x.test/mcp?key=hush" });
  assert.equal(remote.commandLine, "'https://…@x.test/mcp?…'");
  const invalid = await parseOne({ command: "x", args: ["${U}", 1], env: { A: "hush" } });
  assert.equal(invalid.commandLine, "A=… x '${U}' '?'");
  assert.equal((await parseOne({ command: 1 })).commandLine, "");
});

const launch = { command: "x", args: ["a", "b"], env: { A: "1", B: "2" }, cwd: "/p" };
const changes: readonly [title: string, entry: unknown][] = [
  ["command", { ...launch, command: "y" }],
  ["an argument", { ...launch, args: ["a", "c"] }],
  ["where arguments end", { ...launch, args: ["a b"] }],
  ["the order of arguments", { ...launch, args: ["b", "a"] }],
  ["a value", { ...launch, env: { A: "1", B: "3" } }],
  ["a name", { ...launch, env: { A: "1", C: "2" } }],
  ["whose value it is", { ...launch, env: { A: "2", B: "1" } }],
  ["cwd", { ...launch, cwd: "/q" }],
  ["no cwd", { ...launch, cwd: undefined }],
];
for (const [title, entry] of changes) {
  test(`parseHostConfig() gives another fingerprint when ${title} changes (H3)`, async () => {
    const before = (await parseOne(launch)).fingerprint;
    const after = (await parseOne(entry)).fingerprint;
    assert.match(before, /^sha256:[0-9a-f]{64}$/);
    assert.notEqual(before, after);
  });
}

test("parseHostConfig() gives the same fingerprint for the same launch, on every runtime (H3)", async () => {
  const other = { env: { B: "${TWO}", A: "1" }, cwd: "/p", args: ["a", "${B:-b}"], command: "x", unknown: 1 };
  const { servers } = await parse({ mcpServers: { p: launch, q: other } }, { env: { TWO: "2" } });
  assert.equal(servers[0]?.fingerprint, servers[1]?.fingerprint);
  // echo -n '["launch",1,"x",["a","b"],"/p",[["A","1"],["B","2"]]]' | sha256sum
  assert.equal(
    servers[0]?.fingerprint,
    "sha256:4c19bb426081dd128181134a5aeeec3ef1abdd60e99e9859cec7a4380355d48f",
  );
});

test("parseHostConfig() follows a variable's value with the fingerprint (H3)", async () => {
  const entry = { command: "x", env: { A: "${A}" } };
  const [one, two] = await Promise.all(["1", "2"].map((A) => parseOne(entry, { env: { A } })));
  assert.notEqual(one?.fingerprint, two?.fingerprint);
});

test("parseHostConfig() freezes what was agreed to (H4)", async () => {
  const server = await parseOne(launch);
  for (const value of [server, server.launch, server.launch?.args, server.launch?.env]) {
    assert.ok(Object.isFrozen(value));
  }
});

// ---- files

function fakeRuntime(files: Record<string, string | Error>, env: Record<string, string> = {}): {
  runtime: RuntimeAdapter;
  asked: (readonly string[] | undefined)[];
} {
  const asked: (readonly string[] | undefined)[] = [];
  const runtime = {
    os: "posix",
    cwd: () => "/cwd",
    env: (names?: readonly string[]) => {
      asked.push(names);
      return Object.fromEntries((names ?? []).filter((name) => name in env).map((name) => [name, env[name]]));
    },
    readTextFile: (path: string) => {
      const file = files[path] ?? Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
      return file instanceof Error ? Promise.reject(file) : Promise.resolve(file);
    },
  } as unknown as RuntimeAdapter;
  return { runtime, asked };
}

test("readHostConfig() reads a file through the runtime, and only the variables it refers to (H1, P1)", async () => {
  const text =
    '{"mcpServers":{"a":{"command":"x","args":["${ONE}","${GIVEN}","${TWO:-2}"],"cwd":"sub","envFile":"e"}}}';
  const { runtime, asked } = fakeRuntime({ "/cwd/conf/.mcp.json": text }, {
    ONE: "1",
    GIVEN: "no",
  });
  const config = await readHostConfig("conf/.mcp.json", { runtime, env: { GIVEN: "yes" } });
  assert.equal(config.path, "/cwd/conf/.mcp.json");
  assert.deepEqual(config.servers[0]?.launch, {
    command: "x",
    args: ["1", "yes", "2"],
    env: {},
    cwd: "/cwd/conf/sub",
    envFile: "/cwd/conf/e",
  });
  assert.deepEqual(asked, [["ONE"], ["TWO"]]);
});

test("readHostConfig() reads at most 32 MiB, and says so (XD7, H5)", async () => {
  const { runtime } = fakeRuntime({ "/x.json": new RangeError("more") });
  const limits: unknown[] = [];
  const { readTextFile } = runtime;
  const error = await errorOf(readHostConfig("/x.json", {
    runtime: Object.assign(runtime, {
      readTextFile: (path: string, options: unknown) => (limits.push(options), readTextFile(path)),
    }),
  }));
  assert.equal(error.code, "config_unreadable");
  assert.equal(
    error.message,
    'Cannot read the host configuration "/x.json": it has more than 33554432 bytes',
  );
  assert.deepEqual(limits, [{ maxBytes: 33_554_432 }]);
});

const failures: readonly [title: string, error: Error | undefined, code: string, message: RegExp][] = [
  ["is not there (Node, Bun)", undefined, "config_not_found", /: there is no such file$/],
  [
    "is not there (Deno)",
    Object.assign(new Error("x"), { name: "NotFound" }),
    "config_not_found",
    /: there is no such file$/,
  ],
  [
    "may not be read",
    Object.assign(new Error("no permission"), { code: "EACCES" }),
    "config_unreadable",
    /: no permission$/,
  ],
];
for (const [title, cause, code, message] of failures) {
  test(`readHostConfig() rejects for a file that ${title} (H1)`, async () => {
    const { runtime } = fakeRuntime(cause === undefined ? {} : { "/x.json": cause });
    const error = await errorOf(readHostConfig("/x.json", { runtime }));
    assert.equal(error.code, code);
    assert.equal(error.path, "/x.json");
    assert.match(error.message, /^Cannot read the host configuration "\/x\.json": /);
    assert.match(error.message, message);
    assert.ok(error.cause instanceof Error);
  });
}

test("readHostConfig() finds the runtime by itself (H1)", async () => {
  const error = await errorOf(readHostConfig("/nowhere/at/all/.mcp.json"));
  assert.equal(error.code, "config_not_found");
});
