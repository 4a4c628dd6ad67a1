// Lists, resources, prompts, completion, and changes at run time of one-file servers (rule O3).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Params } from "../messages.ts";
import { Server } from "../server.ts";
import {
  call,
  initialize,
  legacy,
  type Message,
  modern,
  type Session,
  start,
  textOf,
} from "./server_helpers.ts";

const hello = { call: () => "hello" };
let requests = 0;

/** The result of one request, or its error. */
async function ask(session: Session, method: string, params: Params = {}): Promise<Message["result"]> {
  const id = `${method} ${requests++}`;
  session.send(modern(id, method, params));
  const { result, error } = await session.response(id);
  return error ?? result;
}

/** All entries of a list, page by page. */
async function pagesOf(session: Session, method: string, member: string, key: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const result = await ask(session, method, cursor === undefined ? {} : { cursor });
    pages.push(result[member].map((entry: Params) => entry[key]));
    cursor = result.nextCursor;
  }
  return pages;
}

test("Lists come in the order of definition, page by page (O3)", async (t) => {
  const names = ["zeta", "alpha", "müller", "beta", "漢字"];
  const byName = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value]));
  const session = start(t, {
    pageSize: 2,
    tools: byName(hello),
    prompts: byName({ get: () => "" }),
    resources: Object.fromEntries(
      names.flatMap((
        name,
      ) => [[`test://${name}`, { read: () => "" }], [`test://${name}/{x}`, { read: () => "" }]]),
    ),
  });
  const pages = [names.slice(0, 2), names.slice(2, 4), names.slice(4)];
  const uris = (ending: string) => pages.map((page) => page.map((name) => `test://${name}${ending}`));
  assert.deepEqual(await pagesOf(session, "tools/list", "tools", "name"), pages);
  assert.deepEqual(await pagesOf(session, "prompts/list", "prompts", "name"), pages);
  assert.deepEqual(await pagesOf(session, "resources/list", "resources", "uri"), uris(""));
  assert.deepEqual(
    await pagesOf(session, "resources/templates/list", "resourceTemplates", "uriTemplate"),
    uris("/{x}"),
  );
});

test("A list that fits on its page, or fills it, has no next one (O3)", async (t) => {
  const session = start(t, { pageSize: 2, tools: { a: hello, b: hello } });
  assert.deepEqual(await pagesOf(session, "tools/list", "tools", "name"), [["a", "b"]]);
  session.server.removeTool("a");
  session.server.removeTool("b");
  assert.deepEqual(await pagesOf(session, "tools/list", "tools", "name"), [[]]);
});

test("A cursor stays good while entries come and go; one that means nothing is -32602 (O3)", async (t) => {
  const session = start(t, { pageSize: 2, tools: { a: hello, b: hello, c: hello, d: hello } });
  const { nextCursor } = await ask(session, "tools/list");
  session.server.removeTool("a");
  session.server.addTool("e", hello);
  const next = await ask(session, "tools/list", { cursor: nextCursor });
  assert.deepEqual(next.tools.map(({ name }: Params) => name), ["c", "d"]);
  session.server.removeTool("b");
  for (const cursor of [nextCursor, "nonsense", "", 5, null]) {
    assert.equal((await ask(session, "tools/list", { cursor })).code, -32602, String(cursor));
  }
});

test("Tools are listed with all that is said of them, and nothing else (O3)", async (t) => {
  const session = start(t, {
    tools: {
      full: {
        title: "Full",
        description: "Has everything",
        inputSchema: { type: "object", properties: { a: { type: "string" } } },
        outputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
        icons: [{ src: "https://example.com/a.png" }],
        _meta: { "example.com/a": 1 },
        call: () => ({ structuredContent: {} }),
      },
      bare: hello,
    },
  });
  const { tools } = await ask(session, "tools/list");
  assert.deepEqual(tools, [
    {
      name: "full",
      title: "Full",
      description: "Has everything",
      inputSchema: { type: "object", properties: { a: { type: "string" } } },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.com/a.png" }],
      _meta: { "example.com/a": 1 },
    },
    { name: "bare", inputSchema: { type: "object" } },
  ]);
});

test("addTool() and removeTool() change what is served at once, and publish list_changed (O3)", async (t) => {
  const session = start(t, { tools: { a: hello } });
  const { server, transcript } = session;
  session.send(
    initialize("i"),
    modern("l", "subscriptions/listen", { notifications: { toolsListChanged: true } }),
  );
  await session.response("i");
  await session.settle();
  const told = () => transcript.notifications("notifications/tools/list_changed").length;

  server.addTool("b", { call: () => "b" });
  session.send(call(1, "b"));
  assert.equal(textOf(await session.response(1)), "b");
  assert.equal(told(), 2, "one for the stream, one for the legacy client");
  server.addTool("b", { call: () => "better" });
  session.send(call(2, "b"));
  assert.equal(textOf(await session.response(2)), "better");
  assert.equal(server.removeTool("b"), true);
  assert.equal(server.removeTool("b"), false);
  session.send(call(3, "b"));
  assert.equal((await session.response(3)).error?.code, -32602);
  await session.settle();
  assert.equal(told(), 6);
});

test("Resources and prompts come and go at run time, too (O3)", async (t) => {
  const session = start(t, {
    capabilities: { resources: { listChanged: true }, prompts: { listChanged: true } },
  });
  const { server, transcript } = session;
  const all = { resourcesListChanged: true, promptsListChanged: true };
  session.send(modern("l", "subscriptions/listen", { notifications: all }));
  await session.settle();
  server.addResource("test://a", { read: () => "a" });
  server.addResource("test://{b}", { read: ({ variables }) => variables.b! });
  server.addPrompt("p", { get: () => "p" });
  assert.equal((await ask(session, "resources/read", { uri: "test://a" })).contents[0].text, "a");
  assert.equal((await ask(session, "resources/read", { uri: "test://b" })).contents[0].text, "b");
  assert.equal((await ask(session, "prompts/get", { name: "p" })).messages[0].content.text, "p");
  const removals = [
    server.removeResource("test://a"),
    server.removeResource("test://{b}"),
    server.removePrompt("p"),
    server.removeResource("test://a"),
    server.removePrompt("p"),
  ];
  assert.deepEqual(removals, [true, true, true, false, false]);
  assert.equal((await ask(session, "resources/read", { uri: "test://a" })).code, -32602);
  await session.settle();
  const told = transcript.messages.map(({ method }) => method).filter((method) =>
    method?.endsWith("changed")
  );
  assert.deepEqual(told.sort(), [
    ...Array(2).fill("notifications/prompts/list_changed"),
    ...Array(4).fill("notifications/resources/list_changed"),
  ]);
});

test("Capabilities follow from what is defined, and stay once they were declared (O3)", async (t) => {
  const complete = () => [];
  const resource = { read: () => "" };
  const prompt = { get: () => "" };
  const info = { name: "test", version: "1.0.0" };
  const capabilitiesOf = (options: object) => new Server({ info, ...options }).capabilities;
  const listChanged = true;
  assert.deepEqual(capabilitiesOf({}), { logging: {} });
  assert.deepEqual(capabilitiesOf({ tools: { a: hello } }), { logging: {}, tools: { listChanged } });
  assert.deepEqual(capabilitiesOf({ resources: { "test://a": resource } }), {
    logging: {},
    resources: { listChanged, subscribe: true },
  });
  assert.deepEqual(capabilitiesOf({ prompts: { a: prompt } }), { logging: {}, prompts: { listChanged } });
  assert.deepEqual(
    capabilitiesOf({ prompts: { a: { ...prompt, arguments: { x: { complete } } } } }).completions,
    {},
  );
  assert.deepEqual(
    capabilitiesOf({ resources: { "test://{x}": { ...resource, complete: { x: complete } } } }).completions,
    {},
  );
  assert.deepEqual(
    capabilitiesOf({
      tools: { a: hello },
      capabilities: { logging: undefined, tools: {}, extensions: { x: {} } },
    }),
    { tools: {}, extensions: { x: {} } },
  );

  const session = start(t);
  assert.equal((await ask(session, "tools/list")).code, -32601);
  session.server.addTool("a", hello);
  session.server.removeTool("a");
  assert.deepEqual(session.server.capabilities, { logging: {}, tools: { listChanged } });
  assert.deepEqual((await ask(session, "tools/list")).tools, []);
  assert.deepEqual((await ask(session, "server/discover")).capabilities, session.server.capabilities);
  for (const method of ["resources/list", "prompts/list", "completion/complete"]) {
    assert.equal((await ask(session, method)).code, -32601);
  }
});

test("Own handlers come before the definitions, and stay when those change (O3)", async (t) => {
  const session = start(t, { tools: { a: hello }, handlers: { "tools/list": () => ({ tools: [] }) } });
  assert.deepEqual((await ask(session, "tools/list")).tools, []);
  session.server.addTool("b", hello);
  assert.deepEqual((await ask(session, "tools/list")).tools, []);
});

test("Reading a resource gives text, bytes, contents or a whole result (O3)", async (t) => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
  const session = start(t, {
    resources: {
      "test://text": { mimeType: "text/plain", read: () => "text" },
      "test://bytes": { mimeType: "image/png", read: () => Promise.resolve(bytes) },
      "test://contents": { read: ({ uri }) => ({ uri, text: "one", mimeType: "text/x" }) },
      "test://several": { read: () => [{ uri: "test://1", text: "1" }, { uri: "test://2", blob: "AA==" }] },
      "test://whole": { read: () => ({ contents: [], _meta: { a: 1 }, ttlMs: 60_000 }) },
      "test://fails": { read: () => Promise.reject(new Error("secret path")) },
    },
  });
  const read = (name: string) => ask(session, "resources/read", { uri: `test://${name}` });
  assert.deepEqual((await read("text")).contents, [{
    uri: "test://text",
    mimeType: "text/plain",
    text: "text",
  }]);
  const [{ blob }] = (await read("bytes")).contents;
  assert.deepEqual(Uint8Array.from(atob(blob), (character) => character.charCodeAt(0)), bytes);
  assert.deepEqual((await read("contents")).contents, [
    { uri: "test://contents", text: "one", mimeType: "text/x" },
  ]);
  assert.equal((await read("several")).contents.length, 2);
  const whole = await read("whole");
  assert.deepEqual([whole.contents, whole.ttlMs, whole._meta.a], [[], 60_000, 1]);
  assert.deepEqual(await read("fails"), { code: -32603, message: "Internal error" });
  assert.deepEqual(await read("missing"), {
    code: -32602,
    message: "Resource not found",
    data: { uri: "test://missing" },
  });
  assert.equal((await ask(session, "resources/read", {})).code, -32602);
});

test("A template is read with the values of its variables; a plain resource comes first (O3)", async (t) => {
  const echo = ({ variables }: { variables: Params }) => JSON.stringify(variables);
  const session = start(t, {
    resources: {
      "file:///{name}": { read: echo },
      "file:///plain": { read: () => "plain" },
      "deep:///{+path}": { read: echo },
      "users://{id}/posts/{post}": { read: echo },
      "search://all{?q,limit}": { read: echo },
    },
  });
  const cases: Array<[uri: string, text: string | undefined]> = [
    ["file:///plain", "plain"],
    ["file:///a%20b", '{"name":"a b"}'],
    ["file:///100%", '{"name":"100%"}'],
    ["file:///..%2Fetc", '{"name":"../etc"}'],
    ["file:///a/b", undefined],
    ["file:///a?b", undefined],
    ["file:///a#b", undefined],
    ["file:///a%3Fb%23c", '{"name":"a?b#c"}'],
    ["file:///", undefined],
    ["deep:///a/b/c", '{"path":"a/b/c"}'],
    ["users://7/posts/x", '{"id":"7","post":"x"}'],
    ["users://7/posts/", undefined],
    ["search://all", "{}"],
    ["search://all?q=a%20b&limit=5&more=1", '{"q":"a b","limit":"5"}'],
    ["other://x", undefined],
  ];
  for (const [uri, text] of cases) {
    const result = await ask(session, "resources/read", { uri });
    assert.equal(result.contents?.[0].text, text, uri);
    assert.equal(result.contents?.[0].uri, text === undefined ? undefined : uri);
  }
});

test("Getting a prompt gives text, messages or a whole result, and wants its arguments (O3)", async (t) => {
  const message = { role: "assistant" as const, content: { type: "text" as const, text: "Hello." } };
  const session = start(t, {
    prompts: {
      text: {
        description: "A greeting",
        arguments: { name: { description: "Who", required: true }, mood: {} },
        get: ({ name, mood = "fine" }) => `${name} is ${mood}`,
      },
      messages: { get: () => [message, message] },
      whole: { get: () => ({ description: "own", messages: [message] }) },
      nothing: { get: () => 5 as unknown as string },
    },
  });
  const get = (name: unknown, args?: unknown) => ask(session, "prompts/get", { name, arguments: args });
  const { description, messages } = await get("text", { name: "Ada" });
  assert.deepEqual([description, messages], ["A greeting", [
    { role: "user", content: { type: "text", text: "Ada is fine" } },
  ]]);
  assert.deepEqual((await get("messages")).messages, [message, message]);
  assert.equal((await get("whole")).description, "own");
  assert.equal((await get("nothing")).code, -32603);
  for (const [name, args] of [["text"], ["text", {}], ["text", { name: 5 }], ["text", []], ["?"], [5]]) {
    assert.equal((await get(name, args)).code, -32602, JSON.stringify([name, args]));
  }
  assert.deepEqual((await ask(session, "prompts/list")).prompts[0], {
    name: "text",
    description: "A greeting",
    arguments: [{ name: "name", description: "Who", required: true }, { name: "mood" }],
  });
});

test("Completion of prompt and template arguments, with what is known already (O3)", async (t) => {
  const languages = ["python", "pytorch", "perl"];
  const many = Array.from({ length: 250 }, (_, index) => String(index));
  const session = start(t, {
    prompts: {
      review: {
        arguments: {
          language: { complete: (value) => languages.filter((each) => each.startsWith(value)) },
          framework: {
            complete: (_value, { arguments: known }) => Promise.resolve([`for ${known.language}`]),
          },
          plain: {},
        },
        get: () => "",
      },
    },
    resources: {
      "many://{n}": { complete: { n: () => many }, read: () => "" },
      "test://a": { read: () => "" },
    },
  });
  const prompt = { type: "ref/prompt", name: "review" };
  const complete = async (ref: unknown, name: string, value: string, context?: unknown) => {
    const result = await ask(session, "completion/complete", { ref, argument: { name, value }, context });
    return result.completion ?? result.code;
  };
  assert.deepEqual(await complete(prompt, "language", "py"), {
    values: ["python", "pytorch"],
    total: 2,
    hasMore: false,
  });
  const known = { arguments: { language: "python" } };
  assert.deepEqual((await complete(prompt, "framework", "", known)).values, ["for python"]);
  const nothing = { values: [], total: 0, hasMore: false };
  for (const name of ["plain", "unknown", "constructor", "__proto__"]) {
    assert.deepEqual(await complete(prompt, name, "x"), nothing, name);
    assert.deepEqual(await complete({ type: "ref/resource", uri: "many://{n}" }, `${name}?`, "x"), nothing);
  }
  assert.deepEqual(await complete({ type: "ref/resource", uri: "many://{n}" }, "constructor", "x"), nothing);
  assert.deepEqual(await complete({ type: "ref/resource", uri: "test://a" }, "n", ""), nothing);
  assert.deepEqual(await complete({ type: "ref/resource", uri: "many://{n}" }, "n", ""), {
    values: many.slice(0, 100),
    total: 250,
    hasMore: true,
  });
  const wrong: unknown[] = [{ type: "ref/prompt", name: "?" }, { type: "ref/resource", uri: "?" }, {
    type: "x",
  }, null];
  for (const ref of wrong) assert.equal(await complete(ref, "language", ""), -32602);
  for (const context of [null, { arguments: [] }, { arguments: { a: 5 } }, 7]) {
    assert.equal(await complete(prompt, "language", "", context), -32602, JSON.stringify(context));
  }
  assert.equal(await complete(prompt, 5 as unknown as string, ""), -32602);
});

test("A legacy client gets the same lists, resources and prompts (O3)", async (t) => {
  const session = start(t, {
    tools: { a: hello },
    resources: { "test://a": { size: 1, read: () => "a" } },
    prompts: { p: { get: () => "p" } },
  });
  session.send(
    initialize(1),
    legacy(2, "resources/list"),
    legacy(3, "resources/templates/list", {}),
    legacy(4, "resources/read", { uri: "test://a" }),
    legacy(5, "prompts/get", { name: "p" }),
  );
  assert.deepEqual((await session.response(2)).result, {
    resources: [{ uri: "test://a", name: "test://a", size: 1 }],
  });
  assert.deepEqual((await session.response(3)).result, { resourceTemplates: [] });
  assert.deepEqual((await session.response(4)).result, { contents: [{ uri: "test://a", text: "a" }] });
  assert.equal((await session.response(5)).result.messages.length, 1);
});
