// Starts so many servers at once, calls each once at the same time, and closes them: `many.ts <ours|limit> <count> <command …>`;
// prints one line of JSON.
import process from "node:process";
import type { BenchClient } from "./frames.ts";

const [kind, count, ...command] = process.argv.slice(2);
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const { connect } = await import(`./${kind}_client.${extension}`) as {
  connect(command: string, args: string[]): Promise<BenchClient>;
};
const servers = Number(count);
const before = process.memoryUsage().rss;
const times = [performance.now()];
const clients = await Promise.all(
  Array.from({ length: servers }, () => connect(command[0]!, command.slice(1))),
);
times.push(performance.now());
await Promise.all(clients.map((client) => client.echo({ text: "x" })));
times.push(performance.now());
const bytesPerClient = (process.memoryUsage().rss - before) / servers;
await Promise.all(clients.map((client) => client.close()));
times.push(performance.now());
const [startMs, callMs, closeMs] = times.slice(1).map((time, index) => time - times[index]!);
process.stdout.write(`${JSON.stringify({ startMs, callMs, closeMs, bytesPerClient })}\n`);
process.exit(0);
