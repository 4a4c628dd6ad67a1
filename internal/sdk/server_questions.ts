import type { Outgoing } from "../../connection.ts";
import {
  isRequestId,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
} from "../../messages.ts";
import { AnswerFlow, MAX_QUESTIONS, tooManyQuestions } from "../client/answer_flow.ts";

/** What a server asks an SDK's client, as far as it makes things pile up: questions without an answer, and answers that are not read. */
export class ServerQuestions {
  readonly #answer: (response: JSONRPCResponse) => Promise<void>;
  readonly #open = new Set<RequestId>();
  readonly #flow = new AnswerFlow();

  /** `answer` sends what one is answered with that the SDK does not get. */
  constructor(answer: (response: JSONRPCResponse) => Promise<void>) {
    this.#answer = answer;
  }

  /** Takes a question on, or answers that there are too many. */
  admit({ id }: JSONRPCRequest): boolean {
    if (this.#open.size < MAX_QUESTIONS) {
      this.#open.add(id);
      return true;
    }
    this.#answer({ jsonrpc: "2.0", id, error: tooManyQuestions().toJSON() }).catch(() => {}); // The server has gone.
    return false;
  }

  /** Looks at a notification: what the server withdraws is not answered. */
  heard({ method, params }: JSONRPCNotification): void {
    if (method !== "notifications/cancelled") return;
    const id = params?.requestId;
    if (isRequestId(id)) this.#open.delete(id);
  }

  /** An answer is on its way. */
  answered(id: RequestId | undefined, answer: Outgoing): void {
    if (id !== undefined) this.#open.delete(id);
    this.#flow.add(answer);
  }

  /** What the server's next frame has to wait for; undefined when there is room. */
  get room(): Promise<void> | undefined {
    return this.#flow.room;
  }
}
