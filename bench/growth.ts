// How cost grows with the number of servers, and with the number of calls in flight; both ends ours, on this runtime.
import process from "node:process";
import { spawn } from "../client.ts";

const SERVER = ["run", "-A", "--no-check", "bench/programs/ours_server.ts"];
const CALLS = 40_000;

/** What so many servers take, in milliseconds. */
export interface ServersCost {
  readonly servers: number;
  readonly startMs: number;
  readonly callMs: number;
  readonly closeMs: number;
}

/** How fast calls are with so many in flight. */
export interface CallsCost {
  readonly inFlight: number;
  readonly perSecond: number;
}

/** Starts so many servers at once, calls each once at the same time, and closes them. */
export async function measureServers(servers: number): Promise<ServersCost> {
  const times = [performance.now()];
  const clients = await Promise.all(Array.from({ length: servers }, () => start()));
  times.push(performance.now());
  await Promise.all(clients.map((client) => client.request("tools/call", { name: "echo" })));
  times.push(performance.now());
  await Promise.all(clients.map((client) => client.close()));
  times.push(performance.now());
  const [startMs, callMs, closeMs] = times.slice(1).map((time, index) => time - times[index]!);
  return { servers, startMs: startMs!, callMs: callMs!, closeMs: closeMs! };
}

/** Calls one server, with so many calls in flight. */
export async function measureCalls(inFlight: number): Promise<CallsCost> {
  const client = await start();
  const text = "x".repeat(100);
  const run = async (calls: number): Promise<void> => {
    let left = calls;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await client.request("tools/call", { name: "echo", arguments: { text } });
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  };
  const calls = inFlight === 1 ? CALLS / 8 : CALLS;
  await run(CALLS / 4);
  const begun = performance.now();
  await run(calls);
  const perSecond = calls / ((performance.now() - begun) / 1_000);
  await client.close();
  return { inFlight, perSecond };
}

function start(): ReturnType<typeof spawn> {
  return spawn({ command: process.execPath, args: SERVER, inheritEnv: "all", connectTimeoutMs: 120_000 });
}
