/** The other end of a client in memory: a server that is made of what a test says, and what the client logs. */

import { Client, type ClientOptions, spawn, type SpawnOptions } from "../client.ts";
import { createDeferred } from "../internal/promises.ts";
import type { Logger } from "../logger.ts";
import type { JSONObject, JSONRPCRequest, Params, RequestId, Result } from "../messages.ts";
import type { ByteStreams } from "../runtime.ts";
import {
  createFakeRuntime,
  createStreamPair,
  FakeClock,
  type FakeProcess,
  type FakeRuntime,
  settle,
} from "../testing.ts";
import { waitUntil } from "./helpers.ts";

export { settle };

/** A message as it came over the wire. */
export type Wire = JSONObject & {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: Result;
  readonly error?: { code: number; message: string; data?: unknown };
};

/** A server that does only what the test says. */
export class Peer {
  /** Every line that came, in order. */
  readonly lines: string[] = [];
  /** What they say. */
  readonly received: Wire[] = [];
  /** Whether the client has ended its output. */
  inputEnded = false;
  /** How many writes the client's end of the pipe has taken. */
  accepted = 0;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #taken = new Set<Wire>();
  #mayRead = createDeferred();

  constructor(streams: ByteStreams) {
    this.#writer = streams.writable.getWriter();
    this.#writer.closed.catch(() => {});
    this.#mayRead.resolve();
    this.#read(streams.readable);
  }

  /** Reads one more chunk, and then nothing until it goes on. */
  stopReading(): void {
    this.#mayRead = createDeferred();
  }

  /** Goes on reading. */
  goOnReading(): void {
    this.#mayRead.resolve();
  }

  /** The methods of all requests and notifications that came. */
  get methods(): string[] {
    return this.received.map(({ method }) => method ?? "(response)");
  }

  /** Waits for the next message that was not taken yet, of this method if one is given. Rejects when none will come. */
  async take(method?: string): Promise<Wire> {
    const find = () =>
      this.received.find((message) =>
        !this.#taken.has(message) && (method === undefined || message.method === method)
      );
    const what = `the client sends ${method ?? "something"}`;
    await waitUntil(() => find() !== undefined || this.inputEnded, { what });
    const found = find();
    if (found === undefined) throw new Error(`Cannot wait any longer: the output has ended before ${what}`);
    this.#taken.add(found);
    return found;
  }

  /** Waits for the next request of this method. */
  async takeRequest(method?: string): Promise<JSONRPCRequest> {
    return await this.take(method) as unknown as JSONRPCRequest;
  }

  /** Writes messages in one chunk. */
  send(...messages: object[]): void {
    this.write(messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n").join(""));
  }

  /** Writes text as it is. */
  write(text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    this.#writer.write(bytes).then(() => this.accepted++, () => {});
  }

  /** Answers a request. */
  answer({ id }: { readonly id?: RequestId }, result: object = {}): void {
    this.send({ id, result });
  }

  /** Answers a request with an error. */
  refuse({ id }: { readonly id?: RequestId }, code: number, message = "no", data?: unknown): void {
    this.send({ id, error: { code, message, data } });
  }

  /** Ends its output. */
  end(): void {
    this.#writer.close().catch(() => {});
  }

  /** Greets as a modern server. */
  async discover(result: object = {}): Promise<JSONRPCRequest> {
    const request = await this.takeRequest("server/discover");
    this.answer(request, { ...DISCOVERED, ...result });
    return request;
  }

  /** Greets as a legacy server. */
  async initialize(result: object = {}): Promise<void> {
    const first = await this.takeRequest();
    if (first.method === "server/discover") {
      this.refuse(first, -32601);
      this.answer(await this.takeRequest("initialize"), { ...INITIALIZED, ...result });
    } else this.answer(first, { ...INITIALIZED, ...result });
    await this.take("notifications/initialized");
  }

  async #read(readable: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const reader = readable.getReader();
    let text = "";
    for (;;) {
      await this.#mayRead.promise;
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (text + decoder.decode(value, { stream: true })).split("\n");
      text = lines.pop()!;
      this.lines.push(...lines);
      for (const line of lines) this.received.push(JSON.parse(line));
    }
    this.inputEnded = true;
  }
}

export const DISCOVERED: { [member: string]: unknown } = {
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: { listChanged: true } },
  resultType: "complete",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } },
};

export const INITIALIZED: { [member: string]: unknown } = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } },
  serverInfo: { name: "scripted", version: "1.0.0" },
};

/** One line of a log. */
export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly facts: { readonly [name: string]: unknown };
}

/** A logger that keeps what it is told. */
export function createLog(): { logger: Logger; lines: LogLine[]; of: (level: keyof Logger) => string[] } {
  const lines: LogLine[] = [];
  const keep = (level: keyof Logger) => (message: string, facts: unknown) =>
    void lines.push({ level, message, facts: Object(facts) });
  const logger = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  return {
    logger,
    lines,
    of: (level) => lines.filter((line) => line.level === level).map(({ message }) => message),
  };
}

/** A client in memory with its server, a clock that stands still, and a log. */
export interface Meeting {
  readonly client: Client;
  readonly peer: Peer;
  readonly clock: FakeClock;
  readonly log: ReturnType<typeof createLog>;
}

/** Connects a client to a server of this era. */
export async function meet(
  options: ClientOptions & { greeting?: object; legacy?: boolean } = {},
): Promise<Meeting> {
  const { greeting, legacy = false, ...rest } = options;
  const [here, there] = createStreamPair();
  const peer = new Peer(there);
  const clock = new FakeClock();
  const log = createLog();
  const connecting = Client.connect(here, { clock, logger: log.logger, ...rest });
  await (legacy ? peer.initialize(greeting) : peer.discover(greeting));
  return { client: await connecting, peer, clock, log };
}

/** What a process of a {@linkcode House} does when it is started. */
export type Inhabitant = (peer: Peer, server: FakeProcess, index: number) => void | Promise<void>;

/** A client with a fake runtime. */
export interface House {
  readonly client: Client;
  readonly clock: FakeClock;
  readonly log: ReturnType<typeof createLog>;
  readonly runtime: FakeRuntime;
  /** The server in each process, in the order they were started. */
  readonly peers: Peer[];
  /** The states it went through. */
  readonly states: string[];
}

/** Prepares a client whose servers are fake processes; `live` is what runs in each, by default a modern greeting once. */
export function prepareHouse(
  live: Inhabitant = (peer, _process, index) => index === 0 ? void peer.discover() : undefined,
  options: Partial<SpawnOptions> = {},
): Omit<House, "client"> & { readonly spawn: () => Promise<Client> } {
  const peers: Peer[] = [];
  const states: string[] = [];
  const clock = new FakeClock();
  const log = createLog();
  const runtime = createFakeRuntime({
    onSpawn: async (process) => {
      const peer = new Peer(process);
      const index = peers.push(peer) - 1;
      await live(peer, process, index);
    },
  });
  return {
    clock,
    log,
    runtime,
    peers,
    states,
    spawn: () =>
      spawn({
        command: "server",
        runtime,
        clock,
        logger: log.logger,
        onStateChange: (state) => void states.push(state),
        ...options,
      }),
  };
}

/** Starts a client whose servers are fake processes. */
export async function inhabit(live?: Inhabitant, options: Partial<SpawnOptions> = {}): Promise<House> {
  const { spawn, ...house } = prepareHouse(live, options);
  return { client: await spawn(), ...house };
}

/** What became of a promise, once it is settled. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<{ value?: T; error?: Error & JSONObject }> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error: error as Error & JSONObject };
  }
}
