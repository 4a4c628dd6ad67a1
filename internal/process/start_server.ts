import type { Logger } from "../../logger.ts";
import type { Clock, RuntimeAdapter, SpawnCommand } from "../../runtime.ts";
import { type ConnectionSettings, StreamConnection } from "../stream_connection.ts";
import { getVariable } from "../variables.ts";
import { type LaunchSettings, planLaunch } from "./launch.ts";
import { OwnedProcess } from "./owned_process.ts";
import { ProcessLink } from "./process_link.ts";
import { StderrDrain, type StderrReceivers } from "./stderr_drain.ts";

/** What starting a server needs; all of it is set. */
export interface StartSettings {
  readonly launch: LaunchSettings;
  /** Whether the process keeps this one alive. */
  readonly keepsAlive: boolean;
  readonly stderr: StderrReceivers;
  readonly connection: ConnectionSettings;
  readonly runtime: RuntimeAdapter;
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Starts a server process and gives the link to it. From here on the process is owned: it is drained, ended with this
 * process, and reaped.
 *
 * @throws {ProcessError} If it cannot be started.
 */
export async function startServer(settings: StartSettings): Promise<ProcessLink> {
  const { launch, runtime, logger, clock } = settings;
  const command = await planLaunch(launch, runtime);
  if (launch.inheritEnv !== "none" && !runtime.mayReadEnv("PATH")) {
    warnOfPoorEnvironment(command, runtime, logger);
  }
  const child = await runtime.spawn(command);
  if (!settings.keepsAlive) child.unref();
  const process = new OwnedProcess(child, {
    processGroup: launch.processGroup,
    runtime,
    clock,
    onChildOnly: () => warnChildOnly(runtime, logger),
    onRefused: (signal, error) =>
      logger.warn("[mcp_stdio] the server could not be signalled", { signal, error: String(error) }),
  });
  const stopWatching = runtime.onProcessEnd(() => process.endNow()); // Rule P9.
  const connection = new StreamConnection(
    { readable: child.stdout, writable: child.stdin },
    settings.connection,
  );
  const stderr = child.stderr === null
    ? undefined
    : new StderrDrain(child.stderr, settings.stderr, (error) => {
      logger.error("[mcp_stdio] a receiver of stderr has failed", { error });
    });
  return new ProcessLink({
    process,
    connection,
    stderr,
    hasGracefulSignal: runtime.os !== "windows",
    clock,
    onGone: stopWatching,
  });
}

/** Each is said once for each runtime: it is the same for every server. */
const warnedOfEnvironment = new WeakSet<RuntimeAdapter>();
const warned = new WeakSet<RuntimeAdapter>();

function warnOfPoorEnvironment({ env }: SpawnCommand, runtime: RuntimeAdapter, logger: Logger): void {
  if (warnedOfEnvironment.has(runtime) || getVariable(runtime.os, env, "PATH") !== undefined) return;
  warnedOfEnvironment.add(runtime);
  const what = runtime.mayReadEnv("HOME") ? "without PATH" : "with an empty environment";
  logger.warn(
    `[mcp_stdio] the environment of this process may not be read, so that its servers start ${what}: ` +
      "that needs --allow-env",
  );
}

function warnChildOnly(runtime: RuntimeAdapter, logger: Logger): void {
  if (warned.has(runtime)) return;
  warned.add(runtime);
  logger.warn(
    runtime.os === "windows"
      ? "[mcp_stdio] only the server itself was ended, not what it started: taskkill failed, or may not be run"
      : "[mcp_stdio] only the server itself can be signalled, not what it started: " +
        "that needs --allow-run without a list",
  );
}
