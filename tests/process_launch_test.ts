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
function createWindows(more: readonly string[] = []): FakeRuntime {
  const variables = {
    Path: "C:\\tools;C:\\node",
    PATHEXT: ".EXE;.CMD",
    SystemRoot: "C:\\Windows",
    SECRET: "x",
  };
  const files = ["c:\\node\\npx.cmd", "c:\\tools\\uvx.exe", ...more.map((file) => file.toLowerCase())];
  const runtime = createFakeRuntime({ os: "windows" });
  return Object.assign(runtime, {
    cwd: () => "D:\\host",
    isFile: (path: string) => Promise.resolve(files.includes(path.toLowerCase())),
    isDirectory: (path: string) => Promise.resolve(path !== "gone"),
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
  const env = { PATH: "C:\\nowhere;C:\\TOOLS" };
  const plan = await planLaunch({ ...LAUNCH, command: "uvx", env }, runtime);
  assert.equal(plan.command, "C:\\TOOLS\\uvx.exe");
  assert.deepEqual(Object.entries(plan.env).filter(([name]) => name.toUpperCase() === "PATH").length, 1);
  const launch = { ...LAUNCH, command: "uvx", env: { PATH: "C:\\nowhere" } };
  await assert.rejects(planLaunch(launch, runtime), { code: "command_not_found", command: "uvx" });
});

test("planLaunch() takes no program from a working directory, the host's or the server's, on Windows (P11, XE3)", async () => {
  const runtime = createWindows(["D:\\host\\npx2.exe", "D:\\project\\npx2.exe", "D:\\project\\.\\npx2.exe"]);
  for (const inheritEnv of ["safe", "none"] as const) {
    for (const cwd of [undefined, "D:\\project", "..\\project"]) {
      const launch = { ...LAUNCH, command: "npx2", cwd, inheritEnv };
      await assert.rejects(planLaunch(launch, runtime), {
        name: "ProcessError",
        code: "command_not_found",
        message: 'Cannot start "npx2": no such command (searched in the PATH it would be given)',
      });
    }
  }
  const plan = await planLaunch({ ...LAUNCH, command: ".\\npx2", cwd: "D:\\project" }, runtime);
  assert.equal(plan.command, "D:\\project\\.\\npx2.exe");
});

test("planLaunch() refuses what no system can start before it looks for it, on Windows (P10)", async () => {
  const refused = { code: "invalid_argument" };
  for (const more of [{ command: "" }, { command: "a\0b" }, { args: ["a\0b"] }, { cwd: "\0" }]) {
    await assert.rejects(planLaunch({ ...LAUNCH, ...more }, createWindows()), refused);
  }
});

test("planLaunch() leaves to the runtime on Windows what it may not look for (P11)", async () => {
  const runtime = createWindows();
  runtime.isFile = () => Promise.resolve(undefined);
  const plan = await planLaunch({ ...LAUNCH, command: "npx2" }, runtime);
  assert.deepEqual([plan.command, plan.args], ["npx2", LAUNCH.args]);
});

test("planLaunch() reads a relative cwd from this process's, on Windows (P11, XE4)", async () => {
  const runtime = createWindows(["D:\\host\\sub dir\\.\\rel.exe", "D:\\host\\sub dir\\.\\shim.cmd"]);
  const program = await planLaunch({ ...LAUNCH, command: ".\\rel", cwd: "sub dir" }, runtime);
  assert.deepEqual([program.command, program.cwd], ["D:\\host\\sub dir\\.\\rel.exe", "sub dir"]);
  const shim = await planLaunch({ ...LAUNCH, command: ".\\shim", cwd: "sub dir" }, runtime);
  assert.match(shim.args.at(-1)!, /^""D:\\host\\sub dir\\\.\\shim\.cmd"/);
});

test("planLaunch() tells a missing cwd, and names the user's command, on Windows (P10, XE6)", async () => {
  const runtime = createWindows();
  const batch = await planLaunch({ ...LAUNCH, cwd: "gone" }, runtime);
  assert.deepEqual(batch.shown, { command: "npx", args: LAUNCH.args });
  const relative = planLaunch({ ...LAUNCH, command: ".\\server", cwd: "gone" }, runtime);
  await assert.rejects(relative, { code: "cwd_not_found", command: ".\\server", cwd: "gone" });
});

test("planLaunch() takes cmd.exe from this process's system folder, whatever the server's environment says (P11, XD9)", async () => {
  const runtime = createWindows();
  for (const env of [{ SystemRoot: "C:\\evil" }, { SYSTEMROOT: "C:\\evil" }, { SystemRoot: null }]) {
    for (const inheritEnv of ["safe", "none"] as const) {
      const PATH = "C:\\node";
      const plan = await planLaunch({ ...LAUNCH, inheritEnv, env: { PATH, ...env } }, runtime);
      assert.equal(plan.command, "C:\\Windows\\System32\\cmd.exe");
    }
  }
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
