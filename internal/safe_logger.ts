import { type Logger, stderrLogger } from "../logger.ts";
import type { Clock } from "../runtime.ts";
import { RepeatedLines } from "./repeated_lines.ts";
import { isThenable } from "./thenable.ts";
import { textOfThrown } from "./thrown.ts";

/** Facts that stand beside each warning and error, such as which server it is about. */
export type Facts = { readonly [name: string]: unknown };

/**
 * A logger around another: one that throws, or gives a promise that rejects, changes nothing for its caller; and warnings
 * and errors that are equal are counted rather than repeated.
 */
class SafeLogger implements Logger {
  readonly debug: (message: string, ...details: unknown[]) => void;
  readonly info: (message: string, ...details: unknown[]) => void;
  readonly warn: (message: string, ...details: unknown[]) => void;
  readonly error: (message: string, ...details: unknown[]) => void;
  readonly #lines: RepeatedLines;

  constructor(logger: Logger, clock: Clock, facts: () => Facts | undefined) {
    const showsDetails = logger === stderrLogger;
    const call = (level: keyof Logger, message: string, details: readonly unknown[]): void => {
      try {
        const text = showsDetails ? message : withError(message, details);
        const outcome: unknown = logger[level](text, ...details);
        if (isThenable(outcome)) outcome.then(undefined, () => {});
      } catch {
        // There is nobody left to tell.
      }
    };
    this.#lines = new RepeatedLines((level, message, details) => {
      call(level, message, withFacts(details, facts()));
    }, clock);
    this.debug = (message, ...details) => call("debug", message, details);
    this.info = (message, ...details) => call("info", message, details);
    this.warn = (message, ...details) => this.#lines.add("warn", message, details);
    this.error = (message, ...details) => this.#lines.add("error", message, details);
  }

  flush(): void {
    this.#lines.flush();
  }
}

/** Wraps a logger so that it can be told anything, any number of times. */
export function toSafeLogger(
  logger: Logger,
  clock: Clock,
  facts: () => Facts | undefined = () => undefined,
): Logger {
  return new SafeLogger(logger, clock, facts);
}

/** Has a logger of {@linkcode toSafeLogger} say what it has counted and not yet told: its owner has come to an end. */
export function flushLogger(logger: Logger): void {
  if (logger instanceof SafeLogger) logger.flush();
}

function withFacts(details: readonly unknown[], facts: Facts | undefined): readonly unknown[] {
  if (facts === undefined) return details;
  const [first, ...others] = details;
  const isObject = typeof first === "object" && first !== null && !(first instanceof Error);
  return isObject ? [{ ...first, ...facts }, ...others] : [facts, ...details];
}

/** Loggers that drop what follows the message, as pino does, or write an error as `{}`, as JSON does, say at least what it was. */
function withError(message: string, [first]: readonly unknown[]): string {
  if (typeof first !== "object" || first === null || !("error" in first) || first.error === undefined) {
    return message;
  }
  const text = textOfThrown(first.error);
  return message.includes(text) ? message : `${message}: ${text}`;
}
