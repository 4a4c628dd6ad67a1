import type { JSONRPCMessage } from "../../messages.ts";
import { Trail } from "./trail.ts";

/** Somebody whom publications go to: a listen stream, or the client of the legacy era. */
export class Receiver {
  /** What found the output full: the newest of each kind. */
  readonly held: Map<string, JSONRPCMessage> = new Map();
  /** What is on its way. */
  readonly trail: Trail = new Trail();
}
