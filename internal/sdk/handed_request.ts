import type { JSONRPCRequest, RequestId } from "../../messages.ts";
import { RawId } from "../framing/message_encoder.ts";
import type { BatchReply } from "../server/batch_reply.ts";
import { type Identified, keyOf } from "../server/id_table.ts";
import type { Job } from "../server/job_queue.ts";

/** How far a request is: waiting for a permit, being handed over, handed over, or answered or cancelled. */
export type HandedPhase = "queued" | "starting" | "handed" | "over";

/** A request from its arrival until it is answered or cancelled; it holds a permit from the moment it is handed over. */
export class HandedRequest implements Job, Identified {
  readonly id: RequestId;
  readonly key: RequestId;
  /** The id as it must be written back. */
  readonly writtenId: RequestId | RawId;
  /** The message as the SDK gets it: it knows no id beyond 2^53 and gets the key for it. */
  readonly message: JSONRPCRequest;
  /** The legacy batch that its response belongs to. */
  readonly batch: BatchReply | undefined;
  readonly #hand: (request: HandedRequest) => void;
  #phase: HandedPhase = "queued";

  constructor(
    message: JSONRPCRequest,
    idText: string | undefined,
    batch: BatchReply | undefined,
    hand: (request: HandedRequest) => void,
  ) {
    this.id = message.id;
    this.key = keyOf(message.id, idText);
    this.writtenId = idText === undefined ? message.id : new RawId(idText);
    this.message = idText === undefined ? message : { ...message, id: this.key };
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
