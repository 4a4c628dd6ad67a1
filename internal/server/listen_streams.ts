import {
  isJSONObject,
  type JSONRPCMessage,
  MetaKey,
  type Params,
  type RequestId,
  type ServerCapabilities,
  type SubscriptionFilter,
} from "../../messages.ts";
import type { RawId } from "../framing/message_encoder.ts";
import { asksFor, isDeclared, narrowFilter, PUBLICATIONS } from "../publications.ts";
import { type Identified, IdTable } from "./id_table.ts";
import { Receiver } from "./receiver.ts";
import { invalidParams, serverBusy } from "./error_answers.ts";
import type { UriBudget } from "./uri_budget.ts";
import { CancelledError } from "../../errors.ts";
import type { DispatcherParts } from "./dispatcher.ts";
import type { JobQueue } from "./job_queue.ts";
import type { LegacyPeer } from "./legacy_peer.ts";
import type { Outbox } from "./outbox.ts";
import { completeResult } from "./results.ts";
import type { ServerSettings } from "./settings.ts";

/** One open `subscriptions/listen` request (rule V9). It makes messages and sends none. */
export class ListenStream implements Identified {
  readonly id: RequestId;
  readonly key: RequestId;
  readonly writtenId: RequestId | RawId;
  /** What the server can deliver of what was asked for. */
  readonly filter: SubscriptionFilter;
  readonly receiver: Receiver = new Receiver();
  readonly #budget: UriBudget;
  readonly #uris: ReadonlySet<string>;
  #phase: "opening" | "open" | "ended" = "opening";

  /**
   * Makes one for what the server can deliver of what is asked.
   *
   * @throws {ProtocolError} -32602 if the params hold no filter, -32603 `Server busy` if there is no room for its URIs.
   */
  constructor(
    { id, key }: Identified,
    writtenId: RequestId | RawId,
    params: Params,
    capabilities: ServerCapabilities,
    budget: UriBudget,
  ) {
    this.id = id;
    this.key = key;
    this.writtenId = writtenId;
    this.filter = narrowFilter(readFilter(params), capabilities);
    this.#budget = budget;
    this.#uris = budget.take(this.filter.resourceSubscriptions ?? []);
  }

  /** Whether its acknowledgment is still to be written. */
  get opening(): boolean {
    return this.#phase === "opening";
  }

  /** Whether its client no longer wants it. */
  get ended(): boolean {
    return this.#phase === "ended";
  }

  /** What it is told first. */
  get acknowledgment(): JSONRPCMessage {
    return {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { ...stamp({}, this.writtenId), notifications: this.filter },
    };
  }

  /** Gives the acknowledgment for sending: publications follow it, and none comes before (subscriptions page). */
  acknowledge(): JSONRPCMessage {
    this.#phase = "open";
    return this.acknowledgment;
  }

  /** Nothing more is said to it. */
  end(): void {
    if (this.#phase !== "ended") this.#budget.release(this.#uris);
    this.#phase = "ended";
  }

  /** Whether it asked for a publication. */
  wants(method: string, params: Params | undefined): boolean {
    return this.#phase === "open" && asksFor(this.filter, this.#uris, method, params);
  }

  /** A publication as it goes to this stream. */
  stamped(method: string, params: Params | undefined): JSONRPCMessage {
    return { jsonrpc: "2.0", method, params: stamp(params ?? {}, this.writtenId) };
  }

  /** What ends it because the server ends: its result, then the cancellation (rule V11). */
  farewell(resultOf: (result: Params) => Params): JSONRPCMessage[] {
    const requestId = this.writtenId as RequestId;
    return [
      { jsonrpc: "2.0", id: requestId, result: resultOf(stamp({}, this.writtenId)) },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "server shutdown" } },
    ];
  }
}

/**
 * Checks that something can be published.
 *
 * @throws {TypeError} If it cannot.
 */
export function checkPublication(method: string, params: Params | undefined): void {
  const member = PUBLICATIONS.get(method)?.member;
  if (member === undefined) {
    throw new TypeError(
      `Cannot publish "${method}": only ${[...PUBLICATIONS.keys()].join(", ")} can be published`,
    );
  }
  if (params !== undefined && !isJSONObject(params)) {
    throw new TypeError(`Cannot publish "${method}": the params must be an object`);
  }
  if (member === "resourceSubscriptions" && typeof params?.uri !== "string") {
    throw new TypeError(`Cannot publish "${method}": "uri" must be a string`);
  }
}

function readFilter(params: Params): SubscriptionFilter {
  const { notifications } = params;
  if (!isJSONObject(notifications)) throw invalidParams(`"notifications" is not an object`);
  for (const { member } of PUBLICATIONS.values()) {
    const value = notifications[member];
    if (value === undefined) continue;
    if (member === "resourceSubscriptions") {
      if (!Array.isArray(value) || value.some((uri) => typeof uri !== "string")) {
        throw invalidParams(`"notifications.${member}" is not an array of strings`);
      }
    } else if (typeof value !== "boolean") {
      throw invalidParams(`"notifications.${member}" is not a boolean`);
    }
  }
  return notifications as SubscriptionFilter;
}

/** Params or a result that name their stream. */
function stamp(params: Params, writtenId: RequestId | RawId): Params {
  return {
    ...params,
    _meta: { ...(params._meta as Params | undefined), [MetaKey.subscriptionId]: writtenId },
  };
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

  constructor(parts: Omit<DispatcherParts, "methods">) {
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
