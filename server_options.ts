/** The options of a server with their defaults. `server.ts` gives them out. */

import { systemClock } from "./internal/clock.ts";
import { spokenVersions } from "./internal/era.ts";
import { checkDuration, checkKnownOptions } from "./internal/options.ts";
import type { ServeProcessSettings } from "./internal/process/serve_process.ts";
import { FrameTrace } from "./internal/framing/frame_trace.ts";
import { Ending } from "./internal/framing/message_encoder.ts";
import { toSafeLogger } from "./internal/safe_logger.ts";
import {
  type BasicServerSettings,
  type Handler,
  resolveLimits,
  SERVER_DEFAULTS,
  type ServerEnd,
  type ServerSettings,
} from "./internal/server/settings.ts";
import { type Logger, stderrLogger } from "./logger.ts";
import { type Implementation, MetaKey, type Params, type ServerCapabilities } from "./messages.ts";
import type { Clock, RuntimeAdapter } from "./runtime.ts";
import type { PromptDefinition, RequestHandler, ResourceDefinition, ToolDefinitions } from "./schema.ts";

export type { ServerEnd } from "./internal/server/settings.ts";

/** Schemas of tools by the tools' names; they let each tool know the types of its own arguments and of its result. */
export type ToolSchemas = { [name: string]: unknown };

/** No schemas: the default where the compiler does not know the tools. */
export type NoSchemas = { [name in never]: unknown };

/** Bounds of what a client can make grow in a server. */
export interface ServerLimits {
  /**
   * How many requests run at the same time.
   *
   * @default {256}
   */
  maxInFlightRequests?: number | undefined;
  /**
   * How many more are read ahead and wait for their turn. Behind them up to 1 MiB of lines is kept aside, so that cancellations
   * and the end of the input are noticed; then the client is held back by its pipe, and a request that has waited for ten
   * seconds is answered `Server busy`.
   *
   * @default {256}
   */
  maxQueuedRequests?: number | undefined;
  /**
   * How many `subscriptions/listen` streams may be open.
   *
   * @default {1_024}
   */
  maxListenStreams?: number | undefined;
  /**
   * How much output may wait for the client to read it, in bytes, before no new request begins. Requests that have begun are still
   * answered: as long as a client reads nothing, up to `maxInFlightRequests` results wait beside it.
   *
   * @default {1_048_576}
   */
  maxQueuedBytes?: number | undefined;
  /**
   * The longest line in bytes, in either direction; CR LF is not counted.
   *
   * @default {16_777_216}
   */
  maxLineBytes?: number | undefined;
  /**
   * The deepest nesting of arrays and objects in a request.
   *
   * @default {512}
   */
  maxNestingDepth?: number | undefined;
  /**
   * How many bytes are read and decoded at a time, at most; a line may be longer.
   *
   * @default {65_536}
   */
  readBufferBytes?: number | undefined;
}

/** How long clients may keep lists and resources. */
export interface CacheHint {
  /**
   * For how long, in milliseconds.
   *
   * @default {0}
   */
  ttlMs?: number | undefined;
  /**
   * `"private"`: only for the user who asked. `"public"`: the same copy may serve everybody.
   *
   * @default {"private"}
   */
  cacheScope?: "public" | "private" | undefined;
}

/** Options for {@linkcode Server}. */
export interface ServerOptions<
  Inputs extends ToolSchemas = ToolSchemas,
  Outputs extends ToolSchemas = NoSchemas,
> {
  /** The server's name and version. */
  info: Implementation;
  /** How a model should use the server. */
  instructions?: string | undefined;
  /**
   * What the server can do beyond what follows from its definitions. A member replaces the one that follows from them; one
   * that is `undefined` takes it away.
   *
   * @default {what is defined, and logging}
   */
  capabilities?: ServerCapabilities | undefined;
  /** Handlers by method, for what the definitions do not cover. They come before the definitions. */
  handlers?: { [method: string]: RequestHandler } | undefined;
  /** Tools by name. */
  tools?: ToolDefinitions<Inputs, Outputs> | undefined;
  /** Resources by URI; a URI with `{variables}` is a template. */
  resources?: { [uri: string]: ResourceDefinition } | undefined;
  /** Prompts by name. */
  prompts?: { [name: string]: PromptDefinition } | undefined;
  /** Called with each notification of the client but cancellations. */
  onNotification?: ((method: string, params: Params | undefined) => void) | undefined;
  /**
   * What clients get that begin with `initialize`. `"serve"`: they are served. `"reject"`: error -32022, which lists the revisions
   * that this server speaks.
   *
   * @default {"serve"}
   */
  legacy?: "serve" | "reject" | undefined;
  /** Bounds of what a client can make grow. */
  limits?: ServerLimits | undefined;
  /** How long clients may keep lists and resources. */
  cache?: CacheHint | undefined;
  /**
   * How many entries a page of a list holds.
   *
   * @default {1_000}
   */
  pageSize?: number | undefined;
  /**
   * How long requests that run may go on after the end of the input, in milliseconds; then their signals fire.
   *
   * @default {10_000}
   */
  drainTimeoutMs?: number | undefined;
  /**
   * Begins the work on a request: it must call its argument once, now or later. The default calls it at once. If it throws, the
   * request is answered `Server busy`.
   */
  startTask?: ((task: () => void) => void) | undefined;
  /**
   * Takes the server's own warnings and errors.
   *
   * @default {warnings and errors to stderr}
   */
  logger?: Logger | undefined;
  /**
   * Whether `logger.debug` gets a line for each message that passes: its direction, kind, id, method and size in bytes, never its
   * content. It costs nothing when it is off.
   *
   * @default {false}
   */
  traceFrames?: boolean | undefined;
  /** Time, for tests. */
  clock?: Clock | undefined;
}

/** Options for {@linkcode serve}: what belongs to the process. */
export interface ServeOptions {
  /**
   * Whether what code in this process writes to stdout by other means, such as `console.log`, goes to stderr. It begins with the
   * call and lasts as long as the process.
   *
   * @default {true}
   */
  guardStdout?: boolean | undefined;
  /**
   * Whether SIGTERM and SIGINT end the server, with its answers written; a second signal then ends the process at once.
   *
   * @default {true}
   */
  signals?: boolean | undefined;
  /**
   * What to do at an error that nobody catches. `true`: report it on stderr, answer what is in flight with an error, and end the
   * process with code 1, unless other code of this process handles such errors. `false`: leave it to the runtime.
   *
   * @default {true}
   */
  uncaughtErrors?: boolean | undefined;
  /**
   * How often to look, in milliseconds, whether the process that started this one is still there; once it is not, the
   * server ends as at SIGTERM. For hosts that die while another process holds their end of stdin. POSIX only.
   *
   * @default {Infinity}
   */
  parentCheckMs?: number | undefined;
  /**
   * How long the process may stay after the server has ended, in milliseconds, but at most 500 after a signal; then it is
   * ended with code 0. `Infinity` leaves its end to others.
   *
   * @default {1_000}
   */
  lingerMs?: number | undefined;
  /** Called when the server has ended; the process waits for it, for up to `drainTimeoutMs`. */
  onClose?: ((end: ServerEnd) => void | Promise<void>) | undefined;
  /**
   * The runtime.
   *
   * @default {the one this runs on}
   */
  runtime?: RuntimeAdapter | undefined;
}

/** Options for {@linkcode serve} with servers of the official SDK. */
export type SdkServeOptions =
  & ServeOptions
  & Pick<ServerOptions, "legacy" | "limits" | "drainTimeoutMs" | "logger" | "traceFrames" | "clock">;

/** Every option of a server, and of serving a process: the compiler sees to it that none is missing. */
const SERVER_OPTIONS: { readonly [Name in keyof ServerOptions]-?: true } = {
  info: true,
  instructions: true,
  capabilities: true,
  handlers: true,
  tools: true,
  resources: true,
  prompts: true,
  onNotification: true,
  legacy: true,
  limits: true,
  cache: true,
  pageSize: true,
  drainTimeoutMs: true,
  startTask: true,
  logger: true,
  traceFrames: true,
  clock: true,
};
const SERVE_OPTIONS: { readonly [Name in keyof ServeOptions]-?: true } = {
  guardStdout: true,
  signals: true,
  uncaughtErrors: true,
  parentCheckMs: true,
  lingerMs: true,
  onClose: true,
  runtime: true,
};
const SHARED_OPTIONS = ["legacy", "limits", "drainTimeoutMs", "logger", "traceFrames", "clock"] as const;

/**
 * Checks the options of `serve` beside a server.
 *
 * @throws {TypeError} If one belongs to the server, or means another.
 */
export function checkServeOptions(options: SdkServeOptions, isFactory: boolean): void {
  const own = isFactory ? undefined : SHARED_OPTIONS.find((name) => options[name] !== undefined);
  if (own !== undefined) {
    throw new TypeError(`Cannot serve the server: "${own}" belongs to it, give it to "new Server"`);
  }
  const known = [...Object.keys(SERVE_OPTIONS), ...isFactory ? SHARED_OPTIONS : []];
  checkOptions("serve()", options, known, options.logger);
}

function checkOptions(
  what: string,
  options: object,
  known: readonly string[],
  logger: Logger = stderrLogger,
): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`Cannot use ${what}: its options are no object`);
  }
  checkKnownOptions(what, options, known, (text) => logger.warn(`[mcp_stdio] ${text}`));
}

/**
 * What every server goes by.
 *
 * @throws {RangeError} If a limit or a duration cannot be used.
 */
export function resolveBasics(
  options: Pick<ServerOptions, "legacy" | "limits" | "drainTimeoutMs" | "logger" | "traceFrames" | "clock">,
): BasicServerSettings {
  const { legacy = "serve", limits = {}, drainTimeoutMs = SERVER_DEFAULTS.drainTimeoutMs } = options;
  const { logger = stderrLogger, clock = systemClock } = options;
  checkDuration("drainTimeoutMs", drainTimeoutMs);
  const safeLogger = toSafeLogger(logger, clock);
  return {
    limits: resolveLimits(limits),
    trace: options.traceFrames === true ? new FrameTrace(safeLogger) : undefined,
    servesLegacy: legacy === "serve",
    drainTimeoutMs,
    logger: safeLogger,
    clock,
  };
}

/**
 * What a server of definitions goes by.
 *
 * @throws {TypeError} If "info" or the cache hint cannot be used.
 * @throws {RangeError} If a limit or a duration cannot be used.
 */
export function resolveSettings(
  options: Omit<ServerOptions, "tools">,
  handlers: ReadonlyMap<string, Handler>,
  capabilities: () => ServerCapabilities,
): ServerSettings {
  checkOptions(
    "a server",
    options,
    [...Object.keys(SERVER_OPTIONS), ...Object.keys(SERVE_OPTIONS)],
    options.logger,
  );
  const { info, instructions, cache = {}, onNotification, startTask } = options;
  if (typeof info?.name !== "string" || typeof info.version !== "string") {
    throw new TypeError(`Cannot make a server: "info" must have a "name" and a "version"`);
  }
  const basics = resolveBasics(options);
  const resultMeta = { [MetaKey.serverInfo]: info };
  return {
    ...basics,
    info,
    resultMeta,
    resultEnding: Ending.of({ resultType: "complete", _meta: resultMeta }),
    instructions,
    capabilities,
    handlers,
    spokenVersions: spokenVersions(basics.servesLegacy),
    cache: resolveCacheHint(cache),
    onNotification,
    startTask,
  };
}

/**
 * How the process of a server is to be served.
 *
 * @throws {RangeError} If a duration cannot be used.
 */
export function processSettings(
  options: ServeOptions,
  { drainTimeoutMs, logger, clock }: BasicServerSettings,
  runtime: RuntimeAdapter,
): ServeProcessSettings<ServerEnd> {
  const { guardStdout = true, signals = true, uncaughtErrors = true, onClose } = options;
  const { lingerMs = SERVER_DEFAULTS.lingerMs, parentCheckMs = Infinity } = options;
  checkDuration("lingerMs", lingerMs);
  checkDuration("parentCheckMs", parentCheckMs);
  return {
    guardStdout,
    signals,
    uncaughtErrors,
    parentCheckMs,
    lingerMs,
    onClose,
    drainTimeoutMs,
    runtime,
    logger,
    clock,
  };
}

function resolveCacheHint({ ttlMs = 0, cacheScope = "private" }: CacheHint): ServerSettings["cache"] {
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) {
    throw new RangeError(
      `Cannot use "ttlMs" as it must be an integer, zero or more: current value is ${ttlMs}`,
    );
  }
  if (cacheScope !== "public" && cacheScope !== "private") {
    throw new TypeError(
      `Cannot use "cacheScope" as it must be "public" or "private": current value is "${cacheScope}"`,
    );
  }
  return { ttlMs, cacheScope };
}
