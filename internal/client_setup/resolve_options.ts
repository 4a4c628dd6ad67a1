/** What a client goes by: its options with all defaults, checked. `client.ts` and `sdk_transport.ts` share it. */

import type {
  ClientOptions,
  CloseOptions,
  InputHandlers,
  RequestOptions,
  SpawnOptions,
} from "../../client_options.ts";
import { type Logger, stderrLogger } from "../../logger.ts";
import type { ClientCapabilities } from "../../messages.ts";
import type { RuntimeAdapter } from "../../runtime.ts";
import type { CallSettings } from "../client/call.ts";
import type { Graces } from "../client/link.ts";
import type { ClientSettings, StartedCommand } from "../client/settings.ts";
import { systemClock } from "../clock.ts";
import { formatCommandLine } from "../command_line.ts";
import { FrameTrace } from "../framing/frame_trace.ts";
import { checkDuration, checkPositiveInteger, resolveFramingLimits, withoutUndefined } from "../options.ts";
import type { StartSettings } from "../process/start_server.ts";
import { type Facts, toSafeLogger } from "../safe_logger.ts";
import type { ConnectionSettings } from "../stream_connection.ts";
import { VERSION } from "../version.ts";
import { checkRequest } from "./check_options.ts";

/**
 * What a client goes by; `command` is what was started, if anything was, and `canRelaunch` whether that can be done again.
 *
 * @throws {RangeError} If a limit or a duration cannot be used.
 */
export function resolveSettings(
  options: ClientOptions & Pick<SpawnOptions, "maxRestarts" | keyof CloseOptions>,
  command: StartedCommand | undefined,
  canRelaunch: boolean,
): ClientSettings & Surroundings {
  const {
    info = { name: "@mcp/stdio", version: VERSION },
    capabilities = capabilitiesOf(withoutUndefined(options.inputHandlers ?? {})),
    era = "auto",
    connectTimeoutMs = 60_000,
    probeTimeoutMs = 10_000,
    timeoutMs = 60_000,
    maxTimeoutMs = 600_000,
    listenTimeoutMs = 10_000,
    healthCheckMs = Infinity,
    maxRestarts = 3,
    inlineNotifications = false,
    logLevel,
    onNotification,
    onStrayOutput,
  } = options;
  const { maxQueuedNotifications = 1_024 } = options.limits ?? {};
  const durations = {
    connectTimeoutMs,
    probeTimeoutMs,
    timeoutMs,
    maxTimeoutMs,
    listenTimeoutMs,
    healthCheckMs,
  };
  for (const [name, value] of Object.entries(durations)) checkDuration(name, value);
  checkPositiveInteger("maxQueuedNotifications", maxQueuedNotifications);
  if (!Number.isSafeInteger(maxRestarts) || maxRestarts < 0) {
    throw new RangeError(
      `Cannot use "maxRestarts" as it must be an integer, zero or more: current value is ${maxRestarts}`,
    );
  }
  return {
    info,
    capabilities,
    era,
    ...durations,
    maxRestarts: canRelaunch ? maxRestarts : 0,
    maxQueuedNotifications,
    graces: resolveGraces(options),
    logLevel,
    inlineNotifications,
    onNotification,
    onStrayOutput,
    inputHandlers: withoutUndefined(options.inputHandlers ?? {}) as ClientSettings["inputHandlers"],
    ...resolveSurroundings(options, () => command && { server: command.line }),
    canRelaunch,
    command,
  };
}

/** How long each step of an orderly end may take. */
export function resolveGraces(options: CloseOptions): Graces {
  const { shutdownGraceMs = 2_000 } = options;
  const { terminateGraceMs = shutdownGraceMs } = options;
  checkDuration("shutdownGraceMs", shutdownGraceMs);
  checkDuration("terminateGraceMs", terminateGraceMs);
  return { shutdownGraceMs, terminateGraceMs };
}

/**
 * How a request is to be made.
 *
 * @throws {TypeError} If an option is of the wrong kind.
 * @throws {RangeError} If a duration cannot be used.
 */
export function resolveRequest(options: RequestOptions, settings: ClientSettings): CallSettings {
  checkRequest(options);
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

/** What a connection to a server is bound by. */
function resolveConnection({ limits = {}, traceFrames }: ClientOptions, logger: Logger): ConnectionSettings {
  const trace = traceFrames === true ? new FrameTrace(logger) : undefined;
  return { ...resolveFramingLimits(limits), trace };
}

/** How a server is started, and what is done with its stderr. */
export function resolveLaunch(
  options: SpawnOptions,
  runtime: RuntimeAdapter,
): Omit<StartSettings, keyof Surroundings> {
  const { command, args = [], cwd, env = {}, inheritEnv = "safe", passEnv = [], processGroup = true } =
    options;
  const { stderr = "inherit", keepAlive = true } = options;
  const isPiped = stderr !== "inherit" && stderr !== "ignore";
  return {
    launch: {
      command,
      args,
      cwd,
      env,
      inheritEnv,
      passEnv,
      processGroup,
      stderr: isPiped ? "pipe" : stderr,
    },
    keepsAlive: keepAlive,
    stderr: {
      onText: stderr === "tee" ? (text) => runtime.writeStderr(text) : undefined,
      onLine: typeof stderr === "function" ? stderr : undefined,
    },
    runtime,
  };
}

/** What is started, as the client tells of it. Its line is made when somebody wants it: most servers are never told of. */
export function describeStart(
  { command, args, cwd, env }: StartSettings["launch"],
  { os }: RuntimeAdapter,
): StartedCommand {
  let line: string | undefined;
  return {
    command,
    args,
    cwd,
    get line() {
      return line ??= formatCommandLine({ command, args, cwd, env }, { os, maxLength: 1_000 });
    },
  };
}

/** What a link goes by, whatever is behind it. */
export type Surroundings = Pick<StartSettings, "logger" | "clock" | "connection">;

/** Whom the client tells, whose time it goes by, and what its connections are bound by. `facts` stand beside each warning. */
export function resolveSurroundings(
  options: ClientOptions,
  facts?: () => Facts | undefined,
): Surroundings {
  const { logger = stderrLogger, clock = systemClock } = options;
  const safeLogger = toSafeLogger(logger, clock, facts);
  return { logger: safeLogger, clock, connection: resolveConnection(options, safeLogger) };
}

/** A client that answers a kind of question can be asked it. */
function capabilitiesOf(inputHandlers: InputHandlers): ClientCapabilities {
  return {
    ...(Object.hasOwn(inputHandlers, "elicitation/create") ? { elicitation: { form: {} } } : {}),
    ...(Object.hasOwn(inputHandlers, "sampling/createMessage") ? { sampling: {} } : {}),
    ...(Object.hasOwn(inputHandlers, "roots/list") ? { roots: {} } : {}),
  };
}
