/** Puts the variables of an `envFile` into a launch, after it was agreed to. */

import { HostConfigError } from "../../errors.ts";
import { formatVariables } from "../command_line.ts";
import { quoteText } from "../shown_text.ts";
import { effectOf } from "../steering_names.ts";
import { parseEnvFile } from "./env_file.ts";
import { fingerprintLaunch } from "./fingerprint.ts";
import type { HostLaunch, StdioHostServer } from "./shapes.ts";
import { listSteering } from "./warnings.ts";

/** The largest file, in bytes: what a person writes is far smaller. */
export const GREATEST_ENV_FILE_BYTES = 1_048_576;
/** A message names no more bad lines than this. */
const GREATEST_SHOWN_LINES = 20;

/** A server that is ready to be started. */
export interface PreparedServer {
  /** The server, or another one where the file decides what runs: that has to be agreed to anew. */
  readonly server: StdioHostServer;
  /** What to start, with nothing left to read. */
  readonly launch: HostLaunch;
}

/**
 * Reads the variables of a server's file, if it has one.
 *
 * @throws {HostConfigError} If it cannot be read.
 */
export async function prepareServer(
  server: StdioHostServer,
  readFile: (path: string) => Promise<string>,
): Promise<PreparedServer> {
  const { envFile, ...launch } = server.launch;
  if (envFile === undefined) return { server, launch: server.launch };
  const variables = await readVariables(server.name, envFile, readFile);
  const prepared = Object.freeze({ ...launch, env: Object.freeze({ ...variables, ...launch.env }) });
  const own = Object.entries(variables).filter(([name]) => !Object.hasOwn(launch.env, name));
  const steering = Object.fromEntries(own.filter(([name]) => effectOf(name) !== undefined));
  if (Object.keys(steering).length === 0) return { server, launch: prepared };
  const shown = formatVariables(steering, { maxLength: 1000 });
  return {
    server: Object.freeze({
      ...server,
      launch: prepared,
      commandLine: `(${quoteText(envFile)} sets ${shown}) ${server.commandLine}`,
      warnings: Object.freeze([...listSteering(steering), ...server.warnings]),
      fingerprint: await fingerprintLaunch(prepared),
    }),
    launch: prepared,
  };
}

async function readVariables(
  server: string,
  path: string,
  readFile: (path: string) => Promise<string>,
): Promise<Record<string, string>> {
  const fail = (code: "config_unreadable" | "invalid_config", reason: string, options?: ErrorOptions) => {
    const message = `Cannot use the server ${quoteText(server)}: its "envFile" ${quoteText(path)} ${reason}`;
    return new HostConfigError(code, message, { path, server }, options);
  };
  let text: string;
  try {
    text = await readFile(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw fail("config_unreadable", `cannot be read: ${reason}`, { cause });
  }
  if (text.length > GREATEST_ENV_FILE_BYTES) {
    throw fail("config_unreadable", `cannot be read: it has more than ${GREATEST_ENV_FILE_BYTES} bytes`);
  }
  const { variables, badLines } = parseEnvFile(text);
  if (badLines.length > 0) {
    const shown = badLines.slice(0, GREATEST_SHOWN_LINES).join(", ");
    const rest = badLines.length - GREATEST_SHOWN_LINES;
    throw fail(
      "invalid_config",
      `has lines that are no NAME=value: ${shown}${rest > 0 ? ` and ${rest} more` : ""}`,
    );
  }
  return Object.fromEntries(variables);
}
