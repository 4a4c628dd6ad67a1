import {
  isJSONObject,
  isRequest,
  isRequestId,
  type JSONRPCMessage,
  type JSONRPCNotification,
  MetaKey,
  type RequestId,
} from "../../messages.ts";
import { Asides } from "../client/asides.ts";
import { RecentIds } from "./recent_ids.ts";

interface Sent {
  readonly method: string;
  /** Its place among all requests. */
  readonly number: number;
  /** Whether anything was said about it before its answer. */
  heard: boolean;
}

/**
 * Requests that one of the SDKs has sent and that are not answered. The SDKs look answers up by `Number(id)`, so that `""`
 * and `"0"` would settle request 0; here an id is itself and nothing else.
 */
export class SentRequests {
  readonly #open = new Map<RequestId, Sent>();
  readonly #given = new RecentIds();
  readonly #asides = new Asides();
  #lastNumber = 0;

  /** How many are not answered. */
  get size(): number {
    return this.#open.size;
  }

  /** The ids of those. */
  get ids(): RequestId[] {
    return [...this.#open.keys()];
  }

  /** Looks at a message on its way out: a request is waited for, one that is cancelled no longer. */
  note(message: JSONRPCMessage): void {
    if ("method" in message && isRequest(message)) {
      this.#given.delete(message.id);
      this.#open.set(message.id, { method: message.method, number: ++this.#lastNumber, heard: false });
      return;
    }
    this.#asides.wrote(this.#lastNumber);
    if ("method" in message && message.method === "notifications/cancelled") {
      const { requestId } = message.params ?? {};
      if (isRequestId(requestId) && this.#open.delete(requestId)) this.#given.add(requestId);
    }
  }

  /** Looks at a notification that came: the request it names is heard of. */
  hear({ params = {} }: JSONRPCNotification): void {
    const { progressToken, _meta: meta } = params;
    for (const id of [progressToken, isJSONObject(meta) ? meta[MetaKey.subscriptionId] : undefined]) {
      const sent = isRequestId(id) ? this.#open.get(id) : undefined;
      if (sent === undefined) continue;
      sent.heard = true;
      this.#asides.heard(sent.number);
    }
  }

  /** Another server begins anew: what was written to the last one does not count. */
  forgetAsides(): void {
    this.#asides.forget();
  }

  /** Takes a request out: it is answered, or was not sent. `given` tells one that was given up before. */
  settle(id: RequestId): "open" | "given" | "unknown" {
    const sent = this.#open.get(id);
    if (sent !== undefined) {
      this.#open.delete(id);
      this.#asides.heard(sent.number);
      return "open";
    }
    return this.#given.delete(id) ? "given" : "unknown";
  }

  /** The method of a request that is not answered. */
  methodOf(id: RequestId): string | undefined {
    return this.#open.get(id)?.method;
  }

  /** The one request that an error without an id can mean, if there is just one and nothing else it could mean (rule C5). */
  get onlyCandidate(): RequestId | undefined {
    if (!this.#asides.areHeard) return undefined;
    const unheard = [...this.#open].filter(([, { heard }]) => !heard);
    return unheard.length === 1 ? unheard[0]![0] : undefined;
  }
}
