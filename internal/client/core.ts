import type { Inbound, Outgoing } from "../../connection.ts";
import {
  type CloseReason,
  ConnectionClosedError,
  InvalidResponseError,
  ProtocolError,
} from "../../errors.ts";
import {
  type Era,
  ErrorCode,
  type JSONRPCErrorObject,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Params,
  type RequestId,
  type Result,
  type SubscriptionFilter,
} from "../../messages.ts";
import { createDeferred, type Deferred } from "../deferred.ts";
import { Call, type CallSettings } from "./call.ts";
import { CallTable, cancellation } from "./call_table.ts";
import { toClosedError } from "./closed_error.ts";
import { Greeter } from "./greeter.ts";
import { InputRounds } from "./input_rounds.ts";
import type { EndReport, Graces, Link } from "./link.ts";
import { LinkReader, type LinkReaderPort } from "./link_reader.ts";
import type { Listening } from "./listening.ts";
import { ListenTable } from "./listen_table.ts";
import type { Peer } from "./negotiate.ts";
import { NotificationQueue } from "./notification_queue.ts";
import { modernMeta, paramsOnWire } from "./request_meta.ts";
import { mayRetry } from "./retry.ts";
import { Router, type RouterPort } from "./router.ts";
import { ServerRequests } from "./server_requests.ts";
import type { ClientSettings } from "./settings.ts";
import { type Life, Supervisor, type SupervisorPort } from "./supervisor.ts";

/**
 * A client without its public face: the table of calls, the router, the greeter and the supervisor, put together. It knows
 * links and no processes.
 */
export class ClientCore implements RouterPort, SupervisorPort, LinkReaderPort {
  readonly #settings: ClientSettings;
  readonly #openLink: () => Promise<Link>;
  readonly #onLife: (life: Life, restartCount: number) => void;
  readonly #table: CallTable;
  readonly #router: Router;
  readonly #greeter: Greeter;
  readonly #supervisor: Supervisor;
  readonly #listens: ListenTable;
  readonly #rounds: InputRounds;
  readonly #notifications: NotificationQueue | undefined;
  readonly #serverRequests: ServerRequests;
  readonly #endedLinks = new WeakSet<Link>();
  /** Notifications that no pipe has taken yet. */
  readonly #notices = new Set<{ readonly outgoing: Outgoing; readonly lost: Deferred<never> }>();
  #peer: Peer | undefined;
  /** The `_meta` of every request to a modern server. */
  #meta: Params = {};
  /** The link that messages go to and come from. */
  #link: Link | undefined;
  /** Whether calls can go out at once. */
  #ready = false;
  #closedBy: CloseReason | undefined;
  #overCause: unknown;

  constructor(
    settings: ClientSettings,
    openLink: () => Promise<Link>,
    onLife: (life: Life, restartCount: number) => void,
  ) {
    this.#settings = settings;
    this.#openLink = openLink;
    this.#onLife = onLife;
    const { clock, logger, maxRestarts, graces, onNotification, maxQueuedNotifications } = settings;
    this.#table = new CallTable(clock, (id, reason) => this.#send(cancellation(id, reason)));
    this.#router = new Router(this.#table, this, logger);
    this.#supervisor = new Supervisor(this, { maxRestarts, graces, clock, logger, random: Math.random });
    this.#listens = new ListenTable(this.#table, settings, {
      post: (call) => this.#postOrWait(call),
      request: (method, params, timeoutMs) => this.#requestPlainly(method, params, timeoutMs),
      peer: () => this.#peer,
    });
    this.#rounds = new InputRounds(this.#table, settings.inputHandlers, (call) => this.#postOrWait(call));
    this.#notifications = onNotification &&
      new NotificationQueue(onNotification, maxQueuedNotifications, logger);
    this.#serverRequests = new ServerRequests(settings, (message) => this.#send(message));
    this.#greeter = new Greeter(this.#table, settings, {
      isInUse: (link) => this.#link === link,
      post: (call) => this.#post(call),
      tell: (method) => void this.#send({ jsonrpc: "2.0", method }),
      relaunch: async (ended) => this.#use(await this.#supervisor.relaunch(ended)),
      hint: () =>
        this.#router.framesByContentLength ? "it frames its messages with Content-Length headers" : undefined,
    });
  }

  get supervisor(): Supervisor {
    return this.#supervisor;
  }

  get peer(): Peer | undefined {
    return this.#peer;
  }

  get stderrTail(): string {
    return this.#link?.stderrTail ?? "";
  }

  /** Starts and greets the first server. */
  connect(): Promise<void> {
    return this.#supervisor.start();
  }

  /** Makes a request (rules C1, C4). */
  request(method: string, params: Params, settings: CallSettings): Promise<Result> {
    const call = new Call(method, params, settings);
    if (settings.signal?.aborted) call.fail(settings.signal.reason);
    else if (this.#supervisor.isOver) call.fail(this.#closedError(call));
    else {
      this.#table.begin(call);
      this.#postOrWait(call);
    }
    return call.promise;
  }

  /** Sends a notification. Settles when the server's pipe has taken it or never will (rule C8). */
  notify(method: string, params: Params | undefined): Promise<void> {
    const told = this.#tell(method, params);
    told.catch(() => {}); // As with requests: whoever told it may not care (rule C9).
    return told;
  }

  async #tell(method: string, params: Params | undefined): Promise<void> {
    const message = { jsonrpc: "2.0" as const, method, ...(params === undefined ? {} : { params }) };
    const outgoing = this.#ready ? this.#send(message) : undefined;
    if (outgoing === undefined) throw this.#closedError({ method, sent: false });
    const notice = { outgoing, lost: createDeferred<never>() };
    this.#notices.add(notice);
    try {
      await Promise.race([outgoing.accepted, notice.lost.promise]);
    } catch {
      throw this.#closedError({ method, sent: outgoing.begun });
    } finally {
      this.#notices.delete(notice);
    }
  }

  /** Opens a listen stream (rule C10). */
  listen(filter: SubscriptionFilter): Listening {
    if (this.#supervisor.isOver) {
      throw this.#closedError({ method: "subscriptions/listen", sent: false });
    }
    return this.#listens.open(filter);
  }

  close(graces: Graces): Promise<EndReport> {
    this.#closedBy ??= "local";
    const closed = this.#supervisor.close(graces);
    this.#letGo();
    return closed;
  }

  kill(): Promise<EndReport> {
    this.#closedBy ??= "killed";
    const closed = this.#supervisor.kill();
    this.#letGo();
    return closed;
  }

  /** At once: nobody has to wait for the server to go. */
  #letGo(): void {
    this.#failAll("local");
    this.#notifications?.end();
    this.#serverRequests.endAll();
  }

  // What the supervisor asks for.

  open(): Promise<Link> {
    return this.#openLink();
  }

  async prepare(link: Link): Promise<void> {
    if (this.#link !== link) this.#use(link);
    const peer = await this.#greeter.greet(link);
    if (this.#supervisor.isOver) return;
    this.#peer = peer;
    this.#meta = peer.era === "legacy" ? {} : modernMeta(this.#settings, peer.protocolVersion);
  }

  hasEnded(link: Link): boolean {
    return this.#endedLinks.has(link);
  }

  changed(life: Life): void {
    this.#ready = life.phase === "ready" && !this.#endedLinks.has(life.link);
    if (this.#ready) this.#welcome();
    this.#onLife(life, this.#supervisor.restartCount);
  }

  /** Each call under way is kept for the next server, or fails (rules C7, P8). */
  lost(willRestart: boolean): void {
    this.#serverRequests.endAll();
    for (const call of this.#table.underWay()) {
      // What has not begun to leave must not reach a server that still reads while it ends.
      call.outgoing?.withdraw();
      const { method, sent, retries, settings: { retry: policy } } = call;
      if (willRestart && mayRetry({ method, policy, sent, retries })) {
        if (sent && method !== "subscriptions/listen") call.retries++;
        this.#table.suspend(call);
      } else {
        this.#table.fail(call, this.#closedError(call));
      }
    }
    if (willRestart) return this.#listens.lost();
    this.#failAll("lost");
  }

  over(cause: unknown): void {
    this.#overCause ??= cause;
    this.#failAll(this.#closedBy === undefined ? "lost" : "local");
    this.#table.clear();
  }

  // What the reader of a link and the router hand on.

  get era(): Era | undefined {
    return this.#greeter.isHandshaking ? "legacy" : this.#peer?.era;
  }

  route(inbound: Inbound, link: Link): Promise<void> | undefined {
    // A server that is being ended, or was replaced, may still say something; nobody waits for it.
    return this.#link === link && !this.#supervisor.isOver ? this.#router.route(inbound) : undefined;
  }

  fellSilent(link: Link): void {
    // What is asked from now on waits for the next server.
    this.#endedLinks.add(link);
    if (this.#link === link) this.#ready = false;
  }

  ended(link: Link): void {
    if (this.#link !== link) return;
    // While a server is greeted only the greeting is under way: it hears of the end, the rest waits.
    if (this.#supervisor.life.phase === "starting") this.lost(true);
    else this.#supervisor.lost(link);
  }

  unrouted({ method, params }: JSONRPCNotification): Promise<void> | undefined {
    if (this.era === "legacy") this.#listens.published(method, params);
    const notifications = this.#notifications;
    if (notifications === undefined) return undefined;
    if (this.#settings.inlineNotifications) return notifications.deliverInline(method, params);
    return notifications.push(method, params);
  }

  asked(request: JSONRPCRequest, idText: string | undefined): void {
    this.#serverRequests.answer(request, idText);
  }

  askedNoMore(id: RequestId): void {
    this.#serverRequests.cancel(id);
  }

  /** A result is taken as it is, or wants another round (rules C5, C11). */
  answered(call: Call, result: Result): void {
    const { resultType } = result;
    const isKnown = resultType === undefined || resultType === "complete" || resultType === "input_required";
    if (!isKnown && this.era === "modern") {
      this.#table.fail(call, new InvalidResponseError(call.method, "its resultType is unknown"));
    } else if (!this.#rounds.begin(call, result)) this.#table.succeed(call, result);
  }

  /** An error is the caller's, unless it tells that the server is not what it was taken for (rule E4). */
  refused(call: Call, { code, message, data }: JSONRPCErrorObject): void {
    const link = this.#link!;
    const isOutdated = code === ErrorCode.unsupportedProtocolVersion && this.#greeter.trusts(link);
    if (!isOutdated) return this.#table.fail(call, new ProtocolError(code, message, data));
    this.#table.suspend(call);
    this.#greeter.forget();
    this.#supervisor.renew(link);
  }

  stray(text: string): void {
    try {
      this.#settings.onStrayOutput?.(text);
    } catch (error) {
      this.#settings.logger.error("[mcp_router] onStrayOutput has thrown", { error });
    }
  }

  /** Begins to read from a link and sends to it from now on. */
  #use(link: Link): Link {
    this.#link = link;
    new LinkReader(link, this, this.#settings.clock).run();
    const notifications = this.#notifications;
    if (notifications === undefined) return link;
    // What a server that has exited left in its pipe is little, and the calls behind it need not wait.
    notifications.holdReader(true);
    link.exited.then(() => {
      if (this.#link === link) notifications.holdReader(false);
    });
    return link;
  }

  /** A server is ready: what waited for it goes out, in call order. */
  #welcome(): void {
    const { logLevel } = this.#settings;
    if (this.era === "legacy" && logLevel !== undefined && this.#peer?.capabilities.logging !== undefined) {
      this.#requestPlainly("logging/setLevel", { level: logLevel }, this.#settings.timeoutMs);
    }
    for (const call of this.#table.waiting()) this.#post(call);
    this.#listens.welcomed();
  }

  // Sending.

  #requestPlainly(method: string, params: Params, timeoutMs: number): Promise<Result> {
    const { maxTimeoutMs } = this.#settings;
    return this.request(method, params, {
      timeoutMs,
      maxTimeoutMs,
      resetTimeoutOnProgress: false,
      retry: "auto",
      inlineNotifications: false,
    });
  }

  #postOrWait(call: Call): boolean {
    if (this.#ready) this.#post(call);
    else this.#table.wait(call);
    return this.#ready;
  }

  #post(call: Call): void {
    const id = this.#table.assign(call);
    try {
      const params = paramsOnWire(call, id, this.#peer?.era, this.#meta);
      const message = params === undefined
        ? { jsonrpc: "2.0" as const, id, method: call.method }
        : { jsonrpc: "2.0" as const, id, method: call.method, params };
      call.outgoing = this.#link!.connection.send(message);
    } catch (error) {
      // The connection has just ended: a call waits until it is clear whether another one follows, a greeting does not.
      if (error instanceof ConnectionClosedError && !call.settings.isGreeting) this.#table.suspend(call);
      else this.#table.fail(call, error);
    }
  }

  /** Sends what is no request; undefined when there is nobody to send to. */
  #send(message: JSONRPCMessage): Outgoing | undefined {
    if (this.#link === undefined || this.#supervisor.isOver) return undefined;
    try {
      return this.#link.connection.send(message);
    } catch (error) {
      if (!(error instanceof ConnectionClosedError)) throw error;
      return undefined;
    }
  }

  // Failing.

  #failAll(end: "local" | "lost"): void {
    this.#listens.endAll(end, this.#closedError({ method: "subscriptions/listen", sent: false }));
    for (const call of this.#table.all()) this.#table.lose(call, (lost) => this.#closedError(lost));
    for (const { outgoing, lost } of this.#notices) {
      outgoing.withdraw();
      lost.reject(undefined);
    }
  }

  #closedError({ method, sent }: { readonly method: string; readonly sent: boolean }): ConnectionClosedError {
    return toClosedError({
      method,
      sent,
      closedBy: this.#closedBy,
      link: this.#link,
      stderrTail: this.stderrTail,
      cause: this.#overCause,
    });
  }
}
