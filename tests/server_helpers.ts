/**
 * What the tests of the server share: messages as a client writes them, a transcript of what the server wrote in which every
 * line is checked, and a client in memory that can stop reading.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Logger } from "../logger.ts";
import type { JSONRPCMessage, Params, RequestId, Result } from "../messages.ts";
import { Server, type ServerEnd, type ServerOptions, type ToolSchemas } from "../server.ts";
import { createStreamPair, FakeClock, settle } from "../testing.ts";
import { nextTurn, waitUntil } from "./helpers.ts";

export { FakeClock, settle };

/** For tests that are slow on a busy machine; Bun's own limit is 5 s. */
export const SLOW = { timeout: 60_000 } as const;

/** A message with whatever members it has. */
export interface Message {
  jsonrpc?: "2.0";
  id?: RequestId | null;
  method?: string;
  // deno-lint-ignore no-explicit-any -- tests look into results of every form
  params?: any;
  // deno-lint-ignore no-explicit-any
  result?: any;
  // deno-lint-ignore no-explicit-any
  error?: { code: number; message: string; data?: any };
}

const PREFIX = "io.modelcontextprotocol/";

/** The envelope of a modern request. */
export function envelope(more: Params = {}): Params {
  return { [`${PREFIX}protocolVersion`]: "2026-07-28", [`${PREFIX}clientCapabilities`]: {}, ...more };
}

/** A modern request. */
export function modern(
  id: RequestId,
  method: string,
  params: Params = {},
  meta: Params = {},
): JSONRPCMessage {
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: envelope(meta) } };
}

/** A modern call of a tool. */
export function call(id: RequestId, name: string, args: Params = {}, meta: Params = {}): JSONRPCMessage {
  return modern(id, "tools/call", { name, arguments: args }, meta);
}

/** A request of the legacy era. */
export function legacy(id: RequestId, method: string, params?: Params): JSONRPCMessage {
  return { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
}

/** A legacy handshake. */
export function initialize(
  id: RequestId,
  protocolVersion: unknown = "2025-11-25",
  capabilities: Params = {},
): JSONRPCMessage {
  const clientInfo = { name: "test", version: "1.0.0" };
  return legacy(id, "initialize", { protocolVersion, capabilities, clientInfo });
}

/** A notification. */
export function notification(method: string, params?: Params): JSONRPCMessage {
  return { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) };
}

/** A cancellation. */
export function cancel(requestId: RequestId, reason?: string): JSONRPCMessage {
  return notification("notifications/cancelled", {
    requestId,
    ...(reason === undefined ? {} : { reason }),
  });
}

/** The text of a tool's result. */
export function textOf({ result }: Message): string {
  return result.content.map(({ text }: { text: string }) => text).join("");
}

/** Everything a server has written. Each line is checked for its shape as it comes. */
export class Transcript {
  readonly messages: Message[] = [];
  readonly texts: string[] = [];
  /** The parts of a line whose end has not come. */
  #parts: string[] = [];
  #bytes = 0;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });

  /** How many bytes came. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What came behind the last line feed. */
  get rest(): string {
    return this.#parts.join("");
  }

  /** Takes bytes as they came. */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      this.#parts.push(this.#decoder.decode(chunk.subarray(start, end)));
      start = end + 1;
      const line = this.rest;
      this.#parts = [];
      this.#line(line);
    }
    this.#parts.push(this.#decoder.decode(chunk.subarray(start), { stream: true }));
  }

  #line(line: string): void {
    const isLong = line.length > 10_000;
    this.texts.push(isLong ? line.slice(0, 10_000) : line);
    const message = JSON.parse(line) as Message | Message[];
    for (const each of Array.isArray(message) ? message : [message]) {
      checkShape(each);
      this.messages.push(each);
    }
    if (isLong) return;
    assert.doesNotMatch(line.replaceAll(/"(?:[^"\\]|\\.)*"/g, ""), /\s/, "not compact");
  }

  /** The responses to a request. */
  responsesTo(id: RequestId | null): Message[] {
    return this.messages.filter((message) => message.method === undefined && message.id === id);
  }

  /** Waits for the response to a request. */
  async response(id: RequestId | null): Promise<Message> {
    await this.until(() => this.responsesTo(id).length > 0, `the response to ${JSON.stringify(id)}`);
    return this.responsesTo(id)[0]!;
  }

  /** Notifications of a method. */
  notifications(method: string): Message[] {
    return this.messages.filter((message) => message.method === method);
  }

  /** Waits until something holds of it. */
  async until(condition: () => boolean, what: string, timeoutMs = 30_000): Promise<void> {
    await waitUntil(condition, { what, timeoutMs });
  }
}

const ID_KINDS = ["string", "number"];

/** Checks that a message is one that a server may write. */
export function checkShape(message: unknown): void {
  const text = describe(message);
  const { jsonrpc, id, method, params, result, error, ...more } = message as Record<string, unknown>;
  assert.equal(jsonrpc, "2.0", text);
  assert.deepEqual(Object.keys(more), [], text);
  if (method !== undefined) {
    assert.equal(typeof method, "string", text);
    assert.ok(params === undefined || isObject(params), text);
    assert.ok(result === undefined && error === undefined, text);
    if (id !== undefined) assert.ok(ID_KINDS.includes(typeof id), text);
    else checkNotification(method as string, params as Params | undefined, text);
  } else if (error !== undefined) {
    const { code, message: reason, data: _data, ...extra } = error as Record<string, unknown>;
    assert.ok(Number.isInteger(code) && typeof reason === "string", text);
    assert.deepEqual(Object.keys(extra), [], text);
    assert.ok(result === undefined && (id === null || ID_KINDS.includes(typeof id)), text);
  } else {
    assert.ok(isObject(result) && ID_KINDS.includes(typeof id), text);
    checkResult(result as Result, text);
  }
}

function checkNotification(method: string, params: Params | undefined, text: string): void {
  assert.match(method, /^(notifications\/|x-)/, text);
  if (method === "notifications/progress") {
    const { progressToken, progress, total = 0, message = "" } = params!;
    assert.ok(ID_KINDS.includes(typeof progressToken) && typeof message === "string", text);
    assert.ok(typeof progress === "number" && typeof total === "number", text);
  }
  if (method === "notifications/message") assert.ok("data" in params! && "level" in params, text);
  if (method === "notifications/cancelled") {
    assert.ok(ID_KINDS.includes(typeof params?.requestId), text);
  }
}

/** A result of the modern era names its server, and a list says how long it may be kept. */
function checkResult(result: Result, text: string): void {
  if (result.resultType === undefined) {
    assert.equal(result.ttlMs, undefined, text);
    return;
  }
  assert.ok(isObject(result._meta) && isObject(result._meta[`${PREFIX}serverInfo`]), text);
  const isCacheable = ["tools", "prompts", "resources", "resourceTemplates", "contents", "supportedVersions"]
    .some((member) => member in result);
  assert.equal(Number.isInteger(result.ttlMs) && typeof result.cacheScope === "string", isCacheable, text);
}

/** A message for a failure's text: its long strings are cut, since most messages pass. */
function describe(message: unknown): string {
  const cut = (_key: string, value: unknown) =>
    typeof value === "string" && value.length > 100 ? `${value.slice(0, 100)}…` : value;
  return JSON.stringify(message, cut);
}

function isObject(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Collects what is logged. */
export class LogSink implements Logger {
  readonly entries: Array<{ level: string; text: string; details: unknown[] }> = [];

  debug(text: string, ...details: unknown[]): void {
    this.entries.push({ level: "debug", text, details });
  }

  info(text: string, ...details: unknown[]): void {
    this.entries.push({ level: "info", text, details });
  }

  warn(text: string, ...details: unknown[]): void {
    this.entries.push({ level: "warn", text, details });
  }

  error(text: string, ...details: unknown[]): void {
    this.entries.push({ level: "error", text, details });
  }

  /** The texts of a level. */
  texts(level: string): string[] {
    return this.entries.filter((entry) => entry.level === level).map(({ text }) => text);
  }
}

/** A server in memory with its client. */
export interface Session {
  readonly server: Server;
  readonly clock: FakeClock;
  readonly log: LogSink;
  readonly transcript: Transcript;
  /** Resolves with the server's end. */
  readonly running: Promise<ServerEnd>;
  /** Writes messages, one to a line, or lines as they are, in one chunk. */
  send(...messages: ReadonlyArray<JSONRPCMessage | string>): void;
  /** Writes bytes. */
  sendBytes(bytes: Uint8Array): void;
  /** Ends the server's input. */
  end(): void;
  /** Stops reading what the server writes. */
  stall(): void;
  /** Reads on. */
  resume(): void;
  /** Breaks the pipe that the server writes to. */
  breakOutput(): void;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** Waits for a response. */
  response(id: RequestId | null): Promise<Message>;
}

/** What a server in memory can be given beside its own options. */
export interface SessionOptions {
  /** How many bytes the pipe from the server holds. */
  capacityBytes?: number;
}

/** Runs a server in memory; it ends with the test. */
export function start<Inputs extends ToolSchemas, Outputs extends ToolSchemas>(
  t: TestContext,
  options: Partial<ServerOptions<Inputs, Outputs>> = {},
  { capacityBytes = 65_536 }: SessionOptions = {},
): Session {
  const clock = new FakeClock();
  const log = new LogSink();
  const given = { info: { name: "test", version: "1.0.0" }, clock, logger: log, ...options };
  const server = new Server(given as ServerOptions) as Server;
  const [here, there] = createStreamPair({ capacityBytes });
  const running = server.run(there);
  const transcript = new Transcript();
  const writer = here.writable.getWriter();
  const reader = here.readable.getReader();
  writer.closed.catch(() => {});
  let gate: { promise: Promise<void>; open: () => void } | undefined;
  const reading = (async () => {
    for (;;) {
      await gate?.promise;
      const { done, value } = await reader.read();
      if (done) return;
      transcript.push(value);
    }
  })();
  const resume = (): void => {
    gate?.open();
    gate = undefined;
  };
  t.after(async () => {
    resume();
    server.stop();
    await clock.advance(60_000);
    await running;
    await reading;
  });
  return {
    server,
    clock,
    log,
    transcript,
    running,
    send(...messages) {
      const lines = messages.map((each) => typeof each === "string" ? each : JSON.stringify(each));
      this.sendBytes(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
    },
    sendBytes: (bytes) => void writer.write(bytes).catch(() => {}),
    end: () => void writer.close().catch(() => {}),
    stall() {
      let open!: () => void;
      gate ??= { promise: new Promise<void>((resolve) => open = resolve), open };
    },
    resume,
    breakOutput: () => void reader.cancel().catch(() => {}),
    settle,
    response: (id) => transcript.response(id),
  };
}

/** A gate that handlers wait at. */
export class Gate {
  #open!: () => void;
  readonly opened: Promise<void> = new Promise((resolve) => this.#open = resolve);

  open(): void {
    this.#open();
  }
}

/** Lets turns pass until a value no longer changes for a while. */
export async function steady(value: () => number, turns = 20): Promise<number> {
  let last = value();
  for (let same = 0; same < turns;) {
    await nextTurn();
    const now = value();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}
