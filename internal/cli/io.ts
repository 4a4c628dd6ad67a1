/** What a command works with. Tests hand in their own; a program gets it from `internal/runtime/node_api/terminal.ts`. */

import type { Clock, RuntimeAdapter } from "../../runtime.ts";
import type { FileAccess, TextInput } from "../runtime/node_api/terminal.ts";
import type { Screen } from "./screen.ts";

/** What a command works with. */
export interface CliIo {
  /** Processes, environment, signals. */
  readonly runtime: RuntimeAdapter;
  readonly clock: Clock;
  /** Results, and everything else. */
  readonly screen: Screen;
  /** What is typed or piped in. */
  readonly input: TextInput;
  readonly files: FileAccess;
  /** Aborts at the first Ctrl-C, SIGTERM or SIGHUP; with the second the program ends at once. */
  readonly interrupted: AbortSignal;
}
