import type { Params, SubscriptionFilter } from "../../messages.ts";
import { createDeferred } from "../promises.ts";
import { PUBLICATIONS } from "../publications.ts";
import { roughSize } from "./notification_queue.ts";

/** Something that happens on a listen stream. */
export type ListenEvent =
  | {
    /** A notification that was asked for. */
    readonly kind: "notification";
    /** Its method. */
    readonly method: string;
    /** Its params. */
    readonly params: Params | undefined;
  }
  | {
    /** The server was started again and asked again: what happened meanwhile was not told. */
    readonly kind: "resubscribed";
    /** What it agreed to. */
    readonly filter: SubscriptionFilter;
  }
  | {
    /** More has happened than is kept for a slow reader: read everything anew. */
    readonly kind: "missed";
  };

/** Why a listen stream is over. */
export type ListeningEnd = "local" | "server" | "lost";

type Next = IteratorResult<ListenEvent, undefined>;

const DONE: Next = { done: true, value: undefined };

/** So many different events wait for a reader, and as many bytes of them; more give way to one that says so. */
const MAX_WAITING = 1_024;
const MAX_WAITING_BYTES = 4_194_304;

/** A listen stream as its reader sees it: events in order, and an end (rule C10). */
export class Listening implements AsyncIterableIterator<ListenEvent, undefined> {
  readonly filter: SubscriptionFilter;
  readonly acknowledged: Promise<SubscriptionFilter>;
  readonly ended: Promise<ListeningEnd>;
  readonly #acknowledged = createDeferred<SubscriptionFilter>();
  readonly #ended = createDeferred<ListeningEnd>();
  readonly #onClose: () => void;
  /** What waits for a reader, by what it says: the same again takes the place of what waits already. */
  readonly #events = new Map<string, ListenEvent>();
  #size = 0;
  #lastNumber = 0;
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
  push(event: ListenEvent): void {
    if (this.#end !== undefined) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader({ done: false, value: event });
    else this.#keep(event);
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
    for (const [key, event] of this.#events) {
      this.#events.delete(key);
      this.#size -= sizeOf(event);
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#end !== undefined) return Promise.resolve(DONE);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** The loop over it was left: nothing of it is wanted any more. */
  return(): Promise<Next> {
    this.close();
    this.#clear();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  #keep(event: ListenEvent): void {
    // Whoever will be told to read everything anew need not be told of changes.
    if (this.#events.has("missed") && event.kind === "notification") return;
    const key = this.#keyOf(event);
    const earlier = this.#events.get(key);
    this.#size += sizeOf(event) - (earlier === undefined ? 0 : sizeOf(earlier));
    this.#events.set(key, event);
    if (this.#events.size <= MAX_WAITING && this.#size <= MAX_WAITING_BYTES) return;
    this.#clear();
    this.#events.set("missed", { kind: "missed" });
  }

  /** Notifications of change say the same however often they come; what others say, nobody knows. */
  #keyOf(event: ListenEvent): string {
    if (event.kind !== "notification") return event.kind;
    const { method, params } = event;
    if (!PUBLICATIONS.has(method)) return `${++this.#lastNumber}`;
    return typeof params?.uri === "string" ? `${method} ${params.uri}` : method;
  }

  #clear(): void {
    this.#events.clear();
    this.#size = 0;
  }
}

function sizeOf(event: ListenEvent): number {
  return event.kind === "notification" ? roughSize(event.params) : 0;
}
