// A stdio server that hands everything to the Streamable HTTP server at the URL in its argument, so that a suite whose
// mock servers know only HTTP can test our client.
import process from "node:process";
import { createInterface } from "node:readline";

type Json = { [key: string]: unknown };
type Message = Json & { id?: string | number; method?: string; params?: Json; result?: Json };

const url = process.argv.at(-1)!;
const aborts = new Map<string | number | undefined, AbortController>();
let session: string | undefined;
let version = "2025-11-25";
/** Settles when the server can ask on a stream of its own, or has none; nothing is sent before. */
let listening: Promise<void> | undefined;

const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  const message = JSON.parse(line) as Message;
  if (message.method === "notifications/cancelled") {
    aborts.get(message.params?.["requestId"] as string | number)?.abort();
  }
  const posted = post(message);
  if (message.method === "notifications/initialized") listening = posted.then(listen).catch(() => {});
  posted.catch((error) => {
    if (message.id === undefined || error?.name === "AbortError") return;
    write({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: String(error) } });
  });
});
input.on("close", () => process.exit());

async function post(message: Message): Promise<void> {
  await listening;
  const controller = new AbortController();
  aborts.set(message.id, controller);
  const body = JSON.stringify(message);
  const response = await fetch(url, {
    method: "POST",
    headers: headersFor(message),
    body,
    signal: controller.signal,
  });
  session = response.headers.get("mcp-session-id") ?? session;
  if (response.headers.get("content-type")?.includes("text/event-stream")) await readEvents(response);
  else {
    const text = await response.text();
    if (text !== "" && message.id !== undefined) write(JSON.parse(text));
  }
}

/** In the legacy era a server asks on a stream of its own, too; what comes before it is lost. */
async function listen(): Promise<void> {
  const { "content-type": _type, ...headers } = headersFor({});
  const response = await fetch(url, { headers: { ...headers, accept: "text/event-stream" } });
  if (response.ok) readEvents(response).catch(() => {}); // It ends with the server.
}

function headersFor({ method, params = {} }: Message): Record<string, string> {
  const meta = params["_meta"] as Json | undefined;
  const claimed = meta?.["io.modelcontextprotocol/protocolVersion"] as string | undefined;
  const name = params["name"] ?? params["uri"];
  return {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": claimed ?? version,
    ...(method === undefined ? {} : { "mcp-method": method }),
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
    ...(session === undefined ? {} : { "mcp-session-id": session }),
  };
}

async function readEvents(response: Response): Promise<void> {
  let rest = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (/^data:\s*\{/.test(line)) write(JSON.parse(line.slice("data:".length)));
    }
  }
}

function write(message: Message): void {
  if (typeof message.result?.["protocolVersion"] === "string") version = message.result["protocolVersion"];
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
