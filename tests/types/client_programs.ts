// Clients as people write them: what type-checks works, and what cannot work is a type error. Only compiled, by types_test.ts.
// A line behind `@ts-expect-error` must not compile; all others must.
import {
  type CallToolResult,
  type Client,
  type ClientOptions,
  type InputHandler,
  type Params,
  type Prompt,
  type Resource,
  type ResourceTemplate,
  type Result,
  spawn,
  spawnServer,
  type Tool,
} from "../../mod.ts";

declare const client: Client;
declare const signal: AbortSignal;
const equal = <T>(_value: T): void => {};

// What a request gives follows from its method.
const { tools } = await client.request("tools/list");
equal<Tool[]>(tools);
equal<CallToolResult>(await client.request("tools/call", { name: "add", arguments: { a: 1 } }));
equal<Result>(await client.request("acme/charge", { amount: 5, timeoutMs: 1 }));
equal<Result>(await client.request("acme/charge"));
await client.request("tools/list", {}, { timeoutMs: 1, signal });
await client.request("tools/list", { cursor: "a", _meta: { a: 1 } });
await client.request("tools/list", undefined, { retry: "never" });
await client.request("resources/read", { uri: "a" }, {
  onProgress: ({ progress }) => void equal<number>(progress),
});
declare const anyMethod: string;
equal<Result>(await client.request(anyMethod, {} as Params));

// @ts-expect-error -- XF3: options are no params
await client.request("tools/list", { timeoutMs: 1, signal });
// @ts-expect-error -- XF3: nor is one of them
await client.request("tools/list", { signal });
// @ts-expect-error -- XF3: nor beside params
await client.request("tools/call", { name: "add", timeoutMs: 1 });
// @ts-expect-error -- XF3
await client.request("ping", { onProgress: () => {} });
// @ts-expect-error -- this method needs params
await client.request("tools/call");
// @ts-expect-error -- and those that it needs
await client.request("tools/call", { tool: "add" });
// @ts-expect-error -- a cursor is a text
await client.request("tools/list", { cursor: 5 });
// @ts-expect-error -- there is no such option
await client.request("tools/list", {}, { timeout: 1 });

// The verbs.
equal<CallToolResult>(await client.callTool("add", { a: 1, b: 2 }, { timeoutMs: 1 }));
equal<CallToolResult>(await client.callTool("add"));
equal<string>((await client.readResource("config://app", { signal })).contents[0]!.uri);
equal<number>((await client.getPrompt("review", { code: "…" })).messages.length);
equal<string[]>(
  (await client.complete({ type: "ref/prompt", name: "review" }, { name: "language", value: "py" }, {
    context: { arguments: { framework: "flask" } },
    timeoutMs: 1,
  })).completion.values,
);
for await (const tool of client.tools()) equal<Tool>(tool);
for await (const resource of client.resources({ timeoutMs: 1 })) equal<Resource>(resource);
for await (const template of client.resourceTemplates()) equal<ResourceTemplate>(template);
for await (const prompt of client.prompts()) equal<Prompt>(prompt);
// @ts-expect-error -- arguments of a prompt are texts
await client.getPrompt("review", { code: 5 });
// @ts-expect-error -- a tool is called by its name
await client.callTool({ name: "add", arguments: {} });

// Handlers of what servers ask are typed by their method.
const options: ClientOptions = {
  inputHandlers: {
    "elicitation/create": async (params, { signal }) => {
      if (params.mode === "url") return { action: "decline" };
      equal<string>(params.message);
      equal<string | undefined>(Object.keys(params.requestedSchema.properties)[0]);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { action: "accept", content: { name: "Ada", age: 36, tags: ["a"], sure: true } };
    },
    "sampling/createMessage": ({ messages, maxTokens }) => ({
      role: "assistant",
      model: "m",
      content: { type: "text", text: `${messages.length} ${maxTokens}` },
    }),
    "roots/list": () => ({ roots: [{ uri: "file:///home" }] }),
  },
};
const onlyOne: InputHandler<"roots/list"> = () => Promise.resolve({ roots: [] });
await spawn({ command: "server", ...options, inputHandlers: { "roots/list": onlyOne } });
await spawn({
  command: "server",
  inputHandlers: {
    // @ts-expect-error -- XF13: a misspelt method
    "elicitation/creat": () => ({ action: "accept" }),
  },
});
await spawn({
  command: "server",
  inputHandlers: {
    // @ts-expect-error -- XF13: no such answer
    "elicitation/create": () => ({ action: "accepted" }),
  },
});
await spawn({
  command: "server",
  inputHandlers: {
    // @ts-expect-error -- XF13: an answer without its members
    "roots/list": () => ({}),
  },
});

// Callbacks may take their time.
await spawn({
  command: "server",
  stderr: async (line) => void await Promise.resolve(line),
  onStateChange: async (state) => void await Promise.resolve(state),
  onStrayOutput: async (text) => void await Promise.resolve(text),
  onNotification: async (method) => void await Promise.resolve(method),
});
await client.request("tools/list", {}, {
  onProgress: async ({ progress }) => void await Promise.resolve(progress),
});

// XF18: what is to be closed can be disposed of.
{
  using listening = client.listen({ toolsListChanged: true });
  for await (const event of listening) {
    if (event.kind === "missed") break;
    if (event.kind === "notification") equal<string>(event.method);
    else equal<string[] | undefined>(event.filter.resourceSubscriptions);
  }
}
{
  await using listening = client.listen({});
  await using server = await spawnServer({ command: "server" });
  await using other = await spawn({ command: "server" });
  equal<number | undefined>(server.pid ?? other.pid);
  await listening.acknowledged;
}

// @ts-expect-error -- XF11: arguments are a list
await spawn({ command: "node", args: "weather.js" });
// @ts-expect-error -- XF11: the program is the command
await spawn({ cmd: "node" });
