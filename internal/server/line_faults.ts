import type { Fault } from "../../connection.ts";
import { StdioError } from "../../errors.ts";
import { ErrorCode, type JSONRPCMessage, type RequestId } from "../../messages.ts";
import { RawId } from "../framing/message_encoder.ts";
import { errorResponse, invalidRequest } from "../server/wire_errors.ts";

/** A bad line as the error that `onerror` takes: why, and nothing of its content. */
export function lineError({ reason, detail }: Fault): StdioError {
  return new StdioError(reason, `Cannot read a line: ${detail}`);
}

/** What a bad line is answered with, if anything (rule V5): one that was meant as a response never is. */
export function answerToLine(fault: Fault): JSONRPCMessage | undefined {
  const { reason, detail, id, idText, hasMethod, hasResult } = fault;
  if (reason === "truncated" || (hasResult && !hasMethod)) return undefined;
  const wireId = idText === undefined ? id ?? null : new RawId(idText);
  switch (reason) {
    case "too_long": {
      if (wireId === null || !hasMethod) return undefined;
      const message = "Request exceeds limits.maxLineBytes";
      return errorResponse(wireId, { code: ErrorCode.invalidRequest, message });
    }
    case "invalid_message":
      return errorResponse(wireId, invalidRequest(detail).toJSON());
    default:
      return errorResponse(null, { code: ErrorCode.parseError, message: `Parse error: ${detail}` });
  }
}

/** An answer that cannot be read, as an error that can: the request it belongs to fails at once (rule C5). */
export function unreadable(id: RequestId, detail: string, data?: unknown): JSONRPCMessage {
  const error = { code: ErrorCode.parseError, message: `The answer cannot be read: ${detail}` };
  return { jsonrpc: "2.0", id, error: data === undefined ? error : { ...error, data } };
}
