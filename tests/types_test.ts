// What type-checks works: the programs in `types/` are compiled by each compiler that people use. They say themselves which
// of their lines must not compile.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { ROOT } from "./_sources.ts";

const COMPILERS: Readonly<Record<string, readonly string[]>> = {
  "TypeScript 5.9": ["run", "-A", "node_modules/typescript-5.9/bin/tsc", "-p", "tests/types"],
  "TypeScript 7": ["run", "-A", "node_modules/typescript/bin/tsc", "-p", "tests/types"],
  "deno check": ["check", "--quiet", "tests/types"],
};

/** Compilers do not care who starts them. */
const ONCE = {
  timeout: 180_000,
  skip: "deno" in process.versions ? false : "the compilers are run by Deno",
} as const;

for (const [name, args] of Object.entries(COMPILERS)) {
  test(
    `${name} takes the programs that must compile and no other (XF1, XF2, XF3, XF13, XF18)`,
    ONCE,
    async () => {
      const { code, output } = await run(process.execPath, args);
      assert.equal(code, 0, output);
    },
  );
}

test(
  "Each compiler is the one it is said to be, and sees a program that must not compile",
  ONCE,
  async () => {
    const versions = await Promise.all(
      ["typescript-5.9", "typescript"].map((name) =>
        run(process.execPath, ["run", "-A", join("node_modules", name, "bin/tsc"), "--version"])
      ),
    );
    assert.deepEqual(versions.map(({ output }) => output.trim().replace(/\.\d+$/, "")), [
      "Version 5.9",
      "Version 7.0",
    ]);
  },
);

/** Runs a program to its end. */
function run(command: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output += text);
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
