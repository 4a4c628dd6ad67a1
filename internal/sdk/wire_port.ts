import type { JSONRPCMessage } from "../../messages.ts";
import type { HandedRequest } from "./handed_request.ts";

/** Who takes what a `ServerWire` reads. */
export interface WirePort {
  /** Takes a message; a request is answered by `send`, or with an error if this throws or gives a promise that rejects. */
  receive(message: JSONRPCMessage, request: HandedRequest | undefined): unknown;
  /** Told of what went wrong; must not throw. */
  failed(error: Error): void;
  /** Nothing more comes in; what was accepted is still awaited. */
  draining(): void;
  /** There is no more time: what still runs is answered with an error. */
  aborting(): void;
  /** All is answered and flushed; called once. */
  closed(): void;
}
