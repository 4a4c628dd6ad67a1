/**
 * What the module says about itself goes through a {@linkcode Logger}. Without one, warnings and errors go
 * to stderr, one line each; `silentLogger` turns that off.
 *
 * @example Collect what is said
 * ```ts
 * import { type Logger, silentLogger } from "@mcp/stdio/logger";
 * import assert from "node:assert/strict";
 *
 * const lines: string[] = [];
 * const logger: Logger = { ...silentLogger, warn: (message) => lines.push(message) };
 * logger.warn("[mcp_router] dropped a frame", { id: 7 });
 * assert.deepEqual(lines, ["[mcp_router] dropped a frame"]);
 * ```
 *
 * @example pino, which takes details before the text
 * ```ts ignore
 * import type { Logger } from "@mcp/stdio/logger";
 * import { pino, stdSerializers } from "pino";
 *
 * const log = pino({ serializers: { error: stdSerializers.err } }, pino.destination(2));
 * const logger: Logger = {
 *   debug: (text, details) => log.debug(details, text),
 *   info: (text, details) => log.info(details, text),
 *   warn: (text, details) => log.warn(details, text),
 *   error: (text, details) => log.error(details, text),
 * };
 * ```
 *
 * @module
 */

import { writeStderrLine } from "./internal/stderr_line.ts";
import { textOfThrown } from "./internal/thrown.ts";

/**
 * Anything that takes log lines: `console`, the loggers of `@std/log`, LogTape, pino and winston fit without a cast. Each call
 * passes one line of text, which begins with its scope in square brackets (`[mcp_stdio]`), and at most one object of details.
 * The text alone says what has happened, since some loggers drop the details. The logger of a server must not write to stdout.
 */
export interface Logger {
  // Methods and not properties, whose parameters the compiler compares more strictly: then some of these loggers would not fit.
  /** Details that help to find a fault. */
  debug(message: string, ...details: unknown[]): void;
  /** A normal event. */
  info(message: string, ...details: unknown[]): void;
  /** Something was dropped, or went wrong and was put right. */
  warn(message: string, ...details: unknown[]): void;
  /** Something failed. */
  error(message: string, ...details: unknown[]): void;
}

function ignore(): void {}

/** Takes everything and says nothing. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Writes warnings and errors to stderr, one line each, and drops the rest. The default. */
export const stderrLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn(message: string, ...details: unknown[]): void {
    writeLine("warning", message, details);
  },
  error(message: string, ...details: unknown[]): void {
    writeLine("error", message, details);
  },
};

/** A longer line is cut: an error's text may be of any length. */
const MAX_LINE_LENGTH = 16_384;

function writeLine(level: string, message: string, details: readonly unknown[]): void {
  const facts = details.map((detail) => ` ${toText(detail)}`).join("");
  const line = `${level}: ${message}${facts}`.slice(0, MAX_LINE_LENGTH);
  writeStderrLine(line.replaceAll(/[\r\n]+/g, " "));
}

function toText(detail: unknown): string {
  try {
    if (typeof detail !== "object" || detail === null || detail instanceof Error) return valueText(detail);
    return Object.entries(detail).map(([key, value]) => `${key}=${valueText(value)}`).join(" ");
  } catch {
    return "details that cannot be read";
  }
}

function valueText(value: unknown): string {
  try {
    return String(value instanceof Error ? value.stack ?? value : value);
  } catch {
    return textOfThrown(value);
  }
}
