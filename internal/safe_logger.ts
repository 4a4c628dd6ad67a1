import type { Logger } from "../logger.ts";

/** A logger whose faults change nothing for whoever has something to say. */
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
