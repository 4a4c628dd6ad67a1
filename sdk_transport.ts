/**
 * This module's transport under the official TypeScript SDK: {@linkcode StdioServerTransport} and {@linkcode StdioClientTransport}
 * stand in for the classes of the same names in `@modelcontextprotocol/sdk` 1.x and in `@modelcontextprotocol/server` and
 * `/client` 2.x. They fit the SDKs' `Transport` by their shape; nothing of an SDK is imported.
 *
 * @example A server of the SDK
 * ```ts ignore
 * import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
 * import { StdioServerTransport } from "@mcp/stdio/sdk-transport";
 *
 * const server = new McpServer({ name: "weather", version: "1.0.0" });
 * await server.connect(new StdioServerTransport());
 * ```
 *
 * @example A client of the SDK
 * ```ts ignore
 * import { StdioClientTransport } from "@mcp/stdio/sdk-transport";
 * import { Client } from "@modelcontextprotocol/client";
 *
 * const client = new Client({ name: "cli", version: "1.0.0" });
 * await client.connect(new StdioClientTransport({ command: "deno", args: ["run", "forecast.ts"] }));
 * await client.close(); // ends the server, and what it started
 * ```
 *
 * @example A server transport in memory, driven as an SDK drives it
 * ```ts
 * import { StdioServerTransport } from "@mcp/stdio/sdk-transport";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const [here, there] = createStreamPair();
 * const transport = new StdioServerTransport(there);
 * transport.onmessage = (message) => {
 *   if ("id" in message) transport.send({ jsonrpc: "2.0", id: message.id!, result: {} });
 * };
 * await transport.start();
 *
 * const writer = here.writable.getWriter();
 * await writer.write(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'));
 * await writer.close();
 * let answer = "";
 * for await (const chunk of here.readable) answer += new TextDecoder().decode(chunk);
 *
 * assert.equal(answer, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
 * ```
 *
 * @module
 */

import { checkLaunch } from "./internal/client_setup/check_options.ts";
import type { SpawnOptions } from "./client_options.ts";
import {
  describeStart,
  resolveGraces,
  resolveLaunch,
  resolveSurroundings,
} from "./internal/client_setup/resolve_options.ts";
import { detectRuntime, detectRuntimeToSpawn } from "./internal/runtime/detect.ts";
import { checkStreams } from "./internal/runtime/byte_channel.ts";
import { guardStdoutNow } from "./internal/runtime/guard_now.ts";
import { ProcessWire, type ProcessWireSettings } from "./internal/sdk/process_wire.ts";
import { ServerWire } from "./internal/sdk/server_wire.ts";
import { TransportLife } from "./internal/sdk/transport_life.ts";
import type { BasicServerSettings } from "./internal/server/settings.ts";
import type { Facts } from "./internal/safe_logger.ts";
import { StreamConnection } from "./internal/stream_connection.ts";
import type { JSONRPCMessage, RequestId } from "./messages.ts";
import type { ByteStreams, ExitStatus } from "./runtime.ts";
import { resolveBasics, type ServeOptions, type ServerOptions } from "./server_options.ts";

/**
 * Options for {@linkcode StdioServerTransport}, with the meaning and the defaults they have for a server of this module.
 * `guardStdout` has an effect only if no streams are given.
 */
export type StdioServerTransportOptions =
  & Pick<ServerOptions, "limits" | "drainTimeoutMs" | "logger" | "traceFrames" | "clock">
  & Pick<ServeOptions, "guardStdout" | "runtime">;

/** What a server's transport uses of the SDKs' `TransportSendOptions`. */
export interface SendOptions {
  /** The request that a message belongs to: once the client has cancelled that, the message is not written. */
  relatedRequestId?: RequestId | undefined;
}

/**
 * A server's transport for the official SDK, over this process's stdin and stdout or any pair of byte streams.
 *
 * `onmessage` has at most `limits.maxInFlightRequests` requests to answer at a time. Further ones are read ahead and wait; when
 * many wait, the client is held back by its pipe. Responses, progress and cancellations wait behind none of them. What the SDK
 * would leave unanswered is answered here: lines that are no messages, requests it refuses, handlers that throw.
 *
 * At the end of its input, and by `close()`, what was accepted is answered and flushed first, for at most
 * `drainTimeoutMs`; then `onclose` is called, once.
 *
 * @example
 * ```ts
 * import { StdioServerTransport } from "@mcp/stdio/sdk-transport";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const [, there] = createStreamPair();
 * const transport = new StdioServerTransport(there, { drainTimeoutMs: 500 });
 * await assert.rejects(transport.send({ jsonrpc: "2.0", method: "notifications/x" }), { code: -32000 });
 * await transport.close();
 * await assert.rejects(transport.start(), /is closed/);
 * ```
 */
export class StdioServerTransport {
  /** Called once when a transport that was started has ended, however it did. */
  onclose?: (() => void) | undefined;
  /** Called with what went wrong: a bad line, a handler that threw, or what ended the transport. */
  onerror?: ((error: Error) => void) | undefined;
  /**
   * Takes each message. The next one does not wait for it; if it throws, or gives a promise that rejects, `onerror` is called
   * and a request is answered with an error. An id beyond 2^53 comes as a string that stands for it.
   */
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #streams: ByteStreams | undefined;
  readonly #options: StdioServerTransportOptions;
  readonly #settings: BasicServerSettings;
  readonly #life: TransportLife<ServerWire>;

  /**
   * Makes one. Nothing is read before {@linkcode StdioServerTransport.start}, and streams that were given are left alone if it is
   * closed before.
   *
   * @throws {TypeError} If `streams` is no pair of Web Streams.
   * @throws {RangeError} If a limit or a duration cannot be used.
   */
  constructor(streams?: ByteStreams, options: StdioServerTransportOptions = {}) {
    if (streams !== undefined) checkStreams(streams);
    this.#streams = streams;
    this.#options = options;
    this.#settings = resolveBasics(options);
    this.#life = new TransportLife("StdioServerTransport", this, this.#settings.logger);
  }

  /**
   * Begins to read. The SDKs call it in `connect`.
   *
   * @throws {TypeError} As a rejection, if it was started before or is closed.
   */
  async start(): Promise<void> {
    await this.#life.start(() => this.#streams ?? this.#openStdio(), (streams) => {
      const { limits, trace } = this.#settings;
      const connection = new StreamConnection(streams, { ...limits, trace });
      const wire = new ServerWire(connection, this.#settings, this.#life);
      wire.run();
      return wire;
    });
  }

  /**
   * Sends a message; messages leave in call order. Resolves once the output queue has room for more.
   *
   * @throws {ProtocolError} As a rejection with code -32000, if the transport is not started, or closed.
   * @throws {TypeError} As a rejection, if it is no message.
   * @throws {FrameError} As a rejection, if the message cannot be written; a request it answers is answered with an error.
   */
  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    return this.#life.send(message, options?.relatedRequestId);
  }

  /** Ends the transport. Resolves when all is answered and flushed and `onclose` was called. Safe at any time and more than once. */
  close(): Promise<void> {
    return this.#life.close();
  }

  async #openStdio(): Promise<ByteStreams> {
    const { guardStdout = true } = this.#options;
    // In the very call of `start`, and for as long as the process: stdout belongs to messages also when the client has gone.
    if (guardStdout) guardStdoutNow(this.#options.runtime);
    const runtime = this.#options.runtime ?? await detectRuntime();
    return runtime.openStdio({ exclusive: guardStdout });
  }
}

/** Options for {@linkcode StdioClientTransport}, with the meaning and the defaults they have for `spawn`. There are no restarts. */
export type StdioClientTransportOptions =
  & Pick<SpawnOptions, "command" | "args" | "cwd" | "env" | "inheritEnv" | "passEnv" | "processGroup">
  & Pick<SpawnOptions, "stderr" | "shutdownGraceMs" | "terminateGraceMs" | "signal" | "runtime">
  & Pick<SpawnOptions, "limits" | "logger" | "traceFrames" | "clock">;

/**
 * A client's transport for the official SDK: it starts the server and owns its process, with all that it starts.
 *
 * Progress reaches the SDK before the response behind it. An answer that cannot be read, or that the SDK would refuse in silence,
 * fails its request at once with code -32700. A server that exits at the SDK's probe is started once more, and the SDK goes on with
 * `initialize`.
 *
 * @example
 * ```ts ignore
 * import { Client } from "@modelcontextprotocol/client";
 * import { StdioClientTransport } from "@mcp/stdio/sdk-transport";
 *
 * const client = new Client({ name: "cli", version: "1.0.0" });
 * await client.connect(new StdioClientTransport({ command: "npx", args: ["-y", "some-server"], stderr: "capture" }));
 * ```
 */
export class StdioClientTransport {
  /** Called once when a transport that was started has ended: by `close()`, with its server, or because the server cannot be started. */
  onclose?: (() => void) | undefined;
  /** Called with what went wrong. If the server has ended by itself, it is a `ConnectionClosedError` that tells how. */
  onerror?: ((error: Error) => void) | undefined;
  /** Takes each message. */
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** Always null: the SDK 2.x knows a transport of stdio by its `pid` and `stderr`. The text is in {@linkcode StdioClientTransport.stderrTail}. */
  readonly stderr: null = null;
  readonly #options: StdioClientTransportOptions;
  readonly #graces: ProcessWireSettings["graces"];
  readonly #surroundings: ReturnType<typeof resolveSurroundings>;
  readonly #life: TransportLife<ProcessWire>;
  /** What stands beside each warning: which server it is about, once that is started. */
  #facts: () => Facts | undefined = () => undefined;

  /**
   * Makes one. The server is started by {@linkcode StdioClientTransport.start}.
   *
   * @throws {TypeError} If an option is of the wrong kind, or misspelt.
   * @throws {RangeError} If a limit or a duration cannot be used.
   */
  constructor(options: StdioClientTransportOptions) {
    checkLaunch("StdioClientTransport", options);
    this.#options = options;
    this.#graces = resolveGraces(options);
    this.#surroundings = resolveSurroundings(options, () => this.#facts());
    this.#life = new TransportLife("StdioClientTransport", this, this.#surroundings.logger);
  }

  /** The id of the server's process; null while there is none. */
  get pid(): number | null {
    return this.#life.wire?.pid ?? null;
  }

  /** How the server's process ended; null before, and when the system does not say. */
  get exitStatus(): ExitStatus | null {
    return this.#life.wire?.exit ?? null;
  }

  /** The last 64 KiB of the server's stderr; empty unless `stderr` is `tee`, `capture` or a function. */
  get stderrTail(): string {
    return this.#life.wire?.stderrTail ?? "";
  }

  /**
   * Starts the server. The SDKs call it in `connect`.
   *
   * @throws {ProcessError} As a rejection, if it cannot be started.
   * @throws {TypeError} As a rejection, if the transport was started before or is closed.
   */
  async start(): Promise<void> {
    const { signal } = this.#options;
    const wire = await this.#life.start(() => this.#options.runtime ?? detectRuntimeToSpawn(), (runtime) => {
      signal?.throwIfAborted();
      const start = { ...resolveLaunch(this.#options, runtime), ...this.#surroundings };
      const command = describeStart(start.launch, runtime);
      this.#facts = () => ({ server: command.line });
      return new ProcessWire({ start, graces: this.#graces, signal }, this.#life);
    });
    await wire.started();
  }

  /**
   * Sends a message; messages leave in call order. Resolves once the server's pipe has room for more.
   *
   * @throws {ProtocolError} As a rejection with code -32000, if the transport is not started, or closed.
   * @throws {FrameError} As a rejection, if the message cannot be written.
   */
  send(message: JSONRPCMessage): Promise<void> {
    return this.#life.send(message, undefined);
  }

  /**
   * Ends the server: its input ends, then SIGTERM, then SIGKILL, to it and to what it started. `onclose` is called at once, so that
   * what is asked fails at once. Resolves when the process is reaped. Safe at any time and more than once.
   */
  close(): Promise<void> {
    return this.#life.close();
  }

  /** The same as {@linkcode StdioClientTransport.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
