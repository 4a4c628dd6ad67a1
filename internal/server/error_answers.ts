import type { Fault } from "../../connection.ts";
import { CancelledError, ProtocolError, toErrorObject } from "../../errors.ts";
import { ErrorCode, type JSONRPCErrorObject, type JSONRPCMessage, type RequestId } from "../../messages.ts";
import type { RawId } from "../framing/message_encoder.ts";
import { writtenIdOf } from "./id_table.ts";

/** -32602: the params of a request are not what its method takes. */
export function invalidParams(state: string): ProtocolError {
  return new ProtocolError(ErrorCode.invalidParams, `Invalid params: ${state}`);
}

/** -32600: a message is no request that can be served. */
export function invalidRequest(state: string): ProtocolError {
  return new ProtocolError(ErrorCode.invalidRequest, `Invalid Request: ${state}`);
}

/** -32603: a request cannot begin (rule V2). */
export function serverBusy(): ProtocolError {
  return new ProtocolError(ErrorCode.internalError, "Server busy");
}

/** -32022: a revision that the server does not speak. The text names those it does, since a host may show nothing else. */
export function unsupportedVersion(supported: readonly string[], requested: string): ProtocolError {
  const message = `Unsupported protocol version: this server speaks ${supported.join(", ")}`;
  const data = { supported: [...supported], requested };
  return new ProtocolError(ErrorCode.unsupportedProtocolVersion, message, data);
}

/**
 * What a client is told about what was thrown. A shutdown is named; a `ProtocolError` whose code is no integer, or
 * whose message is no string, counts as any other error.
 */
export function toAnsweredError(thrown: unknown): JSONRPCErrorObject {
  if (isShutdown(thrown)) return { code: ErrorCode.internalError, message: "Server is shutting down" };
  try {
    if (thrown instanceof OutputError) {
      return { code: ErrorCode.internalError, message: `Internal error: ${thrown.state}` };
    }
    const error = toErrorObject(thrown);
    if (Number.isInteger(error.code) && typeof error.message === "string") return error;
  } catch {
    // A value that throws when it is looked at counts as any other, too.
  }
  return toErrorObject(undefined);
}

/**
 * What user code gave cannot be an answer. The text names the tool, resource or prompt and holds nothing that is not ours, so that
 * the client is told, too; details are for the log.
 */
export class OutputError extends TypeError {
  readonly state: string;

  constructor(state: string, details?: string) {
    super(details === undefined ? state : `${state}: ${details}`);
    this.name = "OutputError";
    this.state = state;
  }
}

/** Whether a request was aborted since the server ends. */
export function isShutdown(thrown: unknown): boolean {
  try {
    return thrown instanceof CancelledError && thrown.serverShutdown;
  } catch {
    return false; // As above.
  }
}

/** An error response. JSON-RPC wants a null id where the request's own could not be read. */
export function errorResponse(id: RequestId | RawId | null, error: JSONRPCErrorObject): JSONRPCMessage {
  return { jsonrpc: "2.0", id: id as RequestId, error };
}

/** What a bad line is answered with, if anything (rule V5): one that was meant as a response or a notification never is. */
export function answerToLine(fault: Fault): JSONRPCMessage | undefined {
  const { reason, detail, id, idText, hasId, hasMethod, hasResult } = fault;
  if (reason === "truncated" || (hasMethod ? !hasId : hasResult)) return undefined;
  const writtenId = id === undefined ? null : writtenIdOf(id, idText);
  switch (reason) {
    case "too_long": {
      if (writtenId === null || !hasMethod) return undefined;
      const message = "Request exceeds limits.maxLineBytes";
      return errorResponse(writtenId, { code: ErrorCode.invalidRequest, message });
    }
    case "invalid_message":
      return errorResponse(writtenId, invalidRequest(detail).toJSON());
    default:
      return errorResponse(null, { code: ErrorCode.parseError, message: `Parse error: ${detail}` });
  }
}
