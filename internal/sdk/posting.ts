import type { Connection, Outgoing } from "../../connection.ts";
import { closed } from "./transport_errors.ts";

/** As many microtasks as a handler of a notification in the SDKs may need to begin; one is what they take. */
const HANDLER_TURNS = 3;

/** Resolves when the queue has room for more; rejects with code -32000 if the message is lost meanwhile. */
export async function roomBehind(connection: Connection, frame: Outgoing): Promise<void> {
  if (!connection.full) return;
  try {
    await Promise.race([frame.accepted, connection.drained()]);
  } catch (error) {
    throw closed(error);
  }
}

/**
 * Lets the SDKs handle the notifications they were given. They begin that a microtask later, but settle a response at once: one right
 * behind would come first, and progress would be lost.
 */
export async function notificationsHandled(): Promise<void> {
  for (let turn = 0; turn < HANDLER_TURNS; turn++) await undefined;
}
