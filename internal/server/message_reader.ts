import type { Connection, Fault, Inbound, ReceivedMessage } from "../../connection.ts";
import { describeId } from "../shown_text.ts";
import type { Logger } from "../../logger.ts";
import {
  isRequest,
  isRequestId,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
} from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred, type Deferred } from "../promises.ts";
import type { BatchReply } from "./batch_reply.ts";
import { answerToLine, errorResponse, serverBusy, toAnsweredError } from "./error_answers.ts";
import { type Identified, IdTable, keyOf, writtenIdOf } from "./id_table.ts";
import type { JobQueue } from "./job_queue.ts";
import type { Outbox } from "./outbox.ts";

/** As much is read behind a full look-ahead, in characters, before the client is held (rule V18). */
const MAX_BACKLOG_LENGTH = 1_048_576;

/** So long a request waits behind that much, in milliseconds, before it is refused. */
const BUSY_AFTER_MS = 10_000;

/** After so long it is said that requests wait. */
const TELL_AFTER_MS = 1_000;

/** What a reader works with; its owner made it. */
export interface MessageReaderParts {
  readonly connection: Connection;
  readonly queue: JobQueue;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where a server's messages go, and what its reader has to know of it. */
export interface MessageReaderPort {
  /** Whether nothing more is wanted. */
  readonly ended: boolean;
  /** Whether the client may put several messages on a line. */
  readonly acceptsBatches: boolean;
  request(request: ReceivedRequest, batch: BatchReply | undefined): void;
  notification(message: JSONRPCNotification): void;
  /** Gives a promise if what comes next has to wait. */
  response(message: JSONRPCResponse): Promise<void> | undefined;
  /** Told of a bad line. Gives whether it was the answer to something that this side has asked. */
  faulted(fault: Fault): boolean;
}

/**
 * The reading half of a server: reads a connection to its end and judges what comes. A bad line ends nothing (rule V5). What may
 * have to be answered waits for room; the rest is read on, so that a cancellation and the end of the input are learned whatever
 * hangs (rules V1, V2, V18).
 */
export class MessageReader {
  readonly #parts: MessageReaderParts;
  readonly #port: MessageReaderPort;
  readonly #backlog = new Backlog();
  /** Resolves when the backlog is empty. */
  #emptied: Deferred<void> | undefined;
  /** Resolves when the backlog may have become shorter. */
  #moved = createDeferred();
  #isGoingOn = false;
  #timer: unknown;
  #hasTold = false;
  #hasRead = false;

  constructor(parts: MessageReaderParts, port: MessageReaderPort) {
    this.#parts = parts;
    this.#port = port;
  }

  /** Whether anything has come. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Reads to the end; never rejects. What waits then is still taken on when there is room. */
  async run(): Promise<void> {
    const port = this.#port;
    while (!port.ended) {
      const batch = await this.#parts.connection.receive();
      if (batch === undefined) return;
      this.#hasRead = true;
      for (const inbound of batch) {
        const wait = inbound.kind === "message" ? this.#message(inbound, undefined) : this.#fault(inbound);
        if (wait !== undefined) await wait;
        if (port.ended) return;
      }
      if (this.#backlog.length > MAX_BACKLOG_LENGTH) await this.#holdClient();
    }
  }

  /** Resolves when nothing waits any more. */
  emptied(): Promise<void> {
    return this.#emptied?.promise ?? Promise.resolve();
  }

  /** Refuses all that waits. */
  abandon(reason: unknown): void {
    for (let next = this.#backlog.oldest; next !== undefined; next = this.#backlog.oldest) {
      this.#backlog.remove(next);
      this.#refuse(next.content, reason);
    }
    this.#changed();
  }

  #message(received: ReceivedMessage, batch: BatchReply | undefined): Promise<void> | undefined {
    const { message } = received;
    if (!("method" in message)) return this.#port.response(message);
    if (isRequest(message)) {
      const request = received as ReceivedRequest;
      if (this.#hasRoom) this.#port.request(request, batch);
      else this.#keep({ request, batch });
    } else if (!this.#cancels(message)) this.#port.notification(message);
    return undefined;
  }

  #fault(fault: Fault): Promise<void> | undefined {
    const { reason, detail, id, batch } = fault;
    if (batch !== undefined && this.#port.acceptsBatches) return this.#batch(batch);
    this.#parts.logger.warn(`[mcp_router] dropped a line: ${detail}`, { reason, id: describeId(id) });
    if (this.#port.faulted(fault)) return undefined;
    if (this.#hasRoom) this.#answer(fault);
    else if (answerToLine(fault) !== undefined) this.#keep(fault);
    return undefined;
  }

  #answer(fault: Fault): void {
    const answer = answerToLine(fault);
    if (answer !== undefined) this.#parts.outbox.reply(answer);
  }

  /** The members of a line that revision 2025-03-26 allows; their responses share a line too. */
  async #batch(members: readonly Inbound[]): Promise<void> {
    // What comes behind the line waits for this, so that nothing overtakes it.
    const { BatchReply } = await import("./batch_reply.ts");
    const reply = new BatchReply((responses) => this.#parts.outbox.respondToBatch(responses));
    for (const member of members) {
      if (member.kind === "message") {
        if (isRequest(member.message)) reply.expect();
        await this.#message(member, reply);
      } else {
        const answer = this.#port.faulted(member) ? undefined : answerToLine(member);
        if (answer === undefined) continue;
        reply.expect();
        reply.add(answer);
      }
    }
    reply.seal();
  }

  // Waiting.

  get #hasRoom(): boolean {
    return this.#backlog.isEmpty && !this.#parts.queue.crowded;
  }

  #keep(content: BatchedRequest | Fault): void {
    const { clock } = this.#parts;
    this.#backlog.add(toWaiting(content, clock.now()));
    if (this.#emptied !== undefined) return;
    this.#emptied = createDeferred();
    if (!this.#hasTold) this.#timer = clock.setTimeout(() => this.#tell(), TELL_AFTER_MS);
    if (!this.#isGoingOn) this.#goOn();
  }

  /** Takes on what waits, as there is room for it. */
  async #goOn(): Promise<void> {
    const { queue } = this.#parts;
    this.#isGoingOn = true;
    while (!this.#backlog.isEmpty) {
      await queue.room();
      for (
        let next = this.#backlog.oldest;
        next !== undefined && !queue.crowded;
        next = this.#backlog.oldest
      ) {
        this.#backlog.remove(next);
        const { content } = next;
        if ("kind" in content) this.#answer(content);
        else this.#port.request(content.request, content.batch);
      }
      this.#changed();
    }
    this.#isGoingOn = false;
  }

  #changed(): void {
    this.#moved.resolve();
    this.#moved = createDeferred();
    if (!this.#backlog.isEmpty) return;
    this.#parts.clock.clearTimeout(this.#timer);
    this.#emptied?.resolve();
    this.#emptied = undefined;
  }

  /** Reads no further for a while; what has waited too long is refused, unless the client does not even read answers. */
  async #holdClient(): Promise<void> {
    const { clock, queue, outbox } = this.#parts;
    while (this.#backlog.length > MAX_BACKLOG_LENGTH && !this.#port.ended) {
      const oldest = this.#backlog.oldest!;
      const leftMs = BUSY_AFTER_MS - (clock.now() - oldest.since);
      if (!queue.crowded) await this.#moved.promise;
      else if (leftMs > 0) await settlesWithin(clock, this.#moved.promise, leftMs);
      else if (outbox.overfull) await Promise.race([this.#moved.promise, outbox.drained()]);
      else {
        this.#backlog.remove(oldest);
        this.#refuse(oldest.content, serverBusy());
        this.#changed();
      }
    }
  }

  /** Does not take its turn among what waits for the output: there would be no end to that. */
  #refuse(content: BatchedRequest | Fault, reason: unknown): void {
    const { outbox } = this.#parts;
    if ("kind" in content) {
      const answer = answerToLine(content);
      if (answer !== undefined) outbox.respond(answer);
      return;
    }
    const { request: { message, idText }, batch } = content;
    const response = errorResponse(writtenIdOf(message.id, idText), toAnsweredError(reason));
    if (batch !== undefined) batch.add(response);
    else outbox.respond(response);
  }

  #tell(): void {
    const { queue, logger, clock } = this.#parts;
    const leftMs = TELL_AFTER_MS - (clock.now() - this.#backlog.oldest!.since);
    if (leftMs > 0) {
      this.#timer = clock.setTimeout(() => this.#tell(), leftMs);
      return;
    }
    this.#hasTold = true;
    const why = queue.busy
      ? `${queue.running} run and ${queue.queued} are queued before them`
      : "the client does not read what is written to it";
    logger.warn(`[mcp_stdio] requests wait for more than a second: ${why}`);
  }

  /** Takes out a request that waits and is cancelled. */
  #cancels({ method, params }: JSONRPCNotification): boolean {
    if (this.#backlog.isEmpty || method !== "notifications/cancelled") return false;
    const found = isRequestId(params?.requestId) ? this.#backlog.find(params.requestId) : undefined;
    if (found === undefined || "kind" in found.content) return false;
    const { request: { message }, batch } = found.content;
    if (message.method === "initialize") return true; // It cannot be cancelled.
    this.#backlog.remove(found);
    batch?.skip();
    this.#parts.logger.debug("[mcp_cancel] cancelled a request", { id: describeId(message.id) });
    this.#changed();
    return true;
  }
}

/** A request as it was read. */
export type ReceivedRequest = ReceivedMessage & { readonly message: JSONRPCRequest };

/** A request, and the legacy batch that its response belongs to. */
export interface BatchedRequest {
  readonly request: ReceivedRequest;
  readonly batch: BatchReply | undefined;
}

/** A bad line counts as that at least: what is kept of it takes more than a line of one character. */
const LEAST_FAULT_LENGTH = 256;

/** A request that waits, or a bad line whose answer does. */
interface Waiting extends Identified {
  readonly content: BatchedRequest | Fault;
  /** When it came. */
  readonly since: number;
  /** About how long its line was. */
  readonly length: number;
}

function toWaiting(content: BatchedRequest | Fault, since: number): Waiting {
  if ("kind" in content) {
    return { content, since, length: Math.max(LEAST_FAULT_LENGTH, content.preview.length), id: "", key: "" };
  }
  const { message, idText } = content.request;
  // Only here, where it counts: a connection does not tell how long its lines were.
  const { length } = JSON.stringify(message);
  return { content, since, length, id: message.id, key: keyOf(message.id, idText) };
}

/** What was read behind a full look-ahead and is not taken on yet, in the order it came (rule V18). */
class Backlog {
  readonly #waiting = new Set<Waiting>();
  readonly #requests = new IdTable<Waiting>();
  #length = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** About how long the lines of all were. */
  get length(): number {
    return this.#length;
  }

  get oldest(): Waiting | undefined {
    return this.#waiting.values().next().value;
  }

  add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    if (!("kind" in waiting.content)) this.#requests.add(waiting);
    this.#length += waiting.length;
  }

  remove(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#requests.remove(waiting);
    this.#length -= waiting.length;
  }

  /** The request that an id means which came in a cancellation. */
  find(id: RequestId): Waiting | undefined {
    return this.#requests.find(id);
  }
}
