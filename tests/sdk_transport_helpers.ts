/** What the tests of the SDK transports share: a transport in memory, driven by raw bytes, with all that it tells. */

import type { TestContext } from "node:test";
import { SdkSession } from "../internal/sdk/sdk_session.ts";
import type { SdkServerFactory } from "../internal/sdk/sdk_shapes.ts";
import { resolveLimits, type ServerEnd } from "../internal/server/settings.ts";
import { StreamConnection } from "../internal/stream_connection.ts";
import type { JSONRPCMessage, RequestId } from "../messages.ts";
import type { ByteStreams } from "../runtime.ts";
import type { ServerLimits } from "../server.ts";
import { StdioServerTransport, type StdioServerTransportOptions } from "../sdk_transport.ts";
import { createStreamPair } from "../testing.ts";
import { FakeClock, LogSink, settle, Transcript } from "./server_helpers.ts";

/** A client in memory: it writes lines and keeps what comes, and can stop reading. */
export class RawClient {
  readonly transcript: Transcript = new Transcript();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #reading: Promise<void>;
  #gate: { readonly promise: Promise<void>; readonly open: () => void } | undefined;
  /** Whether the output has ended. */
  outputEnded = false;

  constructor(streams: ByteStreams, { stalled = false }: { stalled?: boolean } = {}) {
    this.#writer = streams.writable.getWriter();
    this.#writer.closed.catch(() => {});
    this.#reader = streams.readable.getReader();
    if (stalled) this.stall();
    this.#reading = this.#read();
  }

  /** Writes messages or lines in one chunk. */
  send(...messages: ReadonlyArray<JSONRPCMessage | string>): void {
    const lines = messages.map((each) => typeof each === "string" ? each : JSON.stringify(each));
    this.sendBytes(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#writer.write(bytes).catch(() => {});
  }

  /** Ends the server's input. */
  end(): void {
    this.#writer.close().catch(() => {});
  }

  /** Fails the server's input. */
  failInput(error: unknown): void {
    this.#writer.abort(error).catch(() => {});
  }

  /** Whether the server has let go of its input: nothing can be written to it. */
  inputReleased(): Promise<boolean> {
    return this.#writer.write(new Uint8Array(1)).then(() => false, () => true);
  }

  breakOutput(): void {
    this.#reader.cancel().catch(() => {});
  }

  stall(): void {
    let open!: () => void;
    this.#gate ??= { promise: new Promise<void>((resolve) => open = resolve), open };
  }

  resume(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  /** Resolves at the end of the output. */
  get ended(): Promise<void> {
    return this.#reading;
  }

  async #read(): Promise<void> {
    for (;;) {
      await this.#gate?.promise;
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.transcript.push(value);
    }
    this.outputEnded = true;
  }
}

/** A server transport in memory with all that it has told. */
export interface Served {
  readonly transport: StdioServerTransport;
  readonly client: RawClient;
  readonly streams: ByteStreams;
  readonly clock: FakeClock;
  readonly log: LogSink;
  /** What `onmessage` got. */
  readonly received: JSONRPCMessage[];
  readonly errors: Error[];
  /** How often `onclose` was called. */
  closes: number;
  /** The requests that were received. */
  readonly ids: RequestId[];
  /** Answers a request. */
  answer(id: RequestId, result?: { [key: string]: unknown }): Promise<void>;
}

/** What a transport in memory can be given beside its own options. */
export interface ServedOptions extends StdioServerTransportOptions {
  capacityBytes?: number;
  stalled?: boolean;
  /** Takes the place of a handler that only keeps the messages. */
  onmessage?: (message: JSONRPCMessage, served: Served) => unknown;
}

/** Makes a server transport in memory, not started; it ends with the test. */
export function createServed(t: TestContext, options: ServedOptions = {}): Served {
  const { capacityBytes = 65_536, stalled = false, onmessage, ...given } = options;
  const [here, streams] = createStreamPair({ capacityBytes });
  const clock = new FakeClock();
  const log = new LogSink();
  const transport = new StdioServerTransport(streams, { clock, logger: log, ...given });
  const client = new RawClient(here, { stalled });
  const served: Served = {
    transport,
    client,
    streams,
    clock,
    log,
    received: [],
    errors: [],
    closes: 0,
    get ids() {
      return served.received.flatMap((message) =>
        "method" in message && "id" in message ? [message.id!] : []
      );
    },
    answer: (id, result = {}) => transport.send({ jsonrpc: "2.0", id, result }),
  };
  transport.onmessage = (message) => {
    served.received.push(message);
    return onmessage?.(message, served) as void;
  };
  transport.onerror = (error) => void served.errors.push(error);
  transport.onclose = () => void served.closes++;
  t.after(async () => {
    client.resume();
    const closing = transport.close();
    await clock.advance(60_000);
    await closing;
  });
  return served;
}

/** The same, started. */
export async function serveInMemory(t: TestContext, options: ServedOptions = {}): Promise<Served> {
  const served = createServed(t, options);
  await served.transport.start();
  return served;
}

/** Answers each request with its own method. */
export function answering(message: JSONRPCMessage, { transport }: Served): void {
  if (!("method" in message) || !("id" in message)) return;
  transport.send({ jsonrpc: "2.0", id: message.id!, result: { method: message.method } });
}

/** Does something so many microtasks later. */
export async function afterMicrotasks(count: number, act: () => void): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined;
  act();
}

/** Servers of an SDK in memory, as under `serve()` but for what belongs to the process. */
export interface SdkServed {
  readonly session: SdkSession;
  readonly client: RawClient;
  readonly clock: FakeClock;
  readonly log: LogSink;
  readonly running: Promise<ServerEnd>;
}

/** What they can be given. */
export interface SdkServedOptions {
  drainTimeoutMs?: number;
  legacy?: "serve" | "reject";
  limits?: ServerLimits;
}

/** Runs what a factory makes; it ends with the test. */
export function serveSdkInMemory(
  t: TestContext,
  factory: SdkServerFactory,
  { drainTimeoutMs = 10_000, legacy = "serve", limits = {} }: SdkServedOptions = {},
): SdkServed {
  const [here, there] = createStreamPair();
  const clock = new FakeClock();
  const log = new LogSink();
  const settings = { limits: resolveLimits(limits), drainTimeoutMs, logger: log, trace: undefined, clock };
  const connection = new StreamConnection(there, settings.limits);
  const session = new SdkSession(factory, connection, { ...settings, servesLegacy: legacy === "serve" });
  const client = new RawClient(here);
  const running = session.run();
  t.after(async () => {
    client.resume();
    session.stop({ reason: "signal" });
    await clock.advance(60_000);
    await running;
  });
  return { session, client, clock, log, running };
}

export { settle };
