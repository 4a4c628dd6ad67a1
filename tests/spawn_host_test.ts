import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { SpawnOptions } from "../client.ts";
import type { ChildHandle, Signal } from "../runtime.ts";
import { isRunning, Script, type Step, timeOf, untilGone } from "./_scripted_server.ts";
import {
  ENV,
  name,
  POSIX_SIGNALS,
  program,
  readUntil,
  SLOW,
  start,
  startCommand,
  textOf,
  WINDOWS,
} from "./runtime_adapter/harness.ts";

const STUBBORN: readonly Step[] = [{ ignore: "eof" }, { ignore: "SIGTERM" }];

interface Household {
  readonly host: ChildHandle;
  readonly scripts: readonly Script[];
  /** The ids of all servers and helpers. */
  readonly pids: number[];
}

/** A server that a shell runs, or on Windows a batch file. */
function behindWrapper(t: TestContext, command: string, args: readonly string[]): {
  command: string;
  args: readonly string[];
} {
  if (!WINDOWS) {
    return {
      command: "sh",
      args: ["-c", [command, ...args].map((word) => `'${word}'`).join(" ") + "; true"],
    };
  }
  const folder = mkdtempSync(join(tmpdir(), "stdio-wrapper-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "wrapper.cmd");
  const words = [command, ...args.slice(0, -1)].map((word) => `"${word}"`);
  writeFileSync(path, `@${words.join(" ")} %*\r\n`);
  return { command: path, args: args.slice(-1) };
}

/** Starts a host with servers: a polite one, a stubborn one, and one behind a wrapper that has a helper. */
async function startHost(
  t: TestContext,
  how: string,
  options: Partial<SpawnOptions> = {},
  scripts: Script[] = [
    new Script(t, []),
    new Script(t, STUBBORN),
    new Script(t, [{ helper: "in" }, ...STUBBORN]),
  ],
): Promise<Household> {
  const servers = scripts.map(({ command, args }, index) =>
    index < 2 ? { command, args } : behindWrapper(t, command, args)
  );
  const host = await start(t, "host_client.ts", [how, JSON.stringify({ servers, options })], {
    stderr: "pipe",
  });
  await readUntil(host.stderr, "up\n");
  await Promise.all(scripts.map((script) => script.until("it runs", () => script.starts > 0)));
  return {
    host,
    scripts,
    get pids() {
      return scripts.flatMap(({ pids }) => pids);
    },
  };
}

/** Ways a host ends, and its status; `error` is any code but 0. */
const ENDS: ReadonlyArray<[how: string, signal: Signal | undefined, exit: object | "error"]> = [
  ["returns", undefined, { code: 0 }],
  ["returns_while_listening", undefined, { code: 0 }],
  ["closes", undefined, { code: 0 }],
  ["disposes", undefined, { code: 0 }],
  ["by_exit", undefined, { code: 3 }],
  ["by_exit_in_a_call", undefined, { code: 3 }],
  ["by_exit_in_a_close", undefined, { code: 3 }],
  ["by_error", undefined, "error"],
  ["by_rejection", undefined, "error"],
  ["by_signal", "SIGTERM", { signal: "SIGTERM" }],
  ["by_signal", "SIGHUP", { signal: "SIGHUP" }],
  ["by_signal", "SIGINT", { signal: "SIGINT" }],
];

for (const [how, signal, exit] of ENDS) {
  test(
    `A host that ends ${how.replaceAll("_", " ")} ${signal ?? ""} leaves no server (P9, B98, B104)`,
    signal === undefined ? SLOW : POSIX_SIGNALS,
    async (t) => {
      const household = await startHost(t, how, { shutdownGraceMs: 100 });
      const { host } = household;
      if (signal !== undefined) host.signal(signal, "child");
      const status = await host.exited;
      if (exit === "error") {
        assert.ok(status?.code !== undefined && status.code !== 0, JSON.stringify(status));
      } else assert.deepEqual(status, exit, await textOf(host.stderr));
      await untilGone(household.pids);
    },
  );
}

test("A host that ends while it connects leaves no server (P9, B80)", POSIX_SIGNALS, async (t) => {
  const scripts = [new Script(t, [...STUBBORN, { stay: true }]), new Script(t, [{ stay: true }])];
  const household = await startHost(t, "by_signal_while_connecting", {}, scripts);
  household.host.signal("SIGTERM", "child");
  assert.deepEqual(await household.host.exited, { signal: "SIGTERM" });
  await untilGone(household.pids);
});

test(
  "A host that is killed leaves only the server that does not heed the end of its input (P9, B104)",
  SLOW,
  async (t) => {
    const scripts = [new Script(t, []), new Script(t, STUBBORN)];
    const { host } = await startHost(t, "by_signal", {}, scripts);
    await host.signal("SIGKILL", "child");
    const status = await host.exited;
    assert.ok(status !== null && status.code !== 0, JSON.stringify(status));
    await untilGone(scripts[0]!.pids);
    await scripts[1]!.until(
      "the stubborn one has seen the end of its input, or on Windows a job has ended it",
      () => scripts[1]!.of("eof").length > 0 || WINDOWS && !isRunning(scripts[1]!.pids[0]!),
    );
    if (!WINDOWS) assert.ok(isRunning(scripts[1]!.pids[0]!)); // Nobody is left who could end it.
  },
);

test(
  "A host that closes ends, although a stranger holds the stderr of its server open (P3)",
  SLOW,
  async (t) => {
    const script = new Script(t, [{ helper: "out", holds: "stderr" }]);
    const { host } = await startHost(t, "closes", { stderr: "capture" }, [script]);
    assert.deepEqual(await host.exited, { code: 0 });
    assert.ok(isRunning(script.of("helper")[0]!.pid!));
  },
);

test("A host ends soon although its servers are stubborn (P9, B98)", SLOW, async (t) => {
  const { host } = await startHost(t, "returns");
  const tookMs = await timeOf(() => host.exited);
  assert.ok(tookMs < 20_000, `${tookMs} ms`); // Two seconds, ten times for busy machines.
});

// What a terminal does at Ctrl-C: the whole foreground group gets SIGINT.

for (const processGroup of [true, false]) {
  test(
    `A terminal's Ctrl-C ${processGroup ? "does not reach" : "reaches"} a server ${
      processGroup ? "by default" : "without a group"
    } (P1, B103)`,
    POSIX_SIGNALS,
    async (t) => {
      const scripts = [new Script(t, [{ ignore: "SIGINT" }])];
      const { host } = await startHost(t, "goes_on_after_signal", { processGroup }, scripts);
      host.signal("SIGINT", "group");
      await readUntil(host.stderr, "went on\n");
      assert.deepEqual(await host.exited, { code: 0 });
      assert.deepEqual(scripts[0]!.of("signal").map(({ signal }) => signal), processGroup ? [] : ["SIGINT"]);
      await untilGone(scripts[0]!.pids);
    },
  );
}

if (name === "deno") {
  /** The permissions of a host, and what it can end with them. */
  const GRANTS: ReadonlyArray<[flags: (command: string) => string[], endsHelper: boolean, warning: RegExp]> =
    [
      [
        (command) => [`--allow-run=${command}`],
        false,
        /only the server itself (?:can be signalled|was ended)/,
      ],
      [() => ["--allow-run"], true, /^$/],
    ];

  for (const [toFlags, endsHelper, warning] of GRANTS) {
    test(
      `A Deno host with ${toFlags("=…")} ends ${
        endsHelper ? "the tree" : "the server, and says so once"
      } (P12, B105)`,
      SLOW,
      async (t) => {
        const scripts = [new Script(t, [{ helper: "in" }, ...STUBBORN]), new Script(t, STUBBORN)];
        const servers = scripts.map(({ command, args }) => ({ command, args }));
        const { PATH, HOME } = ENV;
        const options = { shutdownGraceMs: 100, inheritEnv: "none", env: { PATH, HOME } };
        const plan = JSON.stringify({ servers, options });
        const flags = ["--no-prompt", ...toFlags(scripts[0]!.command)];
        const host = await startCommand(t, program("host_client.ts", ["closes", plan], flags), {
          stderr: "pipe",
        });
        const text = await textOf(host.stderr);
        assert.deepEqual(await host.exited, { code: 0 }, text);
        assert.match(text.replace("up\n", ""), warning);
        assert.ok((text.match(/only the server/g)?.length ?? 0) <= 1, text);
        await untilGone(scripts.map(({ pids }) => pids[0]!));
        // On Windows a helper may end with its server all the same.
        const [helper] = scripts[0]!.of("helper");
        if (endsHelper || !WINDOWS) assert.equal(isRunning(helper!.pid!), !endsHelper);
      },
    );
  }

  test("A Deno host without --allow-env is told once what its servers lack (XF12)", SLOW, async (t) => {
    const scripts = [new Script(t, []), new Script(t, [])];
    const servers = scripts.map(({ command, args }) => ({ command, args }));
    for (
      const flags of [["--allow-run"], ["--allow-run", "--allow-env=HOME"], ["--allow-run", "--allow-env"]]
    ) {
      const command = program("host_client.ts", ["closes", JSON.stringify({ servers })], [
        "--no-prompt",
        ...flags,
      ]);
      const host = await startCommand(t, command, { stderr: "pipe" });
      const text = await textOf(host.stderr);
      const warnings = text.match(
        /start (?:with an empty environment|without PATH): that needs --allow-env/g,
      );
      assert.equal(warnings?.length ?? 0, flags.at(-1) === "--allow-env" ? 0 : 1, text);
      if (flags.length > 1 && warnings !== null) assert.match(warnings[0]!, /without PATH/);
    }
  });

  test(
    "A Deno host without the permission to run is told which flag, before anything starts (P10, B105)",
    SLOW,
    async (t) => {
      const script = new Script(t, []);
      const plan = JSON.stringify({ servers: [{ command: script.command, args: script.args }] });
      const flags = ["--no-prompt", "--allow-env"];
      const host = await startCommand(t, program("host_client.ts", ["closes", plan], flags), {
        stderr: "pipe",
      });
      const text = await textOf(host.stderr);
      assert.match(
        text,
        /ProcessError: Cannot start .*Deno has no permission to run it \(run with --allow-run=/,
      );
      assert.equal(script.starts, 0);
    },
  );
}
