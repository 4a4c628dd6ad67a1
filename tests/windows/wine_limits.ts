// Tests that fail under Wine and would not on Windows, each with its reason. What is not in this list must pass.
import type { WindowsRuntime } from "./windows_runtimes.ts";

/** A test, or several with a common beginning of their titles, and why Wine cannot run it. */
export interface WineLimit {
  readonly file: string;
  readonly title: RegExp;
  /** All, where it is not said. */
  readonly runtimes?: readonly WindowsRuntime[];
  readonly reason: string;
}

const CLOSED_DESCRIPTOR =
  "the reader of a pipe is not told that the other process has closed its descriptor; in plain Node neither";
const LARGE_PIPE =
  "a pipe takes a megabyte for a process that has not begun to read, so that the write is over before the process";

export const WINE_LIMITS: readonly WineLimit[] = [
  { file: "spawn_loss_test.ts", title: /closes its stdout and stays \(B89\)/, reason: CLOSED_DESCRIPTOR },
  {
    file: "spawn_loss_test.ts",
    title: /^Client gives up a server that closes its stdin/,
    reason: CLOSED_DESCRIPTOR,
  },
  {
    file: "spawn_loss_test.ts",
    title: /^Client rejects a notification that a deaf server will never take/,
    runtimes: ["bun"],
    reason: "Bun fails the test behind one that has run out of time, which is the one above",
  },
  {
    file: "runtime_adapter_test.ts",
    title: /^ChildHandle\.stdin rejects with EPIPE when the child is dying/,
    runtimes: ["deno", "bun"],
    reason: LARGE_PIPE,
  },
  {
    file: "runtime_adapter_test.ts",
    title: /^ChildHandle\.stdin raises nothing in the host, even late/,
    runtimes: ["deno", "bun"],
    reason: LARGE_PIPE,
  },
  {
    file: "runtime_adapter_test.ts",
    title: /^ChildHandle\.stdin waits with one large write/,
    runtimes: ["bun"],
    reason: LARGE_PIPE,
  },
];
