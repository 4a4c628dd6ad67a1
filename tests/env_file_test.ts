import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { spawn } from "../client.ts";
import { HostConfigError } from "../errors.ts";
import {
  launchAll,
  type LaunchOutcome,
  parseHostConfig,
  readHostConfig,
  resolveLaunch,
  type StdioHostServer,
} from "../host_config.ts";
import { parseEnvFile } from "../internal/host_config/env_file.ts";
import type { ReadTextFileOptions, RuntimeAdapter } from "../runtime.ts";
import { assertLinear } from "./linear_time.ts";

// ---- the text of a file

const files: readonly [title: string, text: string, variables: Record<string, string>][] = [
  ["bare values", "A=1\nB = two words \nC=\n D=x", { A: "1", B: "two words", C: "", D: "x" }],
  ["comments", "# A=1\n\n  # x\nB=1 # note\nC=#\nD=a#b", { B: "1", C: "", D: "a#b" }],
  ["export", "export A=1\nexport  B=2\nexport=3", { A: "1", B: "2", export: "3" }],
  ["single quotes", "A='x \\n $B # no note' # note", { A: "x \\n $B # no note" }],
  ["double quotes", 'A="x\\n\\"y\\" \\\\ \\z"  ', { A: 'x\n"y" \\ \\z' }],
  ["references, which stand for themselves", "A=${B}#x", { A: "${B}#x" }],
  ["lines of any kind", "\ufeffA=1\r\nB=2\rC=3", { A: "1", B: "2", C: "3" }],
  ["the last of two", "A=1\nA=2", { A: "2" }],
  [
    "a private key over four lines",
    'BEFORE=1\nKEY="-----BEGIN PRIVATE KEY-----\r\nMIIE\r\nvQ==\r\n-----END PRIVATE KEY-----"\r\nAFTER=2',
    { BEFORE: "1", KEY: "-----BEGIN PRIVATE KEY-----\nMIIE\nvQ==\n-----END PRIVATE KEY-----", AFTER: "2" },
  ],
  ["single quotes over lines", "A='1\n2 # 3\n' # x\nB=4", { A: "1\n2 # 3\n", B: "4" }],
];
for (const [title, text, variables] of files) {
  test(`parseEnvFile() reads ${title} (B133, XD2)`, () => {
    const file = parseEnvFile(text);
    assert.deepEqual(Object.fromEntries(file.variables), variables);
    assert.deepEqual(file.badLines, []);
  });
}

test("parseEnvFile() names the lines that are none, also behind a value of several lines, and reads the others (B131)", () => {
  const file = parseEnvFile('A="1\n2"\nhush hush\n"hush"=1\nB=\'x\' y\n=1\nC=3\nD="open\nE=5');
  assert.deepEqual(file.badLines, [3, 4, 5, 6, 8]);
  assert.deepEqual(Object.fromEntries(file.variables), { A: "1\n2", C: "3", E: "5" });
});

const heaps: readonly [title: string, make: (size: number) => string][] = [
  ["spaces behind a name", (size) => `KEY${" ".repeat(size)}x`],
  ["spaces in a value", (size) => `KEY=a${" ".repeat(size)}x`],
  ["spaces behind export", (size) => `export${" ".repeat(size)}`],
  ["spaces behind a quote", (size) => `KEY="a"${" ".repeat(size)}x`],
  ["marks", (size) => `KEY=${"#".repeat(size)}`],
  ["marks with spaces", (size) => `KEY=${"a#".repeat(size / 2)} #`],
  ["open quotes", (size) => 'A="\\"\n'.repeat(size / 6)],
  ["open quotes of two kinds", (size) => "A=\"'\nA='\n".repeat(size / 9)],
  ["lines that are none", (size) => "x\n".repeat(size / 2)],
  ["backslashes", (size) => `A="${"\\".repeat(size)}`],
  ["lines of a value", (size) => `A="${"x\n".repeat(size / 2)}"`],
];
for (const [title, make] of heaps) {
  test(`parseEnvFile() takes time that grows with the size, for many ${title} (XD1, H5)`, async () => {
    await assertLinear((size) => parseEnvFile(make(size)), 80_000);
  });
}

test("parseEnvFile() reads a value as long as a file may be (XD1, H5)", () => {
  for (const quote of ["'", '"', ""]) {
    const { variables } = parseEnvFile(`A=${quote}${"x".repeat(1_048_000)}${quote}`);
    assert.equal(variables.get("A")?.length, 1_048_000);
  }
});

// ---- when it is read

/** A runtime that has these files, and notes what is asked of it. */
function runtimeOf(files: Record<string, string | Error>): { runtime: RuntimeAdapter; read: unknown[] } {
  const read: unknown[] = [];
  const runtime = {
    os: "posix",
    cwd: () => "/",
    env: () => ({}),
    readTextFile: (path: string, options?: ReadTextFileOptions) => {
      read.push([path, options]);
      const file = files[path] ?? new Error("no such file");
      return file instanceof Error ? Promise.reject(file) : Promise.resolve(file);
    },
  } as unknown as RuntimeAdapter;
  return { runtime, read };
}

async function serverOf(entry: unknown, env: Record<string, string> = {}): Promise<StdioHostServer> {
  const text = JSON.stringify({ mcpServers: { one: entry } });
  const { servers: [server] } = await parseHostConfig(text, { env, path: "/p/.mcp.json" });
  assert.ok(server?.kind === "stdio", server?.error?.message);
  return server;
}

test("resolveLaunch() puts the variables of envFile below those of env (B133, XD7)", async () => {
  const server = await serverOf({ command: "x", envFile: "${DIR}/.env", env: { OVER: "entry" } }, {
    DIR: "conf",
  });
  assert.deepEqual(server.launch, {
    command: "x",
    args: [],
    env: { OVER: "entry" },
    envFile: "/p/conf/.env",
  });
  const { runtime, read } = runtimeOf({ "/p/conf/.env": "A=1\nOVER=file" });
  const launch = await resolveLaunch(server, { runtime });
  assert.deepEqual(launch, { command: "x", args: [], env: { A: "1", OVER: "entry" } });
  assert.ok(Object.isFrozen(launch) && Object.isFrozen(launch.env));
  assert.deepEqual(read, [["/p/conf/.env", { maxBytes: 1_048_576, regular: true }]]);
});

test("resolveLaunch() gives what an entry without envFile has, and reads nothing (XD7)", async () => {
  const server = await serverOf({ command: "x" });
  const { runtime, read } = runtimeOf({});
  assert.equal(await resolveLaunch(server, { runtime }), server.launch);
  assert.deepEqual(read, []);
});

test("spawn() refuses a launch whose envFile nobody has read (XD7, XF11)", async () => {
  const server = await serverOf({ command: "x", envFile: ".env" });
  await assert.rejects(spawn(server.launch), {
    name: "TypeError",
    message: 'Cannot use spawn(): it reads no "envFile", give it what resolveLaunch() makes of the server',
  });
});

const faults: readonly [title: string, file: string | Error, code: string, message: RegExp][] = [
  ["that cannot be read", new Error("no such file"), "config_unreadable", / cannot be read: no such file$/],
  [
    "that is too large",
    "A=".padEnd(1_048_577, "x"),
    "config_unreadable",
    /: it has more than 1048576 bytes$/,
  ],
  [
    "with bad lines",
    'A=1\nhush hush\n"hush"=1\nB="open',
    "invalid_config",
    / has lines that are no NAME=value: 2, 3, 4$/,
  ],
  ["with many bad lines", "x\n".repeat(30), "invalid_config", /: 1, 2, .*, 19, 20 and 10 more$/],
];
for (const [title, file, code, message] of faults) {
  test(`resolveLaunch() rejects for an envFile ${title}, and shows none of it (B131, S2-50)`, async () => {
    const server = await serverOf({ command: "x", envFile: ".env" });
    const { runtime } = runtimeOf({ "/p/.env": file });
    const error = await resolveLaunch(server, { runtime }).then(() => assert.fail(), (error) => error);
    assert.ok(error instanceof HostConfigError);
    assert.equal(error.code, code);
    assert.deepEqual([error.path, error.server], ["/p/.env", "one"]);
    assert.match(error.message, /^Cannot use the server "one": its "envFile" "\/p\/\.env" /);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /hush/);
  });
}

test("launchAll() reads envFile after the consent, and never without one (XD7)", async () => {
  const server = await serverOf({ command: "x", envFile: ".env", env: { B: "2" } });
  const { runtime, read } = runtimeOf({ "/p/.env": "A=1" });
  const config = { path: undefined, dialect: "claude_code", servers: [server], inputs: [], raw: {} } as const;
  const asked: string[] = [];
  const launchWith = (answer: boolean) =>
    launchAll(config, {
      runtime,
      consent: ({ commandLine, fingerprint }) => {
        asked.push(commandLine);
        assert.equal(fingerprint, server.fingerprint);
        assert.equal(read.length, 0);
        return answer;
      },
      launch: (options) => Promise.resolve(options),
    });
  const [refused] = await launchWith(false);
  assert.equal(refused?.kind, "refused");
  assert.deepEqual(read, []);
  const [launched] = await launchWith(true);
  assert.ok(launched?.kind === "launched");
  assert.deepEqual(launched.value, { command: "x", args: [], env: { A: "1", B: "2" } });
  assert.equal(launched.server, server);
  assert.deepEqual(asked, Array(2).fill("(variables of /p/.env) B=… x"));
  assert.equal(read.length, 1);
});

test("launchAll() asks once more where envFile decides what runs, with its values (XD3, XD7)", async () => {
  const server = await serverOf({ command: "x", envFile: ".env", env: { PATH: "/bin" } });
  const config = { path: undefined, dialect: "claude_code", servers: [server], inputs: [], raw: {} } as const;
  const approved = new Set([server.fingerprint]);
  const asked: StdioHostServer[] = [];
  const launchWith = (text: string, answer: boolean) =>
    launchAll(config, {
      ...runtimeOf({ "/p/.env": text }),
      approved,
      consent: (server) => (asked.push(server), answer),
      launch: (options) => Promise.resolve(options.env),
    });
  const valueOf = ([outcome]: LaunchOutcome<unknown>[]) =>
    outcome?.kind === "launched" ? outcome.value : outcome?.kind;
  assert.deepEqual(valueOf(await launchWith("KEY=hush\nPATH=/evil", false)), { KEY: "hush", PATH: "/bin" });
  assert.equal(asked.length, 0);
  const text = "KEY=hush\nLD_PRELOAD=/evil.so";
  assert.equal(valueOf(await launchWith(text, false)), "refused");
  const [question] = asked;
  assert.equal(
    question?.commandLine,
    '("/p/.env" sets LD_PRELOAD=/evil.so) (variables of /p/.env) PATH=/bin x',
  );
  assert.match(question?.warnings[0] ?? "", /"LD_PRELOAD" can make a program load code .*"\/evil\.so"/);
  assert.notEqual(question?.fingerprint, server.fingerprint);
  approved.add(question!.fingerprint);
  assert.deepEqual(valueOf(await launchWith(text, false)), {
    KEY: "hush",
    LD_PRELOAD: "/evil.so",
    PATH: "/bin",
  });
  assert.equal(valueOf(await launchWith("KEY=hush\nLD_PRELOAD=/other.so", false)), "refused");
  assert.equal(asked.length, 2);
});

test("launchAll() keeps the fault of one envFile apart from the other servers (H3, XD7)", async () => {
  const text = JSON.stringify({ mcpServers: { a: { command: "x", envFile: "no" }, b: { command: "y" } } });
  const config = await parseHostConfig(text, { env: {} });
  const { runtime } = runtimeOf({});
  const outcomes = await launchAll(config, {
    runtime,
    consent: () => true,
    launch: () => Promise.resolve("ok"),
  });
  assert.deepEqual(outcomes.map(({ kind }) => kind), ["failed", "launched"]);
  assert.ok(outcomes[0]?.kind === "failed" && outcomes[0].error instanceof HostConfigError);
});

test("parseHostConfig() gives another fingerprint for another envFile, and shows it (H3, XD7)", async () => {
  const servers = await Promise.all(
    [{}, { envFile: "a" }, { envFile: "b\u202e" }].map((rest) => serverOf({ command: "x", ...rest })),
  );
  assert.equal(new Set(servers.map(({ fingerprint }) => fingerprint)).size, 3);
  assert.equal(servers[2]?.commandLine, "(variables of $'/p/b\\u202e') x");
});

test(
  "readHostConfig() and launchAll() neither read a device nor wait for a pipe that a project names (XD7)",
  {
    timeout: 60_000,
    skip: process.platform === "win32" ? "Windows has no such files" : false,
  },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "stdio-"));
    t.after(() => rmSync(folder, { recursive: true }));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const entry = (envFile: string) => ({ command: "x", envFile });
    const mcpServers = { zero: entry("/dev/zero"), stdin: entry("/dev/stdin"), pipe: entry("pipe") };
    const path = join(folder, ".mcp.json");
    writeFileSync(path, JSON.stringify({ mcpServers }));
    const config = await readHostConfig(path);
    assert.deepEqual(config.servers.map(({ kind }) => kind), ["stdio", "stdio", "stdio"]);
    const outcomes = await launchAll({ ...config, servers: [config.servers[0]!, config.servers[2]!] }, {
      consent: () => true,
      launch: () => assert.fail("nothing can be started"),
    });
    for (const outcome of outcomes) {
      assert.ok(outcome.kind === "failed");
      assert.match(String(outcome.error), /"envFile" .* cannot be read: .* it is no regular file$/);
    }
  },
);
