/** Tests of `RuntimeAdapter.spawn()` with processes that start. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import {
  bytesOf,
  command,
  delay,
  ENV,
  exiting,
  fixture,
  KILLED,
  name,
  POSIX_ORPHANS,
  POSIX_SEARCH,
  POSIX_SHELL,
  POSIX_SIGNALS,
  readUntil,
  rssMebibytes,
  runtime,
  send,
  SLOW,
  start,
  startCommand,
  textOf,
  waitFor,
  WINDOWS,
  within,
} from "./harness.ts";

test("ChildHandle.exited gives the exit code", SLOW, async (t) => {
  for (const code of [0, 3, 255]) {
    const child = await start(t, "exits_with.mjs", [String(code)]);
    assert.deepEqual(await child.exited, { code });
  }
});

test(
  "ChildHandle.exited gives the signal and no code when a signal ended the child",
  POSIX_SIGNALS,
  async (t) => {
    for (const signal of ["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"] as const) {
      for (const target of ["child", "group"] as const) {
        const child = await start(t, "never_reads.mjs");
        await readUntil(child.stdout, "ready");
        assert.equal(child.signal(signal, target), "sent");
        assert.deepEqual(await child.exited, { signal });
      }
    }
  },
);

test(
  "ChildHandle.killNow() has sent SIGKILL when it returns, and says gone for a child that was reaped (P9)",
  SLOW,
  async (t) => {
    for (const target of ["child", "group"] as const) {
      const child = await start(t, "ignores_sigterm.mjs");
      await readUntil(child.stdout, "deaf");
      assert.equal(child.killNow(target), "sent");
      assert.notEqual((await child.exited)?.code, 0);
      assert.equal(child.killNow(target), "gone");
    }
  },
);

test("ChildHandle.signal() ends the child whatever the signal, on Windows (P3)", {
  ...SLOW,
  skip: WINDOWS ? false : "elsewhere a process can hear a signal",
}, async (t) => {
  for (const signal of ["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"] as const) {
    for (const target of ["child", "group"] as const) {
      const child = await start(t, "ignores_sigterm.mjs");
      await readUntil(child.stdout, "deaf");
      assert.equal(await child.signal(signal, target), "sent");
      const status = await child.exited;
      assert.ok(status !== null && status.code !== 0, JSON.stringify(status));
    }
  }
});

test("ChildHandle.signal() says gone for a child that was reaped", SLOW, async (t) => {
  for (const processGroup of [true, false]) {
    const child = await start(t, "exits_with.mjs", ["0"], { processGroup });
    await child.exited;
    assert.equal(await child.signal("SIGTERM", "child"), "gone");
    assert.equal(await child.signal("SIGTERM", "group"), "gone");
    assert.equal(child.groupAlive(), false);
  }
});

test("ChildHandle.stdout keeps what was written before the exit for a late reader", SLOW, async (t) => {
  const expected = Uint8Array.from({ length: 60_000 }, (_, i) => i % 251);
  for (let round = 0; round < 10; round++) {
    const child = await start(t, "writes_and_exits.mjs", [String(expected.length)]);
    assert.deepEqual(await child.exited, { code: 0 });
    await delay(5);
    assert.ok(equalBytes(await bytesOf(child.stdout), expected));
  }
});

test(
  "ChildHandle.stdout gives output larger than a pipe to its end, however slowly it is read",
  SLOW,
  async (t) => {
    const expected = Uint8Array.from({ length: 300 * 1024 }, (_, i) => i % 251);
    for (let round = 0; round < 10; round++) {
      const child = await start(t, "writes_and_exits.mjs", [String(expected.length)]);
      const chunks: Uint8Array[] = [];
      for await (const chunk of child.stdout) {
        chunks.push(chunk);
        await delay(5);
      }
      // Joined only now: a chunk that is used again for later reads would show.
      assert.ok(equalBytes(concat(chunks), expected));
      assert.deepEqual(await child.exited, { code: 0 });
    }
  },
);

test("ChildHandle.exited does not wait for a grandchild that holds stdout", POSIX_ORPHANS, async (t) => {
  const child = await start(t, "starts_helper.mjs", [fixture("ignores_sigterm.mjs")]);
  await readUntil(child.stdout, "deaf");
  await send(child.stdin, "go\n");
  assert.deepEqual(await child.exited, { code: 0 });
  const reader = child.stdout.getReader();
  const read = reader.read();
  assert.equal(await within(read, 200), "pending");
  await reader.cancel();
  assert.equal((await read).done, true);
});

test("ChildHandle.signal() to the group ends the tree on Windows (P3)", {
  ...SLOW,
  skip: WINDOWS ? false : "elsewhere a process can hear a signal",
}, async (t) => {
  const child = await start(t, "starts_helper.mjs", [fixture("ignores_sigterm.mjs")]);
  await readUntil(child.stdout, "deaf");
  const rest = textOf(child.stdout);
  assert.equal(await child.signal("SIGTERM", "group"), "sent");
  assert.deepEqual(await child.exited, KILLED);
  // The grandchild held the pipe, so its end is the grandchild's.
  assert.equal(await rest, "");
});

test(
  "ChildHandle.signal() to the group reaches a grandchild that ignores SIGTERM",
  POSIX_SIGNALS,
  async (t) => {
    const child = await start(t, "starts_helper.mjs", [fixture("ignores_sigterm.mjs")]);
    await readUntil(child.stdout, "deaf");
    assert.equal(child.signal("SIGTERM", "group"), "sent");
    assert.deepEqual(await child.exited, { signal: "SIGTERM" });
    assert.equal(child.groupAlive(), true);
    const rest = textOf(child.stdout);
    assert.equal(await within(rest, 200), "pending");
    assert.equal(child.signal("SIGKILL", "group"), "sent");
    // It held the pipe, so its end is the grandchild's.
    assert.equal(await rest, "");
    await waitFor("the group is gone", () => !child.groupAlive());
    assert.equal(child.signal("SIGKILL", "group"), "gone");
  },
);

test("ChildHandle.signal() without a process group reaches the child only", SLOW, async (t) => {
  const child = await start(t, "never_reads.mjs", [], { processGroup: false });
  await readUntil(child.stdout, "ready");
  assert.equal(child.groupAlive(), true);
  assert.equal(child.signal("SIGTERM", "group"), "sent");
  const status = await child.exited;
  if (WINDOWS) assert.ok(status !== null && status.code !== 0, JSON.stringify(status));
  else assert.deepEqual(status, { signal: "SIGTERM" });
  assert.equal(child.groupAlive(), false);
});

test("ChildHandle.stdin ends the child's input when it is closed", SLOW, async (t) => {
  const child = await start(t, "echoes_bytes.mjs");
  await send(child.stdin, "hello");
  assert.equal(await textOf(child.stdout), "hello");
  assert.deepEqual(await child.exited, { code: 0 });
});

test("ChildHandle.stdin ends the child's input when it is aborted", SLOW, async (t) => {
  const child = await start(t, "echoes_bytes.mjs");
  await child.stdin.abort();
  assert.equal(await textOf(child.stdout), "");
  assert.deepEqual(await child.exited, { code: 0 });
});

test("ChildHandle.stdin rejects with EPIPE when the child has closed its end", POSIX_SHELL, async (t) => {
  const child = await startCommand(t, ["sh", "-c", "exec <&-; echo ready; exec sleep 60"]);
  await readUntil(child.stdout, "ready");
  await assertBrokenPipe(child.stdin);
});

test("ChildHandle.stdin rejects with EPIPE when the child is dead", SLOW, async (t) => {
  for (let round = 0; round < 5; round++) {
    const child = await start(t, "exits_with.mjs", ["0"]);
    await child.exited;
    await assertBrokenPipe(child.stdin);
  }
});

test("ChildHandle.stdin rejects with EPIPE when the child is dying", SLOW, async (t) => {
  const children = await Promise.all(
    Array.from({ length: 10 }, () => startCommand(t, exiting(0))),
  );
  await Promise.all(children.map(async (child) => {
    const writer = child.stdin.getWriter();
    const outcome = await writer.write(new Uint8Array(1 << 20)).then(() => "taken", (error) => error.code);
    assert.equal(outcome, "EPIPE");
    await child.exited;
  }));
});

test("ChildHandle.stdin rejects a write in the middle of which the child ends, though Bun takes the bytes", {
  skip: name === "bun" ? false : "the other runtimes report it themselves",
}, async (t) => {
  // When exactly that happens is for the system to say, so the child is made up.
  const { Bun } = globalThis as unknown as { Bun: { spawn: unknown } };
  const { spawn } = Bun;
  t.after(() => void (Bun.spawn = spawn));
  const child = {
    ...{ pid: 1, exitCode: null as number | null, signalCode: null, exited: new Promise(() => {}) },
    ...{ stdout: new ReadableStream(), stderr: null, kill() {}, unref() {} },
    stdin: {
      write(bytes: Uint8Array) {
        child.exitCode = 0;
        return bytes.length;
      },
      flush() {},
      end() {},
    },
  };
  Bun.spawn = () => child;
  const { stdin } = await runtime.spawn(command("made-up", []));
  await assert.rejects(stdin.getWriter().write(new Uint8Array(1)), { code: "EPIPE" });
});

test("ChildHandle.stdin and stdout carry 10 MiB both ways unchanged", SLOW, async (t) => {
  const child = await start(t, "echoes_bytes.mjs");
  const bytes = new Uint8Array(10 * 2 ** 20).map((_, i) => (i * 2654435761) >>> 13);
  const received = bytesOf(child.stdout);
  const writer = child.stdin.getWriter();
  await writer.write(bytes.subarray(0, 2 ** 20));
  for (let at = 2 ** 20; at < bytes.length; at += 100_000) await writer.write(bytes.slice(at, at + 100_000));
  await writer.close();
  assert.ok(equalBytes(await received, bytes));
});

test("ChildHandle.stdout reads nothing that is not asked for", SLOW, async (t) => {
  const before = rssMebibytes();
  const child = await start(t, "floods_stdout.mjs", ["256"]);
  const reader = child.stdout.getReader();
  let received = (await reader.read()).value?.length ?? 0;
  assert.equal(await within(child.exited, 1_500), "pending");
  assert.ok(rssMebibytes() - before < 80, `unread: ${before} -> ${rssMebibytes()} MiB`);
  let peak = 0;
  for (let reads = 1;; reads++) {
    const { value, done } = await reader.read();
    if (done) break;
    received += value.length;
    if (reads % 64 === 0) {
      await delay(1);
      peak = Math.max(peak, rssMebibytes());
    }
  }
  assert.equal(received, 256 * 2 ** 20);
  assert.ok(peak - before < 160, `read slowly: ${before} -> ${peak} MiB`);
});

for (const size of [1_000, 65_536]) {
  test(
    `ChildHandle.stdin waits for a child that does not read ${size} bytes a time, until it is killed`,
    SLOW,
    async (t) => {
      const child = await start(t, "never_reads.mjs");
      await readUntil(child.stdout, "ready");
      const before = rssMebibytes();
      const writer = child.stdin.getWriter();
      const chunk = new Uint8Array(size);
      let taken = 0;
      let write = writer.write(chunk);
      while (await within(write, 500) !== "pending") {
        taken += chunk.length;
        assert.ok(taken < 4 * 2 ** 20, "more was taken than any pipe holds");
        write = writer.write(chunk);
      }
      assert.ok(rssMebibytes() - before < 50);
      child.signal("SIGKILL", "group");
      await assert.rejects(write, { code: "EPIPE" });
      await child.exited;
    },
  );
}

test("ChildHandle.stdin waits with one large write, until the child is killed", SLOW, async (t) => {
  const child = await start(t, "never_reads.mjs");
  await readUntil(child.stdout, "ready");
  const write = child.stdin.getWriter().write(new Uint8Array(8 * 2 ** 20));
  const outcome = write.then(() => "taken", (error) => error.code);
  assert.equal(await within(outcome, 500), "pending");
  child.signal("SIGKILL", "group");
  assert.equal(await outcome, "EPIPE");
});

test(
  "ChildHandle.stdin rejects a write that waits when the child ends, though a grandchild holds the pipe",
  POSIX_SHELL,
  async (t) => {
    const child = await startCommand(t, ["sh", "-c", "exec 3<&0; sleep 60 <&3 & echo ready; read line"]);
    await readUntil(child.stdout, "ready");
    const outcome = child.stdin.getWriter().write(new TextEncoder().encode("go\n" + "x".repeat(8 * 2 ** 20)))
      .then(() => "taken", (error) => error.code);
    assert.deepEqual(await child.exited, { code: 0 });
    child.signal("SIGKILL", "group");
    assert.equal(await outcome, "EPIPE");
  },
);

test("ChildHandle.stdin can be closed after the child has ended", SLOW, async (t) => {
  const child = await startCommand(t, exiting(0));
  await child.exited;
  await child.stdin.close();
});

test("spawn() leaves no zombie after 20 rounds", {
  ...SLOW,
  skip: process.platform === "linux" ? false : "needs /proc",
}, async (t) => {
  for (let round = 0; round < 20; round++) {
    const child = await startCommand(t, ["sh", "-c", `exit ${round}`]);
    assert.deepEqual(await child.exited, { code: round });
  }
  await waitFor("no child is a zombie", () => zombiesOf(process.pid).length === 0);
});

test("spawn() with stderr ignored lets a noisy child go on", SLOW, async (t) => {
  const child = await start(t, "floods_stderr.mjs", ["4"], { stderr: "ignore" });
  assert.equal(child.stderr, null);
  assert.equal(await textOf(child.stdout), "done");
});

test("spawn() with stderr piped delivers it", SLOW, async (t) => {
  const child = await start(t, "floods_stderr.mjs", ["4"], { stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), bytesOf(child.stderr)]);
  assert.equal(stdout, "done");
  assert.equal(stderr.length, 4 * 2 ** 20);
  assert.ok(stderr.every((byte) => byte === 101));
});

test("spawn() passes arguments, working directory and environment exactly", SLOW, async (t) => {
  const args = [
    "a b",
    "",
    '"quoted"',
    "it's",
    "\\",
    "$HOME",
    "*",
    "--",
    "-x=1",
    "zażółć 🎈",
    "line\nbreak",
    "%PATH%",
  ];
  const cwd = fixture("..").replace(/[\\/]$/, "");
  const env = {
    PATH: ENV.PATH ?? "",
    HOME: "/nowhere",
    EMPTY: "",
    SPACED: " a  b ",
    ÜMLAUT: "ö=ö\n",
    LC_ALL: "C.UTF-8",
  };
  const child = await start(t, "tells_its_start.mjs", args, { cwd, env });
  const told = JSON.parse(await textOf(child.stdout));
  assert.deepEqual(told.args, args);
  assert.equal(told.cwd, cwd);
  // Windows itself, or libuv, adds names without which few programs run.
  const names = Object.keys(WINDOWS ? env : told.env);
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, told.env[name]])), env);
});

test("spawn() searches the command in the PATH of the child", POSIX_SEARCH, async (t) => {
  const sh = await startCommand(t, ["sh", "-c", "command -v true"], { env: { PATH: "/usr/bin:/bin" } });
  assert.match(await textOf(sh.stdout), /true/);
  await assert.rejects(runtime.spawn(command("sh", [], { env: { PATH: "/nowhere" } })), {
    code: "command_not_found",
  });
});

async function assertBrokenPipe(stdin: WritableStream<Uint8Array>): Promise<void> {
  const writer = stdin.getWriter();
  // One write may still be taken where the system reports the loss of the reader late.
  await assert.rejects(async () => {
    for (let i = 0; i < 2; i++) await writer.write(new Uint8Array(1000));
  }, { code: "EPIPE" });
  await assert.rejects(writer.write(new Uint8Array(1)), { code: "EPIPE" });
  await writer.close().catch(() => {});
}

function zombiesOf(parent: number): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [state, ppid] = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
      return state === "Z" && Number(ppid) === parent;
    } catch {
      // It ended while we looked.
      return false;
    }
  });
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(chunks.flatMap((chunk) => [...chunk]));
}

/** Faster than `deepEqual`, which is slow for megabytes. */
function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
