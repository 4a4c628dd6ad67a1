import assert from "node:assert/strict";
import { test } from "node:test";
import { type LaunchSettings, planLaunch } from "../internal/process/launch.ts";
import { createFakeRuntime, type FakeRuntime } from "../testing.ts";
import { prepareHouse } from "./_client_peer.ts";

const LAUNCH: LaunchSettings = {
  command: "npx",
  args: ["-y", "a b"],
  cwd: undefined,
  env: {},
  inheritEnv: "safe",
  passEnv: [],
  processGroup: true,
  stderr: "pipe",
};

/** Windows in memory; its files and its environment take any case, as there. */
function createWindows(): FakeRuntime {
  const variables = {
    Path: "C:\\tools;C:\\node",
    PATHEXT: ".EXE;.CMD",
    SystemRoot: "C:\\Windows",
    SECRET: "x",
  };
  const files = ["c:\\node\\npx.cmd", "c:\\tools\\uvx.exe"];
  const runtime = createFakeRuntime({ os: "windows" });
  return Object.assign(runtime, {
    isFile: (path: string) => Promise.resolve(files.includes(path.toLowerCase())),
    env: (names: readonly string[] = []) =>
      Object.fromEntries(
        Object.entries(variables).filter(([name]) =>
          names.some((wanted) => wanted.toUpperCase() === name.toUpperCase())
        ),
      ),
  });
}

test("planLaunch() hands a command to a POSIX system as it is (P1, P2)", async () => {
  const runtime = createFakeRuntime({ env: { PATH: "/bin", HOME: "/root", NODE_OPTIONS: "--inspect" } });
  assert.deepEqual(await planLaunch({ ...LAUNCH, cwd: "/work", env: { TOKEN: "t", HOME: null } }, runtime), {
    command: "npx",
    args: ["-y", "a b"],
    cwd: "/work",
    env: { PATH: "/bin", TOKEN: "t" },
    processGroup: true,
    stderr: "pipe",
  });
});

test("planLaunch() reads no name of this process's environment that it does not take over (P1)", async () => {
  const asked: unknown[] = [];
  const runtime = createFakeRuntime();
  const { env } = runtime;
  runtime.env = (names) => {
    asked.push(names);
    return env.call(runtime, names);
  };
  await planLaunch({ ...LAUNCH, inheritEnv: "none" }, runtime);
  assert.deepEqual(asked, []);
  await planLaunch({ ...LAUNCH, inheritEnv: "none", passEnv: ["TOKEN"] }, runtime);
  assert.deepEqual(asked, [["TOKEN"]]);
});

test("planLaunch() starts a shim through cmd.exe on Windows, and a program by itself (P11, B122)", async () => {
  const runtime = createWindows();
  const shim = await planLaunch(LAUNCH, runtime);
  assert.deepEqual([shim.command, shim.verbatimArguments], ["C:\\Windows\\System32\\cmd.exe", true]);
  assert.match(shim.args.join(" "), /C:\\node\\npx\.cmd/i);
  const program = await planLaunch({ ...LAUNCH, command: "uvx" }, runtime);
  assert.match(program.command, /^C:\\tools\\uvx\.exe$/i);
  assert.deepEqual([program.args, program.verbatimArguments], [LAUNCH.args, false]);
  assert.deepEqual(Object.keys(program.env).sort(), ["PATHEXT", "Path", "SystemRoot"]);
});

test("planLaunch() searches the PATH that the server gets, whatever its case, on Windows (P11, B128)", async () => {
  const runtime = createWindows();
  const plan = await planLaunch({ ...LAUNCH, command: "uvx", env: { PATH: "C:\\nowhere" } }, runtime);
  assert.equal(plan.command, "uvx"); // Not found there: the system says so.
  assert.deepEqual(Object.entries(plan.env).filter(([name]) => name.toUpperCase() === "PATH").length, 1);
});

test("spawn() ends a tree on Windows by one hard step behind the end of input (P3, P11, B126)", async () => {
  const house = prepareHouse(undefined, { command: "uvx" });
  Object.assign(house.runtime, { os: "windows" });
  const client = await house.spawn();
  const [server] = house.runtime.processes;
  server!.ignoresEndOfInput = true;
  const targets: string[] = [];
  const { signal } = server!.handle;
  Object.assign(server!.handle, {
    signal: (...args: Parameters<typeof signal>) => {
      targets.push(args[1]);
      return signal(...args);
    },
  });
  const closed = client.close();
  await house.clock.advance(2_000);
  assert.equal((await closed).step, "kill");
  assert.deepEqual([server!.signals, targets], [["SIGKILL"], ["group"]]);
});
