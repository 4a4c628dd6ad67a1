import { isRequestId, type RequestId } from "../../messages.ts";
import { createDeferred, type Deferred } from "../promises.ts";
import { IdTable } from "../server/id_table.ts";
import type { JobQueue } from "../server/job_queue.ts";
import type { HandedRequest } from "./handed_request.ts";
import { RecentIds } from "./recent_ids.ts";

/** Requests that are owed an answer: waiting for a permit, or handed over with one. */
export class InFlight {
  readonly #queue: JobQueue;
  readonly #requests = new IdTable<HandedRequest>();
  readonly #cancelled = new RecentIds();
  #idle: Deferred<void> | undefined;

  constructor(queue: JobQueue) {
    this.#queue = queue;
  }

  get size(): number {
    return this.#requests.size;
  }

  has(key: RequestId): boolean {
    return this.#requests.has(key);
  }

  find(id: unknown): HandedRequest | undefined {
    return isRequestId(id) ? this.#requests.find(id) : undefined;
  }

  values(): HandedRequest[] {
    return this.#requests.values();
  }

  /** Takes a request on; it is handed over when there is a permit. */
  admit(request: HandedRequest): void {
    this.#cancelled.delete(request.key);
    this.#requests.add(request);
    this.#queue.admit(request);
  }

  /** Ends a request: its id is free, and its permit. */
  release(request: HandedRequest): void {
    this.#requests.remove(request);
    const phase = request.end();
    if (phase === "queued") this.#queue.withdrew();
    // Not on the stack of whoever answers: the next request would be handed over there.
    if (phase === "handed") queueMicrotask(() => this.#queue.ended());
    if (this.size === 0) this.#idle?.resolve();
  }

  /** Ends a request of which nothing more may be said. */
  cancel(request: HandedRequest): void {
    this.#cancelled.add(request.key);
    this.release(request);
    request.batch?.skip();
  }

  /** Whether nothing may be said of a request any more (rule V3). */
  wasCancelled(id: RequestId | undefined): boolean {
    return id !== undefined && this.#cancelled.has(id);
  }

  /** Resolves when no answer is owed. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    this.#idle ??= createDeferred();
    return this.#idle.promise;
  }
}
