import { CancelledError } from "../../errors.ts";
import type { JSONRPCMessage, Params, RequestId } from "../../messages.ts";
import type { RawId } from "../framing/message_encoder.ts";
import { isDeclared } from "../publications.ts";
import { type Identified, IdTable } from "./id_table.ts";
import type { JobQueue } from "./job_queue.ts";
import type { LegacyPeer } from "./legacy_peer.ts";
import { checkPublication, ListenStream } from "./listen_stream.ts";
import type { Outbox } from "./outbox.ts";
import { completeResult } from "./results.ts";
import type { ServerSettings } from "./settings.ts";
import { serverBusy } from "./error_answers.ts";

/** What the subscriptions work with; the session owns it. */
export interface SubscriptionParts {
  readonly settings: ServerSettings;
  readonly queue: JobQueue;
  readonly outbox: Outbox;
  readonly legacyPeer: LegacyPeer;
}

/** Who is told what is published: the listen streams, and the client of the legacy era (rule V9). */
export class Subscriptions {
  readonly #settings: ServerSettings;
  readonly #queue: JobQueue;
  readonly #outbox: Outbox;
  readonly #legacyPeer: LegacyPeer;
  readonly #streams = new IdTable<ListenStream>();
  /** Whether the server ends. */
  #isOver = false;

  constructor(parts: SubscriptionParts) {
    this.#settings = parts.settings;
    this.#queue = parts.queue;
    this.#outbox = parts.outbox;
    this.#legacyPeer = parts.legacyPeer;
  }

  /** Whether a stream is open under this key. */
  has(key: RequestId): boolean {
    return this.#streams.has(key);
  }

  /**
   * Opens a stream and acknowledges it.
   *
   * @throws {ProtocolError} If there are too many, or the params hold no filter.
   */
  open(identified: Identified, writtenId: RequestId | RawId, params: Params): void {
    const { limits, capabilities } = this.#settings;
    if (this.#isOver) throw new CancelledError({ serverShutdown: true });
    if (this.#streams.size >= limits.maxListenStreams) throw serverBusy();
    const stream = new ListenStream(
      identified,
      writtenId,
      params,
      capabilities(),
      this.#legacyPeer.uriBudget,
    );
    this.#streams.add(stream);
    this.#outbox.inTurn(
      () => stream.receiver.trail.add(this.#outbox.tell(stream.acknowledge())),
      () => stream.ended,
    );
  }

  /** Ends a stream because its client cancelled it: nothing is said. Returns false if none is open under this id. */
  cancel(id: RequestId): boolean {
    const stream = this.#streams.find(id);
    if (stream === undefined) return false;
    this.#outbox.forget(stream.receiver);
    this.#end(stream);
    return true;
  }

  /** Sends a publication to those who asked for it. */
  publish(method: string, params: Params | undefined): void {
    checkPublication(method, params);
    const kind = JSON.stringify([method, params?.uri]);
    for (const stream of this.#streams.values()) {
      if (stream.wants(method, params)) {
        this.#outbox.publish(stream.receiver, kind, stream.stamped(method, params));
      }
    }
    if (this.#legacyPeer.wants(method, params) && isDeclared(method, this.#settings.capabilities())) {
      const message: JSONRPCMessage = { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) };
      this.#outbox.publish(this.#legacyPeer.receiver, kind, message);
    }
  }

  /** Ends all streams because the server ends: each gets its result, then the cancellation (rule V11). */
  endAll(): void {
    this.#isOver = true;
    const toResult = (result: Params) => completeResult("subscriptions/listen", result, this.#settings);
    for (const stream of this.#streams.values()) {
      this.#outbox.release(stream.receiver);
      // The acknowledgment comes first, here too; it may have found the output full.
      const farewell = stream.farewell(toResult);
      for (const message of stream.opening ? [stream.acknowledgment, ...farewell] : farewell) {
        if ("method" in message) this.#outbox.tell(message);
        else this.#outbox.respond(message);
      }
      this.#end(stream);
    }
  }

  #end(stream: ListenStream): void {
    const wasQueued = stream.opening;
    this.#streams.remove(stream);
    stream.end();
    if (wasQueued) this.#queue.withdrew();
  }
}
