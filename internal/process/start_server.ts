import type { Logger } from "../../logger.ts";
import type { Clock, RuntimeAdapter } from "../../runtime.ts";
import { type ConnectionSettings, StreamConnection } from "../stream_connection.ts";
import { endWithThisProcess } from "./process_end.ts";
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
  const child = await runtime.spawn(await planLaunch(launch, runtime));
  if (!settings.keepsAlive) child.unref();
  const process = new OwnedProcess(child, {
    processGroup: launch.processGroup,
    runtime,
    clock,
    onChildOnly: () => warnChildOnly(runtime, logger),
    onRefused: (signal, error) =>
      logger.warn("[mcp_stdio] the server could not be signalled", { signal, error: String(error) }),
  });
  const stopWatching = endWithThisProcess(process, runtime);
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

const warned = new WeakSet<RuntimeAdapter>();

/** Said once for each runtime: it is the same for every server. */
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
