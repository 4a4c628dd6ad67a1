import type { RequestId } from "../../messages.ts";

/** So many are remembered, and none that is longer. */
const KEPT = 1_024;
const LONGEST = 1_024;

/** The newest of the ids that something was done to. */
export class RecentIds {
  readonly #ids = new Set<RequestId>();

  has(id: RequestId): boolean {
    return this.#ids.has(id);
  }

  add(id: RequestId): void {
    if (typeof id === "string" && id.length > LONGEST) return;
    this.#ids.delete(id);
    this.#ids.add(id);
    if (this.#ids.size <= KEPT) return;
    const [oldest] = this.#ids;
    this.#ids.delete(oldest!);
  }

  delete(id: RequestId): boolean {
    return this.#ids.delete(id);
  }
}
