/**
 * Every error this module throws or rejects with. Two families that are never mixed: a {@linkcode StdioError} has a
 * `code` in words and is never sent; a {@linkcode ProtocolError} has a number and goes to the other side or came
 * from it. Misuse by the caller is a `TypeError` or a `RangeError`, at once.
 *
 * @example Tell what happened to a request
 * ```ts
 * import { ConnectionClosedError, StdioError } from "@mcp/stdio/errors";
 * import assert from "node:assert/strict";
 *
 * const error: unknown = new ConnectionClosedError("Cannot send request \"tools/call\": the server has exited", {
 *   reason: "exited",
 *   sent: false,
 *   exit: { code: 78 },
 *   stderrTail: "missing API key\n",
 * });
 * assert.ok(error instanceof StdioError && error.code === "connection_closed");
 * ```
 *
 * @module
 */

import { ErrorCode, type JSONRPCErrorObject } from "./messages.ts";
import type { ExitStatus } from "./runtime.ts";

/**
 * The base of all errors that stay on this side: catch it for "anything of this module".
 *
 * @example Say why a call has failed
 * ```ts
 * import { ConnectionClosedError, ProtocolError, RequestTimeoutError, StdioError } from "@mcp/stdio/errors";
 *
 * export function explain(error: unknown): string {
 *   if (error instanceof RequestTimeoutError) return `no answer within ${error.timeoutMs} ms`;
 *   if (error instanceof ConnectionClosedError) return `the server has ended: ${error.stderrTail}`;
 *   if (error instanceof ProtocolError) return `the server refuses, with ${error.code}: ${error.message}`;
 *   return error instanceof StdioError ? `${error.code}: ${error.message}` : "a fault of this program";
 * }
 * ```
 */
export class StdioError extends Error {
  /** What happened, in a word. */
  readonly code: string;

  /** Makes one. */
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StdioError";
    this.code = code;
  }
}

/** Why a message could not be written. */
export type FrameErrorCode = "frame_too_long" | "unserializable" | "invalid_message";

/** A message that cannot be written. Nothing was written, and the connection goes on. */
export class FrameError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: FrameErrorCode;
  /** The limit in bytes that was passed, for `frame_too_long`. */
  readonly limitBytes: number | undefined;

  /** Makes one. */
  constructor(code: FrameErrorCode, message: string, options?: ErrorOptions & { limitBytes?: number }) {
    super(code, message, options);
    this.name = "FrameError";
    this.limitBytes = options?.limitBytes;
  }
}

/** A request that was not answered in time. The server has been told to stop. */
export class RequestTimeoutError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: "request_timeout";
  /** The method of the request. */
  readonly method: string;
  /** The limit that passed, in milliseconds. */
  readonly timeoutMs: number;
  /** `idle`: nothing came for `timeoutMs`; `total`: the whole request took longer, whatever came. */
  readonly kind: "idle" | "total";

  /** Makes one. */
  constructor(method: string, timeoutMs: number, kind: "idle" | "total") {
    super(
      "request_timeout",
      `Cannot await "${method}" any longer: no answer within ${timeoutMs} ms (${kind})`,
    );
    this.name = "RequestTimeoutError";
    this.method = method;
    this.timeoutMs = timeoutMs;
    this.kind = kind;
  }
}

/** Why a link between client and server is closed. */
export type CloseReason =
  | "local"
  | "killed"
  | "eof"
  | "exited"
  | "output_failed"
  | "input_failed"
  | "unresponsive";

/** What a {@linkcode ConnectionClosedError} knows. */
export interface ConnectionClosedFacts {
  /** Why the link is closed. */
  reason: CloseReason;
  /** Whether the request had begun to leave: if not, it can safely be made again. */
  sent: boolean;
  /** How the server process ended, if it did. */
  exit?: ExitStatus | null | undefined;
  /** The end of what the server wrote to stderr, if that is kept. */
  stderrTail?: string | undefined;
}

/** The link ended before the answer came, or had ended before the request. `sent` says whether it may have had an effect. */
export class ConnectionClosedError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: "connection_closed";
  /** Why the link is closed. */
  readonly reason: CloseReason;
  /** Whether the request had begun to leave. */
  readonly sent: boolean;
  /** How the server process ended, or null. */
  readonly exit: ExitStatus | null;
  /** The end of what the server wrote to stderr; empty if that is not kept. */
  readonly stderrTail: string;

  /** Makes one. */
  constructor(message: string, facts: ConnectionClosedFacts, options?: ErrorOptions) {
    super("connection_closed", message, options);
    this.name = "ConnectionClosedError";
    this.reason = facts.reason;
    this.sent = facts.sent;
    this.exit = facts.exit ?? null;
    this.stderrTail = facts.stderrTail ?? "";
  }
}

/** The server answered a request with something that is no answer. The request is not made again. */
export class InvalidResponseError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: "invalid_response";
  /** What was wrong with the answer. */
  readonly reason: string;

  /** Makes one. */
  constructor(method: string, reason: string, options?: ErrorOptions) {
    super("invalid_response", `Cannot read the answer to "${method}": ${reason}`, options);
    this.name = "InvalidResponseError";
    this.reason = reason;
  }
}

/** Why a server process could not be started. */
export type ProcessErrorCode =
  | "command_not_found"
  | "permission_denied"
  | "cwd_not_found"
  | "invalid_argument"
  | "spawn_failed"
  | "exited_early";

/** What a {@linkcode ProcessError} knows. */
export interface ProcessFacts {
  /** The command. */
  command: string;
  /** Its arguments. */
  args: readonly string[];
  /** The working directory, if one was given. */
  cwd?: string | undefined;
  /** The PATH in which the command was searched. */
  searchedPath?: string | undefined;
  /** What may help. */
  hint?: string | undefined;
  /** The system's own code, such as `ENOENT`. */
  systemCode?: string | undefined;
  /** How the last process ended, if one ran. */
  exit?: ExitStatus | null | undefined;
  /** The end of what it wrote to stderr. */
  stderrTail?: string | undefined;
}

/** A server process could not be started. The fields say what was tried. */
export class ProcessError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: ProcessErrorCode;
  /** The command. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** The working directory, if one was given. */
  readonly cwd: string | undefined;
  /** The PATH in which the command was searched. */
  readonly searchedPath: string | undefined;
  /** What may help. */
  readonly hint: string | undefined;
  /** The system's own code, such as `ENOENT`. */
  readonly systemCode: string | undefined;
  /** How the last process ended, or null. */
  readonly exit: ExitStatus | null;
  /** The end of what it wrote to stderr. */
  readonly stderrTail: string;

  /** Makes one. */
  constructor(code: ProcessErrorCode, message: string, facts: ProcessFacts, options?: ErrorOptions) {
    super(code, facts.hint === undefined ? message : `${message} (${facts.hint})`, options);
    this.name = "ProcessError";
    this.command = facts.command;
    this.args = facts.args;
    this.cwd = facts.cwd;
    this.searchedPath = facts.searchedPath;
    this.hint = facts.hint;
    this.systemCode = facts.systemCode;
    this.exit = facts.exit ?? null;
    this.stderrTail = facts.stderrTail ?? "";
  }
}

/** Why client and server found no revision to speak. */
export type NegotiationErrorCode = "negotiation_failed" | "negotiation_timeout" | "unsupported_version";

/** What a {@linkcode NegotiationError} knows. */
export interface NegotiationFacts {
  /** Where it failed. */
  phase: "probe" | "handshake";
  /** Revisions the server named. */
  supported?: readonly string[] | undefined;
  /** Revisions that were asked for. */
  requested?: readonly string[] | undefined;
  /** What became of the probe with `server/discover`. */
  probeError?: unknown;
  /** What became of `initialize`. */
  handshakeError?: unknown;
  /** The end of what the server wrote to stderr. */
  stderrTail?: string | undefined;
}

/** Client and server found no revision to speak. The server has been ended. */
export class NegotiationError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: NegotiationErrorCode;
  /** Where it failed. */
  readonly phase: "probe" | "handshake";
  /** Revisions the server named. */
  readonly supported: readonly string[];
  /** Revisions that were asked for. */
  readonly requested: readonly string[];
  /** What became of the probe with `server/discover`. */
  readonly probeError: unknown;
  /** What became of `initialize`. */
  readonly handshakeError: unknown;
  /** The end of what the server wrote to stderr. */
  readonly stderrTail: string;

  /** Makes one. */
  constructor(code: NegotiationErrorCode, message: string, facts: NegotiationFacts, options?: ErrorOptions) {
    super(code, message, options);
    this.name = "NegotiationError";
    this.phase = facts.phase;
    this.supported = facts.supported ?? [];
    this.requested = facts.requested ?? [];
    this.probeError = facts.probeError;
    this.handshakeError = facts.handshakeError;
    this.stderrTail = facts.stderrTail ?? "";
  }
}

/** The abort reason of `context.signal` in a server's handler. */
export class CancelledError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: "cancelled";
  /** The reason the client gave, if any. */
  readonly reason: string | undefined;
  /** Whether the server is ending, rather than the client having cancelled. */
  readonly serverShutdown: boolean;

  /** Makes one. */
  constructor(options: { reason?: string | undefined; serverShutdown: boolean }) {
    const { reason, serverShutdown } = options;
    super(
      "cancelled",
      `The request was cancelled: ${serverShutdown ? "server shutdown" : reason ?? "no reason given"}`,
    );
    this.name = "CancelledError";
    this.reason = reason;
    this.serverShutdown = serverShutdown;
  }
}

/** Why a host configuration, or one server in it, cannot be used. */
export type HostConfigErrorCode =
  | "config_not_found"
  | "config_unreadable"
  | "invalid_config"
  | "missing_variable";

/** One thing that is wrong in a host configuration. Holds names and places, never a value. */
export interface HostConfigProblem {
  /** Where it stands in the server's entry, such as `args[1]` or `env.TOKEN`; empty for the file or the whole entry. */
  readonly field: string;
  /** What is wrong, in words. */
  readonly message: string;
  /** The line in the file, from 1. */
  readonly line: number;
  /** The column in that line, from 1, in UTF-16 code units. */
  readonly column: number;
  /** The variable that has no value, if that is what is wrong. */
  readonly variable?: string | undefined;
}

/** What a {@linkcode HostConfigError} knows. */
export interface HostConfigFacts {
  /** The path of the file, if it came from one. */
  path?: string | undefined;
  /** The name of the server, if only that one is concerned. */
  server?: string | undefined;
  /** The variable that has no value. */
  variable?: string | undefined;
  /** Everything that is wrong. */
  problems?: readonly HostConfigProblem[] | undefined;
}

/**
 * A host configuration cannot be used, or one server in it: with `server` set, the others still can. `problems` says
 * what to correct and where.
 */
export class HostConfigError extends StdioError {
  /** What happened, in a word. */
  declare readonly code: HostConfigErrorCode;
  /** The path of the file, if it came from one. */
  readonly path: string | undefined;
  /** The name of the server, if only that one is concerned. */
  readonly server: string | undefined;
  /** The first variable that has no value, for `missing_variable`. */
  readonly variable: string | undefined;
  /** Everything that is wrong, up to a thousand problems. */
  readonly problems: readonly HostConfigProblem[];

  /** Makes one. */
  constructor(code: HostConfigErrorCode, message: string, facts: HostConfigFacts, options?: ErrorOptions) {
    super(code, message, options);
    this.name = "HostConfigError";
    this.path = facts.path;
    this.server = facts.server;
    this.variable = facts.variable;
    this.problems = facts.problems ?? [];
  }
}

/**
 * An error that came from the other side, or that a handler throws to choose what goes to it.
 *
 * @example In a handler of a resource
 * ```ts ignore
 * throw new ProtocolError(ErrorCode.invalidParams, "Resource not found", { uri });
 * ```
 */
export class ProtocolError extends Error {
  /** An integer; see `ErrorCode`. */
  readonly code: number;
  /** More, as the code defines it. */
  readonly data: unknown;

  /** Makes one. */
  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.name = "ProtocolError";
    this.code = code;
    this.data = data;
  }

  /** The `error` member of the response that carries this error. */
  toJSON(): JSONRPCErrorObject {
    const { code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

/** Makes the `error` member of a response from what a handler has thrown: a `ProtocolError` as it is, all else as "Internal error". */
export function toErrorObject(thrown: unknown): JSONRPCErrorObject {
  try {
    if (thrown instanceof ProtocolError) return thrown.toJSON();
  } catch {
    // Something that cannot even be looked at is no error of ours.
  }
  return { code: ErrorCode.internalError, message: "Internal error" };
}
