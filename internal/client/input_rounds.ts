import { InvalidResponseError } from "../../errors.ts";
import { isJSONObject, type JSONObject, type Params, type Result } from "../../messages.ts";
import type { Call } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import type { Sender } from "./sender.ts";

/** Answers what a server asks of its client: by method, such as `elicitation/create`. */
export type InputHandler = (params: Params) => Result | JSONObject | Promise<Result | JSONObject>;

/** Handlers by method. */
export type InputHandlers = { readonly [method: string]: InputHandler };

/** As often as one request may come back for more input (rule C11). */
const MAX_INPUT_ROUNDS = 10;

/** What a server wants to know before it goes on. */
interface WantedInput {
  readonly requests: ReadonlyArray<readonly [key: string, method: string, params: Params]>;
  readonly requestState: unknown;
}

/** Gathers what servers want to know, and asks them again (rule C11). */
export class InputRounds {
  readonly #table: CallTable;
  readonly #handlers: InputHandlers;
  readonly #sender: Sender;

  constructor(table: CallTable, handlers: InputHandlers, sender: Sender) {
    this.#table = table;
    this.#handlers = handlers;
    this.#sender = sender;
  }

  /** Whether a result wants another round; if so, that is under way. */
  begin(call: Call, result: Result): boolean {
    if (result.resultType !== "input_required") return false;
    const wanted = readWantedInput(result, this.#handlers);
    if (wanted === undefined) return false;
    if (++call.inputRounds <= MAX_INPUT_ROUNDS) {
      this.#goRound(call, wanted);
      return true;
    }
    const reason = `the server asked for input more than ${MAX_INPUT_ROUNDS} times`;
    this.#table.fail(call, new InvalidResponseError(call.method, reason));
    return true;
  }

  async #goRound(call: Call, wanted: WantedInput): Promise<void> {
    this.#table.pause(call);
    try {
      const params = await answerInput(call.params, wanted, this.#handlers);
      if (call.settled) return;
      call.params = params;
      this.#table.resume(call);
      this.#sender.postOrWait(call);
    } catch (error) {
      this.#table.fail(call, error);
    }
  }
}

/**
 * Reads an `input_required` result. Gives undefined if it asks something that there is no handler for: then the caller gets it
 * as it is.
 */
function readWantedInput(
  { inputRequests = {}, requestState }: Result,
  handlers: InputHandlers,
): WantedInput | undefined {
  if (!isJSONObject(inputRequests)) return undefined;
  const requests: Array<readonly [string, string, Params]> = [];
  for (const [key, request] of Object.entries(inputRequests)) {
    if (!isJSONObject(request) || typeof request.method !== "string") return undefined;
    if (!Object.hasOwn(handlers, request.method)) return undefined;
    requests.push([key, request.method, isJSONObject(request.params) ? request.params : {}]);
  }
  return { requests, requestState };
}

/** The params of the next round: those of the first, the answers, and the state as it came. */
async function answerInput(
  params: Params,
  wanted: WantedInput,
  handlers: InputHandlers,
): Promise<Params> {
  const { inputResponses: _responses, requestState: _state, ...original } = params;
  const answers = await Promise.all(
    wanted.requests.map(async ([key, method, asked]) => [key, await handlers[method]!(asked)] as const),
  );
  return {
    ...original,
    ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
    ...(wanted.requestState === undefined ? {} : { requestState: wanted.requestState }),
  };
}
