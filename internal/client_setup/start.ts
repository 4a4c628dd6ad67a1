/** How a client comes to its server: over what it is given, or by starting a process. */

import type { ClientOptions, SpawnOptions } from "../../client_options.ts";
import type { Connection } from "../../connection.ts";
import type { ByteStreams } from "../../runtime.ts";
import { ServerProcess, takeProcess } from "../../server_process.ts";
import { offAbort, onAbort } from "../abort.ts";
import { stateListener } from "../client/client_state.ts";
import { ClientCore } from "../client/core.ts";
import type { Link } from "../client/link.ts";
import type { ClientSettings } from "../client/settings.ts";
import { StreamLink } from "../client/stream_link.ts";
import { kindOf } from "../process/launch_options.ts";
import { startServer } from "../process/start_server.ts";
import { detectRuntimeToSpawn } from "../runtime/detect.ts";
import { StreamConnection } from "../stream_connection.ts";
import { checkClient, checkLaunch } from "./check_options.ts";
import { describeStart, resolveLaunch, resolveSettings, type Surroundings } from "./resolve_options.ts";

/** A client that has been greeted, and what it goes by. */
export interface StartedClient {
  readonly core: ClientCore;
  readonly settings: ClientSettings;
}

/** Connects to a server that is there. */
export async function connectClient(
  server: ByteStreams | Connection | ServerProcess,
  options: ClientOptions,
): Promise<StartedClient> {
  checkClient("Client.connect()", options);
  const { command, link: taken } = server instanceof ServerProcess ? takeProcess(server) : {};
  const settings = resolveSettings(options, command, false);
  const link = taken ?? toStreamLink(server as ByteStreams | Connection, settings);
  return await start(settings, () => Promise.resolve(link), options);
}

/** Starts a server and connects to it. */
export async function spawnClient(options: SpawnOptions): Promise<StartedClient> {
  checkLaunch("spawn()", options);
  const runtime = options.runtime ?? await detectRuntimeToSpawn();
  const launch = resolveLaunch(options, runtime);
  const settings = resolveSettings(options, describeStart(launch.launch, runtime), true);
  const { logger, clock, connection } = settings;
  return await start(settings, () => startServer({ ...launch, logger, clock, connection }), options);
}

async function start(
  settings: ClientSettings,
  open: () => Promise<Link>,
  { signal, onStateChange }: Pick<SpawnOptions, "signal" | "onStateChange">,
): Promise<StartedClient> {
  signal?.throwIfAborted();
  const core = new ClientCore(settings, open, stateListener(onStateChange, settings.logger));
  const kill = () => void core.kill();
  onAbort(signal, kill);
  core.supervisor.closed.then(() => offAbort(signal, kill));
  try {
    await core.connect();
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
  return { core, settings };
}

function toStreamLink(
  server: ByteStreams | Connection,
  { clock, connection: bounds }: Surroundings,
): StreamLink {
  if (typeof server !== "object" || server === null) {
    throw new TypeError(
      `Cannot use Client.connect(): the server must be two streams, a connection or a process, but is ${
        kindOf(server)
      }`,
    );
  }
  if ("receive" in server) return new StreamLink(server, undefined, clock);
  const connection = new StreamConnection(server, bounds);
  return new StreamLink(connection, connection, clock);
}
