import type { Connection, Fault, Inbound } from "../../connection.ts";
import { describeId } from "../../errors.ts";
import {
  isJSONObject,
  isRequest,
  isRequestId,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
} from "../../messages.ts";
import type { Logger } from "../../logger.ts";
import { whatIsWrong } from "../framing/message_decoder.ts";
import { BatchReply } from "../server/batch_reply.ts";
import { errorResponse, invalidRequest } from "../server/wire_errors.ts";
import { answerToLine, lineError } from "./line_faults.ts";
import { whyRefused, withoutUnknown } from "./strict_message.ts";

/** Where what is read goes. */
export interface WireReaderPort {
  /** Whether one more request would find no place. */
  readonly crowded: boolean;
  /** Waits for a place; gives false if none may ever come while the reader waits. */
  awaitRoom(): Promise<boolean>;
  /** Whether nothing more is wanted. */
  readonly ended: boolean;
  /** Whether the client may put several messages on a line. */
  readonly acceptsBatches: boolean;
  request(
    message: JSONRPCRequest,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hasRoom: boolean,
  ): void;
  notification(message: JSONRPCNotification): void;
  /** Gives a promise if what comes next has to wait. */
  response(message: JSONRPCResponse): Promise<void> | undefined;
  /** Sends an answer that no SDK gave. */
  reply(response: JSONRPCMessage): void;
  replyToBatch(responses: readonly JSONRPCMessage[]): void;
  failed(error: Error): void;
}

/** Reads a connection to its end and judges what comes: a bad line ends nothing (rule V5). */
export class WireReader {
  readonly #connection: Connection;
  readonly #port: WireReaderPort;
  readonly #logger: Logger;

  constructor(connection: Connection, port: WireReaderPort, logger: Logger) {
    this.#connection = connection;
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
        const hasRoom = !port.crowded || !mayBeAnswered(inbound) || await port.awaitRoom();
        if (port.ended) return;
        const wait = inbound.kind === "message"
          ? this.#message(inbound.message, inbound.idText, undefined, hasRoom)
          : this.#fault(inbound);
        if (wait !== undefined) await wait;
      }
    }
  }

  #message(
    message: JSONRPCMessage,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hasRoom: boolean,
  ): Promise<void> | undefined {
    const known = withoutUnknown(message);
    if (!("method" in known)) return this.#port.response(known);
    if (isRequest(known)) this.#port.request(known, idText, batch, hasRoom);
    else this.#notification(known);
    return undefined;
  }

  #notification(message: JSONRPCNotification): void {
    const wrong = whyRefused(message);
    if (wrong === undefined) this.#port.notification(message);
    else this.#port.failed(new Error(`Cannot read a notification: ${wrong}`));
  }

  #fault(fault: Fault): Promise<void> | undefined {
    const { reason, detail, id, batch = [] } = fault;
    if (batch.length > 0 && this.#port.acceptsBatches) return this.#batch(batch);
    this.#logger.warn(`[mcp_router] dropped a line: ${detail}`, { reason, id: describeId(id) });
    this.#port.failed(lineError(fault));
    const answer = answerToLine(fault);
    if (answer !== undefined) this.#port.reply(answer);
    return undefined;
  }

  /** The members of a line that revision 2025-03-26 allows; their responses share a line too. */
  async #batch(members: readonly unknown[]): Promise<void> {
    const port = this.#port;
    const reply = new BatchReply((responses) => port.replyToBatch(responses));
    for (const member of members) {
      const wrong = whatIsWrong(member);
      const isAnswered = wrong !== undefined || isRequest(member as JSONRPCMessage);
      const hasRoom = !isAnswered || !port.crowded || await port.awaitRoom();
      if (port.ended) break;
      if (isAnswered) reply.expect();
      if (wrong === undefined) await this.#message(member as JSONRPCMessage, undefined, reply, hasRoom);
      else {
        const id = isJSONObject(member) && isRequestId(member.id) ? member.id : null;
        reply.add(errorResponse(id, invalidRequest(wrong).toJSON()));
      }
    }
    reply.seal();
  }
}

function mayBeAnswered(inbound: Inbound): boolean {
  return inbound.kind === "fault" || isRequest(inbound.message);
}
