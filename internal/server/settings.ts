import type { Logger } from "../../logger.ts";
import type { Implementation, MetaObject, Params, Result, ServerCapabilities } from "../../messages.ts";
import type { Clock } from "../../runtime.ts";
import { checkFramingLimits, checkPositiveInteger, FRAMING_DEFAULTS } from "../options.ts";
import type { ActiveRequest } from "./active_request.ts";

/** What runs for a request. It fits the public `RequestHandler` by structure. */
export type Handler = (params: Params, context: ActiveRequest) => Result | Promise<Result>;

/** Limits of a server; all of them are set. */
export interface ServerSettingsLimits {
  readonly maxInFlightRequests: number;
  readonly maxQueuedRequests: number;
  readonly maxListenStreams: number;
  readonly maxQueuedBytes: number;
  readonly maxLineBytes: number;
  readonly maxNestingDepth: number;
}

/**
 * Limits with the defaults that `ServerLimits` tells.
 *
 * @throws {RangeError} If one cannot be used.
 */
export function resolveLimits(
  limits: { readonly [Name in keyof ServerSettingsLimits]?: number | undefined },
): ServerSettingsLimits {
  const {
    maxInFlightRequests = 256,
    maxQueuedRequests = 256,
    maxListenStreams = 1_024,
    maxQueuedBytes = 1_048_576,
    maxLineBytes = FRAMING_DEFAULTS.maxLineBytes,
    maxNestingDepth = FRAMING_DEFAULTS.maxNestingDepth,
  } = limits;
  checkFramingLimits({ maxLineBytes, maxNestingDepth });
  const counts = { maxInFlightRequests, maxQueuedRequests, maxListenStreams, maxQueuedBytes };
  for (const [name, value] of Object.entries(counts)) checkPositiveInteger(name, value);
  return { ...counts, maxLineBytes, maxNestingDepth };
}

/** What a session needs to know of its server; nothing is left to default. */
export interface ServerSettings {
  readonly info: Implementation;
  /** The `_meta` of every result in the modern era. */
  readonly resultMeta: MetaObject;
  readonly instructions: string | undefined;
  /** Read anew each time: definitions come and go. */
  readonly capabilities: () => ServerCapabilities;
  /** By method; read anew each time. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** Every revision served, preferred first. */
  readonly spokenVersions: readonly string[];
  readonly servesLegacy: boolean;
  readonly cache: { readonly ttlMs: number; readonly cacheScope: "public" | "private" };
  readonly limits: ServerSettingsLimits;
  readonly drainTimeoutMs: number;
  readonly onNotification: ((method: string, params: Params | undefined) => void) | undefined;
  readonly startTask: ((task: () => void) => void) | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
}
