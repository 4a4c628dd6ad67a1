// A server with a tool for each thing that tests and benches want to see happen.
import { LOGGING_LEVELS } from "@mcp/stdio/messages";
import { acceptedContent, inputRequired, serve, Server, type ServerEnd } from "@mcp/stdio/server";
import type { ToolDefinition } from "@mcp/stdio/schema";

/** Loaded when it is needed: that takes Deno a third of a start. */
const loadProcess = () => import("node:process");

let running = 0;
let mostRunning = 0;

const server: Server = new Server({
  info: { name: "everything", version: "1.0.0" },
  tools: {
    "echo": {
      description: "Gives back a text, or one of the given size, at once or after a while",
      inputSchema: {
        type: "object",
        properties: {
          text: { type: "string" },
          size: { type: "integer", minimum: 0 },
          ms: { type: "number" },
        },
      },
      call({ text = "", size, ms }, context) {
        const give = () => size === undefined ? String(text) : "x".repeat(Number(size));
        return ms === undefined ? give() : pause(Number(ms), context.signal).then(give);
      },
    },
    "add": {
      description: "Adds two numbers",
      inputSchema: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      call: ({ a, b }) => ({
        structuredContent: { sum: Number(a) + Number(b) },
        content: text(Number(a) + Number(b)),
      }),
    },
    "fail": {
      description: "Throws",
      call: () => {
        throw new Error("this tool always fails");
      },
    },
    "sleep": {
      ...milliseconds("Waits, and stops at once when it is cancelled"),
      call: ({ ms }, context) =>
        counted(() => pause(Number(ms), context.signal)).then(() => `slept ${ms} ms`),
    },
    "stubborn": {
      ...milliseconds("Waits and reports progress, whether it is cancelled or not"),
      call: ({ ms }, context) =>
        counted(async () => {
          for (let step = 1; step <= 10; step++) {
            await pause(Number(ms) / 10);
            context.progress(step, 10);
          }
          return `waited ${ms} ms`;
        }),
    },
    "progress": {
      description: "Reports progress in steps",
      inputSchema: {
        type: "object",
        properties: { steps: { type: "integer", minimum: 1 }, ms: { type: "number", minimum: 0 } },
      },
      async call({ steps = 5, ms = 0 }, context) {
        for (let step = 1; step <= Number(steps); step++) {
          if (Number(ms) > 0) await pause(Number(ms), context.signal);
          context.progress(step, Number(steps), `step ${step}`);
        }
        return `${steps} steps`;
      },
    },
    "log": {
      description: "Sends a log message",
      inputSchema: { type: "object", properties: { level: { type: "string" }, text: { type: "string" } } },
      async call({ level = "info", text = "" }, context) {
        await context.log(LOGGING_LEVELS.find((each) => each === level) ?? "info", text, "everything");
        return "logged";
      },
    },
    "ask": {
      description: "Asks the user for a name, and greets",
      call(_args, context) {
        const answer = acceptedContent(context, "user");
        if (answer !== undefined) return `Hello, ${answer.name}!`;
        if (context.inputResponses !== undefined) return "Hello, whoever you are!";
        const user = inputRequired.elicit({
          message: "What is your name?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        });
        return inputRequired({ inputRequests: { user }, requestState: "asked" });
      },
    },
    "publish": {
      description: "Tells that a resource has changed, or without a URI that the list of tools has",
      inputSchema: { type: "object", properties: { uri: { type: "string" } } },
      call({ uri }) {
        if (uri === undefined) server.publish("notifications/tools/list_changed");
        else server.publish("notifications/resources/updated", { uri });
        return "published";
      },
    },
    "crash": {
      description: "Ends the process with a code or by a signal",
      inputSchema: { type: "object", properties: { code: { type: "integer" }, signal: { type: "string" } } },
      async call({ code = 1, signal }) {
        const { default: process } = await loadProcess();
        if (signal === undefined) process.exit(Number(code));
        process.kill(process.pid, String(signal));
        return new Promise(() => {});
      },
    },
    "print": {
      description: "Prints a text with console.log",
      inputSchema: { type: "object", properties: { text: { type: "string" } } },
      call: ({ text = "" }) => {
        // deno-lint-ignore no-console
        console.log(text);
        return "printed";
      },
    },
    "helper": {
      ...milliseconds("Starts a process that inherits everything and lives for a while"),
      async call({ ms }) {
        const { spawn } = await import("node:child_process");
        const helper = spawn("sleep", [String(Number(ms) / 1_000)], { stdio: "inherit" });
        return String(helper.pid);
      },
    },
    "env": {
      description: "Tells the environment",
      call: async () => JSON.stringify((await loadProcess()).default.env),
    },
    "inflight": {
      description: "Tells how many calls of sleep and stubborn are running, and how many were at most",
      call: () => JSON.stringify({ running, mostRunning }),
    },
  },
  resources: {
    "test://static": { name: "static", mimeType: "text/plain", read: () => "It never changes." },
    "test://item/{id}": {
      name: "item",
      mimeType: "text/plain",
      complete: { id: (value) => ["1", "2", "10"].filter((id) => id.startsWith(value)) },
      read: ({ variables }) => `Item ${variables.id}`,
    },
  },
  prompts: {
    "greet": {
      description: "Greets somebody",
      arguments: {
        name: {
          required: true,
          complete: (value) => ["Ada", "Alan"].filter((name) => name.startsWith(value)),
        },
      },
      get: ({ name }) => `Say hello to ${name}.`,
    },
  },
});

await serve(server, {
  async onClose({ reason }: ServerEnd) {
    const { default: process } = await loadProcess();
    process.stderr.write(`everything: closed (${reason})\n`);
  },
});

function milliseconds(description: string): Pick<ToolDefinition, "description" | "inputSchema"> {
  return {
    description,
    inputSchema: { type: "object", properties: { ms: { type: "number", minimum: 0 } }, required: ["ms"] },
  };
}

function text(value: unknown): Array<{ type: "text"; text: string }> {
  return [{ type: "text", text: String(value) }];
}

async function counted<T>(work: () => Promise<T>): Promise<T> {
  mostRunning = Math.max(mostRunning, ++running);
  try {
    return await work();
  } finally {
    running--;
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
