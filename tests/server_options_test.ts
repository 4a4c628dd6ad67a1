// Options of a server that cannot do what their author meant are refused at once, with a hint (XF11).
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { serve, Server, type ServerOptions } from "../server.ts";
import { createFakeRuntime, createStreamPair } from "../testing.ts";
import { FakeV2 } from "./sdk_transport_fakes.ts";
import { LogSink, start } from "./server_helpers.ts";

const info = { name: "test", version: "1.0.0" };
const call = () => "";

/** What `new Server` says of options. */
function refusal(options: object): string {
  try {
    new Server({ info, logger: new LogSink(), ...options } as ServerOptions);
  } catch (error) {
    assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
    return error.message;
  }
  return "";
}

test("new Server() says what is wrong with an option, and what was meant (XF11)", () => {
  const cases: Array<[options: object, message: RegExp]> = [
    [
      { tools: [{ name: "a", call }] },
      /"tools" must be an object, each under its name, but they are an array/,
    ],
    [{ resources: [] }, /"resources" must be an object, each under its URI, but they are an array/],
    [{ prompts: "p" }, /"prompts" must be an object, each under its name, but they are string/],
    [{ handlers: [call] }, /"handlers" must be an object/],
    [{ tool: { a: { call } } }, /Cannot use a server: there is no option "tool", did you mean "tools"\?/],
    [{ instruction: "" }, /there is no option "instruction", did you mean "instructions"\?/],
    [{ info: undefined, serverInfo: info }, /did you mean "info"\?|"info" must have/],
    [{ tools: { a: call } }, /Cannot define tool "a": its definition must be an object with "call"/],
    [
      { tools: { a: { execute: call } } },
      /Cannot use tool "a": there is no option "execute", did you mean "call"\?/,
    ],
    [
      { tools: { a: { parameters: {}, call } } },
      /there is no option "parameters", did you mean "inputSchema"\?/,
    ],
    [
      { tools: { a: { inputschema: {}, call } } },
      /there is no option "inputschema", did you mean "inputSchema"\?/,
    ],
    [{ tools: { a: { inputSchema: 5, call } } }, /Cannot define tool "a": a schema must be an object/],
    [
      { tools: { a: { inputSchema: { city: z.string() }, call } } },
      /must have the type "object"; wrap its members, as z\.object does/,
    ],
    [{ tools: { a: { call: "text" } } }, /Cannot define tool "a": "call" is not a function/],
    [{ resources: { "x://a": { handler: call } } }, /there is no option "handler", did you mean "read"\?/],
    [{ prompts: { a: { args: {}, get: call } } }, /there is no option "args", did you mean "arguments"\?/],
    [
      { prompts: { a: { arguments: [{ name: "b" }], get: call } } },
      /"arguments" must be an object, each under its name/,
    ],
    [{ limits: { maxInFlight: 5 } }, /Cannot use .*limits.*"maxInFlight"/],
    [
      { limits: { maxQueuedRequest: 5 } },
      /there is no option "maxQueuedRequest", did you mean "maxQueuedRequests"\?/,
    ],
    [{ drainTimeoutMs: null }, /"drainTimeoutMs"/],
  ];
  for (const [options, message] of cases) assert.match(refusal(options), message, JSON.stringify(options));
  for (const options of [undefined, null, 5]) {
    assert.throws(() => new Server(options as unknown as ServerOptions), { name: "TypeError" });
  }
});

test("An option that means nothing is named in a warning, and does no harm (XF11)", (t) => {
  const unknown = { colour: "red", unset: undefined } as object;
  const session = start(t, {
    ...unknown,
    tools: { a: { call, ...unknown } },
    resources: { "x://a": { read: call, ...unknown } },
    prompts: { a: { get: call, ...unknown } },
  });
  assert.deepEqual(session.log.texts("warn"), [
    '[mcp_stdio] a server knows no option "colour"',
    '[mcp_stdio] tool "a" knows no option "colour"',
    '[mcp_stdio] resource "x://a" knows no option "colour"',
    '[mcp_stdio] prompt "a" knows no option "colour"',
  ]);
  session.server.addTool("b", { call, ...{ summary: "" } as object });
  assert.equal(session.log.texts("warn").at(-1), '[mcp_stdio] tool "b" knows no option "summary"');
});

test("serve() refuses what belongs to a Server, and takes it for a factory (XF11)", async () => {
  const [here, stdio] = createStreamPair();
  const runtime = createFakeRuntime({ stdio });
  const limits = { maxInFlightRequests: 1 };
  const wrong = serve(new Server({ info }), { limits, runtime });
  await assert.rejects(wrong, {
    name: "TypeError",
    message: /"limits" belongs to it, give it to "new Server"/,
  });
  const misspelt = { lingerMS: 5, runtime } as object;
  await assert.rejects(serve(new Server({ info }), misspelt), { message: /did you mean "lingerMs"\?/ });
  await assert.rejects(serve(() => new FakeV2(), misspelt), { message: /did you mean "lingerMs"\?/ });
  const serving = serve(() => new FakeV2(), { limits, runtime });
  await here.writable.close();
  assert.equal((await serving).reason, "eof");
});
