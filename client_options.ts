/** The options of a client with their defaults, and the shapes that its users see. `client.ts` gives them out. */

import type { CallSettings } from "./internal/client/call.ts";
import type { ClientSettings, StartedCommand } from "./internal/client/settings.ts";
import { systemClock } from "./internal/clock.ts";
import {
  checkDuration,
  checkFramingLimits,
  checkPositiveInteger,
  FRAMING_DEFAULTS,
} from "./internal/options.ts";
import { toSafeLogger } from "./internal/safe_logger.ts";
import type { ConnectionSettings } from "./internal/stream_connection.ts";
import { type Logger, stderrLogger } from "./logger.ts";
import type {
  ClientCapabilities,
  Era,
  Implementation,
  JSONObject,
  LoggingLevel,
  Params,
  Result,
  SubscriptionFilter,
} from "./messages.ts";
import type { Clock, ExitStatus, RuntimeAdapter } from "./runtime.ts";

/** What progress says. */
export interface Progress {
  /** How far it is; rises with each notification. */
  readonly progress: number;
  /** How far it will be in the end, if known. */
  readonly total?: number | undefined;
  /** For people. */
  readonly message?: string | undefined;
}

/** Options for {@linkcode Client.request}. */
export interface RequestOptions {
  /**
   * How long the answer is awaited, in milliseconds. `Infinity` leaves only `maxTimeoutMs`.
   *
   * @default {60_000}
   */
  timeoutMs?: number | undefined;
  /**
   * How long the whole request may take, whatever comes meanwhile, in milliseconds.
   *
   * @default {600_000}
   */
  maxTimeoutMs?: number | undefined;
  /**
   * Whether progress starts `timeoutMs` anew.
   *
   * @default {false}
   */
  resetTimeoutOnProgress?: boolean | undefined;
  /**
   * Whether the request is made again when the server ends before it answers: `auto` all but `tools/call`, `force` any,
   * `never` none.
   *
   * @default {"auto"}
   */
  retry?: "auto" | "force" | "never" | undefined;
  /** Told of progress; the server is asked for it only then. Must not block. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Told of log messages that name this request. Those that name none go to `onNotification` of the client. */
  onLog?: ((level: LoggingLevel, data: unknown, logger?: string) => void) | undefined;
  /** Told of other notifications that name this request. */
  onNotification?: ((method: string, params: Params | undefined) => void) | undefined;
  /**
   * Whether the callbacks run before the next frame is read; otherwise they run in order soon after. Such a callback must not
   * make a request of its own.
   *
   * @default {false}
   */
  inlineNotifications?: boolean | undefined;
  /** The least severe log messages the server shall send during this request. */
  logLevel?: LoggingLevel | undefined;
  /** Gives the request up: the server is told, and the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** What a client is bound by. */
export interface ClientLimits {
  /**
   * The longest line in bytes, in either direction; CR LF is not counted.
   *
   * @default {16_777_216}
   */
  maxLineBytes?: number | undefined;
  /**
   * The deepest nesting of arrays and objects in an answer.
   *
   * @default {512}
   */
  maxNestingDepth?: number | undefined;
  /**
   * How many notifications wait for `onNotification` before the server is held by its pipe.
   *
   * @default {1_024}
   */
  maxQueuedNotifications?: number | undefined;
}

/** Where a client is in its life. */
export type ClientState = "connecting" | "ready" | "restarting" | "closing" | "closed";

/** What a handler of input gives. */
export type InputHandler = (params: Params) => Result | JSONObject | Promise<Result | JSONObject>;

/** Options for {@linkcode Client.connect} and {@linkcode spawn}. */
export interface ClientOptions {
  /**
   * Who asks.
   *
   * @default {this module's name and version}
   */
  info?: Implementation | undefined;
  /**
   * What the client can do.
   *
   * @default {what follows from `inputHandlers`}
   */
  capabilities?: ClientCapabilities | undefined;
  /**
   * What the server is taken for: `auto` finds out, `modern` takes no other, `legacy` begins with `initialize`.
   *
   * @default {"auto"}
   */
  era?: "auto" | Era | undefined;
  /**
   * How long a server may take until it has answered the greeting, in milliseconds.
   *
   * @default {60_000}
   */
  connectTimeoutMs?: number | undefined;
  /**
   * How long a server may be silent before it is taken for a legacy one, in milliseconds.
   *
   * @default {10_000}
   */
  probeTimeoutMs?: number | undefined;
  /**
   * Default of {@linkcode RequestOptions.timeoutMs}.
   *
   * @default {60_000}
   */
  timeoutMs?: number | undefined;
  /**
   * Default of {@linkcode RequestOptions.maxTimeoutMs}.
   *
   * @default {600_000}
   */
  maxTimeoutMs?: number | undefined;
  /**
   * How long the acknowledgment of a listen stream is awaited, in milliseconds.
   *
   * @default {10_000}
   */
  listenTimeoutMs?: number | undefined;
  /** What the client is bound by. */
  limits?: ClientLimits | undefined;
  /**
   * Told, in order, of each notification that names no request: log messages and, from legacy servers, changes. One that gives a
   * promise is awaited before the next.
   */
  onNotification?: ((method: string, params: Params | undefined) => void | Promise<void>) | undefined;
  /**
   * Whether `onNotification` runs before the next frame is read. It must then not make a request.
   *
   * @default {false}
   */
  inlineNotifications?: boolean | undefined;
  /** Told of text on the server's stdout that is no message, at most 1 KiB of it. */
  onStrayOutput?: ((text: string) => void) | undefined;
  /** Told of each change of {@linkcode Client.state}. */
  onStateChange?: ((state: ClientState) => void) | undefined;
  /** Answer what a server asks: `elicitation/create`, `sampling/createMessage`, `roots/list`. */
  inputHandlers?: { readonly [method: string]: InputHandler } | undefined;
  /** The least severe log messages the server shall send; none without it. */
  logLevel?: LoggingLevel | undefined;
  /**
   * Takes what the client says about itself.
   *
   * @default {warnings and errors to stderr}
   */
  logger?: Logger | undefined;
  /** Time, for tests. */
  clock?: Clock | undefined;
}

/** How long each step of an orderly end may take. */
export interface CloseOptions {
  /**
   * From the end of the server's input to SIGTERM, in milliseconds.
   *
   * @default {2_000}
   */
  shutdownGraceMs?: number | undefined;
  /**
   * From SIGTERM to SIGKILL, in milliseconds.
   *
   * @default {the value of `shutdownGraceMs`}
   */
  terminateGraceMs?: number | undefined;
}

/** Options for {@linkcode spawn}. */
export interface SpawnOptions extends ClientOptions, CloseOptions {
  /** The server's program: a name that is searched in the PATH of its environment, or a path. No shell is involved. */
  command: string;
  /** Its arguments. */
  args?: readonly string[] | undefined;
  /**
   * Its working directory.
   *
   * @default {this process's own}
   */
  cwd?: string | undefined;
  /** What is set in its environment; `undefined` and `null` remove a name. */
  env?: Readonly<Record<string, string | undefined | null>> | undefined;
  /**
   * What it takes over from this process's environment: the names that programs need to work and that hold no secrets, all of
   * it, or nothing.
   *
   * @default {"safe"}
   */
  inheritEnv?: "safe" | "all" | "none" | undefined;
  /** Further names to take over; one that ends in `*` is a pattern. */
  passEnv?: readonly string[] | undefined;
  /**
   * Whether it leads a process group of its own, so that what it starts is ended with it, and a Ctrl-C in the terminal is not
   * its own.
   *
   * @default {true}
   */
  processGroup?: boolean | undefined;
  /**
   * Where its stderr goes: to this process's, there and into `stderrTail`, into `stderrTail` alone, nowhere, or line by line to
   * a function. A line longer than 8 KiB comes in pieces.
   *
   * @default {"inherit"}
   */
  stderr?: "inherit" | "tee" | "capture" | "ignore" | ((line: string) => void) | undefined;
  /**
   * How many times in a row it is started again when it ends by itself. A minute of life clears the record.
   *
   * @default {3}
   */
  maxRestarts?: number | undefined;
  /**
   * Whether the running server keeps this process alive. With `false` this process may end when it has nothing else to do, and
   * the server with it; an answer that is awaited and a close under way still keep it alive, an open listen stream does not.
   *
   * @default {true}
   */
  keepAlive?: boolean | undefined;
  /** Ends the server at once, also while it is being started; `spawn` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * The runtime.
   *
   * @default {the one this runs on}
   */
  runtime?: RuntimeAdapter | undefined;
}

/** What ending a server took. */
export interface CloseReport {
  /** How its process ended; null without a process, or when the system does not say. */
  readonly exit: ExitStatus | null;
  /** `already`: it had ended; `eof`: the end of its input was enough; `term`: SIGTERM; `kill`: SIGKILL. */
  readonly step: "already" | "eof" | "term" | "kill";
}

/** Something that happens on a listen stream. */
export type ListenEvent =
  | {
    /** A notification that was asked for. */
    readonly kind: "notification";
    /** Its method. */
    readonly method: string;
    /** Its params. */
    readonly params: Params | undefined;
  }
  | {
    /** The server was started again and asked again: what happened meanwhile was not told. */
    readonly kind: "resubscribed";
    /** What it agreed to. */
    readonly filter: SubscriptionFilter;
  };

/** An open `subscriptions/listen` stream: iterate over it for what happens. */
export interface Listening extends AsyncIterableIterator<ListenEvent, undefined> {
  /** What the server agreed to. Rejects if it does not answer in time or refuses. */
  readonly acknowledged: Promise<SubscriptionFilter>;
  /** Why it is over: closed here, ended by the server, or lost with it. */
  readonly ended: Promise<"local" | "server" | "lost">;
  /** Ends it. */
  close(): void;
}

/**
 * What a client goes by.
 *
 * @throws {RangeError} If a limit or a duration cannot be used.
 */
export function resolveSettings(
  options: ClientOptions & CloseOptions,
  process: { maxRestarts: number; command: StartedCommand | undefined },
): ClientSettings {
  const {
    info = { name: "@mcp/stdio", version: "0.1.0" },
    inputHandlers = {},
    era = "auto",
    connectTimeoutMs = 60_000,
    probeTimeoutMs = 10_000,
    timeoutMs = 60_000,
    maxTimeoutMs = 600_000,
    listenTimeoutMs = 10_000,
  } = options;
  const { maxQueuedNotifications = 1_024 } = options.limits ?? {};
  const durations = { connectTimeoutMs, probeTimeoutMs, timeoutMs, maxTimeoutMs, listenTimeoutMs };
  for (const [name, value] of Object.entries(durations)) checkDuration(name, value);
  checkPositiveInteger("maxQueuedNotifications", maxQueuedNotifications);
  if (!Number.isSafeInteger(process.maxRestarts) || process.maxRestarts < 0) {
    throw new RangeError(
      `Cannot use "maxRestarts" as it must be an integer, zero or more: current value is ${process.maxRestarts}`,
    );
  }
  return {
    info,
    capabilities: options.capabilities ?? capabilitiesOf(inputHandlers),
    era,
    ...durations,
    maxRestarts: process.maxRestarts,
    maxQueuedNotifications,
    graces: resolveGraces(options),
    logLevel: options.logLevel,
    inlineNotifications: options.inlineNotifications ?? false,
    onNotification: options.onNotification,
    onStrayOutput: options.onStrayOutput,
    inputHandlers,
    logger: toSafeLogger(options.logger ?? stderrLogger),
    clock: options.clock ?? systemClock,
    canRelaunch: process.command !== undefined,
    command: process.command,
  };
}

/** How long each step of an orderly end may take. */
export function resolveGraces(options: CloseOptions): { shutdownGraceMs: number; terminateGraceMs: number } {
  const { shutdownGraceMs = 2_000 } = options;
  const { terminateGraceMs = shutdownGraceMs } = options;
  checkDuration("shutdownGraceMs", shutdownGraceMs);
  checkDuration("terminateGraceMs", terminateGraceMs);
  return { shutdownGraceMs, terminateGraceMs };
}

/** How a request is to be made. */
export function resolveRequest(options: RequestOptions, settings: ClientSettings): CallSettings {
  const {
    timeoutMs = settings.timeoutMs,
    maxTimeoutMs = settings.maxTimeoutMs,
    resetTimeoutOnProgress = false,
    retry = "auto",
    inlineNotifications = false,
  } = options;
  if (options.timeoutMs !== undefined) checkDuration("timeoutMs", timeoutMs);
  if (options.maxTimeoutMs !== undefined) checkDuration("maxTimeoutMs", maxTimeoutMs);
  const { signal, logLevel, onProgress, onLog, onNotification } = options;
  return {
    timeoutMs,
    maxTimeoutMs,
    resetTimeoutOnProgress,
    retry,
    inlineNotifications,
    signal,
    logLevel,
    onProgress,
    onLog,
    onNotification,
  };
}

/** A client that answers a kind of question can be asked it. */
function capabilitiesOf(inputHandlers: { readonly [method: string]: InputHandler }): ClientCapabilities {
  return {
    ...(Object.hasOwn(inputHandlers, "elicitation/create") ? { elicitation: { form: {} } } : {}),
    ...(Object.hasOwn(inputHandlers, "sampling/createMessage") ? { sampling: {} } : {}),
    ...(Object.hasOwn(inputHandlers, "roots/list") ? { roots: {} } : {}),
  };
}

/** What a connection to a server is bound by. */
export function resolveConnection({ limits = {} }: ClientOptions): ConnectionSettings {
  const { maxLineBytes = FRAMING_DEFAULTS.maxLineBytes, maxNestingDepth = FRAMING_DEFAULTS.maxNestingDepth } =
    limits;
  checkFramingLimits({ maxLineBytes, maxNestingDepth });
  return { maxLineBytes, maxNestingDepth, maxQueuedBytes: 1_048_576 };
}
