import type { Connection, Outgoing } from "../../connection.ts";
import { ConnectionClosedError, FrameError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { ErrorCode, type JSONRPCMessage, type JSONRPCResponse } from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";
import { type Ending, type EndingConnection, takesEndings } from "../framing/message_encoder.ts";
import { errorResponse } from "./error_answers.ts";
import type { JobQueue } from "./job_queue.ts";
import type { Receiver } from "./receiver.ts";

/** So long a client may read nothing when there is no more time for it, in milliseconds. */
const HURRIED_PATIENCE_MS = 1_000;

/** Why a message was not written: it is no JSON, or too long. */
export class Unwritten {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * The one door that all of a server's messages leave by (rules V12, V13); nothing else calls `send` of its connection. It never
 * throws: a message that cannot be written becomes a log line, and a response an error that can be written. What need not be
 * said at once waits while the output is full; what is said after the output is gone is said to nobody.
 */
export class Outbox {
  readonly #connection: Connection;
  readonly #takesEndings: boolean;
  readonly #queue: JobQueue;
  readonly #highWaterBytes: number;
  readonly #logger: Logger;
  readonly #holders = new Set<Receiver>();
  #gone = false;
  #awaitsDrain = false;

  constructor(connection: Connection, queue: JobQueue, highWaterBytes: number, logger: Logger) {
    this.#connection = connection;
    this.#takesEndings = takesEndings(connection);
    this.#queue = queue;
    this.#highWaterBytes = highWaterBytes;
    this.#logger = logger;
    connection.closed.then(() => this.#gone = true);
  }

  /** True when senders that can wait should wait. The queue goes on by itself when there is room again. */
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

  /** Sends a message now, for senders that take care of one that cannot be written. Gives nothing if the output is gone. */
  attempt(
    message: JSONRPCMessage | readonly JSONRPCMessage[],
    ending?: Ending,
  ): Outgoing | Unwritten | undefined {
    if (this.#gone) return undefined;
    try {
      return ending === undefined
        ? this.#connection.send(message)
        : (this.#connection as EndingConnection).sendEndingIn(message as JSONRPCMessage, ending);
    } catch (error) {
      if (!(error instanceof ConnectionClosedError)) return new Unwritten(error);
      this.#gone = true;
      return undefined;
    }
  }

  /** Sends a notification now. Gives nothing if it was not written. */
  tell(message: JSONRPCMessage): Outgoing | undefined {
    const outcome = this.attempt(message);
    if (!(outcome instanceof Unwritten)) return outcome;
    const { method } = message as { method?: string };
    this.#logger.error("[mcp_stdio] a message cannot be written: dropped", { method, error: outcome.error });
    return undefined;
  }

  /** Whether the end of a response can be given as text; see {@linkcode Ending}. */
  get takesEndings(): boolean {
    return this.#takesEndings;
  }

  /** Sends a response now; one that cannot be written becomes an error that can (rule V4). */
  respond(response: JSONRPCMessage, ending?: Ending): Outgoing | Unwritten | undefined {
    const outcome = this.attempt(response, ending);
    if (!(outcome instanceof Unwritten)) return outcome;
    const { error } = outcome;
    this.#logger.error("[mcp_stdio] a response cannot be written", { error });
    const why = error instanceof FrameError ? ` (${error.code})` : "";
    const message = `Internal error: the result cannot be written${why}`;
    const inItsPlace = errorResponse((response as JSONRPCResponse).id!, {
      code: ErrorCode.internalError,
      message,
    });
    // Under a limit that is smaller than an id not even that can be written.
    if (this.attempt(inItsPlace) instanceof Unwritten) {
      this.tell({ ...inItsPlace, id: null } as unknown as JSONRPCMessage);
    }
    return outcome;
  }

  /** Sends the responses to a legacy batch on one line, or one by one if they do not fit on it. */
  respondToBatch(responses: readonly JSONRPCMessage[]): void {
    if (!(this.attempt(responses) instanceof Unwritten)) return;
    for (const response of responses) this.respond(response);
  }

  /** Sends a response that no handler gave; under a full output it takes a place in the queue. */
  reply(response: JSONRPCMessage): void {
    if (this.full) this.inTurn(() => this.respond(response));
    else this.respond(response);
  }

  /** Does what sends something; under a full output that takes a place in the queue, unless it is withdrawn there. */
  inTurn(send: () => void, isWithdrawn?: () => boolean): void {
    if (this.full) this.#queue.inTurn(send, isWithdrawn);
    else send();
  }

  /** Sends a publication; under a full output only the newest of its kind waits. */
  publish(receiver: Receiver, kind: string, message: JSONRPCMessage): void {
    if (this.full) {
      receiver.held.set(kind, message);
      this.#holders.add(receiver);
    } else receiver.trail.add(this.tell(message));
  }

  /** Sends what a receiver waits for. */
  release(receiver: Receiver): void {
    this.#holders.delete(receiver);
    const messages = [...receiver.held.values()];
    receiver.held.clear();
    for (const message of messages) receiver.trail.add(this.tell(message));
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
