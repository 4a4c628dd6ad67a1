import {
  isJSONObject,
  isRequest,
  isRequestId,
  type JSONRPCMessage,
  type JSONRPCNotification,
  MetaKey,
  type RequestId,
} from "../../messages.ts";
import { RecentIds } from "./recent_ids.ts";

interface Sent {
  readonly method: string;
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
    if (!("method" in message)) return;
    if (isRequest(message)) {
      this.#given.delete(message.id);
      this.#open.set(message.id, { method: message.method, heard: false });
    } else if (message.method === "notifications/cancelled") {
      const { requestId } = message.params ?? {};
      if (isRequestId(requestId) && this.#open.delete(requestId)) this.#given.add(requestId);
    }
  }

  /** Looks at a notification that came: the request it names is heard of. */
  hear({ params = {} }: JSONRPCNotification): void {
    const { progressToken, _meta: meta } = params;
    for (const id of [progressToken, isJSONObject(meta) ? meta[MetaKey.subscriptionId] : undefined]) {
      const sent = isRequestId(id) ? this.#open.get(id) : undefined;
      if (sent !== undefined) sent.heard = true;
    }
  }

  /** Takes a request out: it is answered, or was not sent. `given` tells one that was given up before. */
  settle(id: RequestId): "open" | "given" | "unknown" {
    if (this.#open.delete(id)) return "open";
    return this.#given.delete(id) ? "given" : "unknown";
  }

  /** The method of a request that is not answered. */
  methodOf(id: RequestId): string | undefined {
    return this.#open.get(id)?.method;
  }

  /** The one request that an error without an id can mean, if there is just one (rule C5). */
  get onlyUnheard(): RequestId | undefined {
    const unheard = [...this.#open].filter(([, { heard }]) => !heard);
    return unheard.length === 1 ? unheard[0]![0] : undefined;
  }
}
