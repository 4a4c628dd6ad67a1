import type { ProtocolError } from "../../errors.ts";
import {
  type ClientCapabilities,
  type Implementation,
  isJSONObject,
  LOGGING_LEVELS,
  type LoggingLevel,
  MetaKey,
  type MetaObject,
  MODERN_PROTOCOL_VERSIONS,
  type ProgressToken,
} from "../../messages.ts";
import { invalidParams, unsupportedVersion } from "./error_answers.ts";

/** What a modern request says about itself in its `_meta`. */
export interface Envelope {
  readonly era: "modern";
  readonly protocolVersion: string;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  readonly logLevel: LoggingLevel | undefined;
}

/** The metadata of a request: empty when there is none. */
export function readMeta(params: { readonly _meta?: unknown } | undefined): MetaObject {
  const meta = params?._meta;
  return isJSONObject(meta) ? meta : {};
}

/** Whether a request is meant for the modern era: it names its revision. */
export function isModern(meta: MetaObject): boolean {
  return meta[MetaKey.protocolVersion] !== undefined;
}

/**
 * Reads the envelope of a modern request (rule V6).
 *
 * @throws {ProtocolError} -32602 naming the key that is missing or wrong, or -32022 for a revision that is not spoken.
 */
export function readEnvelope(meta: MetaObject, spokenVersions: readonly string[]): Envelope {
  const protocolVersion = meta[MetaKey.protocolVersion];
  if (typeof protocolVersion !== "string") {
    throw wrongMember(MetaKey.protocolVersion, protocolVersion, "a string");
  }
  if (!MODERN_PROTOCOL_VERSIONS.includes(protocolVersion)) {
    throw unsupportedVersion(spokenVersions, protocolVersion);
  }
  const clientCapabilities = meta[MetaKey.clientCapabilities];
  if (!isJSONObject(clientCapabilities)) {
    throw wrongMember(MetaKey.clientCapabilities, clientCapabilities, "an object");
  }
  const clientInfo = meta[MetaKey.clientInfo];
  if (clientInfo !== undefined && !isJSONObject(clientInfo)) {
    throw wrongMember(MetaKey.clientInfo, clientInfo, "an object");
  }
  const logLevel = meta[MetaKey.logLevel];
  if (logLevel !== undefined && !isLoggingLevel(logLevel)) {
    throw wrongMember(MetaKey.logLevel, logLevel, "a logging level");
  }
  return {
    era: "modern",
    protocolVersion,
    clientInfo: clientInfo as unknown as Implementation | undefined,
    clientCapabilities,
    logLevel,
  };
}

/** Whether a value is one of the eight levels. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return (LOGGING_LEVELS as readonly unknown[]).includes(value);
}

/** The token under which a request wants its progress, if it wants any. */
export function readProgressToken(meta: MetaObject): ProgressToken | undefined {
  const token = meta.progressToken;
  return typeof token === "string" || Number.isInteger(token) ? token as ProgressToken : undefined;
}

function wrongMember(key: string, value: unknown, kind: string): ProtocolError {
  const state = value === undefined ? "is missing" : `is not ${kind}`;
  return invalidParams(`"_meta" member "${key}" ${state}`);
}
