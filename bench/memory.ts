// What things cost in memory while they wait: in one process, over streams in memory, after a collection.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import process from "node:process";
import { Client } from "../client.ts";
import { silentLogger } from "../logger.ts";
import { Server } from "../server.ts";
import { createStreamPair } from "../testing.ts";
import { REQUEST_META } from "./programs/frames.ts";

/** What was measured: the cost of one, in bytes. */
export interface MemoryCost {
  readonly what: string;
  readonly bytes: number;
}

/** Measures all of them. */
export async function measureMemory(): Promise<MemoryCost[]> {
  return [
    { what: "request in flight, at the client", bytes: await measure(10_000, startPendingRequests) },
    { what: "request in flight, at the server", bytes: await measure(250, startRunningRequests) },
    { what: "idle client", bytes: await measure(200, startIdleClients) },
    { what: "open listen, at the server", bytes: await measure(1_000, startListens) },
  ];
}

type Undo = () => Promise<void>;

async function measure(count: number, start: (count: number) => Promise<Undo>): Promise<number> {
  await (await start(Math.min(count, 100)))(); // What is made once is made now.
  const before = await heldBytes();
  const undo = await start(count);
  const held = await heldBytes() - before;
  await undo();
  return held / count;
}

/** A server that says who it is and never answers anything else, at the other end of what is returned. */
function createSilentServer(): { here: ReturnType<typeof createStreamPair>[0]; end: Undo } {
  const [here, there] = createStreamPair();
  let hang: (() => void) | undefined;
  const server = new Server({
    info: { name: "silent", version: "1.0.0" },
    logger: silentLogger,
    limits: { maxInFlightRequests: 100_000 },
    drainTimeoutMs: 0,
    handlers: { "x/hang": () => new Promise((resolve) => hang = () => resolve({})) },
  });
  const ended = server.run(there);
  return {
    here,
    end: async () => {
      hang?.();
      server.close();
      await ended;
    },
  };
}

async function startPendingRequests(count: number): Promise<Undo> {
  const [here, there] = createStreamPair();
  const reader = there.readable.getReader();
  const writer = there.writable.getWriter();
  const connecting = Client.connect(here, { logger: silentLogger });
  await reader.read();
  const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };
  await writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n`));
  const client = await connecting;
  const draining = drain(reader);
  for (let index = 0; index < count; index++) client.request("x/hang").catch(() => {});
  return async () => {
    await client.kill();
    await reader.cancel();
    await draining;
  };
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

async function startRunningRequests(count: number): Promise<Undo> {
  const { here, end } = createSilentServer();
  const writer = here.writable.getWriter();
  for (let id = 0; id < count; id++) await writer.write(frame(id, "x/hang", {}));
  return end;
}

async function startListens(count: number): Promise<Undo> {
  const [here, there] = createStreamPair();
  const server = new Server({
    info: { name: "s", version: "1.0.0" },
    logger: silentLogger,
    tools: { t: { call: () => "" } },
  });
  const ended = server.run(there);
  const draining = drain(here.readable.getReader());
  const writer = here.writable.getWriter();
  for (let id = 0; id < count; id++) {
    await writer.write(frame(id, "subscriptions/listen", { notifications: { toolsListChanged: true } }));
  }
  return async () => {
    await server.close();
    await ended;
    await draining;
  };
}

async function startIdleClients(count: number): Promise<Undo> {
  const servers = Array.from({ length: count }, createSilentServer);
  const clients = await Promise.all(
    servers.map(({ here }) => Client.connect(here, { logger: silentLogger })),
  );
  return async () => {
    for (const client of clients) await client.close();
    for (const { end } of servers) await end();
  };
}

function frame(id: number, method: string, params: object): Uint8Array {
  const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta: REQUEST_META } };
  return new TextEncoder().encode(`${JSON.stringify(message)}\n`);
}

async function heldBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
