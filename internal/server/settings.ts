import type { Logger } from "../../logger.ts";
import type { Implementation, MetaObject, Params, Result, ServerCapabilities } from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import {
  checkFramingLimits,
  checkKnownOptions,
  checkPositiveInteger,
  FRAMING_DEFAULTS,
  withoutUndefined,
} from "../options.ts";
import type { FrameTrace } from "../framing/frame_trace.ts";
import type { Ending } from "../framing/message_encoder.ts";
import type { ActiveRequest } from "./active_request.ts";

/** What runs for a request. It fits the public `RequestHandler` by structure. */
export type Handler = (params: Params, context: ActiveRequest) => Result | Promise<Result>;

/** Limits of a server; all of them are set. */
export interface ServerSettingsLimits extends Readonly<Record<keyof typeof FRAMING_DEFAULTS, number>> {
  readonly maxInFlightRequests: number;
  readonly maxQueuedRequests: number;
  readonly maxListenStreams: number;
}

/** What the options of a server default to, where that is a number. */
export const SERVER_DEFAULTS: {
  readonly limits: ServerSettingsLimits;
  readonly pageSize: number;
  readonly inputTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly lingerMs: number;
} = {
  limits: {
    maxInFlightRequests: 256,
    maxQueuedRequests: 256,
    maxListenStreams: 1_024,
    ...FRAMING_DEFAULTS,
  },
  pageSize: 1_000,
  drainTimeoutMs: 10_000,
  inputTimeoutMs: 600_000,
  lingerMs: 1_000,
};

/**
 * Limits with the defaults that `ServerLimits` tells.
 *
 * @throws {RangeError} If one cannot be used.
 */
export function resolveLimits(
  limits: { readonly [Name in keyof ServerSettingsLimits]?: number | undefined },
): ServerSettingsLimits {
  const names = Object.keys(SERVER_DEFAULTS.limits);
  checkKnownOptions("limits", limits, names, (text) => {
    throw new TypeError(`Cannot use the limits: ${text}`);
  });
  const all: ServerSettingsLimits = { ...SERVER_DEFAULTS.limits, ...withoutUndefined(limits) };
  const { maxLineBytes, maxNestingDepth, ...counts } = all;
  checkFramingLimits({ maxLineBytes, maxNestingDepth });
  for (const [name, value] of Object.entries(counts)) checkPositiveInteger(name, value);
  return all;
}

/** What every server goes by, also one of the official SDK; `logger` must not throw. */
export interface BasicServerSettings {
  readonly limits: ServerSettingsLimits;
  /** Told of each frame that passes. */
  readonly trace: FrameTrace | undefined;
  readonly servesLegacy: boolean;
  readonly drainTimeoutMs: number;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** What a session needs to know of its server; nothing is left to default. */
export interface ServerSettings extends BasicServerSettings {
  readonly info: Implementation;
  /** The `_meta` of every result in the modern era. */
  readonly resultMeta: MetaObject;
  /** What a whole result ends with in that era, unless the handler says otherwise. */
  readonly resultEnding: Ending | undefined;
  readonly instructions: string | undefined;
  /** Read anew each time: definitions come and go. */
  readonly capabilities: () => ServerCapabilities;
  /** By method; read anew each time. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** Every revision served, preferred first. */
  readonly spokenVersions: readonly string[];
  readonly cache: { readonly ttlMs: number; readonly cacheScope: "public" | "private" };
  readonly onNotification: ((method: string, params: Params | undefined) => void) | undefined;
  readonly startTask: ((task: () => void) => void) | undefined;
}

/** Why a server has ended. */
export interface ServerEnd {
  /**
   * `eof`: the client closed its end; `closed`: `close()` was called; `signal`: the process was told to end; `output_failed`: the
   * client no longer reads; `input_failed`: reading failed; `uncaught_error`: code of the process has thrown where nobody
   * catches; `parent_exited`: the process that started this one is gone.
   */
  readonly reason:
    | "eof"
    | "closed"
    | "signal"
    | "output_failed"
    | "input_failed"
    | "uncaught_error"
    | "parent_exited";
  /** What failed, or was thrown. */
  readonly error?: unknown;
}

/** Ends that leave requests in flight their time; after the others nobody waits, or nobody listens. */
const PATIENT_ENDS: ReadonlySet<ServerEnd["reason"]> = new Set(["eof", "closed", "input_failed"]);

/** Whether an end leaves requests in flight no time. */
export function isHurried({ reason }: ServerEnd): boolean {
  return !PATIENT_ENDS.has(reason);
}
