import type { Connection } from "../../connection.ts";
import { ProtocolError } from "../../errors.ts";
import { describeId } from "../shown_text.ts";
import {
  type Era,
  ErrorCode,
  isRequest,
  isRequestId,
  type JSONRPCMessage,
  type JSONRPCNotification,
  LEGACY_PROTOCOL_VERSIONS,
  MetaKey,
  MODERN_PROTOCOL_VERSIONS,
  type RequestId,
} from "../../messages.ts";
import { settlesWithin } from "../clock.ts";
import { flushLogger } from "../safe_logger.ts";
import { callGuarded } from "../thrown.ts";
import { spokenVersions } from "../era.ts";
import { PUBLICATIONS } from "../publications.ts";
import { isModern, readEnvelope, readMeta } from "../server/envelope.ts";
import { LegacyPeer } from "../server/legacy_peer.ts";
import type { BasicServerSettings, ServerEnd, ServerSettings } from "../server/settings.ts";
import { Subscriptions } from "../server/listen_streams.ts";
import {
  errorResponse,
  invalidRequest,
  toAnsweredError,
  unsupportedVersion,
} from "../server/error_answers.ts";
import type { HandedRequest } from "./handed_request.ts";
import type { SdkInstance } from "./sdk_instance.ts";
import { SdkInstances } from "./sdk_instances.ts";
import type { ModernServer, SdkServerFactory } from "./sdk_shapes.ts";
import { ServerWire, type WirePort } from "./server_wire.ts";
import { toError } from "./transport_errors.ts";

/** So many notifications wait while a server is being made. */
const MOST_WAITING = 1_024;

/**
 * One run of servers of one of the SDKs over a connection (rule K3): an instance for each era that is asked for. Every request is judged
 * by itself (rules V6, V8); listen streams are kept here, since the instances do not know them (rule V9).
 */
export class SdkSession implements WirePort {
  readonly #settings: BasicServerSettings;
  readonly #wire: ServerWire;
  readonly #subscriptions: Subscriptions;
  readonly #instances: SdkInstances;
  readonly #spoken: readonly string[];
  /** Whether a client has begun with `initialize`. */
  #isGreeted = false;
  #waiting = 0;

  constructor(factory: SdkServerFactory, connection: Connection, settings: BasicServerSettings) {
    this.#settings = settings;
    this.#spoken = spokenVersions(settings.servesLegacy);
    this.#wire = new ServerWire(connection, settings, this);
    this.#instances = new SdkInstances(factory, {
      send: (era, message, relatedId) =>
        era === "modern" ? this.#sendModern(message, relatedId) : this.#wire.send(message, relatedId),
      closed: () => this.stop({ reason: "closed" }),
    });
    this.#subscriptions = new Subscriptions({
      settings: subscriptionSettings(settings, () => this.#instances.modern),
      ...this.#wire.outlet,
      legacyPeer: new LegacyPeer(settings.clock),
    });
  }

  /** Whether anything has come. */
  get hasRead(): boolean {
    return this.#wire.hasRead;
  }

  /** Serves until the end. Resolves when everything accepted was answered and the instances are closed. */
  async run(): Promise<ServerEnd> {
    const end = await this.#wire.run();
    await settlesWithin(this.#settings.clock, this.#instances.close(), this.#settings.drainTimeoutMs);
    flushLogger(this.#settings.logger);
    return end;
  }

  /** Ends the reading; the first reason wins. */
  stop(end: ServerEnd): void {
    this.#wire.stop(end);
  }

  receive(message: JSONRPCMessage, request: HandedRequest | undefined): unknown {
    if (request !== undefined) return this.#request(request);
    // Only servers of the legacy era ask anything.
    return "method" in message ? this.#notification(message) : this.#tell("legacy", message);
  }

  failed(error: Error): void {
    for (const instance of this.#instances.connected) {
      callGuarded(
        () => instance.onerror?.(error),
        (thrown) => this.#settings.logger.error("[mcp_stdio] onerror has thrown", { error: thrown }),
      );
    }
  }

  draining(): void {
    this.#subscriptions.endAll();
  }

  /** The signals of the handlers fire. */
  aborting(): void {
    this.#instances.close();
  }

  closed(): void {}

  #request(request: HandedRequest): void {
    try {
      this.#route(request);
    } catch (error) {
      this.#refuse(request, error);
    }
  }

  #route(request: HandedRequest): void {
    const { method, params = {} } = request.message;
    const { servesLegacy } = this.#settings;
    if (this.#subscriptions.has(request.key)) throw invalidRequest("the id is already in flight");
    const meta = readMeta(params);
    if (isModern(meta)) {
      if (this.#instances.areLegacyOnly) throw legacyOnly(method, meta);
      const { protocolVersion } = readEnvelope(meta, this.#spoken);
      this.#give("modern", request, (instance) => {
        if (instance === undefined) throw legacyOnly(method, meta);
        if (method === "subscriptions/listen") this.#listen(request);
        else instance.hand(request.message, { classification: { era: "modern", revision: protocolVersion } });
      });
    } else if (method === "initialize" && !servesLegacy) {
      throw unsupportedVersion(this.#spoken, String(params.protocolVersion ?? "none"));
    } else {
      // Without a handshake only a ping is of the legacy era; servers of SDK 1.x never minded.
      this.#isGreeted ||= method === "initialize";
      const isStrange = !this.#isGreeted && !(method === "ping" && servesLegacy);
      if (isStrange && !servesLegacy) readEnvelope(meta, this.#spoken);
      this.#give("legacy", request, (instance) => {
        if (isStrange && !this.#instances.areLegacyOnly) readEnvelope(meta, this.#spoken);
        instance!.hand(request.message);
      });
    }
  }

  /** Gives a request to the instance of its era, once that is made. */
  #give(era: Era, request: HandedRequest, use: (instance: SdkInstance | undefined) => void): void {
    this.#instances.of(era)
      .then((instance) => {
        if (request.open) use(instance);
      })
      .catch((error) => this.#refuse(request, error));
  }

  #refuse(request: HandedRequest, error: unknown): void {
    if (!(error instanceof ProtocolError)) {
      const what = `[mcp_stdio] "${request.message.method}" cannot be served`;
      this.#settings.logger.error(what, { id: describeId(request.id), error });
      this.failed(toError(error));
    }
    if (!request.open) return;
    this.#wire.send(errorResponse(request.key, toAnsweredError(error))).catch(() => {}); // There is nobody left to answer.
  }

  /** A listen stream holds no permit. */
  #listen(request: HandedRequest): void {
    this.#subscriptions.open(request, request.writtenId, request.message.params ?? {});
    this.#wire.release(request);
  }

  /** A cancellation goes to whoever knows the request; a notification pins no era. */
  #notification(message: JSONRPCNotification): unknown {
    const { method, params = {} } = message;
    if (method === "notifications/cancelled") {
      if (isRequestId(params.requestId) && this.#subscriptions.cancel(params.requestId)) return undefined;
      return Promise.all([this.#tell("modern", message), this.#tell("legacy", message)]);
    }
    if (isModern(readMeta(params))) return this.#tell("modern", message);
    return this.#isGreeted ? this.#tell("legacy", message) : undefined;
  }

  /** Tells an instance something, if there is one; in order with the requests it is given. */
  #tell(era: Era, message: JSONRPCMessage): Promise<void> | undefined {
    if (!this.#instances.has(era)) return undefined;
    if (this.#waiting >= MOST_WAITING) {
      this.#settings.logger.warn("[mcp_stdio] dropped a notification: its server is still being made");
      return undefined;
    }
    this.#waiting++;
    return this.#instances.of(era).then(
      (instance) => {
        this.#waiting--;
        instance?.hand(message);
      },
      () => void this.#waiting--, // Whoever asked for it is told.
    );
  }

  /** Publications go to the listen streams that asked for them, and to nobody else. */
  async #sendModern(message: JSONRPCMessage, relatedId: RequestId | undefined): Promise<void> {
    if (!("method" in message)) return await this.#wire.send(message);
    const { method, params } = message;
    if (isRequest(message)) {
      throw new TypeError(
        `Cannot ask the client "${method}": revision 2026-07-28 has no requests of the server`,
      );
    }
    if (PUBLICATIONS.has(method)) this.#subscriptions.publish(method, params);
    else await this.#wire.send(message, relatedId);
  }
}

/** The probe gets the answer of a legacy server, so that every client falls back; other requests are told what is spoken. */
function legacyOnly(method: string, meta: { readonly [key: string]: unknown }): ProtocolError {
  if (method === "server/discover") {
    return new ProtocolError(ErrorCode.methodNotFound, "Method not found: server/discover");
  }
  return unsupportedVersion(LEGACY_PROTOCOL_VERSIONS, String(meta[MetaKey.protocolVersion]));
}

/** What the subscriptions of a server of ours would go by, with the identity of the SDK's. */
function subscriptionSettings(
  settings: BasicServerSettings,
  modern: () => ModernServer | undefined,
): ServerSettings {
  return {
    ...settings,
    get info() {
      return modern()!._serverInfo;
    },
    get resultMeta() {
      return { [MetaKey.serverInfo]: modern()!._serverInfo };
    },
    resultEnding: undefined,
    instructions: undefined,
    capabilities: () => modern()!.getCapabilities(),
    handlers: new Map(),
    spokenVersions: MODERN_PROTOCOL_VERSIONS,
    cache: { ttlMs: 0, cacheScope: "private" },
    onNotification: undefined,
    startTask: undefined,
  };
}
