#!/usr/bin/env node
/**
 * The command line: `npx @mcp/stdio`, `bunx @mcp/stdio`, `deno run -A jsr:@mcp/stdio/cli`. `--help` says what it can do.
 * It runs when this module is the program that is started; imported, it does nothing until {@linkcode main} is called.
 *
 * @example The version, from within a program
 * ```ts
 * import { main } from "@mcp/stdio/cli";
 * import assert from "node:assert/strict";
 *
 * assert.equal(await main(["--version"]), 0);
 * ```
 *
 * @module
 */

import { isMainModule } from "./internal/runtime/node_api/main_module.ts";

/**
 * Runs a command line on this process's own streams and gives the exit code: 0 all well, 1 the answer is no, 2 wrong usage,
 * 3 the server could not be used. The process is not ended.
 *
 * @param args What stands behind the program's name.
 * @returns The exit code.
 *
 * @example A command that there is not
 * ```ts
 * import { main } from "@mcp/stdio/cli";
 * import assert from "node:assert/strict";
 *
 * assert.equal(await main(["no-such-command"]), 2);
 * ```
 */
export async function main(args: readonly string[]): Promise<number> {
  const { runProgram } = await import("./internal/cli/program.ts");
  return await runProgram(args);
}

if (await isMainModule(import.meta)) {
  const { runAndExit } = await import("./internal/cli/program.ts");
  await runAndExit();
}
