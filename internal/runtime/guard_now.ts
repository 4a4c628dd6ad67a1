/** The guard of stdout without an adapter: synchronous, since a module that waits lets the next import go first. */

import { divertStdout as divertOnBun } from "./bun/stdout_guard.ts";
import { divertStdout as divertOnDeno } from "./deno/stdout_guard.ts";
import { runtimeName } from "./detect.ts";
import { divertStdout as divertOnNode } from "./node/stdout_guard.ts";

const DIVERT = { bun: divertOnBun, deno: divertOnDeno, node: divertOnNode } as const;

/** Sends to stderr, for the life of this process, what goes to stdout. A guard that is set later changes nothing. */
export function guardStdoutNow(): void {
  DIVERT[runtimeName()]();
}
