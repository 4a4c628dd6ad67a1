import { isJSONObject, type JSONObject, type Params, type Result } from "../../messages.ts";
import { TaskQueue } from "../task_queue.ts";

/** What a handler of input is given besides the params. */
export interface InputContext {
  /** Fires when nobody waits for the answer any more: the server has withdrawn its question, or the request behind it is over. */
  readonly signal: AbortSignal;
}

/** Answers what a server asks of its client: by method, such as `elicitation/create`. */
export type InputHandler = (
  params: Params,
  context: InputContext,
) => Result | JSONObject | Promise<Result | JSONObject>;

/** Handlers by method. */
export type InputHandlers = { readonly [method: string]: InputHandler };

/** So many handlers run at once; most of them ask a person. */
const MAX_RUNNING = 16;

/** Puts the questions of servers to the handlers, in the order in which they come (rule C11). */
export class Questions {
  readonly #handlers: InputHandlers;
  readonly #queue = new TaskQueue(MAX_RUNNING, MAX_RUNNING);

  constructor(handlers: InputHandlers) {
    this.#handlers = handlers;
  }

  /** Whether there is a handler for a method. */
  knows(method: string): boolean {
    return Object.hasOwn(this.#handlers, method);
  }

  /** Asks. Rejects with what the handler throws, or if the question is over before it was put. */
  ask(method: string, params: Params, signal: AbortSignal): Promise<Result> {
    return this.#queue.run(method, async () => {
      signal.throwIfAborted();
      const answer = await this.#handlers[method]!(params, { signal });
      if (isJSONObject(answer)) return answer;
      throw new TypeError(`Cannot answer "${method}": its handler gave no object`);
    }, signal);
  }
}
