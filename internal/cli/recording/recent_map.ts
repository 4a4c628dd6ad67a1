/** A map that forgets what was set the longest ago. */
export class RecentMap<Key, Value> {
  readonly #limit: number;
  readonly #entries = new Map<Key, { readonly value: Value; readonly slot: number }>();
  /** Keys in the order in which they were set, in a ring: a `Map` is slow at giving its first key. */
  readonly #ring: Key[] = [];
  #next = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const slot = this.#next;
    this.#next = (slot + 1) % this.#limit;
    if (slot < this.#ring.length) {
      const oldest = this.#ring[slot]!;
      // One that was set again since stands in a later slot.
      if (this.#entries.get(oldest)?.slot === slot) this.#entries.delete(oldest);
    }
    this.#ring[slot] = key;
    this.#entries.set(key, { value, slot });
  }
}
