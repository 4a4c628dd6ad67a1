// `record` as a process between a host and a server: nothing of what passes is changed, and the file can be read whoever dies
// (L4, L6).
import assert from "node:assert/strict";
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import {
  bytesOfLine,
  type LineEvent,
  parseEvent,
  type RecordedEvent,
} from "../internal/cli/recording/format.ts";
import { SignalRelay } from "../internal/cli/record/signals.ts";

import type { ChildHandle, RuntimeAdapter } from "../runtime.ts";
import { strangerCommand } from "./_stranger.ts";
import { bytesOf, createRandom, IS_FULL, randomCuts, waitUntil } from "./helpers.ts";
import { SLOW } from "./server_helpers.ts";
import { commandOf } from "./server_processes.ts";

const IS_WINDOWS = process.platform === "win32";
const POSIX = { ...SLOW, skip: IS_WINDOWS ? "Windows has no such signals and modes" : false };
const UNDER_LOAD = { timeoutMs: 60_000 };

/** A folder of its own. */
function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "record-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A recorder with a server behind it. */
class Session {
  readonly child: ChildProcess;
  readonly stdout: Uint8Array[] = [];
  stderr = "";

  constructor(
    t: TestContext,
    file: string,
    server: readonly string[],
    { flags = [], ...options }: SpawnOptions & {
      flags?: readonly string[];
    } = {},
  ) {
    const [command = "", ...args] = commandOf("cli", ["record", file, ...flags, "--", ...server]);
    this.child = spawn(command, args, { stdio: "pipe", ...options });
    t.after(() => void this.child.kill("SIGKILL"));
    this.child.stdout?.on("data", (chunk: Uint8Array) => this.stdout.push(chunk));
    this.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => this.stderr += chunk);
    this.child.stdin?.on("error", () => {}); // The server may be gone before its input.
  }

  get text(): string {
    return new TextDecoder().decode(bytesOf(...this.stdout));
  }

  async ended(): Promise<{ code: number | null; signal: string | null }> {
    const [code, signal] = await once(this.child, "close") as [number | null, string | null];
    return { code, signal };
  }
}

function readEvents(file: string): RecordedEvent[] {
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line !== "");
  return lines.map((line) => parseEvent(line) ?? assert.fail(`not an event: ${line}`));
}

function passed(events: readonly RecordedEvent[], from: string): Uint8Array {
  const lines = events.filter((event): event is LineEvent => event.kind === "line" && event.from === from);
  return bytesOf(...lines.map(bytesOfLine));
}

/** Of megabytes that differ no difference could be shown, and to look for one takes minutes. */
function assertSameBytes(is: Uint8Array, was: Uint8Array): void {
  assert.equal(is.length, was.length);
  assert.ok(Buffer.compare(is, was) === 0, "the bytes differ");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false; // There is no such process.
  }
  // One that nobody has reaped is no process any more.
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}

test(
  "record changes no byte in either direction, and --keep-secrets gives all of them back (L4)",
  SLOW,
  async (t) => {
    const file = join(makeFolder(t), "a.ndjson");
    const session = new Session(t, file, strangerCommand("echoes_bytes.mjs"), { flags: ["--keep-secrets"] });
    const random = createRandom(11);
    const bytes = bytesOf(
      '{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"hunter22"}}\r\n\n',
      Uint8Array.from({ length: 50_000 }, () => random.oneIn(20) ? 10 : random.below(256)),
      "y".repeat(300_000),
      "\n\ufeff{}\nno end",
    );
    for (const chunk of randomCuts(bytes, random, 40)) session.child.stdin!.write(chunk);
    session.child.stdin!.end();
    assert.deepEqual(await session.ended(), { code: 0, signal: null });
    assert.deepEqual(bytesOf(...session.stdout), bytes);
    assert.equal(session.stderr, "");
    const events = readEvents(file);
    assert.deepEqual(passed(events, "client"), bytes);
    assert.deepEqual(passed(events, "server"), bytes);
    const [start] = events;
    assert.equal(start?.kind, "start");
    assert.deepEqual(events.at(-1), { kind: "exit", t: events.at(-1)!.t, code: 0 });
    const times = events.map(({ t }) => t);
    assert.deepEqual(times, times.toSorted((one, other) => one - other));
  },
);

test("record has all of a session that ran faster than it could be written down (L4)", SLOW, async (t) => {
  const file = join(makeFolder(t), "a.ndjson");
  const session = new Session(t, file, strangerCommand("echoes_bytes.mjs"), { flags: ["--keep-secrets"] });
  const lines = Array.from(
    { length: IS_FULL ? 20_000 : 5_000 },
    (_, id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "x".repeat(300) } }),
  );
  const bytes = bytesOf(`${lines.join("\n")}\n`);
  session.child.stdin!.end(bytes);
  assert.deepEqual(await session.ended(), { code: 0, signal: null });
  assertSameBytes(bytesOf(...session.stdout), bytes);
  const events = readEvents(file);
  assertSameBytes(passed(events, "client"), bytes);
  assertSameBytes(passed(events, "server"), bytes);
  assert.ok(events.every(({ kind }) => kind !== "gap"));
});

test(
  "record masks secrets in the file, never in what passes, and only the owner can read the file (L6)",
  POSIX,
  async (t) => {
    const folder = makeFolder(t);
    const file = join(folder, "a.ndjson");
    const line = '{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"hunter22"}}\n';
    const before = process.umask(0);
    for (const expected of ["a.ndjson", "a-2.ndjson"]) {
      const session = new Session(t, file, strangerCommand("echoes_bytes.mjs"));
      session.child.stdin!.end(line);
      await session.ended();
      assert.equal(session.text, line);
      const text = readFileSync(join(folder, expected), "utf8");
      assert.ok(!text.includes("hunter22"), text);
      assert.equal(statSync(join(folder, expected)).mode & 0o777, 0o600);
    }
    process.umask(before);
    assert.equal(readdirSync(folder).length, 2, "a file that was there is left alone");
  },
);

test("record ends as its server does: with its code, or by its signal (L4)", POSIX, async (t) => {
  const folder = makeFolder(t);
  const coded = new Session(t, join(folder, "code.ndjson"), strangerCommand("exits_with.mjs", ["37"]));
  assert.deepEqual(await coded.ended(), { code: 37, signal: null });
  for (const signal of ["SIGKILL", "SIGTERM", "SIGSEGV"]) {
    const file = join(folder, `${signal}.ndjson`);
    const killed = new Session(t, file, ["sh", "-c", `kill -${signal.slice(3)} $$`]);
    assert.deepEqual(await killed.ended(), { code: null, signal });
    assert.equal((readEvents(file).at(-1) as { signal?: string }).signal, signal);
  }
  const missing = new Session(t, join(folder, "none.ndjson"), ["no-such-program-anywhere"]);
  assert.deepEqual(await missing.ended(), { code: 3, signal: null });
  assert.match(missing.stderr, /no-such-program-anywhere/);
  assert.equal(missing.text, "");
});

for (const target of ["process", "group"]) {
  test(`record hands on a signal for its ${target} exactly once (L4)`, POSIX, async (t) => {
    const file = join(makeFolder(t), "a.ndjson");
    const session = new Session(t, file, strangerCommand("cli_signals.mjs"), { detached: true });
    await waitUntil(() => session.text.includes("ready"), UNDER_LOAD);
    const pid = session.child.pid!;
    // The second comes when the first was handled: a system may make one of two that wait.
    for (const [index, signal] of ["SIGTERM", "SIGTERM", "SIGINT", "SIGHUP"].entries()) {
      process.kill(target === "group" ? -pid : pid, signal);
      await waitUntil(() => session.text.split("SIG").length - 1 > index, UNDER_LOAD);
      await waitUntil(
        () => readEvents(file).filter(({ kind }) => kind === "signal").length > index,
        { ...UNDER_LOAD, what: `the signal ${index} is in the recording` },
      );
    }
    session.child.stdin!.end();
    assert.deepEqual(await session.ended(), { code: 0, signal: null });
    const told = session.text.trim().split("\n").slice(1);
    assert.deepEqual(told, ["SIGTERM", "SIGTERM", "SIGINT", "SIGHUP", "eof"]);
    const signals = readEvents(file).filter((event) => event.kind === "signal");
    assert.deepEqual(signals.map(({ to }) => to), Array(4).fill(target === "group" ? "group" : "server"));
  });
}

test(
  "a recorder that is killed takes its server with it, and leaves a file that can be read (L4)",
  POSIX,
  async (t) => {
    const file = join(makeFolder(t), "a.ndjson");
    const session = new Session(t, file, strangerCommand("cli_signals.mjs", ["deaf"]));
    await waitUntil(() => session.text.includes("ready"), UNDER_LOAD);
    const server = Number(/ready (\d+)/.exec(session.text)![1]);
    await waitUntil(() => existsSync(file) && readFileSync(file, "utf8").includes("ready"), UNDER_LOAD);
    session.child.kill("SIGKILL");
    await waitUntil(() => !isAlive(server), UNDER_LOAD);
    assert.ok(readEvents(file).some((event) => event.kind === "line" && event.text.startsWith("ready")));
  },
);

for (const isDeaf of [false, true]) {
  test(
    `a host that is killed leaves no process and a whole file, also with a server that ${
      isDeaf ? "ignores" : "heeds"
    } its end (L4)`,
    POSIX,
    async (t) => {
      const file = join(makeFolder(t), "a.ndjson");
      const recorder = commandOf("cli", [
        "record",
        file,
        "--",
        ...strangerCommand("cli_signals.mjs", isDeaf ? ["deaf"] : []),
      ]);
      const [command = "", ...args] = strangerCommand("cli_host.mjs", recorder);
      const host = spawn(command, args, { stdio: "pipe" });
      t.after(() => void host.kill("SIGKILL"));
      let said = "";
      for (const stream of [host.stdout, host.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => said += text);
      }
      await waitUntil(() => /ready \d+/.test(said) && /recorder \d+/.test(said), UNDER_LOAD);
      const pids = [/ready (\d+)/, /recorder (\d+)/].map((pattern) => Number(pattern.exec(said)![1]));
      host.kill("SIGKILL");
      await waitUntil(() => !pids.some(isAlive), UNDER_LOAD);
      const events = readEvents(file);
      assert.ok(events.some((event) => event.kind === "line" && event.text === "eof"));
      assert.equal(events.at(-1)?.kind, "exit");
    },
  );
}

test(
  "a server that is killed leaves a whole file, and what it wrote last is in it (L4)",
  POSIX,
  async (t) => {
    const file = join(makeFolder(t), "a.ndjson");
    const session = new Session(t, file, ["sh", "-c", "printf half; printf oops >&2; kill -KILL $$"]);
    assert.deepEqual(await session.ended(), { code: null, signal: "SIGKILL" });
    assert.deepEqual([session.text, session.stderr], ["half", "oops"]);
    const lines = readEvents(file).filter((event): event is LineEvent => event.kind === "line");
    assert.deepEqual(lines.map(({ from, text, isEnded }) => [from, text, isEnded]).sort(), [
      ["server", "half", false],
      ["stderr", "oops", false],
    ]);
  },
);

test("a full disk, or no place for a file, costs the recording and not the session (L4)", {
  ...SLOW,
  skip: existsSync("/dev/full") ? false : "the system has no /dev/full",
}, async (t) => {
  for (const file of ["/dev/full", "/no/such/folder/a.ndjson"]) {
    const session = new Session(t, file, strangerCommand("echoes_bytes.mjs"));
    const bytes = bytesOf('{"jsonrpc":"2.0","method":"x"}\n'.repeat(20_000));
    session.child.stdin!.end(bytes);
    assert.deepEqual(await session.ended(), { code: 0, signal: null });
    assert.deepEqual(bytesOf(...session.stdout), bytes);
    assert.match(session.stderr, /^warning: Cannot (go on with the recording|record into) .*\n$/);
  }
});

test("record holds a server whose host does not read, as a pipe would (L4)", POSIX, async (t) => {
  const file = join(makeFolder(t), "a.ndjson");
  const session = new Session(t, file, strangerCommand("floods_stdout.mjs", ["64"]), {
    stdio: ["pipe", "pipe", "pipe"],
  });
  session.child.stdout!.pause();
  await waitUntil(() => existsSync(file), UNDER_LOAD);
  // It is held when the file does not grow any more: nothing passes. So this looks twice, with a pause in between.
  let size = -1;
  await waitUntil(async () => {
    const before = size;
    await new Promise((resolve) => setTimeout(resolve, 500));
    size = statSync(file).size;
    return size === before && size > 0;
  }, UNDER_LOAD);
  assert.ok(size < 4_000_000, `${size} bytes have passed`);
  session.child.stdout!.resume();
  assert.deepEqual(await session.ended(), { code: 0, signal: null });
  assert.equal(bytesOf(...session.stdout).length, 64 * 1_048_576);
});

test("record hands on that nobody reads any more (L4)", POSIX, async (t) => {
  const file = join(makeFolder(t), "a.ndjson");
  const session = new Session(t, file, ["sh", "-c", 'yes; echo "yes ended with $?" >&2']);
  await waitUntil(() => session.stdout.length > 0, UNDER_LOAD);
  session.child.stdout!.destroy();
  await waitUntil(() => session.stderr.includes("ended"), UNDER_LOAD);
  assert.deepEqual(await session.ended(), { code: 0, signal: null });
  assert.ok(readEvents(file).some((event) => event.kind === "refused" && event.of === "server"));
});

test(
  "record ends with its server, also when something else holds the server's output open (L4)",
  POSIX,
  async (t) => {
    const file = join(makeFolder(t), "a.ndjson");
    const session = new Session(t, file, ["sh", "-c", "sleep 300 & echo $!; exit 5"]);
    const [code] = await once(session.child, "exit") as [number];
    process.kill(Number(session.text));
    assert.equal(code, 5);
  },
);

test(
  "record takes its server from a host's file, too, and says what it has done as JSON when it is asked (L4)",
  SLOW,
  async (t) => {
    const folder = makeFolder(t);
    const config = join(folder, ".mcp.json");
    const [command, ...args] = strangerCommand("echoes_bytes.mjs");
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { echo: { command, args, env: { API_KEY: "topsecret" } } } }),
    );
    chmodSync(config, 0o600);
    const file = join(folder, "a.ndjson");
    const [program = "", ...rest] = commandOf("cli", ["record", file, "--json", "--config", config]);
    const child = spawn(program, rest, { stdio: "pipe" });
    t.after(() => void child.kill("SIGKILL"));
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
    child.stdin.end("{}\n");
    await once(child, "close");
    assert.deepEqual(JSON.parse(stderr), { recording: file, exit: { code: 0 } });
    assert.ok(!readFileSync(file, "utf8").includes("topsecret"));
  },
);

test("record waits for nothing that holds it open no more, in which it would end without the exit (L4)", async () => {
  const signals: string[] = [];
  const child = {
    stdin: new WritableStream(),
    stdout: new ReadableStream(),
    exited: new Promise(() => {}),
    unref: () => {},
    signal: (signal: string, target: string) => void signals.push(`${signal} ${target}`),
  };
  const spawn = () => Promise.resolve(child);
  const runtime = { os: "linux", spawn, onSignal: () => () => {} } as unknown as RuntimeAdapter;
  await new SignalRelay(runtime, { pid: 1 } as ChildHandle, () => {}).stop();
  assert.deepEqual(signals, ["SIGKILL child"]);
});
