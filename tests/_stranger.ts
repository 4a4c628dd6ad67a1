/** Programs of strangers: servers of which a test needs to know only what they say and when they end. */

import { join } from "node:path";
import process from "node:process";
import { runtimeName } from "../internal/runtime/detect.ts";
import { ROOT } from "./_sources.ts";
import { commandOf } from "./server_processes.ts";

/** Whether strangers run on the runtime under test, too. */
const ON_TESTED_RUNTIME = process.platform === "win32" || process.env["TEST_FULL"] === "1";

/** Starts in a tenth of the time that Node needs. */
const BUN = join(ROOT, "node_modules/.bin/bun");

/**
 * The command that runs a plain fixture such as `never_reads.mjs`, or a program of this module such as `examples/weather_server`, as
 * a stranger: on whatever starts in the least time, or on the runtime under test with `TEST_FULL=1`, and on Windows.
 */
export function strangerCommand(name: string, args: readonly string[] = []): string[] {
  if (!name.endsWith(".mjs")) {
    return ON_TESTED_RUNTIME ? commandOf(name, args) : [BUN, join(ROOT, `${name}.ts`), ...args];
  }
  const fixture = join(ROOT, "tests/fixtures", name);
  if (!ON_TESTED_RUNTIME) return [BUN, fixture, ...args];
  return [process.execPath, ...runtimeName() === "deno" ? ["run", "--quiet", "-A"] : [], fixture, ...args];
}
