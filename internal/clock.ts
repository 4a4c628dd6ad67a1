import type { Clock } from "../runtime.ts";

/** The longest delay a runtime's timer can hold; a longer one would fire at once. */
export const GREATEST_DELAY_MS = 2_147_483_647;

/** The runtime's own time. Timers are looked up at each call, so that test tools can replace them. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, Math.min(delayMs, GREATEST_DELAY_MS)),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as number),
};

/** Resolves to true when the promise settles within the time, to false when it does not. */
export function settlesWithin(clock: Clock, promise: Promise<unknown>, delayMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = delayMs === Infinity ? undefined : clock.setTimeout(() => resolve(false), delayMs);
    const settled = () => {
      clock.clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

/** Resolves after the time. */
export function delay(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, delayMs));
}
