import type { Connection, Fault, Inbound } from "../../connection.ts";
import { describeId } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import {
  isRequest,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
} from "../../messages.ts";
import { BatchReply } from "./batch_reply.ts";
import { answerToLine } from "./error_answers.ts";
import type { JobQueue } from "./job_queue.ts";

/** Where a server's messages go, and what its reader has to know of it. */
export interface MessageReaderPort {
  /** Whether nothing more is wanted. */
  readonly ended: boolean;
  /** Whether the client was asked something, and its answer may stand behind a request that waits for room. */
  readonly awaitsAnswer: boolean;
  /** Whether the client may put several messages on a line. */
  readonly acceptsBatches: boolean;
  /** Takes a request; `hasRoom` is false if it cannot be queued. */
  request(
    message: JSONRPCRequest,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hasRoom: boolean,
  ): void;
  notification(message: JSONRPCNotification): void;
  /** Gives a promise if what comes next has to wait. */
  response(message: JSONRPCResponse): Promise<void> | undefined;
  /** Told of a bad line, before it is answered. */
  faulted(fault: Fault): void;
  /** Sends the answer to a bad line. */
  reply(response: JSONRPCMessage): void;
  replyToBatch(responses: readonly JSONRPCMessage[]): void;
}

/** The reading half of a server: reads a connection to its end and judges what comes. A bad line ends nothing (rule V5). */
export class MessageReader {
  readonly #connection: Connection;
  readonly #queue: JobQueue;
  readonly #port: MessageReaderPort;
  readonly #logger: Logger;

  constructor(connection: Connection, queue: JobQueue, port: MessageReaderPort, logger: Logger) {
    this.#connection = connection;
    this.#queue = queue;
    this.#port = port;
    this.#logger = logger;
  }

  /** Reads to the end; never rejects. */
  async run(): Promise<void> {
    const port = this.#port;
    while (!port.ended) {
      const batch = await this.#connection.receive();
      if (batch === undefined) return;
      for (const inbound of batch) {
        // Responses and notifications are read on; what may have to be answered waits for a place (rules V1, V2).
        const hasRoom = !this.#queue.crowded || !mayBeAnswered(inbound) || await this.#awaitRoom();
        if (port.ended) return;
        const wait = inbound.kind === "message"
          ? this.#message(inbound.message, inbound.idText, undefined, hasRoom)
          : this.#fault(inbound);
        if (wait !== undefined) await wait;
      }
    }
  }

  /** Gives false if it could wait for ever: what the client was asked is answered behind what waits here. */
  async #awaitRoom(): Promise<boolean> {
    while (this.#queue.crowded && !this.#port.ended) {
      if (this.#port.awaitsAnswer) return false;
      await this.#queue.room();
    }
    return true;
  }

  #message(
    message: JSONRPCMessage,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hasRoom: boolean,
  ): Promise<void> | undefined {
    if (!("method" in message)) return this.#port.response(message);
    if (isRequest(message)) this.#port.request(message, idText, batch, hasRoom);
    else this.#port.notification(message);
    return undefined;
  }

  #fault(fault: Fault): Promise<void> | undefined {
    const { reason, detail, id, batch = [] } = fault;
    if (batch.length > 0 && this.#port.acceptsBatches) return this.#batch(batch);
    this.#logger.warn(`[mcp_router] dropped a line: ${detail}`, { reason, id: describeId(id) });
    this.#port.faulted(fault);
    const answer = answerToLine(fault);
    if (answer !== undefined) this.#port.reply(answer);
    return undefined;
  }

  /** The members of a line that revision 2025-03-26 allows; their responses share a line too. */
  async #batch(members: readonly Inbound[]): Promise<void> {
    const reply = new BatchReply((responses) => this.#port.replyToBatch(responses));
    for (const member of members) {
      const isRequested = member.kind === "message" && isRequest(member.message);
      const hasRoom = !isRequested || !this.#queue.crowded || await this.#awaitRoom();
      if (this.#port.ended) break;
      if (isRequested) reply.expect();
      if (member.kind === "message") await this.#message(member.message, member.idText, reply, hasRoom);
      else this.#badMember(member, reply);
    }
    reply.seal();
  }

  #badMember(fault: Fault, reply: BatchReply): void {
    const answer = answerToLine(fault);
    if (answer === undefined) return;
    reply.expect();
    reply.add(answer);
  }
}

function mayBeAnswered(inbound: Inbound): boolean {
  return inbound.kind === "fault" || isRequest(inbound.message);
}
