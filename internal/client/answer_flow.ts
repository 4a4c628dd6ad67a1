import type { Outgoing } from "../../connection.ts";
import { ProtocolError } from "../../errors.ts";
import { ErrorCode } from "../../messages.ts";
import { createDeferred, type Deferred } from "../promises.ts";

/** So many questions of one server may wait for their answers; more are refused. */
export const MAX_QUESTIONS = 256;

/** So many answers to a server may wait for it to read them; then it is read no further. */
const MAX_WAITING_ANSWERS = 256;

/** Answers to a server's own requests on their way out: one that only asks and never reads is held by its pipe. */
export class AnswerFlow {
  #waiting = 0;
  #room: Deferred<void> | undefined;

  /** Counts an answer until it is taken, or lost. */
  add(answer: Outgoing): void {
    this.#waiting++;
    const isGone = (): void => {
      this.#waiting--;
      this.#room?.resolve();
      this.#room = undefined;
    };
    answer.accepted.then(isGone, isGone);
  }

  /** What whoever reads the server has to wait for before the next frame; undefined when there is room. */
  get room(): Promise<void> | undefined {
    if (this.#waiting < MAX_WAITING_ANSWERS) return undefined;
    this.#room ??= createDeferred();
    return this.#room.promise;
  }
}

/** What a question beyond those gets. */
export function tooManyQuestions(): ProtocolError {
  return new ProtocolError(
    ErrorCode.internalError,
    `Client busy: ${MAX_QUESTIONS} requests of the server are not answered yet`,
  );
}
