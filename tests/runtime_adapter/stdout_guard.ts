/** Tests of `RuntimeAdapter.guardStdout()`, in programs of their own. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { name, SLOW, start, textOf } from "./harness.ts";

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
        // Two of the means write to stderr anyway, and on some runtimes the trace does.
        const onStderr = numbersOf("line", stderr);
        assert.deepEqual(onStderr.slice(0, guarded + 1), upTo(guarded + 1));
        const onStdout = numbersOf("line", stdout);
        assert.deepEqual([...onStderr, ...onStdout].sort((a, b) => a - b), upTo(count));
        assert.ok(onStdout.length >= guarded - 3, stdout);
        assert.ok(stdout.includes("last frame\n"));
      },
    );
  }
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
