import type { Connection, Fault } from "../../connection.ts";
import { CancelledError, describeId, FrameError, toErrorObject } from "../../errors.ts";
import {
  ErrorCode,
  isRequest,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
} from "../../messages.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred } from "../deferred.ts";
import { hasBatches } from "../era.ts";
import type { BatchReply } from "../server/batch_reply.ts";
import { JobQueue } from "../server/job_queue.ts";
import { MessageReader, type MessageReaderPort } from "../server/message_reader.ts";
import { Outbox } from "../server/outbox.ts";
import { isThenable } from "../thenable.ts";
import { isHurried, type ServerEnd } from "../server/server_end.ts";
import type { BasicServerSettings } from "../server/settings.ts";
import {
  errorResponse,
  invalidParams,
  invalidRequest,
  serverBusy,
  toAnsweredError,
} from "../server/error_answers.ts";
import { HandedRequest } from "./handed_request.ts";
import { InFlight } from "./in_flight.ts";
import { enqueue, notificationsHandled, roomBehind } from "./posting.ts";
import { SentRequests } from "./sent_requests.ts";
import { whyRefused, withoutUnknown } from "./strict_message.ts";
import { goneResponse, lineError, toError, unreadable } from "./transport_errors.ts";
import type { WirePort } from "./wire_port.ts";

/**
 * A connection as one of the SDKs can be served on it (rule K2): it hands over so many requests at a time, answers what the SDKs leave
 * unanswered, and loses nothing that was accepted. What is in the messages is not its business.
 */
export class ServerWire implements MessageReaderPort {
  readonly #connection: Connection;
  readonly #settings: BasicServerSettings;
  readonly #port: WirePort;
  readonly #queue: JobQueue;
  readonly #outbox: Outbox;
  readonly #inFlight: InFlight;
  readonly #asked = new SentRequests();
  readonly #hurry = createDeferred();
  readonly #over = createDeferred();
  #end: ServerEnd | undefined;
  #acceptsBatches = false;
  /** Whether a notification was handed over since the last response. */
  #hasNotified = false;

  constructor(connection: Connection, settings: BasicServerSettings, port: WirePort) {
    this.#connection = connection;
    this.#settings = settings;
    this.#port = port;
    const { maxInFlightRequests, maxQueuedRequests, maxQueuedBytes } = settings.limits;
    this.#queue = new JobQueue({
      maxRunning: maxInFlightRequests,
      maxQueued: maxQueuedRequests,
      outputFull: () => this.#outbox.full,
    });
    this.#outbox = new Outbox(connection, this.#queue, maxQueuedBytes, settings.logger);
    this.#inFlight = new InFlight(this.#queue);
  }

  /** For senders of more than single messages, such as listen streams. */
  get outlet(): { readonly queue: JobQueue; readonly outbox: Outbox } {
    return { queue: this.#queue, outbox: this.#outbox };
  }

  /** Reads until the end. Resolves when everything accepted was answered and flushed. */
  async run(): Promise<ServerEnd> {
    this.#connection.closed.then((end) => {
      if (end.kind !== "output_failed") return;
      this.#port.failed(toError(end.error)); // Also during a drain: answers were lost.
      this.stop({ reason: "output_failed", error: end.error });
    });
    await new MessageReader(this.#connection, this.#queue, this, this.#settings.logger).run();
    const error = this.#connection.inputError;
    this.stop(error === undefined ? { reason: "eof" } : { reason: "input_failed", error });
    await this.#drain(this.#end!);
    this.#port.closed();
    this.#over.resolve();
    return this.#end!;
  }

  /** Ends the reading; the first reason wins. One that leaves no time takes it from a drain that is under way. */
  stop(end: ServerEnd): void {
    if (isHurried(end)) this.#hurry.resolve();
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#connection.cancelInput();
    this.#queue.wakeReader();
  }

  /** Ends it as at the end of its input. Resolves when that is over. */
  close(): Promise<void> {
    this.stop({ reason: "closed" });
    return this.#over.promise;
  }

  /**
   * Sends a message; `relatedId` is the request it belongs to. Resolves once the queue has room for more.
   *
   * @throws {ProtocolError} As a rejection, -32000 if the connection is closed.
   * @throws {FrameError} As a rejection, if it cannot be written; a request is then answered with an error.
   */
  async send(message: JSONRPCMessage, relatedId?: RequestId): Promise<void> {
    if ("method" in message) {
      if (this.#inFlight.wasCancelled(relatedId)) return; // Rule V3.
      const frame = enqueue(this.#connection, message);
      this.#asked.note(message);
      // The answer may stand behind a request that waits for room.
      if (isRequest(message)) this.#queue.wakeReader();
      return await roomBehind(this.#connection, frame);
    }
    const request = this.#inFlight.find(message.id);
    if (request !== undefined) await this.#answer(request, message);
    else if (!this.#inFlight.wasCancelled(message.id)) {
      await roomBehind(this.#connection, enqueue(this.#connection, message));
    }
  }

  /** Lets go of a request that is answered by somebody else and needs no permit any more. */
  release(request: HandedRequest): void {
    this.#inFlight.release(request);
  }

  // What the reader hands on.

  get ended(): boolean {
    return this.#end !== undefined;
  }

  get acceptsBatches(): boolean {
    return this.#acceptsBatches;
  }

  get awaitsAnswer(): boolean {
    return this.#asked.size > 0 && !this.#outbox.full;
  }

  request(
    message: JSONRPCRequest,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hasRoom: boolean,
  ): void {
    const request = new HandedRequest(
      withoutUnknown(message) as JSONRPCRequest,
      idText,
      batch,
      (request) => this.#hand(request.message, request),
    );
    try {
      if (this.#inFlight.has(request.key)) throw invalidRequest("the id is already in flight");
      const wrong = whyRefused(request.message);
      if (wrong !== undefined) throw invalidParams(wrong);
      if (!hasRoom) throw serverBusy();
      this.#inFlight.admit(request);
    } catch (error) {
      const answer = errorResponse(request.writtenId, toAnsweredError(error));
      if (batch !== undefined) batch.add(answer);
      else this.reply(answer);
    }
  }

  /** In order behind the requests that came before, unless those wait for what it may bring about. */
  notification(notification: JSONRPCNotification): void {
    const message = withoutUnknown(notification) as JSONRPCNotification;
    const wrong = whyRefused(message);
    if (wrong !== undefined) return this.#port.failed(new Error(`Cannot read a notification: ${wrong}`));
    if (message.method === "notifications/cancelled") return this.#cancel(message);
    const mayWait = message.method !== "notifications/progress" && !this.#outbox.full &&
      this.#queue.running < this.#settings.limits.maxInFlightRequests;
    if (mayWait) this.#inFlight.inTurn(() => this.#hand(message, undefined));
    else this.#hand(message, undefined);
  }

  response(response: JSONRPCResponse): Promise<void> | undefined {
    const message = withoutUnknown(response) as JSONRPCResponse;
    if (!this.#hasNotified) return this.#answered(message);
    this.#hasNotified = false;
    return notificationsHandled().then(() => this.#answered(message));
  }

  reply(response: JSONRPCMessage): void {
    this.#outbox.reply(() => this.#outbox.send(response));
  }

  replyToBatch(responses: readonly JSONRPCMessage[]): void {
    this.#outbox.respondToBatch(responses);
  }

  faulted(fault: Fault): void {
    this.#port.failed(lineError(fault));
  }

  #answered(message: JSONRPCResponse): undefined {
    const { id } = message;
    if (id === undefined || this.#asked.settle(id) !== "open") {
      const what = "[mcp_router] dropped a response: nothing was asked";
      this.#settings.logger.warn(what, { id: describeId(id) });
      return;
    }
    const wrong = whyRefused(message);
    this.#hand(wrong === undefined ? message : unreadable(id, wrong), undefined);
  }

  /** Nothing more is written for a request that is cancelled (rule V3); `initialize` cannot be. */
  #cancel(message: JSONRPCNotification): void {
    const request = this.#inFlight.find(message.params?.requestId);
    if (request === undefined) return this.#hand(message, undefined);
    if (request.message.method === "initialize") return;
    const { begun } = request;
    this.#inFlight.cancel(request);
    if (begun) this.#hand({ ...message, params: { ...message.params, requestId: request.key } }, undefined);
  }

  // Handing over and answering.

  #hand(message: JSONRPCMessage, request: HandedRequest | undefined): void {
    if ("method" in message && request === undefined) this.#hasNotified = true;
    const fail = (error: unknown) => {
      this.#port.failed(toError(error));
      if (request?.open) this.#giveUp(request, toErrorObject(undefined));
    };
    try {
      const outcome = this.#port.receive(message, request);
      if (isThenable(outcome)) Promise.resolve(outcome).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #giveUp(request: HandedRequest, error: ReturnType<typeof toErrorObject>): void {
    const response: JSONRPCMessage = { jsonrpc: "2.0", id: request.key, error };
    this.#answer(request, response as JSONRPCResponse).catch(() => {}); // There is nobody left to answer.
  }

  async #answer(request: HandedRequest, response: JSONRPCResponse): Promise<void> {
    const { writtenId, batch } = request;
    const { method } = request.message;
    // Before the response: the client may use the id again as soon as it has read it.
    this.#inFlight.release(request);
    if (method === "initialize" && "result" in response) {
      this.#acceptsBatches = hasBatches(response.result.protocolVersion);
    }
    const whole = { ...response, id: writtenId as RequestId };
    if (batch !== undefined) return batch.add(whole);
    try {
      await roomBehind(this.#connection, enqueue(this.#connection, whole));
    } catch (error) {
      if (error instanceof FrameError) {
        const message = `Internal error: the result cannot be written (${error.code})`;
        this.#outbox.send(errorResponse(writtenId, { code: ErrorCode.internalError, message }));
      }
      throw error;
    }
  }

  // Ending.

  async #drain({ reason, error }: ServerEnd): Promise<void> {
    const { clock, drainTimeoutMs } = this.#settings;
    if (error !== undefined && reason !== "output_failed") this.#port.failed(toError(error));
    this.#port.draining();
    // Whatever the client was asked will not be answered any more.
    for (const id of this.#asked.ids) this.#hand(goneResponse(id), undefined);
    await settlesWithin(clock, Promise.race([this.#inFlight.idle(), this.#hurry.promise]), drainTimeoutMs);
    if (this.#inFlight.size > 0) {
      this.#port.aborting();
      const shutdown = new CancelledError({ serverShutdown: true });
      const why = reason === "uncaught_error" ? toErrorObject(undefined) : toAnsweredError(shutdown);
      for (const request of this.#inFlight.values()) this.#giveUp(request, why);
    }
    this.#queue.startAll(); // Replies that found the output full: there is no later any more.
    await this.#outbox.close(clock, drainTimeoutMs, this.#hurry.promise);
  }
}
