/** One client of a kind connected to one server: what they speak, or how that fails. Runs on each runtime. */

import { spawn } from "@mcp/stdio/client";
import { silentLogger } from "@mcp/stdio/logger";
import { StdioClientTransport } from "@mcp/stdio/sdk-transport";
import type { Transport as TransportV2 } from "@modelcontextprotocol/client";
import type { Transport as TransportV1 } from "@modelcontextprotocol/sdk/shared/transport.js";

/** The kinds of clients; those of the SDKs run over their own transport or over ours. */
export type ClientKind = "ours" | "v1" | "v2 legacy" | "v2 auto" | "v2 pinned";

/** What is to be connected. */
export interface CellJob {
  readonly client: ClientKind;
  /** Whether a client of an SDK runs over our transport. */
  readonly overOurs: boolean;
  readonly command: readonly [string, ...string[]];
  readonly env: { readonly [name: string]: string };
  /** A tool of the server, its arguments, and what its text must hold. */
  readonly call: readonly [name: string, args: { readonly [name: string]: unknown }, text: string];
  /** How long the probe may stay unanswered. */
  readonly probeMs: number;
  /** How long any other request may. */
  readonly requestMs: number;
}

/** What became of it. */
export interface CellOutcome {
  /** Such as `modern 2026-07-28`, or the class and the code of an error. */
  readonly text: string;
  /** How long it took to connect or to fail. */
  readonly ms: number;
}

/** What is used of a client of any kind. */
interface Connected {
  readonly spoken: string;
  call(name: string, args: object): Promise<{ content?: unknown }>;
  close(): Promise<unknown>;
}

/** Connects, calls the tool and closes. Never rejects: an error of a wrong type is an outcome, too. */
export async function connectCell(job: CellJob): Promise<CellOutcome> {
  const begin = performance.now();
  let connected: Connected;
  try {
    connected = await connect(job);
  } catch (error) {
    return { text: describeError(error), ms: performance.now() - begin };
  }
  const ms = performance.now() - begin;
  const [name, args, text] = job.call;
  try {
    const given = JSON.stringify((await connected.call(name, args)).content);
    return { text: given?.includes(text) ? connected.spoken : `the tool gives ${given}`, ms };
  } catch (error) {
    return { text: `the call fails: ${describeError(error)}`, ms };
  } finally {
    await connected.close();
  }
}

function connect(job: CellJob): Promise<Connected> {
  if (job.client === "ours") return connectOurs(job);
  return job.client === "v1" ? connectV1(job) : connectV2(job);
}

async function connectOurs(
  { command: [command, ...args], env, probeMs, requestMs }: CellJob,
): Promise<Connected> {
  const client = await spawn({
    ...{ command, args, env, stderr: "ignore", logger: silentLogger },
    ...{ probeTimeoutMs: probeMs, connectTimeoutMs: requestMs },
  });
  return {
    spoken: `${client.era} ${client.protocolVersion}`,
    call: (name, args) => client.request("tools/call", { name, arguments: { ...args } }),
    close: () => client.close(),
  };
}

const INFO = { name: "matrix", version: "1.0.0" };

async function connectV1(job: CellJob): Promise<Connected> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport: Own } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client(INFO);
  const transport: TransportV1 = job.overOurs ? createOurs(job) : new Own(parameters(job));
  let spoken = "";
  transport.setProtocolVersion = (version: string) => void (spoken = `legacy ${version}`);
  const timeout = job.requestMs;
  await connectOrClose(client, () => client.connect(transport, { timeout }));
  return {
    spoken,
    call: (name, args) =>
      client.callTool({ name, arguments: { ...args } }, undefined, { timeout }) as Promise<
        { content?: unknown }
      >,
    close: () => client.close(),
  };
}

async function connectV2(job: CellJob): Promise<Connected> {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport: Own } = await import("@modelcontextprotocol/client/stdio");
  const mode = job.client === "v2 pinned"
    ? { pin: "2026-07-28" }
    : job.client === "v2 auto"
    ? "auto"
    : "legacy";
  const client = new Client(INFO, { versionNegotiation: { mode, probe: { timeoutMs: job.probeMs } } });
  const transport: TransportV2 = job.overOurs ? createOurs(job) : new Own(parameters(job));
  const timeout = job.requestMs;
  await connectOrClose(client, () => client.connect(transport, { timeout }));
  return {
    spoken: `${client.getProtocolEra()} ${client.getNegotiatedProtocolVersion()}`,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }, { timeout }),
    close: () => client.close(),
  };
}

async function connectOrClose(
  client: { close(): Promise<void> },
  connect: () => Promise<void>,
): Promise<void> {
  try {
    await connect();
  } catch (error) {
    await client.close();
    throw error;
  }
}

function createOurs(job: CellJob): StdioClientTransport {
  return new StdioClientTransport({ ...parameters(job), logger: silentLogger });
}

function parameters({ command: [command, ...args], env }: CellJob) {
  return { command, args, env, stderr: "ignore" as const };
}

/** The class, and the code that tells it from others of the class. */
function describeError(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: unknown; message?: string };
  return code === undefined ? `${name}: ${message}` : `${name} ${code}`;
}
