// What a handler does that needs to know more: a result for modern clients, questions for legacy ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Params, Result } from "../messages.ts";
import type { InputRequiredResult, RequestContext, StandardSchemaV1 } from "../schema.ts";
import { acceptedContent, inputRequired } from "../server.ts";
import { waitUntil } from "./helpers.ts";
import {
  call,
  cancel,
  initialize,
  legacy,
  type Message,
  modern,
  type Session,
  start,
  textOf,
} from "./server_helpers.ts";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const ELICIT = {
  method: "elicitation/create",
  params: { message: "Who are you?", requestedSchema: { type: "object", properties: {} } },
} as const;

/** A tool for both eras that asks for a name once, and keeps what it knows in the state. */
const greeter = {
  tools: {
    greet: {
      call(
        { greeting }: Params,
        { inputResponses, requestState }: RequestContext,
      ): string | InputRequiredResult {
        const who = inputResponses?.who;
        if (who === undefined) {
          return {
            resultType: "input_required",
            inputRequests: { who: ELICIT },
            requestState: `${greeting}!`,
          };
        }
        return `${greeting} ${(who.content as Params).name} (${requestState})`;
      },
    },
  },
};

/** Answers what a legacy client is asked, by method, as it comes. */
function answerAs(session: Session, answers: { [method: string]: unknown }): Message[] {
  const asked: Message[] = [];
  let seen = 0;
  const look = setInterval(() => {
    for (; seen < session.transcript.messages.length; seen++) {
      const message = session.transcript.messages[seen]!;
      if (message.id === undefined || message.method === undefined) continue;
      asked.push(message);
      session.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answers[message.method] as object }));
    }
  }, 1);
  session.running.then(() => clearInterval(look));
  return asked;
}

test("Server passes input_required results on to modern clients, without hints for caches (V7)", async (t) => {
  const asks = { resultType: "input_required", requestState: "who?" } as const;
  const session = start(t, { ...greeter, resources: { "test://r": { read: () => asks } } });
  const meta = { [CAPABILITIES]: { elicitation: {} } };
  session.send(
    call(1, "greet", { greeting: "Hello" }, meta),
    modern(3, "resources/read", { uri: "test://r" }),
  );
  const { result } = await session.response(1);
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" } };
  assert.deepEqual(result, {
    resultType: "input_required",
    inputRequests: { who: ELICIT },
    requestState: "Hello!",
    _meta,
  });
  // The result of a read would have them if it were whole.
  assert.deepEqual((await session.response(3)).result, { ...asks, _meta });
  const retry = {
    inputResponses: { who: { action: "accept", content: { name: "Ada" } } },
    requestState: "Hello!",
  };
  session.send(modern(2, "tools/call", { name: "greet", arguments: { greeting: "Hello" }, ...retry }, meta));
  assert.equal(textOf(await session.response(2)), "Hello Ada (Hello!)");
});

test("Server asks a legacy client itself and calls the handler again with the answers (V8)", async (t) => {
  const session = start(t, greeter);
  const asked = answerAs(session, {
    "elicitation/create": { result: { action: "accept", content: { name: "Ada" } } },
  });
  session.send(
    initialize(1, "2025-06-18", { elicitation: {} }),
    legacy(2, "tools/call", { name: "greet", arguments: { greeting: "Hello" } }),
  );
  assert.equal(textOf(await session.response(2)), "Hello Ada (Hello!)");
  assert.deepEqual(asked.map(({ method, params }) => ({ method, params })), [ELICIT]);
});

test("Server asks a legacy client for prompts, resources and own methods that may ask (V8)", async (t) => {
  const need: InputRequiredResult = {
    resultType: "input_required",
    inputRequests: { roots: { method: "roots/list" } },
  };
  const rootsOf = ({ inputResponses }: RequestContext) => JSON.stringify(inputResponses?.roots?.roots);
  const session = start(t, {
    prompts: { p: { get: (_args, context) => context.inputResponses ? rootsOf(context) : need } },
    resources: {
      "test://r": {
        read: (_request, context) => Promise.resolve(context.inputResponses ? rootsOf(context) : need),
      },
    },
  });
  answerAs(session, { "roots/list": { result: { roots: [7] } } });
  session.send(
    initialize(1, "2025-11-25", { roots: {} }),
    legacy(2, "prompts/get", { name: "p" }),
    legacy(3, "resources/read", { uri: "test://r" }),
  );
  assert.equal((await session.response(2)).result.messages[0].content.text, "[7]");
  assert.equal((await session.response(3)).result.contents[0].text, "[7]");
});

test("Server asks several things at once, and in rounds, keeping the original params (V8)", async (t) => {
  const rounds: unknown[] = [];
  const session = start(t, {
    tools: {
      quiz: {
        call(args, { inputResponses, requestState }) {
          rounds.push([args, inputResponses, requestState]);
          if (rounds.length === 1) {
            const inputRequests: InputRequiredResult["inputRequests"] = {
              a: ELICIT,
              b: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
            };
            return { resultType: "input_required", inputRequests, requestState: "one" };
          }
          if (rounds.length === 2) return { resultType: "input_required", requestState: "two" };
          if (rounds.length === 3) return { resultType: "input_required", inputRequests: { c: ELICIT } };
          return "done";
        },
      },
    },
  });
  answerAs(session, {
    "elicitation/create": { result: { action: "decline" } },
    "sampling/createMessage": { result: { model: "m" } },
  });
  session.send(
    initialize(1, "2025-11-25", { elicitation: {}, sampling: {} }),
    legacy(2, "tools/call", {
      name: "quiz",
      arguments: { x: 1 },
      inputResponses: { old: {} },
      requestState: "old",
    }),
  );
  assert.equal(textOf(await session.response(2)), "done");
  assert.deepEqual(rounds, [
    [{ x: 1 }, { old: {} }, "old"],
    [{ x: 1 }, { a: { action: "decline" }, b: { model: "m" } }, "one"],
    [{ x: 1 }, undefined, "two"],
    [{ x: 1 }, { c: { action: "decline" } }, undefined],
  ]);
});

test("Server asks a legacy client at most ten times for one request (V8)", async (t) => {
  let calls = 0;
  const session = start(t, {
    tools: {
      endless: {
        call() {
          calls++;
          return { resultType: "input_required", inputRequests: { a: ELICIT } };
        },
      },
    },
  });
  const asked = answerAs(session, { "elicitation/create": { result: { action: "cancel" } } });
  session.send(
    initialize(1, "2025-11-25", { elicitation: {} }),
    legacy(2, "tools/call", { name: "endless" }),
  );
  assert.deepEqual((await session.response(2)).error, {
    code: -32603,
    message: "The request still asks for input after 10 rounds",
  });
  assert.deepEqual([asked.length, calls], [10, 11]);
});

test("Server tells who refused what when a legacy client answers a question with an error (XB12)", async (t) => {
  const session = start(t, greeter);
  const error = { code: -32601, message: "Method not found" };
  answerAs(session, { "elicitation/create": { error } });
  session.send(initialize(1, "2025-11-25", { elicitation: {} }), legacy(2, "tools/call", { name: "greet" }));
  assert.deepEqual((await session.response(2)).error, {
    code: -32603,
    message: 'The client refused "elicitation/create": Method not found (-32601)',
    data: error,
  });
});

test("Server withdraws its questions when a legacy client cancels the request (V3)", async (t) => {
  const session = start(t, greeter);
  session.send(initialize(1, "2025-11-25", { elicitation: {} }), legacy(2, "tools/call", { name: "greet" }));
  await waitUntil(() => session.transcript.notifications("elicitation/create").length === 1);
  session.send(cancel(2), legacy(3, "ping"));
  await session.response(3);
  const [asked] = session.transcript.notifications("elicitation/create");
  assert.equal(session.transcript.notifications("notifications/cancelled")[0]!.params.requestId, asked!.id);
  assert.deepEqual(session.transcript.responsesTo(2), []);
});

test("Server asks a legacy client for a URL with the id its revision wants (V8)", async (t) => {
  const inputRequests: InputRequiredResult["inputRequests"] = {
    u: { method: "elicitation/create", params: { mode: "url", message: "", url: "https://x" } },
  };
  const session = start(t, {
    tools: {
      url: {
        call: (_args, { inputResponses }) =>
          inputResponses ? "done" : { resultType: "input_required", inputRequests },
      },
    },
  });
  const asked = answerAs(session, { "elicitation/create": { result: { action: "accept" } } });
  session.send(
    initialize(1, "2025-11-25", { elicitation: { url: {} } }),
    legacy(2, "tools/call", { name: "url" }),
  );
  assert.equal(textOf(await session.response(2)), "done");
  assert.match(asked[0]!.params.elicitationId, /^[\w-]{20,}$/);
});

test("Server answers -32021 with the capabilities a client would have to declare (V6)", async (t) => {
  const ask = (
    inputRequests: Params,
  ) => ({ resultType: "input_required", inputRequests } as InputRequiredResult);
  const elicit = (params: Params) => ask({ a: { method: "elicitation/create", params } });
  const sample = (params: Params) => ask({ a: { method: "sampling/createMessage", params } });
  const roots = ask({ a: { method: "roots/list" } });
  const cases: Array<[result: InputRequiredResult, declared: Params, required: Params | undefined]> = [
    [elicit({}), {}, { elicitation: { form: {} } }],
    [elicit({ mode: "form" }), { elicitation: {} }, undefined],
    [elicit({}), { elicitation: { form: {} } }, undefined],
    [elicit({}), { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    [elicit({ mode: "url" }), { elicitation: {} }, { elicitation: { url: {} } }],
    [elicit({ mode: "url" }), { elicitation: { form: {}, url: {} } }, undefined],
    [sample({}), {}, { sampling: {} }],
    [sample({}), { sampling: {} }, undefined],
    [sample({ tools: [] }), { sampling: {} }, { sampling: { tools: {} } }],
    [sample({ tools: [] }), { sampling: { tools: {} } }, undefined],
    [roots, {}, { roots: {} }],
    [roots, { roots: {} }, undefined],
    [
      ask({
        a: ELICIT,
        b: { method: "elicitation/create", params: { mode: "url" } },
        c: { method: "roots/list" },
      }),
      { roots: {} },
      { elicitation: { form: {}, url: {} } },
    ],
  ];
  for (const [result, declared, requiredCapabilities] of cases) {
    const session = start(t, {
      tools: {
        ask: { call: (_args, { inputResponses }) => inputResponses === undefined ? result : "done" },
      },
    });
    answerAs(session, {
      "elicitation/create": { result: {} },
      "sampling/createMessage": { result: {} },
      "roots/list": { result: {} },
    });
    session.send(
      call(1, "ask", {}, { [CAPABILITIES]: declared }),
      initialize(2, "2025-11-25", declared),
      legacy(3, "tools/call", { name: "ask" }),
    );
    for (const id of [1, 3]) {
      const { error } = await session.response(id);
      const what = `${JSON.stringify(result)} for ${JSON.stringify(declared)}`;
      assert.equal(error?.code, requiredCapabilities === undefined ? undefined : -32021, what);
      assert.deepEqual(error?.data, requiredCapabilities && { requiredCapabilities }, what);
    }
  }
});

test("context.requestInput() checks the client's capabilities, and is for the legacy era (V8)", async (t) => {
  const session = start(t, {
    handlers: {
      "x/ask": async (params, { requestInput }) => await requestInput(params.ask as string),
    },
  });
  answerAs(session, { "roots/list": { result: { roots: [] } }, "ping": { result: {} } });
  session.send(initialize(1, "2025-11-25", { roots: {} }));
  session.send(
    legacy(2, "x/ask", { ask: "roots/list" }),
    legacy(3, "x/ask", { ask: "sampling/createMessage" }),
    legacy(4, "x/ask", { ask: "ping" }),
    modern(5, "x/ask", { ask: "roots/list" }),
  );
  assert.deepEqual((await session.response(2)).result, { roots: [] });
  assert.equal((await session.response(3)).error?.code, -32021);
  assert.deepEqual((await session.response(4)).result, {});
  assert.equal((await session.response(5)).error?.code, -32603);
});

test("Server answers -32603 where an input_required result may not stand or says nothing (V6)", async (t) => {
  const results: Params[] = [
    {},
    { inputRequests: [] },
    { inputRequests: { a: {} } },
    { inputRequests: { a: { method: "elicitation/create", params: 7 } } },
    { inputRequests: { a: { method: "tools/call" } } },
    { requestState: 7 },
  ];
  const give = (params: Params) => ({ resultType: "input_required", ...params } as InputRequiredResult);
  const session = start(t, {
    tools: { odd: { call: ({ index }) => give(results[index as number]!) } },
    handlers: { "x/own": () => give({ requestState: "x" }), "tools/list": () => give({ requestState: "x" }) },
  });
  const everyCapability = { [CAPABILITIES]: { elicitation: {}, sampling: {}, roots: {} } };
  for (const index of results.keys()) {
    session.send(call(index, "odd", { index }, everyCapability));
    assert.equal((await session.response(index)).error?.code, -32603, JSON.stringify(results[index]));
  }
  session.send(modern("own", "x/own"), modern("list", "tools/list"));
  assert.equal((await session.response("own")).error?.code, -32603);
  assert.equal((await session.response("list")).error?.code, -32603);
  assert.equal(session.log.texts("error").length, results.length + 2);
});

test("Server rejects inputResponses and requestState that are none with -32602 (V6)", async (t) => {
  const session = start(t, greeter);
  const wrong: Params[] = [
    { inputResponses: [] },
    { inputResponses: null },
    { inputResponses: { who: "Ada" } },
    { requestState: {} },
    { requestState: null },
  ];
  for (const [id, params] of wrong.entries()) {
    session.send(modern(id, "tools/call", { name: "greet", ...params }));
    assert.equal((await session.response(id)).error?.code, -32602, JSON.stringify(params));
  }
});

test("inputRequired() makes results and what they ask, and acceptedContent() reads what was agreed to (XF13)", () => {
  const form = z.object({ name: z.string().min(2), age: z.number().int().optional() });
  const user = inputRequired.elicit({ message: "Who are you?", requestedSchema: form });
  assert.deepEqual(user, {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: "Who are you?",
      requestedSchema: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 2 },
          age: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        },
        required: ["name"],
      },
    },
  });
  const page = inputRequired.elicit({ mode: "url", message: "Sign in", url: "https://example.com" });
  assert.deepEqual(page.params, { mode: "url", message: "Sign in", url: "https://example.com" });
  const asked = { messages: [], maxTokens: 5 };
  assert.deepEqual(inputRequired.sampling(asked), { method: "sampling/createMessage", params: asked });
  assert.deepEqual(inputRequired.roots(), { method: "roots/list" });
  assert.deepEqual(inputRequired({ inputRequests: { user }, requestState: "s" }), {
    resultType: "input_required",
    inputRequests: { user },
    requestState: "s",
  });
  assert.throws(() => inputRequired({}), { name: "TypeError" });
  const forms: Array<[schema: z.ZodType, message: RegExp]> = [
    [z.object({ deep: z.object({}) }), /"deep" is no field/],
    [z.object({ many: z.array(z.number()) }), /"many" is no field/],
    [z.string(), /must be an object with properties/],
  ];
  for (const [requestedSchema, message] of forms) {
    assert.throws(() => inputRequired.elicit({ message: "", requestedSchema }), {
      name: "TypeError",
      message,
    });
  }
  inputRequired.elicit({ message: "", requestedSchema: z.object({ many: z.array(z.enum(["a", "b"])) }) });

  const answer = (response: Result | undefined) =>
    acceptedContent({ inputResponses: response && { user: response } }, "user", form);
  assert.deepEqual(answer({ action: "accept", content: { name: "Ada", more: 1 } }), { name: "Ada" });
  const refused: Array<Result | undefined> = [
    undefined,
    { action: "decline", content: { name: "Ada" } },
    { action: "cancel" },
    { action: "accept" },
    { action: "accept", content: { name: "A" } },
    { content: { name: "Ada" } },
  ];
  for (const response of refused) assert.equal(answer(response), undefined, JSON.stringify(response));
  const given = { inputResponses: { user: { action: "accept", content: { name: 5 } } } };
  assert.deepEqual(acceptedContent(given, "user"), { name: 5 }, "nothing is checked without a schema");
  assert.equal(acceptedContent(given, "toString"), undefined);
  const later: StandardSchemaV1 = {
    "~standard": { version: 1, vendor: "tester", validate: (value) => Promise.resolve({ value }) },
  };
  assert.throws(() => acceptedContent(given, "user", later), /its schema answers later/);
});
