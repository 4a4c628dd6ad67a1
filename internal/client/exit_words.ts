import { type CloseReason, ConnectionClosedError } from "../../errors.ts";
import type { ExitStatus } from "../../runtime.ts";
import { tellingLines } from "../telling_lines.ts";
import type { Link } from "./link.ts";

/** An exit status in words. */
export function describeExit(exit: ExitStatus | null): string {
  if (exit === null) return "unknown status";
  return exit.signal === undefined ? `code ${exit.code}` : `signal ${exit.signal}`;
}

/** What stderr tells as the end of a message; empty if that is nothing. */
export function describeStderr(stderrTail: string): string {
  const lines = tellingLines(stderrTail);
  return lines.length === 0 ? "" : `; its stderr says: ${lines.join(" | ")}`;
}

/** How a server went that nobody has ended. */
export interface Departure {
  readonly reason: CloseReason;
  /** In words that follow "the server has". */
  readonly words: string;
}

/** How a server is going, as it looks now: what comes of our ending it hides the cause. */
export function describeEnd(link: Link): Departure {
  if (link.exit !== null) return { reason: "exited", words: `exited with ${describeExit(link.exit)}` };
  if (link.connection.inputError !== undefined) {
    return { reason: "input_failed", words: "an output that cannot be read" };
  }
  return link.outputFailed
    ? { reason: "output_failed", words: "closed its input" }
    : { reason: "eof", words: "ended its output" };
}

/** The same in whole words, once it may have exited because of that. */
export function describeDeparture({ reason, words }: Departure, exit: ExitStatus | null): string {
  const isMore = exit !== null && reason !== "exited";
  return `the server has ${words}${isMore ? ` and then exited with ${describeExit(exit)}` : ""}`;
}

/** What is known about a call that nobody answers any more. */
export interface Loss {
  readonly method: string;
  /** Whether it had begun to leave. */
  readonly sent: boolean;
}

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

  /** The error for a call that nobody answers any more: what could not be done, and how the last server went (rule C7). */
  closedError({ method, sent }: Loss): ConnectionClosedError {
    const link = this.#link;
    const departure = link && (this.#departure ?? describeEnd(link));
    const exit = link?.exit ?? null;
    const state = this.#closedBy !== undefined
      ? "the client was closed"
      : departure === undefined
      ? "there is no server"
      : describeDeparture(departure, exit);
    const reason = this.#closedBy ?? departure?.reason ?? "eof";
    return new ConnectionClosedError(
      `Cannot complete "${method}": ${state}`,
      { reason, sent, exit, stderrTail: link?.stderrTail ?? "" },
      this.#cause === undefined ? {} : { cause: this.#cause },
    );
  }
}
