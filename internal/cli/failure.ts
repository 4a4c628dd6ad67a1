/** What was thrown, as a message for a person or a program, and the exit code that goes with it. */

import { HostConfigError, ProtocolError, StdioError } from "../../errors.ts";
import { EXIT, type ExitCode, UnusableServerError, UsageError } from "./command.ts";
import { showLine, showText } from "./shown_text.ts";

/** How a command failed. */
export interface Failure {
  readonly exitCode: ExitCode;
  /** For a person: what could not be done, and why. */
  readonly message: string;
  /** The last lines that the server wrote to stderr: there it says why it cannot. */
  readonly stderrTail?: readonly string[];
  /** For a program: `usage`, a number of JSON-RPC, or a code of an error class. */
  readonly code: string | number;
  /** What a server gave with its error. */
  readonly data?: unknown;
}

/** Tells what a command threw; undefined for what is no failure that was foreseen. */
export function toFailure(error: unknown): Failure | undefined {
  // Where the library refuses an option as it was given, it throws what the language has for that.
  if (error instanceof UsageError || error instanceof TypeError || error instanceof RangeError) {
    return { exitCode: EXIT.usage, message: error.message, code: "usage" };
  }
  if (error instanceof UnusableServerError) {
    return { exitCode: EXIT.unusable, message: error.message, code: "unusable_server" };
  }
  if (error instanceof ProtocolError) {
    const { code, data } = error;
    return {
      exitCode: EXIT.no,
      message: `The server has answered with error ${code}: ${showLine(error.message)}`,
      code,
      ...data === undefined ? {} : { data },
    };
  }
  if (error instanceof HostConfigError) {
    // A file that is not there was typed wrong; an entry that cannot be used is a server that cannot be.
    const exitCode = error.server === undefined ? EXIT.usage : EXIT.unusable;
    return { exitCode, message: error.message, code: error.code };
  }
  if (error instanceof StdioError) {
    return { exitCode: EXIT.unusable, message: error.message, stderrTail: tailOf(error), code: error.code };
  }
  return undefined;
}

/** A failure as JSON. */
export function failureToJson({ message, code, data }: Failure): unknown {
  return { error: { code, message, ...data === undefined ? {} : { data } } };
}

function tailOf(error: StdioError): string[] {
  const { stderrTail } = error as StdioError & { readonly stderrTail?: unknown };
  if (typeof stderrTail !== "string" || stderrTail.trim() === "") return [];
  return showText(stderrTail).trimEnd().split("\n").slice(-10).map((line) => showLine(line, 400));
}
