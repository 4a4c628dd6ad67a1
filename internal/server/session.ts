import type { Connection, Fault } from "../../connection.ts";
import { CancelledError, ProtocolError } from "../../errors.ts";
import { describeId } from "../shown_text.ts";
import {
  ErrorCode,
  isRequestId,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCResponse,
  type Params,
  type RequestId,
} from "../../messages.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred } from "../promises.ts";
import { MessageReader, type MessageReaderPort, type ReceivedRequest } from "./message_reader.ts";
import type { BatchReply } from "./batch_reply.ts";
import { Dispatcher } from "./dispatcher.ts";
import { readMeta } from "./envelope.ts";
import { keyOf, writtenIdOf } from "./id_table.ts";
import { JobQueue } from "./job_queue.ts";
import { LegacyPeer } from "./legacy_peer.ts";
import { MethodTable } from "./method_table.ts";
import { Outbox } from "./outbox.ts";
import { flushLogger } from "../safe_logger.ts";
import { callGuarded } from "../thrown.ts";
import { isHurried, type ServerEnd, type ServerSettings } from "./settings.ts";
import { Subscriptions } from "./listen_streams.ts";
import { errorResponse, invalidRequest, toAnsweredError } from "./error_answers.ts";

/** So long a handler may take to answer after its signal has fired at the end of the session. */
const ABORT_GRACE_MS = 100;

/**
 * One run of a server over a connection: it reads, lets requests run, and answers each exactly once. The life of the
 * process is not its business.
 */
export class Session implements MessageReaderPort {
  readonly #connection: Connection;
  readonly #settings: ServerSettings;
  readonly #queue: JobQueue;
  readonly #outbox: Outbox;
  readonly #legacyPeer: LegacyPeer;
  readonly #reader: MessageReader;
  readonly #methods: MethodTable;
  readonly #dispatcher: Dispatcher;
  readonly #subscriptions: Subscriptions;
  readonly #hurry = createDeferred();
  readonly #closed = createDeferred();
  #end: ServerEnd | undefined;

  constructor(connection: Connection, settings: ServerSettings) {
    this.#connection = connection;
    this.#settings = settings;
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
    this.#legacyPeer = new LegacyPeer(clock);
    this.#methods = new MethodTable(settings, this.#legacyPeer);
    const parts = {
      settings,
      queue: this.#queue,
      outbox: this.#outbox,
      methods: this.#methods,
      legacyPeer: this.#legacyPeer,
    };
    this.#dispatcher = new Dispatcher(parts);
    this.#subscriptions = new Subscriptions(parts);
  }

  /** Whether anything has come. */
  get hasRead(): boolean {
    return this.#reader.hasRead;
  }

  /** Reads and answers until the end. Resolves when everything accepted was answered and flushed. */
  async start(): Promise<ServerEnd> {
    this.#connection.closed.then((end) => {
      if (end.kind === "output_failed") this.stop({ reason: "output_failed", error: end.error });
    });
    await this.#reader.run();
    const error = this.#connection.inputError;
    this.stop(error === undefined ? { reason: "eof" } : { reason: "input_failed", error });
    await this.#drain(this.#end!);
    this.#closed.resolve();
    flushLogger(this.#settings.logger);
    return this.#end!;
  }

  /**
   * Ends the session as at the end of its input. Resolves when all is answered and flushed; but a handler that calls this
   * need not wait for itself.
   */
  close(): Promise<void> {
    this.stop({ reason: "closed" });
    return this.#dispatcher.executing ? Promise.resolve() : this.#closed.promise;
  }

  /** Ends the reading; the first reason wins. One that leaves no time takes it from a drain that is under way. */
  stop(end: ServerEnd): void {
    if (isHurried(end)) this.#hurry.resolve();
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#connection.cancelInput();
    this.#queue.wakeReader();
  }

  /** Sends a publication to those who asked for it. */
  publish(method: string, params: Params | undefined): void {
    this.#subscriptions.publish(method, params);
  }

  // What the reader hands on.

  get ended(): boolean {
    return this.#end !== undefined;
  }

  get acceptsBatches(): boolean {
    return this.#legacyPeer.acceptsBatches;
  }

  response(message: JSONRPCResponse): undefined {
    if (this.#legacyPeer.answered(message)) return;
    const what = "[mcp_router] dropped a response: nothing was asked";
    this.#settings.logger.warn(what, { id: describeId(message.id) });
  }

  request({ message, idText, progressTokenText }: ReceivedRequest, batch: BatchReply | undefined): void {
    const { id, method, params = {} } = message;
    const writtenId = writtenIdOf(id, idText);
    const key = keyOf(id, idText);
    try {
      if (this.#dispatcher.has(key) || this.#subscriptions.has(key)) {
        throw invalidRequest("the id is already in flight");
      }
      const meta = readMeta(params);
      const origin = this.#methods.originOf(method, params, meta);
      const builtIn = this.#methods.builtInOf(method, origin.era);
      if (builtIn !== undefined) {
        if (batch !== undefined && method === "initialize") throw invalidRequest("initialize in a batch");
        const result = this.#dispatcher.complete(method, origin.era, builtIn(params));
        this.#answer({ jsonrpc: "2.0", id: writtenId as RequestId, result }, batch);
        return;
      }
      if (origin.era === "modern" && method === "subscriptions/listen") {
        this.#subscriptions.open({ id, key }, writtenId, params);
        return;
      }
      this.#dispatcher.admit({ id, key, writtenId, method, params, meta, progressTokenText, batch }, origin);
    } catch (error) {
      this.#answer(errorResponse(writtenId, toAnsweredError(error)), batch);
    }
  }

  faulted(fault: Fault): boolean {
    return this.#legacyPeer.answeredBadly(fault);
  }

  #answer(response: JSONRPCMessage, batch: BatchReply | undefined): void {
    if (batch !== undefined) batch.add(response);
    else this.#outbox.reply(response);
  }

  notification({ method, params }: JSONRPCNotification): void {
    const { onNotification, logger } = this.#settings;
    if (method === "notifications/cancelled") {
      this.#cancel(params ?? {});
      return;
    }
    if (onNotification === undefined) return;
    const failed = (error: unknown) => logger.error("[mcp_stdio] onNotification has thrown", { error });
    callGuarded(() => onNotification(method, params), failed);
  }

  /** A cancellation of what is not in flight, or without an id, is ignored (rule V3). */
  #cancel({ requestId, reason }: Params): void {
    if (!isRequestId(requestId)) return this.#logCancel("ignored: no request id", undefined);
    if (this.#dispatcher.cancel(requestId, typeof reason === "string" ? reason : undefined)) {
      this.#logCancel("cancelled a request", requestId);
    } else if (this.#subscriptions.cancel(requestId)) this.#logCancel("ended a listen stream", requestId);
    else this.#logCancel("ignored: nothing is in flight", requestId);
  }

  #logCancel(what: string, id: RequestId | undefined): void {
    this.#settings.logger.debug(`[mcp_cancel] ${what}`, { id: describeId(id) });
  }

  // Ending.

  /** End of input (rule V11), of output (V13), or a signal (V15): nothing that was accepted is lost on the way. */
  async #drain({ reason, error }: ServerEnd): Promise<void> {
    const { clock, drainTimeoutMs, logger } = this.#settings;
    if (reason === "output_failed") logger.info("[mcp_stdio] the output is gone", { error });
    if (reason === "input_failed") logger.warn("[mcp_stdio] the input has failed", { error });
    this.#subscriptions.endAll();
    this.#dispatcher.end();
    const shutdown = new CancelledError({ serverShutdown: true });
    // Whatever the client was asked will not be answered any more.
    this.#legacyPeer.end(shutdown);
    const idle = this.#reader.emptied().then(() => this.#dispatcher.idle());
    await settlesWithin(clock, Promise.race([idle, this.#hurry.promise]), drainTimeoutMs);
    this.#reader.abandon(shutdown);
    if (!this.#dispatcher.isIdle) {
      this.#dispatcher.abortAll(shutdown);
      // A handler may be waiting for the session's end: it goes on now, and its answer is still written.
      this.#closed.resolve();
      // After an uncaught error nobody knows what a handler would still say.
      if (reason !== "uncaught_error") await settlesWithin(clock, this.#dispatcher.idle(), ABORT_GRACE_MS);
      this.#dispatcher.failAll(
        reason === "uncaught_error" ? new ProtocolError(ErrorCode.internalError, "Internal error") : shutdown,
      );
    }
    this.#queue.startAll(); // Replies that found the output full: there is no later any more.
    await this.#outbox.close(clock, drainTimeoutMs, this.#hurry.promise);
  }
}
