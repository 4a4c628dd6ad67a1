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

/** How a server went that nobody has ended: in a word, and in words that follow "the server has". */
export function describeEnd(link: Link | undefined): readonly [reason: CloseReason, words: string] {
  if (link === undefined) return ["eof", "ended its output"];
  if (link.exit !== null) return ["exited", `exited with ${describeExit(link.exit)}`];
  if (link.connection.inputError !== undefined) return ["input_failed", "an output that cannot be read"];
  return link.outputFailed ? ["output_failed", "closed its input"] : ["eof", "ended its output"];
}

/** What is known about a call that nobody answers any more. */
export interface Loss {
  readonly method: string;
  /** Whether it had begun to leave. */
  readonly sent: boolean;
}

/** The error for such a call: what could not be done, and how the server went (rule C7). */
export function toClosedError(
  { method, sent }: Loss,
  link: Link | undefined,
  /** Why, if it was ended from this side. */
  closedBy: CloseReason | undefined,
  cause: unknown,
): ConnectionClosedError {
  const [reason, words] = describeEnd(link);
  const state = closedBy === undefined ? `the server has ${words}` : "the client was closed";
  return new ConnectionClosedError(
    `Cannot complete "${method}": ${state}`,
    { reason: closedBy ?? reason, sent, exit: link?.exit ?? null, stderrTail: link?.stderrTail ?? "" },
    cause === undefined ? {} : { cause },
  );
}
