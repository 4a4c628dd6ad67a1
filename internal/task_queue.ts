import { offAbort, onAbort } from "./abort.ts";

/** Lets tasks run at the same time up to a limit, and up to another one for those of the same key. First come, first served. */
export class TaskQueue {
  readonly #limit: number;
  readonly #limitPerKey: number;
  /** How many run, in all and by key. */
  #total = 0;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<{ readonly key: string; readonly start: () => void }>();

  constructor(limit: number, limitPerKey: number) {
    this.#limit = limit;
    this.#limitPerKey = limitPerKey;
  }

  /** Runs a task when its turn comes. If an abort comes before that, it never runs, and this rejects with the reason. */
  async run<T>(key: string, task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    await this.#enter(key, signal);
    try {
      return await task();
    } finally {
      this.#leave(key);
    }
  }

  #enter(key: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const giveUp = () => {
        this.#waiting.delete(waiter);
        reject(signal?.reason);
      };
      const start = () => {
        offAbort(signal, giveUp);
        resolve();
      };
      const waiter = { key, start };
      onAbort(signal, giveUp);
      this.#waiting.add(waiter);
      this.#startNext();
    });
  }

  #leave(key: string): void {
    this.#total--;
    const left = this.#count(key) - 1;
    if (left > 0) this.#running.set(key, left);
    else this.#running.delete(key);
    this.#startNext();
  }

  #startNext(): void {
    for (const waiter of this.#waiting) {
      if (this.#total >= this.#limit) return;
      const count = this.#count(waiter.key);
      if (count >= this.#limitPerKey) continue;
      this.#waiting.delete(waiter);
      this.#running.set(waiter.key, count + 1);
      this.#total++;
      waiter.start();
    }
  }

  #count(key: string): number {
    return this.#running.get(key) ?? 0;
  }
}
