import type { JSONRPCMessage } from "../../messages.ts";

/** Collects the responses to a legacy batch and hands them on together, once the last one is there. */
export class BatchReply {
  readonly #done: (responses: readonly JSONRPCMessage[]) => void;
  readonly #responses: JSONRPCMessage[] = [];
  #owed = 0;
  #sealed = false;

  constructor(done: (responses: readonly JSONRPCMessage[]) => void) {
    this.#done = done;
  }

  /** Announces one more response. */
  expect(): void {
    this.#owed++;
  }

  /** Takes an announced response. */
  add(response: JSONRPCMessage): void {
    this.#responses.push(response);
    this.skip();
  }

  /** One announced response will not come: its request was cancelled. */
  skip(): void {
    this.#owed--;
    this.#finish();
  }

  /** Tells that all have been announced. */
  seal(): void {
    this.#sealed = true;
    this.#finish();
  }

  #finish(): void {
    if (this.#sealed && this.#owed === 0 && this.#responses.length > 0) this.#done(this.#responses);
  }
}
