import type { Fault, Inbound } from "../../connection.ts";
import {
  ConnectionClosedError,
  FrameError,
  InvalidResponseError,
  ProtocolError,
  StdioError,
} from "../../errors.ts";
import { describeId } from "../shown_text.ts";
import {
  ErrorCode,
  isRequest,
  type JSONRPCErrorObject,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResponse,
  type RequestId,
} from "../../messages.ts";
import type { ExitStatus } from "../../runtime.ts";
import { offAbort, onAbort } from "../abort.ts";
import { sendOut } from "../client/door.ts";
import { type Departure, describeDeparture, describeStderr } from "../client/exit_words.ts";
import { LinkReader, type LinkReaderPort } from "../client/link_reader.ts";
import { describePrinted, isForeignFraming, printedOn } from "../client/printed.ts";
import { isRefusalOfProbed } from "../era.ts";
import { whatIsWrong } from "../framing/message_rules.ts";
import { callGuarded } from "../thrown.ts";
import type { EndGraces, ProcessLink } from "../process/process_link.ts";
import { startServer, type StartSettings } from "../process/start_server.ts";
import { notificationsHandled, roomBehind } from "./posting.ts";
import { SentRequests } from "./sent_requests.ts";
import { ServerQuestions } from "./server_questions.ts";
import { whyRefused, withoutUnknown } from "./strict_message.ts";
import { closed, lineError, toError, unreadable } from "./transport_errors.ts";

/** What a {@linkcode ProcessWire} goes by; `logger` must not throw. */
export interface ProcessWireSettings {
  readonly start: StartSettings;
  readonly graces: EndGraces;
  /** Ends the process at once. */
  readonly signal: AbortSignal | undefined;
}

/** Who takes what a process says. Only `receive` may throw. */
export interface ProcessWirePort {
  receive(message: JSONRPCMessage): unknown;
  /** Told of what went wrong. */
  failed(error: Error): void;
  /** Nothing more will come; called once. */
  closed(): void;
}

type Life =
  | { readonly phase: "opening"; readonly opened: Promise<ProcessLink> }
  | { readonly phase: "running"; readonly link: ProcessLink }
  | { readonly phase: "ended"; readonly gone: Promise<void> };

/**
 * A server process of ours under one of the SDKs' clients: owned as all of them, and read so that no request waits for what cannot
 * come. The SDK keeps what it knows of the server, so a server that ends is not started again; but for one that cannot bear
 * the probe: it ends before it has answered anything, or refuses `initialize` because of it (rule E2).
 */
export class ProcessWire implements LinkReaderPort {
  readonly #settings: ProcessWireSettings;
  readonly #port: ProcessWirePort;
  readonly #sent = new SentRequests();
  readonly #questions: ServerQuestions;
  /** What the SDK has greeted the server with, by method. */
  readonly #greetings = new Map<string, JSONRPCMessage>();
  /** Which of it was said once more. */
  readonly #saidAgain = new Set<string>();
  #life: Life;
  #lastLink: ProcessLink | undefined;
  #hasAnswered = false;
  /** What the server has printed first among its messages, in words. */
  #firstPrinted: string | undefined;
  #wasRelaunched = false;
  /** Whether a notification was handed over since the last response. */
  #hasNotified = false;

  /** Starts the process. */
  constructor(settings: ProcessWireSettings, port: ProcessWirePort) {
    this.#settings = settings;
    this.#port = port;
    this.#questions = new ServerQuestions((answer) => this.#answerServer(answer));
    this.#life = this.#open(Promise.resolve());
    onAbort(settings.signal, this.#kill);
  }

  /** Resolves when the process runs. Rejects if it cannot be started, or was ended meanwhile. */
  async started(): Promise<void> {
    if (this.#life.phase === "opening") await this.#life.opened;
    if (this.#life.phase === "ended") throw closed();
  }

  get pid(): number | undefined {
    return this.#lastLink?.pid;
  }

  get exit(): ExitStatus | null {
    return this.#lastLink?.exit ?? null;
  }

  get stderrTail(): string {
    return this.#lastLink?.stderrTail ?? "";
  }

  /** Sends a message. Resolves once the pipe has room for more. */
  async send(message: JSONRPCMessage): Promise<void> {
    const wrong = whatIsWrong(message);
    if (wrong !== undefined) throw new TypeError(`Cannot send the message: ${wrong}`);
    if (this.#life.phase === "opening") await this.#life.opened.catch(() => {}); // The phase tells.
    if (this.#life.phase !== "running") throw closed();
    const { connection } = this.#life.link;
    if (!("method" in message)) return await this.#answerServer(message);
    const sent = sendOut(connection, message);
    if (sent instanceof StdioError) throw sent instanceof FrameError ? sent : closed(sent);
    this.#sent.note(message);
    if (message.method === "server/discover" || message.method === "initialize") {
      this.#greetings.set(message.method, message);
    }
    await roomBehind(connection, sent);
  }

  /** An answer that cannot be written is owed all the same: an error goes in its place. */
  async #answerServer(answer: JSONRPCResponse): Promise<void> {
    if (this.#life.phase !== "running") throw closed();
    const { connection } = this.#life.link;
    this.#sent.note(answer);
    let sent = sendOut(connection, answer);
    if (sent instanceof FrameError) {
      this.#settings.start.logger.error("[mcp_router] an answer could not be written", { error: sent });
      const error = { code: ErrorCode.internalError, message: "Internal error" };
      sent = sendOut(connection, { jsonrpc: "2.0", id: answer.id, error });
    }
    if (sent instanceof StdioError) throw sent instanceof FrameError ? sent : closed(sent);
    this.#questions.answered(answer.id, sent);
    await roomBehind(connection, sent);
  }

  /** Ends the process in order. Resolves when it is reaped. */
  close(): Promise<void> {
    return this.#finish(undefined, (link) => link.end(this.#settings.graces));
  }

  readonly #kill = (): void => {
    this.#finish(toError(this.#settings.signal?.reason), (link) => link.kill());
  };

  #open(before: Promise<unknown>): Life {
    const opened = before.then(() => startServer(this.#settings.start));
    opened.then((link) => this.#follow(link), (error) => this.#finish(toError(error)));
    return { phase: "opening", opened };
  }

  #follow(link: ProcessLink): void {
    this.#lastLink = link;
    if (this.#life.phase === "ended") return;
    this.#life = { phase: "running", link };
    this.#sent.forgetAsides();
    new LinkReader(link, this, this.#settings.start.clock).run();
  }

  /** The one end: what was asked of the SDK fails with its `onclose`, at once. */
  #finish(error: Error | undefined, end?: (link: ProcessLink) => Promise<unknown>): Promise<void> {
    const life = this.#life;
    if (life.phase === "ended") return life.gone;
    offAbort(this.#settings.signal, this.#kill);
    const link = life.phase === "running" ? Promise.resolve(life.link) : life.opened;
    const gone = end === undefined ? Promise.resolve() : link.then(end).then(() => {}, () => {}); // Not started: nothing to end.
    this.#life = { phase: "ended", gone };
    if (error !== undefined) this.#port.failed(error);
    this.#port.closed();
    return gone;
  }

  // Reading.

  route(inbound: Inbound, link: ProcessLink): Promise<void> | undefined {
    if (this.#life.phase !== "running" || this.#life.link !== link) return undefined;
    if (inbound.kind === "fault") return this.#fault(inbound);
    return this.#message(withoutUnknown(inbound.message));
  }

  fellSilent(): void {}

  ended(link: ProcessLink, departure: Departure): void {
    if (this.#life.phase !== "running" || this.#life.link !== link) return;
    const { graces } = this.#settings;
    if (this.#endedAtProbe) this.#relaunch(link.end(graces), () => this.#denyProbe());
    else this.#finish(endedByItself(link, departure, this.#firstPrinted), (link) => link.end(graces));
  }

  #message(message: JSONRPCMessage): Promise<void> | undefined {
    if (!("method" in message)) {
      if (!this.#hasNotified) return this.#answered(message);
      this.#hasNotified = false;
      return notificationsHandled().then(() => this.#answered(message));
    }
    const wrong = whyRefused(message);
    if (wrong !== undefined) this.#port.failed(new Error(`Cannot read "${message.method}": ${wrong}`));
    else if (!isRequest(message)) {
      this.#sent.hear(message);
      this.#questions.heard(message);
      this.#hasNotified = true;
      this.#hand(message);
    } else if (this.#questions.admit(message)) this.#hand(message);
    return this.#questions.room;
  }

  #answered(message: JSONRPCResponse): undefined {
    const id = message.id ?? this.#unnamed(message as JSONRPCErrorResponse);
    const method = id === undefined ? undefined : this.#sent.methodOf(id);
    if (method === "initialize" && "error" in message && this.#mayRelaunch(message.error)) {
      this.#greetAnew();
      return undefined;
    }
    const state = id === undefined ? "unknown" : this.#sent.settle(id);
    if (state === "open") {
      const wrong = whyRefused({ ...message, id: id! });
      this.#answer(id!, method!, wrong === undefined ? { ...message, id: id! } : wrong);
    } else if (message.id === undefined && "error" in message) {
      // It may be about anything; whoever watches for errors decides.
      const { code, message: text, data } = message.error;
      this.#port.failed(new ProtocolError(code, text, data));
    } else {
      const reason = state === "given" ? "its request was given up" : "nothing is in flight under its id";
      const facts = { id: describeId(message.id) };
      this.#settings.start.logger.warn(`[mcp_router] dropped a frame: ${reason}`, facts);
    }
  }

  /** The request that an error without an id means: one that could not be read, or a greeting, which is alone on the wire (rule C5). */
  #unnamed({ error: { code } }: JSONRPCErrorResponse): RequestId | undefined {
    const id = this.#sent.onlyCandidate;
    const isUnread = code === ErrorCode.parseError || code === ErrorCode.invalidRequest;
    return isUnread || (id !== undefined && this.#greetings.has(this.#sent.methodOf(id)!)) ? id : undefined;
  }

  /** A request whose answer cannot be read fails at once (rule C5); a greeting is said once more. */
  #fault(fault: Fault): Promise<void> | undefined {
    const { reason, detail, id, hasMethod, hasResult, batch } = fault;
    if (batch?.some(({ kind }) => kind === "message")) return this.#batch(batch);
    const printed = printedOn(fault);
    if (printed !== undefined) this.#firstPrinted ??= describePrinted(printed);
    const method = hasMethod || id === undefined ? undefined : this.#sent.methodOf(id);
    if (method !== undefined && reason !== "truncated" && this.#sayAgain(method)) return undefined;
    if (method !== undefined && this.#sent.settle(id!) === "open") {
      const why = printed === undefined ? detail : `${describePrinted(printed)} before it`;
      this.#answer(id!, method, why, { reason });
    } else if (id !== undefined || hasMethod || hasResult || printed === undefined) {
      this.#port.failed(lineError(fault));
    } else {
      const facts = { reason: detail };
      this.#settings.start.logger.warn(`[mcp_router] dropped a line: ${describePrinted(printed)}`, facts);
      if (isForeignFraming(fault)) this.#giveUp();
    }
    return undefined;
  }

  /** A server that frames its messages in a way of its own has not understood a word of the greeting. */
  #giveUp(): void {
    if (this.#hasAnswered) return;
    const state = "the server frames its messages with Content-Length headers, as language servers do";
    const error = new StdioError("invalid_message", `The connection is closed: ${state}`);
    this.#finish(error, (link) => link.end(this.#settings.graces));
  }

  async #batch(members: readonly Inbound[]): Promise<void> {
    for (const member of members) {
      if (member.kind === "message") await this.#message(withoutUnknown(member.message));
      else if (member.id !== undefined) this.#fault(member);
    }
  }

  #answer(id: RequestId, method: string, answer: JSONRPCMessage | string, data?: unknown): void {
    this.#hasAnswered = true;
    if (typeof answer === "string") this.#port.failed(new InvalidResponseError(method, answer));
    this.#hand(typeof answer === "string" ? unreadable(id, answer, data) : answer);
  }

  #hand(message: JSONRPCMessage): void {
    if (this.#life.phase !== "running") return;
    callGuarded(() => this.#port.receive(message), (error) => this.#port.failed(toError(error)));
  }

  // A legacy server may not bear to be asked `server/discover` (rule E2), and stray output may spoil its first answer.

  get #endedAtProbe(): boolean {
    const { ids } = this.#sent;
    return !this.#wasRelaunched && !this.#hasAnswered && ids.length > 0 &&
      ids.every((id) => this.#sent.methodOf(id) === "server/discover");
  }

  #mayRelaunch(error: JSONRPCErrorObject): boolean {
    return !this.#wasRelaunched && this.#greetings.has("server/discover") && isRefusalOfProbed(error);
  }

  /** Starts the server once more, so that `initialize` is the first that it hears. */
  #greetAnew(): void {
    if (this.#life.phase !== "running") return;
    const { link } = this.#life;
    this.#relaunch(link.end(this.#settings.graces), () => this.#repeat("initialize"));
  }

  #relaunch(ended: Promise<unknown>, greet: () => void): void {
    this.#wasRelaunched = true;
    const life = this.#open(ended);
    this.#life = life;
    if (life.phase === "opening") life.opened.then(greet, () => {}); // It is told already.
  }

  /** Lets the SDK believe that the server does not know the method: then comes `initialize`. */
  #denyProbe(): void {
    for (const id of this.#sent.ids) {
      this.#sent.settle(id);
      const message = "Method not found: the server has exited on server/discover";
      this.#hand({ jsonrpc: "2.0", id, error: { code: ErrorCode.methodNotFound, message } });
    }
  }

  /** Says a greeting once more whose answer was spoilt. Gives whether it does. */
  #sayAgain(method: string): boolean {
    if (this.#saidAgain.has(method) || !this.#repeat(method)) return false;
    this.#saidAgain.add(method);
    return true;
  }

  #repeat(method: string): boolean {
    const greeting = this.#greetings.get(method);
    if (greeting === undefined || this.#life.phase !== "running") return false;
    return !(sendOut(this.#life.link.connection, greeting) instanceof StdioError);
  }
}

function endedByItself(
  link: ProcessLink,
  departure: Departure,
  printed: string | undefined,
): ConnectionClosedError {
  const { exit, stderrTail } = link;
  const said = printed === undefined ? "" : ` (${printed})`;
  const state = `${describeDeparture(departure, exit)}${said}${describeStderr(stderrTail)}`;
  const facts = { reason: departure.reason, sent: true, exit, stderrTail };
  return new ConnectionClosedError(`The connection is closed: ${state}`, facts);
}
