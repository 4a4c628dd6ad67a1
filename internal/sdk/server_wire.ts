import type { Connection, Fault } from "../../connection.ts";
import { CancelledError, toErrorObject } from "../../errors.ts";
import { describeId } from "../shown_text.ts";
import type { JSONRPCMessage, JSONRPCNotification, JSONRPCResponse, RequestId } from "../../messages.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred } from "../promises.ts";
import { hasBatches } from "../era.ts";
import { callGuarded } from "../thrown.ts";
import type { BatchReply } from "../server/batch_reply.ts";
import { JobQueue } from "../server/job_queue.ts";
import { MessageReader, type MessageReaderPort, type ReceivedRequest } from "../server/message_reader.ts";
import { Outbox, Unwritten } from "../server/outbox.ts";
import { type BasicServerSettings, isHurried, type ServerEnd } from "../server/settings.ts";
import { errorResponse, invalidParams, invalidRequest, toAnsweredError } from "../server/error_answers.ts";
import { HandedRequest, withTokenDigits } from "./handed_request.ts";
import { InFlight } from "./in_flight.ts";
import { notificationsHandled, roomBehind } from "./posting.ts";
import { SentRequests } from "./sent_requests.ts";
import { whyRefused, withoutUnknown } from "./strict_message.ts";
import { closed, goneResponse, lineError, toError, unreadable } from "./transport_errors.ts";

/** Who takes what a `ServerWire` reads. */
export interface WirePort {
  /** Takes a message; a request is answered by `send`, or with an error if this throws or gives a promise that rejects. */
  receive(message: JSONRPCMessage, request: HandedRequest | undefined): unknown;
  /** Told of what went wrong; must not throw. */
  failed(error: Error): void;
  /** Nothing more comes in; what was accepted is still awaited. */
  draining(): void;
  /** There is no more time: what still runs is answered with an error. */
  aborting(): void;
  /** All is answered and flushed; called once. */
  closed(): void;
}

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
  readonly #reader: MessageReader;
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
    const { clock, logger } = settings;
    this.#outbox = new Outbox(connection, this.#queue, maxQueuedBytes, logger);
    this.#reader = new MessageReader(
      { connection, queue: this.#queue, outbox: this.#outbox, clock, logger },
      this,
    );
    this.#inFlight = new InFlight(this.#queue);
  }

  /** Whether anything has come. */
  get hasRead(): boolean {
    return this.#reader.hasRead;
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
    await this.#reader.run();
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
      const outcome = this.#outbox.attempt(withTokenDigits(message));
      if (!(outcome instanceof Unwritten)) this.#asked.note(message);
      return await this.#sent(outcome);
    }
    const request = this.#inFlight.find(message.id);
    if (request !== undefined) await this.#answer(request, message);
    else if (!this.#inFlight.wasCancelled(message.id)) await this.#sent(this.#outbox.attempt(message));
  }

  async #sent(outcome: ReturnType<Outbox["attempt"]>): Promise<void> {
    if (outcome === undefined) throw closed();
    if (outcome instanceof Unwritten) throw outcome.error;
    await roomBehind(this.#connection, outcome);
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

  request(received: ReceivedRequest, batch: BatchReply | undefined): void {
    const request = new HandedRequest(received, batch, (request) => this.#hand(request.message, request));
    try {
      if (this.#inFlight.has(request.key)) throw invalidRequest("the id is already in flight");
      const wrong = whyRefused(request.message);
      if (wrong !== undefined) throw invalidParams(wrong);
      this.#inFlight.admit(request);
    } catch (error) {
      const answer = errorResponse(request.writtenId, toAnsweredError(error));
      if (batch !== undefined) batch.add(answer);
      else this.#outbox.reply(answer);
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
    if (mayWait) this.#queue.inTurn(() => this.#hand(message, undefined));
    else this.#hand(message, undefined);
  }

  response(response: JSONRPCResponse): Promise<void> | undefined {
    const message = withoutUnknown(response) as JSONRPCResponse;
    if (!this.#hasNotified) return this.#answered(message);
    this.#hasNotified = false;
    return notificationsHandled().then(() => this.#answered(message));
  }

  faulted(fault: Fault): boolean {
    const { id, hasMethod, detail } = fault;
    this.#port.failed(lineError(fault));
    if (id === undefined || hasMethod || this.#asked.settle(id) !== "open") return false;
    this.#hand(unreadable(id, detail), undefined);
    return true;
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
    callGuarded(() => this.#port.receive(message, request), (error) => {
      this.#port.failed(toError(error));
      if (request?.open) this.#giveUp(request, toErrorObject(undefined));
    });
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
    await this.#sent(this.#outbox.respond(whole));
  }

  // Ending.

  async #drain({ reason, error }: ServerEnd): Promise<void> {
    const { clock, drainTimeoutMs } = this.#settings;
    if (error !== undefined && reason !== "output_failed") this.#port.failed(toError(error));
    this.#port.draining();
    // Whatever the client was asked will not be answered any more.
    for (const id of this.#asked.ids) this.#hand(goneResponse(id), undefined);
    const idle = this.#reader.emptied().then(() => this.#inFlight.idle());
    await settlesWithin(clock, Promise.race([idle, this.#hurry.promise]), drainTimeoutMs);
    const shutdown = new CancelledError({ serverShutdown: true });
    this.#reader.abandon(shutdown);
    if (this.#inFlight.size > 0) {
      this.#port.aborting();
      const why = reason === "uncaught_error" ? toErrorObject(undefined) : toAnsweredError(shutdown);
      for (const request of this.#inFlight.values()) this.#giveUp(request, why);
    }
    this.#queue.startAll(); // Replies that found the output full: there is no later any more.
    await this.#outbox.close(clock, drainTimeoutMs, this.#hurry.promise);
  }
}
