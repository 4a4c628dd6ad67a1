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

export const WINE_LIMITS: readonly WineLimit[] = [];
