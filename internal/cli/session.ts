/** A server for as long as a command needs it: found, started, talked to by our client, and ended. */

import { type Client, type InputHandlers, spawn } from "../../client.ts";
import type { Logger } from "../../logger.ts";
import type { Params } from "../../messages.ts";
import type { Invocation } from "./command.ts";
import type { CliIo } from "./io.ts";
import { readSessionOptions } from "./session_options.ts";
import { showJson, showLine } from "./shown_text.ts";
import { resolveTarget } from "./target.ts";

/** Starts the server of an invocation, has it used, and ends it whatever came of that. It may ask only with handlers. */
export async function withClient<T>(
  invocation: Invocation,
  io: CliIo,
  use: (client: Client) => Promise<T>,
  inputHandlers?: InputHandlers,
): Promise<T> {
  const { screen, runtime, interrupted } = io;
  const target = await resolveTarget(invocation, io);
  const { timeoutMs, era, logLevel } = readSessionOptions(invocation.options);
  const isQuiet = invocation.options.has("quiet");
  // Once it has answered it is ended in an orderly way, by the second Ctrl-C at the latest.
  const starting = new AbortController();
  const giveUp = () => starting.abort(interrupted.reason);
  interrupted.throwIfAborted();
  interrupted.addEventListener("abort", giveUp, { once: true });
  screen.status(`starting ${target.commandLine}`);
  const { command, args, cwd, env, inheritEnv } = target;
  const client = await spawn({
    command,
    args,
    cwd,
    env,
    inheritEnv,
    // Nobody would see what a second life of it has to do with the first.
    maxRestarts: 0,
    timeoutMs,
    connectTimeoutMs: timeoutMs,
    era,
    logLevel,
    stderr: isQuiet ? "capture" : (line) => screen.note(screen.err.dim(showLine(line))),
    onStrayOutput: (text) => screen.note(screen.err.dim(`on its stdout: ${showLine(text.trimEnd())}`)),
    logger: screenLogger(io),
    inputHandlers,
    onNotification: (method, params) => {
      if (method === "notifications/message") showLogMessage(params, io);
    },
    signal: starting.signal,
    runtime,
  }).finally(() => {
    interrupted.removeEventListener("abort", giveUp);
    screen.status("");
  });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** A log message of a server, on stderr. */
export function showLogMessage(params: Params | undefined, { screen }: CliIo): void {
  const { level, logger, data } = params ?? {};
  const text = typeof data === "string" ? showLine(data) : showLine(showJson(data));
  const from = typeof logger === "string" ? ` ${showLine(logger, 100)}:` : "";
  screen.note(`${screen.err.magenta(`[${showLine(String(level), 20)}]`)}${from} ${text}`);
}

function screenLogger({ screen }: CliIo): Logger {
  const ignore = (): void => {};
  const warn = (message: string, ...details: unknown[]): void => {
    screen.warn([message.replace(/^\[\w+\] /, ""), ...details.map(toText)].join(" "));
  };
  return { debug: ignore, info: ignore, warn, error: warn };
}

function toText(detail: unknown): string {
  if (typeof detail !== "object" || detail === null) return showLine(String(detail));
  return Object.entries(detail).map(([key, value]) => `${key}=${showLine(String(value), 200)}`).join(" ");
}
