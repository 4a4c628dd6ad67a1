import type { Connection, Fault, Inbound } from "../../connection.ts";
import { CancelledError, describeId, ProtocolError } from "../../errors.ts";
import {
  ErrorCode,
  isJSONObject,
  isRequest,
  isRequestId,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Params,
  type RequestId,
} from "../../messages.ts";
import { settlesWithin } from "../clock.ts";
import { createDeferred } from "../deferred.ts";
import { whatIsWrong } from "../framing/message_decoder.ts";
import { RawId } from "../framing/message_encoder.ts";
import { BatchReply } from "./batch_reply.ts";
import { Dispatcher } from "./dispatcher.ts";
import { readMeta } from "./envelope.ts";
import { keyOf } from "./id_table.ts";
import { JobQueue } from "./job_queue.ts";
import { LegacyPeer } from "./legacy_peer.ts";
import { MethodTable } from "./method_table.ts";
import { Outbox } from "./outbox.ts";
import { isThenable } from "./results.ts";
import type { ServerSettings } from "./settings.ts";
import { Subscriptions } from "./subscriptions.ts";
import { errorResponse, invalidRequest, toWireError } from "./wire_errors.ts";

/** Why a session is over. */
export interface SessionEnd {
  readonly reason:
    | "eof"
    | "closed"
    | "signal"
    | "output_failed"
    | "input_failed"
    | "uncaught_error"
    | "parent_exited";
  readonly error?: unknown;
}

/** Ends that leave requests in flight their time; after the others nobody waits, or nobody listens. */
const PATIENT_ENDS: ReadonlySet<SessionEnd["reason"]> = new Set(["eof", "closed", "input_failed"]);

/** So long a handler may take to answer after its signal has fired at the end of the session. */
const ABORT_GRACE_MS = 100;

/** What a request over the limit is answered with (rule V5). */
const TOO_LONG = "Request exceeds limits.maxLineBytes";

/**
 * One run of a server over a connection: it reads, lets requests run, and answers each exactly once. The life of the
 * process is not its business.
 */
export class Session {
  readonly #connection: Connection;
  readonly #settings: ServerSettings;
  readonly #queue: JobQueue;
  readonly #outbox: Outbox;
  readonly #legacyPeer = new LegacyPeer();
  readonly #methods: MethodTable;
  readonly #dispatcher: Dispatcher;
  readonly #subscriptions: Subscriptions;
  readonly #hurry = createDeferred();
  readonly #closed = createDeferred();
  #end: SessionEnd | undefined;

  constructor(connection: Connection, settings: ServerSettings) {
    this.#connection = connection;
    this.#settings = settings;
    const { maxInFlightRequests, maxQueuedRequests, maxQueuedBytes } = settings.limits;
    this.#queue = new JobQueue({
      maxRunning: maxInFlightRequests,
      maxQueued: maxQueuedRequests,
      outputFull: () => this.#outbox.full,
    });
    this.#outbox = new Outbox(connection, this.#queue, maxQueuedBytes, settings.logger);
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

  /** Reads and answers until the end. Resolves when everything accepted was answered and flushed. */
  async start(): Promise<SessionEnd> {
    this.#connection.closed.then((end) => {
      if (end.kind === "output_failed") this.stop({ reason: "output_failed", error: end.error });
    });
    await this.#read();
    const error = this.#connection.inputError;
    this.stop(error === undefined ? { reason: "eof" } : { reason: "input_failed", error });
    await this.#drain(this.#end!);
    this.#closed.resolve();
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
  stop(end: SessionEnd): void {
    if (!PATIENT_ENDS.has(end.reason)) this.#hurry.resolve();
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#connection.cancelInput();
    this.#queue.wakeReader();
  }

  /** Sends a publication to those who asked for it. */
  publish(method: string, params: Params | undefined): void {
    this.#subscriptions.publish(method, params);
  }

  // Reading.

  async #read(): Promise<void> {
    while (this.#end === undefined) {
      const batch = await this.#connection.receive();
      if (batch === undefined) return;
      for (const inbound of batch) {
        // Responses and notifications are read on; what may have to be answered waits for a place (rules V1, V2).
        const hasRoom = !this.#queue.crowded || !mayBeAnswered(inbound) || await this.#awaitRoom();
        if (this.#end !== undefined) return;
        if (inbound.kind === "message") this.#message(inbound.message, inbound.idText, undefined, hasRoom);
        else if (this.#isBatch(inbound)) await this.#batch(inbound.batch);
        else this.#fault(inbound);
      }
    }
  }

  /** Gives false if it could wait for ever: what a legacy client was asked is answered behind what waits here. */
  async #awaitRoom(): Promise<boolean> {
    while (this.#queue.crowded && this.#end === undefined) {
      if (this.#legacyPeer.isAsking && !this.#outbox.full) return false;
      await this.#queue.room();
    }
    return true;
  }

  #message(
    message: JSONRPCMessage,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hasRoom: boolean,
  ): void {
    if (!("method" in message)) {
      if (this.#legacyPeer.answered(message)) return;
      this.#settings.logger.warn("[mcp_router] dropped a response: nothing was asked", {
        id: describeId(message.id),
      });
    } else if (isRequest(message)) this.#request(message, idText, batch, hasRoom);
    else this.#notification(message);
  }

  #request(
    { id, method, params = {} }: JSONRPCRequest,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hasRoom: boolean,
  ): void {
    const wireId = idText === undefined ? id : new RawId(idText);
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
        this.#reply({ jsonrpc: "2.0", id: wireId as RequestId, result }, batch);
        return;
      }
      if (origin.era === "modern" && method === "subscriptions/listen") {
        this.#subscriptions.open({ id, key }, wireId, params);
        return;
      }
      this.#dispatcher.admit({ id, key, wireId, method, params, meta, batch }, origin, hasRoom);
    } catch (error) {
      this.#reply(errorResponse(wireId, toWireError(error)), batch);
    }
  }

  #reply(response: JSONRPCMessage, batch: BatchReply | undefined): void {
    if (batch !== undefined) batch.add(response);
    else this.#outbox.reply(() => this.#outbox.send(response));
  }

  #notification({ method, params }: JSONRPCNotification): void {
    const { onNotification, logger } = this.#settings;
    if (method === "notifications/cancelled") {
      this.#cancel(params ?? {});
      return;
    }
    if (onNotification === undefined) return;
    const failed = (error: unknown) => logger.error("[mcp_stdio] onNotification has thrown", { error });
    try {
      // Its type forbids nobody to hand in an async function.
      const outcome: unknown = onNotification(method, params);
      if (isThenable(outcome)) outcome.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
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

  /** A bad line is answered once and ends nothing (rule V5); one that was meant as a response never is. */
  #fault({ reason, detail, id, idText, hasMethod, hasResult }: Fault): void {
    this.#settings.logger.warn(`[mcp_router] dropped a line: ${detail}`, { reason, id: describeId(id) });
    if (reason === "truncated" || (hasResult && !hasMethod)) return;
    const wireId = idText === undefined ? id ?? null : new RawId(idText);
    if (reason === "too_long") {
      if (wireId === null || !hasMethod) return;
      this.#reply(errorResponse(wireId, { code: ErrorCode.invalidRequest, message: TOO_LONG }), undefined);
    } else if (reason === "invalid_message") {
      this.#reply(errorResponse(wireId, invalidRequest(detail).toJSON()), undefined);
    } else {
      const message = `Parse error: ${detail}`;
      this.#reply(errorResponse(null, { code: ErrorCode.parseError, message }), undefined);
    }
  }

  #isBatch({ batch }: Fault): boolean {
    return batch !== undefined && batch.length > 0 && this.#legacyPeer.acceptsBatches;
  }

  /** The members of a line that revision 2025-03-26 allows; their responses share a line too. */
  async #batch(members: readonly unknown[] = []): Promise<void> {
    const reply = new BatchReply((responses) => this.#outbox.respondToBatch(responses));
    for (const member of members) {
      const wrong = whatIsWrong(member);
      const message = member as JSONRPCMessage;
      if (wrong !== undefined) {
        const id = isJSONObject(member) && isRequestId(member.id) ? member.id : null;
        reply.expect();
        reply.add(errorResponse(id, invalidRequest(wrong).toJSON()));
      } else if (!isRequest(message)) this.#message(message, undefined, reply, true);
      else {
        const hasRoom = !this.#queue.crowded || await this.#awaitRoom();
        if (this.#end !== undefined) break;
        reply.expect();
        this.#message(message, undefined, reply, hasRoom);
      }
    }
    reply.seal();
  }

  // Ending.

  /** End of input (rule V11), of output (V13), or a signal (V15): nothing that was accepted is lost on the way. */
  async #drain({ reason, error }: SessionEnd): Promise<void> {
    const { clock, drainTimeoutMs, logger } = this.#settings;
    if (reason === "output_failed") logger.info("[mcp_stdio] the output is gone", { error });
    if (reason === "input_failed") logger.warn("[mcp_stdio] the input has failed", { error });
    this.#subscriptions.endAll();
    const shutdown = new CancelledError({ serverShutdown: true });
    // Whatever the client was asked will not be answered any more.
    this.#legacyPeer.end(shutdown);
    await settlesWithin(clock, Promise.race([this.#dispatcher.idle(), this.#hurry.promise]), drainTimeoutMs);
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

function mayBeAnswered(inbound: Inbound): boolean {
  return inbound.kind === "fault" || isRequest(inbound.message);
}
