import type { Logger } from "../logger.ts";

/** Wraps a logger, so that one which throws changes nothing for its caller. */
export function toSafeLogger(logger: Logger): Logger {
  const call = (level: keyof Logger) => (message: string, ...details: unknown[]): void => {
    try {
      logger[level](message, ...details);
    } catch {
      // There is nobody left to tell.
    }
  };
  return { debug: call("debug"), info: call("info"), warn: call("warn"), error: call("error") };
}
