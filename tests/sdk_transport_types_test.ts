// The classes fit the `Transport` of both SDKs, and our messages theirs, under exactOptionalPropertyTypes: the compiler tests it (rule K1).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Server as ServerV1 } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport as TransportV1 } from "@modelcontextprotocol/sdk/shared/transport.js";
import type * as V1 from "@modelcontextprotocol/sdk/types.js";
import type { Transport as ClientTransportV2 } from "@modelcontextprotocol/client";
import type * as V2 from "@modelcontextprotocol/server";
import type {
  McpServer as McpServerV2,
  Server as ServerV2,
  Transport as TransportV2,
} from "@modelcontextprotocol/server";
import type { SdkServerFactory } from "../internal/sdk/sdk_shapes.ts";
import type * as Ours from "../messages.ts";
import type { JSONRPCMessage } from "../messages.ts";
import { StdioClientTransport, StdioServerTransport } from "../sdk_transport.ts";
import { createStreamPair } from "../testing.ts";

/** Gives what it is given: only a fitting type is let in. */
function as<T>(value: T): T {
  return value;
}

test("StdioServerTransport and StdioClientTransport fit the Transport of SDK v1 and v2 (K1, S3-35)", () => {
  const [, streams] = createStreamPair();
  const server = new StdioServerTransport(streams);
  const client = new StdioClientTransport({ command: "server" });
  as<TransportV1>(server);
  as<TransportV1>(client);
  as<TransportV2>(server);
  as<TransportV2>(client);
  as<ClientTransportV2>(server);
  as<ClientTransportV2>(client);
  // @ts-expect-error what has no close() does not fit
  as<TransportV2>({ start: server.start, send: server.send });
  // What the SDKs assign fits, too.
  const transport: TransportV2 = server;
  transport.onmessage = (message, extra) => assert.ok(message !== undefined && extra === undefined);
  transport.onclose = undefined;
  assert.equal(server.onclose, undefined);
});

test("Messages of ours and of SDK v1 and v2 are each other's, in both directions (K1)", () => {
  const ours: JSONRPCMessage = { jsonrpc: "2.0", method: "notifications/x", params: undefined };
  const v1: V1.JSONRPCMessage = ours;
  const v2: V2.JSONRPCMessage = ours;
  const back: JSONRPCMessage[] = [v1, v2];
  assert.deepEqual(back, [ours, ours]);
  const error: JSONRPCMessage = { jsonrpc: "2.0", id: undefined, error: { code: 1, message: "" } };
  as<V1.JSONRPCMessage>(error);
  as<V2.JSONRPCMessage>(error);
});

/** Whether a type can be given where another is asked for. */
type Fits<Given, Asked> = [Given] extends [Asked] ? true : false;

/** Whether it can in both directions, for each SDK. */
type Same<Our, InV1, InV2> = [Fits<Our, InV1>, Fits<InV1, Our>, Fits<Our, InV2>, Fits<InV2, Our>];

test("The shapes of messages are those of SDK v1 and v2 (K1)", () => {
  const both: Array<Same<unknown, unknown, unknown>> = [
    as<Same<Ours.RequestId, V1.RequestId, V2.RequestId>>([true, true, true, true]),
    as<Same<Ours.ProgressToken, V1.ProgressToken, V2.ProgressToken>>([true, true, true, true]),
    as<Same<Ours.JSONRPCRequest, V1.JSONRPCRequest, V2.JSONRPCRequest>>([true, true, true, true]),
    as<Same<Ours.JSONRPCNotification, V1.JSONRPCNotification, V2.JSONRPCNotification>>(
      [true, true, true, true],
    ),
    as<Same<Ours.JSONRPCResultResponse, V1.JSONRPCResultResponse, V2.JSONRPCResultResponse>>(
      [true, true, true, true],
    ),
    as<Same<Ours.JSONRPCErrorResponse, V1.JSONRPCErrorResponse, V2.JSONRPCErrorResponse>>(
      [true, true, true, true],
    ),
    as<Same<Ours.JSONRPCMessage, V1.JSONRPCMessage, V2.JSONRPCMessage>>([true, true, true, true]),
    as<Same<Ours.Implementation, V1.Implementation, V2.Implementation>>([true, true, true, true]),
    as<Same<Ours.Result, V1.Result, V2.Result>>([true, true, true, true]),
  ];
  // Revision 2026-07-28 is known to SDK v2 only. What is free in capabilities is JSON there and unknown in ours.
  const modern = [
    as<Fits<Ours.SubscriptionFilter, V2.SubscriptionFilter>>(true),
    as<Fits<V2.SubscriptionFilter, Ours.SubscriptionFilter>>(true),
    as<Fits<V2.ClientCapabilities, Ours.ClientCapabilities>>(true),
    as<Fits<V2.ServerCapabilities, Ours.ServerCapabilities>>(true),
    as<Fits<V2.DiscoverResult, Ours.DiscoverResult>>(true),
  ];
  assert.equal(as<Fits<string, Ours.JSONRPCRequest>>(false), false);
  assert.deepEqual([both.flat(), modern].flat().filter((fits) => !fits), []);
});

test("Factories of servers of SDK v1 and v2 fit serve() (K3)", () => {
  const factories = (
    v1: McpServerV1,
    low1: ServerV1,
    v2: McpServerV2,
    low2: ServerV2,
  ): SdkServerFactory[] => [
    () => v1,
    () => low1,
    () => v2,
    () => Promise.resolve(low2),
    ({ era }) => era === "modern" ? v2 : v1,
  ];
  // @ts-expect-error a server of ours is no server of an SDK
  const wrong: SdkServerFactory = () => new Date();
  assert.equal(factories.length + wrong.length, 4);
});
