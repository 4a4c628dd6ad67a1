/**
 * The server side: {@linkcode serve} makes this process an MCP server on its stdin and stdout, a {@linkcode Server}
 * runs on any pair of byte streams. Both serve clients of revision 2026-07-28 and of the older ones at once.
 *
 * @example A server in one file
 * ```ts ignore
 * import { serve } from "@mcp/stdio/server";
 *
 * await serve({
 *   info: { name: "weather", version: "1.0.0" },
 *   tools: {
 *     forecast: {
 *       description: "Forecast for a city",
 *       inputSchema: { type: "object", properties: { city: { type: "string" } } },
 *       call: ({ city }) => `Sunny in ${city}.`,
 *     },
 *   },
 * });
 * ```
 *
 * @example A server in memory, and the bytes that it reads and writes
 * ```ts
 * import { Server } from "@mcp/stdio/server";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const server = new Server({
 *   info: { name: "weather", version: "1.0.0" },
 *   tools: { forecast: { description: "Forecast for a city", call: ({ city }) => `Sunny in ${city}.` } },
 * });
 * const [here, there] = createStreamPair();
 * const running = server.run(there);
 *
 * const writer = here.writable.getWriter();
 * await writer.write(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'));
 * await writer.close();
 * let answer = "";
 * for await (const chunk of here.readable) answer += new TextDecoder().decode(chunk);
 *
 * assert.equal(answer, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
 * assert.deepEqual(await running, { reason: "eof" });
 * ```
 *
 * @module
 */

import type { Connection } from "./connection.ts";
import { checkPositiveInteger, withoutUndefined } from "./internal/options.ts";
import { type Servable, serveProcess } from "./internal/process/serve_process.ts";
import { detectRuntime } from "./internal/runtime/detect.ts";
import { guardStdoutNow } from "./internal/runtime/guard_now.ts";
import type { SdkServer, SdkServerFactory, SdkTransport } from "./internal/sdk/sdk_shapes.ts";
import { entriesOf } from "./internal/server/definition_checks.ts";
import { Definitions } from "./internal/server/definitions.ts";
import { checkPublication } from "./internal/server/listen_streams.ts";
import { Session } from "./internal/server/session.ts";
import {
  type BasicServerSettings,
  type Handler,
  SERVER_DEFAULTS,
  type ServerSettings,
} from "./internal/server/settings.ts";
import { StreamConnection } from "./internal/stream_connection.ts";
import type { Params, ServerCapabilities } from "./messages.ts";
import type { ByteStreams } from "./runtime.ts";
import type {
  PromptDefinition,
  RequestContext,
  RequestHandler,
  ResourceDefinition,
  ToolDefinition,
} from "./schema.ts";
import {
  checkServeOptions,
  type NoSchemas,
  processSettings,
  resolveBasics,
  resolveSettings,
  type SdkServeOptions,
  type ServeOptions,
  type ServerEnd,
  type ServerOptions,
  type ToolSchemas,
} from "./server_options.ts";

export {
  acceptedContent,
  type ElicitInput,
  inputRequired,
  type InputRequiredBuilder,
  type InputRequiredOptions,
} from "./internal/server/input_required.ts";
export type { RequestContext, RequestHandler, SdkServer, SdkServerFactory, SdkTransport };
export type {
  CacheHint,
  NoSchemas,
  SdkServeOptions,
  ServeOptions,
  ServerEnd,
  ServerLimits,
  ServerOptions,
  ToolSchemas,
} from "./server_options.ts";

/** A server as its process sees it, and what both go by. */
let seenByProcess: (server: Server) => { settings: BasicServerSettings; servable: Servable<ServerEnd> };

/**
 * An MCP server on any pair of byte streams, for one run.
 *
 * @example
 * ```ts
 * import { Server } from "@mcp/stdio/server";
 * import assert from "node:assert/strict";
 *
 * const server = new Server({ info: { name: "empty", version: "1.0.0" } });
 * assert.deepEqual(server.capabilities, { logging: {} });
 * ```
 */
export class Server<Inputs extends ToolSchemas = ToolSchemas, Outputs extends ToolSchemas = NoSchemas> {
  readonly #settings: ServerSettings;
  readonly #definitions: Definitions;
  readonly #handlers: Map<string, Handler>;
  readonly #ownHandlers: ReadonlyArray<[string, Handler]>;
  readonly #declared: ServerCapabilities;
  #capabilities: ServerCapabilities = {};
  #session: Session | undefined;
  /** How it was ended before it ran. */
  #earlyEnd: ServerEnd | undefined;

  static {
    seenByProcess = (server) => ({
      settings: server.#settings,
      servable: {
        run: (client) => server.run(client),
        stop: (end) => server.stop(end),
        get hasRead() {
          return server.#session?.hasRead ?? false;
        },
      },
    });
  }

  /**
   * Makes a server.
   *
   * @throws {TypeError} If a definition cannot be used.
   * @throws {RangeError} If a limit or a duration cannot be used.
   */
  constructor(options: ServerOptions<Inputs, Outputs>) {
    this.#handlers = new Map();
    this.#settings = resolveSettings(options, this.#handlers, () => this.#capabilities);
    const { tools = {}, resources = {}, prompts = {}, handlers = {} } = options;
    const { pageSize = SERVER_DEFAULTS.pageSize } = options;
    checkPositiveInteger("pageSize", pageSize);
    this.#definitions = new Definitions(
      pageSize,
      (text) => this.#settings.logger.warn(`[mcp_stdio] ${text}`),
    );
    this.#declared = { logging: {}, ...options.capabilities };
    this.#ownHandlers = entriesOf("handlers", handlers);
    for (const [name, tool] of entriesOf<unknown>("tools", tools)) {
      this.#definitions.tools.add(name, tool as ToolDefinition<unknown>);
    }
    for (const [uri, resource] of entriesOf("resources", resources)) {
      this.#definitions.resources.add(uri, resource);
    }
    for (const [name, prompt] of entriesOf("prompts", prompts)) this.#definitions.prompts.add(name, prompt);
    this.#redefine();
  }

  /** What the server can do: what is defined, and what was declared. */
  get capabilities(): ServerCapabilities {
    return this.#capabilities;
  }

  /**
   * Serves a client until the end of its input, of its output, or {@linkcode Server.close}. Resolves when all that was
   * accepted is answered and written.
   *
   * @throws {TypeError} As a rejection, if the server has run before.
   */
  async run(client: ByteStreams | Connection): Promise<ServerEnd> {
    if (this.#session !== undefined) throw new TypeError("Cannot run the server: it has run before");
    const { limits, trace } = this.#settings;
    const connection = "receive" in client ? client : new StreamConnection(client, { ...limits, trace });
    this.#session = new Session(connection, this.#settings);
    if (this.#earlyEnd !== undefined) this.#session.stop(this.#earlyEnd);
    return await this.#session.start();
  }

  /**
   * Tells the clients that listen that something has changed: one of the three `list_changed` notifications, or
   * `notifications/resources/updated` with a `uri`.
   *
   * @example
   * ```ts ignore
   * server.publish("notifications/resources/updated", { uri: "counter://value" });
   * ```
   *
   * @throws {TypeError} If it is none of these.
   */
  publish(method: string, params?: Params): void {
    checkPublication(method, params);
    this.#session?.publish(method, params);
  }

  /**
   * Adds a tool or replaces one, and tells the clients that listen.
   *
   * @example
   * ```ts
   * import { Server } from "@mcp/stdio/server";
   * import assert from "node:assert/strict";
   *
   * const server = new Server({ info: { name: "plugins", version: "1.0.0" } });
   * server.addTool("count-words", {
   *   description: "Counts words",
   *   inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
   *   call: ({ text }) => `${String(text).split(" ").length} words`,
   * });
   * assert.equal(server.removeTool("count-words"), true);
   * assert.equal(server.removeTool("count-words"), false);
   * ```
   *
   * @throws {TypeError} If the definition cannot be used.
   */
  addTool<S, O>(name: string, tool: ToolDefinition<S, O>): void {
    this.#definitions.tools.add(name, tool as ToolDefinition<unknown>);
    this.#changed("tools");
  }

  /** Removes a tool and tells the clients. Returns false if there was none of that name. */
  removeTool(name: string): boolean {
    return this.#definitions.tools.remove(name) && this.#changed("tools");
  }

  /**
   * Adds a resource or a template, or replaces one, and tells the clients that listen.
   *
   * @throws {TypeError} If the definition or the template cannot be used.
   */
  addResource(uri: string, resource: ResourceDefinition): void {
    this.#definitions.resources.add(uri, resource);
    this.#changed("resources");
  }

  /** Removes a resource or a template and tells the clients. Returns false if there was none of that URI. */
  removeResource(uri: string): boolean {
    return this.#definitions.resources.remove(uri) && this.#changed("resources");
  }

  /**
   * Adds a prompt or replaces one, and tells the clients that listen.
   *
   * @throws {TypeError} If the definition cannot be used.
   */
  addPrompt(name: string, prompt: PromptDefinition): void {
    this.#definitions.prompts.add(name, prompt);
    this.#changed("prompts");
  }

  /** Removes a prompt and tells the clients. Returns false if there was none of that name. */
  removePrompt(name: string): boolean {
    return this.#definitions.prompts.remove(name) && this.#changed("prompts");
  }

  /**
   * Ends the server as the end of its input does: what was accepted is answered first. Resolves when that is done. Safe in any phase
   * and more than once. A handler may call it but should not wait for it, since it waits for the handler's answer; one that
   * does goes on when `drainTimeoutMs` have passed, and is still answered.
   */
  close(): Promise<void> {
    this.#earlyEnd ??= { reason: "closed" };
    return this.#session?.close() ?? Promise.resolve();
  }

  /** Ends the server as `close` does, but requests in flight are aborted at once. Does so to a `close` under way, too. */
  stop(end: ServerEnd = { reason: "signal" }): void {
    this.#earlyEnd ??= end;
    this.#session?.stop(end);
  }

  #changed(feature: "tools" | "resources" | "prompts"): true {
    this.#redefine();
    this.publish(`notifications/${feature}/list_changed`);
    return true;
  }

  #redefine(): void {
    this.#capabilities = withoutUndefined({ ...this.#definitions.capabilities(), ...this.#declared });
    this.#handlers.clear();
    for (const [method, handler] of this.#definitions.handlers(this.#capabilities)) {
      this.#handlers.set(method, handler);
    }
    for (const [method, handler] of this.#ownHandlers) this.#handlers.set(method, handler);
  }
}

/**
 * Makes this process an MCP server on its stdin and stdout. Resolves when the client has gone and all is answered; the
 * process then ends by itself, or is ended after `lingerMs`.
 *
 * It takes the options of a server, a {@linkcode Server}, or a function that makes a server of the official SDK (an `McpServer` or a
 * `Server`). The function is called once for each era that the client speaks. Servers of SDK 1.x serve clients that begin with
 * `initialize`, those of SDK 2.x both eras. Beside such a function, the second argument may have `legacy`, `limits`,
 * `drainTimeoutMs`, `logger`, `traceFrames` and `clock`, which every other server has in its own options.
 *
 * A program that a handler starts must not inherit stdin or stdout: it would read the client's requests, or write between
 * answers.
 *
 * @throws {TypeError} As a rejection, if an option or a definition cannot be used.
 * @throws {RangeError} As a rejection, if a limit or a duration cannot be used.
 *
 * @example
 * ```ts ignore
 * import { serve } from "@mcp/stdio/server";
 *
 * await serve({
 *   info: { name: "weather", version: "1.0.0" },
 *   tools: {
 *     forecast: {
 *       description: "Forecast for a city",
 *       call: ({ city }) => `Sunny in ${city}.`,
 *     },
 *   },
 * });
 * ```
 *
 * @example A server of the official SDK
 * ```ts ignore
 * import { McpServer } from "@modelcontextprotocol/server";
 * import { serve } from "@mcp/stdio/server";
 *
 * await serve(() => new McpServer({ name: "weather", version: "1.0.0" }));
 * ```
 */
export async function serve<Inputs extends ToolSchemas, Outputs extends ToolSchemas>(
  target: Server | (ServerOptions<Inputs, Outputs> & ServeOptions) | SdkServerFactory,
  options: SdkServeOptions = {},
): Promise<ServerEnd> {
  if (typeof target === "function") return await serveFactory(target, options);
  if (target instanceof Server) checkServeOptions(options, false);
  const given: ServeOptions = target instanceof Server ? options : { ...target as object, ...options };
  // Before anything else, and so in the very call: what a program prints next to it must not reach stdout.
  if (given.guardStdout ?? true) guardStdoutNow(given.runtime);
  // It is loaded while the server is made.
  const runtime = given.runtime ?? detectRuntime();
  const server = target instanceof Server ? target : new Server(target);
  const { settings, servable } = seenByProcess(server);
  return await serveProcess(
    servable,
    processSettings(given, settings, runtime instanceof Promise ? await runtime : runtime),
  );
}

async function serveFactory(factory: SdkServerFactory, options: SdkServeOptions): Promise<ServerEnd> {
  checkServeOptions(options, true);
  if (options.guardStdout ?? true) guardStdoutNow(options.runtime);
  const settings = resolveBasics(options);
  const { serveSdk } = await import("./internal/sdk/serve_sdk.ts");
  const runtime = options.runtime ?? await detectRuntime();
  return await serveSdk(factory, { ...processSettings(options, settings, runtime), ...settings });
}
