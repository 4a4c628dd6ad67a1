// The command line on a real terminal: a bar that moves, questions that are asked, and Ctrl-C, which is a character there (L1).
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { serverArgs } from "./cli_helpers.ts";
import { waitUntil } from "./helpers.ts";
import { SLOW } from "./server_helpers.ts";
import { commandOf } from "./server_processes.ts";

const TERMINAL = {
  ...SLOW,
  skip: process.platform === "linux" && existsSync("/usr/bin/script")
    ? false
    : "there is no script(1) of Linux",
};

/** A command line with somebody at its terminal. */
class Sitting {
  readonly #child: ChildProcess;
  text = "";

  constructor(t: TestContext, args: readonly string[]) {
    const line = commandOf("cli", args).map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    this.#child = spawn("/usr/bin/script", ["-q", "-e", "-c", line, "/dev/null"], {
      stdio: "pipe",
      env: { ...process.env, TERM: "xterm", LANG: "C.UTF-8", NO_COLOR: "1" },
    });
    t.after(() => void this.#child.kill("SIGKILL"));
    this.#child.stdout!.setEncoding("utf8").on("data", (chunk: string) => this.text += chunk);
    this.#child.stdin!.on("error", () => {}); // It may have ended before what is typed.
  }

  /** Types when something is seen. */
  async typeAt(seen: string, typed: string): Promise<void> {
    await waitUntil(() => this.text.includes(seen), { timeoutMs: 60_000, what: `${seen} in ${this.text}` });
    this.#child.stdin!.write(typed);
  }

  async ended(): Promise<number> {
    const [code] = await once(this.#child, "close") as [number];
    return code;
  }
}

test(
  "on a terminal what is missing is asked for, and what the server asks, also when it was typed ahead (L1)",
  TERMINAL,
  async (t) => {
    const missing = new Sitting(t, ["call", "add", "a=1", "-q", ...serverArgs("examples/everything_server")]);
    await missing.typeAt("b (number): ", "two\n2\n");
    assert.equal(await missing.ended(), 0, missing.text);
    assert.match(missing.text, /it must be a number\r\n/);
    assert.match(missing.text, /2\r\nadd …\r\S+3\r\n$/);
    const asked = new Sitting(t, ["call", "ask", "-q", ...serverArgs("examples/everything_server")]);
    await asked.typeAt("Answer? [y/N] ", "y\nAda\n");
    assert.equal(await asked.ended(), 0, asked.text);
    assert.match(asked.text, /Hello, Ada!\r\n$/);
  },
);

test("on a terminal progress is a bar on one line, which is taken away (L1)", TERMINAL, async (t) => {
  const sitting = new Sitting(t, [
    "call",
    "progress",
    "steps=3",
    "ms=60",
    "-q",
    ...serverArgs("examples/everything_server"),
  ]);
  assert.equal(await sitting.ended(), 0);
  assert.match(sitting.text, /progress █+░+ {2}33 % 1 of 3: step 1/);
  assert.match(sitting.text, /3 steps\r\n$/);
  assert.equal(sitting.text.split("\n").length, 2, "nothing of it stays");
});

test("Ctrl-C at a question, and during a call, ends the command with 130 (L1)", TERMINAL, async (t) => {
  const asked = new Sitting(t, ["call", "add", "a=1", "-q", ...serverArgs("examples/everything_server")]);
  await asked.typeAt("b (number): ", "\x03");
  assert.equal(await asked.ended(), 130, asked.text);
  const called = new Sitting(t, [
    "call",
    "sleep",
    "ms=600000",
    "-q",
    ...serverArgs("examples/everything_server"),
  ]);
  await called.typeAt("sleep …", "\x03");
  assert.equal(await called.ended(), 130, called.text);
});
