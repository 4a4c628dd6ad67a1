import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnedProcess } from "../internal/process/owned_process.ts";
import { ProcessLink } from "../internal/process/process_link.ts";
import { startServer } from "../internal/process/start_server.ts";
import { StderrDrain } from "../internal/process/stderr_drain.ts";
import { StreamConnection } from "../internal/stream_connection.ts";
import { silentLogger } from "../logger.ts";
import type { SpawnCommand } from "../runtime.ts";
import {
  createFakeRuntime,
  FakeClock,
  type FakeProcess,
  type FakeRuntime,
  type FakeRuntimeOptions,
} from "../testing.ts";
import { createLog, settle } from "./_client_peer.ts";
import { stateOf } from "./helpers.ts";

/** Not alike, so that one taken for the other is seen. */
const GRACES = { shutdownGraceMs: 2_000, terminateGraceMs: 1_000 };

interface Case {
  readonly link: ProcessLink;
  readonly process: FakeProcess;
  readonly clock: FakeClock;
  readonly runtime: FakeRuntime;
  readonly log: ReturnType<typeof createLog>;
  /** How many wait for the end of this process. */
  readonly watches: () => number;
}

async function start(
  { stderr = "pipe", processGroup = true, ...options }: FakeRuntimeOptions & {
    stderr?: SpawnCommand["stderr"];
    processGroup?: boolean;
  } = {},
): Promise<Case> {
  const runtime = createFakeRuntime(options);
  const clock = new FakeClock();
  const log = createLog();
  let watches = 0;
  const watch = runtime.onProcessEnd.bind(runtime);
  runtime.onProcessEnd = (callback) => {
    watches++;
    const stop = watch(callback);
    return () => {
      watches--;
      stop();
    };
  };
  const link = await startServer({
    launch: {
      command: "server",
      args: [],
      cwd: undefined,
      env: {},
      inheritEnv: "safe",
      passEnv: [],
      processGroup,
      stderr,
    },
    keepsAlive: true,
    stderr: {},
    connection: { maxLineBytes: 1_000, maxNestingDepth: 64, maxQueuedBytes: 1_000, readBufferBytes: 65_536 },
    runtime,
    logger: log.logger,
    clock,
  });
  return { link, process: runtime.processes[0]!, clock, runtime, log, watches: () => watches };
}

/** What a process does when it is to end, and how and when that comes about. */
const LADDER: ReadonlyArray<
  [
    what: string,
    set: (server: FakeProcess) => void,
    step: string,
    exit: object,
    signals: string[],
    atMs: number,
  ]
> = [
  ["ends with its input (B84)", () => {}, "eof", { code: 0 }, [], 0],
  [
    "ends on SIGTERM",
    (p) => void (p.ignoresEndOfInput = true),
    "term",
    { signal: "SIGTERM" },
    ["SIGTERM"],
    2_000,
  ],
  [
    "ignores both (B83)",
    (p) => {
      p.ignoresEndOfInput = true;
      p.ignoredSignals.add("SIGTERM");
    },
    "kill",
    { signal: "SIGKILL" },
    ["SIGTERM", "SIGKILL"],
    3_000,
  ],
  [
    "has closed its output and stays (S1-78)",
    (p) => {
      p.ignoresEndOfInput = true;
      p.closeStdout();
    },
    "term",
    { signal: "SIGTERM" },
    ["SIGTERM"],
    2_000,
  ],
];

for (const [what, set, step, exit, signals, atMs] of LADDER) {
  test(`ProcessLink.end() ends a process that ${what} (P3)`, async () => {
    const { link, process, clock } = await start();
    set(process);
    const ended = link.end(GRACES);
    assert.equal(link.end({ shutdownGraceMs: 0, terminateGraceMs: 0 }), ended);
    await settle();
    assert.ok(process.inputEnded);
    if (atMs > 0) {
      await clock.advance(atMs - 1);
      assert.equal(await stateOf(ended), "pending");
      await clock.advance(1);
    }
    assert.deepEqual(await ended, { exit, step });
    assert.deepEqual(process.signals, signals);
    assert.deepEqual(process.straySignals, []);
    assert.equal(link.pid, undefined);
    await link.gone;
    assert.equal(clock.pendingTimers, 0);
  });
}

test("ProcessLink.end() sends no signal to a process that needs almost all of its grace (P3, S1-75)", async () => {
  const { link, process, clock } = await start();
  process.ignoresEndOfInput = true;
  const ended = link.end(GRACES);
  await clock.advance(1_900);
  process.exit({ code: 0 });
  assert.deepEqual(await ended, { exit: { code: 0 }, step: "eof" });
  await clock.advance(10_000);
  assert.deepEqual([process.signals, process.straySignals], [[], []]);
});

test("ProcessLink.end() honours graces of zero and without end (P3, S2-31)", async () => {
  const quick = await start();
  quick.process.ignoresEndOfInput = true;
  quick.process.ignoredSignals.add("SIGTERM");
  const ended = quick.link.end({ shutdownGraceMs: 0, terminateGraceMs: 0 });
  await quick.clock.advance(0);
  assert.equal((await ended).step, "kill");
  const patient = await start();
  patient.process.ignoresEndOfInput = true;
  const waiting = patient.link.end({ shutdownGraceMs: Infinity, terminateGraceMs: 0 });
  await patient.clock.advance(10_000_000);
  assert.equal(await stateOf(waiting), "pending");
  await patient.link.kill();
  assert.equal((await waiting).step, "kill");
});

test("ProcessLink.end() on Windows has one step after the end of input, and it ends the tree (P3, B126)", async () => {
  const { link, process, clock } = await start({ os: "windows" });
  process.ignoresEndOfInput = true;
  const ended = link.end(GRACES);
  await clock.advance(2_000);
  assert.equal((await ended).step, "kill");
  assert.deepEqual(process.signals, ["SIGKILL"]);
  assert.equal(clock.now(), 2_000);
});

test("ProcessLink.end() says what it found when the process had ended (P3)", async () => {
  const { link, process } = await start();
  process.exit({ code: 3 });
  await settle();
  assert.deepEqual(await link.end(GRACES), { exit: { code: 3 }, step: "already" });
  assert.deepEqual(await link.kill(), { exit: { code: 3 }, step: "already" });
});

test("ProcessLink.end() does not wait for a flush that a deaf process holds up (P3)", async () => {
  const { link, process, clock } = await start();
  process.ignoredSignals.add("SIGTERM");
  link.connection.send({ jsonrpc: "2.0", method: "x", params: { text: "x".repeat(900) } });
  for (let n = 0; n < 200; n++) {
    link.connection.send({ jsonrpc: "2.0", method: "x", params: { text: "x".repeat(900) } });
  }
  await settle();
  const ended = link.end(GRACES);
  await clock.advance(4_000);
  assert.equal((await ended).step, "kill");
  assert.equal(process.inputEnded, false);
});

test("ProcessLink.end() gives up at its last limit what no signal reaches, and says that it is not sure (P3, B83)", async () => {
  const { link, process, clock, runtime } = await start();
  process.isStuck = true;
  process.ignoresEndOfInput = true;
  const ended = link.end(GRACES);
  await clock.advance(7_999);
  assert.equal(await stateOf(ended), "pending");
  await clock.advance(101);
  assert.deepEqual(await ended, { exit: null, step: "kill" });
  assert.equal(clock.pendingTimers, 0);
  // It is still ended with this process.
  const { length } = process.signals;
  runtime.endProcess();
  assert.equal(process.signals.length, length + 1);
});

test("ProcessLink.end() goes on when the system refuses to signal (P3, P5)", async () => {
  const { link, process, clock, log } = await start();
  process.ignoresEndOfInput = true;
  Object.assign(process.handle, {
    signal: () => {
      throw Object.assign(new Error("EPERM"), { code: "EPERM" });
    },
  });
  const ended = link.end(GRACES);
  await clock.advance(2_500);
  process.exit({ code: 0 });
  assert.deepEqual(await ended, { exit: { code: 0 }, step: "term" });
  assert.deepEqual(log.of("warn"), ["[mcp_stdio] the server could not be signalled"]);
});

test("ProcessLink.kill() ends a process at once, also during an orderly end (P4)", async () => {
  for (const isClosing of [false, true]) {
    const { link, process, clock } = await start();
    process.ignoresEndOfInput = true;
    process.ignoredSignals.add("SIGTERM");
    const closed = isClosing ? link.end(GRACES) : undefined;
    await clock.advance(isClosing ? 2_500 : 0);
    const [report] = await Promise.all([link.kill(), link.kill()]);
    assert.deepEqual(report, { exit: { signal: "SIGKILL" }, step: "kill" });
    if (isClosing) assert.equal(await closed, report);
    assert.deepEqual(process.signals.filter((signal) => signal === "SIGKILL"), ["SIGKILL"]);
    assert.deepEqual(process.straySignals, []);
    assert.equal(clock.pendingTimers, 0);
  }
});

test("ProcessLink ends what a process left in its group, as soon as it is reaped (P3, P5, B86, B99)", async () => {
  for (const ignores of [false, true]) {
    const { link, process, clock } = await start();
    process.hasHelper = true;
    if (ignores) process.ignoredSignals.add("SIGTERM");
    process.exitHoldingStdout({ code: 0 });
    await clock.advance(100);
    assert.deepEqual(process.signals, ignores ? ["SIGTERM", "SIGKILL"] : ["SIGTERM"]);
    assert.equal(process.hasHelper, false);
    assert.deepEqual(await link.end(GRACES), { exit: { code: 0 }, step: "already" });
  }
});

test("ProcessLink.end() resolves when what the process left behind is gone, too (P3, P5)", async () => {
  const { link, process, clock } = await start();
  process.hasHelper = true;
  process.ignoredSignals.add("SIGTERM");
  const ended = link.end(GRACES);
  await clock.advance(99);
  assert.ok(process.ended);
  assert.equal(await stateOf(ended), "pending");
  await clock.advance(1);
  assert.deepEqual(await ended, { exit: { code: 0 }, step: "eof" });
  assert.equal(process.hasHelper, false);
});

test("ProcessLink signals only the child without a group of its own, and leaves its helpers (P3, S1-73)", async () => {
  const targets: string[] = [];
  const { link, process, clock } = await start({ processGroup: false });
  process.ignoresEndOfInput = true;
  process.hasHelper = true;
  const { signal } = process.handle;
  Object.assign(process.handle, {
    signal: (...args: Parameters<typeof signal>) => {
      targets.push(args[1]);
      return signal(...args);
    },
  });
  const ended = link.end(GRACES);
  await clock.advance(2_000);
  assert.equal((await ended).step, "term");
  assert.deepEqual(targets, ["child"]);
});

test("OwnedProcess never signals what has been reaped (P5, S1-91)", async () => {
  for (let round = 0; round < 50; round++) {
    const { link, process, clock } = await start();
    process.ignoresEndOfInput = round % 2 === 0;
    const actions = [
      () => process.exit({ code: 0 }),
      () => void link.end({ shutdownGraceMs: round % 3, terminateGraceMs: 1 }),
      () => void link.kill(),
    ];
    for (let n = 0; n < 3; n++) {
      actions[(round + n * (1 + round % 2)) % 3]!();
      if (round % 5 === n) await clock.advance(1);
    }
    await clock.advance(10);
    process.exit();
    await settle();
    await link.kill();
    const { length } = process.straySignals;
    await link.end(GRACES);
    link.kill();
    await clock.advance(10_000);
    assert.equal(process.straySignals.length, length);
    assert.equal(clock.pendingTimers, 0);
  }
});

test("OwnedProcess.endNow() ends at the host's end all that is not reaped, and what it left behind, once (P9)", async () => {
  const runtime = createFakeRuntime();
  const clock = new FakeClock();
  const own = async () => {
    const child = await runtime.spawn({
      command: "s",
      args: [],
      env: {},
      stderr: "ignore",
      processGroup: true,
    });
    const process = new OwnedProcess(child, {
      processGroup: true,
      runtime,
      clock,
      onChildOnly: () => {},
      onRefused: () => {},
    });
    return { stop: runtime.onProcessEnd(() => process.endNow()), process };
  };
  const [running, reaped, helped, released] = [await own(), await own(), await own(), await own()];
  const [first, second, third, fourth] = runtime.processes;
  second!.exit();
  third!.hasHelper = true;
  third!.exit();
  released!.stop();
  await settle();
  runtime.endProcess();
  assert.deepEqual(runtime.processes.map(({ signals }) => signals), [["SIGKILL"], [], ["SIGKILL"], []]);
  assert.deepEqual(second!.straySignals, []);
  for (const { stop } of [running!, reaped!, helped!]) stop();
  for (const process of [first, fourth]) process!.exit();
  runtime.endProcess();
  assert.deepEqual(runtime.processes.flatMap(({ straySignals }) => straySignals), []);
});

test("startServer() keeps a process under watch until it and its helpers are gone (P9)", async () => {
  const { process, runtime, clock, watches } = await start();
  process.hasHelper = true;
  process.ignoredSignals.add("SIGTERM");
  process.exit({ code: 0 });
  await clock.advance(50);
  assert.equal(watches(), 1);
  runtime.endProcess(); // In the middle of the helper's grace.
  assert.deepEqual(process.signals, ["SIGTERM", "SIGKILL"]);
  await clock.advance(100);
  process.signals.length = 0;
  runtime.endProcess();
  assert.deepEqual([process.signals, process.straySignals], [[], []]);
  assert.equal(watches(), 0);
});

test("startServer() lets this process end before the server only when it is told to (P9, B98)", async () => {
  for (const keepsAlive of [true, false]) {
    const runtime = createFakeRuntime();
    await startServer({
      launch: {
        command: "s",
        args: [],
        cwd: undefined,
        env: {},
        inheritEnv: "none",
        passEnv: [],
        processGroup: true,
        stderr: "ignore",
      },
      keepsAlive,
      stderr: {},
      connection: {
        maxLineBytes: 1_000,
        maxNestingDepth: 64,
        maxQueuedBytes: 1_000,
        readBufferBytes: 65_536,
      },
      runtime,
      logger: silentLogger,
      clock: new FakeClock(),
    });
    assert.equal(runtime.processes[0]!.keepsAlive, keepsAlive);
  }
});

test("ProcessLink knows the last words of a server before it tells its end (P2, C7, B79)", async () => {
  const { link, process } = await start();
  await process.writeStderr("the reason\n");
  process.exit({ code: 1 });
  await link.explained;
  assert.equal(link.stderrTail, "the reason\n");
});

test("ProcessLink.end() waits a moment for last words that come late, and no longer (P2, P3)", async () => {
  for (const lateMs of [60, 200]) {
    const runtime = createFakeRuntime();
    const clock = new FakeClock();
    const child = await runtime.spawn({
      command: "s",
      args: [],
      env: {},
      stderr: "ignore",
      processGroup: true,
    });
    const settings = { processGroup: true, runtime, clock, onChildOnly: () => {}, onRefused: () => {} };
    let isCancelled = false;
    const late = new ReadableStream<Uint8Array>({
      cancel: () => void (isCancelled = true),
      start: (controller) =>
        void clock.setTimeout(() => {
          controller.enqueue(new TextEncoder().encode("the reason\n"));
          controller.close();
        }, lateMs),
    });
    const limits = {
      maxLineBytes: 1_000,
      maxNestingDepth: 64,
      maxQueuedBytes: 1_000,
      readBufferBytes: 65_536,
    };
    const link = new ProcessLink({
      process: new OwnedProcess(child, settings),
      connection: new StreamConnection({ readable: child.stdout, writable: child.stdin }, limits),
      stderr: new StderrDrain(late, {}, () => {}),
      hasGracefulSignal: true,
      clock,
      onGone: () => {},
    });
    const ended = link.end(GRACES);
    await clock.advance(100);
    assert.equal((await ended).step, "eof");
    assert.equal(link.stderrTail, lateMs < 100 ? "the reason\n" : "");
    // What somebody else still holds open must not keep this process alive.
    assert.equal(isCancelled, lateMs > 100);
  }
});
