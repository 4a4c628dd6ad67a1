import type { Connection, Outgoing } from "../../connection.ts";
import { ConnectionClosedError, FrameError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { ErrorCode, type JSONRPCMessage, type RequestId } from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";
import type { RawId } from "../framing/message_encoder.ts";
import type { Job, JobQueue } from "./job_queue.ts";
import type { Receiver } from "./receiver.ts";
import { errorResponse } from "./error_answers.ts";

/** So long a client may read nothing when there is no more time for it, in milliseconds. */
const HURRIED_PATIENCE_MS = 1_000;

/** A reply that found the output full and takes its turn among the jobs. */
class Reply implements Job {
  readonly #send: () => void;
  readonly #isWithdrawn: () => boolean;

  constructor(send: () => void, isWithdrawn: () => boolean) {
    this.#send = send;
    this.#isWithdrawn = isWithdrawn;
  }

  get withdrawn(): boolean {
    return this.#isWithdrawn();
  }

  start(): boolean {
    this.#send();
    return false;
  }
}

/**
 * The one way out of a session (rules V12, V13). What need not be said at once waits while the output is full; what is
 * said after the output is gone is said to nobody.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #queue: JobQueue;
  readonly #highWaterBytes: number;
  readonly #logger: Logger;
  readonly #holders = new Set<Receiver>();
  #gone = false;
  #awaitsDrain = false;

  constructor(connection: Connection, queue: JobQueue, highWaterBytes: number, logger: Logger) {
    this.#connection = connection;
    this.#queue = queue;
    this.#highWaterBytes = highWaterBytes;
    this.#logger = logger;
    connection.closed.then(() => this.#gone = true);
  }

  /** Whether those who can wait should. The queue goes on by itself when there is room again. */
  get full(): boolean {
    const { full } = this.#connection;
    if (full) this.#goOnWhenDrained();
    return full;
  }

  /** True when there is even more waiting than that, from senders that did not wait. */
  get overfull(): boolean {
    return this.#connection.queuedBytes >= 2 * this.#highWaterBytes;
  }

  /** Resolves when there is room, or nobody to send to. */
  drained(): Promise<void> {
    return this.#connection.drained();
  }

  /** Sends now. */
  send(message: JSONRPCMessage): Outgoing | undefined {
    if (this.#gone) return undefined;
    try {
      return this.#connection.send(message);
    } catch (error) {
      if (!(error instanceof ConnectionClosedError)) throw error;
      this.#gone = true;
      return undefined;
    }
  }

  /** Sends a response; one that cannot be written becomes an error that can (rule V4). */
  respond(id: RequestId | RawId, response: JSONRPCMessage): void {
    try {
      this.send(response);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#logger.error("[mcp_stdio] a result cannot be written", { error });
      const message = `Internal error: the result cannot be written (${error.code})`;
      this.send(errorResponse(id, { code: ErrorCode.internalError, message }));
    }
  }

  /** Sends the responses to a legacy batch on one line, or one by one if they do not fit on it. */
  respondToBatch(responses: readonly JSONRPCMessage[]): void {
    if (this.#gone) return;
    try {
      this.#connection.send(responses);
    } catch (error) {
      if (!(error instanceof FrameError)) return;
      for (const response of responses) this.respond((response as { id: RequestId }).id, response);
    }
  }

  /**
   * Sends what is no result of a handler; under a full output it takes a place in the queue, unless it is withdrawn there.
   * Returns whether it was sent at once.
   */
  reply(send: () => void, isWithdrawn: () => boolean = () => false): boolean {
    if (this.full) {
      this.#queue.admit(new Reply(send, isWithdrawn));
      return false;
    }
    send();
    return true;
  }

  /** Sends a publication; under a full output only the newest of its kind waits. */
  publish(receiver: Receiver, kind: string, message: JSONRPCMessage): void {
    if (this.full) {
      receiver.held.set(kind, message);
      this.#holders.add(receiver);
    } else receiver.trail.add(this.send(message));
  }

  /** Sends what a receiver waits for. */
  release(receiver: Receiver): void {
    this.#holders.delete(receiver);
    const messages = [...receiver.held.values()];
    receiver.held.clear();
    for (const message of messages) receiver.trail.add(this.send(message));
  }

  /** Nothing more goes to a receiver, nor what has not begun to leave. */
  forget(receiver: Receiver): void {
    this.#holders.delete(receiver);
    receiver.held.clear();
    receiver.trail.withdraw();
  }

  /**
   * Ends the output once all of it is written. A client that reads nothing for so long is given up; when `hurry` resolves
   * there is less time.
   */
  async close(clock: Clock, patienceMs: number, hurry: Promise<void>): Promise<void> {
    const connection = this.#connection;
    if (this.#gone) return connection.abort();
    let closed = false;
    let hurried = false;
    const closing = connection.close().then(() => void (closed = true));
    const hurrying = hurry.then(() => void (hurried = true));
    let queued = connection.queuedBytes;
    while (!closed) {
      const [event, patience] = hurried
        ? [closing, Math.min(patienceMs, HURRIED_PATIENCE_MS)] as const
        : [Promise.race([closing, hurrying]), patienceMs] as const;
      if (await settlesWithin(clock, event, patience)) continue;
      if (connection.queuedBytes >= queued) {
        this.#logger.warn("[mcp_stdio] gave up writing: the client does not read", { queuedBytes: queued });
        return connection.abort();
      }
      queued = connection.queuedBytes;
    }
  }

  #goOnWhenDrained(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#connection.drained().then(() => {
      this.#awaitsDrain = false;
      for (const receiver of [...this.#holders]) this.release(receiver);
      this.#queue.pump();
      this.#queue.wakeReader();
    });
  }
}
