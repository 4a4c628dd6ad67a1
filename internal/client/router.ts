import type { Fault, Inbound } from "../../connection.ts";
import { InvalidResponseError, ProtocolError } from "../../errors.ts";
import { describeId } from "../shown_text.ts";
import type { Logger } from "../../logger.ts";
import {
  type Era,
  ErrorCode,
  isJSONObject,
  isRequest,
  isRequestId,
  type JSONRPCErrorObject,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  MetaKey,
  type ProgressToken,
  type RequestId,
  type Result,
} from "../../messages.ts";
import type { Call } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import { describePrinted, isForeignFraming, printedOn } from "./printed.ts";

/** Where the router sends what it cannot settle itself. */
export interface RouterPort {
  readonly era: Era | undefined;
  /** A notification that names neither a progress token nor a subscription. May ask the reader to wait. */
  unrouted(notification: JSONRPCNotification): Promise<void> | undefined;
  /** A request of the server, in the legacy era; `idText` is its id if a number cannot hold it. May ask the reader to wait. */
  asked(request: JSONRPCRequest, idText: string | undefined): Promise<void> | undefined;
  /** The server gave up a request of its own, in the legacy era. */
  askedNoMore(id: RequestId): void;
  /** A call got its result; it may want another round. */
  answered(call: Call, result: Result): void;
  /** A call got an error. */
  refused(call: Call, error: JSONRPCErrorObject): void;
  /** Text on the server's stdout that is no message, or stands before one. */
  stray(text: string): void;
  /** The server frames its messages as language servers do, and cannot read ours. */
  framesOtherwise(): void;
}

/**
 * Brings what a server sends to those it is for, strictly in wire order (rules C2, C3, C5, C6). It decides by id, progress
 * token and subscription id, never by what is inside.
 */
export class Router {
  readonly #table: CallTable;
  readonly #port: RouterPort;
  readonly #logger: Logger;
  #firstPrinted: string | undefined;

  constructor(table: CallTable, port: RouterPort, logger: Logger) {
    this.#table = table;
    this.#port = port;
    this.#logger = logger;
  }

  /** What the server in use has printed first among its messages, in words. */
  get firstPrinted(): string | undefined {
    return this.#firstPrinted;
  }

  /** Another server was started. */
  began(): void {
    this.#firstPrinted = undefined;
  }

  /** Routes one frame. Gives a promise if the reader has to wait before the next. */
  route(inbound: Inbound): Promise<void> | undefined {
    return inbound.kind === "fault" ? this.#fault(inbound) : this.#message(inbound.message, inbound.idText);
  }

  #message(message: JSONRPCMessage, idText?: string): Promise<void> | undefined {
    if (!("method" in message)) this.#response(message);
    else if (isRequest(message)) return this.#request(message, idText);
    else return this.#notification(message);
    return undefined;
  }

  #response(response: JSONRPCResponse): void {
    const id = response.id ?? undefined;
    if (id === undefined) return this.#unnamedError(response as JSONRPCErrorResponse);
    const call = this.#table.get(id);
    if (call === undefined) {
      const past = this.#table.pastOf(id);
      if (past === "expected") return;
      const reason = past === "late"
        ? "a late answer to a request that is over"
        : "nothing is in flight under its id";
      return this.#drop(reason, id, "error" in response ? response.error.code : undefined);
    }
    this.#table.heard(call);
    if ("error" in response) this.#port.refused(call, response.error);
    else this.#port.answered(call, response.result);
  }

  /**
   * An error without an id counts only where it can mean just one request, and says that a request could not be read (rule C5).
   * A greeting is alone on the wire: there any error counts.
   */
  #unnamedError({ error }: JSONRPCErrorResponse): void {
    const { code, message, data } = error;
    const only = this.#table.onlyCandidate();
    const isUnread = code === ErrorCode.parseError || code === ErrorCode.invalidRequest;
    const call = isUnread || only?.settings.isGreeting ? only : undefined;
    this.#drop("an error response without an id", call?.id, code);
    if (call === undefined) return;
    const cause = new ProtocolError(code, message, data);
    const reason = `the server sent an error without an id (${code})`;
    this.#table.failUnnamed(call, new InvalidResponseError(call.method, reason, { cause }));
  }

  #request(request: JSONRPCRequest, idText: string | undefined): Promise<void> | undefined {
    if (this.#port.era === "legacy") return this.#port.asked(request, idText);
    this.#drop("a request of the server", request.id);
    return undefined;
  }

  #notification(notification: JSONRPCNotification): Promise<void> | undefined {
    const { method, params } = notification;
    if (method === "notifications/cancelled") {
      this.#cancelled(params?.requestId, params?.reason);
      return undefined;
    }
    const meta = isJSONObject(params?._meta) ? params._meta : {};
    const subscriptionId = meta[MetaKey.subscriptionId];
    if (subscriptionId !== undefined) {
      return this.#toCall(subscriptionId, (call) => call.method === "subscriptions/listen", notification);
    }
    const token = params?.progressToken ?? meta.progressToken;
    if (token === undefined) return this.#port.unrouted(notification);
    if (method === "notifications/progress" && !Number.isFinite(params?.progress)) {
      this.#drop("progress that is no number", isRequestId(token) ? token : undefined);
      return undefined;
    }
    return this.#toCall(token, (call) => call.owns(token as ProgressToken), notification);
  }

  /** The token of a call and the id of its subscription are its id. */
  #toCall(
    id: unknown,
    isMeant: (call: Call) => boolean,
    notification: JSONRPCNotification,
  ): Promise<void> | undefined {
    const call = isRequestId(id) ? this.#table.get(id) : undefined;
    if (call === undefined || !isMeant(call)) {
      const past = isRequestId(id) ? this.#table.pastOf(id) : undefined;
      if (past === "expected") return undefined;
      const reason = past === "late"
        ? "a late notification of a request that is over"
        : "a notification that names no request in flight";
      this.#drop(reason, isRequestId(id) ? id : undefined);
      return undefined;
    }
    this.#table.heard(call);
    this.#table.progressed(call);
    // A log message of a request whose caller takes none is the client's like others.
    if (!call.takes(notification.method)) return this.#port.unrouted(notification);
    call.deliver(notification, this.#refused);
    return undefined;
  }

  /** A caller that refuses to be shown something has its request failed with what it threw (S1-69). */
  readonly #refused = (call: Call, error: unknown): void => {
    if (this.#table.spoil(call, error)) return;
    this.#logger.error(`[mcp_router] a callback of "${call.method}" has failed after its answer`, { error });
  };

  #cancelled(requestId: unknown, reason: unknown): void {
    const id = isRequestId(requestId) ? requestId : undefined;
    const text = typeof reason === "string"
      ? reason.slice(0, 128).replaceAll(/[\p{C}\s]+/gu, " ")
      : undefined;
    this.#logger.debug("[mcp_cancel] the server cancelled", { id: describeId(id), reason: text });
    if (id === undefined) return;
    const call = this.#table.get(id);
    // A server ends its streams with their result; one that only cancels them has ended them too.
    if (call?.method === "subscriptions/listen") {
      this.#table.expectMore(id);
      this.#port.answered(call, {});
    } else if (this.#port.era === "legacy") this.#port.askedNoMore(id);
  }

  /** A frame that cannot be read fails its request at once (rule C5); what belongs to none is told (rule C6). */
  #fault(fault: Fault): Promise<void> | undefined {
    const { detail, reason, id, hasMethod, hasResult, batch } = fault;
    if (batch?.some(({ kind }) => kind === "message") && this.#port.era === "legacy") {
      return this.#batch(batch);
    }
    const printed = printedOn(fault);
    if (printed !== undefined) this.#printed(printed, fault);
    const call = hasMethod ? undefined : this.#table.get(id);
    const isStray = call === undefined && !hasMethod && !hasResult && printed !== undefined;
    const why = printed === undefined || isStray ? detail : `${describePrinted(printed)} before it`;
    if (isStray) {
      this.#logger.warn(`[mcp_router] dropped a line: ${describePrinted(printed)}`, { reason: detail });
    } else this.#drop(why, id);
    // The last line of a server that ended in the middle of it is no bad answer but none: its request is lost like the others.
    if (call !== undefined && reason !== "truncated") {
      this.#table.refuse(call, new InvalidResponseError(call.method, why), detail);
    }
    return undefined;
  }

  #printed(text: string, fault: Fault): void {
    this.#firstPrinted ??= describePrinted(text);
    this.#port.stray(text);
    if (isForeignFraming(fault)) this.#port.framesOtherwise();
  }

  /** Revision 2025-03-26 allows several messages on a line. */
  async #batch(members: readonly Inbound[]): Promise<void> {
    let strange = 0;
    for (const member of members) {
      if (member.kind === "message") await this.#message(member.message, member.idText);
      else if (member.id !== undefined) this.#fault(member);
      else strange++;
    }
    if (strange > 0) this.#drop(`${strange} members of a batch are no messages`, undefined);
  }

  /** Nothing of the frame's content is logged but the code of an error (rule C6). */
  #drop(reason: string, id: RequestId | undefined, code?: number): void {
    const facts = code === undefined ? { id: describeId(id) } : { id: describeId(id), code };
    this.#logger.warn(`[mcp_router] dropped a frame: ${reason}`, facts);
  }
}
