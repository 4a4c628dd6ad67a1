import type { JSONRPCNotification, JSONRPCRequest, RequestId } from "../../messages.ts";
import { RawId } from "../framing/message_encoder.ts";
import type { ReceivedRequest } from "../server/message_reader.ts";
import type { BatchReply } from "../server/batch_reply.ts";
import { readMeta } from "../server/envelope.ts";
import { digitsOf, type Identified, keyOf, writtenIdOf } from "../server/id_table.ts";
import type { Job } from "../server/job_queue.ts";
import { withoutUnknown } from "./strict_message.ts";

/** How far a request is: waiting for a permit, being handed over, handed over, or answered or cancelled. */
export type HandedPhase = "queued" | "starting" | "handed" | "over";

/** A request from its arrival until it is answered or cancelled; it holds a permit from the moment it is handed over. */
export class HandedRequest implements Job, Identified {
  readonly id: RequestId;
  readonly key: RequestId;
  /** The id as it must be written back. */
  readonly writtenId: RequestId | RawId;
  /** The message as the SDK gets it: it knows no id and no progress token beyond 2^53 and gets the key for it. */
  readonly message: JSONRPCRequest;
  /** The legacy batch that its response belongs to. */
  readonly batch: BatchReply | undefined;
  readonly #hand: (request: HandedRequest) => void;
  #phase: HandedPhase = "queued";

  constructor(
    { message, idText, progressTokenText }: ReceivedRequest,
    batch: BatchReply | undefined,
    hand: (request: HandedRequest) => void,
  ) {
    this.id = message.id;
    this.key = keyOf(message.id, idText);
    this.writtenId = writtenIdOf(message.id, idText);
    const known = withTokenKey(withoutUnknown(message) as JSONRPCRequest, progressTokenText);
    this.message = idText === undefined ? known : { ...known, id: this.key };
    this.batch = batch;
    this.#hand = hand;
  }

  /** Whether its answer is owed. */
  get open(): boolean {
    return this.#phase !== "over";
  }

  get withdrawn(): boolean {
    return !this.open;
  }

  start(): boolean {
    this.#phase = "starting";
    this.#hand(this);
    if (!this.open) return false; // It was answered on the spot.
    this.#phase = "handed";
    return true;
  }

  /** Whether the SDK has seen it. */
  get begun(): boolean {
    return this.#phase === "starting" || this.#phase === "handed";
  }

  /** Ends it and tells how far it was. */
  end(): HandedPhase {
    const phase = this.#phase;
    this.#phase = "over";
    return phase;
  }
}

function withTokenKey(message: JSONRPCRequest, tokenText: string | undefined): JSONRPCRequest {
  const { params = {} } = message;
  const meta = readMeta(params);
  if (tokenText === undefined || !Number.isInteger(meta.progressToken)) return message;
  return { ...message, params: { ...params, _meta: { ...meta, progressToken: keyOf(0, tokenText) } } };
}

/** Progress as it must be written: a token that was handed on as its key gets its digits back. */
export function withTokenDigits(
  message: JSONRPCRequest | JSONRPCNotification,
): JSONRPCRequest | JSONRPCNotification {
  const token = message.params?.progressToken;
  const digits = typeof token === "string" ? digitsOf(token) : undefined;
  if (digits === undefined || message.method !== "notifications/progress") return message;
  return { ...message, params: { ...message.params, progressToken: new RawId(digits) } };
}
