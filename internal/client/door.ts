import type { Connection, Outgoing } from "../../connection.ts";
import { FrameError, StdioError } from "../../errors.ts";
import type { JSONRPCMessage } from "../../messages.ts";
import { type Ending, takesEndings } from "../framing/message_encoder.ts";

/**
 * The one door out: whatever a client writes, or a transport under one of the SDKs' clients, goes through here. It never throws.
 * Gives the message on its way, or why it does not leave: a `FrameError` if it cannot be written, else the connection is closed.
 */
export function sendOut(
  connection: Connection,
  message: JSONRPCMessage,
  ending?: Ending,
): Outgoing | StdioError {
  try {
    if (ending !== undefined && takesEndings(connection)) return connection.sendEndingIn(message, ending);
    return connection.send(message);
  } catch (error) {
    return error instanceof StdioError ? error : unwritable(error);
  }
}

/** For what was thrown as a message was made. */
export function unwritable(cause: unknown): FrameError {
  return new FrameError("unserializable", "Cannot write the message: a value in it throws when it is read", {
    cause,
  });
}
