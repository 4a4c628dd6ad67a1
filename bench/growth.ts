// How cost grows with the number of servers of one host, with the number of clients in one process, and with the number of calls
// in flight. By itself, `deno task bench:growth [servers …]`, it prints what it finds of so many servers, 100 and 500 if none are
// said, and of 1 000 clients in memory.
import process from "node:process";
import { spawn } from "../client.ts";
import { type Kind, median, programOf, runJson, type Runtime, RUNTIMES } from "./runtimes.ts";

const CALLS = 40_000;
/** Many processes at once are never twice alike. */
const ROUNDS = 3;

/** What so many servers, or clients in memory, take, in milliseconds; and what their host holds for each. */
export interface GrowthCost {
  readonly startMs: number;
  readonly callMs: number;
  readonly closeMs: number;
  readonly bytesPerClient: number;
}

/** How fast calls are with so many in flight. */
export interface CallsCost {
  readonly inFlight: number;
  readonly perSecond: number;
}

/** Starts so many servers at once, calls each once at the same time, and closes them. */
export function measureServers(runtime: Runtime, kind: Kind, servers: number): GrowthCost {
  const client = programOf(runtime, "many", "tarball");
  const server = programOf(runtime, `${kind}_server`, "tarball");
  return toCost(runJson([...client, kind, String(servers), ...server]));
}

/** Connects so many clients to as many servers in one process, calls each once, and closes them. */
export function measureInMemory(runtime: Runtime, clients: number): GrowthCost {
  return toCost(runJson([...programOf(runtime, "in_memory", "tarball"), String(clients)]));
}

/** Calls one server, with so many calls in flight; on Deno. */
export async function measureCalls(inFlight: number): Promise<CallsCost> {
  const [command, ...args] = programOf("deno", "ours_server");
  const client = await spawn({ command: command!, args, inheritEnv: "all", connectTimeoutMs: 120_000 });
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

/** A table of what so many servers take on each runtime, ours beside the limit, in turns; and of clients in memory. */
export function renderServers(counts: readonly number[], clients: number): string {
  const lines = counts.flatMap((count) =>
    RUNTIMES.map((runtime) => {
      const runs: Record<"limit" | "ours", GrowthCost[]> = { limit: [], ours: [] };
      for (let round = 0; round < ROUNDS; round++) {
        for (const kind of ["limit", "ours"] as const) {
          runs[kind].push(measureServers(runtime, kind, count));
          process.stderr.write(
            `${count} servers, ${runtime} ${kind}: ${Math.round(totalOf(runs[kind].at(-1)!))} ms\n`,
          );
        }
      }
      const [limit, ours] = [median(runs.limit.map(totalOf)), median(runs.ours.map(totalOf))];
      const parts = (["startMs", "callMs", "closeMs"] as const)
        .map((part) => Math.round(median(runs.ours.map((cost) => cost[part]))));
      const memory = (["ours", "limit"] as const)
        .map((kind) => Math.round(median(runs[kind].map(({ bytesPerClient }) => bytesPerClient)) / 1_024));
      return `| ${count} | ${runtime} | ${parts.join(" | ")} | ${Math.round(ours)} | ${Math.round(limit)} | ${
        (ours / limit).toFixed(2)
      } | ${memory.join(" | ")} |`;
    })
  );
  const inMemory = RUNTIMES.map((runtime) => {
    const { startMs, callMs, closeMs, bytesPerClient } = measureInMemory(runtime, clients);
    const times = [startMs, callMs, closeMs].map(Math.round).join(" | ");
    return `| ${clients} | ${runtime} | ${times} | ${Math.round(bytesPerClient / 1_024)} |`;
  });
  return [
    "Servers of one host that are started at once, called once each at the same time, and closed, from the tarball; in milliseconds.",
    "All of it is to take at most 1.3 × as long as with the limit. Memory is what the host holds for each, in KB.",
    "",
    "| servers | runtime | started and connected | called | closed and reaped | all | limit | ours / limit | memory | limit's |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
    "",
    "Clients in one process, each with a server in memory; the memory is of both:",
    "",
    "| clients | runtime | connected (ms) | called (ms) | closed (ms) | memory (KB) |",
    "| --- | --- | --- | --- | --- | --- |",
    ...inMemory,
    "",
  ].join("\n");
}

function totalOf({ startMs, callMs, closeMs }: GrowthCost): number {
  return startMs + callMs + closeMs;
}

function toCost({ startMs, connectMs, callMs, closeMs, bytesPerClient }: Record<string, number>): GrowthCost {
  return {
    startMs: startMs ?? connectMs!,
    callMs: callMs!,
    closeMs: closeMs!,
    bytesPerClient: bytesPerClient!,
  };
}

if (process.argv[1]?.endsWith("growth.ts")) {
  const counts = process.argv.slice(2).map(Number);
  process.stdout.write(renderServers(counts.length === 0 ? [100, 500] : counts, 1_000));
}
