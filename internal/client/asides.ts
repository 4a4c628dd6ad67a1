/**
 * What is written besides requests: notifications, and answers to the server. Many servers answer these with errors that name no
 * request; as long as one may still come, such an error is not taken for the answer to a request (rule C5).
 *
 * Requests are numbered in the order in which they are written.
 */
export class Asides {
  /** The last request before the latest of them; undefined when nothing more can come of it. */
  #behind: number | undefined;

  /** Something was written behind this request. */
  wrote(request: number): void {
    this.#behind = request;
  }

  /** A frame names this request: the server has read whatever was written before it. */
  heard(request: number): void {
    if (this.#behind !== undefined && request > this.#behind) this.#behind = undefined;
  }

  /** Another server begins anew. */
  forget(): void {
    this.#behind = undefined;
  }

  /** Whether nothing of it can be what an error means that names no request. */
  get areHeard(): boolean {
    return this.#behind === undefined;
  }
}
