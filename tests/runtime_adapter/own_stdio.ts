/** Tests of `RuntimeAdapter.openStdio()`, in programs of their own. */

import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import {
  bytesOf,
  delay,
  ENV,
  POSIX_SHELL,
  program,
  readUntil,
  runtime,
  send,
  SLOW,
  start,
  startCommand,
  textOf,
  WINDOWS,
  within,
} from "./harness.ts";

test("openStdio() can be called once", () => {
  runtime.openStdio();
  assert.throws(() => runtime.openStdio(), TypeError);
});

for (const exclusive of [false, true]) {
  const how = exclusive ? "openStdio({ exclusive: true })" : "openStdio()";
  const env = { ...ENV, OWN_EXCLUSIVE: exclusive ? "1" : "0" };
  const PIPED = { stderr: "pipe", env } as const;
  const QUIET = { stderr: "ignore", env } as const;

  test(
    `${how} carries two lines of 10.5 MB unchanged, and the program ends after the end of input`,
    SLOW,
    async (t) => {
      const child = await start(t, "own_echo.ts", [], PIPED);
      const line = "ż🎈x".repeat(1_500_000) + "\n";
      const sent = send(child.stdin, line + line);
      const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
      await sent;
      assert.ok(stdout === line + line);
      assert.equal(stderr, "up\nthrough\n");
      assert.deepEqual(await child.exited, { code: 0 });
    },
  );

  test(
    `${how} works on true pipes, files and /dev/null, and the program ends by itself`,
    POSIX_SHELL,
    async (t) => {
      const own = program("own_echo.ts");
      const text = "x".repeat(100_000);
      const path = join(tmpdir(), `stdio-${process.pid}`);
      writeFileSync(path, text);
      t.after(() => rmSync(path));
      const cases: [script: string, expected: string][] = [
        [`cat "$file" | "$@" | cat`, text],
        [`"$@" < "$file" | cat`, text],
        [`"$@" < "$file" > "$file.out"; cat "$file.out"; rm "$file.out"`, text],
        [`"$@" < /dev/null`, ""],
        [`"$@" < /dev/null > /dev/null`, ""],
        [`true | "$@"`, ""],
        [`"$@" <&-`, ""],
      ];
      for (const [script, expected] of cases) {
        const options = { ...PIPED, env: { ...env, file: path } };
        const child = await startCommand(t, ["sh", "-c", script, "sh", ...own], options);
        const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
        assert.equal(stderr, "up\nthrough\n", script);
        assert.ok(stdout === expected, script);
        assert.deepEqual(await child.exited, { code: 0 }, script);
      }
    },
  );

  test(`${how} hands on bytes of every size at once, while stdin stays open`, SLOW, async (t) => {
    const child = await start(t, "own_echo.ts", [], QUIET);
    const writer = child.stdin.getWriter();
    const reader = child.stdout.getReader();
    for (const size of [1, 16_383, 16_384, 16_385, 65_536, 65_537, 1]) {
      const write = writer.write(new Uint8Array(size).fill(size % 256));
      for (let received = 0; received < size;) {
        const { value } = await reader.read();
        assert.ok(value !== undefined && value.every((byte) => byte === size % 256));
        received += value.length;
        assert.ok(received <= size);
      }
      await write;
    }
    await writer.close();
    assert.equal((await reader.read()).done, true);
  });

  test(`${how} gives chunks that stay as they are when others come`, SLOW, async (t) => {
    const child = await start(t, "own_keeps_chunks.ts", [], PIPED);
    const writer = child.stdin.getWriter();
    const pieces = ["the first piece, ", "another, ", "x".repeat(60_000), "the last"];
    for (const piece of pieces) {
      await writer.write(new TextEncoder().encode(piece));
      // Each is read by itself, however many reads that takes.
      for (let read = 0; read < piece.length;) read += Number(await readUntil(child.stderr, "\n"));
    }
    await writer.close();
    assert.equal(await textOf(child.stdout), pieces.join(""));
    assert.deepEqual(await child.exited, { code: 0 });
  });

  test(`${how} makes a write wait until it is read`, SLOW, async (t) => {
    const child = await start(t, "own_write.ts", ["4"], PIPED);
    await readUntil(child.stderr, "before\n");
    const rest = readUntil(child.stderr, "after\n");
    assert.equal(await within(rest, 500), "pending");
    assert.equal((await bytesOf(child.stdout)).length, 4 * 2 ** 20);
    assert.equal(await rest, "after\n");
  });

  test(`${how} makes a write wait for its reader`, POSIX_SHELL, async (t) => {
    for (const script of [`"$@"`, `{ "$@" | { read line <&3; cat; }; }`]) {
      const child = await startCommand(t, [
        "sh",
        "-c",
        `${script} 3<&0`,
        "sh",
        ...program("own_write.ts", ["1"]),
      ], PIPED);
      await readUntil(child.stderr, "before\n");
      const rest = readUntil(child.stderr, "after\n");
      assert.equal(await within(rest, 500), "pending");
      await send(child.stdin, "go\n");
      assert.equal((await bytesOf(child.stdout)).length, 2 ** 20);
      assert.equal(await rest, "after\n");
    }
  });

  test(`${how} loses nothing of an awaited write when the program exits`, SLOW, async (t) => {
    for (let round = 0; round < 3; round++) {
      const child = await start(t, "own_write.ts", ["4"], QUIET);
      assert.equal((await bytesOf(child.stdout)).length, 4 * 2 ** 20);
      assert.deepEqual(await child.exited, { code: 7 });
    }
  });

  test(
    `${how} rejects a write with EPIPE when the reader is gone, and nothing else happens`,
    SLOW,
    async (t) => {
      const own = program("own_write_until_error.ts");
      const direct = await start(t, "own_write_until_error.ts", [], PIPED);
      await direct.stdout.cancel();
      const blocked = await start(t, "own_write_until_error.ts", [], PIPED);
      await delay(300);
      await blocked.stdout.cancel();
      const shell = ["sh", "-c", '"$@" | head -c 10 > /dev/null', "sh"];
      const piped = WINDOWS ? [] : [await startCommand(t, [...shell, ...own], PIPED)];
      for (const child of [direct, blocked, ...piped]) {
        assert.equal(await textOf(child.stderr), "EPIPE\nsurvived\n");
        assert.deepEqual(await child.exited, { code: 0 });
      }
    },
  );

  test(`${how} lets the program end when a pending read is cancelled`, SLOW, async (t) => {
    const socketOrPipe = await start(t, "own_cancel.ts", [], PIPED);
    // The shell waits for its `sleep`, so that the end of the program shows in what follows it.
    const script = 'sleep 60 | { "$@"; echo "ended with $?"; }';
    assert.equal(await readUntil(socketOrPipe.stderr, "\n"), "done: true\n");
    assert.deepEqual(await socketOrPipe.exited, { code: 0 });
    if (WINDOWS) return;
    const pipe = await startCommand(t, ["sh", "-c", script, "sh", ...program("own_cancel.ts")], PIPED);
    assert.equal(await readUntil(pipe.stderr, "\n"), "done: true\n");
    assert.equal(await readUntil(pipe.stdout, "\n"), "ended with 0\n");
  });

  test(`${how} keeps the bytes that came before the first read`, SLOW, async (t) => {
    const path = join(tmpdir(), `stdio-go-${process.pid}`);
    t.after(() => existsSync(path) && rmSync(path));
    const child = await start(t, "own_late_read.ts", [path], PIPED);
    const writer = child.stdin.getWriter();
    const bytes = Uint8Array.from({ length: 160_000 }, (_, i) => i % 251);
    await writer.write(bytes.slice(0, 30_000));
    await readUntil(child.stderr, "up\n");
    await writer.write(bytes.slice(30_000, 40_000));
    writeFileSync(path, "");
    await writer.write(bytes.slice(40_000));
    await writer.close();
    assert.equal(await textOf(child.stderr), "read 160000, all in order\n");
    assert.deepEqual(await child.exited, { code: 0 });
  });
}

test("openStdio() leaves descriptor 1 open when the stream is closed", SLOW, async (t) => {
  const child = await start(t, "own_close.ts", [], { stderr: "pipe" });
  assert.equal(await textOf(child.stdout), "frame\nlater\n");
  assert.equal(await textOf(child.stderr), "");
  assert.deepEqual(await child.exited, { code: 0 });
});
