import type { Fault, Inbound } from "../../connection.ts";
import {
  ConnectionClosedError,
  describeId,
  FrameError,
  InvalidResponseError,
  ProtocolError,
} from "../../errors.ts";
import {
  ErrorCode,
  isRequest,
  type JSONRPCMessage,
  type JSONRPCResponse,
  type RequestId,
} from "../../messages.ts";
import type { ExitStatus } from "../../runtime.ts";
import { describeEnd, describeStderr } from "../client/exit_words.ts";
import { LinkReader, type LinkReaderPort } from "../client/link_reader.ts";
import type { EndGraces, ProcessLink } from "../process/process_link.ts";
import { isThenable } from "../thenable.ts";
import { startServer, type StartSettings } from "../process/start_server.ts";
import { enqueue, notificationsHandled, roomBehind } from "./posting.ts";
import { SentRequests } from "./sent_requests.ts";
import { whyRefused, withoutUnknown } from "./strict_message.ts";
import { closed, lineError, toError, unreadable } from "./transport_errors.ts";

/** What a {@linkcode ProcessWire} goes by; `logger` must not throw. */
export interface ProcessWireSettings {
  readonly start: StartSettings;
  readonly graces: EndGraces;
  /** Ends the process at once. */
  readonly signal: AbortSignal | undefined;
}

/** Who takes what a process says. None of these may throw but `receive`. */
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
 * come. The SDK keeps what it knows of the server, so a server that ends is not started again; but for one that ends at
 * the probe, before it has answered anything.
 */
export class ProcessWire implements LinkReaderPort {
  readonly #settings: ProcessWireSettings;
  readonly #port: ProcessWirePort;
  readonly #sent = new SentRequests();
  #life: Life;
  #lastLink: ProcessLink | undefined;
  #hasAnswered = false;
  #wasRelaunched = false;
  /** Whether a notification was handed over since the last response. */
  #hasNotified = false;

  /** Starts the process. */
  constructor(settings: ProcessWireSettings, port: ProcessWirePort) {
    this.#settings = settings;
    this.#port = port;
    this.#life = this.#open(Promise.resolve());
    settings.signal?.addEventListener("abort", this.#kill);
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
    if (this.#life.phase === "opening") await this.#life.opened.catch(() => {}); // The phase tells.
    if (this.#life.phase !== "running") throw closed();
    const { connection } = this.#life.link;
    this.#sent.note(message);
    try {
      await roomBehind(connection, enqueue(connection, message));
    } catch (error) {
      if (error instanceof FrameError && isRequest(message)) this.#sent.settle(message.id);
      throw error;
    }
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
    new LinkReader(link, this, this.#settings.start.clock).run();
  }

  /** The one end: what was asked of the SDK fails with its `onclose`, at once. */
  #finish(error: Error | undefined, end?: (link: ProcessLink) => Promise<unknown>): Promise<void> {
    const life = this.#life;
    if (life.phase === "ended") return life.gone;
    this.#settings.signal?.removeEventListener("abort", this.#kill);
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

  ended(link: ProcessLink): void {
    if (this.#life.phase !== "running" || this.#life.link !== link) return;
    const { graces } = this.#settings;
    if (this.#endedAtProbe) this.#relaunch(link.end(graces));
    else this.#finish(endedByItself(link), (link) => link.end(graces));
  }

  #message(message: JSONRPCMessage): Promise<void> | undefined {
    if (!("method" in message)) {
      if (!this.#hasNotified) return this.#answered(message);
      this.#hasNotified = false;
      return notificationsHandled().then(() => this.#answered(message));
    }
    const wrong = whyRefused(message);
    if (wrong !== undefined) this.#port.failed(new Error(`Cannot read "${message.method}": ${wrong}`));
    else {
      if (!isRequest(message)) {
        this.#sent.hear(message);
        this.#hasNotified = true;
      }
      this.#hand(message);
    }
    return undefined;
  }

  #answered(message: JSONRPCResponse): undefined {
    const { logger } = this.#settings.start;
    const id = message.id ?? this.#sent.onlyUnheard;
    const method = id === undefined ? undefined : this.#sent.methodOf(id);
    const state = id === undefined ? "unknown" : this.#sent.settle(id);
    if (state === "open") {
      const wrong = whyRefused({ ...message, id: id! });
      this.#answer(id!, method!, wrong === undefined ? { ...message, id: id! } : wrong);
    } else if (message.id === undefined && "error" in message) {
      // It may be about anything; whoever watches for errors decides.
      const { code, message: text, data } = message.error;
      this.#port.failed(new ProtocolError(code, text, data));
    } else if (state === "unknown") {
      logger.warn("[mcp_router] dropped a response: nothing was asked", { id: describeId(message.id) });
    }
  }

  /** A request whose answer cannot be read fails at once (rule C5). */
  #fault(fault: Fault): Promise<void> | undefined {
    const { reason, detail, id, hasMethod, hasResult, batch, preview } = fault;
    if (batch?.some(({ kind }) => kind === "message")) return this.#batch(batch);
    const method = hasMethod || id === undefined ? undefined : this.#sent.methodOf(id);
    if (method !== undefined && this.#sent.settle(id!) === "open") {
      this.#answer(id!, method, detail, { reason });
    } else if (id !== undefined || hasMethod || hasResult) this.#port.failed(lineError(fault));
    else {
      const what = "[mcp_router] dropped a line: the server writes to stdout what is no message";
      this.#settings.start.logger.warn(what, { reason, length: preview.length });
    }
    return undefined;
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
    const fail = (error: unknown) => this.#port.failed(toError(error));
    try {
      const outcome = this.#port.receive(message);
      if (isThenable(outcome)) Promise.resolve(outcome).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  // A legacy server may end because it was asked `server/discover` (rule E2).

  get #endedAtProbe(): boolean {
    const { ids } = this.#sent;
    return !this.#wasRelaunched && !this.#hasAnswered && ids.length > 0 &&
      ids.every((id) => this.#sent.methodOf(id) === "server/discover");
  }

  /** Starts it once more and lets the SDK believe that it does not know the method: then comes `initialize`. */
  #relaunch(ended: Promise<unknown>): void {
    this.#wasRelaunched = true;
    const life = this.#open(ended);
    this.#life = life;
    if (life.phase !== "opening") return;
    life.opened.then(() => {
      for (const id of this.#sent.ids) {
        this.#sent.settle(id);
        const message = "Method not found: the server has exited on server/discover";
        this.#hand({ jsonrpc: "2.0", id, error: { code: ErrorCode.methodNotFound, message } });
      }
    }, () => {}); // It is told already.
  }
}

function endedByItself(link: ProcessLink): ConnectionClosedError {
  const { exit, stderrTail } = link;
  const [reason, words] = describeEnd(link);
  const message = `The connection is closed: the server has ${words}${describeStderr(stderrTail)}`;
  return new ConnectionClosedError(message, { reason, sent: true, exit, stderrTail });
}
