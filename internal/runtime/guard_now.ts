/** The guard of stdout without an adapter, which takes turns to load: what a program prints in the meantime is caught too. */

import type { RuntimeAdapter } from "../../runtime.ts";
import { stdoutGuard as bun } from "./bun/stdout_guard.ts";
import { stdoutGuard as deno } from "./deno/stdout_guard.ts";
import { runtimeName } from "./detect.ts";
import { stdoutGuard as node } from "./node/stdout_guard.ts";

const GUARDS = { bun, deno, node } as const;

/** Sends to stderr, from this very call and for the life of this process, what goes to stdout. */
export function guardStdoutNow(runtime?: Pick<RuntimeAdapter, "guardStdout">): void {
  if (runtime === undefined) GUARDS[runtimeName()].hold();
  else runtime.guardStdout();
}
