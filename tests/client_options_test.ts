// Options of a client that no type has checked: what cannot be used is told at once and by name (XF11). How a server is started
// is in launch_options_test.ts.
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { Client, type ClientOptions, spawn, type SpawnOptions, spawnServer } from "../client.ts";
import { StdioClientTransport } from "../sdk_transport.ts";
import { createFakeRuntime, createStreamPair } from "../testing.ts";
import { createLog, meet, outcomeOf, Peer, settle } from "./_client_peer.ts";
import { showUnhandledRejections } from "./helpers.ts";

const REFUSED: ReadonlyArray<readonly [options: object, message: string]> = [
  [{ timeout: 5 }, `Cannot use %: there is no option "timeout", did you mean "timeoutMs"?`],
  [
    { limits: { maxLineByte: 5 } },
    `Cannot use limits: there is no option "maxLineByte", did you mean "maxLineBytes"?`,
  ],
  [{ limits: 5 }, `Cannot use %: "limits" must be an object, but is a number`],
  [{ era: "new" }, `Cannot use %: "era" must be "auto", "modern" or "legacy", but is "new"`],
  [{ onNotification: "log" }, `Cannot use %: "onNotification" must be a function, but is "log"`],
  [{ onStateChange: [] }, `Cannot use %: "onStateChange" must be a function, but is an array`],
  [{ inputHandlers: [] }, `Cannot use %: "inputHandlers" must be an object, but is an array`],
  [
    { inputHandlers: { "roots/list": [] } },
    `Cannot use %: "inputHandlers["roots/list"]" must be a function, but is an array`,
  ],
  [{ signal: {} }, `Cannot use %: "signal" must be an AbortSignal, but is an object`],
  [{ clock: {} }, `Cannot use %: "clock" must be a clock, but is an object`],
  [
    { logger: { warn() {} } },
    `Cannot use %: "logger" must be an object with debug, info, warn and error, but is an object`,
  ],
];

for (const [options, message] of REFUSED) {
  test(`Clients refuse ${JSON.stringify(options)} before anything is started (XF11)`, async () => {
    const runtime = createFakeRuntime();
    const given = { command: "server", runtime, ...options } as SpawnOptions;
    const expected = (what: string) => ({ name: "TypeError", message: message.replace("%", what) });
    await assert.rejects(spawn(given), expected("spawn()"));
    await assert.rejects(spawnServer(given), expected("spawnServer()"));
    assert.throws(() => new StdioClientTransport(given), expected("StdioClientTransport"));
    await assert.rejects(
      Client.connect(createStreamPair()[0], options as ClientOptions),
      expected("Client.connect()"),
    );
    assert.equal(runtime.processes.length, 0);
  });
}

test("spawn() refuses values of the environment that are no strings (XF11)", async () => {
  const { error } = await outcomeOf(
    spawn({ command: "node", env: { PORT: 3000 } } as unknown as SpawnOptions),
  );
  assert.ok(error instanceof TypeError);
  assert.equal(error.message, `Cannot start "node": "env.PORT" must be a string, but is a number`);
});

test("Client.connect() names options that it does not know, and goes on (XF11)", async () => {
  const [here, there] = createStreamPair();
  const peer = new Peer(there);
  const log = createLog();
  const connecting = Client.connect(
    here,
    { logger: log.logger, command: "x", limits: { other: 1 } } as ClientOptions,
  );
  await peer.discover();
  await (await connecting).close();
  assert.deepEqual(log.of("warn"), [
    `[mcp_stdio] Client.connect() knows no option "command"`,
    `[mcp_stdio] limits knows no option "other"`,
  ]);
  await assert.rejects(Client.connect(here, 5 as unknown as ClientOptions), {
    name: "TypeError",
    message: "Cannot use Client.connect(): its options are a number",
  });
});

for (
  const [options, state] of [
    [{ signal: 5 }, `"signal" must be an AbortSignal, but is a number`],
    [{ signal: null }, `"signal" must be an AbortSignal, but is null`],
    [{ signal: new AbortController() }, `"signal" must be an AbortSignal, but is an object`],
    [{ onProgress: 5 }, `"onProgress" must be a function, but is a number`],
    [{ onLog: {} }, `"onLog" must be a function, but is an object`],
    [{ onNotification: [] }, `"onNotification" must be a function, but is an array`],
    [{ retry: "always" }, `"retry" must be "auto", "force" or "never", but is "always"`],
    [null, `"options" must be an object, but is null`],
    [5, `"options" must be an object, but is a number`],
  ] as const
) {
  test(`Client.request() refuses the options ${JSON.stringify(options)} before anything is sent (XF11)`, async () => {
    const { client, peer } = await meet();
    const refused = { name: "TypeError", message: `Cannot make a request: ${state}` };
    assert.throws(() => client.request("tools/list", {}, options as never), refused);
    assert.throws(() => client.callTool("x", {}, options as never), refused);
    await settle();
    assert.deepEqual(peer.methods, ["server/discover"]);
    await client.close();
  });
}

test("Client is not harmed by a signal of somebody's own making (C4, C9)", async () => {
  const { client, peer } = await meet();
  const refuse = () => {
    throw new Error("not implemented");
  };
  const signal = { aborted: false, addEventListener() {}, removeEventListener: refuse };
  for (let turn = 0; turn < 3; turn++) {
    const call = client.request("tools/list", {}, { signal: signal as unknown as AbortSignal });
    peer.answer(await peer.take("tools/list"), { tools: [] });
    assert.ok(await call);
  }
  await client.close();
  await showUnhandledRejections();
});

for (
  const server of [undefined, null, 5, "node server.js", {}, {
    readable: process.stdin,
    writable: process.stdout,
  }]
) {
  test(`Client.connect() refuses ${typeof server} ${Object.keys(Object(server)).join()} as a server (XF11)`, async () => {
    const { error } = await outcomeOf(Client.connect(server as never));
    assert.ok(error instanceof TypeError, String(error));
    assert.match(
      error.message,
      /^Cannot (use Client\.connect\(\): the server must be two streams|use the streams: they must be Web Streams, as)/,
    );
  });
}
