// What handlers of one-file servers may give, and how they are told what is wrong (rule O1); how schemas that cannot work are
// refused, and what a model is told of its arguments (rules O1, O2).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { z } from "zod";
import type { Params } from "../messages.ts";
import type {
  PromptOutput,
  ResourceOutput,
  StandardSchemaV1,
  ToolDefinition,
  ToolOutput,
} from "../schema.ts";
import type { ServerOptions } from "../server.ts";
import { cpuTime } from "./helpers.ts";
import { call, initialize, legacy, type Message, modern, SLOW, start, textOf } from "./server_helpers.ts";

/** One request to a server of its own, and what its log says of it. */
async function ask(
  t: TestContext,
  options: Partial<ServerOptions>,
  method: string,
  params: Params,
): Promise<Message & { logged: string }> {
  const session = start(t, options);
  session.send(modern(1, method, params));
  const answer = await session.response(1);
  const errors = session.log.entries.filter(({ level }) => level === "error");
  return {
    ...answer,
    logged: errors.map(({ details }) => String((details[0] as { error: unknown }).error)).join(),
  };
}

const read = (t: TestContext, output: unknown, more: object = {}) =>
  ask(t, { resources: { "x://{a}": { ...more, read: () => output as ResourceOutput } } }, "resources/read", {
    uri: "x://1",
  });
const get = (t: TestContext, output: unknown, more: object = {}) =>
  ask(t, { prompts: { p: { ...more, get: () => output as PromptOutput } } }, "prompts/get", { name: "p" });
const use = (t: TestContext, output: unknown, more: object = {}) =>
  ask(t, { tools: { tool: { ...more, call: () => output as ToolOutput } } }, "tools/call", { name: "tool" });

test("What a resource gives gets its URI and media type, and stands among contents (XC7, O1)", async (t) => {
  const mimeType = "text/x";
  const cases: Array<[output: unknown, contents: unknown[]]> = [
    [{ text: "a" }, [{ text: "a", uri: "x://1", mimeType }]],
    [{ text: "a", mimeType: "text/y" }, [{ text: "a", uri: "x://1", mimeType: "text/y" }]],
    [{ blob: "AA==", uri: "x://2" }, [{ blob: "AA==", uri: "x://2", mimeType }]],
    [[{ text: "a" }, { uri: "x://2", text: "" }], [
      { text: "a", uri: "x://1", mimeType },
      { text: "", uri: "x://2", mimeType },
    ]],
    [{ contents: [{ text: "a" }] }, [{ text: "a", uri: "x://1", mimeType }]],
    [[], []],
  ];
  for (const [output, contents] of cases) {
    assert.deepEqual(
      (await read(t, output, { mimeType })).result?.contents,
      contents,
      JSON.stringify(output),
    );
  }
});

test("One message of a prompt is wrapped (XC7, O1)", async (t) => {
  const message = { role: "assistant", content: { type: "text", text: "hi" } };
  for (const output of [message, [message], { messages: [message] }]) {
    const { result } = await get(t, output, { description: "d" });
    assert.deepEqual([result.messages, result.description], [[message], "d"]);
  }
  const own = { messages: [message], description: "own" };
  assert.equal((await get(t, own, { description: "d" })).result.description, "own");
});

test("What is no result is refused by name, in the answer and in the log (XC7, XC8, XF1, O1)", async (t) => {
  const outputSchema = { type: "object", properties: { t: { type: "number" } }, required: ["t"] };
  const cases: Array<[answer: Message & { logged: string }, message: RegExp]> = [
    ...await Promise.all(
      [undefined, 5, null, { mimeType }, { text: 5 }, [{ text: "a" }, "b"], { contents: {} }, {
        uri: 5,
        text: "",
      }].map(
        async (output) =>
          [await read(t, output), /reading resource "x:\/\/\{a\}" gave neither text/] as [
            Message & { logged: string },
            RegExp,
          ],
      ),
    ),
    ...await Promise.all(
      [undefined, 5, { role: "user" }, { role: "system", content: { type: "text", text: "" } }, ["a"], {
        messages: "a",
      }, { role: "user", content: "a" }].map(
        async (output) =>
          [await get(t, output), /prompt "p" gave neither text/] as [Message & { logged: string }, RegExp],
      ),
    ),
    [
      await use(t, { answer: 42 }),
      /tool "tool" gave neither text, content blocks, nor a result with "content"; a value needs an outputSchema/,
    ],
    [
      await use(t, { content: "text", isError: true }),
      /tool "tool" gave a result whose "content" is no array of content blocks/,
    ],
    [await use(t, { content: [{ type: "text" }] }), /tool "tool" gave a result whose "content" is no array/],
    [await use(t, undefined, { outputSchema }), /tool "tool" gave nothing, but has an outputSchema/],
    [
      await use(t, { t: 1n }, { outputSchema: { type: "object" } }),
      /tool "tool" gave what cannot be written as JSON$/,
    ],
    [
      await use(t, { toJSON: () => undefined }, { outputSchema: { type: "object" } }),
      /tool "tool" gave what cannot be written as JSON$/,
    ],
    [await use(t, { t: "secret" }, { outputSchema }), /tool "tool" gave what does not fit its outputSchema$/],
  ];
  for (const [{ error, logged }, message] of cases) {
    assert.equal(error?.code, -32603);
    assert.match(error.message, /^Internal error: /);
    assert.match(error.message, message);
    assert.match(logged, new RegExp(message.source.replace(/\$$/, "")));
  }
  // Where the schema says more, only the log does.
  assert.match(cases.at(-1)![0].logged, /outputSchema: t: must be number, not string/);
});

const mimeType = "text/plain";

test("Content of a type that is not known here passes in a whole result (O1)", async (t) => {
  const content = [{ type: "text", text: "a" }, { type: "of/tomorrow", x: 1 }];
  assert.deepEqual((await use(t, { content })).result.content, content);
  assert.equal((await use(t, content)).error?.code, -32603);
});

test("A completer that gives no array of texts is named (XC8)", async (t) => {
  for (const output of [{ a: 1 }, [5], "text"]) {
    const complete = () => output as unknown as string[];
    const prompts = { p: { arguments: { city: { complete } }, get: () => "" } };
    const { error, logged } = await ask(t, { prompts }, "completion/complete", {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "city", value: "" },
    });
    assert.equal(error?.message, 'Internal error: the completer of argument "city" gave no array of texts');
    assert.match(logged, /the completer of argument "city"/);
  }
});

test("A schema that can never work is refused when the tool is defined (XC8, O1)", (t) => {
  const { server } = start(t);
  const define = (schema: Params, side = "inputSchema") => () =>
    server.addTool("tool", { [side]: { type: "object", ...schema }, call: () => "" } as ToolDefinition);
  const refused: Array<[schema: Params, message: RegExp]> = [
    [
      { properties: { a: { $ref: "#/$defs/none" } } },
      /the "\$ref" "#\/\$defs\/none" leads nowhere \(at \/properties\/a\)/,
    ],
    [{ $defs: { a: { $ref: "#nothing" } } }, /"#nothing" leads nowhere/],
    [{ $ref: "https://example.com/x.json" }, /leads nowhere/],
    [{ $ref: 5 }, /leads nowhere/],
    [{ properties: {}, $ref: "#/properties/__proto__" }, /leads nowhere/],
    [
      { properties: { a: { pattern: "(" } } },
      /the pattern "\(" is no regular expression \(at \/properties\/a\)/,
    ],
    [{ patternProperties: { "[": {} } }, /the pattern "\[" is no regular expression/],
    [{ properties: { a: { type: "strin" } } }, /there is no type "strin"/],
    [
      { properties: { a: { items: { anyOf: [{ type: ["string", "nil"] }] } } } },
      /there is no type "nil" \(at \/properties\/a\/items\/anyOf\/0\)/,
    ],
  ];
  for (const [schema, message] of refused) {
    for (const side of ["inputSchema", "outputSchema"]) {
      assert.throws(define(schema, side), { name: "TypeError", message }, JSON.stringify(schema));
      assert.throws(define(schema, side), { message: /of tool "tool"/ });
    }
  }
  const sound: Params[] = [
    { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": true } },
    { $ref: "#here", $defs: { a: { $anchor: "here" } } },
    { $ref: "other.json", $defs: { a: { $id: "https://example.com/other.json" } } },
    { $id: "https://example.com/x", properties: { next: { $ref: "#" } } },
    { $defs: { a: { $id: "https://example.com/y", $ref: "#/$defs/b", $defs: { b: {} } } } },
    {
      properties: { type: { const: "strin" }, pattern: {}, $ref: { type: "string" } },
      default: { pattern: "(" },
    },
    { properties: { a: { pattern: "^\\p{L}+$", enum: [{ $ref: "x" }] } } },
  ];
  for (const schema of sound) define(schema)();
});

test("A transformation that throws is a problem of the arguments, which the model can mend (XC8, O1)", async (t) => {
  const when = z.string().transform((value) => {
    if (Number.isNaN(Date.parse(value))) throw new Error("no date");
    return value;
  });
  const never = () => {
    throw new Error("never");
  };
  const thrown: StandardSchemaV1 = { "~standard": { version: 1, vendor: "tester", validate: never } };
  const validate = () => Promise.reject(new Error("not now"));
  const later: StandardSchemaV1 = { "~standard": { version: 1, vendor: "tester", validate } };
  const session = start(t, {
    tools: {
      now: { inputSchema: z.object({ when }), call: () => "" },
      thrown: { inputSchema: thrown, inputJsonSchema: { type: "object" }, call: () => "" },
      later: { inputSchema: later, inputJsonSchema: { type: "object" }, call: () => "" },
    },
  });
  session.send(
    call(1, "now", { when: "x" }),
    call(2, "later", { when: "x" }),
    call(3, "thrown", { when: "x" }),
  );
  for (
    const [id, text] of [[1, "Invalid arguments: no date"], [2, "Invalid arguments: not now"], [
      3,
      "Invalid arguments: never",
    ]] as const
  ) {
    const answer = await session.response(id);
    assert.equal(answer.result?.isError, true);
    assert.equal(textOf(answer), text);
  }
});

test("A model is told each thing that is wrong with its arguments on a clean line (XC11)", async (t) => {
  const inputSchema = {
    type: "object",
    properties: {
      a: { type: "number" },
      list: {
        type: "array",
        items: { type: "object", properties: { k: { enum: ["x", 1] } }, required: ["k"] },
      },
      either: { anyOf: [{ type: "number" }, { type: "string", minLength: 3 }] },
      named: { $ref: "#/$defs/named" },
      fixed: { const: "v1" },
      one: { oneOf: [{ minimum: 1 }, { maximum: 10 }] },
      "a/b~c": { type: ["string", "null"], format: "date" },
    },
    required: ["b"],
    additionalProperties: false,
    $defs: { named: { type: "object", properties: { n: { minimum: 3 } } } },
  };
  const args = {
    a: "x",
    list: [{ k: "z" }, {}, 5],
    either: "x",
    named: { n: 1 },
    fixed: "v2",
    one: 5,
    "a/b~c": "no\ndate",
    "odd\nname": 1,
  };
  const session = start(t, { tools: { tool: { inputSchema, call: () => "" } } });
  session.send(call(1, "tool", args));
  const lines = textOf(await session.response(1)).replace("Invalid arguments: ", "").split("\n");
  assert.deepEqual(
    new Set(lines),
    new Set([
      '"b" is missing',
      "a: must be number, not string",
      'list.0.k: must be one of "x", 1',
      'list.1: "k" is missing',
      "list.2: must be object, not number",
      "either: must be number, not string",
      "either: is too short (1 < 3)",
      "named.n: 1 is less than 3",
      'fixed: must be "v1"',
      "one: does not match exactly one subschema (2 matches)",
      'a/b~c: does not match format "date"',
      "odd name: is not allowed here",
    ]),
  );
  assert.equal(lines.length, 12);
});

test("A model is told at most 20 lines, and none is long (XC11, V18)", async (t) => {
  const session = start(t, {
    tools: {
      tool: { inputSchema: { type: "object", additionalProperties: { type: "number" } }, call: () => "" },
      zod: { inputSchema: z.object({ list: z.array(z.number()) }), call: () => "" },
    },
  });
  const args = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`${n}`.padEnd(1_000, "x"), "x"]));
  session.send(call(1, "tool", args), call(2, "zod", { list: Array(1_000).fill("x") }));
  for (const id of [1, 2]) {
    const lines = textOf(await session.response(id)).split("\n");
    assert.equal(lines.length, 21);
    assert.equal(lines.at(-1), "and 980 more");
    assert.ok(Math.max(...lines.map(({ length }) => length)) < 250);
  }
});

test("An array that is too much to be compared item by item is refused at once (XC16)", SLOW, async (t) => {
  const list = { type: "array", uniqueItems: true };
  const inputSchema = { type: "object", properties: { deep: { type: "object", properties: { list } } } };
  const session = start(t, { tools: { tool: { inputSchema, call: () => "fits" } } });
  const objects = (count: number) => Array.from({ length: count }, (_, n) => ({ n, text: "some text" }));
  const cases: Array<[list: unknown[], answer: string]> = [
    [objects(4_000), "Invalid arguments: deep.list: 4000 items are too many to tell whether each is unique"],
    [objects(100), "fits"],
    [
      [...objects(100), { n: 5, text: "some text" }],
      "Invalid arguments: deep.list: Duplicate items at indexes 5 and 100",
    ],
    [Array.from({ length: 50_000 }, (_, n) => n), "fits"],
    [
      Array.from({ length: 50_000 }, (_, n) => n % 49_999),
      "Invalid arguments: deep.list: 50000 items are too many to tell whether each is unique",
    ],
    [["a", "b", "a"], "Invalid arguments: deep.list: Duplicate items at indexes 0 and 2"],
  ];
  for (const [id, [list, answer]] of cases.entries()) {
    const begin = cpuTime();
    session.send(call(id, "tool", { deep: { list } }));
    assert.equal(textOf(await session.response(id)), answer);
    assert.ok(cpuTime() - begin < 4_000, `${cpuTime() - begin} ms`);
  }
});

test("A resource is found by its encoded URI and by its plain one (XC4, O4)", async (t) => {
  const named = ({ uri, variables }: { uri: string; variables: Params }) => `${uri} ${variables.name ?? ""}`;
  const session = start(t, {
    resources: {
      "file:///docs/café/{name}": { read: named },
      "file:///my docs/{name}": { read: named },
      "file:///caf%C3%A9/{name}": { read: named },
      "x://café": { read: named },
      "x://a%20b": { read: named },
    },
  });
  const found: Array<[uri: string, name: string]> = [
    ["file:///docs/caf%C3%A9/a.txt", "a.txt"],
    ["file:///docs/caf%c3%a9/%C3%A9.txt", "é.txt"],
    ["file:///docs/café/a%2Fb", "a/b"],
    ["file:///my%20docs/a%20b", "a b"],
    ["file:///my docs/100%", "100%"],
    ["file:///café/a", "a"],
    ["x://caf%C3%A9", ""],
    ["x://café", ""],
    ["x://a b", ""],
    ["x://a%20b", ""],
  ];
  for (const [id, [uri, name]] of found.entries()) {
    session.send(modern(id, "resources/read", { uri }));
    const { result } = await session.response(id);
    assert.deepEqual(result?.contents, [{ uri, text: `${uri} ${name}` }], uri);
  }
  const missing = ["file:///docs%2Fcaf%C3%A9/a", "x://caf%E9", "x://a%2520b", "file:///docs/café/"];
  for (const [index, uri] of missing.entries()) {
    session.send(modern(100 + index, "resources/read", { uri }));
    assert.equal((await session.response(100 + index)).error?.message, "Resource not found", uri);
  }
  assert.equal(session.server.removeResource("x://caf%C3%A9"), true);
});

test("A URI is matched in time that grows with its length only (XC14, V18)", SLOW, async (t) => {
  const given = ({ variables }: { variables: Params }) => JSON.stringify(variables);
  const session = start(t, {
    resources: {
      "t://{+a}/{+b}/{+c}/end": { read: given },
      "t://{a}-{b}-{c}-{d}!": { read: given },
      "u://{+path}/{name}{?q,r}": { read: given },
      "v://{a}-{+b}": { read: given },
    },
  });
  const begin = cpuTime();
  for (
    const [id, uri] of [`t://${"/".repeat(8_000)}`, `t://${"-".repeat(8_000)}`, `t://${"a-".repeat(4_000)}`]
      .entries()
  ) {
    session.send(modern(id, "resources/read", { uri }));
    assert.equal((await session.response(id)).error?.message, "Resource not found");
  }
  assert.ok(cpuTime() - begin < 2_000, `${cpuTime() - begin} ms`);
  const found: Array<[uri: string, variables: Params]> = [
    ["t://1/2/3/4/end", { a: "1/2", b: "3", c: "4" }],
    ["t://x-y-z-w-v!", { a: "x-y", b: "z", c: "w", d: "v" }],
    ["u://a/b/c?q=1&r=%26", { path: "a/b", name: "c", q: "1", r: "&" }],
    ["v://x-y/z-w", { a: "x", b: "y/z-w" }],
  ];
  for (const [index, [uri, variables]] of found.entries()) {
    session.send(modern(10 + index, "resources/read", { uri }));
    const { result } = await session.response(10 + index);
    assert.deepEqual(JSON.parse(result.contents[0].text), variables, uri);
  }
});

test("A legacy client gets what handlers give in the same form (XC7)", async (t) => {
  const session = start(t, { resources: { "x://a": { read: () => ({ text: "a" }) } } });
  session.send(initialize(1), legacy(2, "resources/read", { uri: "x://a" }));
  assert.deepEqual((await session.response(2)).result, { contents: [{ text: "a", uri: "x://a" }] });
});
