/** Who waits for each signal: it has one listener of ours, however many wait. Node warns of more than ten. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when the signal is aborted, if there is one; the callback must not throw. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): void {
  if (signal === undefined) return;
  let callbacks = waiting.get(signal);
  if (callbacks === undefined) {
    waiting.set(signal, callbacks = new Set());
    signal.addEventListener("abort", tellAll);
  }
  callbacks.add(callback);
}

/** Takes a callback back. */
export function offAbort(signal: AbortSignal | undefined, callback: () => void): void {
  if (signal === undefined) return;
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
  try {
    signal.removeEventListener("abort", tellAll);
  } catch {
    // A signal of somebody's own making: the listener stays, and finds nobody who waits.
  }
}

/** Whether it can be used as a signal; one of another realm or library can. */
export function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== "object" || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function" &&
    typeof removeEventListener === "function";
}

/** What a promise gives, or a rejection with the reason if the signal is aborted first. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else onAbort(signal, abort);
  });
  return await Promise.race([promise, aborted]).finally(() => offAbort(signal, abort));
}
