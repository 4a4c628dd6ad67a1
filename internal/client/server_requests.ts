import { toErrorObject } from "../../errors.ts";
import {
  ErrorCode,
  type JSONRPCErrorObject,
  type JSONRPCRequest,
  type Params,
  type RequestId,
  type Result,
} from "../../messages.ts";
import { RawId } from "../framing/message_encoder.ts";
import type { Logger } from "../../logger.ts";
import { AnswerFlow, MAX_QUESTIONS, tooManyQuestions } from "./answer_flow.ts";
import type { CallTable } from "./call_table.ts";
import type { Questions } from "./questions.ts";
import type { Sender } from "./sender.ts";

/** A request of a server that is being answered. The object itself tells it from another one under the same id. */
interface OpenRequest {
  readonly method: string;
  /** The id as it goes back: the very digits, for an integer that a number cannot hold. */
  readonly id: RequestId;
  readonly controller: AbortController;
}

type Answer = { readonly result: Result } | { readonly error: JSONRPCErrorObject };

/** Answers what a legacy server asks its client: `ping` always, the rest by the handlers for input (rule C11). */
export class ServerRequests {
  readonly #table: CallTable;
  readonly #questions: Questions;
  readonly #sender: Sender;
  readonly #logger: Logger;
  readonly #open = new Map<RequestId, OpenRequest>();
  readonly #flow = new AnswerFlow();

  constructor(table: CallTable, questions: Questions, sender: Sender, logger: Logger) {
    this.#table = table;
    this.#questions = questions;
    this.#sender = sender;
    this.#logger = logger;
  }

  /** Whether a question of the server stands open. */
  get isAsking(): boolean {
    return this.#open.size > 0;
  }

  /** Answers a request, now or later. Gives a promise if the server has to be held: it does not read its answers. */
  answer({ id, method, params = {} }: JSONRPCRequest, idText: string | undefined): Promise<void> | undefined {
    const wireId = idText === undefined ? id : new RawId(idText) as unknown as RequestId;
    if (method === "ping") this.#respond(wireId, { result: {} });
    else if (!this.#questions.knows(method)) {
      const message = `Method not found: ${method.slice(0, 128)}`;
      this.#respond(wireId, { error: { code: ErrorCode.methodNotFound, message } });
    } else if (this.#open.size >= MAX_QUESTIONS) {
      this.#respond(wireId, { error: tooManyQuestions().toJSON() });
    } else {
      this.cancel(id); // Whoever uses an id again has lost interest in the first answer.
      this.#ask(id, { method, id: wireId, controller: new AbortController() }, params);
    }
    return this.#flow.room;
  }

  /** The server no longer wants the answer. */
  cancel(id: RequestId): void {
    const request = this.#open.get(id);
    if (request !== undefined && this.#close(id, request)) request.controller.abort();
  }

  /** Nobody is left to answer to. */
  endAll(): void {
    for (const id of [...this.#open.keys()]) this.cancel(id);
  }

  /** While a person is asked, any call may be waiting for the answer, and none runs out of time. */
  #ask(id: RequestId, request: OpenRequest, params: Params): void {
    this.#open.set(id, request);
    this.#table.freeze();
    this.#questions.ask(request.method, params, request.controller.signal).then(
      (result) => this.#settle(id, request, () => ({ result })),
      (error) => this.#settle(id, request, () => ({ error: this.#errorOf(request.method, error) })),
    );
  }

  #settle(id: RequestId, request: OpenRequest, toAnswer: () => Answer): void {
    if (this.#close(id, request)) this.#respond(request.id, toAnswer());
  }

  /** Gives whether the answer was still wanted. */
  #close(id: RequestId, request: OpenRequest): boolean {
    if (this.#open.get(id) !== request) return false;
    this.#open.delete(id);
    if (this.#open.size === 0) this.#table.thaw();
    return true;
  }

  #errorOf(method: string, thrown: unknown): JSONRPCErrorObject {
    const error = toErrorObject(thrown);
    if (error.code === ErrorCode.internalError) {
      this.#logger.error(`[mcp_router] the handler of "${method}" has failed`, { error: thrown });
    }
    return error;
  }

  /** What cannot be written is owed an answer all the same, and gets one that can, unless it is the id that cannot be written. */
  #respond(id: RequestId, answer: Answer): void {
    const internal = { code: ErrorCode.internalError, message: "Internal error" };
    const outgoing = this.#sender.tell({ jsonrpc: "2.0", id, ...answer }) ??
      this.#sender.tell({ jsonrpc: "2.0", id, error: internal });
    if (outgoing !== undefined) this.#flow.add(outgoing);
  }
}
