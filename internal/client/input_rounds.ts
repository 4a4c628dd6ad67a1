import { InvalidResponseError } from "../../errors.ts";
import { isJSONObject, type Params, type Result } from "../../messages.ts";
import { MAX_QUESTIONS } from "./answer_flow.ts";
import type { Call } from "./call.ts";
import type { CallTable } from "./call_table.ts";
import type { Questions } from "./questions.ts";
import type { Sender } from "./sender.ts";

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
  readonly #questions: Questions;
  readonly #sender: Sender;

  constructor(table: CallTable, questions: Questions, sender: Sender) {
    this.#table = table;
    this.#questions = questions;
    this.#sender = sender;
  }

  /** Whether a result wants another round; if so, that is under way. */
  begin(call: Call, result: Result): boolean {
    if (result.resultType !== "input_required") return false;
    const wanted = this.#read(result);
    if (wanted === undefined) return false;
    const tooMuch = ++call.inputRounds > MAX_INPUT_ROUNDS
      ? `input more than ${MAX_INPUT_ROUNDS} times`
      : wanted.requests.length > MAX_QUESTIONS
      ? `more than ${MAX_QUESTIONS} inputs at once`
      : undefined;
    if (tooMuch === undefined) this.#goRound(call, wanted);
    else this.#table.fail(call, new InvalidResponseError(call.method, `the server asked for ${tooMuch}`));
    return true;
  }

  async #goRound(call: Call, { requests, requestState }: WantedInput): Promise<void> {
    const controller = new AbortController();
    call.onSettled = () => controller.abort();
    this.#table.pause(call);
    try {
      const answers = await Promise.all(
        requests.map(async ([key, method, asked]) =>
          [key, await this.#questions.ask(method, asked, controller.signal)] as const
        ),
      );
      if (call.settled) return;
      call.onSettled = undefined;
      const { inputResponses: _responses, requestState: _state, ...original } = call.params;
      call.params = {
        ...original,
        ...(answers.length === 0 ? {} : { inputResponses: Object.fromEntries(answers) }),
        ...(requestState === undefined ? {} : { requestState }),
      };
      this.#table.resume(call);
      this.#sender.postOrWait(call);
    } catch (error) {
      this.#table.failForeign(call, error);
    }
  }

  /** Gives undefined if it asks something that there is no handler for: then the caller gets the result as it is. */
  #read({ inputRequests = {}, requestState }: Result): WantedInput | undefined {
    if (!isJSONObject(inputRequests)) return undefined;
    const requests: Array<readonly [string, string, Params]> = [];
    for (const [key, request] of Object.entries(inputRequests)) {
      if (!isJSONObject(request) || typeof request.method !== "string") return undefined;
      if (!this.#questions.knows(request.method)) return undefined;
      requests.push([key, request.method, isJSONObject(request.params) ? request.params : {}]);
    }
    return { requests, requestState };
  }
}
