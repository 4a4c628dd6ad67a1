/**
 * The stdio transport of the Model Context Protocol, for Deno, Bun and Node: a server in one file, and a client that owns
 * the server it starts.
 *
 * @example A server, `weather.ts`
 * ```ts ignore
 * import { serve } from "@mcp/stdio";
 *
 * await serve({
 *   info: { name: "weather", version: "1.0.0" },
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
 * @example A client
 * ```ts ignore
 * import { spawn } from "@mcp/stdio";
 *
 * const client = await spawn({ command: "deno", args: ["run", "weather.ts"] });
 * const result = await client.request("tools/call", { name: "get-forecast", arguments: { city: "Bangkok" } });
 * console.log(result.content); // [{ type: "text", text: "Sunny in Bangkok." }]
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
