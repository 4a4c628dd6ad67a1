// Servers as people write them: what type-checks works, and what cannot work is a type error. Only compiled, by types_test.ts.
// A line behind `@ts-expect-error` must not compile; all others must.
import { z } from "zod";
import {
  acceptedContent,
  type CallToolResult,
  defineTool,
  inputRequired,
  type InputRequiredResult,
  type PromptMessage,
  type RequestContext,
  type ResourceContents,
  serve,
  Server,
  type ServerOptions,
  type StandardSchemaV1,
  type ToolDefinition,
} from "../../mod.ts";

const info = { name: "types", version: "1.0.0" };

interface Weather {
  t: number;
}
declare const weather: Weather;
declare const block: { type: "text"; text: string };
const place = z.object({ city: z.string() });
const degrees = z.object({ t: z.number() });
const plainSchema = { type: "object", properties: { t: { type: "number" } } };

// What a tool without an output schema may return.
serve({
  info,
  tools: {
    text: { call: () => "text" },
    later: { call: () => Promise.resolve("text") },
    nothing: { call: () => {} },
    block: { call: () => ({ type: "text", text: "a" }) },
    blocks: {
      call: () => [{ type: "text", text: "a" }, { type: "image", data: "", mimeType: "image/png" }, block],
    },
    none: { call: () => [] },
    whole: {
      call: () => ({ content: [{ type: "text", text: "a" }], isError: true, _meta: { a: 1 }, more: 1 }),
    },
    structured: { call: () => ({ structuredContent: weather }) },
    known: { call: (): CallToolResult => ({ content: [] }) },
    asks: { call: (): InputRequiredResult => ({ resultType: "input_required", requestState: "a" }) },
    either: { call: async ({ n }) => (await Promise.resolve(n)) ? "text" : { content: [] } },
    made: { call: (_args, { signal }) => new Promise((resolve) => signal.onabort = () => resolve("text")) },
  },
});

serve({
  info,
  tools: {
    // @ts-expect-error -- XF1: an object is no result; it needs an outputSchema
    object: { call: () => ({ answer: 42 }) },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- XF1: nor is one of an interface
    object: { call: () => weather },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- XF1: nor one that comes later
    object: { call: async () => await Promise.resolve({ answer: 42 }) },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- a number is no result
    number: { call: () => 42 },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- there is no content of this type
    block: { call: () => ({ type: "txt", text: "a" }) },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- "parameters" is "inputSchema" here
    parameters: { parameters: plainSchema, call: () => "" },
  },
});
serve({
  info,
  // @ts-expect-error -- tools stand by name
  tools: [{ name: "a", call: () => "" }],
});

// What one with an output schema may return follows from the schema.
serve({
  info,
  tools: {
    plain: { outputSchema: degrees, call: () => ({ t: 1 }) },
    ofInterface: { outputSchema: degrees, call: () => weather },
    later: { outputSchema: degrees, call: async () => await Promise.resolve(weather) },
    structured: { outputSchema: degrees, call: () => ({ structuredContent: weather, content: [block] }) },
    failed: {
      outputSchema: degrees,
      call: () => ({ isError: true, content: [{ type: "text", text: "no" }] }),
    },
    asks: { outputSchema: degrees, call: () => inputRequired({ requestState: "a" }) },
    both: {
      inputSchema: place,
      outputSchema: degrees,
      call: ({ city }, { progress }) => (progress(1), { t: city.length }),
    },
    json: { outputSchema: plainSchema, call: () => weather },
    jsonText: { outputSchema: { type: "string" }, call: () => "text" },
    // What the handler gives is what goes into the schema.
    defaults: { outputSchema: z.object({ t: z.number().default(0) }), call: () => ({}) },
    text: { outputSchema: z.string(), call: () => "text" },
    plainBeside: { call: ({ a }) => String(a) },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- XF2: t is a number
    wrong: { outputSchema: degrees, call: () => ({ t: "no" }) },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- XF2: t is missing
    missing: { inputSchema: place, outputSchema: degrees, call: ({ city }) => ({ city }) },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- XF2: in structuredContent, too
    wrong: { outputSchema: degrees, call: () => ({ structuredContent: { t: "no" } }) },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- XC8: nothing does not fit
    nothing: { outputSchema: degrees, call: () => {} },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- a text does not fit
    text: { outputSchema: degrees, call: () => "text" },
  },
});
serve({
  info,
  tools: {
    // @ts-expect-error -- nor does an empty list of content
    none: { outputSchema: degrees, call: () => [] },
  },
});

// The same for definitions that stand alone, and at run time.
const tool = defineTool({
  inputSchema: place,
  outputSchema: degrees,
  call: ({ city }) => ({ t: city.length }),
});
const server = new Server({ info, tools: { tool, plain: defineTool({ call: () => "" }) } });
server.addTool("tool", tool);
server.addTool("more", {
  inputSchema: place,
  outputSchema: degrees,
  call: ({ city }) => ({ t: city.length }),
});
serve(server);
// @ts-expect-error -- t is a number
defineTool({ outputSchema: degrees, call: () => ({ t: "no" }) });
// @ts-expect-error -- an object is no result
defineTool({ call: () => ({ t: 1 }) });
// @ts-expect-error -- t is a number
server.addTool("wrong", { outputSchema: degrees, call: () => ({ t: "no" }) });
// @ts-expect-error -- there is no member of this name
server.addTool("wrong", { inputSchema: place, call: ({ town }) => town });
const loose: ToolDefinition = { inputSchema: plainSchema, call: ({ a }) => String(a) };
const many: { [name: string]: ToolDefinition } = { loose };
new Server({ info, tools: { ...many, tool } });
const options: ServerOptions = { info, tools: { a: { call: ({ a }, { id }) => `${a} ${id}` } } };
serve(options);

// Resources and prompts.
declare const contents: ResourceContents;
declare const message: PromptMessage;
serve({
  info,
  resources: {
    "x://text": { read: () => "text" },
    "x://bytes": { read: () => new Uint8Array() },
    "x://contents": { read: () => ({ text: "a", mimeType: "text/plain" }) },
    "x://blob": { read: () => ({ blob: "AA==" }) },
    "x://several": { read: () => [{ text: "a" }, { uri: "x://b", text: "b" }] },
    "x://whole": { read: () => ({ contents: [{ text: "a" }], ttlMs: 5 }) },
    "x://asks": { read: () => inputRequired({ requestState: "a" }) },
    "x://{name}": { read: ({ uri, variables }) => `${uri} ${variables.name}` },
  },
  prompts: {
    text: { get: () => "text" },
    message: { get: () => ({ role: "user", content: { type: "text", text: "a" } }) },
    messages: { get: () => [message] },
    whole: { get: () => ({ messages: [message], description: "a" }) },
  },
});
serve({
  info,
  resources: {
    // @ts-expect-error -- XC7: contents have a text or a blob
    "x://none": { read: () => ({ mimeType: "text/plain" }) },
  },
});
serve({
  info,
  resources: {
    // @ts-expect-error -- an object is no result
    "x://object": { read: () => ({ answer: 42 }) },
  },
});
serve({
  info,
  prompts: {
    // @ts-expect-error -- XC7: content has a type
    none: { get: () => ({ role: "user", content: "text" }) },
  },
});
serve({
  info,
  prompts: {
    // @ts-expect-error -- an object is no result
    object: { get: () => ({ answer: 42 }) },
  },
});
// What has been read may lack its text as far as the compiler knows.
// @ts-expect-error -- it has neither a text nor a blob for sure
serve({ info, resources: { "x://given": { read: () => contents } } });

// Asking for input, without a cast.
const form = z.object({ name: z.string(), age: z.number().int() });
serve({
  info,
  tools: {
    greet: {
      call(_args, context) {
        const user = acceptedContent(context, "user", form);
        if (user !== undefined) return `Hello, ${user.name.toUpperCase()}, ${user.age.toFixed()}!`;
        const unchecked = acceptedContent(context, "user");
        if (unchecked !== undefined) return String(unchecked.name);
        return inputRequired({
          inputRequests: {
            user: inputRequired.elicit({ message: "Who are you?", requestedSchema: form }),
            page: inputRequired.elicit({ mode: "url", message: "Sign in", url: "https://example.com" }),
            model: inputRequired.sampling({
              messages: [{ role: "user", content: { type: "text", text: "Say hello" } }],
              maxTokens: 10,
            }),
            roots: inputRequired.roots(),
          },
        });
      },
    },
    byHand: {
      call: () => ({
        resultType: "input_required",
        inputRequests: {
          user: {
            method: "elicitation/create",
            params: {
              message: "Who are you?",
              requestedSchema: { type: "object", properties: { name: { type: "string" } } },
            },
          },
        },
      }),
    },
  },
});
// @ts-expect-error -- XF13: a form has a message
inputRequired.elicit({ requestedSchema: form });
inputRequired.elicit({
  message: "",
  // @ts-expect-error -- XF13: a field of a form is plain
  requestedSchema: { type: "object", properties: { a: { type: "object" } } },
});
// @ts-expect-error -- XF13: there is no such method
inputRequired({ inputRequests: { user: { method: "elicitation/crate", params: {} } } });
// @ts-expect-error -- XF13: maxTokens is missing
inputRequired.sampling({ messages: [] });
declare const context: RequestContext;
// @ts-expect-error -- XF13: there is no member of this name
acceptedContent(context, "user", form)?.town;

// A schema of no library.
const own: StandardSchemaV1<{ a: string }, { a: number }> = {
  "~standard": { version: 1, vendor: "own", validate: (value) => ({ value: value as { a: number } }) },
};
defineTool({ inputSchema: own, inputJsonSchema: { type: "object" }, call: ({ a }) => a.toFixed() });
defineTool({ outputSchema: own, outputJsonSchema: { type: "object" }, call: () => ({ a: "1" }) });
// @ts-expect-error -- what goes in is a text
defineTool({ outputSchema: own, outputJsonSchema: { type: "object" }, call: () => ({ a: 1 }) });
