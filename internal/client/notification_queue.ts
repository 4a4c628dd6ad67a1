import type { Logger } from "../../logger.ts";
import type { Params } from "../../messages.ts";
import { createDeferred, type Deferred } from "../deferred.ts";

/** Takes the notifications that belong to no request. */
export type NotificationListener = (method: string, params: Params | undefined) => void | Promise<void>;

/**
 * Hands notifications to a listener one after the other, so that one that takes its time sees them in order. It holds so
 * many; behind that the reader waits, and with it the server (case B94).
 */
export class NotificationQueue {
  readonly #listener: NotificationListener;
  readonly #capacity: number;
  readonly #logger: Logger;
  #queue: Array<{ readonly method: string; readonly params: Params | undefined }> = [];
  #head = 0;
  #busy = false;
  #room: Deferred<void> | undefined;
  #holdsReader = true;
  #ended = false;

  constructor(listener: NotificationListener, capacity: number, logger: Logger) {
    this.#listener = listener;
    this.#capacity = capacity;
    this.#logger = logger;
  }

  /** Queues one. Gives a promise if the reader has to wait before it goes on. */
  push(method: string, params: Params | undefined): Promise<void> | undefined {
    if (this.#ended) return undefined;
    this.#queue.push({ method, params });
    if (!this.#busy) {
      this.#busy = true;
      queueMicrotask(() => this.#work());
    }
    if (!this.#holdsReader || this.#queue.length - this.#head <= this.#capacity) return undefined;
    this.#room ??= createDeferred();
    return this.#room.promise;
  }

  /** Hands one over before the next frame is read. */
  async deliverInline(method: string, params: Params | undefined): Promise<void> {
    try {
      await this.#listener(method, params);
    } catch (error) {
      this.#logger.error("[mcp_router] onNotification has thrown", { error });
    }
  }

  /** Whether the reader has to wait for room from now on. */
  holdReader(holds: boolean): void {
    this.#holdsReader = holds;
    if (holds) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Nobody wants to hear the rest, and nobody waits for room. */
  end(): void {
    this.#ended = true;
    this.#queue = [];
    this.#head = 0;
    this.holdReader(false);
  }

  /** Works through the queue; waits only for a listener that gives a promise. */
  #work(): void {
    while (this.#head < this.#queue.length) {
      const { method, params } = this.#queue[this.#head++]!;
      this.#makeRoom();
      try {
        const outcome = this.#listener(method, params);
        if (typeof outcome?.then === "function") {
          Promise.resolve(outcome).then(() => this.#work(), (error) => {
            this.#logger.error("[mcp_router] onNotification has thrown", { error });
            this.#work();
          });
          return;
        }
      } catch (error) {
        this.#logger.error("[mcp_router] onNotification has thrown", { error });
      }
    }
    this.#queue = [];
    this.#head = 0;
    this.#busy = false;
  }

  #makeRoom(): void {
    if (this.#head >= 1_024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    if (this.#room === undefined || this.#queue.length - this.#head > this.#capacity / 2) return;
    this.#room.resolve();
    this.#room = undefined;
  }
}
