import type { Logger } from "../../logger.ts";
import type { Params } from "../../messages.ts";
import { callGuarded } from "../thrown.ts";

/** Takes the notifications that belong to no request. */
export type NotificationListener = (method: string, params: Params | undefined) => unknown;

/** As much as waits for a listener, in bytes; log messages have half of it. */
const MAX_WAITING_BYTES = 8_388_608;
/** What a notification takes that says nothing. */
const LEAST_BYTES = 128;

interface Waiting {
  readonly method: string;
  readonly params: Params | undefined;
  readonly size: number;
}

/**
 * Hands notifications to a listener one after the other, so that one that takes its time sees them in order. However slow it is,
 * answers are read: past a bound log messages are dropped, and past a much larger one all that comes.
 */
export class NotificationQueue {
  readonly #listener: NotificationListener;
  readonly #capacity: number;
  readonly #logger: Logger;
  #queue: Waiting[] = [];
  #head = 0;
  #size = 0;
  #isScheduled = false;
  /** Whether the listener has given a promise that is not settled. */
  #isListening = false;
  #ended = false;

  constructor(listener: NotificationListener, capacity: number, logger: Logger) {
    this.#listener = listener;
    this.#capacity = capacity;
    this.#logger = logger;
  }

  /** Queues one. */
  push(method: string, params: Params | undefined): void {
    if (this.#ended) return;
    // A listener that does not take its time has seen all of it at the end of this turn.
    const size = this.#isListening ? LEAST_BYTES + roughSize(params) : 0;
    if (this.#isListening && this.#isFull(method, size)) {
      const what = method === "notifications/message" ? "a log message" : "a notification";
      this.#logger.warn(`[mcp_router] dropped ${what}: onNotification is too slow`);
      return;
    }
    this.#queue.push({ method, params, size });
    this.#size += size;
    if (this.#isListening || this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#work());
  }

  /** Nobody wants to hear the rest. */
  end(): void {
    this.#ended = true;
    this.#clear();
  }

  /** Log messages give way before what else is told. One is taken however long it is. */
  #isFull(method: string, size: number): boolean {
    const count = this.#queue.length - this.#head;
    const isLog = method === "notifications/message";
    if (isLog && count >= this.#capacity) return true;
    return count > 0 && this.#size + size > (isLog ? MAX_WAITING_BYTES / 2 : MAX_WAITING_BYTES);
  }

  /** Works through the queue; waits only for a listener that gives a promise. */
  #work(): void {
    this.#isScheduled = false;
    this.#isListening = false;
    while (this.#head < this.#queue.length) {
      const { method, params, size } = this.#queue[this.#head++]!;
      this.#size -= size;
      if (this.#head >= 1_024) {
        this.#queue = this.#queue.slice(this.#head);
        this.#head = 0;
      }
      const heard = this.deliver(method, params);
      if (heard !== undefined) {
        this.#isListening = true;
        heard.then(() => this.#work());
        return;
      }
    }
    this.#clear();
  }

  /** Hands one over, whatever waits. */
  deliver(method: string, params: Params | undefined): Promise<void> | undefined {
    return callGuarded(
      () => this.#listener(method, params),
      (error) => this.#logger.error("[mcp_router] onNotification has failed", { error }),
    );
  }

  #clear(): void {
    this.#queue = [];
    this.#head = 0;
    this.#size = 0;
  }
}

/** About how much memory a value from the wire takes, in bytes: close enough for a bound on what waits. */
export function roughSize(value: unknown): number {
  if (typeof value === "string") return 16 + 2 * value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 32;
  if (Array.isArray(value)) {
    for (const member of value) size += 8 + roughSize(member);
  } else {
    for (const key in value) size += 16 + key.length + roughSize((value as { [key: string]: unknown })[key]);
  }
  return size;
}
