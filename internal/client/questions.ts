import { offAbort, onAbort } from "../abort.ts";
import { isJSONObject, type JSONObject, type Params, type Result } from "../../messages.ts";

/** What a handler is given besides the params. */
export interface InputContext {
  /** Fires when nobody waits for the answer any more. */
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
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(handlers: InputHandlers) {
    this.#handlers = handlers;
  }

  /** Whether there is a handler for a method. */
  knows(method: string): boolean {
    return Object.hasOwn(this.#handlers, method);
  }

  /** Asks. Rejects with what the handler throws, or if the question is over before it was put. */
  async ask(method: string, params: Params, signal: AbortSignal): Promise<Result> {
    if (this.#running >= MAX_RUNNING) await this.#turn(signal);
    else this.#running++;
    try {
      signal.throwIfAborted();
      const answer = await this.#handlers[method]!(params, { signal });
      if (isJSONObject(answer)) return answer;
    } finally {
      this.#goOn();
    }
    throw new TypeError(`Cannot answer "${method}": its handler gave no object`);
  }

  /** Resolves with the permit of one that has ended. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        offAbort(signal, leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(begin);
        reject(signal.reason);
      };
      this.#waiting.add(begin);
      onAbort(signal, leave);
    });
  }

  /** Hands the permit on to whoever waits longest. */
  #goOn(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next();
    }
    this.#running--;
  }
}
