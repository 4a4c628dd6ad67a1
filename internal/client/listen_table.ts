import { ConnectionClosedError, RequestTimeoutError } from "../../errors.ts";
import { isJSONObject, type Params, type Result, type SubscriptionFilter } from "../../messages.ts";
import { Call, type CallSettings } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import { Listening, type ListeningEnd } from "./listening.ts";
import type { Sender } from "./sender.ts";
import type { ClientSettings } from "./settings.ts";

const LISTEN = "subscriptions/listen";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const UPDATED = "notifications/resources/updated";

const LIST_CHANGES: ReadonlyMap<string, "toolsListChanged" | "promptsListChanged" | "resourcesListChanged"> =
  new Map([
    ["notifications/tools/list_changed", "toolsListChanged"],
    ["notifications/prompts/list_changed", "promptsListChanged"],
    ["notifications/resources/list_changed", "resourcesListChanged"],
  ]);

/** An open stream of the modern era: a request without an end, and the wait for its acknowledgment. */
interface ModernStream {
  readonly call: Call;
  readonly listening: Listening;
  timer: unknown;
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
  readonly #legacy = new Set<Listening>();
  /** Legacy: how many streams want each resource. */
  readonly #subscriptions = new Map<string, number>();

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
    for (const listening of this.#legacy) {
      if (wants(listening.filter, method, params)) listening.push({ kind: "notification", method, params });
    }
  }

  /** A server is ready. It was asked for each stream, or knows nothing of its subscriptions. */
  async welcomed(): Promise<void> {
    for (const stream of this.#modern) this.#awaitAcknowledgment(stream);
    const asked = [...this.#legacy].filter(({ wasAcknowledged }) => wasAcknowledged);
    const uris = [...this.#subscriptions.keys()];
    await Promise.allSettled(uris.map((uri) => this.#askFor("resources/subscribe", uri)));
    for (const listening of asked) listening.acknowledge(this.#narrow(listening.filter));
  }

  /** The server is gone, and another one will be asked. */
  lost(): void {
    for (const stream of this.#modern) this.#settings.clock.clearTimeout(stream.timer);
  }

  /** Ends all streams; the error is for those that wait for their acknowledgment. */
  endAll(end: ListeningEnd, error: unknown): void {
    for (const stream of this.#modern) this.#finish(stream, end, error);
    for (const listening of this.#legacy) listening.finish(end, error);
    this.#legacy.clear();
    this.#subscriptions.clear();
  }

  #openModern(filter: SubscriptionFilter): Listening {
    const settings: CallSettings = {
      timeoutMs: Infinity,
      maxTimeoutMs: Infinity,
      resetTimeoutOnProgress: false,
      retry: "force",
      inlineNotifications: true,
      onNotification: (method, params) => {
        if (method !== ACKNOWLEDGED) return listening.push({ kind: "notification", method, params });
        this.#settings.clock.clearTimeout(stream.timer);
        listening.acknowledge(isJSONObject(params?.notifications) ? params.notifications : {});
      },
    };
    const call = new Call(LISTEN, { notifications: filter }, settings);
    const listening: Listening = new Listening(filter, () => {
      this.#forget(stream);
      this.#table.giveUp(call, new Error("the listen stream was closed"), undefined);
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

  /** The time begins when a server was asked, not before there is one. */
  #awaitAcknowledgment(stream: ModernStream): void {
    const { clock, listenTimeoutMs } = this.#settings;
    if (listenTimeoutMs === Infinity) return;
    clock.clearTimeout(stream.timer);
    stream.timer = clock.setTimeout(() => {
      const error = new RequestTimeoutError(LISTEN, listenTimeoutMs, "idle");
      this.#finish(stream, "lost", error);
      this.#table.giveUp(stream.call, error, "timeout");
    }, listenTimeoutMs);
  }

  #finish(stream: ModernStream, end: ListeningEnd, error?: unknown): void {
    this.#forget(stream);
    stream.listening.finish(end, error);
  }

  #forget(stream: ModernStream): void {
    this.#modern.delete(stream);
    this.#settings.clock.clearTimeout(stream.timer);
  }

  #openLegacy(filter: SubscriptionFilter): Listening {
    const narrow = this.#narrow(filter);
    const uris = narrow.resourceSubscriptions ?? [];
    const close = () => {
      if (this.#legacy.delete(listening)) { for (const uri of uris) this.#unsubscribe(uri); }
    };
    const listening: Listening = new Listening(narrow, close);
    this.#legacy.add(listening);
    Promise.all(uris.map((uri) => this.#subscribe(uri))).then(
      () => listening.acknowledge(narrow),
      (error) => {
        close();
        listening.finish(error instanceof ConnectionClosedError ? "lost" : "server", error);
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

  /** As much of a filter as a legacy server can deliver. */
  #narrow(filter: SubscriptionFilter): SubscriptionFilter {
    const { tools, prompts, resources } = this.#sender.peer?.capabilities ?? {};
    return {
      ...(filter.toolsListChanged && tools?.listChanged ? { toolsListChanged: true } : {}),
      ...(filter.promptsListChanged && prompts?.listChanged ? { promptsListChanged: true } : {}),
      ...(filter.resourcesListChanged && resources?.listChanged ? { resourcesListChanged: true } : {}),
      ...(filter.resourceSubscriptions !== undefined && resources?.subscribe
        ? { resourceSubscriptions: filter.resourceSubscriptions }
        : {}),
    };
  }
}

function wants(filter: SubscriptionFilter, method: string, params: Params | undefined): boolean {
  if (method === UPDATED) return filter.resourceSubscriptions?.includes(String(params?.uri)) ?? false;
  const member = LIST_CHANGES.get(method);
  return member !== undefined && filter[member] === true;
}
