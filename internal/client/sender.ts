import type { Outgoing } from "../../connection.ts";
import { type ConnectionClosedError, FrameError, StdioError } from "../../errors.ts";
import type { JSONRPCMessage, JSONRPCRequest, Params, RequestId, Result } from "../../messages.ts";
import { createDeferred, type Deferred } from "../promises.ts";
import { Ending, takesEndings } from "../framing/message_encoder.ts";
import { Call } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import { sendOut, unwritable } from "./door.ts";
import type { Loss } from "./exit_words.ts";
import type { Link } from "./link.ts";
import type { Peer } from "./negotiate.ts";
import { modernMeta, needsNoMore, paramsOnWire } from "./request_meta.ts";
import type { ClientSettings } from "./settings.ts";

/** What the sender needs of the client. */
export interface SenderPort {
  /** Whether no server will be started any more. */
  readonly isOver: boolean;
  closedError(loss: Loss): ConnectionClosedError;
}

/** Whatever a client writes goes out here, over the link in use and through the one door: what cannot be written throws at nobody. */
export class Sender {
  readonly #table: CallTable;
  readonly #settings: ClientSettings;
  readonly #port: SenderPort;
  /** Notifications that no pipe has taken yet. */
  readonly #notices = new Set<{ readonly outgoing: Outgoing; readonly lost: Deferred<never> }>();
  #peer: Peer | undefined;
  /** The `_meta` of every request to a modern server. */
  #meta: Params = {};
  /** The same as text, if the connection takes that. */
  #ending: Ending | undefined;
  #link: Link | undefined;
  /** Whether calls can go out at once. */
  isReady = false;

  constructor(table: CallTable, settings: ClientSettings, port: SenderPort) {
    this.#table = table;
    this.#settings = settings;
    this.#port = port;
  }

  /** The link that messages go to. */
  get link(): Link | undefined {
    return this.#link;
  }

  /** From now on messages go to this server. */
  use(link: Link): void {
    this.#link = link;
    this.#table.forgetAsides();
  }

  /** What the server is; undefined before the first has answered. */
  get peer(): Peer | undefined {
    return this.#peer;
  }

  /** The server has been greeted. */
  meet(peer: Peer): void {
    this.#peer = peer;
    this.#meta = peer.era === "legacy" ? {} : modernMeta(this.#settings, peer.protocolVersion);
    this.#ending = peer.era === "legacy" ? undefined : Ending.of({ _meta: this.#meta });
  }

  /** Makes a request (rules C1, C4). */
  request(call: Call): Promise<Result> {
    const { signal } = call.settings;
    if (signal?.aborted) call.fail(signal.reason, false);
    else if (this.#port.isOver) call.fail(this.#port.closedError(call), true);
    else {
      this.#table.begin(call);
      this.postOrWait(call);
    }
    return call.promise;
  }

  /** Makes a request of the client's own. */
  requestPlainly(method: string, params: Params, timeoutMs: number): Promise<Result> {
    const { maxTimeoutMs } = this.#settings;
    const settings = {
      timeoutMs,
      maxTimeoutMs,
      resetTimeoutOnProgress: false,
      retry: "auto",
      inlineNotifications: false,
    } as const;
    return this.request(new Call(method, params, settings));
  }

  /** Gives whether the call could go out at once; if not, it waits for a server. */
  postOrWait(call: Call): boolean {
    if (this.isReady) this.post(call);
    else this.#table.wait(call);
    return this.isReady;
  }

  /** Sends a call under a new id. */
  post(call: Call): void {
    const sent = this.#postUnder(this.#table.assign(call), call);
    if (!(sent instanceof StdioError)) {
      call.outgoing = sent;
      // A value in it may have done anything as it was read.
      if (call.settled) sent.withdraw();
    } else if (sent instanceof FrameError || call.settings.isGreeting) this.#table.fail(call, sent);
    // The connection has just ended: the call waits until it is clear whether another one follows.
    else this.#table.suspend(call);
  }

  /** Tells the server something that nobody waits for. What cannot be written is a log line. Undefined if it does not leave. */
  tell(message: JSONRPCMessage): Outgoing | undefined {
    const sent = this.#sendAside(message);
    if (!(sent instanceof StdioError)) return sent;
    if (sent instanceof FrameError) {
      const what = "method" in message ? `"${message.method}"` : "an answer";
      this.#settings.logger.error(`[mcp_router] ${what} could not be written`, { error: sent });
    }
    return undefined;
  }

  #postUnder(id: RequestId, call: Call): Outgoing | StdioError {
    const { connection } = this.#link!;
    const { method } = call;
    let message: JSONRPCRequest;
    let ending: Ending | undefined;
    try {
      if (this.#ending !== undefined && needsNoMore(call) && takesEndings(connection)) {
        ending = this.#ending;
        message = { jsonrpc: "2.0", id, method, params: call.params };
      } else message = this.#wholeMessage(id, call);
    } catch (error) {
      return unwritable(error);
    }
    return sendOut(connection, message, ending);
  }

  #wholeMessage(id: RequestId, call: Call): JSONRPCRequest {
    const { method } = call;
    const params = paramsOnWire(call, id, this.#peer?.era, this.#meta);
    return params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
  }

  #sendAside(message: JSONRPCMessage): Outgoing | StdioError | undefined {
    if (this.#link === undefined || this.#port.isOver) return undefined;
    this.#table.wroteAside();
    return sendOut(this.#link.connection, message);
  }

  /** Sends a notification. Settles when the server's pipe has taken it or never will (rule C8). */
  notify(method: string, params: Params | undefined): Promise<void> {
    const told = this.#tell(method, params);
    told.catch(() => {}); // As with requests: whoever told it may not care (rule C9).
    return told;
  }

  /** Nobody is left to send to: what no pipe has taken never leaves. */
  end(): void {
    for (const { outgoing, lost } of this.#notices) {
      outgoing.withdraw();
      lost.reject(undefined);
    }
  }

  async #tell(method: string, params: Params | undefined): Promise<void> {
    const message = { jsonrpc: "2.0" as const, method, ...(params === undefined ? {} : { params }) };
    const outgoing = this.isReady ? this.#sendAside(message) : undefined;
    if (outgoing instanceof FrameError) throw outgoing;
    if (outgoing === undefined || outgoing instanceof StdioError) {
      throw this.#port.closedError({ method, sent: false });
    }
    const notice = { outgoing, lost: createDeferred<never>() };
    this.#notices.add(notice);
    try {
      await Promise.race([outgoing.accepted, notice.lost.promise]);
    } catch {
      throw this.#port.closedError({ method, sent: outgoing.begun });
    } finally {
      this.#notices.delete(notice);
    }
  }
}
