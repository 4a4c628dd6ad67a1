import { ProtocolError } from "../../errors.ts";
import {
  type Implementation,
  isJSONObject,
  type JSONRPCMessage,
  type JSONRPCResponse,
  LEGACY_PROTOCOL_VERSIONS,
  type Params,
  type RequestId,
  type Result,
  type ServerCapabilities,
} from "../../messages.ts";
import { createDeferred, type Deferred } from "../deferred.ts";
import { hasBatches } from "../era.ts";
import type { RequestOrigin } from "./active_request.ts";
import { isLoggingLevel } from "./envelope.ts";
import { Receiver } from "./receiver.ts";
import { invalidParams } from "./error_answers.ts";

/** What `initialize` is answered with. */
export interface HandshakeAnswer {
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions: string | undefined;
}

/**
 * What a process remembers of a client of the legacy era (rule V8): the handshake, its level of logging, the resources
 * it subscribed to, and what it was asked. Modern requests never touch it.
 */
export class LegacyPeer {
  /** Takes what is published. */
  readonly receiver: Receiver = new Receiver();
  #origin: RequestOrigin | undefined;
  readonly #subscriptions = new Set<string>();
  readonly #asked = new Map<RequestId, Deferred<Result>>();
  #asks = 0;
  #ended: { readonly error: unknown } | undefined;

  /** What its requests come from, or undefined before the handshake. */
  get origin(): RequestOrigin | undefined {
    return this.#origin;
  }

  /** Whether it was asked something and has not answered. */
  get isAsking(): boolean {
    return this.#asked.size > 0;
  }

  /** Whether an array of messages is welcome on one line. */
  get acceptsBatches(): boolean {
    return hasBatches(this.#origin?.protocolVersion);
  }

  /**
   * Takes `initialize` and gives its result: the revision asked for, or the preferred one if that is not spoken.
   *
   * @throws {ProtocolError} -32602 if the params are not those of `initialize`.
   */
  initialize(params: Params, answer: HandshakeAnswer): Result {
    const { protocolVersion: requested, capabilities = {}, clientInfo } = params;
    if (typeof requested !== "string") throw invalidParams(`"protocolVersion" is not a string`);
    if (!isJSONObject(capabilities)) throw invalidParams(`"capabilities" is not an object`);
    const protocolVersion = LEGACY_PROTOCOL_VERSIONS.includes(requested)
      ? requested
      : LEGACY_PROTOCOL_VERSIONS[0]!;
    this.#subscriptions.clear();
    this.#origin = {
      era: "legacy",
      protocolVersion,
      clientInfo: isJSONObject(clientInfo) ? clientInfo as unknown as Implementation : undefined,
      clientCapabilities: capabilities,
      logLevel: "debug",
    };
    const { instructions } = answer;
    return {
      protocolVersion,
      capabilities: answer.capabilities,
      serverInfo: answer.serverInfo,
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  /** Takes `logging/setLevel`. */
  setLevel(params: Params): Result {
    const { level } = params;
    if (!isLoggingLevel(level)) throw invalidParams(`"level" is not a logging level`);
    if (this.#origin !== undefined) this.#origin = { ...this.#origin, logLevel: level };
    return {};
  }

  /** Takes `resources/subscribe`. */
  subscribe(params: Params): Result {
    this.#subscriptions.add(readUri(params));
    return {};
  }

  /** Takes `resources/unsubscribe`. */
  unsubscribe(params: Params): Result {
    this.#subscriptions.delete(readUri(params));
    return {};
  }

  /** Whether a publication goes to this client. */
  wants(method: string, params: Params | undefined): boolean {
    if (this.#origin === undefined) return false;
    return method !== "notifications/resources/updated" || this.#subscriptions.has(String(params?.uri));
  }

  /** Asks the client: sends a request of the server's own and awaits its response. */
  ask(
    method: string,
    params: Params,
    signal: AbortSignal,
    send: (message: JSONRPCMessage) => void,
  ): Promise<Result> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended.error);
    const id = `server-${++this.#asks}`;
    const answer = createDeferred<Result>();
    this.#asked.set(id, answer);
    send({ jsonrpc: "2.0", id, method, params });
    const onAbort = () => {
      if (!this.#asked.delete(id)) return;
      send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      answer.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const clean = () => signal.removeEventListener("abort", onAbort);
    answer.promise.then(clean, clean);
    return answer.promise;
  }

  /** Takes a response of the client. Returns false if nothing was asked under its id. */
  answered(response: JSONRPCResponse): boolean {
    const { id } = response;
    const answer = id === undefined ? undefined : this.#asked.get(id);
    if (answer === undefined) return false;
    this.#asked.delete(id!);
    if ("result" in response) answer.resolve(response.result);
    else answer.reject(new ProtocolError(response.error.code, response.error.message, response.error.data));
    return true;
  }

  /** Fails what was asked and not answered, and what will be. */
  end(error: unknown): void {
    this.#ended = { error };
    for (const answer of this.#asked.values()) answer.reject(error);
    this.#asked.clear();
  }
}

function readUri(params: Params): string {
  if (typeof params.uri !== "string") throw invalidParams(`"uri" is not a string`);
  return params.uri;
}
