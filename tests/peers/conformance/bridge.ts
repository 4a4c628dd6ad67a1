/**
 * Streamable HTTP in front of a stdio server, as thin as can be, so that a suite that knows only HTTP can test what is
 * behind it. One process serves the modern era; each `initialize` gets a process of its own.
 */

import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { type Command, ROOT } from "../harness.ts";

type Json = { [key: string]: unknown };
type Message = Json & { id?: string | number; method?: string; params?: Json; error?: { code: number } };

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";
/** The HTTP status that goes with a JSON-RPC error in the modern era. */
const STATUS: { [code: number]: number } = {
  [-32601]: 404,
  [-32600]: 400,
  [-32602]: 400,
  [-32700]: 400,
  [-32020]: 400,
  [-32021]: 400,
  [-32022]: 400,
};

/** A request on its way: what the caller named it, and where its answer goes. */
interface Exchange {
  readonly id: string | number;
  readonly token: unknown;
  readonly response: ServerResponse;
  readonly isModern: boolean;
}

/** A running bridge. */
export interface Bridge {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a bridge in front of a command. */
export async function startBridge(command: Command): Promise<Bridge> {
  const backends = new Map<string, Backend>([["", new Backend(command)]]);
  const server = createServer((request, response) => {
    handle(request, response, backends, command).catch((error) =>
      refuse(response, 500, null, -32603, String(error))
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => closeAll(server, backends),
  };
}

async function closeAll(server: Server, backends: ReadonlyMap<string, Backend>): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await Promise.all([...backends.values()].map((backend) => backend.close()));
}

/** A server process with the requests that wait for it. */
class Backend {
  readonly #child: ChildProcess;
  readonly #exchanges = new Map<string | number, Exchange>();
  #lastId = 0;

  constructor([command, ...args]: Command) {
    this.#child = spawn(command, args, { cwd: ROOT, stdio: ["pipe", "pipe", "ignore"] });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => this.#receive(JSON.parse(line)));
  }

  send(message: Message): void {
    this.#child.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  request(message: Message, response: ServerResponse, isModern: boolean): void {
    const id = `bridge-${++this.#lastId}`;
    const meta = message.params?.["_meta"] as Json | undefined;
    const token = meta?.["progressToken"];
    this.#exchanges.set(id, { id: message.id!, token, response, isModern });
    response.on("close", () => {
      if (!this.#exchanges.delete(id)) return;
      this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    });
    const params = token === undefined
      ? message.params
      : { ...message.params, _meta: { ...meta, progressToken: id } };
    this.send({ ...message, id, ...(params === undefined ? {} : { params }) });
  }

  close(): Promise<void> {
    const exit = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.stdin!.end();
    return exit;
  }

  #receive(message: Message): void {
    if (message.method === undefined) this.#answer(message);
    else this.#tell(message);
  }

  #answer(message: Message): void {
    const exchange = this.#exchanges.get(message.id ?? "");
    if (exchange === undefined) return;
    this.#exchanges.delete(message.id!);
    const { response, id, isModern } = exchange;
    const result = message["result"] as Json | undefined;
    const answer = { ...message, id, ...(result === undefined ? {} : { result: restamp(result, id) }) };
    if (response.headersSent) {
      writeEvent(response, answer);
      response.end();
      return;
    }
    const status = isModern ? STATUS[message.error?.code ?? 0] ?? 200 : 200;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }

  /** Notifications, and in the legacy era requests, go to the stream of the request they belong to. */
  #tell(message: Message): void {
    const { params = {} } = message;
    const owner = params["progressToken"] ?? (params["_meta"] as Json | undefined)?.[SUBSCRIPTION_KEY];
    const exchange = owner === undefined
      ? [...this.#exchanges.values()].at(-1)
      : this.#exchanges.get(owner as string);
    if (exchange === undefined) return;
    const { response, token, id } = exchange;
    if (!response.headersSent) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    }
    const given = params["progressToken"] === undefined ? params : { ...params, progressToken: token };
    writeEvent(response, { ...message, params: restamp(given, id) });
  }
}

function writeEvent(response: ServerResponse, message: Json): void {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

/** Names a listen stream as its caller does. */
function restamp(value: Json, id: string | number): Json {
  const meta = value["_meta"] as Json | undefined;
  return meta?.[SUBSCRIPTION_KEY] === undefined
    ? value
    : { ...value, _meta: { ...meta, [SUBSCRIPTION_KEY]: id } };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  backends: Map<string, Backend>,
  command: Command,
): Promise<void> {
  if (!isLocal(request)) return refuse(response, 403, null, -32600, "A foreign host or origin");
  const session = request.headers["mcp-session-id"] as string | undefined;
  if (request.method === "DELETE") return endSession(response, backends, session);
  if (request.method !== "POST") return refuse(response, 405, null, -32600, "Only POST and DELETE");
  const message = JSON.parse(await bodyOf(request)) as Message;
  const isModern = session === undefined && !isLegacyOpening(message);
  if (isModern) {
    const problem = headerProblem(request, message);
    if (problem !== undefined) return refuse(response, 400, message.id ?? null, -32020, problem);
  }
  const backend = backendFor(message, session, isModern, backends, command, response);
  if (backend === undefined) return refuse(response, 404, message.id ?? null, -32600, "No such session");
  if (message.id === undefined || message.method === undefined) {
    backend.send(message);
    response.writeHead(202).end();
  } else backend.request(message, response, isModern);
}

function backendFor(
  message: Message,
  session: string | undefined,
  isModern: boolean,
  backends: Map<string, Backend>,
  command: Command,
  response: ServerResponse,
): Backend | undefined {
  if (isModern) return backends.get("");
  if (message.method !== "initialize") return backends.get(session!);
  const id = randomUUID();
  backends.set(id, new Backend(command));
  response.setHeader("mcp-session-id", id);
  return backends.get(id);
}

async function endSession(
  response: ServerResponse,
  backends: Map<string, Backend>,
  session: string | undefined,
): Promise<void> {
  const backend = backends.get(session ?? "none");
  backends.delete(session ?? "none");
  await backend?.close();
  response.writeHead(backend === undefined ? 404 : 200).end();
}

function isLegacyOpening({ method, params }: Message): boolean {
  return method === "initialize" && params?.["_meta"] === undefined;
}

/** What HTTP wants beyond the message itself: its version in a header, too. */
function headerProblem(request: IncomingMessage, { params }: Message): string | undefined {
  const header = request.headers["mcp-protocol-version"];
  const version = (params?.["_meta"] as Json | undefined)?.[VERSION_KEY];
  if (header === undefined) return "The header MCP-Protocol-Version is missing";
  return version === undefined || version === header
    ? undefined
    : "The header MCP-Protocol-Version differs from _meta";
}

function isLocal({ headers: { host = "", origin } }: IncomingMessage): boolean {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  const isName = (authority: string) => names.includes(authority.replace(/:\d+$/, ""));
  return isName(host) && (origin === undefined || isName(origin.replace(/^https?:\/\//, "")));
}

function refuse(response: ServerResponse, status: number, id: unknown, code: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
  response.writeHead(status, { "content-type": "application/json" }).end(body);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
