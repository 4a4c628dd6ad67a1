/** A client transport for the official SDK in memory, with all that it tells, and the processes that it starts. */

import type { TestContext } from "node:test";
import type { JSONRPCMessage } from "../messages.ts";
import { StdioClientTransport, type StdioClientTransportOptions } from "../sdk_transport.ts";
import { createFakeRuntime, type FakeProcess, type FakeRuntime } from "../testing.ts";
import { FakeClock, LogSink, settle } from "./server_helpers.ts";

/** A client transport in memory and what its servers read. */
export interface Connected {
  readonly transport: StdioClientTransport;
  readonly runtime: FakeRuntime;
  readonly clock: FakeClock;
  readonly log: LogSink;
  readonly received: JSONRPCMessage[];
  readonly errors: Error[];
  /** What was told, in order. */
  readonly told: string[];
  /** What a server has read so far, by the number of the server. */
  read(index?: number): JSONRPCMessage[];
  /** Writes lines as a server. */
  write(lines: ReadonlyArray<JSONRPCMessage | string>, index?: number): Promise<void>;
}

/** What it can be given beside its own options. */
export type ConnectOptions = Partial<StdioClientTransportOptions> & {
  /** The environment of this process. */
  hostEnv?: Record<string, string>;
  onSpawn?: (child: FakeProcess, index: number) => void | Promise<void>;
};

/** Makes one, not started; it ends with the test. */
export function createClient(
  t: TestContext,
  { onSpawn, hostEnv = {}, ...options }: ConnectOptions = {},
): Connected {
  const texts: string[] = [];
  const runtime = createFakeRuntime({
    env: hostEnv,
    async onSpawn(process) {
      const index = texts.push("") - 1;
      const decoder = new TextDecoder();
      process.readable.pipeTo(
        new WritableStream({
          write: (chunk) => void (texts[index] += decoder.decode(chunk, { stream: true })),
        }),
      ).catch(() => {});
      await onSpawn?.(process, index);
    },
  });
  const clock = new FakeClock();
  const log = new LogSink();
  const transport = new StdioClientTransport({ command: "server", runtime, clock, logger: log, ...options });
  const told: string[] = [];
  const received: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  transport.onmessage = (message) => void received.push(message);
  transport.onerror = (error) => {
    errors.push(error);
    told.push("error");
  };
  transport.onclose = () => void told.push("close");
  t.after(async () => {
    const closing = transport.close();
    await clock.advance(60_000);
    await closing;
  });
  return {
    transport,
    runtime,
    clock,
    log,
    received,
    errors,
    told,
    read: (index = 0) => (texts[index] ?? "").split("\n").slice(0, -1).map((line) => JSON.parse(line)),
    async write(lines, index = 0) {
      const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(
        "",
      );
      const writer = runtime.processes[index]!.writable.getWriter();
      await writer.write(new TextEncoder().encode(text));
      writer.releaseLock();
      await settle();
    },
  };
}

/** The same, started. */
export async function connectClient(t: TestContext, options: ConnectOptions = {}): Promise<Connected> {
  const connected = createClient(t, options);
  await connected.transport.start();
  return connected;
}
