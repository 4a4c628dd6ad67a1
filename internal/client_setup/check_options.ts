/** Options that no type has checked: what cannot be used is told at once and by name. */

import type { ClientLimits, ClientOptions, RequestOptions, SpawnOptions } from "../../client_options.ts";
import { type Logger, stderrLogger } from "../../logger.ts";
import { isJSONObject } from "../../messages.ts";
import { isSignal } from "../abort.ts";
import { systemClock } from "../clock.ts";
import { checkKnownOptions } from "../options.ts";
import { checkLaunchOptions, kindOf } from "../process/launch_options.ts";
import { toSafeLogger } from "../safe_logger.ts";

/** The compiler sees to it that none is missing. */
type Names<Options> = { readonly [Name in keyof Required<Options>]: true };

const CLIENT_OPTIONS: Names<ClientOptions> = {
  info: true,
  capabilities: true,
  era: true,
  connectTimeoutMs: true,
  probeTimeoutMs: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  listenTimeoutMs: true,
  healthCheckMs: true,
  limits: true,
  onNotification: true,
  inlineNotifications: true,
  onStrayOutput: true,
  onStateChange: true,
  inputHandlers: true,
  logLevel: true,
  logger: true,
  traceFrames: true,
  clock: true,
};

const SPAWN_OPTIONS: Names<SpawnOptions> = {
  ...CLIENT_OPTIONS,
  command: true,
  args: true,
  cwd: true,
  env: true,
  inheritEnv: true,
  passEnv: true,
  processGroup: true,
  stderr: true,
  maxRestarts: true,
  keepAlive: true,
  shutdownGraceMs: true,
  terminateGraceMs: true,
  signal: true,
  runtime: true,
};

const LIMITS: Names<ClientLimits> = {
  maxLineBytes: true,
  maxNestingDepth: true,
  readBufferBytes: true,
  maxQueuedNotifications: true,
};

const ERAS = ["auto", "modern", "legacy"];
const RETRIES = ["auto", "force", "never"];

/**
 * Checks how a server is to be started and talked to.
 *
 * @throws {TypeError} If an option is of the wrong kind, or misspelt.
 */
export function checkLaunch(what: string, options: SpawnOptions): void {
  // What a host's file has given: the server would be without variables that it needs, and nobody would know why.
  if (isJSONObject(options) && (options as { envFile?: unknown }).envFile !== undefined) {
    throw new TypeError(
      `Cannot use ${what}: it reads no "envFile", give it what resolveLaunch() makes of the server`,
    );
  }
  if (isJSONObject(options)) checkNames(what, options, SPAWN_OPTIONS);
  checkLaunchOptions(options);
  checkKinds(what, options);
}

/**
 * Checks how a server that is there is to be talked to.
 *
 * @throws {TypeError} If an option is of the wrong kind, or misspelt.
 */
export function checkClient(what: string, options: ClientOptions): void {
  if (!isJSONObject(options)) throw new TypeError(`Cannot use ${what}: its options are ${kindOf(options)}`);
  checkNames(what, options, CLIENT_OPTIONS);
  checkKinds(what, options);
}

function checkNames(what: string, options: ClientOptions, names: object): void {
  const tell = (text: string): void => {
    const { logger } = options;
    toSafeLogger(isLogger(logger) ? logger : stderrLogger, systemClock).warn(`[mcp_stdio] ${text}`);
  };
  checkKnownOptions(what, options, Object.keys(names), tell);
  if (isJSONObject(options.limits)) checkKnownOptions("limits", options.limits, Object.keys(LIMITS), tell);
}

function checkKinds(what: string, options: ClientOptions): void {
  const { era, limits, inputHandlers, logger, clock } = options;
  const refuse = (name: string, must: string, value: unknown): never => {
    throw new TypeError(`Cannot use ${what}: "${name}" must be ${must}, but is ${kindOf(value)}`);
  };
  const checkFunction = (name: string, value: unknown): void => {
    if (value !== undefined && typeof value !== "function") refuse(name, "a function", value);
  };
  if (era !== undefined && !ERAS.includes(era)) refuse("era", `"auto", "modern" or "legacy"`, era);
  if (limits !== undefined && !isJSONObject(limits)) refuse("limits", "an object", limits);
  if (clock !== undefined && !isClock(clock)) refuse("clock", "a clock", clock);
  const { signal } = options as Pick<SpawnOptions, "signal">;
  if (signal !== undefined && !isSignal(signal)) refuse("signal", "an AbortSignal", signal);
  if (logger !== undefined && !isLogger(logger)) {
    refuse("logger", "an object with debug, info, warn and error", logger);
  }
  for (const name of ["onNotification", "onStrayOutput", "onStateChange"] as const) {
    checkFunction(name, options[name]);
  }
  if (inputHandlers === undefined) return;
  if (!isJSONObject(inputHandlers)) refuse("inputHandlers", "an object", inputHandlers);
  for (const [method, handler] of Object.entries(inputHandlers)) {
    checkFunction(`inputHandlers["${method}"]`, handler);
  }
}

/**
 * Checks how a request is to be made; durations are checked where they are used.
 *
 * @throws {TypeError} If an option is of the wrong kind.
 */
export function checkRequest(options: RequestOptions): void {
  const refuse = (name: string, must: string, value: unknown): never => {
    throw new TypeError(`Cannot make a request: "${name}" must be ${must}, but is ${kindOf(value)}`);
  };
  if (!isJSONObject(options)) refuse("options", "an object", options);
  const { signal, retry, onProgress, onLog, onNotification } = options;
  if (signal !== undefined && !isSignal(signal)) refuse("signal", "an AbortSignal", signal);
  if (retry !== undefined && !RETRIES.includes(retry)) refuse("retry", `"auto", "force" or "never"`, retry);
  for (const [name, value] of Object.entries({ onProgress, onLog, onNotification })) {
    if (value !== undefined && typeof value !== "function") refuse(name, "a function", value);
  }
}

function isClock(value: unknown): boolean {
  return isJSONObject(value) && hasMethods(value, ["now", "setTimeout", "clearTimeout"]);
}

function isLogger(value: unknown): value is Logger {
  const mayBe = isJSONObject(value) || typeof value === "function";
  return mayBe && hasMethods(value, ["debug", "info", "warn", "error"]);
}

function hasMethods(value: object, names: readonly string[]): boolean {
  return names.every((name) => typeof (value as { readonly [name: string]: unknown })[name] === "function");
}
