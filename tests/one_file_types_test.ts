// Types: what a tool's arguments are follows from its schema (rule O2). The compiler is the test; it also runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import {
  defineTool,
  type InputRequiredResult,
  type StandardSchemaV1,
  type ToolDefinition,
} from "../schema.ts";
import { type RequestContext, serve, Server } from "../server.ts";
import { createFakeRuntime, createStreamPair } from "../testing.ts";

const info = { name: "types", version: "1.0.0" };

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Compiles only if the two types are the same. */
function same<A, B>(_proof: Same<A, B>): void {}

test("new Server() infers each tool's arguments from its own zod schema (O2)", () => {
  const server = new Server({
    info,
    tools: {
      forecast: {
        inputSchema: z.object({
          city: z.string(),
          days: z.number().default(3),
          unit: z.enum(["C", "F"]).optional(),
        }),
        call: ({ city, days, unit }, context) => {
          same<typeof city, string>(true);
          same<typeof days, number>(true);
          same<typeof unit, "C" | "F" | undefined>(true);
          same<typeof context, RequestContext>(true);
          return city;
        },
      },
      parsed: {
        // The handler gets what comes out of the schema, not what goes in.
        inputSchema: z.object({ count: z.string() }).transform(({ count }) => ({ count: Number(count) })),
        inputJsonSchema: { type: "object", properties: { count: { type: "string" } } },
        async call({ count }, { progress, signal }) {
          same<typeof count, number>(true);
          same<typeof signal, AbortSignal>(true);
          await Promise.resolve(progress(count));
          return { structuredContent: { count } };
        },
      },
      plain: {
        inputSchema: { type: "object", properties: { city: { type: "string" } } },
        call: (args) => {
          same<typeof args, { [key: string]: unknown }>(true);
          return String(args.city);
        },
      },
      bare: {
        call: (args, { inputResponses, requestState }) => {
          same<typeof args, { [key: string]: unknown }>(true);
          same<typeof requestState, string | undefined>(true);
          const result: InputRequiredResult = { resultType: "input_required", requestState: "x" };
          return inputResponses === undefined ? result : "done";
        },
      },
    },
  });
  assert.equal(server.capabilities.tools?.listChanged, true);
});

test("serve() infers them, too (O2)", async () => {
  const [here, stdio] = createStreamPair();
  const serving = serve({
    info,
    runtime: createFakeRuntime({ stdio }),
    tools: {
      double: {
        inputSchema: z.object({ n: z.number() }),
        call: ({ n }) => {
          same<typeof n, number>(true);
          return String(n * 2);
        },
      },
    },
  });
  await here.writable.close();
  assert.equal((await serving).reason, "eof");
});

test("addTool() and defineTool() infer them, too (O2)", () => {
  const server = new Server({ info });
  server.addTool("flag", {
    inputSchema: z.object({ on: z.boolean() }),
    call: ({ on }) => {
      same<typeof on, boolean>(true);
      return String(on);
    },
  });
  const tool = defineTool({
    inputSchema: z.object({ tags: z.array(z.string()) }),
    call: ({ tags }) => {
      same<typeof tags, string[]>(true);
      return tags.join();
    },
  });
  server.addTool("tags", tool);
  new Server({ info, tools: { tags: tool, plain: { call: () => "" } } });
});

test("A zod schema is a Standard Schema here, and a wrong use of its arguments does not compile (O2)", () => {
  const schema = z.object({ n: z.number() });
  const standard: StandardSchemaV1<{ n: number }> = schema;
  const tool: ToolDefinition<typeof schema> = {
    inputSchema: schema,
    // @ts-expect-error -- n is a number
    call: ({ n }) => n.toUpperCase(),
  };
  assert.throws(() => tool.call({ n: 1 }, {} as RequestContext), TypeError);
  assert.equal(standard["~standard"].vendor, "zod");
  new Server({
    info,
    tools: {
      wrong: {
        inputSchema: schema,
        // @ts-expect-error -- there is no member m
        call: ({ m }) => String(m),
      },
    },
  });
});
