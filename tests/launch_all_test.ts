import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type HostConfig,
  launchAll,
  type LaunchAllOptions,
  type LaunchOutcome,
  parseHostConfig,
  type StdioHostServer,
} from "../host_config.ts";
import type { Clock } from "../runtime.ts";

function configOf(entries: Record<string, unknown>): Promise<HostConfig> {
  return parseHostConfig(JSON.stringify({ mcpServers: entries }), { env: {} });
}

/** Entries a, b, c… of these commands, each with its own argument. */
function entriesOf(...commands: string[]): Promise<HostConfig> {
  const entries = commands.map((
    command,
    index,
  ) => [String.fromCharCode(97 + index), { command, args: [`${index}`] }]);
  return configOf(Object.fromEntries(entries));
}

function kindsOf(outcomes: readonly LaunchOutcome<unknown>[]): string {
  return outcomes.map(({ server, kind }) => `${server.name} ${kind}`).join(", ");
}

/** Lets everything run that needs no time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** Launches that begin and wait to be told how to end. */
class Launches {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, (error?: unknown) => void>();

  readonly launch = (_options: unknown, server: StdioHostServer): Promise<string> => {
    this.begun.push(server.name);
    return new Promise((resolve, reject) => {
      this.#ends.set(
        server.name,
        (error) => error === undefined ? resolve(`${server.name}!`) : reject(error),
      );
    });
  };

  async end(name: string, error?: unknown): Promise<void> {
    this.#ends.get(name)?.(error);
    await settle();
  }
}

/** A clock that passes only when it is told, and notes every delay. */
class ManualClock implements Clock {
  readonly delays: number[] = [];
  readonly pending = new Set<() => void>();

  now(): number {
    return 0;
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    this.delays.push(delayMs);
    this.pending.add(callback);
    return callback;
  }

  clearTimeout(handle: unknown): void {
    this.pending.delete(handle as () => void);
  }

  async pass(): Promise<void> {
    for (const callback of [...this.pending]) {
      this.pending.delete(callback);
      callback();
    }
    await settle();
  }
}

const consent = () => true;

test("launchAll() tells what became of each server, in the order of the file (H4, B109)", async () => {
  const config = await configOf({
    slow: { command: "a" },
    broken: { command: "b" },
    remote: { url: "https://x.test" },
    invalid: { command: 1 },
    off: { command: "c", disabled: true },
    thrower: { command: "d" },
    quick: { command: "e" },
    refused: { command: "f" },
  });
  const outcomes = await launchAll(config, {
    consent: ({ name }) => name !== "refused",
    launch: async (_options, { name }) => {
      if (name === "broken") throw new Error("ENOENT");
      if (name === "slow") await settle();
      return name.toUpperCase();
    },
  });
  assert.equal(
    kindsOf(outcomes),
    "slow launched, broken failed, remote skipped, invalid failed, off skipped, thrower launched, quick launched, refused refused",
  );
  const [slow, broken, remote, invalid, off] = outcomes;
  assert.equal(slow?.kind === "launched" && slow.value, "SLOW");
  assert.match(String(broken?.kind === "failed" && broken.error), /ENOENT/);
  assert.equal(remote?.kind === "skipped" && remote.reason, "remote");
  assert.equal(invalid?.kind === "failed" && invalid.error, config.servers[3]?.error);
  assert.equal(off?.kind === "skipped" && off.reason, "disabled");
});

test("launchAll() keeps a launch that throws at once to its own server (H4, B109)", async () => {
  const outcomes = await launchAll(await entriesOf("x", "y"), {
    consent,
    launch: (_options, { name }): Promise<string> => {
      if (name === "a") throw new TypeError("thrown, not rejected");
      return Promise.resolve(name);
    },
  });
  assert.equal(kindsOf(outcomes), "a failed, b launched");
});

test("launchAll() hands over exactly what was agreed to, and nothing else (H4, S2-51)", async () => {
  const config = await configOf({
    a: { command: "x", args: ["1"], env: { A: "1" }, cwd: "/p", other: true },
  });
  const seen: unknown[] = [];
  // A function of spawn's shape fits.
  const spawn = (options: {
    command: string;
    args?: readonly string[];
    cwd?: string;
    env?: Readonly<Record<string, string | undefined | null>>;
    signal?: AbortSignal;
  }) => Promise.resolve(seen.push(options));
  await launchAll(config, { consent, launch: spawn });
  assert.deepEqual(seen, [{ command: "x", args: ["1"], env: { A: "1" }, cwd: "/p" }]);
  const { signal } = new AbortController();
  await launchAll(config, { consent, launch: spawn, signal });
  assert.deepEqual(Object.keys(seen[1] as object).sort(), ["args", "command", "cwd", "env", "signal"]);
});

// ---- consent

test("launchAll() asks one question at a time, in order, while what was agreed to starts (H4, S2-51)", async () => {
  const launches = new Launches();
  const answers: ((answer: boolean) => void)[] = [];
  const asked: string[] = [];
  const outcomes = launchAll(await entriesOf("x", "y", "z"), {
    launch: launches.launch,
    consent: (server) => {
      asked.push(server.commandLine);
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  await settle();
  assert.deepEqual([asked, launches.begun], [["x 0"], []]);
  answers[0]?.(true);
  await settle();
  assert.deepEqual([asked, launches.begun], [["x 0", "y 1"], ["a"]]);
  answers[1]?.(false);
  await settle();
  answers[2]?.(true);
  await settle();
  assert.deepEqual([asked, launches.begun], [["x 0", "y 1", "z 2"], ["a", "c"]]);
  await launches.end("c");
  await launches.end("a");
  assert.equal(kindsOf(await outcomes), "a launched, b refused, c launched");
});

test("launchAll() asks once for what has the same fingerprint, and not for what is approved (H4)", async () => {
  const config = await configOf({
    a: { command: "x" },
    b: { command: "x", note: "same" },
    c: { command: "y" },
    d: { command: "z" },
    e: { command: "z" },
  });
  const asked: string[] = [];
  const outcomes = await launchAll(config, {
    approved: [config.servers[2]?.fingerprint ?? ""],
    consent: ({ name }) => {
      asked.push(name);
      return name === "a";
    },
    launch: () => Promise.resolve(1),
  });
  assert.deepEqual(asked, ["a", "d"]);
  assert.equal(kindsOf(outcomes), "a launched, b launched, c launched, d refused, e refused");
});

for (const answer of [undefined, null, 1, "yes", {}, false]) {
  test(`launchAll() takes ${JSON.stringify(answer)} for no consent (H4)`, async () => {
    const outcomes = await launchAll(await entriesOf("x"), {
      consent: () => answer as boolean,
      launch: () => assert.fail("must not run"),
    });
    assert.equal(kindsOf(outcomes), "a refused");
  });
}

test("launchAll() keeps a consent that fails to its own server, which does not run (H4)", async () => {
  const outcomes = await launchAll(await entriesOf("x", "y", "z"), {
    consent: ({ name }) => {
      if (name === "a") throw new Error("no terminal");
      return name === "b" ? Promise.reject(new Error("closed")) : true;
    },
    launch: (_options, { name }) => name === "c" ? Promise.resolve(name) : assert.fail("must not run"),
  });
  assert.equal(kindsOf(outcomes), "a failed, b failed, c launched");
  assert.match(String(outcomes[0]?.kind === "failed" && outcomes[0].error), /no terminal/);
});

// ---- limits

test("launchAll() starts no more at the same time than concurrency says, first come, first served (H4)", async () => {
  const launches = new Launches();
  const outcomes = launchAll(await entriesOf("p", "q", "r", "s"), {
    consent,
    launch: launches.launch,
    concurrency: 2,
  });
  await settle();
  assert.deepEqual(launches.begun, ["a", "b"]);
  await launches.end("b", new Error("x"));
  assert.deepEqual(launches.begun, ["a", "b", "c"]);
  await launches.end("a");
  assert.deepEqual(launches.begun, ["a", "b", "c", "d"]);
  await launches.end("c");
  await launches.end("d");
  assert.equal(kindsOf(await outcomes), "a launched, b failed, c launched, d launched");
});

test("launchAll() starts servers of one command one after another when told, and others meanwhile (H4, B119)", async () => {
  const launches = new Launches();
  const config = await entriesOf("npx", "/usr/bin/npx", "C:\\nodejs\\npx.cmd", "uvx", "npx");
  const outcomes = launchAll(config, {
    consent,
    launch: launches.launch,
    concurrency: 3,
    perCommandConcurrency: 1,
  });
  await settle();
  assert.deepEqual(launches.begun, ["a", "d"]);
  await launches.end("a");
  assert.deepEqual(launches.begun, ["a", "d", "b"]);
  await launches.end("d");
  await launches.end("b", new Error("x"));
  await launches.end("c");
  await launches.end("e");
  assert.deepEqual(launches.begun, ["a", "d", "b", "c", "e"]);
  assert.equal(kindsOf(await outcomes), "a launched, b failed, c launched, d launched, e launched");
});

/** A package runner that breaks when another copy of it starts at the same time. */
function createFragileRunner(): () => Promise<string> {
  let running = 0;
  return async () => {
    running++;
    const isAlone = running === 1;
    await settle();
    running--;
    if (!isAlone) throw new Error("the cache is locked");
    return "started";
  };
}

test("launchAll() gets a fragile runner through by perCommandConcurrency, or by retries, else tells each failure (B119)", async () => {
  const config = await entriesOf("npx", "npx", "npx", "npx", "npx");
  const inTurn = await launchAll(config, {
    consent,
    launch: createFragileRunner(),
    perCommandConcurrency: 1,
  });
  assert.equal(kindsOf(inTurn), "a launched, b launched, c launched, d launched, e launched");
  const together = await launchAll(config, { consent, launch: createFragileRunner() });
  assert.equal(kindsOf(together), "a launched, b failed, c failed, d failed, e failed");
  const clock = new ManualClock();
  const retried = launchAll(config, {
    consent,
    launch: createFragileRunner(),
    clock,
    retry: { maxRetries: 4, delayMs: 100 },
  });
  for (let round = 0; round < 4; round++) {
    await settle();
    await settle();
    await settle();
    await clock.pass();
  }
  assert.equal(kindsOf(await retried), "a launched, b launched, c launched, d launched, e launched");
});

test("launchAll() doubles the wait between retries and leaves part of it to chance (H4, B119)", async () => {
  const clock = new ManualClock();
  let attempts = 0;
  const outcomes = launchAll(await entriesOf("x"), {
    consent,
    clock,
    launch: () => Promise.reject(new Error(`attempt ${++attempts}`)),
    retry: { maxRetries: 3, delayMs: 100 },
  });
  await settle();
  for (let round = 0; round < 3; round++) await clock.pass();
  const [outcome] = await outcomes;
  assert.match(String(outcome?.kind === "failed" && outcome.error), /attempt 4/);
  assert.equal(clock.delays.length, 3);
  clock.delays.forEach((delayMs, index) => {
    const whole = 100 * 2 ** index;
    assert.ok(delayMs >= whole / 2 && delayMs <= whole, `${delayMs} of ${whole}`);
  });
});

test("launchAll() frees its place while it waits, and retries only what shouldRetry says (H4)", async () => {
  const clock = new ManualClock();
  const begun: string[] = [];
  const outcomes = launchAll(await entriesOf("x", "y", "z"), {
    consent,
    clock,
    concurrency: 1,
    launch: (_options, { name }) => {
      begun.push(name);
      return name === "c" ? Promise.resolve(1) : Promise.reject(new Error(name));
    },
    retry: { maxRetries: 1, shouldRetry: (error) => (error as Error).message === "a" },
  });
  await settle();
  assert.deepEqual(begun, ["a", "b", "c"]);
  await clock.pass();
  assert.deepEqual(begun, ["a", "b", "c", "a"]);
  assert.equal(kindsOf(await outcomes), "a failed, b failed, c launched");
});

test("launchAll() retries nothing unless it is told (B135)", async () => {
  let attempts = 0;
  await launchAll(await entriesOf("x"), {
    consent,
    launch: () => Promise.reject(new Error(`${++attempts}`)),
  });
  assert.equal(attempts, 1);
});

// ---- abort

test("launchAll() never starts what is queued when it is aborted, and keeps what was launched (H4, B80)", async () => {
  const launches = new Launches();
  const controller = new AbortController();
  const outcomes = launchAll(await entriesOf("p", "q", "r", "s"), {
    consent,
    launch: launches.launch,
    concurrency: 2,
    signal: controller.signal,
  });
  await settle();
  await launches.end("a");
  assert.deepEqual(launches.begun, ["a", "b", "c"]);
  controller.abort(new Error("enough"));
  await settle();
  await launches.end("b", controller.signal.reason);
  // It was on its way, and came through: it must not be lost.
  await launches.end("c");
  assert.equal(kindsOf(await outcomes), "a launched, b aborted, c launched, d aborted");
  assert.deepEqual(launches.begun, ["a", "b", "c"]);
});

test("launchAll() does not wait for an answer when it is aborted, and asks no more (H4)", async () => {
  const controller = new AbortController();
  const asked: string[] = [];
  const outcomes = launchAll(await entriesOf("x", "y"), {
    consent: ({ name }) => {
      asked.push(name);
      return new Promise(() => {});
    },
    launch: () => assert.fail("must not run"),
    signal: controller.signal,
  });
  await settle();
  controller.abort();
  assert.equal(kindsOf(await outcomes), "a aborted, b aborted");
  assert.deepEqual(asked, ["a"]);
});

test("launchAll() runs nothing for an answer that comes after the abort (H4)", async () => {
  const controller = new AbortController();
  let answer: (answer: boolean) => void = () => {};
  const asked: string[] = [];
  const outcomes = launchAll(await entriesOf("x", "y"), {
    consent: ({ name }) => {
      asked.push(name);
      return new Promise((resolve) => answer = resolve);
    },
    launch: () => assert.fail("must not run"),
    signal: controller.signal,
  });
  await settle();
  controller.abort();
  answer(true);
  await settle();
  assert.equal(kindsOf(await outcomes), "a aborted, b aborted");
  assert.deepEqual(asked, ["a"]);
});

test("launchAll() asks and starts nothing when it was aborted before (H4)", async () => {
  const options: LaunchAllOptions<never> = {
    consent: () => assert.fail("must not be asked"),
    launch: () => assert.fail("must not run"),
    signal: AbortSignal.abort(),
  };
  assert.equal(kindsOf(await launchAll(await entriesOf("x", "y"), options)), "a aborted, b aborted");
});

test("launchAll() gives up a wait when it is aborted and leaves no timer and no listener (H4, C9)", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
  const config = await entriesOf("x", "y");
  const launch = (_options: unknown, { name }: StdioHostServer) =>
    name === "b" ? Promise.resolve(1) : Promise.reject(new Error("no"));
  assert.equal(kindsOf(await launchAll(config, { consent, launch, signal })), "a failed, b launched");
  assert.equal(listeners, 0);
  const outcomes = launchAll(config, { consent, clock, launch, signal, retry: { maxRetries: 9 } });
  await settle();
  assert.equal(clock.pending.size, 1);
  controller.abort();
  assert.equal(kindsOf(await outcomes), "a aborted, b launched");
  assert.equal(clock.pending.size, 0);
});

// ---- misuse

const misuses: readonly [name: string, options: Partial<LaunchAllOptions<number>>][] = [
  ["concurrency", { concurrency: 0 }],
  ["perCommandConcurrency", { perCommandConcurrency: 1.5 }],
  ["retry.maxRetries", { retry: { maxRetries: -1 } }],
  ["retry.delayMs", { retry: { maxRetries: 1, delayMs: NaN } }],
];
for (const [name, options] of misuses) {
  test(`launchAll() refuses a bad "${name}" before it asks or starts (H4)`, async () => {
    const config = await entriesOf("x");
    const launch = () => assert.fail("must not run");
    await assert.rejects(launchAll(config, { consent: launch, launch, ...options }), (error: unknown) => {
      assert.ok(error instanceof RangeError);
      assert.ok(error.message.includes(`"${name}"`), error.message);
      return true;
    });
  });
}

test("launchAll() has one listener on the signal, however many servers wait, and none at the end (H4, XF16)", async () => {
  const { signal, listeners } = countListeners();
  const config = await entriesOf(...Array(30).fill("npx"));
  let most = 0;
  const outcomes = await launchAll(config, {
    consent: () => true,
    concurrency: 2,
    signal,
    launch: () => {
      most = Math.max(most, listeners.size);
      return Promise.resolve();
    },
  });
  assert.equal(kindsOf(outcomes).match(/launched/g)?.length, 30);
  assert.deepEqual([most, listeners.size], [1, 0]);
});

/** A signal that tells who listens. */
function countListeners(): { signal: AbortSignal; listeners: Set<unknown> } {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = function (this: AbortSignal, ...args: Parameters<typeof addEventListener>) {
    listeners.add(args[1]);
    return addEventListener.apply(signal, args);
  } as typeof addEventListener;
  signal.removeEventListener = function (this: AbortSignal, ...args: Parameters<typeof removeEventListener>) {
    listeners.delete(args[1]);
    return removeEventListener.apply(signal, args);
  } as typeof removeEventListener;
  return { signal, listeners };
}
