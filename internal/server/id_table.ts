import type { RequestId } from "../../messages.ts";
import { RawId } from "../framing/message_encoder.ts";

/** Something that stands for a request while it is open. */
export interface Identified {
  /** Its id as a value; beyond 2^53 only the nearest number. */
  readonly id: RequestId;
  /** Its id as a key, exact. */
  readonly key: RequestId;
}

/** What is open, by request id: `1` and `"1"` are two, and so are two integers that a number cannot tell apart. */
export class IdTable<T extends Identified> {
  readonly #entries = new Map<RequestId, T>();

  get size(): number {
    return this.#entries.size;
  }

  has(key: RequestId): boolean {
    return this.#entries.has(key);
  }

  add(entry: T): void {
    this.#entries.set(entry.key, entry);
  }

  /** Takes an entry out, unless another has taken its place. */
  remove(entry: T): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  /** Finds what an id means that came in a message; one beyond 2^53 counts if it can mean only one entry. */
  find(id: RequestId): T | undefined {
    const entry = this.#entries.get(id);
    if (entry !== undefined || typeof id === "string" || Number.isSafeInteger(id)) return entry;
    const candidates = this.values().filter((candidate) => candidate.id === id);
    return candidates.length === 1 ? candidates[0] : undefined;
  }

  values(): T[] {
    return [...this.#entries.values()];
  }
}

const NUMBER_REGEXP = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const INTEGER_KEY = "\u0000integer ";

/** The key of an id: exact digits where a number does not hold them. No string id looks like this by accident. */
export function keyOf(id: RequestId, idText: string | undefined): RequestId {
  return idText === undefined ? id : `${INTEGER_KEY}${idText}`;
}

/** The digits in a key that stands for an integer beyond 2^53. */
export function digitsOf(key: string): string | undefined {
  const digits = key.startsWith(INTEGER_KEY) ? key.slice(INTEGER_KEY.length) : "";
  // A client may send such a text as a token of its own.
  return NUMBER_REGEXP.test(digits) ? digits : undefined;
}

/** An id, or a progress token, as it must be written back: with the very digits that came. */
export function writtenIdOf(id: RequestId, idText: string | undefined): RequestId | RawId {
  return idText === undefined ? id : new RawId(idText);
}
