import type { CloseReason, ConnectionClosedError } from "../../errors.ts";
import { type Departure, describeDeparture, describeEnd, type Loss, toClosedError } from "./exit_words.ts";
import type { Link } from "./link.ts";

/** How servers went, as those are told whose calls are lost with them. Of what comes together the first counts. */
export class Departures {
  #link: Link | undefined;
  #departure: Departure | undefined;
  #closedBy: CloseReason | undefined;
  #cause: unknown;

  /** The server in use is another one. */
  began(link: Link): void {
    this.#link = link;
    this.#departure = undefined;
  }

  /** It is going, or has to go. */
  noted(departure: Departure): void {
    this.#departure ??= departure;
  }

  /** No server is wanted any more. */
  closedBy(reason: "local" | "killed"): void {
    this.#closedBy ??= reason;
  }

  /** There will be no other server. */
  over(cause: unknown): void {
    this.#cause ??= cause;
  }

  /** Whether all of them end because that was asked for. */
  get isWanted(): boolean {
    return this.#closedBy !== undefined;
  }

  /** Why the last one has ended, in words. */
  get words(): string {
    if (this.#link === undefined) return "the server could not be had";
    return describeDeparture(this.#departure ?? describeEnd(this.#link), this.#link.exit);
  }

  /** The error for a call that nobody answers any more. */
  closedError(loss: Loss): ConnectionClosedError {
    const link = this.#link;
    const server = link && { link, departure: this.#departure ?? describeEnd(link) };
    return toClosedError(loss, server, this.#closedBy, this.#cause);
  }
}
