import { RequestTimeoutError } from "../../errors.ts";
import type { JSONRPCMessage, Params, RequestId, Result } from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import { offAbort, onAbort } from "../abort.ts";
import { Asides } from "./asides.ts";
import type { Call } from "./call.ts";
import { Deadlines } from "./deadlines.ts";

/** As many ids of given-up requests are remembered, to tell a late answer from one to nothing. */
const REMEMBERED_IDS = 1_024;
/** A longer reason is not told to the server. */
const LONGEST_REASON_BYTES = 1_024;

/**
 * The calls under way. Whatever ends a call does so here, and takes its id, its deadlines and its listener with it
 * (rules C4, C9).
 */
export class CallTable {
  readonly #clock: Clock;
  readonly #calls = new Map<RequestId, Call>();
  /** Calls that wait for a connection. */
  readonly #waiting = new Set<Call>();
  /** Calls whose callers gather input for the next round. */
  readonly #paused = new Set<Call>();
  /** By `timeoutMs`: nothing came for so long. */
  readonly #idle: Deadlines<Call>;
  /** By `maxTimeoutMs`: the whole of it took so long. */
  readonly #total: Deadlines<Call>;
  /** Ids of calls that are over although something may still come; whether that is a surprise. */
  readonly #given = new Map<RequestId, boolean>();
  readonly #cancel: (id: RequestId, reason: string | undefined) => void;
  readonly #asides = new Asides();
  #lastId = 0;
  #lastSequence = 0;

  /** `cancel` tells the server that a call was given up. */
  constructor(clock: Clock, cancel: (id: RequestId, reason: string | undefined) => void) {
    this.#clock = clock;
    this.#idle = new Deadlines(clock, (call) => this.#expired(call, "idle"));
    this.#total = new Deadlines(clock, (call) => this.#expired(call, "total"));
    this.#cancel = cancel;
  }

  /** Begins a call: from now on its deadlines run and its signal counts. It goes out or waits next. */
  begin(call: Call): void {
    const { timeoutMs, maxTimeoutMs, resetTimeoutOnProgress, signal } = call.settings;
    call.sequence = ++this.#lastSequence;
    if (timeoutMs <= maxTimeoutMs) call.idle = this.#idle.start(call, timeoutMs);
    // Only what starts the idle time anew can make the whole longer than it is allowed to be.
    if (timeoutMs > maxTimeoutMs || resetTimeoutOnProgress) this.#startTotal(call, maxTimeoutMs);
    if (signal === undefined) return;
    call.onAbort = () => this.giveUp(call, signal.reason, reasonText(signal.reason), false);
    onAbort(signal, call.onAbort);
  }

  /** Keeps a call that cannot go out yet. */
  wait(call: Call): void {
    this.#waiting.add(call);
  }

  /** Puts a call under a new id, as it goes out; none is used twice in the life of a client (rule C1). */
  assign(call: Call): RequestId {
    if (this.#waiting.size > 0) this.#waiting.delete(call);
    const id = ++this.#lastId;
    call.id = id;
    call.hadFrame = false;
    this.#calls.set(id, call);
    return id;
  }

  /** The call under an id, of the same type and value. */
  get(id: RequestId | undefined): Call | undefined {
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** Takes note that a frame has named a call. */
  heard(call: Call): void {
    call.hadFrame = true;
    this.#asides.heard(call.id as number);
  }

  /** Takes note that something was written that is no request: some servers answer that, too, and without an id. */
  wroteAside(): void {
    this.#asides.wrote(this.#lastId);
  }

  /** What was written to the last server does not count for the next. */
  forgetAsides(): void {
    this.#asides.forget();
  }

  /** Whether an id belonged to a call that is over: `late` is what comes to it now, unless it was to be expected. */
  pastOf(id: RequestId): "late" | "expected" | undefined {
    const isSurprise = this.#given.get(id);
    return isSurprise === undefined ? undefined : isSurprise ? "late" : "expected";
  }

  /** Starts the idle time of a call anew, if it wants that (rule C4). */
  progressed(call: Call): void {
    const { timeoutMs, maxTimeoutMs, resetTimeoutOnProgress } = call.settings;
    if (!resetTimeoutOnProgress || timeoutMs > maxTimeoutMs) return;
    this.#idle.stop(call.idle);
    call.idle = this.#idle.start(call, timeoutMs);
  }

  /** Ends a call with its result. */
  succeed(call: Call, result: Result): void {
    this.#remove(call);
    call.succeed(result);
  }

  /** Ends a call with an error. */
  fail(call: Call, error: Error): void {
    this.#settle(call, error, true);
  }

  /** Ends a call with what the caller's own code threw. */
  failForeign(call: Call, thrown: unknown): void {
    this.#settle(call, thrown, false);
  }

  /** Ends a call with an error that came without its id. It may have another answer yet, and the server is not told. */
  failUnnamed(call: Call, error: Error): void {
    this.#remember(call.id!, true);
    this.fail(call, error);
  }

  /** Ends a call whose answer is of no use: the server may still be at it, and is told to stop. */
  refuse(call: Call, error: Error, reason: string): void {
    if (call.settled) return;
    const { id, outgoing } = call;
    this.fail(call, error);
    this.#callOff(call, id, outgoing, reason);
  }

  /** Ends a call that nobody waits for any more: the server is told, or the request withdrawn. */
  giveUp(call: Call, error: unknown, reason: string | undefined, isOurs: boolean): void {
    if (call.settled) return;
    const { id, outgoing } = call;
    this.#remove(call);
    call.abandon(error, isOurs);
    this.#callOff(call, id, outgoing, reason);
  }

  /**
   * Ends a call whose caller has refused to be shown something of it, as long as the caller does not know the outcome. Gives whether
   * it did.
   */
  spoil(call: Call, error: unknown): boolean {
    if (call.isOver) return false;
    if (call.settled) call.abandon(error, false);
    else this.giveUp(call, error, undefined, false);
    return true;
  }

  /** Ends a call without a server to answer it. What has not begun to leave does not leave any more. */
  lose(call: Call, toError: (call: Call) => Error): void {
    call.outgoing?.withdraw();
    this.fail(call, toError(call));
  }

  /** Takes a call out from under its id, to go out again later; its deadlines go on. */
  suspend(call: Call): void {
    if (call.id !== undefined) this.#calls.delete(call.id);
    call.id = undefined;
    call.outgoing = undefined;
    this.#waiting.add(call);
  }

  /** Takes a call out while its caller's own handlers gather input; meanwhile its time stands still. */
  pause(call: Call): void {
    const { timeoutMs, maxTimeoutMs } = call.settings;
    this.suspend(call);
    this.#waiting.delete(call);
    this.#paused.add(call);
    // As long as nothing starts the idle time anew, that is the time of the whole, too.
    const idleLeft = this.#idle.leftOf(call.idle);
    const left = call.totalMs === undefined
      ? idleLeft === undefined ? undefined : maxTimeoutMs - (timeoutMs - idleLeft)
      : this.#total.leftOf(call.total);
    this.#stopTime(call);
    call.totalMs = left;
  }

  /** Lets the idle time of a paused call begin anew, and the time of the whole go on. */
  resume(call: Call): void {
    const { timeoutMs, maxTimeoutMs } = call.settings;
    this.#paused.delete(call);
    if (timeoutMs <= maxTimeoutMs) call.idle = this.#idle.start(call, timeoutMs);
    if (call.totalMs !== undefined) this.#startTotal(call, call.totalMs);
  }

  /** Lets time stand still for all calls: any of them may be waiting for a person. */
  freeze(): void {
    this.#idle.freeze();
    this.#total.freeze();
  }

  /** Lets it go on. */
  thaw(): void {
    this.#idle.thaw();
    this.#total.thaw();
  }

  /** Drops a call that nobody asks for any more, without telling the server. */
  forget(call: Call): void {
    if (call.settled) return;
    const { id } = call;
    this.fail(call, new Error("the request is no longer of interest"));
    if (id !== undefined) this.#remember(id, false);
  }

  /** Remembers the id of a call whose server will still say something about it, although it is over. */
  expectMore(id: RequestId): void {
    this.#remember(id, false);
  }

  /** The calls that are under an id. */
  underWay(): Call[] {
    return [...this.#calls.values()];
  }

  /** The calls that wait for a connection, in call order. */
  waiting(): Call[] {
    return [...this.#waiting].sort((left, right) => left.sequence - right.sequence);
  }

  /** All calls that are not settled. */
  all(): Call[] {
    return [...this.#calls.values(), ...this.#waiting, ...this.#paused];
  }

  /**
   * The one call that an error without an id can mean: written, without a frame yet, and with nothing written since that could
   * be meant just as well (rule C5).
   */
  onlyCandidate(): Call | undefined {
    if (!this.#asides.areHeard) return undefined;
    const candidates = this.underWay().filter((call) => call.sent && !call.hadFrame);
    return candidates.length === 1 ? candidates[0] : undefined;
  }

  /** Stops all deadlines; for the end. */
  clear(): void {
    this.#idle.clear();
    this.#total.clear();
  }

  #startTotal(call: Call, durationMs: number): void {
    call.totalMs = durationMs;
    call.total = this.#total.start(call, durationMs);
  }

  #expired(call: Call, kind: "idle" | "total"): void {
    const { timeoutMs, maxTimeoutMs } = call.settings;
    const limitMs = kind === "idle" ? timeoutMs : maxTimeoutMs;
    this.giveUp(call, new RequestTimeoutError(call.method, limitMs, kind), "timeout", true);
  }

  #settle(call: Call, error: unknown, isOurs: boolean): void {
    if (call.settled) return;
    this.#remove(call);
    call.fail(error, isOurs);
  }

  #remove(call: Call): void {
    const { signal } = call.settings;
    if (call.id !== undefined) this.#calls.delete(call.id);
    else {
      this.#waiting.delete(call);
      this.#paused.delete(call);
    }
    this.#stopTime(call);
    if (call.onAbort !== undefined) offAbort(signal!, call.onAbort);
    call.onSettled?.();
  }

  #stopTime(call: Call): void {
    this.#idle.stop(call.idle);
    this.#total.stop(call.total);
  }

  /** Takes back a request that has not begun to leave, or else asks the server to stop (rule C4). */
  #callOff(
    { method, settings }: Call,
    id: RequestId | undefined,
    outgoing: Call["outgoing"],
    reason: string | undefined,
  ): void {
    if (id === undefined || outgoing === undefined || outgoing.withdraw()) return;
    this.#remember(id, true);
    if (method !== "initialize" && settings.isGreeting !== true) this.#cancel(id, reason);
  }

  #remember(id: RequestId, isSurprise: boolean): void {
    this.#given.set(id, isSurprise);
    if (this.#given.size <= REMEMBERED_IDS) return;
    for (const oldest of this.#given.keys()) {
      this.#given.delete(oldest);
      return;
    }
  }
}

/** The message that asks a server to stop. */
export function cancellation(requestId: RequestId, reason: string | undefined): JSONRPCMessage {
  const params: Params = reason === undefined ? { requestId } : { requestId, reason };
  return { jsonrpc: "2.0", method: "notifications/cancelled", params };
}

/** What the server is told of an abort: a short text. What else a caller gives is none of its business, least of all an error. */
function reasonText(reason: unknown): string | undefined {
  if (typeof reason !== "string" || reason.length > LONGEST_REASON_BYTES) return undefined;
  return new TextEncoder().encode(reason).length > LONGEST_REASON_BYTES ? undefined : reason;
}
