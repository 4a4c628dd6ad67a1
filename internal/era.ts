import {
  ErrorCode,
  isJSONObject,
  type JSONRPCErrorObject,
  LEGACY_PROTOCOL_VERSIONS,
  MODERN_PROTOCOL_VERSIONS,
  type Result,
} from "../messages.ts";

/** What became of the probe with `server/discover`. */
export type ProbeOutcome =
  | { readonly kind: "result"; readonly result: Result }
  | { readonly kind: "error"; readonly error: JSONRPCErrorObject }
  /** An answer that is no answer, or a line that cannot be read. */
  | { readonly kind: "invalid" | "unreadable"; readonly reason: string }
  | { readonly kind: "silence" }
  /** The server ended before it answered. */
  | { readonly kind: "ended" };

/** What follows from a probe. */
export type ProbeVerdict =
  /** The server is modern and speaks this revision; `discovered` is its result, if it gave one. */
  | { readonly kind: "modern"; readonly version: string; readonly discovered: Result | undefined }
  /** The server is modern and wants another revision: probe again with this one. */
  | { readonly kind: "retry"; readonly version: string }
  /** The server is modern, and there is no revision that both speak. */
  | { readonly kind: "incompatible"; readonly supported: readonly string[] }
  /** The server is legacy: go on with `initialize`. */
  | { readonly kind: "legacy" }
  /** The server may be legacy and have ended because of the probe: start it again and begin with `initialize`. */
  | { readonly kind: "relaunch" };

/** Error codes that only a modern server uses (versioning page). */
const MODERN_CODES: ReadonlySet<number> = new Set([
  ErrorCode.unsupportedProtocolVersion,
  ErrorCode.missingRequiredClientCapability,
  ErrorCode.headerMismatch,
]);

/**
 * The verdict on a probe (rule E1). It is not keyed to one error code: whatever is not recognized as modern is legacy.
 *
 * @param outcome What became of the probe.
 * @param tried The revisions that were probed with so far, the last one last.
 */
export function judgeProbe(outcome: ProbeOutcome, tried: readonly string[]): ProbeVerdict {
  switch (outcome.kind) {
    case "ended":
      return { kind: "relaunch" };
    case "silence":
    case "invalid":
    case "unreadable":
      return { kind: "legacy" };
    case "result":
      return judgeResult(outcome.result);
    case "error":
      return judgeError(outcome.error, tried);
  }
}

/** The revisions that a server speaks, preferred first. */
export function spokenVersions(servesLegacy: boolean): readonly string[] {
  return servesLegacy ? [...MODERN_PROTOCOL_VERSIONS, ...LEGACY_PROTOCOL_VERSIONS] : MODERN_PROTOCOL_VERSIONS;
}

/** Whether a revision allows several messages on a line: only one ever did. */
export function hasBatches(version: unknown): boolean {
  return version === "2025-03-26";
}

/** Whether an answer to `initialize` tells that the server is modern after all (rule E3). */
export function isModernRefusal(error: JSONRPCErrorObject): boolean {
  return MODERN_CODES.has(error.code);
}

/**
 * Whether an answer to `initialize` may come of the probe before it: some servers count whatever they hear first as their
 * handshake, and then refuse one (rule E2).
 */
export function isRefusalOfProbed({ code, message }: JSONRPCErrorObject): boolean {
  return code === ErrorCode.invalidRequest || /\balready\b|\binitiali[sz]ed\b/i.test(message);
}

/** The revisions named by an error -32022; empty if it names none. */
export function supportedVersionsOf(error: JSONRPCErrorObject): string[] {
  return isJSONObject(error.data) ? toVersions(error.data.supported) : [];
}

function judgeResult(result: Result): ProbeVerdict {
  const supported = toVersions(result.supportedVersions);
  // Some servers answer anything with an empty result: that is no DiscoverResult.
  if (supported.length === 0) return { kind: "legacy" };
  const version = bestCommon(MODERN_PROTOCOL_VERSIONS, supported);
  if (version !== undefined) return { kind: "modern", version, discovered: result };
  const speaksLegacy = bestCommon(LEGACY_PROTOCOL_VERSIONS, supported) !== undefined;
  return speaksLegacy ? { kind: "legacy" } : { kind: "incompatible", supported };
}

function judgeError(error: JSONRPCErrorObject, tried: readonly string[]): ProbeVerdict {
  if (!isModernRefusal(error)) return { kind: "legacy" };
  if (error.code !== ErrorCode.unsupportedProtocolVersion) {
    // The server knows the revision and refuses this one request for another reason.
    return { kind: "modern", version: tried.at(-1)!, discovered: undefined };
  }
  const supported = supportedVersionsOf(error);
  const triedTimes = (times: number) =>
    MODERN_PROTOCOL_VERSIONS.filter((version) => tried.filter((one) => one === version).length === times);
  // A server that names the very revision it has just refused is taken at its word, once.
  const version = bestCommon(triedTimes(0), supported) ?? bestCommon(triedTimes(1), supported);
  return version === undefined ? { kind: "incompatible", supported } : { kind: "retry", version };
}

function bestCommon(preferred: readonly string[], offered: readonly string[]): string | undefined {
  return preferred.find((version) => offered.includes(version));
}

function toVersions(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((version) => typeof version === "string") : [];
}
