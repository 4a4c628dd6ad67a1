/** A server's process without a client: what any client of the protocol can talk to. `client.ts` gives this out. */

import { checkLaunch } from "./internal/client_setup/check_options.ts";
import type { CloseOptions, CloseReport, SpawnOptions } from "./client_options.ts";
import {
  describeStart,
  resolveGraces,
  resolveLaunch,
  resolveSurroundings,
} from "./internal/client_setup/resolve_options.ts";
import type { Connection } from "./connection.ts";
import { offAbort, onAbort } from "./internal/abort.ts";
import type { Graces, Link } from "./internal/client/link.ts";
import type { StartedCommand } from "./internal/client/settings.ts";
import { withoutUndefined } from "./internal/options.ts";
import { startServer } from "./internal/process/start_server.ts";
import { detectRuntimeToSpawn } from "./internal/runtime/detect.ts";
import type { ExitStatus } from "./runtime.ts";

/** Options for {@linkcode spawnServer}, with the meaning and the defaults that they have for `spawn`. There are no restarts. */
export type SpawnServerOptions =
  & Pick<SpawnOptions, "command" | "args" | "cwd" | "env" | "inheritEnv" | "passEnv" | "processGroup">
  & Pick<SpawnOptions, "stderr" | "keepAlive" | "shutdownGraceMs" | "terminateGraceMs" | "signal" | "runtime">
  & Pick<SpawnOptions, "limits" | "logger" | "traceFrames" | "clock">;

/** What a client needs to know of a process, by the process. */
const INSIDES = new WeakMap<ServerProcess, { readonly link: Link; readonly command: StartedCommand }>();

let own: (link: Link, command: StartedCommand, graces: Graces) => ServerProcess;

/**
 * A server's process that was started and is owned: its stderr is read, it is reaped, and it ends with this process. Made by
 * {@linkcode spawnServer}.
 */
export class ServerProcess {
  /** Messages to and from the server. Only one may receive: whoever connects, or you. */
  readonly connection: Connection;
  /** Resolves when the process has been reaped, with how it ended; null when the system does not say. */
  readonly exited: Promise<ExitStatus | null>;
  readonly #link: Link;
  readonly #graces: Graces;

  private constructor(link: Link, command: StartedCommand, graces: Graces) {
    this.#link = link;
    this.#graces = graces;
    this.connection = link.connection;
    this.exited = link.exited.then(() => link.exit);
    INSIDES.set(this, { link, command });
  }

  static {
    own = (link, command, graces) => new ServerProcess(link, command, graces);
  }

  /** The process's id; undefined once it has been reaped. */
  get pid(): number | undefined {
    return this.#link.pid;
  }

  /** How the process ended; null before, and when the system does not say. */
  get exitStatus(): ExitStatus | null {
    return this.#link.exit;
  }

  /** The last 64 KiB of the server's stderr; empty unless `stderr` is `tee`, `capture` or a function. */
  get stderrTail(): string {
    return this.#link.stderrTail;
  }

  /** Ends the server: its input ends, then SIGTERM, then SIGKILL, to it and to what it started. Resolves when it is reaped. */
  close(options: CloseOptions = {}): Promise<CloseReport> {
    return this.#link.end(resolveGraces({ ...this.#graces, ...withoutUndefined(options) }));
  }

  /** Ends the server and what it started at once. */
  kill(): Promise<CloseReport> {
    return this.#link.kill();
  }

  /** The same as {@linkcode ServerProcess.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Starts a server and owns its process, and speaks no protocol: hand the process to `Client.connect`, or talk to it through its
 * `connection`. `spawn` does both and starts the server again when it crashes.
 *
 * @example
 * ```ts ignore
 * import { Client, spawnServer } from "@mcp/stdio/client";
 *
 * const server = await spawnServer({ command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] });
 * const client = await Client.connect(server);
 * ```
 *
 * @throws {ProcessError} As a rejection, if it cannot be started.
 * @throws {TypeError} As a rejection, if an option cannot be used.
 * @throws {RangeError} As a rejection, if a limit or a duration cannot be used.
 */
export async function spawnServer(options: SpawnServerOptions): Promise<ServerProcess> {
  checkLaunch("spawnServer()", options);
  const { signal } = options;
  const runtime = options.runtime ?? await detectRuntimeToSpawn();
  const start = resolveLaunch(options, runtime);
  const graces = resolveGraces(options);
  const command = describeStart(start.launch, runtime);
  const surroundings = resolveSurroundings(options, () => ({ server: command.line }));
  signal?.throwIfAborted();
  const link = await startServer({ ...start, ...surroundings });
  if (signal?.aborted) {
    await link.kill();
    throw signal.reason;
  }
  const kill = () => void link.kill();
  onAbort(signal, kill);
  link.exited.then(() => offAbort(signal, kill));
  return own(link, command, graces);
}

/**
 * Takes a process for a client.
 *
 * @throws {TypeError} If another client has it.
 */
export function takeProcess(
  server: ServerProcess,
): { readonly link: Link; readonly command: StartedCommand } {
  const insides = INSIDES.get(server);
  if (insides === undefined) throw new TypeError("Cannot connect to the process: another client has it");
  INSIDES.delete(server);
  return insides;
}
