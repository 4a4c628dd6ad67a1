import type { Params, SubscriptionFilter } from "../../messages.ts";
import { createDeferred } from "../deferred.ts";

/** Something that happens on a listen stream. */
export type ListeningEvent =
  | { readonly kind: "notification"; readonly method: string; readonly params: Params | undefined }
  /** The server was started again and asked again; what happened meanwhile was not told. */
  | { readonly kind: "resubscribed"; readonly filter: SubscriptionFilter };

/** Why a listen stream is over. */
export type ListeningEnd = "local" | "server" | "lost";

type Next = IteratorResult<ListeningEvent, undefined>;

const DONE: Next = { done: true, value: undefined };

/** So many events wait for a reader; then what says the same as one that waits is left out. */
const MAX_WAITING = 1_024;

/** A listen stream as its reader sees it: events in order, and an end (rule C10). */
export class Listening implements AsyncIterableIterator<ListeningEvent, undefined> {
  readonly filter: SubscriptionFilter;
  readonly acknowledged: Promise<SubscriptionFilter>;
  readonly ended: Promise<ListeningEnd>;
  readonly #acknowledged = createDeferred<SubscriptionFilter>();
  readonly #ended = createDeferred<ListeningEnd>();
  readonly #onClose: () => void;
  #events: ListeningEvent[] = [];
  #readers: Array<(result: Next) => void> = [];
  #wasAcknowledged = false;
  #end: ListeningEnd | undefined;

  /** `onClose` is called when the reader has had enough. */
  constructor(filter: SubscriptionFilter, onClose: () => void) {
    this.filter = filter;
    this.#onClose = onClose;
    this.acknowledged = this.#acknowledged.promise;
    this.ended = this.#ended.promise;
  }

  /** Whether a server has agreed to it. */
  get wasAcknowledged(): boolean {
    return this.#wasAcknowledged;
  }

  /** The server has agreed to this much; again after a restart. */
  acknowledge(filter: SubscriptionFilter): void {
    if (this.#wasAcknowledged) this.push({ kind: "resubscribed", filter });
    this.#wasAcknowledged = true;
    this.#acknowledged.resolve(filter);
  }

  /** Something has happened. */
  push(event: ListeningEvent): void {
    if (this.#end !== undefined) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader({ done: false, value: event });
    else if (this.#events.length < MAX_WAITING || !this.#events.some((waiting) => isSame(waiting, event))) {
      this.#events.push(event);
    }
  }

  /** It is over; what waits is still read. */
  finish(end: ListeningEnd, error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#acknowledged.reject(error ?? new Error("The listen stream ended before it was acknowledged"));
    this.#ended.resolve(end);
    for (const reader of this.#readers) reader(DONE);
    this.#readers = [];
  }

  /** The reader has had enough. */
  close(): void {
    if (this.#end !== undefined) return;
    this.finish("local");
    this.#onClose();
  }

  /** The next event, or the end. */
  next(): Promise<Next> {
    const event = this.#events.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#end !== undefined) return Promise.resolve(DONE);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** The loop over it was left: nothing of it is wanted any more. */
  return(): Promise<Next> {
    this.close();
    this.#events = [];
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}

/** Notifications of change say the same however often they come. */
function isSame(one: ListeningEvent, other: ListeningEvent): boolean {
  return one.kind === "notification" && other.kind === "notification" && one.method === other.method &&
    one.params?.uri === other.params?.uri;
}
