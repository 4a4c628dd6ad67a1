import { CancelledError } from "../../errors.ts";
import {
  type ClientCapabilities,
  type Era,
  type Implementation,
  isJSONObject,
  type JSONObject,
  type JSONRPCMessage,
  LOGGING_LEVELS,
  type LoggingLevel,
  type MetaObject,
  type Params,
  type ProgressToken,
  type RequestId,
  type Result,
} from "../../messages.ts";
import type { RawId } from "../framing/message_encoder.ts";
import { PUBLICATIONS } from "../publications.ts";
import type { BatchReply } from "./batch_reply.ts";
import { checkDuration } from "../options.ts";
import { readMeta, readProgressToken } from "./envelope.ts";
import { type Identified, writtenIdOf } from "./id_table.ts";
import type { Job } from "./job_queue.ts";
import type { Outbox } from "./outbox.ts";
import { SERVER_DEFAULTS } from "./settings.ts";
import { Trail } from "./receiver.ts";

/** What a request says about its client, by its own envelope or by the legacy handshake. */
export interface RequestOrigin {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** The least severe level to send, or undefined for none. */
  readonly logLevel: LoggingLevel | undefined;
}

/** A request as it came. */
export interface RequestStart extends Identified {
  /** The id as it must be written back. */
  readonly writtenId: RequestId | RawId;
  readonly method: string;
  readonly params: Params;
  readonly meta: MetaObject;
  /** The digits of its progress token as they came, for an integer beyond 2^53. */
  readonly progressTokenText: string | undefined;
  /** The legacy batch that its response belongs to. */
  readonly batch: BatchReply | undefined;
}

/** The way out for what a request has to say. */
export interface RequestPort {
  readonly outbox: Pick<Outbox, "full" | "overfull" | "drained" | "tell">;
  /** Tells that a request has lost messages, since its handler did not wait. */
  lost(request: ActiveRequest): void;
  /** Runs the request's handler. Returns true if it goes on after the call. */
  run(request: ActiveRequest): boolean;
  /** Asks the client something; legacy era only. */
  ask(request: ActiveRequest, question: Question): Promise<Result>;
}

/** What a client of the legacy era is asked. */
export interface Question {
  readonly method: string;
  readonly params: Params;
  /** How long the client has for its answer, in milliseconds. */
  readonly timeoutMs: number;
}

type Phase = "queued" | "running" | "cancelled" | "done";

/** Notifications that have rules of their own, and another way to be sent. */
const OWN_NOTIFICATIONS: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/message",
  "notifications/progress",
  "notifications/subscriptions/acknowledged",
]);

/** A request between its arrival and its response; it is the `context` of its handler. */
export class ActiveRequest implements Job, Identified {
  readonly id: RequestId;
  readonly key: RequestId;
  readonly method: string;
  readonly meta: MetaObject;
  readonly writtenId: RequestId | RawId;
  readonly batch: BatchReply | undefined;
  readonly #origin: RequestOrigin;
  readonly #port: RequestPort;
  readonly #progressToken: ProgressToken | RawId | undefined;
  /** Made with the first notification: most requests have none. */
  #trail: Trail | undefined;
  #params: Params;
  #phase: Phase = "queued";
  #abortController: AbortController | undefined;
  #cancelled: CancelledError | undefined;
  #lastProgress = -Infinity;
  #pendingProgress: JSONRPCMessage | undefined;
  /** What is to be done once it is over. */
  #endings: Set<(reason: unknown) => void> | undefined;
  /** Whether its handler was told to wait before it says more. */
  #mustWait = false;
  #hasLost = false;

  constructor(request: RequestStart, origin: RequestOrigin, port: RequestPort) {
    this.id = request.id;
    this.key = request.key;
    this.writtenId = request.writtenId;
    this.method = request.method;
    this.meta = request.meta;
    this.batch = request.batch;
    this.#params = request.params;
    this.#origin = origin;
    this.#port = port;
    const { meta, progressTokenText } = request;
    const token = readProgressToken(meta);
    this.#progressToken = token === undefined ? undefined : writtenIdOf(token, progressTokenText);
  }

  get params(): Params {
    return this.#params;
  }

  get inputResponses(): { readonly [key: string]: Result } | undefined {
    const { inputResponses } = this.#params;
    return isJSONObject(inputResponses) ? inputResponses as { [key: string]: JSONObject } : undefined;
  }

  get requestState(): string | undefined {
    const { requestState } = this.#params;
    return typeof requestState === "string" ? requestState : undefined;
  }

  get era(): Era {
    return this.#origin.era;
  }

  get protocolVersion(): string {
    return this.#origin.protocolVersion;
  }

  get clientInfo(): Implementation | undefined {
    return this.#origin.clientInfo;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.#origin.clientCapabilities;
  }

  /** Made when first asked for: most handlers never look. */
  get signal(): AbortSignal {
    if (this.#abortController === undefined) {
      this.#abortController = new AbortController();
      if (this.#cancelled !== undefined) this.#abortController.abort(this.#cancelled);
    }
    return this.#abortController.signal;
  }

  // The functions below are bound, so that a handler can take them apart: `(args, { progress, log }) => …`.

  get progress(): (progress: number, total?: number, message?: string) => void {
    return (progress, total, message) => this.#progress(progress, total, message);
  }

  get log(): (level: LoggingLevel, data: unknown, logger?: string) => Promise<void> {
    return (level, data, logger) => this.#log(level, data, logger);
  }

  get notify(): (method: string, params?: Params) => Promise<void> {
    return (method, params) => this.#notify(method, params);
  }

  get requestInput(): (
    method: string,
    params?: Params,
    options?: { readonly timeoutMs?: number | undefined },
  ) => Promise<Result> {
    return (method, params = {}, { timeoutMs = SERVER_DEFAULTS.inputTimeoutMs } = {}) => {
      const answer = this.#ask({ method, params, timeoutMs });
      answer.catch(() => {}); // A handler that does not wait for it is not to be ended by it.
      return answer;
    };
  }

  /** Whether the client cancelled the request before its handler began. */
  get withdrawn(): boolean {
    return this.#phase === "cancelled";
  }

  /** Whether its handler has not begun. */
  get queued(): boolean {
    return this.#phase === "queued";
  }

  /** Whether its response is still owed. */
  get open(): boolean {
    return this.#phase === "queued" || this.#phase === "running";
  }

  start(): boolean {
    if (this.#phase !== "queued") return false; // It was answered while it waited: the server ends.
    this.#phase = "running";
    return this.#port.run(this);
  }

  /** Does something once the request is answered, cancelled or aborted. Gives what takes that back. */
  whenOver(act: (reason: unknown) => void): () => void {
    this.#endings ??= new Set();
    this.#endings.add(act);
    return () => void this.#endings?.delete(act);
  }

  /** Lets a handler have what it asked for, in place of what the request came with. */
  retryWith(params: Params): void {
    this.#params = params;
  }

  /** Ends it without a response. Returns whether it was still waiting to begin. */
  cancel(reason: string | undefined): boolean {
    const wasQueued = this.#phase === "queued";
    this.#phase = "cancelled";
    this.#trail?.withdraw();
    this.abort(new CancelledError({ reason, serverShutdown: false }));
    return wasQueued;
  }

  /** Fires its signal; whether it is still answered is not touched. */
  abort(reason: CancelledError): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    this.#pendingProgress = undefined;
    this.#endings?.forEach((act) => act(reason));
    this.#abortController?.abort(reason);
  }

  /** Ends it for its response: what it still had to say goes first, and nothing comes after. */
  complete(): void {
    const pending = this.#pendingProgress;
    this.#pendingProgress = undefined;
    if (pending !== undefined) this.#port.outbox.tell(pending);
    this.#phase = "done";
    this.#endings?.forEach((act) => act(new TypeError("The request has been answered meanwhile")));
  }

  async #ask(question: Question): Promise<Result> {
    checkMessage("ask the client", question.method, question.params);
    checkDuration("timeoutMs", question.timeoutMs);
    return await this.#port.ask(this, question);
  }

  #progress(progress: number, total: number | undefined, message: string | undefined): void {
    checkNumber("progress", progress);
    if (total !== undefined) checkNumber("total", total);
    const token = this.#progressToken;
    // Progress must rise (progress page); a value that does not is dropped.
    if (token === undefined || !this.open || progress <= this.#lastProgress) return;
    this.#lastProgress = progress;
    const params = {
      progressToken: token,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: String(message) }),
    };
    const notification: JSONRPCMessage = { jsonrpc: "2.0", method: "notifications/progress", params };
    if (this.#port.outbox.full) this.#sendWhenDrained(notification);
    else this.#send(notification);
  }

  /** Under a full output only the newest progress waits (rule V10). */
  #sendWhenDrained(notification: JSONRPCMessage): void {
    const isWaiting = this.#pendingProgress !== undefined;
    this.#pendingProgress = notification;
    if (isWaiting) return;
    this.#port.outbox.drained().then(() => {
      const pending = this.#pendingProgress;
      this.#pendingProgress = undefined;
      if (pending !== undefined && this.open) this.#send(pending);
    });
  }

  #send(notification: JSONRPCMessage): void {
    this.#trail ??= new Trail();
    this.#trail.add(this.#port.outbox.tell(notification));
  }

  #log(level: LoggingLevel, data: unknown, logger: string | undefined): Promise<void> {
    const severity = LOGGING_LEVELS.indexOf(level);
    if (severity === -1) throw new TypeError(`Cannot log: "${level}" is not a logging level`);
    const least = this.#origin.logLevel;
    if (least === undefined || severity < LOGGING_LEVELS.indexOf(least)) return Promise.resolve();
    const params = { level, ...(logger === undefined ? {} : { logger }), data: data ?? null };
    return this.#say("notifications/message", params);
  }

  #notify(method: string, params: Params | undefined): Promise<void> {
    checkMessage("notify", method, params);
    if (OWN_NOTIFICATIONS.has(method) || PUBLICATIONS.has(method)) {
      const state = `the server sends it by "progress", "log", "publish" or of its own accord`;
      throw new TypeError(`Cannot notify "${method}": ${state}`);
    }
    return this.#say(method, params);
  }

  /** What is said names its request, if the client has given it a token: only so can one tell whose it is. */
  #toNotification(method: string, params: Params | undefined): JSONRPCMessage {
    if (this.#progressToken !== undefined) {
      const _meta = { progressToken: this.#progressToken, ...readMeta(params) };
      return { jsonrpc: "2.0", method, params: { ...params, _meta } };
    }
    return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
  }

  /** Resolves when there is room for more. A handler that does not wait cannot fill the memory: it is not heard then. */
  #say(method: string, params: Params | undefined): Promise<void> {
    if (!this.open) return Promise.resolve();
    if (this.#mustWait && this.#port.outbox.overfull) {
      if (!this.#hasLost) this.#port.lost(this);
      this.#hasLost = true;
      return this.#port.outbox.drained();
    }
    this.#send(this.#toNotification(method, params));
    if (!this.#port.outbox.full) return Promise.resolve();
    const drained = this.#port.outbox.drained();
    if (!this.#mustWait) {
      this.#mustWait = true;
      drained.then(() => this.#mustWait = false);
    }
    return drained;
  }
}

/** What a handler hands in untyped must not go out as it is (S2-10). */
function checkMessage(what: string, method: unknown, params: unknown): void {
  if (typeof method !== "string" || method === "") {
    throw new TypeError(`Cannot ${what}: the method must be a text that is not empty`);
  }
  if (params !== undefined && !isJSONObject(params)) {
    throw new TypeError(`Cannot ${what} "${method}": the params must be an object`);
  }
}

function checkNumber(name: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw new TypeError(`Cannot report progress: "${name}" must be a finite number, got ${value}`);
}
