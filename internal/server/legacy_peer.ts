import type { Fault } from "../../connection.ts";
import { InvalidResponseError, ProtocolError, RequestTimeoutError } from "../../errors.ts";
import {
  ErrorCode,
  type Implementation,
  isJSONObject,
  type JSONRPCErrorObject,
  type JSONRPCResponse,
  LEGACY_PROTOCOL_VERSIONS,
  type Params,
  type RequestId,
  type Result,
} from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import { canonicalUri } from "../canonical_uri.ts";
import { createDeferred, type Deferred } from "../promises.ts";
import { hasBatches } from "../era.ts";
import type { ActiveRequest, Question, RequestOrigin } from "./active_request.ts";
import { isLoggingLevel } from "./envelope.ts";
import { type Outbox, Unwritten } from "./outbox.ts";
import { Receiver } from "./receiver.ts";
import { invalidParams } from "./error_answers.ts";
import { readUri, UriBudget } from "./uri_budget.ts";

/** Something that the client was asked. */
interface Asked {
  readonly method: string;
  readonly answer: Deferred<Result>;
}

/**
 * What a process remembers of a client of the legacy era (rule V8): the handshake, its level of logging, the resources
 * it subscribed to, and what it was asked. Modern requests never touch it.
 */
export class LegacyPeer {
  /** Takes what is published. */
  readonly receiver: Receiver = new Receiver();
  #origin: RequestOrigin | undefined;
  /** Room for the URIs of its subscriptions. */
  readonly uriBudget: UriBudget = new UriBudget();
  readonly #subscriptions = new Set<string>();
  readonly #asked = new Map<RequestId, Asked>();
  readonly #clock: Clock;
  #asks = 0;
  #ended: { readonly error: unknown } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What its requests come from, or undefined before the handshake. */
  get origin(): RequestOrigin | undefined {
    return this.#origin;
  }

  /** Whether an array of messages is welcome on one line. */
  get acceptsBatches(): boolean {
    return hasBatches(this.#origin?.protocolVersion);
  }

  /**
   * Takes `initialize` and gives the revision to go on with: the one asked for, or the preferred one if that is not spoken.
   *
   * @throws {ProtocolError} -32602 if the params are not those of `initialize`.
   */
  initialize(params: Params): string {
    const { protocolVersion: requested, capabilities = {}, clientInfo } = params;
    if (typeof requested !== "string") throw invalidParams(`"protocolVersion" is not a string`);
    if (!isJSONObject(capabilities)) throw invalidParams(`"capabilities" is not an object`);
    const protocolVersion = LEGACY_PROTOCOL_VERSIONS.includes(requested)
      ? requested
      : LEGACY_PROTOCOL_VERSIONS[0]!;
    this.uriBudget.release(this.#subscriptions);
    this.#subscriptions.clear();
    this.#origin = {
      era: "legacy",
      protocolVersion,
      clientInfo: isJSONObject(clientInfo) ? clientInfo as unknown as Implementation : undefined,
      clientCapabilities: capabilities,
      logLevel: "debug",
    };
    return protocolVersion;
  }

  /** Takes `logging/setLevel`. */
  setLevel(params: Params): Result {
    const { level } = params;
    if (!isLoggingLevel(level)) throw invalidParams(`"level" is not a logging level`);
    if (this.#origin !== undefined) this.#origin = { ...this.#origin, logLevel: level };
    return {};
  }

  /** Takes `resources/subscribe`. */
  subscribe({ uri }: Params): Result {
    const known = canonicalUri(readUri(uri));
    if (!this.#subscriptions.has(known)) this.uriBudget.take([known]);
    this.#subscriptions.add(known);
    return {};
  }

  /** Takes `resources/unsubscribe`. */
  unsubscribe({ uri }: Params): Result {
    const known = canonicalUri(readUri(uri));
    if (this.#subscriptions.delete(known)) this.uriBudget.release(new Set([known]));
    return {};
  }

  /** Whether a publication goes to this client. */
  wants(method: string, params: Params | undefined): boolean {
    if (this.#origin === undefined) return false;
    return method !== "notifications/resources/updated" ||
      this.#subscriptions.has(canonicalUri(String(params?.uri)));
  }

  /** Asks the client: sends a request of the server's own and awaits its response (rule V17). */
  ask(
    { method, params, timeoutMs }: Question,
    request: Pick<ActiveRequest, "whenOver">,
    outbox: Outbox,
  ): Promise<Result> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended.error);
    const id = `server-${++this.#asks}`;
    const sent = outbox.attempt({ jsonrpc: "2.0", id, method, params });
    if (sent instanceof Unwritten) return Promise.reject(sent.error);
    const answer = createDeferred<Result>();
    this.#asked.set(id, { method, answer });
    const giveUp = (reason: unknown): void => {
      if (!this.#asked.delete(id)) return;
      if (sent?.withdraw() !== true) {
        outbox.tell({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      }
      answer.reject(reason);
    };
    const late = () => giveUp(new RequestTimeoutError(method, timeoutMs, "total"));
    const timer = timeoutMs === Infinity ? undefined : this.#clock.setTimeout(late, timeoutMs);
    const forget = request.whenOver(giveUp);
    const clean = (): void => {
      this.#clock.clearTimeout(timer);
      forget();
    };
    answer.promise.then(clean, clean);
    return answer.promise;
  }

  /** Takes a response of the client. Returns false if nothing was asked under its id. */
  answered(response: JSONRPCResponse): boolean {
    const question = this.#take(response.id);
    if (question === undefined) return false;
    if ("result" in response) question.answer.resolve(response.result);
    else question.answer.reject(refused(question.method, response.error));
    return true;
  }

  /** Takes a line that was meant as a response and cannot be read. Returns false if nothing was asked under its id. */
  answeredBadly({ id, detail, hasMethod }: Fault): boolean {
    const question = hasMethod ? undefined : this.#take(id);
    question?.answer.reject(new InvalidResponseError(question.method, detail));
    return question !== undefined;
  }

  #take(id: RequestId | undefined): Asked | undefined {
    const question = id === undefined ? undefined : this.#asked.get(id);
    if (question !== undefined) this.#asked.delete(id!);
    return question;
  }

  /** Fails what was asked and not answered, and what will be. */
  end(error: unknown): void {
    this.#ended = { error };
    for (const { answer } of this.#asked.values()) answer.reject(error);
    this.#asked.clear();
  }
}

/** The client's refusal as the error of whoever asked: relayed as it is, it would look like the server's own. */
function refused(method: string, error: JSONRPCErrorObject): ProtocolError {
  const state = `${error.message.slice(0, 1_024)} (${error.code})`;
  return new ProtocolError(ErrorCode.internalError, `The client refused "${method}": ${state}`, error);
}
