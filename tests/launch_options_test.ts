// What people write for a server to be started, and what it tells them (XF11, P10).
import assert from "node:assert/strict";
import { test } from "node:test";
import { spawn, spawnServer } from "../client.ts";
import { commandHint } from "../internal/runtime/spawn_failure.ts";
import { StdioClientTransport } from "../sdk_transport.ts";
import { createFakeRuntime } from "../testing.ts";
import { createLog, outcomeOf } from "./_client_peer.ts";

const refused: readonly [options: unknown, message: string][] = [
  [undefined, 'Cannot start a server: it takes { command: "node", args: ["server.js"] }, not undefined'],
  [
    "node server.js",
    'Cannot start a server: it takes { command: "node", args: ["server.js"] }, not "node server.js"',
  ],
  [{}, 'Cannot start a server: "command" must be a string, but is undefined'],
  [{ cmd: "node" }, 'Cannot use %: there is no option "cmd", did you mean "command"?'],
  [{ comand: "node" }, 'Cannot use %: there is no option "comand", did you mean "command"?'],
  [{ command: "node", arguments: [] }, 'Cannot use %: there is no option "arguments", did you mean "args"?'],
  [{ command: "node", workdir: "/" }, 'Cannot use %: there is no option "workdir", did you mean "cwd"?'],
  [{ command: ["node", "x.js"] }, 'Cannot start a server: "command" must be a string, but is an array'],
  [
    { command: "node", args: "weather.js --fast" },
    'Cannot start "node": "args" must be an array of strings, such as ["weather.js", "--fast"], but is "weather.js --fast"',
  ],
  [
    { command: "node", args: ["-p", 3000] },
    'Cannot start "node": "args[1]" must be a string, but is a number',
  ],
  [
    { command: "node", args: [undefined] },
    'Cannot start "node": "args[0]" must be a string, but is undefined',
  ],
  [
    { command: "node", cwd: new URL("file:///srv") },
    'Cannot start "node": "cwd" must be a path as a string, but is an object',
  ],
  [
    { command: "node", env: ["A=1"] },
    'Cannot start "node": "env" must be an object, such as { TOKEN: "…" }, but is an array',
  ],
  [
    { command: "node", inheritEnv: true },
    'Cannot start "node": "inheritEnv" must be "safe", "all" or "none", but is a boolean',
  ],
  [
    { command: "node", passEnv: "GH_*" },
    'Cannot start "node": "passEnv" must be an array of names, but is "GH_*"',
  ],
  [
    { command: "node", processGroup: 1 },
    'Cannot start "node": "processGroup" must be true or false, but is a number',
  ],
  [
    { command: "node", stderr: "pipe" },
    'Cannot start "node": "stderr" must be "inherit", "tee", "capture", "ignore" or a function, but is "pipe"',
  ],
];
for (const [options, message] of refused) {
  test(`spawn() and its kin refuse ${JSON.stringify(options)} before anything is started (XF11)`, async () => {
    const runtime = createFakeRuntime();
    const given = typeof options === "object" ? { ...options, runtime } : options;
    const expected = (what: string) => ({ name: "TypeError", message: message.replace("%", what) });
    await assert.rejects(spawn(given as never), expected("spawn()"));
    await assert.rejects(spawnServer(given as never), expected("spawnServer()"));
    assert.throws(() => new StdioClientTransport(given as never), expected("StdioClientTransport"));
    assert.equal(runtime.processes.length, 0);
  });
}

test("spawn() names options that it does not know, and goes on (XF11)", async () => {
  const log = createLog();
  const runtime = createFakeRuntime({ onSpawn: () => Promise.reject(new Error("started")) });
  // A name that two kinds of options have is not taken for a slip where both are given.
  const options = {
    command: "x",
    name: "weather",
    disabled: false,
    maxRestarts: 0,
    logger: log.logger,
    runtime,
  };
  const { error } = await outcomeOf(spawn(options));
  assert.equal(error?.message, "started");
  assert.equal(log.of("warn")[0], '[mcp_stdio] spawn() knows no option "name", "disabled"');
});

const hints: readonly [command: string, args: readonly string[], hint: string | undefined][] = [
  ["node", ["x.js"], undefined],
  ["/usr/local/bin/server", [], undefined],
  ["node weather.js", [], 'arguments belong in args: command "node", args ["weather.js"]'],
  ["npx -y pkg", ["--fast"], 'arguments belong in args: command "npx", args ["-y","pkg","--fast"]'],
  [
    "/usr/bin/node weather.js",
    [],
    'arguments belong in args: command "/usr/bin/node", args ["weather.js"]',
  ],
  ["./server -v", [], 'arguments belong in args: command "./server", args ["-v"]'],
  ["C:\\My Programs\\server", [], undefined],
  [
    "C:\\My Programs\\server.js",
    [],
    'a script is started by its interpreter: command "node", args ["C:\\\\My Programs\\\\server.js"]',
  ],
  ["~/bin/x", [], "no shell is involved, which would expand ~: give the whole path"],
  ["$HOME/bin/x", [], "no shell is involved, which would expand variables"],
  ["${HOME}/bin/x", [], "no shell is involved, which would expand variables"],
  ["%APPDATA%\\x.exe", [], "no shell is involved, which would expand variables"],
  ['"C:\\Program Files\\x.exe"', [], "the quotes are part of the command: leave them out"],
  ["server.js", ["-v"], 'a script is started by its interpreter: command "node", args ["server.js","-v"]'],
  ["./Server.PY", [], 'a script is started by its interpreter: command "python", args ["./Server.PY"]'],
];
for (const [command, args, hint] of hints) {
  test(`commandHint() has ${hint === undefined ? "nothing to say" : "a hint"} for ${command} (P10, XF11)`, () => {
    assert.equal(commandHint(command, args), hint);
  });
}

test("spawn() gives the hint with the error of a command that is not there (P10, XF11)", async () => {
  const { error } = await outcomeOf(spawn({ command: "no-such-node weather.js", maxRestarts: 0 }));
  assert.equal(
    error?.message,
    'Cannot start "no-such-node weather.js": no such command (searched in the PATH it would be given; ' +
      'arguments belong in args: command "no-such-node", args ["weather.js"])',
  );
});

test("spawn() says once that the environment may not be read, and what servers lack (XF12)", async () => {
  const log = createLog();
  const runtime = createFakeRuntime({ onSpawn: () => Promise.reject(new Error("started")) });
  Object.assign(runtime, { mayReadEnv: () => false });
  const start = (more: object = {}) =>
    outcomeOf(spawn({ command: "x", maxRestarts: 0, logger: log.logger, runtime, ...more }));
  await start({ inheritEnv: "none" });
  await start({ env: { PATH: "/bin" } });
  assert.deepEqual(log.of("warn").filter((line) => line.includes("environment")), []);
  await start();
  await start();
  assert.deepEqual(log.of("warn").filter((line) => line.includes("environment")), [
    "[mcp_stdio] the environment of this process may not be read, so that its servers start with an empty " +
    "environment: that needs --allow-env",
  ]);
});
