import { ProtocolError } from "../../errors.ts";
import { type Era, ErrorCode, type MetaObject, type Params, type Result } from "../../messages.ts";
import type { ActiveRequest, RequestOrigin } from "./active_request.ts";
import { isModern, readEnvelope } from "./envelope.ts";
import type { LegacyPeer } from "./legacy_peer.ts";
import type { Handler, ServerSettings } from "./settings.ts";
import { unsupportedVersion } from "./error_answers.ts";

/** A method that needs no handler. It is answered where it is read: what comes behind it may depend on it. */
export type BuiltIn = (params: Params) => Result;

/** Where the handshake itself comes from. */
const HANDSHAKE_ORIGIN: RequestOrigin = {
  era: "legacy",
  protocolVersion: "",
  clientInfo: undefined,
  clientCapabilities: {},
  logLevel: undefined,
};

/** Which era a request belongs to, and what answers it: the built-in methods of its era, or a handler. */
export class MethodTable {
  readonly #settings: ServerSettings;
  readonly #modern: ReadonlyMap<string, BuiltIn>;
  readonly #legacy: ReadonlyMap<string, BuiltIn>;
  readonly #legacyPeer: LegacyPeer;

  constructor(settings: ServerSettings, legacyPeer: LegacyPeer) {
    this.#settings = settings;
    this.#legacyPeer = legacyPeer;
    this.#modern = new Map([["server/discover", () => this.#discover()]]);
    this.#legacy = new Map<string, BuiltIn>([
      ["initialize", (params) => this.#initialize(params)],
      ["ping", () => ({})],
      ["logging/setLevel", (params) => legacyPeer.setLevel(params)],
      ["resources/subscribe", (params) => legacyPeer.subscribe(params)],
      ["resources/unsubscribe", (params) => legacyPeer.unsubscribe(params)],
    ]);
  }

  /**
   * Where a request comes from. Each speaks for itself by its envelope; only one without it belongs to the client that
   * made the legacy handshake (rules V6, V8).
   *
   * @throws {ProtocolError} If the envelope is missing or wrong, or its revision is not spoken.
   */
  originOf(method: string, { protocolVersion }: Params, meta: MetaObject): RequestOrigin {
    const { servesLegacy, spokenVersions } = this.#settings;
    if (!isModern(meta)) {
      if (method === "initialize") {
        if (servesLegacy) return HANDSHAKE_ORIGIN;
        throw unsupportedVersion(
          spokenVersions,
          typeof protocolVersion === "string" ? protocolVersion : "none",
        );
      }
      if (this.#legacyPeer.origin !== undefined) return this.#withLogging(this.#legacyPeer.origin);
      if (servesLegacy && method === "ping") return HANDSHAKE_ORIGIN;
    }
    return this.#withLogging(readEnvelope(meta, spokenVersions));
  }

  /** The built-in method of this name, if the era has it and the server has declared what it belongs to. */
  builtInOf(method: string, era: Era): BuiltIn | undefined {
    if (era === "modern") return this.#modern.get(method);
    const { logging, resources } = this.#settings.capabilities();
    if (method === "logging/setLevel" && logging === undefined) return undefined;
    const isSubscription = method === "resources/subscribe" || method === "resources/unsubscribe";
    return isSubscription && !resources?.subscribe ? undefined : this.#legacy.get(method);
  }

  /**
   * What answers a request.
   *
   * @throws {ProtocolError} -32601 if nothing does.
   */
  handlerOf({ method }: ActiveRequest): Handler {
    const handler = this.#settings.handlers.get(method);
    if (handler !== undefined) return handler;
    throw new ProtocolError(ErrorCode.methodNotFound, `Method not found: ${method.slice(0, 128)}`);
  }

  /** A server that has not declared `logging` sends no log messages (logging page). */
  #withLogging(origin: RequestOrigin): RequestOrigin {
    if (origin.logLevel === undefined || this.#settings.capabilities().logging !== undefined) return origin;
    return { ...origin, logLevel: undefined };
  }

  #discover(): Result {
    const { spokenVersions, instructions, capabilities } = this.#settings;
    return {
      supportedVersions: [...spokenVersions],
      capabilities: capabilities(),
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  #initialize(params: Params): Result {
    const { info, instructions, capabilities } = this.#settings;
    return {
      protocolVersion: this.#legacyPeer.initialize(params),
      capabilities: capabilities(),
      serverInfo: info,
      ...(instructions === undefined ? {} : { instructions }),
    };
  }
}
