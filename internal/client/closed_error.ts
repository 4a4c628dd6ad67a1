import { type CloseReason, ConnectionClosedError } from "../../errors.ts";
import type { ExitStatus } from "../../runtime.ts";
import type { Link } from "./link.ts";

/** How many lines of stderr a message shows. */
const SHOWN_LINES = 3;
const SHOWN_LENGTH = 500;

/** An exit status in words. */
export function describeExit(exit: ExitStatus | null): string {
  if (exit === null) return "unknown status";
  return exit.signal === undefined ? `code ${exit.code}` : `signal ${exit.signal}`;
}

/** The last lines of stderr as the end of a message; empty without any. */
export function describeStderr(stderrTail: string): string {
  const lines = stderrTail.trimEnd().split("\n").slice(-SHOWN_LINES).map((line) => line.trim());
  const text = lines.filter((line) => line !== "").join(" | ");
  return text === "" ? "" : `; its stderr ends with: ${text.slice(-SHOWN_LENGTH)}`;
}

/** What is known about a call that nobody answers any more. */
export interface Loss {
  readonly method: string;
  /** Whether it had begun to leave. */
  readonly sent: boolean;
  /** Why, if it was ended from this side. */
  readonly closedBy: CloseReason | undefined;
  /** The last server. */
  readonly link: Link | undefined;
  readonly stderrTail: string;
  readonly cause: unknown;
}

/** The error for such a call: what could not be done, and how the server went (rule C7). */
export function toClosedError(loss: Loss): ConnectionClosedError {
  const { method, sent, closedBy, link, stderrTail, cause } = loss;
  const exit = link?.exit ?? null;
  const reason = closedBy ?? reasonOf(link);
  const state = closedBy !== undefined
    ? "the client was closed"
    : exit !== null
    ? `the server has exited with ${describeExit(exit)}`
    : reason === "output_failed"
    ? "the server has closed its input"
    : "the server has ended its output";
  return new ConnectionClosedError(
    `Cannot complete "${method}": ${state}`,
    { reason, sent, exit, stderrTail },
    cause === undefined ? {} : { cause },
  );
}

function reasonOf(link: Link | undefined): CloseReason {
  if (link === undefined) return "eof";
  if (link.exit !== null) return "exited";
  if (link.connection.inputError !== undefined) return "input_failed";
  return link.outputFailed ? "output_failed" : "eof";
}
