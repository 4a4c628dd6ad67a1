import type { Connection, Outgoing } from "../../connection.ts";
import type { JSONRPCMessage } from "../../messages.ts";
import type { Ending } from "./message_encoder.ts";

/** A connection of ours, which takes the end of a message as text. */
export interface EndingConnection extends Connection {
  /** Sends a message as `send` does, with an ending. */
  sendEndingIn(message: JSONRPCMessage, ending: Ending): Outgoing;
}

/** Whether a connection is one of ours: one that somebody else has made only knows whole messages. */
export function takesEndings(connection: Connection): connection is EndingConnection {
  return "sendEndingIn" in connection;
}
