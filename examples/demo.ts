// Starts the weather server on the runtime this runs on, and shows what a client sees: a call, progress, a
// cancellation, a crash and the restart after it. Run it with `npm run demo` or `deno task demo`.
import { type Client, ConnectionClosedError, type RequestResult, spawn } from "@mcp/stdio";
import process from "node:process";
import { fileURLToPath } from "node:url";

// deno-lint-ignore no-console
const say = (line: string): void => console.log(line);

const command = process.execPath;
const args = [fileURLToPath(import.meta.url.replace(/demo\.(\w+)$/, "weather_server.$1"))];
say(`starting  ${[command, ...args].join(" ")}`);
const client = await spawn({
  command,
  args,
  stderr: "capture",
  onStateChange: (state) => say(`          (the client is now ${state})`),
  logger: {
    debug() {},
    info() {},
    warn: (line) => say(`          warning: ${line}`),
    error: (line) => say(line),
  },
});

say(`connected to ${client.serverInfo?.name} ${client.serverInfo?.version}, pid ${client.pid}`);
say(`          it speaks revision ${client.protocolVersion} (${client.era} era)`);

const names: string[] = [];
for await (const { name } of client.tools()) names.push(name);
say(`\ntools     ${names.join(", ")}`);

say(`\ncall      get-forecast { city: "Bangkok" }`);
say(`answer    ${await callTool(client, "get-forecast", { city: "Bangkok" })}`);
say(`\ncall      get-forecast {}   (an argument is missing)`);
say(`answer    ${await callTool(client, "get-forecast", {})}`);

say(`\ncall      measure { steps: 3 }, with progress`);
const measured = await client.callTool("measure", { steps: 3 }, {
  onProgress: ({ progress, total, message }) => say(`progress  ${progress}/${total} ${message}`),
});
say(`answer    ${textOf(measured)}`);

say(`\ncall      measure { steps: 100 }, given up after 250 ms`);
const controller = new AbortController();
setTimeout(() => controller.abort("the user clicked stop"), 250);
try {
  await client.callTool("measure", { steps: 100 }, { signal: controller.signal });
} catch (reason) {
  say(`rejected  with "${reason}"; the server was told to stop, and goes on:`);
  say(`answer    ${await callTool(client, "get-forecast", { city: "Bergen" })}`);
}

say(`\ncall      crash   (the server dies in the middle of it)`);
try {
  await callTool(client, "crash", {});
} catch (error) {
  if (!(error instanceof ConnectionClosedError)) throw error;
  say(`rejected  ${error.name}: ${error.message}`);
  say(`          reason "${error.reason}", sent: ${error.sent}, exit: ${JSON.stringify(error.exit)}`);
  say(`          stderr: ${error.stderrTail.split("\n").find((line) => line.includes("fire"))?.trim()}`);
}
say(
  `\ncall      get-forecast again, on the server that was started in its place (pid ${
    client.pid ?? "to come"
  })`,
);
say(`answer    ${await callTool(client, "get-forecast", { city: "Bangkok" })}`);

const { exit, step } = await client.close();
say(
  `\nclosed    the server ended with ${
    JSON.stringify(exit)
  }; it took: ${step}; restarts: ${client.restartCount}`,
);

async function callTool(client: Client, name: string, args: { [key: string]: unknown }): Promise<string> {
  const result = await client.callTool(name, args);
  return result.isError ? `(error) ${textOf(result)}` : textOf(result);
}

function textOf({ content }: RequestResult<"tools/call">): string {
  return content.map((block) => block.type === "text" ? block.text : block.type).join("");
}
