/**
 * Write and run MCP servers that talk over stdin and stdout, on Deno, Bun and Node: a server is one file, and a client starts any
 * such server, restarts it when it crashes, and ends it with everything that it started.
 *
 * ```sh
 * npm install @mcp/stdio       # Node
 * bun add @mcp/stdio           # Bun
 * deno add jsr:@mcp/stdio      # Deno
 * ```
 *
 * ## Modules
 *
 * This module has every name but those of the test tools and the command line. To load less, import one of these:
 *
 * | import | what for |
 * | --- | --- |
 * | `@mcp/stdio/server` | {@linkcode serve} and {@linkcode Server} |
 * | `@mcp/stdio/client` | {@linkcode spawn} and {@linkcode Client} |
 * | `@mcp/stdio/host-config` | `.mcp.json` and its relatives, started after asking |
 * | `@mcp/stdio/sdk-transport` | transports for the official SDK |
 * | `@mcp/stdio/testing` | streams, processes and time in memory |
 * | `@mcp/stdio/stdout-guard` | to be imported first, if other imports print |
 * | `@mcp/stdio/cli` | the command line: `deno run -A jsr:@mcp/stdio/cli` |
 * | `@mcp/stdio/framing` | bytes to messages, as `TransformStream`s |
 * | `@mcp/stdio/schema` | definitions of tools, resources and prompts |
 * | `/messages`, `/methods`, `/errors`, `/connection`, `/runtime`, `/logger` | shapes and errors |
 *
 * ## Permissions on Deno
 *
 * A server needs none. A client needs `--allow-run`, to start a server and to end it with everything it started, and
 * `--allow-env`, to hand over variables such as `PATH`. With `--allow-run=npx` it can end only the server itself.
 *
 * ## A server
 *
 * `forecast.ts`:
 *
 * ```ts ignore
 * import { serve } from "@mcp/stdio";
 *
 * await serve({
 *   info: { name: "forecast", version: "1.0.0" },
 *   tools: {
 *     "get-forecast": {
 *       description: "Forecast for a city",
 *       inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *       call: ({ city }) => `Sunny in ${city}.`,
 *     },
 *   },
 * });
 * ```
 *
 * ## A client
 *
 * ```ts ignore
 * import { spawn } from "@mcp/stdio";
 *
 * const client = await spawn({ command: "deno", args: ["run", "forecast.ts"] });
 * const { content } = await client.callTool("get-forecast", { city: "Oslo" });
 * console.log(content); // [{ type: "text", text: "Sunny in Oslo." }]
 * await client.close();
 * ```
 *
 * ## Read on
 *
 * The [documentation](https://github.com/mcp/stdio/blob/main/docs/README.md) has a page for each thing to do, and
 * [troubleshooting](https://github.com/mcp/stdio/blob/main/docs/troubleshooting.md) each message by its words.
 *
 * @example Both in memory, as in a test
 * ```ts
 * import { Client, Server } from "@mcp/stdio";
 * import { createStreamPair } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const server = new Server({
 *   info: { name: "forecast", version: "1.0.0" },
 *   tools: { "get-forecast": { call: ({ city }) => `Sunny in ${city}.` } },
 * });
 * const [here, there] = createStreamPair();
 * server.run(there);
 * const client = await Client.connect(here);
 *
 * const { content } = await client.callTool("get-forecast", { city: "Oslo" });
 * assert.deepEqual(content, [{ type: "text", text: "Sunny in Oslo." }]);
 * await client.close();
 * ```
 *
 * @module
 */

export {
  acceptedContent,
  type CacheHint,
  type ElicitInput,
  inputRequired,
  type InputRequiredBuilder,
  type InputRequiredOptions,
  type NoSchemas,
  type SdkServeOptions,
  type SdkServer,
  type SdkServerFactory,
  type SdkTransport,
  serve,
  type ServeOptions,
  Server,
  type ServerEnd,
  type ServerLimits,
  type ServerOptions,
  type ToolSchemas,
} from "./server.ts";
export {
  Client,
  type ClientLimits,
  type ClientOptions,
  type ClientState,
  type CloseOptions,
  type CloseReport,
  type InputContext,
  type InputHandler,
  type InputHandlers,
  type ListenEvent,
  type Listening,
  type MethodWithoutParams,
  type OtherMethod,
  type Progress,
  type RequestOptions,
  type RequestParams,
  type RequestResult,
  ServerProcess,
  spawn,
  type SpawnOptions,
  spawnServer,
  type SpawnServerOptions,
} from "./client.ts";
export {
  type HostConfig,
  type HostConfigDialect,
  type HostConfigInput,
  type HostConfigOptions,
  type HostLaunch,
  type HostLaunchOptions,
  type HostServer,
  type HostServerBase,
  type HostServerLaunch,
  type InvalidHostServer,
  launchAll,
  type LaunchAllOptions,
  type LaunchOutcome,
  type LaunchRetryOptions,
  parseHostConfig,
  type ParseHostConfigOptions,
  readHostConfig,
  type ReadHostConfigOptions,
  type RemoteHostServer,
  resolveLaunch,
  type ResolveLaunchOptions,
  type StdioHostServer,
} from "./host_config.ts";
export {
  type SendOptions,
  StdioClientTransport,
  type StdioClientTransportOptions,
  StdioServerTransport,
  type StdioServerTransportOptions,
} from "./sdk_transport.ts";
export {
  type FramingOptions,
  type Line,
  LineDecoderStream,
  type LineFault,
  type MessageDecoderOptions,
  MessageDecoderStream,
  type MessageEncoderOptions,
  MessageEncoderStream,
  type TextLine,
} from "./framing.ts";
export type {
  Connection,
  ConnectionEnd,
  Fault,
  FaultReason,
  Inbound,
  Outgoing,
  ReceivedMessage,
} from "./connection.ts";
export * from "./schema.ts";
export * from "./messages.ts";
export * from "./methods.ts";
export * from "./errors.ts";
export * from "./runtime.ts";
export * from "./logger.ts";
