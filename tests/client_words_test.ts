// What a client says about servers that cannot be used: which one, what it printed, and what may help.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidResponseError, NegotiationError, ProcessError } from "../errors.ts";
import { installerOf } from "../internal/client/greeter.ts";
import { printedOn } from "../internal/client/printed.ts";
import { MessageDecoder } from "../internal/framing/message_decoder.ts";
import { FRAMING_DEFAULTS } from "../internal/options.ts";
import { DISCOVERED, inhabit, meet, outcomeOf, prepareHouse, settle } from "./_client_peer.ts";
import { bytesOf, stateOf } from "./helpers.ts";
import { connectClient } from "./sdk_transport_client_helpers.ts";
import { legacy as legacyRequest } from "./server_helpers.ts";

const PRINTED: ReadonlyArray<readonly [line: string, printed: string | undefined]> = [
  ["listening on 3000", "listening on 3000"],
  ["  indented\r", "  indented"],
  ['{"level":"info","msg":"up"}', '{"level":"info","msg":"up"}'],
  ["[1,2]", "[1,2]"],
  ['hello{"jsonrpc":"2.0","id":1,"result":{}}', "hello"],
  ['{"level":"info"}{ "id":1,"jsonrpc":"2.0","result":{}}', '{"level":"info"}'],
  ['{"jsonrpc":"2.0","id":1,"result":5}', undefined],
  ['{"id":1,"result":{}}', undefined],
  ['{"jsonrpc":"2.0","id":1,"res', undefined],
  ['  {"method":5}', undefined],
];

for (const [line, printed] of PRINTED) {
  test(`printedOn() finds ${JSON.stringify(printed)} on ${JSON.stringify(line)} (XF5)`, () => {
    const [inbound] = new MessageDecoder(FRAMING_DEFAULTS).push(bytesOf(`${line}\n`));
    assert.ok(inbound?.kind === "fault");
    assert.equal(printedOn(inbound), printed);
  });
}

test("Client warns of what a server prints to stdout with a quote of it (XF5, C6)", async () => {
  const { client, peer, log } = await meet();
  const long = `\u001b[31m${"x".repeat(200)}`;
  peer.write(`listening on 3000\n${long}\n`);
  await settle();
  assert.deepEqual(log.of("warn"), [
    `[mcp_router] dropped a line: the server has printed "listening on 3000" to stdout`,
    `[mcp_router] dropped a line: the server has printed "\\u001b[31m${"x".repeat(30)}"[${
      200 - 70
    } more characters]"${"x".repeat(40)}" to stdout`,
  ]);
  assert.match(String(log.lines[0]!.facts.reason), /not valid JSON/);
  await client.close();
});

test("Client says what was printed before an answer that it spoilt (XF5, XB5)", async () => {
  const stray: string[] = [];
  const { client, peer, log } = await meet({ onStrayOutput: (text) => void stray.push(text) });
  const call = outcomeOf(client.request("tools/list"));
  const { id } = await peer.take("tools/list");
  peer.write(`hello${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`);
  const { error } = await call;
  assert.ok(error instanceof InvalidResponseError);
  assert.equal(
    error.message,
    `Cannot read the answer to "tools/list": the server has printed "hello" to stdout before it`,
  );
  assert.deepEqual(stray, ["hello"]);
  assert.deepEqual(log.of("warn"), [
    `[mcp_router] dropped a frame: the server has printed "hello" to stdout before it`,
  ]);
  await client.close();
});

test("spawn() quotes what a server printed that does not answer, or exits (XF5)", async () => {
  const silent = prepareHouse((peer) => peer.write("listening on 3000\nmore\n"), { command: "sh" });
  const waiting = outcomeOf(silent.spawn());
  await silent.clock.advance(70_000);
  const { error: timeout } = await waiting;
  assert.ok(timeout instanceof NegotiationError);
  assert.equal(
    timeout.message,
    `Cannot use the server sh: no answer to the handshake within 60000 ms (the server has printed "listening on 3000" to stdout)`,
  );

  const gone = prepareHouse(async (peer, process) => {
    peer.write("hello\n");
    await settle();
    process.exit({ code: 0 });
  }, { command: "echo", args: ["hello"] });
  const { error: exited } = await outcomeOf(gone.spawn());
  assert.ok(exited instanceof ProcessError);
  assert.match(
    exited.message,
    /^Cannot use the server echo hello: it exited before answering the \w+, with code 0/,
  );
  assert.match(exited.message, /\(the server has printed "hello" to stdout\)$/);
});

test("Client forgets what an earlier server has printed (XF5)", async () => {
  const { client, runtime, clock } = await inhabit((peer, process, index) => {
    if (index === 0) {
      peer.write("the first\n");
      peer.discover();
    } else process.exit({ code: 1 });
  }, { maxRestarts: 1 });
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(5_000);
  const { error } = await outcomeOf(client.request("tools/list"));
  assert.ok(!error!.message.includes("the first"), error!.message);
});

test("spawn() rejects at once with a server that frames by Content-Length (XF17, C6)", async () => {
  for (const era of ["auto", "modern", "legacy"] as const) {
    const house = prepareHouse((peer) => {
      peer.take().then(() => peer.write('Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":1,"result":{}}'));
    }, { era, command: "lsp" });
    const { error } = await outcomeOf(house.spawn());
    assert.ok(error instanceof NegotiationError, String(error));
    assert.match(
      error.message,
      /^Cannot use the server lsp: it frames its messages with Content-Length headers/,
    );
    assert.equal(house.clock.now(), 0);
    assert.equal(house.runtime.processes.length, 1);
    assert.equal(house.clock.pendingTimers, 0);
  }
});

test("Client does not mind a server that prints such a header among other words, or later (XF17)", async () => {
  const { client, peers } = await inhabit((peer) => {
    peer.write("Content-Length: 40 bytes were loaded\n");
    peer.discover();
  });
  peers[0]!.write("Content-Length: 40\n");
  const call = client.request("tools/list");
  peers[0]!.answer(await peers[0]!.take("tools/list"), { tools: [] });
  await call;
  await client.close();
});

test("StdioClientTransport closes at once with a server that frames by Content-Length, and quotes what one printed (XF5, XF17)", async (t) => {
  const lsp = await connectClient(t);
  await lsp.transport.send(legacyRequest(0, "initialize"));
  await lsp.write(["Content-Length: 40\r"]);
  assert.deepEqual(lsp.told, ["error", "close"]);
  assert.match(lsp.errors[0]!.message, /frames its messages with Content-Length headers/);

  const gone = await connectClient(t);
  await gone.write(["hello"]);
  assert.deepEqual(gone.log.texts("warn"), [
    `[mcp_router] dropped a line: the server has printed "hello" to stdout`,
  ]);
  gone.runtime.processes[0]!.exit({ code: 3 });
  await gone.clock.advance(1_000);
  assert.match(
    gone.errors.at(-1)!.message,
    /exited with code 3 \(the server has printed "hello" to stdout\)/,
  );
});

test("spawn() names the command of a server that cannot be greeted, and shows of its words what is fit to be shown (XF20)", async () => {
  const cases: ReadonlyArray<readonly [refusal: object, message: RegExp]> = [
    [
      { error: { code: -32603, message: "no \u001b[31mtoken" } },
      /^Cannot use the server npx -y weather: initialize failed: no \\u001b\[31mtoken$/,
    ],
    [
      { result: { protocolVersion: "1999-01-01" } },
      /^Cannot agree on a revision: the server npx -y weather answered initialize with "1999-01-01"$/,
    ],
    [{ result: { protocolVersion: { toString: 1 } } }, /answered initialize with "\{\\"toString\\":1\}"$/],
    [{ error: { code: -32603, message: "x".repeat(100_000) } }, /^.{400,800}$/],
  ];
  for (const [refusal, message] of cases) {
    const house = prepareHouse((peer) => {
      peer.take("initialize").then(({ id }) => peer.send({ id, ...refusal }));
    }, { era: "legacy", command: "npx", args: ["-y", "weather"] });
    const { error } = await outcomeOf(house.spawn());
    assert.ok(error instanceof NegotiationError, String(error));
    assert.match(error.message, message);
  }
  const modern = prepareHouse((peer) => {
    peer.take("server/discover").then((probe) =>
      peer.answer(probe, { ...DISCOVERED, supportedVersions: ["2099-12-31"] })
    );
  }, { command: "npx" });
  const { error } = await outcomeOf(modern.spawn());
  assert.match(
    error!.message,
    /^Cannot agree on a revision: the server npx speaks 2099-12-31, this client 2026-07-28$/,
  );
});

const COMMANDS: ReadonlyArray<readonly [command: string, args: string[], installer: string | undefined]> = [
  ["npx", ["-y", "x"], "npx"],
  ["C:\\node\\npx.cmd", ["x"], "npx"],
  ["/usr/bin/uvx", ["x"], "uvx"],
  ["npm", ["exec", "x"], "npm exec"],
  ["npm", ["run", "x"], undefined],
  ["uv", ["tool", "run", "x"], "uv tool run"],
  ["docker", ["run", "-i", "x"], "docker run"],
  ["deno", ["run", "-A", "jsr:@x/y"], "deno"],
  ["deno", ["run", "server.ts"], undefined],
  ["node", ["npx"], undefined],
];

for (const [command, args, installer] of COMMANDS) {
  test(`installerOf() finds ${installer} in ${command} ${args.join(" ")} (XF20)`, () => {
    assert.equal(installerOf(command, args), installer);
  });
}

test("spawn() says that npx may still be installing a server that has not said anything (XF20)", async () => {
  for (const speaks of [false, true]) {
    const house = prepareHouse((peer) => {
      if (speaks) peer.write("up\n");
    }, { command: "npx", args: ["-y", "weather"] });
    const spawning = outcomeOf(house.spawn());
    await house.clock.advance(59_999);
    assert.equal(await stateOf(spawning), "pending");
    await house.clock.advance(1);
    const { error } = await spawning;
    assert.equal(/; npx may still be installing it/.test(error!.message), !speaks, error!.message);
  }
});
