// A server with a few faults of the kind that are met: for the picture of what `doctor` says.
import process from "node:process";
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tools = [{
  name: "get-forecast",
  description: "Forecast for a city",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true, openWorldHint: false },
}];
const results = {
  "initialize": ({ protocolVersion }) => ({
    protocolVersion: protocolVersion === "2025-06-18" ? "2025-06-18" : "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "weather", version: "2.3.1" },
  }),
  "ping": () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => {
    if (name !== "get-forecast") return { content: [{ type: "text", text: "no such tool" }], isError: true };
    // The likeliest fault of all.
    process.stdout.write("Loaded 12 stations\n");
    return { content: [{ type: "text", text: "Bergen: rain, 9 °C" }] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return send({ id: null, error: { code: -32700, message: "Parse error" } });
  }
  const { id, method, params = {} } = Object(message);
  const isRequest = (typeof id === "string" || Number.isInteger(id)) && typeof method === "string";
  if (id === undefined && typeof method === "string") return;
  if (!isRequest) return send({ id: id ?? null, error: { code: -32600, message: "Invalid Request" } });
  const result = Object.hasOwn(results, method) ? results[method](params) : undefined;
  if (result === undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  else send({ id, result });
});
