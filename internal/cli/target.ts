/** Which server a command line means: the command behind `--`, or an entry of a host's file. */

import { type HostConfigInput, type HostServer, readHostConfig, resolveLaunch } from "../../host_config.ts";
import { formatCommandLine } from "../command_line.ts";
import { quoteText } from "../shown_text.ts";
import type { EnvironmentInheritance } from "../environment.ts";
import type { LaunchSettings } from "../process/launch.ts";
import { type Invocation, UnusableServerError, UsageError } from "./command.ts";
import { usagesOf } from "./help.ts";
import type { CliIo } from "./io.ts";

/** A server that can be started. */
export interface ServerTarget {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  /** What is set in its environment; `null` removes a name. */
  readonly env: Readonly<Record<string, string | null>>;
  /**
   * All of this process's environment for a command that was typed, as a shell would give it; the safe names for an entry of
   * a host's file, as a host would.
   */
  readonly inheritEnv: EnvironmentInheritance;
  /** The command line as it is shown, with values of variables and passwords masked. */
  readonly commandLine: string;
}

/**
 * Finds the server of an invocation.
 *
 * @throws {UsageError} If none is named, or both a command and a file are.
 * @throws {HostConfigError} If the file cannot be read.
 * @throws {UnusableServerError} If the entry cannot be started.
 */
export async function resolveTarget(invocation: Invocation, io: CliIo): Promise<ServerTarget> {
  const { options, serverCommand, command } = invocation;
  const config = options.value("config");
  if (serverCommand !== undefined && config !== undefined) {
    throw new UsageError("Cannot choose a server: there is a command behind -- and a --config");
  }
  if (config !== undefined) return await targetOfFile(config, invocation, io);
  if (options.has("server")) {
    throw new UsageError(
      "Cannot use --server: it needs the file that has the server, as in --config .mcp.json",
    );
  }
  const [program, ...args] = serverCommand ?? [];
  if (program === undefined || program === "") {
    throw new UsageError(
      `Cannot start a server: none is named\nusage: ${usagesOf(command).join("\n       ")}`,
    );
  }
  const target = {
    command: program,
    args,
    cwd: options.value("cwd"),
    env: readVariables(options.values("env"), io),
  };
  return {
    ...target,
    inheritEnv: "all",
    commandLine: formatCommandLine(target, { os: io.runtime.os, maxLength: 1_000 }),
  };
}

/** How a target is started by raw bytes; `planLaunch` makes a `SpawnCommand` of it. */
export function toLaunchSettings(
  target: ServerTarget,
  how: Pick<LaunchSettings, "processGroup" | "stderr">,
): LaunchSettings {
  const { command, args, cwd, env, inheritEnv } = target;
  return { command, args, cwd, env, inheritEnv, passEnv: [], ...how };
}

async function targetOfFile(path: string, { options }: Invocation, io: CliIo): Promise<ServerTarget> {
  const config = await readHostConfig(path, {
    runtime: io.runtime,
    resolveInput: (input) => askForInput(input, io),
  });
  const server = pickServer(config.servers, options.value("server"), path);
  if (server.kind === "invalid") throw server.error;
  if (server.kind === "remote") {
    throw new UnusableServerError(
      `Cannot start ${quoteText(server.name)} of ${
        quoteText(path)
      }: it is spoken to over the network, not over stdio`,
    );
  }
  if (server.disabled) io.screen.warn(`${quoteText(server.name)} is switched off in ${quoteText(path)}`);
  const launch = await resolveLaunch(server, { runtime: io.runtime });
  return {
    command: launch.command,
    args: launch.args,
    cwd: options.value("cwd") ?? launch.cwd,
    env: { ...launch.env, ...readVariables(options.values("env"), io) },
    inheritEnv: "safe",
    commandLine: server.commandLine,
  };
}

function pickServer(servers: readonly HostServer[], name: string | undefined, path: string): HostServer {
  const names = servers.map((server) => quoteText(server.name, 60));
  const listed = names.length === 0 ? "it has none" : `it has ${names.slice(0, 20).join(", ")}`;
  if (name === undefined) {
    if (servers.length === 1) return servers[0]!;
    throw new UsageError(`Cannot choose a server of ${quoteText(path)} without --server: ${listed}`);
  }
  const server = servers.find((candidate) => candidate.name === name);
  if (server === undefined) {
    throw new UsageError(`Cannot find the server ${quoteText(name)} in ${quoteText(path)}: ${listed}`);
  }
  return server;
}

async function askForInput(input: HostConfigInput, io: CliIo): Promise<string | undefined> {
  if (!io.input.isTerminal) return undefined;
  const { id, description, password } = input;
  return await io.input.ask(`${quoteText(description ?? id)}: `, { isSecret: password });
}

/** `NAME=VALUE` sets a variable, `NAME` takes it over. */
function readVariables(entries: readonly string[], io: CliIo): Record<string, string> {
  return Object.fromEntries(entries.map((entry): [string, string] => {
    const at = entry.indexOf("=");
    if (at > 0) return [entry.slice(0, at), entry.slice(at + 1)];
    const value = at < 0 && entry !== "" ? io.runtime.env([entry])[entry] : undefined;
    if (value === undefined) {
      throw new UsageError(
        at === 0 || entry === ""
          ? `Cannot use --env ${quoteText(entry)}: it has no name`
          : `Cannot use --env ${quoteText(entry)}: there is no such variable here`,
      );
    }
    return [entry, value];
  }));
}
