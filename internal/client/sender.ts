import type { Outgoing } from "../../connection.ts";
import { ConnectionClosedError } from "../../errors.ts";
import type { JSONRPCMessage, Params, Result } from "../../messages.ts";
import { createDeferred, type Deferred } from "../deferred.ts";
import { Call } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import type { Loss } from "./exit_words.ts";
import type { Link } from "./link.ts";
import type { Peer } from "./negotiate.ts";
import { modernMeta, paramsOnWire } from "./request_meta.ts";
import type { ClientSettings } from "./settings.ts";

/** What the sender needs of the client. */
export interface SenderPort {
  /** Whether no server will be started any more. */
  readonly isOver: boolean;
  closedError(loss: Loss): ConnectionClosedError;
}

/** Whatever a client writes goes out here, over the link in use. */
export class Sender {
  readonly #table: CallTable;
  readonly #settings: ClientSettings;
  readonly #port: SenderPort;
  /** Notifications that no pipe has taken yet. */
  readonly #notices = new Set<{ readonly outgoing: Outgoing; readonly lost: Deferred<never> }>();
  #peer: Peer | undefined;
  /** The `_meta` of every request to a modern server. */
  #meta: Params = {};
  /** The link that messages go to. */
  link: Link | undefined;
  /** Whether calls can go out at once. */
  isReady = false;

  constructor(table: CallTable, settings: ClientSettings, port: SenderPort) {
    this.#table = table;
    this.#settings = settings;
    this.#port = port;
  }

  /** What the server is; undefined before the first has answered. */
  get peer(): Peer | undefined {
    return this.#peer;
  }

  /** The server has been greeted. */
  meet(peer: Peer): void {
    this.#peer = peer;
    this.#meta = peer.era === "legacy" ? {} : modernMeta(this.#settings, peer.protocolVersion);
  }

  /** Makes a request (rules C1, C4). */
  request(call: Call): Promise<Result> {
    const { signal } = call.settings;
    if (signal?.aborted) call.fail(signal.reason);
    else if (this.#port.isOver) call.fail(this.#port.closedError(call));
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
    const id = this.#table.assign(call);
    try {
      const params = paramsOnWire(call, id, this.#peer?.era, this.#meta);
      const message = params === undefined
        ? { jsonrpc: "2.0" as const, id, method: call.method }
        : { jsonrpc: "2.0" as const, id, method: call.method, params };
      call.outgoing = this.link!.connection.send(message);
    } catch (error) {
      // The connection has just ended: a call waits until it is clear whether another one follows, a greeting does not.
      if (error instanceof ConnectionClosedError && !call.settings.isGreeting) this.#table.suspend(call);
      else this.#table.fail(call, error);
    }
  }

  /** Sends what is no request; undefined when there is nobody to send to. */
  send(message: JSONRPCMessage): Outgoing | undefined {
    if (this.link === undefined || this.#port.isOver) return undefined;
    try {
      return this.link.connection.send(message);
    } catch (error) {
      if (!(error instanceof ConnectionClosedError)) throw error;
      return undefined;
    }
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
    const outgoing = this.isReady ? this.send(message) : undefined;
    if (outgoing === undefined) throw this.#port.closedError({ method, sent: false });
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
