import type { Outgoing } from "../../connection.ts";
import type {
  JSONRPCNotification,
  LoggingLevel,
  Params,
  ProgressToken,
  RequestId,
  Result,
} from "../../messages.ts";
import { callGuarded } from "../thrown.ts";
import { rejectPlaced } from "./caller_line.ts";
import type { Deadline } from "./deadlines.ts";
import type { RetryPolicy } from "./retry.ts";

/** A progress report. */
export interface Progress {
  /** How far it is; rises with each notification. */
  readonly progress: number;
  /** How far it will be in the end, if known. */
  readonly total?: number | undefined;
  /** For people. */
  readonly message?: string | undefined;
}

/** How a request is to be made; nothing is left to default but what may be absent. */
export interface CallSettings {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly resetTimeoutOnProgress: boolean;
  readonly retry: RetryPolicy;
  readonly inlineNotifications: boolean;
  /** Part of a greeting: never made again and never cancelled on the wire (rule C4). */
  readonly isGreeting?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly logLevel?: LoggingLevel | undefined;
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
  readonly onLog?: ((level: LoggingLevel, data: unknown, logger?: string) => unknown) | undefined;
  readonly onNotification?: ((method: string, params: Params | undefined) => unknown) | undefined;
}

/**
 * One request as its caller sees it, from the call to the answer. It may go out more than once, each time with a new id.
 * The client's table is the one place that settles it.
 */
export class Call {
  readonly method: string;
  /** Of the round that goes out next. */
  params: Params;
  readonly settings: CallSettings;
  readonly promise: Promise<Result>;
  #resolve!: (result: Result | Promise<never>) => void;
  #reject!: (error: unknown) => void;
  /** What waits for the call's own turn, in wire order: notifications, and in the end the settling; undefined when nothing does. */
  #turn: Array<() => void> | undefined;
  #settled = false;

  /** The id under which it is on its way, once it is. */
  id: RequestId | undefined;
  outgoing: Outgoing | undefined;
  /** Its place among all calls, in the order they were made. */
  sequence = 0;
  /** Whether any frame of the server has named it since it was last written. */
  hadFrame = false;
  retries = 0;
  /** Rounds of input that the server asked for. */
  inputRounds = 0;
  /** The duration of the deadline for the whole of it, once that has begun; what is left of it while the call is paused. */
  totalMs: number | undefined;
  /** The deadlines that its table has started for it. */
  idle: Deadline<Call> | undefined;
  total: Deadline<Call> | undefined;
  onAbort: (() => void) | undefined;
  /** Called when its outcome stands. */
  onSettled: (() => void) | undefined;

  constructor(method: string, params: Params, settings: CallSettings) {
    this.method = method;
    this.params = params;
    this.settings = settings;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether its outcome stands. */
  get settled(): boolean {
    return this.#settled;
  }

  /** Whether the caller knows the outcome: what it was shown before it has had its turn. */
  get isOver(): boolean {
    return this.#settled && this.#turn === undefined;
  }

  /** Whether the request goes out with a progress token, by which notifications name it; the token is the id. */
  get hasToken(): boolean {
    const { onProgress, onLog, onNotification, resetTimeoutOnProgress } = this.settings;
    const hears = onProgress ?? onLog ?? onNotification;
    // What a listen stream is told names the subscription.
    return (hears !== undefined && this.method !== "subscriptions/listen") || resetTimeoutOnProgress;
  }

  /** Whether a token is this call's own. */
  owns(token: ProgressToken): boolean {
    return this.hasToken && this.id === token;
  }

  /** Whether a callback takes a notification of this kind. */
  takes(method: string): boolean {
    const { onLog, onNotification } = this.settings;
    return method !== "notifications/message" || onLog !== undefined || onNotification !== undefined;
  }

  /** Whether it has begun to leave since it was last made. */
  get sent(): boolean {
    return this.outgoing?.begun ?? false;
  }

  /**
   * Lets a callback see a notification: at once, or in order on the call's own turn (rule C3). `onRefusal` is told of one that throws
   * or gives a promise that rejects.
   */
  deliver(notification: JSONRPCNotification, onRefusal: (call: Call, error: unknown) => void): void {
    const show = () => {
      callGuarded(() => this.#notify(notification), (error) => onRefusal(this, error));
    };
    if (this.settings.inlineNotifications) show();
    else this.#inTurn(show);
  }

  /** Hands a notification to the callback that takes its kind. */
  #notify({ method, params }: JSONRPCNotification): unknown {
    const { onProgress, onLog, onNotification } = this.settings;
    if (method === "notifications/progress") return onProgress?.(params as unknown as Progress);
    if (method === "notifications/message" && onLog !== undefined) {
      return onLog(params?.level as LoggingLevel, params?.data, params?.logger as string | undefined);
    }
    return onNotification?.(method, params);
  }

  /** Settles it, behind the notifications that wait for their turn: one that is refused yet is what the caller gets. */
  succeed(result: Result): void {
    this.#settled = true;
    if (this.#turn === undefined) this.#resolve(result);
    else this.#turn.push(() => this.#resolve(result));
  }

  /** Settles it, with the same order. An error of ours gets the caller's line; what others threw is left as it is. */
  fail(error: unknown, isOurs: boolean): void {
    this.#settled = true;
    const reject = () => this.#rejectWith(error, isOurs);
    if (this.#turn === undefined) reject();
    else this.#turn.push(reject);
  }

  #rejectWith(error: unknown, isOurs: boolean): void {
    const settle = { resolve: this.#resolve, reject: this.#reject };
    if (isOurs) return rejectPlaced(error as Error, this.promise, settle);
    // Whoever asked may have stopped caring, and that must not end the process (rule C9).
    this.promise.catch(() => {});
    this.#reject(error);
  }

  /** Settles it for a caller who has had enough, and is shown nothing more. */
  abandon(error: unknown, isOurs: boolean): void {
    this.#turn = undefined;
    this.fail(error, isOurs);
  }

  #inTurn(step: () => void): void {
    if (this.#turn !== undefined) {
      this.#turn.push(step);
      return;
    }
    this.#turn = [step];
    queueMicrotask(() => this.#takeTurn());
  }

  /** Each step may bring others, or abandon all of them. */
  #takeTurn(): void {
    for (let next = 0; this.#turn !== undefined && next < this.#turn.length; next++) this.#turn[next]!();
    this.#turn = undefined;
  }
}
