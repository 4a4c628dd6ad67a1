/** Clients on the official SDK, v1 and v2, behind one face: so that one list of checks can drive a server with each. */

import process from "node:process";
import type { TestContext } from "node:test";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, EmptyResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { type Command, createBrood, ROOT } from "./harness.ts";

type CallOptions = { onprogress?: (progress: { progress: number }) => void; signal?: AbortSignal };
type ToolResult = { content?: unknown; structuredContent?: unknown; isError?: boolean | undefined };

/** What the checks use of a client. */
export interface SdkClient {
  /** The members that v1 and v2 share. */
  readonly client: Pick<
    ClientV2,
    | "listTools"
    | "listResources"
    | "listResourceTemplates"
    | "readResource"
    | "listPrompts"
    | "getPrompt"
    | "complete"
    | "getServerVersion"
    | "getServerCapabilities"
  >;
  /** The SDK v2 client itself, where it is one. */
  readonly v2: ClientV2 | undefined;
  /** What is spoken. */
  readonly spoken: string;
  /** What the SDK complained of. */
  readonly errors: string[];
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  request(method: string): Promise<unknown>;
  /** Closes it; nothing is left running then. */
  close(): Promise<void>;
}

/** How a client is made, and what it must speak with a server of ours. */
export interface SdkKind {
  readonly name: string;
  readonly spoken: "modern 2026-07-28" | "legacy 2025-11-25";
  connect(t: TestContext, command: Command): Promise<SdkClient>;
}

/** Each pins the era on its side, but for `auto`, whose verdict is checked. */
export const SDK_CLIENTS: readonly SdkKind[] = [
  {
    name: "SDK v1",
    spoken: "legacy 2025-11-25",
    connect: connectV1,
  },
  {
    name: "SDK v2 in mode legacy",
    spoken: "legacy 2025-11-25",
    connect: (t, command) => connectV2(t, command, "legacy"),
  },
  {
    name: "SDK v2 in mode auto",
    spoken: "modern 2026-07-28",
    connect: (t, command) => connectV2(t, command, "auto"),
  },
  {
    name: "SDK v2 pinned",
    spoken: "modern 2026-07-28",
    connect: (t, command) => connectV2(t, command, { pin: "2026-07-28" }),
  },
];

const INFO = { name: "sdk", version: "1.0.0" };
const CAPABILITIES = { elicitation: { form: {} } };
const ANSWER = { action: "accept" as const, content: { response: "Ada", name: "Ada" } };

async function connectV2(
  t: TestContext,
  command: Command,
  mode: "legacy" | "auto" | { pin: string },
): Promise<SdkClient> {
  const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  const errors: string[] = [];
  client.onerror = ({ message }: Error) => errors.push(message);
  client.setRequestHandler("elicitation/create", () => ANSWER);
  const close = await connect(t, command, client, (parameters) => new TransportV2(parameters));
  return {
    client,
    v2: client,
    spoken: `${client.getProtocolEra()} ${client.getNegotiatedProtocolVersion()}`,
    errors,
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    request: (method) => client.request({ method }, z.looseObject({})),
    close,
  };
}

async function connectV1(t: TestContext, command: Command): Promise<SdkClient> {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES });
  const errors: string[] = [];
  client.onerror = ({ message }: Error) => errors.push(message);
  client.setRequestHandler(ElicitRequestSchema, () => ANSWER);
  let spoken = "";
  const close = await connect(t, command, client, (parameters) => {
    const transport = new TransportV1(parameters);
    return Object.assign(transport, {
      setProtocolVersion: (version: string) => spoken = `legacy ${version}`,
    });
  });
  return {
    client: client as unknown as SdkClient["client"],
    v2: undefined,
    spoken,
    errors,
    call: (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, undefined, options) as Promise<ToolResult>,
    request: (method) => client.request({ method }, EmptyResultSchema),
    close,
  };
}

interface ServerParameters {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  stderr: "ignore";
}

/** Connects a client to a new process of a server; gives what ends it. */
async function connect<Transport>(
  t: TestContext,
  [command, ...args]: Command,
  client: { connect(transport: Transport): Promise<void>; close(): Promise<void> },
  createTransport: (parameters: ServerParameters) => Transport,
): Promise<() => Promise<void>> {
  const brood = createBrood(t);
  const env = { ...process.env as Record<string, string>, ...brood.env };
  await client.connect(createTransport({ command, args, cwd: ROOT, env, stderr: "ignore" }));
  t.after(() => client.close());
  return async () => {
    await client.close();
    await brood.gone();
  };
}
