/**
 * The client side: {@linkcode spawn} starts a server and ends it, a {@linkcode Client} talks to it, whichever revision it
 * speaks.
 *
 * @example A client that starts its server
 * ```ts ignore
 * import { spawn } from "@mcp/stdio/client";
 *
 * const client = await spawn({ command: "deno", args: ["run", "weather.ts"] });
 * const { content } = await client.callTool("forecast", { city: "Bern" }, { timeoutMs: 5_000 });
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
  MethodWithoutParams,
  OtherMethod,
  RequestOptions,
  RequestParams,
  RequestResult,
  SpawnOptions,
} from "./client_options.ts";
import { resolveGraces, resolveRequest } from "./internal/client_setup/resolve_options.ts";
import { connectClient, spawnClient, type StartedClient } from "./internal/client_setup/start.ts";
import type { Connection } from "./connection.ts";
import type { CallSettings } from "./internal/client/call.ts";
import { placed } from "./internal/client/caller_line.ts";
import { checkFilter, checkMessage } from "./internal/client/check_message.ts";
import { stateOf } from "./internal/client/client_state.ts";
import type { ClientCore } from "./internal/client/core.ts";
import type { Graces } from "./internal/client/link.ts";
import { readPages } from "./internal/client/pages.ts";
import type { ClientSettings } from "./internal/client/settings.ts";
import { withoutUndefined } from "./internal/options.ts";
import type {
  Era,
  Implementation,
  Params,
  Result,
  ServerCapabilities,
  SubscriptionFilter,
} from "./messages.ts";
import type { CompleteParams, CoreMethods, Prompt, Resource, ResourceTemplate, Tool } from "./methods.ts";
import type { ByteStreams, ExitStatus } from "./runtime.ts";
import type { ServerProcess } from "./server_process.ts";

export type {
  ClientLimits,
  ClientOptions,
  ClientState,
  CloseOptions,
  CloseReport,
  InputContext,
  InputHandler,
  InputHandlers,
  ListenEvent,
  Listening,
  MethodWithoutParams,
  OtherMethod,
  Progress,
  RequestOptions,
  RequestParams,
  RequestResult,
  SpawnOptions,
} from "./client_options.ts";
export { ServerProcess, spawnServer, type SpawnServerOptions } from "./server_process.ts";

/**
 * A client of one MCP server.
 *
 * @example
 * ```ts
 * import { Client } from "@mcp/stdio/client";
 * import { Server } from "@mcp/stdio/server";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const server = new Server({
 *   info: { name: "files", version: "1.0.0" },
 *   tools: { index: { call: () => "done" } },
 * });
 * const [here, there] = createStreamPair();
 * server.run(there);
 * const client = await Client.connect(here);
 *
 * const { content } = await client.callTool("index", { folder: "/tmp" }, { timeoutMs: 5_000 });
 * assert.deepEqual(content, [{ type: "text", text: "done" }]);
 * const listening = client.listen({ toolsListChanged: true });
 * await listening.acknowledged; // from here on no change is missed
 * server.addTool("search", { call: () => "found" });
 * for await (const event of listening) {
 *   if (event.kind === "notification") break;
 * }
 * await client.close();
 * ```
 */
export class Client {
  readonly #core: ClientCore;
  readonly #settings: ClientSettings;
  /** For requests without options. */
  readonly #requestDefaults: CallSettings;

  private constructor(started: StartedClient) {
    this.#core = started.core;
    this.#settings = started.settings;
    this.#requestDefaults = resolveRequest({}, started.settings);
  }

  /**
   * Connects to a server: at the other end of two streams or a connection, or in a process of {@linkcode spawnServer}, which then
   * ends with the client. Resolves when the server has answered the handshake.
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
    return new Client(await connectClient(server, options));
  }

  /** The same as {@linkcode spawn}. */
  static async spawn(options: SpawnOptions): Promise<Client> {
    return new Client(await spawnClient(options));
  }

  /** Where the client is in its life. */
  get state(): ClientState {
    return stateOf(this.#core.supervisor.life, this.#core.supervisor.restartCount);
  }

  /** The process id of the server; undefined while there is none. */
  get pid(): number | undefined {
    return this.#core.supervisor.link?.pid;
  }

  /** The era that is spoken: `modern` from revision 2026-07-28 on, `legacy` before. */
  get era(): Era {
    return this.#core.peer!.era;
  }

  /** The revision that is spoken. */
  get protocolVersion(): string {
    return this.#core.peer!.protocolVersion;
  }

  /** The name and version that the server gives itself. For display and logs. */
  get serverInfo(): Implementation | undefined {
    return this.#core.peer!.serverInfo;
  }

  /** What the server says it can do. */
  get capabilities(): ServerCapabilities {
    return this.#core.peer!.capabilities;
  }

  /** How a model should use the server, if the server says so. */
  get instructions(): string | undefined {
    return this.#core.peer!.instructions;
  }

  /** How the last server process ended; null while none has, and when the system does not say. */
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

  /** Resolves when the server has ended and will not be started again. */
  get closed(): Promise<CloseReport> {
    return this.#core.supervisor.closed;
  }

  /**
   * Makes a request and resolves with its result. Params and results of the core methods are known by type; other methods take
   * and give objects.
   *
   * @example
   * ```ts ignore
   * const { count } = await client.request("files/count", { folder: "/tmp" }, { timeoutMs: 5_000 });
   * ```
   *
   * @throws {ProtocolError} As a rejection, if the server answers with an error.
   * @throws {RequestTimeoutError} As a rejection, if it does not answer in time.
   * @throws {InvalidResponseError} As a rejection, if its answer cannot be read.
   * @throws {ConnectionClosedError} As a rejection, if it ends first.
   * @throws {FrameError} As a rejection, if the request cannot be written.
   * @throws {TypeError} If the method is no string, or the params are no object.
   * @throws {RangeError} If a duration cannot be used.
   */
  request<Method extends MethodWithoutParams>(
    method: Method,
    params?: RequestParams<Method>,
    options?: RequestOptions,
  ): Promise<RequestResult<Method>>;
  /** Makes a request of a method that needs params. */
  request<Method extends keyof CoreMethods>(
    method: Method,
    params: RequestParams<Method>,
    options?: RequestOptions,
  ): Promise<RequestResult<Method>>;
  /** Makes a request of any other method. */
  request<Method extends string>(
    method: OtherMethod<Method>,
    params?: Params,
    options?: RequestOptions,
  ): Promise<Result>;
  request(method: string, params: Params = {}, options?: RequestOptions): Promise<Result> {
    checkMessage(method, params);
    const settings = options === undefined ? this.#requestDefaults : resolveRequest(options, this.#settings);
    return placed(this.#core.request(method, params, settings));
  }

  /**
   * Calls a tool. A tool that fails does not throw: it gives a result with `isError`. Rejects as {@linkcode Client.request} does.
   *
   * @example
   * ```ts ignore
   * const { content, isError } = await client.callTool("get-forecast", { city: "Oslo" }, { timeoutMs: 5_000 });
   * ```
   */
  callTool(name: string, args: Params = {}, options?: RequestOptions): Promise<RequestResult<"tools/call">> {
    return this.request("tools/call", { name, arguments: args }, options);
  }

  /** Reads a resource; `contents` has its text, or its bytes in base64. Rejects as {@linkcode Client.request} does. */
  readResource(uri: string, options?: RequestOptions): Promise<RequestResult<"resources/read">> {
    return this.request("resources/read", { uri }, options);
  }

  /** Makes the messages of a prompt. Rejects as {@linkcode Client.request} does. */
  getPrompt(
    name: string,
    args: { [name: string]: string } = {},
    options?: RequestOptions,
  ): Promise<RequestResult<"prompts/get">> {
    return this.request("prompts/get", { name, arguments: args }, options);
  }

  /** Completes an argument of a prompt or of a template of resources. Rejects as {@linkcode Client.request} does. */
  complete(
    ref: CompleteParams["ref"],
    argument: CompleteParams["argument"],
    options?: RequestOptions & { context?: CompleteParams["context"] },
  ): Promise<RequestResult<"completion/complete">> {
    const { context } = options ?? {};
    return this.request("completion/complete", { ref, argument, ...(context && { context }) }, options);
  }

  /**
   * The tools, over all pages; a page is read when the iteration comes to it.
   *
   * @throws {InvalidResponseError} From the iteration, if the pages of the server do not end.
   */
  tools(options?: RequestOptions): AsyncIterableIterator<Tool> {
    return this.#pages("tools/list", "tools", options);
  }

  /** The resources, as {@linkcode Client.tools} gives tools. */
  resources(options?: RequestOptions): AsyncIterableIterator<Resource> {
    return this.#pages("resources/list", "resources", options);
  }

  /** The templates of resources, as {@linkcode Client.tools} gives tools. */
  resourceTemplates(options?: RequestOptions): AsyncIterableIterator<ResourceTemplate> {
    return this.#pages("resources/templates/list", "resourceTemplates", options);
  }

  /** The prompts, as {@linkcode Client.tools} gives tools. */
  prompts(options?: RequestOptions): AsyncIterableIterator<Prompt> {
    return this.#pages("prompts/list", "prompts", options);
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
   * Leaving the loop ends it.
   *
   * @example
   * ```ts ignore
   * for await (const event of client.listen({ resourceSubscriptions: ["counter://value"] })) {
   *   console.log(event.kind, await client.readResource("counter://value"));
   * }
   * ```
   *
   * @throws {ConnectionClosedError} If the client is closed.
   * @throws {TypeError} If the filter is no filter.
   */
  listen(filter: SubscriptionFilter): Listening {
    checkFilter(filter);
    return this.#core.listen(filter);
  }

  /**
   * Ends the server and what it started: first its input ends, then comes SIGTERM, then SIGKILL. Requests under way fail at once.
   * Resolves when the process is gone, with what that took. Safe in any phase and more than once.
   */
  close(options: CloseOptions = {}): Promise<CloseReport> {
    return this.#core.close(this.#gracesOf(options));
  }

  /**
   * Ends the server, also one that hangs, and starts another. Requests under way are made again if they may be made twice, or fail as
   * after a crash. Resolves when the new server is ready. Needs a client of {@linkcode spawn}.
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

  #pages<Item>(
    method: MethodWithoutParams,
    member: string,
    options: RequestOptions | undefined,
  ): AsyncIterableIterator<Item> {
    return readPages(
      method,
      member,
      (cursor) => this.request(method, cursor === undefined ? {} : { cursor }, options),
    );
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
 * Starts a server and waits until it is ready. From then on the client owns its process: it starts the server again when it ends by
 * itself, and ends it with everything that it started.
 *
 * @example
 * ```ts ignore
 * import { spawn } from "@mcp/stdio/client";
 *
 * const client = await spawn({ command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] });
 * for await (const { name, description } of client.tools()) console.log(name, description);
 * const { content } = await client.callTool("echo", { message: "hello" });
 * await client.close();
 * ```
 *
 * @throws {ProcessError} As a rejection, if it cannot be started or exits before it has answered.
 * @throws {NegotiationError} As a rejection, if it cannot be used.
 * @throws {TypeError} As a rejection, if an option cannot be used.
 * @throws {RangeError} As a rejection, if a limit or a duration cannot be used.
 */
export function spawn(options: SpawnOptions): Promise<Client> {
  return Client.spawn(options);
}
