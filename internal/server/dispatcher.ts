import { type CancelledError, ProtocolError } from "../../errors.ts";
import { describeId } from "../shown_text.ts";
import { type Era, isJSONObject, type JSONRPCMessage, type RequestId, type Result } from "../../messages.ts";
import { createDeferred, type Deferred, isThenable } from "../promises.ts";
import type { Ending } from "../framing/message_encoder.ts";
import { isA } from "../thrown.ts";
import {
  ActiveRequest,
  type Question,
  type RequestOrigin,
  type RequestPort,
  type RequestStart,
} from "./active_request.ts";
import { IdTable } from "./id_table.ts";
import { callHandler, checkCanAsk, isInputRequired, readInputRequests } from "./input_required.ts";
import type { JobQueue } from "./job_queue.ts";
import type { LegacyPeer } from "./legacy_peer.ts";
import type { MethodTable } from "./method_table.ts";
import type { Outbox } from "./outbox.ts";
import { completeResult, isEndedAlike, legacyResult } from "./results.ts";
import type { ServerSettings } from "./settings.ts";
import { StubbornHandlers } from "./stubborn_handlers.ts";
import { errorResponse, isShutdown, serverBusy, toAnsweredError } from "./error_answers.ts";

/** What a dispatcher works with; the session owns it. */
export interface DispatcherParts {
  readonly settings: ServerSettings;
  readonly queue: JobQueue;
  readonly outbox: Outbox;
  readonly methods: MethodTable;
  readonly legacyPeer: LegacyPeer;
}

/** Requests in flight: each gets one call of its handler, and one response unless it is cancelled (rules V3, V4). */
export class Dispatcher implements RequestPort {
  readonly #settings: ServerSettings;
  readonly #queue: JobQueue;
  readonly outbox: Outbox;
  readonly #methods: MethodTable;
  readonly #legacyPeer: LegacyPeer;
  readonly #inFlight = new IdTable<ActiveRequest>();
  readonly #stubborn: StubbornHandlers;
  /** How many handlers are on the stack. */
  #executing = 0;
  #idle: Deferred<void> | undefined;

  constructor(parts: DispatcherParts) {
    this.#settings = parts.settings;
    this.#queue = parts.queue;
    this.outbox = parts.outbox;
    this.#methods = parts.methods;
    this.#legacyPeer = parts.legacyPeer;
    const { clock, logger } = parts.settings;
    this.#stubborn = new StubbornHandlers(clock, logger, () => this.#queue.ended());
  }

  /** Whether a handler is on the stack right now. */
  get executing(): boolean {
    return this.#executing > 0;
  }

  /** Whether no response is owed. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Resolves when no response is owed. Handlers of requests that were cancelled are not waited for. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    this.#idle ??= createDeferred();
    return this.#idle.promise;
  }

  /** Whether a request is in flight under this key. */
  has(key: RequestId): boolean {
    return this.#inFlight.has(key);
  }

  /**
   * Takes a request on.
   *
   * @throws {ProtocolError} If nothing answers its method.
   */
  admit(start: RequestStart, origin: RequestOrigin): void {
    const request = new ActiveRequest(start, origin, this);
    this.#methods.handlerOf(request); // An unknown method needs no permit.
    // A handler that answers in its very call is never in flight: nothing else happens meanwhile.
    if (this.#settings.startTask === undefined && this.#queue.begin(request)) return;
    this.#inFlight.add(request);
    this.#queue.admit(request);
  }

  /** Ends a request without a response. Returns false if none is in flight under this id. */
  cancel(id: RequestId, reason: string | undefined): boolean {
    const request = this.#inFlight.find(id);
    if (request === undefined) return false;
    this.#remove(request);
    if (request.cancel(reason)) this.#queue.withdrew();
    else this.#stubborn.cancelled(request);
    request.batch?.skip();
    return true;
  }

  /** Fires the signals of those that run; they are still answered. Those that have not begun are answered now. */
  abortAll(reason: CancelledError): void {
    for (const request of this.#inFlight.values()) {
      if (request.queued) this.#fail(request, reason);
      else request.abort(reason);
    }
  }

  /** The session ends: permits are of no use any more. */
  end(): void {
    this.#stubborn.end();
  }

  /** Answers all with an error. */
  failAll(error: unknown): void {
    for (const request of this.#inFlight.values()) this.#fail(request, error);
  }

  /** A result as it goes to a client of this era. */
  complete(method: string, era: Era, result: Result): Result {
    return era === "modern" ? completeResult(method, result, this.#settings) : legacyResult(result);
  }

  // What a request needs to speak for itself.

  lost({ id, method }: ActiveRequest): void {
    const what = `[mcp_stdio] the handler of "${method}" does not wait for its messages: some were dropped`;
    this.#settings.logger.warn(what, { id: describeId(id) });
  }

  ask(request: ActiveRequest, question: Question): Promise<Result> {
    const { method, params } = question;
    if (request.era === "modern") {
      const state = "revision 2026-07-28 has no requests of the server; return an input_required result";
      throw new TypeError(`Cannot ask the client "${method}": ${state}`);
    }
    request.signal.throwIfAborted();
    if (!request.open) {
      throw new TypeError(`Cannot ask the client "${method}": the request has been answered`);
    }
    checkCanAsk(method, params, request.clientCapabilities);
    return this.#legacyPeer.ask(question, request, this.outbox);
  }

  run(request: ActiveRequest): boolean {
    const { startTask } = this.#settings;
    if (startTask === undefined) return this.#call(request);
    let begun = false;
    try {
      startTask(() => {
        if (begun) return;
        begun = true;
        if (!this.#call(request)) this.#ended(request);
      });
      return true;
    } catch (error) {
      if (begun) {
        this.#settings.logger.error("[mcp_stdio] startTask has thrown", { error });
        return true;
      }
      begun = true;
      this.#fail(request, serverBusy());
      return false;
    }
  }

  /** Calls a request's handler; true if it goes on after the call. */
  #call(request: ActiveRequest): boolean {
    if (!request.open) return false;
    let outcome: Result | PromiseLike<Result>;
    this.#executing++;
    try {
      outcome = callHandler(this.#methods.handlerOf(request), request);
      // Within the try: what a handler gives may throw as soon as it is looked at.
      if (isThenable(outcome)) {
        this.#inFlight.add(request);
        Promise.resolve(outcome)
          .then((result) => this.#succeed(request, result), (error) => this.#fail(request, error))
          .then(() => this.#ended(request));
        return true;
      }
    } catch (error) {
      this.#fail(request, error);
      return false;
    } finally {
      this.#executing--;
    }
    this.#succeed(request, outcome);
    return false;
  }

  #succeed(request: ActiveRequest, result: Result = {}): void {
    if (!request.open) return;
    const { method, era, writtenId } = request;
    let whole: Result;
    let ending: Ending | undefined;
    try {
      if (!isJSONObject(result)) throw new TypeError("the handler's result is not an object");
      if (isInputRequired(result)) readInputRequests(request, result);
      const { resultEnding } = this.#settings;
      const isPlain = era === "modern" && resultEnding !== undefined && request.batch === undefined &&
        this.outbox.takesEndings && isEndedAlike(method, result);
      if (isPlain) ending = resultEnding;
      whole = isPlain ? result : this.complete(method, era, result);
    } catch (error) {
      this.#fail(request, error);
      return;
    }
    this.#respond(request, { jsonrpc: "2.0", id: writtenId as RequestId, result: whole }, ending);
  }

  #fail(request: ActiveRequest, error: unknown): void {
    if (!request.open) return;
    if (!isA(error, ProtocolError) && !isShutdown(error)) {
      this.#settings.logger.error(`[mcp_stdio] the handler of "${request.method}" has failed`, { error });
    }
    this.#respond(request, errorResponse(request.writtenId, toAnsweredError(error)));
  }

  /** A handler that went on after its call has ended. */
  #ended(request: ActiveRequest): void {
    if (this.#stubborn.ended(request)) this.#queue.ended();
  }

  #respond(request: ActiveRequest, response: JSONRPCMessage, ending?: Ending): void {
    // Before the response: the client may use the id again as soon as it has read it.
    this.#remove(request);
    request.complete();
    if (request.batch !== undefined) request.batch.add(response);
    else this.outbox.respond(response, ending);
  }

  #remove(request: ActiveRequest): void {
    this.#inFlight.remove(request);
    if (this.isIdle) this.#idle?.resolve();
  }
}
