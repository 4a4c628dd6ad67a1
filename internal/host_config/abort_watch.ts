/**
 * Tells many who wait that a signal has aborted, by one listener: Node warns of an eleventh, and a signal is the slower
 * the more it has.
 */
export class AbortWatch {
  readonly #signal: AbortSignal | undefined;
  readonly #callbacks = new Set<() => void>();
  readonly #onAbort = () => {
    for (const callback of this.#callbacks) callback();
  };

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Whether it has aborted. */
  get aborted(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Why it has aborted. */
  get reason(): unknown {
    return this.#signal?.reason;
  }

  /** Calls back at the abort. Returns what undoes it. */
  add(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  /** What a promise gives, or a rejection with the reason if the abort comes first. */
  async race<T>(promise: Promise<T>): Promise<T> {
    let undo = () => {};
    const aborted = new Promise<never>((_, reject) => {
      const abort = () => reject(this.reason);
      if (this.aborted) abort();
      undo = this.add(abort);
    });
    return await Promise.race([promise, aborted]).finally(undo);
  }

  /** Listens no longer. */
  end(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
