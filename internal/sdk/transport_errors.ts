import type { Fault } from "../../connection.ts";
import { FrameError, ProtocolError, StdioError } from "../../errors.ts";
import { ErrorCode, type JSONRPCMessage, type RequestId } from "../../messages.ts";

/** The SDKs' code for a connection that is not there (rule K2). */
const CONNECTION_CLOSED = -32000;

/** What a send before the start rejects with. */
export function notStarted(): ProtocolError {
  return new ProtocolError(CONNECTION_CLOSED, "Cannot send the message: the transport is not started");
}

/** What a send that came too late rejects with. */
export function closed(cause?: unknown): ProtocolError {
  const options = cause === undefined ? {} : { cause };
  return new ProtocolError(
    CONNECTION_CLOSED,
    "Cannot send the message: the transport is closed",
    undefined,
    options,
  );
}

/** What a start rejects with that is not the first, or comes after the end. Hosts of the SDKs look for "already started". */
export function cannotStart(name: string, phase: "operational" | "stopped"): TypeError {
  const state = phase === "stopped" ? `${name} is closed` : `${name} already started`;
  return new TypeError(`Cannot start the transport: ${state}`);
}

/** The answer to a request whose other side has gone. */
export function goneResponse(id: RequestId): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: CONNECTION_CLOSED, message: "Connection closed" } };
}

/** What a send is refused with: a value that is no message at all is misuse. */
export function toSendError(error: unknown): unknown {
  return error instanceof FrameError && error.code === "invalid_message"
    ? new TypeError(error.message, { cause: error })
    : error;
}

/** A bad line as the error that `onerror` takes: why, and nothing of its content. */
export function lineError({ reason, detail }: Fault): StdioError {
  return new StdioError(reason, `Cannot read a line: ${detail}`);
}

/** An answer that cannot be read, as an error that can: the request it belongs to fails at once (rule C5). */
export function unreadable(id: RequestId, detail: string, data?: unknown): JSONRPCMessage {
  const error = { code: ErrorCode.parseError, message: `The answer cannot be read: ${detail}` };
  return { jsonrpc: "2.0", id, error: data === undefined ? error : { ...error, data } };
}

/** Whatever was thrown, as the error that callbacks of the SDKs take. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error("A value that is no error was thrown", { cause: thrown });
}
