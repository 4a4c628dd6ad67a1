// Tools of one-file servers: what they return (rule O1) and the schemas of what they take and give (O2).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { z } from "zod";
import * as zodMini from "zod/mini";
import { z as zod3 } from "zod/v3";
import { ProtocolError } from "../errors.ts";
import type { Params } from "../messages.ts";
import type { StandardSchemaV1, ToolDefinition, ToolOutput } from "../schema.ts";
import { call, modern, start, textOf } from "./server_helpers.ts";

/** The result, or the error, of one call of a tool. */
async function callTool(t: TestContext, tool: ToolDefinition, args: Params = {}): Promise<Params> {
  const session = start(t, { tools: { tool } });
  session.send(call(1, "tool", args));
  const { result, error } = await session.response(1);
  if (error !== undefined) return { ...error, logged: session.log.texts("error").length };
  const { _meta, resultType, ...rest } = result;
  assert.equal(resultType, "complete");
  return rest;
}

/** A tool that returns this. */
function giving(output: unknown, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return { ...more, call: () => output as ToolOutput };
}

const text = (value: string) => ({ type: "text", text: value });

test("A string, a content block, several, or a whole result become the tool's result (O1)", async (t) => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  const link = { type: "resource_link", uri: "file:///a", name: "a" };
  const whole = {
    content: [text("a")],
    structuredContent: { a: 1 },
    isError: false,
    _meta: { x: 1 },
    extra: 1,
  };
  const { _meta, ...rest } = whole;
  assert.deepEqual(await callTool(t, giving("Sunny.\r\n\u2028")), { content: [text("Sunny.\r\n\u2028")] });
  assert.deepEqual(await callTool(t, giving("")), { content: [text("")] });
  assert.deepEqual(await callTool(t, giving(undefined)), { content: [] });
  assert.deepEqual(await callTool(t, giving(image)), { content: [image] });
  assert.deepEqual(await callTool(t, giving([text("a"), image, link])), {
    content: [text("a"), image, link],
  });
  assert.deepEqual(await callTool(t, giving([])), { content: [] });
  assert.deepEqual(await callTool(t, giving(whole)), rest);
  assert.deepEqual(await callTool(t, giving(Promise.resolve("later"))), { content: [text("later")] });
});

test("A structured result gets its text form for clients that read nothing else (O1)", async (t) => {
  assert.deepEqual(await callTool(t, giving({ structuredContent: { a: 1 } })), {
    content: [text('{"a":1}')],
    structuredContent: { a: 1 },
  });
  const own = { content: [text("one")], structuredContent: { a: 1 } };
  assert.deepEqual(await callTool(t, giving(own)), own);
});

test("What is no result of a tool is an error of the server (O1)", async (t) => {
  for (const output of [5, null, true, { a: 1 }, ["a"], [text("a"), 5]]) {
    const { code, message, logged } = await callTool(t, giving(output));
    assert.deepEqual([code, logged], [-32603, 1], JSON.stringify(output));
    assert.match(
      message as string,
      /^Internal error: tool "tool" gave neither text, content blocks, nor a result/,
    );
  }
});

test("A thrown error becomes a result with isError and its message, a ProtocolError stays one (O1)", async (t) => {
  const throwing = (error: unknown): ToolDefinition => ({
    call: () => {
      throw error;
    },
  });
  const rejecting = (error: unknown): ToolDefinition => ({ call: () => Promise.reject(error) });
  for (const make of [throwing, rejecting]) {
    assert.deepEqual(await callTool(t, make(new Error("The API is down"))), {
      content: [text("The API is down")],
      isError: true,
    });
    assert.deepEqual(await callTool(t, make("just text")), { content: [text("just text")], isError: true });
    assert.deepEqual(await callTool(t, make(new ProtocolError(-32602, "No", { a: 1 }))), {
      code: -32602,
      message: "No",
      data: { a: 1 },
      logged: 0,
    });
  }
});

test("structuredContent is checked against the outputSchema, unless the call has failed (O1)", async (t) => {
  const outputSchema = {
    type: "object",
    properties: { sum: { type: "number" } },
    required: ["sum"],
  };
  const withOutput = (output: unknown) => giving(output, { outputSchema });
  assert.deepEqual(await callTool(t, withOutput({ sum: 3 })), {
    content: [text('{"sum":3}')],
    structuredContent: { sum: 3 },
  });
  assert.deepEqual(await callTool(t, withOutput({ structuredContent: { sum: 3 }, content: [text("3")] })), {
    content: [text("3")],
    structuredContent: { sum: 3 },
  });
  const failed = { content: [text("no")], isError: true };
  assert.deepEqual(await callTool(t, withOutput(failed)), failed);
  for (
    const wrong of [{ sum: "3" }, {}, "3", { content: [text("3")] }, undefined, { structuredContent: 3 }]
  ) {
    assert.equal((await callTool(t, withOutput(wrong))).code, -32603, JSON.stringify(wrong));
  }
  // The structured value may be no object, and may have members that a result has.
  assert.deepEqual(await callTool(t, giving([1, 2], { outputSchema: { type: "array" } })), {
    content: [text("[1,2]")],
    structuredContent: [1, 2],
  });
  assert.deepEqual(await callTool(t, giving("x", { outputSchema: { type: "string" } })), {
    content: [text('"x"')],
    structuredContent: "x",
  });
  const page = { type: "object", properties: { content: { type: "string" } }, required: ["content"] };
  assert.deepEqual(await callTool(t, giving({ content: "text" }, { outputSchema: page })), {
    content: [text('{"content":"text"}')],
    structuredContent: { content: "text" },
  });
});

test("Arguments are checked before the call; what is wrong goes to the model as isError (O1)", async (t) => {
  let calls = 0;
  const tool: ToolDefinition = {
    inputSchema: {
      type: "object",
      properties: { city: { type: "string", minLength: 1 }, days: { type: "integer", maximum: 7 } },
      required: ["city"],
      additionalProperties: false,
    },
    call: ({ city }) => `${++calls}: ${city}`,
  };
  const called = (args: Params) => callTool(t, tool, args);
  assert.deepEqual((await called({ city: "Bergen", days: 3 })).content, [text("1: Bergen")]);
  for (const args of [{}, { city: 5 }, { city: "" }, { city: "x", days: 8 }, { city: "x", more: 1 }]) {
    const { content, isError } = await called(args);
    assert.equal(isError, true, JSON.stringify(args));
    assert.match((content as Array<{ text: string }>)[0]!.text, /^Invalid arguments: ./);
  }
  assert.equal(calls, 1);
});

test("A call that is malformed or names no tool is a protocol error (O1)", async (t) => {
  const session = start(t, { tools: { hello: { call: () => "hello" } } });
  const cases: Array<[params: Params, message: RegExp]> = [
    [{ name: "unknown" }, /^Unknown tool: unknown$/],
    [{ name: "x".repeat(10_000) }, /^Unknown tool: x{128}$/],
    [{ name: "constructor" }, /^Unknown tool/],
    [{}, /"name" is not a string/],
    [{ name: 5 }, /"name" is not a string/],
    [{ name: "hello", arguments: [] }, /"arguments" is not an object/],
    [{ name: "hello", arguments: null }, /"arguments" is not an object/],
  ];
  for (const [id, [params, message]] of cases.entries()) {
    session.send(modern(id, "tools/call", params));
    const { error } = await session.response(id);
    assert.equal(error?.code, -32602);
    assert.match(error.message, message);
  }
  session.send(modern("bare", "tools/call", { name: "hello" }));
  assert.equal(textOf(await session.response("bare")), "hello");
});

test("A Standard Schema checks and changes the arguments, and is listed as JSON Schema (O2)", async (t) => {
  const session = start(t, {
    tools: {
      forecast: {
        inputSchema: z.object({ city: z.string().trim(), days: z.number().int().default(3) }),
        outputSchema: z.object({ city: z.string(), days: z.number() }),
        call: ({ city, days }) => ({ city, days, secret: 1 }),
      },
    },
  });
  session.send(
    modern(1, "tools/list"),
    call(2, "forecast", { city: "  Bergen " }),
    call(3, "forecast", { city: 5, days: 1.5 }),
  );
  const [{ inputSchema, outputSchema }] = (await session.response(1)).result.tools;
  assert.equal(inputSchema.type, "object");
  assert.deepEqual(inputSchema.required, ["city"]);
  assert.deepEqual(outputSchema.required, ["city", "days"]);
  // What the schema leaves out is not sent.
  const { structuredContent, content } = (await session.response(2)).result;
  assert.deepEqual(structuredContent, { city: "Bergen", days: 3 });
  assert.deepEqual(content, [text('{"city":"Bergen","days":3}')]);
  const { result } = await session.response(3);
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /^Invalid arguments: city: .+\ndays: .+/);
});

test("Any Standard Schema will do, also one that is a function, answers later, or is told as JSON Schema (O2)", async (t) => {
  const validate = (value: unknown) =>
    Promise.resolve(
      (value as Params).n === 1
        ? { value: { n: "one" } }
        : { issues: [{ message: "is not one", path: [{ key: "n" }, 0] }, { message: "alas" }] },
    );
  const standard: StandardSchemaV1<{ n: string }>["~standard"] = { version: 1, vendor: "tester", validate };
  const callable = Object.assign(() => {}, { "~standard": standard }) as StandardSchemaV1<{ n: string }>;
  const listed = { type: "object", properties: { n: { const: 1 } } };
  const session = start(t, {
    tools: {
      one: { inputSchema: callable, inputJsonSchema: listed, call: ({ n }) => n },
      out: {
        outputSchema: { "~standard": standard },
        outputJsonSchema: listed,
        // What goes in is a number, whatever the type says.
        call: () => ({ structuredContent: { n: 1 as unknown as string } }),
      },
    },
  });
  session.send(modern(1, "tools/list"), call(2, "one", { n: 1 }), call(3, "one", { n: 2 }), call(4, "out"));
  const { tools } = (await session.response(1)).result;
  assert.deepEqual(tools[0].inputSchema, listed);
  assert.deepEqual(tools[1].outputSchema, listed);
  assert.equal(textOf(await session.response(2)), "one");
  assert.equal(textOf(await session.response(3)), "Invalid arguments: n.0: is not one\nalas");
  assert.deepEqual((await session.response(4)).result.structuredContent, { n: "one" });
});

test("A tool with only a listed JSON Schema is checked against that (O2)", async (t) => {
  const inputJsonSchema = { type: "object", required: ["a"] };
  const result = await callTool(t, giving("x", { inputJsonSchema }), {});
  assert.equal(result.isError, true);
});

test("A schema that cannot be listed or checked is refused when the tool is defined, with what to do (O2, XF8)", (t) => {
  const { server } = start(t);
  const bare: StandardSchemaV1 = {
    "~standard": { version: 1, vendor: "tester", validate: (value) => ({ value }) },
  };
  const define = (tool: Partial<ToolDefinition>) => () => server.addTool("tool", { ...tool, call: () => "" });
  assert.throws(define({ inputSchema: bare }), /its tester schema does not .*; say it in "inputJsonSchema"$/);
  for (const schema of [zodMini.object({}), zod3.object({})]) {
    const what =
      /its zod schema .*"inputJsonSchema": z\.toJSONSchema\(schema\) for zod\/mini, zodToJsonSchema/;
    assert.throws(define({ inputSchema: schema as StandardSchemaV1 }), what, "XF8");
  }
  const valibot = { "~standard": { ...bare["~standard"], vendor: "valibot" } };
  assert.throws(
    define({ outputSchema: valibot }),
    /toStandardJsonSchema\(schema\).*"outputJsonSchema"/,
    "XF8",
  );
  define({ inputSchema: zodMini.object({}) as StandardSchemaV1, inputJsonSchema: { type: "object" } })();
  assert.throws(define({ outputSchema: bare }), /say it in "outputJsonSchema"/);
  assert.throws(define({ inputSchema: { type: "string" } }), /must have the type "object"/);
  assert.throws(define({ inputSchema: z.string() }), /must have the type "object"/);
  assert.throws(define({ inputSchema: z.object({ when: z.date() }) }), /is no JSON Schema/);
  assert.throws(define({ inputSchema: { $schema: "http://example.com/odd", type: "object" } }), /dialect/);
});

test("JSON Schema is read in the dialect it names (O2)", async (t) => {
  const items = [{ type: "string" }, { type: "number" }];
  const dialects: Array<[schema: Params, $schema: string | undefined]> = [
    [{ prefixItems: items }, undefined],
    [{ prefixItems: items }, "https://json-schema.org/draft/2020-12/schema"],
    [{ items }, "https://json-schema.org/draft/2019-09/schema"],
    [{ items }, "http://json-schema.org/draft-07/schema#"],
    [{ items }, "http://json-schema.org/draft-04/schema#"],
  ];
  for (const [schema, $schema] of dialects) {
    const inputSchema = {
      ...($schema === undefined ? {} : { $schema }),
      type: "object",
      properties: { pair: { type: "array", ...schema } },
    };
    const tool = giving("fits", { inputSchema });
    assert.deepEqual((await callTool(t, tool, { pair: ["a", 1] })).content, [text("fits")], $schema);
    assert.equal((await callTool(t, tool, { pair: [1, "a"] })).isError, true, $schema);
  }
});

test("What stands beside a $ref counts in 2020-12, which is the dialect without $schema, and not in draft 7 (O2)", async (t) => {
  const dialects: Array<[counts: boolean, $schema: object]> = [
    [true, {}],
    [true, { $schema: "https://json-schema.org/draft/2020-12/schema" }],
    [false, { $schema: "http://json-schema.org/draft-07/schema#" }],
  ];
  for (const [counts, $schema] of dialects) {
    const tool = giving("fits", {
      inputSchema: {
        ...$schema,
        type: "object",
        properties: { name: { $ref: "#/definitions/name", minLength: 3 } },
        definitions: { name: { type: "string" } },
      },
    });
    assert.equal((await callTool(t, tool, { name: "Ada" })).isError, undefined);
    assert.equal((await callTool(t, tool, { name: "Al" })).isError, counts ? true : undefined);
  }
});

test("A $ref within the schema is followed, one over the network never (O2)", async (t) => {
  const withRef = ($ref: string): Partial<ToolDefinition> => ({
    inputSchema: { type: "object", properties: { a: { $ref } }, $defs: { name: { type: "string" } } },
  });
  const local = giving("fits", withRef("#/$defs/name"));
  assert.deepEqual((await callTool(t, local, { a: "x" })).content, [text("fits")]);
  assert.equal((await callTool(t, local, { a: 5 })).isError, true);
  const { server } = start(t);
  const remote = withRef("https://example.com/name.json");
  assert.throws(() => server.addTool("remote", { ...remote, call: () => "" }), /leads nowhere/);
});
