import type { JSONRPCMessage } from "../../messages.ts";
import type { Outgoing } from "../../connection.ts";

/** Somebody whom publications go to: a listen stream, or the client of the legacy era. */
export class Receiver {
  /** What found the output full: the newest of each kind. */
  readonly held: Map<string, JSONRPCMessage> = new Map();
  /** What is on its way. */
  readonly trail: Trail = new Trail();
}

/**
 * What was said for one request and has not begun to leave. Once the request is cancelled it is taken back, since nothing
 * more may be written for it (rule V3).
 */
export class Trail {
  #frames: Outgoing[] = [];

  /** Takes a frame; frames begin to leave in the order they were taken. */
  add(frame: Outgoing | undefined): void {
    if (frame === undefined) return;
    const waiting = this.#frames.findIndex(({ begun }) => !begun);
    if (waiting === -1) this.#frames = [];
    else if (waiting > 0) this.#frames.splice(0, waiting);
    this.#frames.push(frame);
  }

  /** Takes back what can be. */
  withdraw(): void {
    for (const frame of this.#frames) frame.withdraw();
    this.#frames = [];
  }
}
