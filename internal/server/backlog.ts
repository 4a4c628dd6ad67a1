import type { Fault, ReceivedMessage } from "../../connection.ts";
import type { JSONRPCRequest, RequestId } from "../../messages.ts";
import type { BatchReply } from "./batch_reply.ts";
import { type Identified, IdTable, keyOf } from "./id_table.ts";

/** A request as it was read. */
export type ReceivedRequest = ReceivedMessage & { readonly message: JSONRPCRequest };

/** A request, and the legacy batch that its response belongs to. */
export interface BatchedRequest {
  readonly request: ReceivedRequest;
  readonly batch: BatchReply | undefined;
}

/** A bad line counts as that at least: what is kept of it takes more than a line of one character. */
const LEAST_FAULT_LENGTH = 256;

/** A request that waits, or a bad line whose answer does. */
export class Waiting implements Identified {
  readonly content: BatchedRequest | Fault;
  /** When it came. */
  readonly since: number;
  /** About how long its line was. */
  readonly length: number;
  readonly id: RequestId;
  readonly key: RequestId;

  constructor(content: BatchedRequest | Fault, since: number) {
    this.content = content;
    this.since = since;
    if ("kind" in content) {
      this.length = Math.max(LEAST_FAULT_LENGTH, content.preview.length);
      this.id = this.key = "";
    } else {
      // Only here, where it counts: a connection does not tell how long its lines were.
      const { message, idText } = content.request;
      this.length = JSON.stringify(message).length;
      this.id = message.id;
      this.key = keyOf(message.id, idText);
    }
  }
}

/** What was read behind a full look-ahead and is not taken on yet, in the order it came (rule V18). */
export class Backlog {
  readonly #waiting = new Set<Waiting>();
  readonly #requests = new IdTable<Waiting>();
  #length = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** About how long the lines of all were. */
  get length(): number {
    return this.#length;
  }

  get oldest(): Waiting | undefined {
    return this.#waiting.values().next().value;
  }

  add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    if (!("kind" in waiting.content)) this.#requests.add(waiting);
    this.#length += waiting.length;
  }

  remove(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#requests.remove(waiting);
    this.#length -= waiting.length;
  }

  /** The request that an id means which came in a cancellation. */
  find(id: RequestId): Waiting | undefined {
    return this.#requests.find(id);
  }
}
