import { ConnectionClosedError, RequestTimeoutError } from "../../errors.ts";
import {
  isJSONObject,
  type Params,
  type Result,
  type ServerCapabilities,
  type SubscriptionFilter,
} from "../../messages.ts";
import { canonicalUri } from "../canonical_uri.ts";
import { asksFor, narrowFilter, PUBLICATIONS } from "../publications.ts";
import { Call, type CallSettings } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import { Listening, type ListeningEnd } from "./listening.ts";
import type { Sender } from "./sender.ts";
import type { ClientSettings } from "./settings.ts";

const LISTEN = "subscriptions/listen";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/** A longer URI, in UTF-16 code units, is not looked at in parts. */
const LONGEST_PART = 8_192;
/** So many parts of a URI are looked at. */
const MOST_PARTS = 64;

/** An open stream of the modern era: a request without an end, and the wait for its acknowledgment. */
interface ModernStream {
  readonly call: Call;
  readonly listening: Listening;
  /** Runs while the server's acknowledgment is awaited. */
  timer: unknown;
}

/** A legacy stream with the resources that it asks for. */
interface LegacyStream {
  readonly listening: Listening;
  readonly uris: ReadonlySet<string>;
}

/**
 * The open listen streams (rule C10). In the modern era each is a request that is asked again after a restart like others;
 * in the legacy era they share what the server sends to everybody, and subscribe to resources.
 */
export class ListenTable {
  readonly #table: CallTable;
  readonly #settings: ClientSettings;
  readonly #sender: Sender;
  readonly #modern = new Set<ModernStream>();
  readonly #legacy = new Set<LegacyStream>();
  /** Legacy: how many streams want each resource. */
  readonly #subscriptions = new Map<string, number>();
  /** Whether the server has said anything since it was started. */
  hasSpoken = false;

  constructor(table: CallTable, settings: ClientSettings, sender: Sender) {
    this.#table = table;
    this.#settings = settings;
    this.#sender = sender;
  }

  /** Opens a stream. */
  open(filter: SubscriptionFilter): Listening {
    return this.#sender.peer?.era === "legacy" ? this.#openLegacy(filter) : this.#openModern(filter);
  }

  /** Legacy: the server has published something. */
  published(method: string, params: Params | undefined): void {
    for (const { listening, uris } of this.#legacy) {
      if (wants(listening.filter, uris, method, params)) {
        listening.push({ kind: "notification", method, params });
      }
    }
  }

  /** Another server was started. */
  began(): void {
    this.hasSpoken = false;
  }

  /** It has said something: from now on it can be expected to acknowledge in time. */
  spoke(): void {
    this.hasSpoken = true;
    for (const stream of this.#modern) {
      if (stream.timer !== undefined) this.#awaitAcknowledgment(stream);
    }
  }

  /** A server is ready. It was asked for each stream, or knows nothing of its subscriptions. */
  async welcomed(): Promise<void> {
    for (const stream of this.#modern) this.#awaitAcknowledgment(stream);
    const asked = [...this.#legacy].map(({ listening }) => listening).filter((one) => one.wasAcknowledged);
    const uris = [...this.#subscriptions.keys()];
    await Promise.allSettled(uris.map((uri) => this.#askFor("resources/subscribe", uri)));
    for (const listening of asked) listening.acknowledge(narrowFilter(listening.filter, this.#capabilities));
  }

  /** The server is gone, and another one will be asked. */
  lost(): void {
    for (const stream of this.#modern) this.#stopTimer(stream);
  }

  /** Ends all streams; the error is for those that wait for their acknowledgment. */
  endAll(end: ListeningEnd, error: unknown): void {
    for (const stream of this.#modern) this.#finish(stream, end, error);
    for (const { listening } of this.#legacy) listening.finish(end, error);
    this.#legacy.clear();
    this.#subscriptions.clear();
  }

  #openModern(filter: SubscriptionFilter): Listening {
    const uris = canonicalSet(filter.resourceSubscriptions);
    const settings: CallSettings = {
      timeoutMs: Infinity,
      maxTimeoutMs: Infinity,
      resetTimeoutOnProgress: false,
      retry: "force",
      inlineNotifications: true,
      onNotification: (method, params) => {
        if (method === ACKNOWLEDGED) {
          this.#stopTimer(stream);
          listening.acknowledge(isJSONObject(params?.notifications) ? params.notifications : {});
        } else if (!PUBLICATIONS.has(method) || wants(filter, uris, method, params)) {
          listening.push({ kind: "notification", method, params });
        }
      },
    };
    const call = new Call(LISTEN, { notifications: filter }, settings);
    const listening: Listening = new Listening(filter, () => {
      this.#forget(stream);
      this.#table.giveUp(call, new Error("the listen stream was closed"), undefined, true);
    });
    const stream: ModernStream = { call, listening, timer: undefined };
    this.#modern.add(stream);
    this.#table.begin(call);
    call.promise.then(
      () => this.#finish(stream, "server"),
      (error) => this.#finish(stream, error instanceof ConnectionClosedError ? "lost" : "server", error),
    );
    if (this.#sender.postOrWait(call)) this.#awaitAcknowledgment(stream);
    return listening;
  }

  /** The time begins when a server was asked that is ready; one that is still starting has the time for that. */
  #awaitAcknowledgment(stream: ModernStream): void {
    const { clock, listenTimeoutMs, connectTimeoutMs } = this.#settings;
    const limitMs = this.hasSpoken ? listenTimeoutMs : Math.max(listenTimeoutMs, connectTimeoutMs);
    this.#stopTimer(stream);
    if (limitMs === Infinity) return;
    stream.timer = clock.setTimeout(() => {
      const error = new RequestTimeoutError(LISTEN, limitMs, "idle");
      this.#finish(stream, "lost", error);
      this.#table.giveUp(stream.call, error, "timeout", true);
    }, limitMs);
  }

  #stopTimer(stream: ModernStream): void {
    this.#settings.clock.clearTimeout(stream.timer);
    stream.timer = undefined;
  }

  #finish(stream: ModernStream, end: ListeningEnd, error?: unknown): void {
    this.#forget(stream);
    stream.listening.finish(end, error);
  }

  #forget(stream: ModernStream): void {
    this.#modern.delete(stream);
    this.#stopTimer(stream);
  }

  #openLegacy(filter: SubscriptionFilter): Listening {
    const narrow = narrowFilter(filter, this.#capabilities);
    const uris = [...new Set(narrow.resourceSubscriptions)];
    const close = () => {
      if (this.#legacy.delete(stream)) { for (const uri of uris) this.#unsubscribe(uri); }
    };
    const listening: Listening = new Listening(narrow, close);
    const stream: LegacyStream = { listening, uris: canonicalSet(uris) };
    this.#legacy.add(stream);
    Promise.all(uris.map((uri) => this.#subscribe(uri))).then(
      () => listening.acknowledge(narrow),
      (error) => {
        close();
        const isLost = error instanceof ConnectionClosedError || error instanceof RequestTimeoutError;
        listening.finish(isLost ? "lost" : "server", error);
      },
    );
    return listening;
  }

  async #subscribe(uri: string): Promise<void> {
    const count = this.#subscriptions.get(uri) ?? 0;
    this.#subscriptions.set(uri, count + 1);
    if (count === 0) await this.#askFor("resources/subscribe", uri);
  }

  #unsubscribe(uri: string): void {
    const count = (this.#subscriptions.get(uri) ?? 1) - 1;
    if (count > 0) {
      this.#subscriptions.set(uri, count);
      return;
    }
    this.#subscriptions.delete(uri);
    this.#askFor("resources/unsubscribe", uri).catch((error) =>
      this.#settings.logger.debug("[mcp_router] could not unsubscribe", { error })
    );
  }

  #askFor(method: string, uri: string): Promise<Result> {
    return this.#sender.requestPlainly(method, { uri }, this.#settings.listenTimeoutMs);
  }

  get #capabilities(): ServerCapabilities {
    return this.#sender.peer?.capabilities ?? {};
  }
}

/** The URIs of a filter as they are compared. What is no URI is left to the encoder, or to the server, to refuse. */
function canonicalSet(uris: readonly string[] = []): ReadonlySet<string> {
  return new Set(uris.map((uri) => typeof uri === "string" ? canonicalUri(uri) : uri));
}

/** Whether something was asked for. An update may be of a part of a resource. */
function wants(
  filter: SubscriptionFilter,
  uris: ReadonlySet<string>,
  method: string,
  params: Params | undefined,
): boolean {
  if (asksFor(filter, uris, method, params)) return true;
  const uri = params?.uri;
  if (method !== "notifications/resources/updated" || typeof uri !== "string") return false;
  return uri.length <= LONGEST_PART && isPartOf(uris, canonicalUri(uri));
}

function isPartOf(uris: ReadonlySet<string>, uri: string): boolean {
  for (let end = uri.length - 1, parts = 0; end > 0 && parts < MOST_PARTS; end--) {
    if (!"/?#".includes(uri[end]!)) continue;
    if (uris.has(uri.slice(0, end)) || uris.has(uri.slice(0, end + 1))) return true;
    parts++;
  }
  return false;
}
