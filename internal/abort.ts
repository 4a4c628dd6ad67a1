/** Who waits for each signal: it has one listener of ours, however many wait. Node warns of more than ten. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when the signal is aborted; the callback must not throw. */
export function onAbort(signal: AbortSignal, callback: () => void): void {
  let callbacks = waiting.get(signal);
  if (callbacks === undefined) {
    waiting.set(signal, callbacks = new Set());
    signal.addEventListener("abort", tellAll);
  }
  callbacks.add(callback);
}

/** Takes a callback back. */
export function offAbort(signal: AbortSignal, callback: () => void): void {
  const callbacks = waiting.get(signal);
  if (callbacks?.delete(callback) && callbacks.size === 0) forget(signal);
}

function tellAll({ target }: Event): void {
  const signal = target as AbortSignal;
  // Whoever is taken back meanwhile is not called.
  waiting.get(signal)?.forEach((callback) => callback());
  if (waiting.has(signal)) forget(signal);
}

function forget(signal: AbortSignal): void {
  waiting.delete(signal);
  signal.removeEventListener("abort", tellAll);
}
