/** Signals to this process on Deno. */

import type { Signal } from "../../../runtime.ts";
import { Deno } from "./namespace.ts";

/** Listens to signals. They do not keep the process alive. */
export function listenToSignals(signals: readonly Signal[], callback: (signal: Signal) => void): () => void {
  const undo: (() => void)[] = [];
  for (const signal of signals) {
    const listener = (): void => callback(signal);
    try {
      Deno.addSignalListener(signal, listener);
    } catch {
      // Windows has no SIGTERM: then it cannot come either.
      continue;
    }
    undo.push(() => Deno.removeSignalListener(signal, listener));
  }
  return () => undo.splice(0).forEach((each) => each());
}
