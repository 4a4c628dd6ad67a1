/** Time of the model: it stands still until a schedule moves it, and costs next to nothing when it moves. */

import { setImmediate } from "node:timers";
import type { Clock } from "../runtime.ts";

/**
 * Lets everything happen that needs no time. All streams of the model are in memory, so one turn of the event loop is
 * enough; the second one is for what a runtime's own streams put off.
 */
export async function drain(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/** A clock that only a schedule moves. */
export class ModelClock implements Clock {
  #now = 0;
  #lastHandle = 0;
  readonly #timers = new Map<number, Timer>();

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    this.#timers.set(++this.#lastHandle, { due: this.#now + Math.max(0, delayMs), callback });
    return this.#lastHandle;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** Lets time pass, timer by timer, and after each one all that follows from it. */
  async advance(durationMs: number): Promise<void> {
    const until = this.#now + durationMs;
    for (let next = this.#nextBy(until); next !== undefined; next = this.#nextBy(until)) {
      const [handle, { due, callback }] = next;
      this.#timers.delete(handle);
      this.#now = Math.max(this.#now, due);
      callback();
      await drain();
    }
    this.#now = until;
  }

  #nextBy(until: number): [number, Timer] | undefined {
    let next: [number, Timer] | undefined;
    for (const entry of this.#timers) {
      if (entry[1].due <= until && (next === undefined || entry[1].due < next[1].due)) next = entry;
    }
    return next;
  }
}
