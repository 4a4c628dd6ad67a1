/**
 * The client side: {@linkcode spawn} starts a server process and owns it, {@linkcode Client} talks to it, in whichever
 * era it speaks.
 *
 * @example A client in memory
 * ```ts
 * import { Client } from "@mcp/stdio/client";
 * import { Server } from "@mcp/stdio/server";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const server = new Server({
 *   info: { name: "weather", version: "1.0.0" },
 *   tools: { forecast: { call: ({ city }) => `Sunny in ${city}.` } },
 * });
 * const [here, there] = createStreamPair();
 * server.run(there);
 *
 * const client = await Client.connect(here);
 * const { tools } = await client.request("tools/list");
 * assert.deepEqual(tools.map(({ name }) => name), ["forecast"]);
 * await client.close();
 * ```
 *
 * @module
 */

import type { Connection } from "./connection.ts";
import type { CallSettings } from "./internal/client/call.ts";
import { ClientCore } from "./internal/client/core.ts";
import { type Link, StreamLink } from "./internal/client/link.ts";
import type { ClientSettings, StartedCommand } from "./internal/client/settings.ts";
import type { Life } from "./internal/client/supervisor.ts";
import { systemClock } from "./internal/clock.ts";
import {
  checkDuration,
  checkFramingLimits,
  checkPositiveInteger,
  FRAMING_DEFAULTS,
} from "./internal/options.ts";
import { formatCommandLine } from "./internal/process/command_line.ts";
import { startServer } from "./internal/process/start_server.ts";
import { detectRuntime } from "./internal/runtime/detect.ts";
import { type ConnectionSettings, StreamConnection } from "./internal/stream_connection.ts";
import { type Logger, stderrLogger } from "./logger.ts";
import type {
  ClientCapabilities,
  Era,
  Implementation,
  JSONObject,
  LoggingLevel,
  Params,
  Result,
  ServerCapabilities,
  SubscriptionFilter,
} from "./messages.ts";
import type { CoreMethods } from "./methods.ts";
import type { ByteStreams, Clock, ExitStatus, RuntimeAdapter } from "./runtime.ts";

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
 * A client of one MCP server.
 *
 * @example
 * ```ts
 * import { Client } from "@mcp/stdio/client";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const [here] = createStreamPair();
 * await assert.rejects(Client.connect(here, { connectTimeoutMs: 10 }), { code: "negotiation_timeout" });
 * ```
 */
export class Client {
  readonly #core: ClientCore;
  readonly #settings: ClientSettings;
  /** For requests without options. */
  readonly #requestDefaults: CallSettings;

  private constructor(core: ClientCore, settings: ClientSettings) {
    this.#core = core;
    this.#settings = settings;
    this.#requestDefaults = resolveRequest({}, settings);
  }

  /**
   * Connects to a server at the other end of two streams. Resolves when it has answered.
   *
   * @throws {NegotiationError} As a rejection, if it cannot be used.
   * @throws {RangeError} If a limit or a duration cannot be used.
   */
  static async connect(server: ByteStreams | Connection, options: ClientOptions = {}): Promise<Client> {
    const settings = resolveSettings(options, { maxRestarts: 0, command: undefined });
    const link = toStreamLink(server, options, settings.clock);
    return await Client.#start(settings, () => Promise.resolve(link), options);
  }

  /** Used by {@linkcode spawn}. */
  static async #start(
    settings: ClientSettings,
    open: () => Promise<Link>,
    options: SpawnSignal,
  ): Promise<Client> {
    const { signal, onStateChange } = options;
    signal?.throwIfAborted();
    const core = new ClientCore(settings, open, stateListener(onStateChange, settings.logger));
    const onAbort = () => void core.kill();
    signal?.addEventListener("abort", onAbort, { once: true });
    core.supervisor.closed.then(() => signal?.removeEventListener("abort", onAbort));
    try {
      await core.connect();
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
    return new Client(core, settings);
  }

  /** Used by {@linkcode spawn}. */
  static async spawn(options: SpawnOptions): Promise<Client> {
    const { command, args = [], cwd, env, maxRestarts = 3 } = options;
    const runtime = options.runtime ?? await detectRuntime();
    const line = formatCommandLine({ command, args, cwd, env }, { os: runtime.os, maxLength: 1_000 });
    const settings = resolveSettings(options, { maxRestarts, command: { command, args, cwd, line } });
    return await Client.#start(settings, prepareStart(options, settings, runtime), options);
  }

  /** Where the client is in its life. */
  get state(): ClientState {
    return stateOf(this.#core.supervisor.life, this.#core.supervisor.restartCount);
  }

  /** The id of the server's process; undefined while there is none. */
  get pid(): number | undefined {
    return this.#core.supervisor.link?.pid;
  }

  /** Whether requests speak for themselves or a handshake was made. */
  get era(): Era {
    return this.#core.peer!.era;
  }

  /** The revision that is spoken. */
  get protocolVersion(): string {
    return this.#core.peer!.protocolVersion;
  }

  /** Who the server says it is. For display and logs. */
  get serverInfo(): Implementation | undefined {
    return this.#core.peer!.serverInfo;
  }

  /** What the server can do. */
  get capabilities(): ServerCapabilities {
    return this.#core.peer!.capabilities;
  }

  /** How a model should use the server, if it says. */
  get instructions(): string | undefined {
    return this.#core.peer!.instructions;
  }

  /** How the last server process ended that was reaped; null before, and when the system does not say (rule P6). */
  get exitStatus(): ExitStatus | null {
    return this.#core.supervisor.lastExit;
  }

  /** How many times the server was started again. */
  get restartCount(): number {
    return this.#core.supervisor.restartCount;
  }

  /** The last 64 KiB of the server's stderr; empty unless `stderr` is `tee`, `capture` or a function. */
  get stderrTail(): string {
    return this.#core.stderrTail;
  }

  /** Resolves when the server has ended and none will be started any more. */
  get closed(): Promise<CloseReport> {
    return this.#core.supervisor.closed;
  }

  /**
   * Makes a request and resolves with its result. Params and results of the core methods are known by type; other methods take
   * and give objects.
   *
   * @throws {ProtocolError} As a rejection, if the server answers with an error.
   * @throws {RequestTimeoutError} As a rejection, if it does not answer in time.
   * @throws {InvalidResponseError} As a rejection, if its answer cannot be read.
   * @throws {ConnectionClosedError} As a rejection, if it ends first.
   * @throws {RangeError} If a duration cannot be used.
   */
  request<Method extends keyof CoreMethods>(
    method: Method,
    ...rest: Record<never, never> extends CoreMethods[Method]["params"]
      ? [params?: CoreMethods[Method]["params"], options?: RequestOptions]
      : [params: CoreMethods[Method]["params"], options?: RequestOptions]
  ): Promise<CoreMethods[Method]["result"]>;
  /** Makes a request of any other method. */
  request<Method extends string>(
    method: Method extends keyof CoreMethods ? never : Method,
    params?: Params,
    options?: RequestOptions,
  ): Promise<Result>;
  request(method: string, params: Params = {}, options?: RequestOptions): Promise<Result> {
    const settings = options === undefined ? this.#requestDefaults : resolveRequest(options, this.#settings);
    return this.#core.request(method, params, settings);
  }

  /**
   * Sends a notification. Resolves when the server's pipe has taken it.
   *
   * @throws {ConnectionClosedError} As a rejection, if there is no server to take it.
   */
  notify(method: string, params?: Params): Promise<void> {
    return this.#core.notify(method, params);
  }

  /**
   * Listens for changes: the same call in both eras. After a restart the server is asked again and the iteration goes on.
   *
   * @throws {ConnectionClosedError} If the client is closed.
   */
  listen(filter: SubscriptionFilter): Listening {
    return this.#core.listen(filter);
  }

  /**
   * Ends the server: its input ends, then SIGTERM, then SIGKILL, to it and to what it started. Requests under way fail at once.
   * Resolves when the process is reaped, with what it took. Safe in any phase and more than once.
   */
  close(options: CloseOptions = {}): Promise<CloseReport> {
    return this.#core.close(resolveGraces({ ...defined(this.#settings.graces), ...defined(options) }));
  }

  /** Ends the server and what it started at once. */
  kill(): Promise<CloseReport> {
    return this.#core.kill();
  }

  /** The same as {@linkcode Client.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Starts a server and connects to it. Resolves when it has answered; from then on it is watched, started again when it ends by
 * itself, and ended with its whole process tree.
 *
 * @example
 * ```ts ignore
 * import { spawn } from "@mcp/stdio/client";
 *
 * const client = await spawn({ command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] });
 * const { tools } = await client.request("tools/list");
 * await client.close();
 * ```
 *
 * @throws {ProcessError} As a rejection, if it cannot be started or exits before it has answered.
 * @throws {NegotiationError} As a rejection, if it cannot be used.
 * @throws {RangeError} If a limit or a duration cannot be used.
 */
export function spawn(options: SpawnOptions): Promise<Client> {
  return Client.spawn(options);
}

interface SpawnSignal {
  readonly signal?: AbortSignal | undefined;
  readonly onStateChange?: ((state: ClientState) => void) | undefined;
}

function toStreamLink(server: ByteStreams | Connection, options: ClientOptions, clock: Clock): StreamLink {
  if ("receive" in server) return new StreamLink(server, undefined, clock);
  const connection = new StreamConnection(server, connectionSettings(options));
  return new StreamLink(connection, connection, clock);
}

function prepareStart(
  options: SpawnOptions,
  settings: ClientSettings,
  runtime: RuntimeAdapter,
): () => Promise<Link> {
  const { command, args = [], cwd, env = {}, inheritEnv = "safe", passEnv = [], processGroup = true } =
    options;
  const { stderr = "inherit", keepAlive = true } = options;
  const { logger, clock } = settings;
  const isPiped = stderr !== "inherit" && stderr !== "ignore";
  const receivers = {
    onText: stderr === "tee" ? (text: string) => runtime.writeStderr(text) : undefined,
    onLine: typeof stderr === "function" ? stderr : undefined,
  };
  const launch = {
    command,
    args,
    cwd,
    env,
    inheritEnv,
    passEnv,
    processGroup,
    stderr: isPiped ? "pipe" as const : stderr,
  };
  const connection = connectionSettings(options);
  return () =>
    startServer({
      launch,
      keepsAlive: keepAlive,
      stderr: receivers,
      connection,
      runtime,
      logger,
      clock,
    });
}

/** A user's logger may throw without breaking whoever has something to say. */
function guardLogger(logger: Logger): Logger {
  const guard = (level: keyof Logger) => (message: string, ...details: unknown[]) => {
    try {
      logger[level](message, ...details);
    } catch {
      // There is nobody left to tell.
    }
  };
  return { debug: guard("debug"), info: guard("info"), warn: guard("warn"), error: guard("error") };
}

function stateListener(
  onStateChange: ((state: ClientState) => void) | undefined,
  logger: Logger,
): (life: Life, restartCount: number) => void {
  let last: ClientState = "connecting";
  return (life, restartCount) => {
    const state = stateOf(life, restartCount);
    if (state === last) return;
    last = state;
    try {
      onStateChange?.(state);
    } catch (error) {
      logger.error("[mcp_stdio] onStateChange has thrown", { error });
    }
  };
}

function stateOf(life: Life, restartCount: number): ClientState {
  switch (life.phase) {
    case "starting":
      return restartCount === 0 ? "connecting" : "restarting";
    case "ending":
    case "waiting":
      return "restarting";
    default:
      return life.phase;
  }
}

function resolveSettings(
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
    logger: guardLogger(options.logger ?? stderrLogger),
    clock: options.clock ?? systemClock,
    canRelaunch: process.command !== undefined,
    command: process.command,
  };
}

function connectionSettings({ limits = {} }: ClientOptions): ConnectionSettings {
  const { maxLineBytes = FRAMING_DEFAULTS.maxLineBytes, maxNestingDepth = FRAMING_DEFAULTS.maxNestingDepth } =
    limits;
  checkFramingLimits({ maxLineBytes, maxNestingDepth });
  return { maxLineBytes, maxNestingDepth, maxQueuedBytes: 1_048_576 };
}

function resolveGraces(options: CloseOptions): { shutdownGraceMs: number; terminateGraceMs: number } {
  const { shutdownGraceMs = 2_000 } = options;
  const { terminateGraceMs = shutdownGraceMs } = options;
  checkDuration("shutdownGraceMs", shutdownGraceMs);
  checkDuration("terminateGraceMs", terminateGraceMs);
  return { shutdownGraceMs, terminateGraceMs };
}

function resolveRequest(options: RequestOptions, settings: ClientSettings): CallSettings {
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

function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
