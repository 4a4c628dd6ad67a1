// Drives one client against one server: `drive.ts <ours|official|limit> <work>`; prints one line of JSON.
import process from "node:process";
import type { BenchClient, EchoResult } from "./frames.ts";

/** Calls before the clock starts: a server lives long, and its code has been compiled by then. */
const WARM_UP_CALLS = Number(process.env.WARM_UP_CALLS ?? 20_000);

const [kind, work, ...command] = process.argv.slice(2);
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const { connect } = await import(`./${kind}_client.${extension}`) as {
  connect(command: string, args: string[]): Promise<BenchClient>;
};

const started = performance.now();
const client = await connect(command[0]!, command.slice(1));
const result = await run(client);
await client.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);

async function run(client: BenchClient): Promise<Record<string, number>> {
  const text = "x".repeat(100);
  switch (work) {
    case "start": {
      check(await client.echo({ text }), 100);
      return { ms: performance.now() - started };
    }
    case "pipelined":
      return { perSecond: await rate(client, text, Number(process.env.CALLS ?? 60_000), 64) };
    case "sequential": {
      const calls = Number(process.env.CALLS ?? 6_000);
      return { us: 1_000_000 / await rate(client, text, calls, 1) };
    }
    case "large": {
      const size = 8 * 1_048_576;
      check(await client.echo({ size }), size);
      const begun = performance.now();
      const calls = Number(process.env.CALLS ?? 6);
      for (let round = 0; round < calls; round++) check(await client.echo({ size }), size);
      return { mbPerSecond: calls * size / 1_048_576 / ((performance.now() - begun) / 1_000) };
    }
    default:
      throw new Error(`Unknown work: ${work}`);
  }
}

async function rate(client: BenchClient, text: string, calls: number, inFlight: number): Promise<number> {
  await round(client, text, WARM_UP_CALLS, 64);
  await round(client, text, calls / 4, inFlight);
  const begun = performance.now();
  await round(client, text, calls, inFlight);
  return calls / ((performance.now() - begun) / 1_000);
}

async function round(client: BenchClient, text: string, calls: number, inFlight: number): Promise<void> {
  let left = calls;
  const worker = async () => {
    while (left-- > 0) check(await client.echo({ text }), text.length);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** Nothing counts but what has come back whole. */
function check({ content }: EchoResult, length: number): void {
  const [{ text }] = content as [{ text: string }];
  if (text.length !== length) throw new Error(`${text.length} characters came back in place of ${length}`);
}
