import type { Inbound } from "../../connection.ts";
import { describeId } from "../shown_text.ts";
import type { Logger } from "../../logger.ts";
import { isErrorResponse, isRequest, type JSONRPCMessage, type RequestId } from "../../messages.ts";
import { RawId } from "./message_encoder.ts";

/** What is told of a frame. */
interface Told {
  readonly kind: string;
  readonly facts: { readonly [name: string]: unknown };
}

/** Tells a logger of each frame that passes: which way, of what kind, its id, method and size, and never its content. */
export class FrameTrace {
  readonly #logger: Logger;

  /** The logger must not throw. */
  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A line was read. */
  received(inbound: Inbound, bytes: number): void {
    const { kind, facts } = inbound.kind === "message" ? describe(inbound.message) : describeFault(inbound);
    this.#logger.debug(`[mcp_frame] received ${kind}`, { ...facts, bytes });
  }

  /** A frame is queued. What is given back is to be called when it begins to leave. */
  queued(message: JSONRPCMessage | readonly JSONRPCMessage[], bytes: number): () => void {
    const { kind, facts } = describeSafely(message);
    return () => this.#logger.debug(`[mcp_frame] sent ${kind}`, { ...facts, bytes });
  }
}

/** A value of the caller's can do anything when it is looked at. */
function describeSafely(message: JSONRPCMessage | readonly JSONRPCMessage[]): Told {
  try {
    return describe(message);
  } catch {
    return { kind: "a message that cannot be looked at", facts: {} };
  }
}

function describe(message: JSONRPCMessage | readonly JSONRPCMessage[]): Told {
  if (isBatch(message)) return { kind: "a batch", facts: { members: message.length } };
  const { id: given } = message as { id?: RequestId | RawId | undefined };
  const id = given instanceof RawId ? given.text : describeId(given ?? undefined);
  if ("method" in message) {
    const method = describeId(message.method);
    if (isRequest(message)) return { kind: "a request", facts: { id, method } };
    return { kind: "a notification", facts: { method } };
  }
  if (isErrorResponse(message)) return { kind: "an error response", facts: { id, code: message.error.code } };
  return { kind: "a result", facts: { id } };
}

function describeFault({ reason, id, batch }: Extract<Inbound, { kind: "fault" }>): Told {
  if (batch !== undefined) return { kind: "a batch", facts: { members: batch.length } };
  return { kind: "a bad line", facts: { reason, id: describeId(id) } };
}

function isBatch(message: JSONRPCMessage | readonly JSONRPCMessage[]): message is readonly JSONRPCMessage[] {
  return Array.isArray(message);
}
