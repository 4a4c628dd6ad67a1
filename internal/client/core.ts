import type { Inbound } from "../../connection.ts";
import {
  type ConnectionClosedError,
  InvalidResponseError,
  ProtocolError,
  RequestTimeoutError,
} from "../../errors.ts";
import {
  type Era,
  ErrorCode,
  type JSONRPCErrorObject,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Params,
  type RequestId,
  type Result,
  type SubscriptionFilter,
} from "../../messages.ts";
import { callGuarded } from "../thrown.ts";
import { flushLogger } from "../safe_logger.ts";
import { Call, type CallSettings } from "./call.ts";
import { CallTable, cancellation } from "./call_table.ts";
import { type Departure, Departures, type Loss } from "./exit_words.ts";
import { Greeter } from "./greeter.ts";
import { HealthCheck, type HealthPort } from "./health_check.ts";
import { InputRounds } from "./input_rounds.ts";
import type { CloseReport, Graces, Link } from "./link.ts";
import { LinkReader, type LinkReaderPort } from "./link_reader.ts";
import type { Listening } from "./listening.ts";
import { ListenTable } from "./listen_table.ts";
import type { Peer } from "./negotiate.ts";
import { NotificationQueue } from "./notification_queue.ts";
import { mayRetry } from "./retry.ts";
import { Questions } from "./questions.ts";
import { Router, type RouterPort } from "./router.ts";
import { Sender, type SenderPort } from "./sender.ts";
import { ServerRequests } from "./server_requests.ts";
import type { ClientSettings } from "./settings.ts";
import { type Life, Supervisor, type SupervisorPort } from "./supervisor.ts";

/**
 * A client without its public face: the table of calls, the sender, the router, the greeter and the supervisor, put together.
 * It knows links and no processes.
 */
export class ClientCore implements RouterPort, SenderPort, SupervisorPort, LinkReaderPort, HealthPort {
  readonly #settings: ClientSettings;
  readonly #openLink: () => Promise<Link>;
  readonly #onLife: (life: Life, restartCount: number) => void;
  readonly #table: CallTable;
  readonly #sender: Sender;
  readonly #router: Router;
  readonly #greeter: Greeter;
  readonly #supervisor: Supervisor;
  readonly #listens: ListenTable;
  readonly #rounds: InputRounds;
  readonly #notifications: NotificationQueue | undefined;
  readonly #serverRequests: ServerRequests;
  readonly #health: HealthCheck;
  readonly #endedLinks = new WeakSet<Link>();
  readonly #departures = new Departures();

  constructor(
    settings: ClientSettings,
    openLink: () => Promise<Link>,
    onLife: (life: Life, restartCount: number) => void,
  ) {
    this.#settings = settings;
    this.#openLink = openLink;
    this.#onLife = onLife;
    const { clock, logger, maxRestarts, graces, onNotification, maxQueuedNotifications } = settings;
    this.#table = new CallTable(clock, (id, reason) => this.#sender.tell(cancellation(id, reason)));
    this.#sender = new Sender(this.#table, settings, this);
    this.#router = new Router(this.#table, this, logger);
    this.#supervisor = new Supervisor(this, { maxRestarts, graces, clock, logger, random: Math.random });
    this.#listens = new ListenTable(this.#table, settings, this.#sender);
    const questions = new Questions(settings.inputHandlers);
    this.#rounds = new InputRounds(this.#table, questions, this.#sender);
    this.#notifications = onNotification &&
      new NotificationQueue(onNotification, maxQueuedNotifications, logger);
    this.#health = new HealthCheck(settings.healthCheckMs, clock, this);
    this.#serverRequests = new ServerRequests(this.#table, questions, this.#sender, logger);
    this.#greeter = new Greeter(this.#table, settings, this.#sender, {
      hasEnded: (link) => this.hasEnded(link),
      relaunch: async (ended) => this.#use(await this.#supervisor.relaunch(ended)),
      hint: () => this.#router.firstPrinted,
    });
  }

  get supervisor(): Supervisor {
    return this.#supervisor;
  }

  get peer(): Peer | undefined {
    return this.#sender.peer;
  }

  get stderrTail(): string {
    return this.#sender.link?.stderrTail ?? "";
  }

  /** Starts and greets the first server. */
  connect(): Promise<void> {
    return this.#supervisor.start();
  }

  request(method: string, params: Params, settings: CallSettings): Promise<Result> {
    return this.#sender.request(new Call(method, params, settings));
  }

  notify(method: string, params: Params | undefined): Promise<void> {
    return this.#sender.notify(method, params);
  }

  /** Opens a listen stream (rule C10). */
  listen(filter: SubscriptionFilter): Listening {
    if (this.isOver) throw this.closedError({ method: "subscriptions/listen", sent: false });
    return this.#listens.open(filter);
  }

  close(graces: Graces): Promise<CloseReport> {
    this.#departures.closedBy("local");
    const closed = this.#supervisor.close(graces);
    this.#letGo();
    return closed;
  }

  /** Ends the server and starts another. */
  async restart(graces: Graces): Promise<void> {
    if (!this.#settings.canRelaunch) {
      throw new TypeError("Cannot restart the server: this client has not started it");
    }
    const { life } = this.#supervisor;
    if (life.phase === "ready") this.#departures.noted({ reason: "local", words: "been restarted" });
    try {
      await this.#supervisor.restart(graces);
    } catch {
      throw this.closedError({ method: "restart", sent: false });
    }
  }

  kill(): Promise<CloseReport> {
    this.#departures.closedBy("killed");
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
    if (this.#sender.link !== link) this.#use(link);
    const peer = await this.#greeter.greet(link);
    if (!this.isOver) this.#sender.meet(peer);
  }

  hasEnded(link: Link): boolean {
    return this.#endedLinks.has(link);
  }

  get cause(): string {
    return this.#departures.words;
  }

  changed(life: Life): void {
    this.#sender.isReady = life.phase === "ready" && !this.#endedLinks.has(life.link);
    if (this.#sender.isReady) this.#welcome();
    else this.#health.stop();
    this.#onLife(life, this.#supervisor.restartCount);
  }

  /** Each call under way is kept for the next server, or fails (rules C7, P8). */
  lost(willRestart: boolean): void {
    this.#serverRequests.endAll();
    const era = this.era ?? "modern";
    for (const call of this.#table.underWay()) {
      // What has not begun to leave must not reach a server that still reads while it ends.
      call.outgoing?.withdraw();
      const { method, sent, retries, settings: { retry: policy } } = call;
      if (willRestart && mayRetry({ method, policy, era, sent, retries })) {
        if (sent && method !== "subscriptions/listen") call.retries++;
        this.#table.suspend(call);
      } else {
        this.#table.fail(call, this.closedError(call));
      }
    }
    if (willRestart) return this.#listens.lost();
    this.#failAll("lost");
  }

  over(cause: unknown): void {
    this.#departures.over(cause);
    this.#failAll(this.#departures.isWanted ? "local" : "lost");
    this.#table.clear();
    this.#serverRequests.endAll(); // A server that could not be greeted may have asked, too.
    flushLogger(this.#settings.logger);
  }

  // What the reader of a link and the router hand on.

  get era(): Era | undefined {
    return this.#greeter.isHandshaking ? "legacy" : this.peer?.era;
  }

  route(inbound: Inbound, link: Link): Promise<void> | undefined {
    // A server that is being ended, or was replaced, may still say something; nobody waits for it.
    if (this.#sender.link !== link || this.isOver) return undefined;
    if (!this.#listens.hasSpoken && inbound.kind === "message") this.#listens.spoke();
    return this.#router.route(inbound);
  }

  fellSilent(link: Link): void {
    // What is asked from now on waits for the next server.
    this.#endedLinks.add(link);
    if (this.#sender.link === link) this.#sender.isReady = false;
  }

  ended(link: Link, departure: Departure): void {
    if (this.#sender.link !== link) return;
    this.#departures.noted(departure);
    // While a server is greeted only the greeting is under way: it hears of the end, the rest waits.
    if (this.#supervisor.life.phase === "starting") this.lost(true);
    else this.#supervisor.lost(link);
  }

  unrouted({ method, params }: JSONRPCNotification): Promise<void> | undefined {
    if (this.era === "legacy") this.#listens.published(method, params);
    const notifications = this.#notifications;
    if (notifications === undefined) return undefined;
    if (this.#settings.inlineNotifications) return notifications.deliver(method, params);
    notifications.push(method, params);
    return undefined;
  }

  asked(request: JSONRPCRequest, idText: string | undefined): Promise<void> | undefined {
    return this.#serverRequests.answer(request, idText);
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
    const link = this.#sender.link!;
    const isOutdated = code === ErrorCode.unsupportedProtocolVersion && this.#greeter.trusts(link);
    if (!isOutdated) return this.#table.fail(call, new ProtocolError(code, message, data));
    this.#table.suspend(call);
    this.#greeter.forget();
    this.#supervisor.renew(link);
  }

  stray(text: string): void {
    const { onStrayOutput, logger } = this.#settings;
    callGuarded(
      () => onStrayOutput?.(text),
      (error) => logger.error("[mcp_router] onStrayOutput has failed", { error }),
    );
  }

  // What the health check asks for.

  get activity(): number {
    return this.#sender.link?.bytesRead ?? 0;
  }

  get isAsking(): boolean {
    return this.#serverRequests.isAsking;
  }

  async ask(timeoutMs: number): Promise<boolean> {
    const method = this.era === "legacy" ? "ping" : "server/discover";
    try {
      await this.#sender.requestPlainly(method, {}, timeoutMs);
      return true;
    } catch (error) {
      return !(error instanceof RequestTimeoutError);
    }
  }

  hangs(): void {
    const { life } = this.#supervisor;
    if (life.phase !== "ready") return;
    const words = `not answered for ${2 * this.#settings.healthCheckMs} ms`;
    this.#departures.noted({ reason: "unresponsive", words });
    this.#supervisor.lost(life.link);
  }

  framesOtherwise(): void {
    this.#greeter.giveUp();
  }

  /** Begins to read from a link and sends to it from now on. */
  #use(link: Link): Link {
    this.#sender.use(link);
    this.#departures.began(link);
    this.#router.began();
    this.#listens.began();
    new LinkReader(link, this, this.#settings.clock).run();
    return link;
  }

  /** A server is ready: what waited for it goes out, in call order. */
  #welcome(): void {
    const { logLevel } = this.#settings;
    if (this.era === "legacy" && logLevel !== undefined && this.peer?.capabilities.logging !== undefined) {
      this.#sender.requestPlainly("logging/setLevel", { level: logLevel }, this.#settings.timeoutMs);
    }
    for (const call of this.#table.waiting()) this.#sender.post(call);
    this.#listens.welcomed();
    this.#health.start();
  }

  // Failing.

  get isOver(): boolean {
    return this.#supervisor.isOver;
  }

  closedError(loss: Loss): ConnectionClosedError {
    return this.#departures.closedError(loss);
  }

  #failAll(end: "local" | "lost"): void {
    this.#listens.endAll(end, this.closedError({ method: "subscriptions/listen", sent: false }));
    for (const call of this.#table.all()) this.#table.lose(call, (lost) => this.closedError(lost));
    this.#sender.end();
  }
}
