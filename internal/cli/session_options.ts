/** Options of the commands that talk to a server by our client, and what they mean. */

import { type Era, LOGGING_LEVELS, type LoggingLevel } from "../../messages.ts";
import { type Options, parseDurationMs } from "./arguments.ts";
import type { OptionSpecs } from "./command.ts";

/** How to talk to a server. */
export const SESSION_OPTIONS: OptionSpecs = {
  timeout: {
    kind: "value",
    placeholder: "DURATION",
    help: "how long an answer is awaited, such as 500ms, 10s, 2m; 60s without it",
  },
  era: {
    kind: "value",
    choices: ["auto", "modern", "legacy"],
    help: "what the server is taken for; without it that is found out",
  },
  "log-level": {
    kind: "value",
    placeholder: "LEVEL",
    choices: LOGGING_LEVELS,
    help: "show the server's log messages from this level on",
  },
  quiet: { kind: "flag", short: "q", help: "hide what the server writes to stderr" },
};

/** For what may give text that a terminal would act on, or bytes. */
export const RAW_OPTION: OptionSpecs = {
  raw: { kind: "flag", help: "text and bytes just as they are, for a file or a pipe" },
};

/** What they mean to a client. */
export interface SessionSettings {
  readonly timeoutMs: number | undefined;
  readonly era: "auto" | Era | undefined;
  readonly logLevel: LoggingLevel | undefined;
}

/**
 * Reads them.
 *
 * @throws {UsageError} If a duration cannot be read.
 */
export function readSessionOptions(options: Options): SessionSettings {
  const timeout = options.value("timeout");
  return {
    timeoutMs: timeout === undefined ? undefined : parseDurationMs("--timeout", timeout),
    era: options.value("era") as "auto" | Era | undefined,
    logLevel: options.value("log-level") as LoggingLevel | undefined,
  };
}
