/** Lets tasks run at the same time up to a limit, and up to another one for those of the same key. First come, first served. */
export class LaunchQueue {
  readonly #limit: number;
  readonly #limitPerKey: number;
  readonly #running = new Map<string, number>();
  readonly #waiting: { key: string; start: () => void }[] = [];

  constructor(limit: number, limitPerKey: number) {
    this.#limit = limit;
    this.#limitPerKey = limitPerKey;
  }

  /** Runs a task when its turn comes. If the signal aborts before that, it never runs, and this rejects with the reason. */
  async run<T>(key: string, task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    await this.#enter(key, signal);
    try {
      return await task();
    } finally {
      this.#running.set(key, this.#count(key) - 1);
      this.#startNext();
    }
  }

  #enter(key: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal?.reason);
      };
      const start = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const waiter = { key, start };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiter);
      this.#startNext();
    });
  }

  #startNext(): void {
    let total = 0;
    for (const count of this.#running.values()) total += count;
    while (total < this.#limit) {
      const index = this.#waiting.findIndex(({ key }) => this.#count(key) < this.#limitPerKey);
      const [waiter] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (waiter === undefined) return;
      this.#running.set(waiter.key, this.#count(waiter.key) + 1);
      total++;
      waiter.start();
    }
  }

  #count(key: string): number {
    return this.#running.get(key) ?? 0;
  }
}
