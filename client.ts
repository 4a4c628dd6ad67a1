/**
 * The client side: {@linkcode spawn} starts a server process and owns it, {@linkcode Client} talks to it, in whichever
 * era it speaks.
 *
 * @example A client in memory
 * ```ts
 * import { Client } from "@mcp/stdio/client";
 * import { Server } from "@mcp/stdio/server";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const server = new Server({
 *   info: { name: "weather", version: "1.0.0" },
 *   tools: { forecast: { call: ({ city }) => `Sunny in ${city}.` } },
 * });
 * const [here, there] = createStreamPair();
 * server.run(there);
 *
 * const client = await Client.connect(here);
 * const { tools } = await client.request("tools/list");
 * assert.deepEqual(tools.map(({ name }) => name), ["forecast"]);
 * await client.close();
 * ```
 *
 * @module
 */

import type {
  ClientOptions,
  ClientState,
  CloseOptions,
  CloseReport,
  Listening,
  RequestOptions,
  SpawnOptions,
} from "./client_options.ts";
import {
  checkLaunch,
  resolveGraces,
  resolveLaunch,
  resolveRequest,
  resolveSettings,
  type Surroundings,
} from "./client_settings.ts";
import type { Connection } from "./connection.ts";
import { offAbort, onAbort } from "./internal/abort.ts";
import type { CallSettings } from "./internal/client/call.ts";
import { stateListener, stateOf } from "./internal/client/client_state.ts";
import { ClientCore } from "./internal/client/core.ts";
import type { Graces, Link } from "./internal/client/link.ts";
import type { ClientSettings } from "./internal/client/settings.ts";
import { StreamLink } from "./internal/client/stream_link.ts";
import { formatCommandLine } from "./internal/command_line.ts";
import { startServer } from "./internal/process/start_server.ts";
import { withoutUndefined } from "./internal/options.ts";
import { detectRuntime } from "./internal/runtime/detect.ts";
import { StreamConnection } from "./internal/stream_connection.ts";
import {
  type Era,
  type Implementation,
  isJSONObject,
  type Params,
  type Result,
  type ServerCapabilities,
  type SubscriptionFilter,
} from "./messages.ts";
import type { CoreMethods } from "./methods.ts";
import type { ByteStreams, ExitStatus } from "./runtime.ts";
import { ServerProcess, takeProcess } from "./server_process.ts";

export type {
  ClientLimits,
  ClientOptions,
  ClientState,
  CloseOptions,
  CloseReport,
  InputContext,
  InputHandler,
  ListenEvent,
  Listening,
  Progress,
  RequestOptions,
  SpawnOptions,
} from "./client_options.ts";
export { ServerProcess, spawnServer, type SpawnServerOptions } from "./server_process.ts";

/**
 * A client of one MCP server.
 *
 * @example
 * ```ts
 * import { Client } from "@mcp/stdio/client";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const [here] = createStreamPair();
 * await assert.rejects(Client.connect(here, { connectTimeoutMs: 10 }), { code: "negotiation_timeout" });
 * ```
 */
export class Client {
  readonly #core: ClientCore;
  readonly #settings: ClientSettings;
  /** For requests without options. */
  readonly #requestDefaults: CallSettings;

  private constructor(core: ClientCore, settings: ClientSettings) {
    this.#core = core;
    this.#settings = settings;
    this.#requestDefaults = resolveRequest({}, settings);
  }

  /**
   * Connects to a server: at the other end of two streams or a connection, or in a process of {@linkcode spawnServer}, which then
   * ends with the client. Resolves when it has answered.
   *
   * @throws {NegotiationError} As a rejection, if it cannot be used.
   * @throws {ProcessError} As a rejection, if its process exits before it has answered.
   * @throws {TypeError} As a rejection, if another client has the process.
   * @throws {RangeError} As a rejection, if a limit or a duration cannot be used.
   */
  static async connect(
    server: ByteStreams | Connection | ServerProcess,
    options: ClientOptions = {},
  ): Promise<Client> {
    const { command, link: taken } = server instanceof ServerProcess ? takeProcess(server) : {};
    const settings = resolveSettings(options, command, false);
    const link = taken ?? toStreamLink(server as ByteStreams | Connection, settings);
    return await Client.#start(settings, () => Promise.resolve(link), options);
  }

  /** Used by {@linkcode spawn}. */
  static async #start(
    settings: ClientSettings,
    open: () => Promise<Link>,
    options: SpawnSignal,
  ): Promise<Client> {
    const { signal, onStateChange } = options;
    signal?.throwIfAborted();
    const core = new ClientCore(settings, open, stateListener(onStateChange, settings.logger));
    const kill = () => void core.kill();
    if (signal !== undefined) {
      onAbort(signal, kill);
      core.supervisor.closed.then(() => offAbort(signal, kill));
    }
    try {
      await core.connect();
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
    return new Client(core, settings);
  }

  /** Used by {@linkcode spawn}. */
  static async spawn(options: SpawnOptions): Promise<Client> {
    checkLaunch("spawn()", options);
    const runtime = options.runtime ?? await detectRuntime();
    const start = resolveLaunch(options, runtime);
    const { command, args, cwd, env } = start.launch;
    const line = formatCommandLine({ command, args, cwd, env }, { os: runtime.os, maxLength: 1_000 });
    const settings = resolveSettings(options, { command, args, cwd, line }, true);
    const { logger, clock, connection } = settings;
    return await Client.#start(settings, () => startServer({ ...start, logger, clock, connection }), options);
  }

  /** Where the client is in its life. */
  get state(): ClientState {
    return stateOf(this.#core.supervisor.life, this.#core.supervisor.restartCount);
  }

  /** The id of the server's process; undefined while there is none. */
  get pid(): number | undefined {
    return this.#core.supervisor.link?.pid;
  }

  /** Whether requests speak for themselves or a handshake was made. */
  get era(): Era {
    return this.#core.peer!.era;
  }

  /** The revision that is spoken. */
  get protocolVersion(): string {
    return this.#core.peer!.protocolVersion;
  }

  /** Who the server says it is. For display and logs. */
  get serverInfo(): Implementation | undefined {
    return this.#core.peer!.serverInfo;
  }

  /** What the server can do. */
  get capabilities(): ServerCapabilities {
    return this.#core.peer!.capabilities;
  }

  /** How a model should use the server, if it says. */
  get instructions(): string | undefined {
    return this.#core.peer!.instructions;
  }

  /** How the last server process ended that was reaped; null before, and when the system does not say (rule P6). */
  get exitStatus(): ExitStatus | null {
    return this.#core.supervisor.lastExit;
  }

  /** How many times the server was started again. */
  get restartCount(): number {
    return this.#core.supervisor.restartCount;
  }

  /** The last 64 KiB of the server's stderr; empty unless `stderr` is `tee`, `capture` or a function. */
  get stderrTail(): string {
    return this.#core.stderrTail;
  }

  /** Resolves when the server has ended and none will be started any more. */
  get closed(): Promise<CloseReport> {
    return this.#core.supervisor.closed;
  }

  /**
   * Makes a request and resolves with its result. Params and results of the core methods are known by type; other methods take
   * and give objects.
   *
   * @throws {ProtocolError} As a rejection, if the server answers with an error.
   * @throws {RequestTimeoutError} As a rejection, if it does not answer in time.
   * @throws {InvalidResponseError} As a rejection, if its answer cannot be read.
   * @throws {ConnectionClosedError} As a rejection, if it ends first.
   * @throws {FrameError} As a rejection, if the request cannot be written.
   * @throws {TypeError} If the method is no string, or the params are no object.
   * @throws {RangeError} If a duration cannot be used.
   */
  request<Method extends keyof CoreMethods>(
    method: Method,
    ...rest: Record<never, never> extends CoreMethods[Method]["params"]
      ? [params?: CoreMethods[Method]["params"], options?: RequestOptions]
      : [params: CoreMethods[Method]["params"], options?: RequestOptions]
  ): Promise<CoreMethods[Method]["result"]>;
  /** Makes a request of any other method. */
  request<Method extends string>(
    method: Method extends keyof CoreMethods ? never : Method,
    params?: Params,
    options?: RequestOptions,
  ): Promise<Result>;
  request(method: string, params: Params = {}, options?: RequestOptions): Promise<Result> {
    checkMessage(method, params);
    const settings = options === undefined ? this.#requestDefaults : resolveRequest(options, this.#settings);
    return this.#core.request(method, params, settings);
  }

  /**
   * Sends a notification. Resolves when the server's pipe has taken it.
   *
   * @throws {ConnectionClosedError} As a rejection, if there is no server to take it.
   * @throws {FrameError} As a rejection, if it cannot be written.
   * @throws {TypeError} If the method is no string, or the params are no object.
   */
  notify(method: string, params?: Params): Promise<void> {
    checkMessage(method, params);
    return this.#core.notify(method, params);
  }

  /**
   * Listens for changes: the same call in both eras. After a restart the server is asked again and the iteration goes on.
   *
   * @throws {ConnectionClosedError} If the client is closed.
   */
  listen(filter: SubscriptionFilter): Listening {
    return this.#core.listen(filter);
  }

  /**
   * Ends the server: its input ends, then SIGTERM, then SIGKILL, to it and to what it started. Requests under way fail at once.
   * Resolves when the process is reaped, with what it took. Safe in any phase and more than once.
   */
  close(options: CloseOptions = {}): Promise<CloseReport> {
    return this.#core.close(
      resolveGraces({ ...withoutUndefined(this.#settings.graces), ...withoutUndefined(options) }),
    );
  }

  /**
   * Ends the server in order and starts another, also one that hangs. What is under way goes again if it can be made twice, or fails as
   * with a crash. Resolves when the new server is ready. Needs a client of {@linkcode spawn}.
   *
   * @throws {ConnectionClosedError} As a rejection, if no server can be had any more, or the client is closed.
   * @throws {TypeError} As a rejection, if this client has not started the server.
   */
  restart(options: CloseOptions = {}): Promise<void> {
    return this.#core.restart(this.#gracesOf(options));
  }

  /** Ends the server and what it started at once. */
  kill(): Promise<CloseReport> {
    return this.#core.kill();
  }

  #gracesOf(options: CloseOptions): Graces {
    return resolveGraces({ ...this.#settings.graces, ...withoutUndefined(options) });
  }

  /** The same as {@linkcode Client.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Starts a server and connects to it. Resolves when it has answered; from then on it is watched, started again when it ends by
 * itself, and ended with its whole process tree.
 *
 * @example
 * ```ts ignore
 * import { spawn } from "@mcp/stdio/client";
 *
 * const client = await spawn({ command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] });
 * const { tools } = await client.request("tools/list");
 * await client.close();
 * ```
 *
 * @throws {ProcessError} As a rejection, if it cannot be started or exits before it has answered.
 * @throws {NegotiationError} As a rejection, if it cannot be used.
 * @throws {RangeError} If a limit or a duration cannot be used.
 */
export function spawn(options: SpawnOptions): Promise<Client> {
  return Client.spawn(options);
}

interface SpawnSignal {
  readonly signal?: AbortSignal | undefined;
  readonly onStateChange?: ((state: ClientState) => void) | undefined;
}

function toStreamLink(
  server: ByteStreams | Connection,
  { clock, connection: bounds }: Surroundings,
): StreamLink {
  if ("receive" in server) return new StreamLink(server, undefined, clock);
  const connection = new StreamConnection(server, bounds);
  return new StreamLink(connection, connection, clock);
}

/** What is not checked by types may be anything. */
function checkMessage(method: unknown, params: unknown): void {
  if (typeof method !== "string") {
    throw new TypeError(`Cannot send a message: its method must be a string, and is ${typeof method}`);
  }
  if (params === undefined || isJSONObject(params)) return;
  throw new TypeError(`Cannot send "${method}": its params must be an object`);
}
