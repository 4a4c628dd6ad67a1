import { ProtocolError } from "../../errors.ts";
import type { JSONRPCMessage, RequestId } from "../../messages.ts";

/** The SDKs' code for a connection that is not there (rule K2). */
export const CONNECTION_CLOSED = -32000;

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

/** Whatever was thrown, as the error that callbacks of the SDKs take. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error("A value that is no error was thrown", { cause: thrown });
}
