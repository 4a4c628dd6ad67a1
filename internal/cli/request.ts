/** A request as a command makes it: with progress and log messages shown, and given up at Ctrl-C. */

import type { Client } from "../../client.ts";
import type { Params, Result } from "../../messages.ts";
import type { Invocation } from "./command.ts";
import type { CliIo } from "./io.ts";
import { ProgressLine } from "./progress.ts";
import { readSessionOptions } from "./session_options.ts";
import { showLogMessage } from "./session.ts";

/** Makes a request; progress starts its time anew. */
export async function requestWithProgress(
  client: Client,
  method: string,
  params: Params,
  { label, invocation }: { readonly label: string; readonly invocation: Invocation },
  io: CliIo,
): Promise<Result> {
  const { screen, clock, interrupted } = io;
  const { logLevel } = readSessionOptions(invocation.options);
  const line = new ProgressLine(label, screen, clock);
  screen.status(`${label} …`);
  try {
    return await client.request(method, params, {
      signal: interrupted,
      resetTimeoutOnProgress: true,
      maxTimeoutMs: Infinity,
      onProgress: (progress) => line.update(progress),
      onLog: (level, data, logger) => showLogMessage({ level, data, logger }, io),
      logLevel,
    });
  } finally {
    line.end();
  }
}
