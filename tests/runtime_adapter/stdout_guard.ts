/** Tests of `RuntimeAdapter.guardStdout()`, in programs of their own. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import process from "node:process";
import { name, POSIX_SHELL, program, readUntil, send, SLOW, start, startCommand, textOf } from "./harness.ts";

test("guardStdout() sends to stderr what the console prints to stdout, in the same form", SLOW, async (t) => {
  const plain = await run(t, "guard_console.ts", ["plain"]);
  const guarded = await run(t, "guard_console.ts", ["guarded"]);
  assert.equal(plain.stderr, "");
  assert.equal(guarded.stdout, "");
  // Bun's own groups do not indent what comes on further lines, nor what is in a collapsed group.
  const form = (text: string): string => name === "bun" ? text.replaceAll(/^ +/gm, "") : text;
  assert.equal(form(guarded.stderr), form(plain.stdout));
});

for (const first of ["guard", "stdio"]) {
  for (const used of ["used", "unused"]) {
    test(
      `guardStdout() keeps all but frames from stdout: ${first} first, stdout ${used} before`,
      SLOW,
      async (t) => {
        const { stdout, stderr } = await run(t, "guard_means.ts", [first, used]);
        const count = Number(/(\d+) lines\n$/.exec(stderr)?.[1]);
        assert.ok(count >= 8, stderr);
        assert.deepEqual(numbersOf("line", stderr), upTo(count));
        assert.equal(stdout, upTo(count).map((n) => `frame ${n}\n`).join(""));
      },
    );

    test(
      `guardStdout() is undone by the last who asked for it: ${first} first, stdout ${used} before`,
      SLOW,
      async (t) => {
        const { stdout, stderr } = await run(t, "guard_means.ts", [first, used, "undo"]);
        const count = Number(/(\d+) lines\n$/.exec(stderr)?.[1]);
        const guarded = (count - 1) / 2;
        // Four of the means write to stderr anyway, and on some runtimes the trace does.
        const onStderr = numbersOf("line", stderr);
        assert.deepEqual(onStderr.filter((line) => line <= guarded + 1), upTo(guarded + 1));
        const onStdout = numbersOf("line", stdout);
        assert.deepEqual([...onStderr, ...onStdout].sort((a, b) => a - b), upTo(count));
        assert.ok(onStdout.length >= guarded - 5, stdout);
        assert.ok(stdout.includes("last frame\n"));
      },
    );
  }
}

test("guardStdout() leaves no line half written when it is undone", SLOW, async (t) => {
  const { stderr } = await run(t, "guard_trace.ts", []);
  assert.deepEqual(numbersOf("after", stderr), upTo(100), stderr);
});

/** Between true pipes on all sides: a client on Node or Bun starts its servers with socket pairs. */
const PIPES = `cat | { { "$@" 2>&1 >&3 3>&- | cat >&2; } 3>&1 | cat; }`;
const FRAMES = "frame 1\nframe 2\nframe 3\nframe read for the server\n";

for (const way of ["the pipes of this runtime", "true pipes"]) {
  test(
    `openStdio({ exclusive: true }) keeps native code and children off the channel, with ${way} (V14, B40)`,
    POSIX_SHELL,
    async (t) => {
      const { stdout, stderr } = await runWire(t, way, "ignore");
      const covered = isCovered(way);
      assert.match(stderr, new RegExp(`exclusive: ${covered}\n$`));
      const strays = ["stray native\n", "stray child\n", "child at end\n"];
      if (covered) {
        assert.equal(stdout, FRAMES);
        for (const stray of strays) assert.ok(stderr.includes(stray), stderr);
      } else {
        // The limit that docs/stdout.md tells: no runtime but Bun can duplicate a descriptor.
        for (const stray of strays) assert.ok(stdout.includes(stray), stdout);
        assert.equal(strays.reduce((text, stray) => text.replace(stray, ""), stdout), FRAMES);
      }
    },
  );
}

test(
  "openStdio({ exclusive: true }) frees no descriptor while a file is being opened, which could get it (V14)",
  {
    ...SLOW,
    skip: name === "node" && process.platform === "linux" ? false : "only Node opens the pipe anew",
  },
  async (t) => {
    const { stderr } = await runWire(t, "true pipes", "ignore", "opening");
    assert.match(stderr, /exclusive: false\n$/);
  },
);

test(
  "openStdio({ exclusive: true }) gives a child that inherits stdin its end, and no request (V14, B40)",
  {
    ...POSIX_SHELL,
    ...name === "bun" ? {} : { skip: "only Bun can duplicate a descriptor: see docs/stdout.md" },
  },
  async (t) => {
    const { stdout, stderr } = await runWire(t, "the pipes of this runtime", "inherit");
    assert.equal(stdout, FRAMES);
    assert.match(stderr, /child at end/);
  },
);

test(
  "openStdio({ exclusive: true }) lets the client see the end of the channel though a child lives on (V14)",
  {
    ...POSIX_SHELL,
    ...name === "deno" ? { skip: "Deno cannot take the channel away: see docs/stdout.md" } : {},
  },
  async (t) => {
    const script = `"$@" | cat; echo "the end"`;
    const own = program("own_wire.ts", ["ignore", "holder"]);
    const child = await startCommand(t, ["sh", "-c", script, "sh", ...own], {
      stderr: "ignore",
    });
    await send(child.stdin, "for the server\n");
    assert.match(await readUntil(child.stdout, "the end\n"), /^frame/);
  },
);

test(
  "openStdio({ exclusive: true }) leaves the channel where a program that is run again looks for it (V14)",
  { ...POSIX_SHELL, ...name === "bun" ? {} : { skip: "only Bun runs a program again in the same process" } },
  async (t) => {
    for (const flag of ["--watch", "--hot"]) {
      const [bun = "", ...own] = program("own_wire.ts", ["ignore"]);
      const child = await startCommand(t, [bun, flag, ...own], { stderr: "pipe" });
      await send(child.stdin, "for the server\n");
      await readUntil(child.stderr, "exclusive: false\n");
    }
  },
);

/** Whether the channel can be taken away from descriptor 1. */
function isCovered(way: string): boolean {
  return name === "bun" || name === "node" && process.platform === "linux" && way === "true pipes";
}

async function runWire(
  t: TestContext,
  way: string,
  childStdin: string,
  mode = "",
): Promise<{ stdout: string; stderr: string }> {
  const own = program("own_wire.ts", [childStdin, mode]);
  const shell = way === "true pipes" ? ["sh", "-c", PIPES, "sh"] : [];
  const child = await startCommand(t, [...shell, ...own], { stderr: "pipe" });
  const sent = send(child.stdin, "for the server\n");
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  await sent;
  return { stdout, stderr };
}

async function run(
  t: TestContext,
  file: string,
  args: string[],
): Promise<{ stdout: string; stderr: string }> {
  const child = await start(t, file, args, { stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  assert.deepEqual(await child.exited, { code: 0 }, stderr);
  return { stdout, stderr };
}

function numbersOf(word: string, text: string): number[] {
  return [...text.matchAll(new RegExp(`\\b${word} (\\d+)$`, "gm"))].map(([, number]) => Number(number));
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
