import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "../client.ts";
import { NegotiationError, ProcessError } from "../errors.ts";
import { DISCOVERED, inhabit, INITIALIZED, outcomeOf, type Peer, prepareHouse } from "./_client_peer.ts";
import { stateOf, waitUntil } from "./helpers.ts";

test("Client starts a server once more that exits on the probe, and remembers (E2, E4, B139)", async () => {
  const live = async (peer: Peer, process: { exit(status: { code: number }): void }) => {
    await Promise.resolve();
    peer.take().then((first) => {
      if (first.method !== "initialize") return process.exit({ code: 1 });
      peer.answer(first, INITIALIZED);
    });
  };
  const { client, peers, runtime, clock, log } = await inhabit(live);
  assert.deepEqual([client.era, client.restartCount, peers.length, client.state], ["legacy", 0, 2, "ready"]);
  assert.deepEqual(peers.map(({ received }) => received[0]!.method), ["server/discover", "initialize"]);
  assert.deepEqual(log.of("warn"), []);
  runtime.processes[1]!.exit({ code: 0 });
  await clock.advance(1_000);
  assert.deepEqual(peers[2]!.methods, ["initialize", "notifications/initialized"]);
  await client.close();
});

const EARLY_ENDS: ReadonlyArray<
  [what: string, live: (peer: Peer, exit: () => void) => Promise<void>, spawns: number, phase: string]
> = [
  [
    "on anything",
    async (peer, exit) => {
      await peer.take();
      exit();
    },
    2,
    "handshake",
  ],
  ["at once", (_peer, exit) => Promise.resolve(exit()), 2, "handshake"],
  [
    "behind its answer to the probe",
    async (peer, exit) => {
      const first = await peer.take();
      if (first.method === "server/discover") peer.refuse(first, -32601);
      exit();
    },
    2,
    "handshake",
  ],
];

for (const [what, live, spawns, phase] of EARLY_ENDS) {
  test(`spawn() says what a server left behind that exits ${what} (E2, P10, B79, B147)`, async () => {
    const house = prepareHouse((peer, process) => {
      live(peer, async () => {
        await process.writeStderr("starting\nmissing API key\n");
        process.exit({ code: 78 });
      });
    }, { command: "npx", args: ["-y", "some server"], env: { TOKEN: "secret" }, stderr: "capture" });
    const spawning = outcomeOf(house.spawn());
    await house.clock.advance(1_000);
    const { error } = await spawning;
    assert.ok(error instanceof ProcessError, String(error));
    assert.deepEqual([error.code, error.exit, error.stderrTail], [
      "exited_early",
      { code: 78 },
      "starting\nmissing API key\n",
    ]);
    assert.equal(
      error.message,
      `Cannot use the server TOKEN=… npx -y 'some server': it exited before answering the ${phase}, with code 78; ` +
        "its stderr says: starting | missing API key",
    );
    assert.equal(house.runtime.processes.length, spawns);
    assert.equal(house.clock.pendingTimers, 0);
  });
}

test("spawn() tells a server that ends its output and stays from one that exits (P10, B79)", async () => {
  const house = prepareHouse((_peer, process) => {
    process.ignoresEndOfInput = true;
    process.closeStdout();
  }, { era: "legacy" });
  const spawning = outcomeOf(house.spawn());
  await house.clock.advance(10_000);
  const { error } = await spawning;
  assert.equal(
    error?.message,
    "Cannot use the server server: it ended its output before answering the handshake, and stayed",
  );
  assert.deepEqual([error.code, error.exit], ["exited_early", { signal: "SIGTERM" }]);
});

test("spawn() does not start a server twice that exits without having been probed (E2)", async () => {
  const house = prepareHouse((_peer, process) => process.exit({ code: 1 }), { era: "legacy" });
  const spawning = outcomeOf(house.spawn());
  await house.clock.advance(1_000);
  assert.equal((await spawning).error?.code, "exited_early");
  assert.equal(house.runtime.processes.length, 1);
});

test("spawn() tells which phase took too long, how long, and what stderr said (C7, E5, B70, B72)", async () => {
  const cases: ReadonlyArray<[phase: string, options: { era?: "modern" | "legacy" }]> = [
    ["probe", { era: "modern" }],
    ["handshake", {}],
    ["handshake", { era: "legacy" }],
  ];
  for (const [phase, options] of cases) {
    const house = prepareHouse((_peer, process) => process.writeStderr("warming up\n"), {
      stderr: "capture",
      connectTimeoutMs: 30_000,
      timeoutMs: 5,
      ...options,
    });
    const spawning = outcomeOf(house.spawn());
    await house.clock.advance(29_999);
    assert.equal(await stateOf(spawning), "pending");
    await house.clock.advance(1);
    const { error } = await spawning;
    assert.ok(error instanceof NegotiationError);
    assert.deepEqual([error.code, error.phase, error.stderrTail], [
      "negotiation_timeout",
      phase,
      "warming up\n",
    ]);
    assert.equal(
      error.message,
      `Cannot use the server server: no answer to the ${phase} within 30000 ms; its stderr says: warming up`,
    );
    // Nothing of the greeting was cancelled or made again, and the process is gone.
    const asked = phase === "probe"
      ? ["server/discover"]
      : options.era === undefined
      ? ["server/discover", "initialize"]
      : ["initialize"];
    assert.deepEqual(house.peers[0]!.methods, asked);
    assert.ok(house.runtime.processes.every(({ ended }) => ended));
    assert.deepEqual(house.states.filter((state) => state === "ready"), []);
    assert.equal(house.clock.pendingTimers, 0);
  }
});

test("spawn() recognises Content-Length framing and names it in the error (C6)", async () => {
  const house = prepareHouse((peer) => {
    const body = `{"jsonrpc":"2.0","id":0,"result":{}}`;
    peer.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  }, { connectTimeoutMs: 20_000 });
  const spawning = outcomeOf(house.spawn());
  await house.clock.advance(20_000);
  assert.match((await spawning).error!.message, /Content-Length headers/);
});

test("spawn() lets a slow starter take its time from its first sign of life on, also on stderr (E3, B142)", async () => {
  const house = prepareHouse(undefined, { stderr: "capture" });
  const spawning = house.spawn();
  await house.clock.advance(0);
  // `prepareHouse()` greets at once by default; this one takes 18 s, and says something after 9.
  await spawning.then((client: Client) => client.close());
  const slow = prepareHouse(() => {}, { stderr: "capture" });
  const connecting = slow.spawn();
  await slow.clock.advance(9_000);
  await slow.runtime.processes[0]!.writeStderr("npm warn exec downloading\n");
  await slow.clock.advance(9_000);
  await slow.peers[0]!.discover();
  const client = await connecting;
  assert.deepEqual([client.era, slow.peers[0]!.methods], ["modern", ["server/discover"]]);
  await client.close();
});

test("spawn() takes a server for modern that answers the probe and initialize in one breath (E3)", async () => {
  const house = prepareHouse(() => {});
  const spawning = house.spawn();
  await house.clock.advance(10_000);
  const [peer] = house.peers;
  const [discover, initialize] = [await peer!.take("server/discover"), await peer!.take("initialize")];
  peer!.send({ id: discover.id, result: DISCOVERED }, { id: initialize.id, result: INITIALIZED });
  const client = await spawning;
  assert.equal(client.era, "modern");
  assert.ok(!peer!.methods.includes("notifications/initialized"));
  await client.close();
});

test("Client greets a restarted server anew that is not what it was (E4)", async () => {
  const { client, peers, runtime, clock } = await inhabit((peer, _process, index) => {
    if (index === 0) return void peer.discover();
    (async () => {
      // Was replaced by one that speaks legacy revisions only, but knows the error.
      peer.refuse(await peer.take("tools/list"), -32022, "Unsupported protocol version", {
        supported: ["2025-11-25"],
      });
      peer.answer(await peer.take("server/discover"), { ...DISCOVERED, supportedVersions: ["2025-11-25"] });
      peer.answer(await peer.take("initialize"), INITIALIZED);
      const again = await peer.take("tools/list");
      assert.equal(again.params, undefined);
      peer.answer(again, { tools: [] });
    })();
  });
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  assert.deepEqual((await client.request("tools/list")).tools, []);
  assert.deepEqual([client.era, client.restartCount, peers.length], ["legacy", 1, 2]);
  await client.close();
});

test("Client probes a legacy server anew whose greeting fails after a restart (E4)", async () => {
  const { client, peers, runtime, clock } = await inhabit((peer, _process, index) => {
    if (index === 0) return void peer.initialize();
    (async () => {
      peer.refuse(await peer.take("initialize"), -32601, "Only modern");
      await peer.discover();
    })();
  });
  assert.equal(client.era, "legacy");
  runtime.processes[0]!.exit({ code: 1 });
  await clock.advance(1_000);
  await waitUntil(() => client.state === "ready");
  assert.equal(client.era, "modern");
  assert.deepEqual(peers[1]!.methods, ["initialize", "server/discover"]);
  await client.close();
});

test("Client gives an error -32022 of a server that was asked to its caller (E4)", async () => {
  const { client, peers } = await inhabit();
  const call = outcomeOf(client.request("tools/list"));
  peers[0]!.refuse(await peers[0]!.take("tools/list"), -32022, "odd");
  assert.equal((await call).error?.code, -32022);
  await client.close();
});

/** A server that takes the first message for its handshake, and refuses another. */
async function sharesOneSession(peer: Peer, refusal: { code: number; message: string }): Promise<void> {
  const first = await peer.takeRequest();
  if (first.method === "initialize") return peer.answer(first, INITIALIZED);
  peer.refuse(first, -32601, "Method not found");
  peer.refuse(await peer.takeRequest("initialize"), refusal.code, refusal.message);
}

const REFUSALS = [
  { code: -32600, message: "Invalid Request: Server already initialized" },
  { code: -32000, message: "Session was already initialised" },
  { code: -32600, message: "Bad Request" },
];

for (const refusal of REFUSALS) {
  test(`Client starts a server once more that refuses initialize with "${refusal.message}" after the probe (XB2, E2)`, async () => {
    const { client, peers, clock, runtime } = await inhabit((peer) => void sharesOneSession(peer, refusal));
    assert.deepEqual([client.era, client.restartCount, client.state], ["legacy", 0, "ready"]);
    assert.deepEqual(peers.map(({ methods }) => methods), [
      ["server/discover", "initialize"],
      ["initialize", "notifications/initialized"],
    ]);
    // After a crash it is not probed again.
    runtime.processes[1]!.exit({ code: 1 });
    await clock.advance(1_000);
    assert.deepEqual(peers[2]!.methods, ["initialize", "notifications/initialized"]);
    await client.close();
  });
}

test("Client starts no server twice that refuses initialize for a reason of its own, or without a probe (E2)", async () => {
  const cases = [
    { era: "auto", code: -32603, message: "GITHUB_TOKEN is not set" },
    { era: "legacy", code: -32600, message: "Server already initialized" },
  ] as const;
  for (const { era, code, message } of cases) {
    const house = prepareHouse(async (peer) => {
      await Promise.resolve();
      peer.take("server/discover").then((probe) => peer.refuse(probe, -32601), () => {});
      peer.take("initialize").then((request) => peer.refuse(request, code, message));
    }, { era });
    const { error } = await outcomeOf(house.spawn());
    assert.ok(error instanceof NegotiationError && error.message.includes(message), String(error));
    assert.equal(house.runtime.processes.length, 1);
  }
});

test("Client tells the refusal of a server that refuses initialize also when it was not probed (XB2, E2)", async () => {
  const house = prepareHouse((peer) => {
    peer.take("server/discover").then((probe) => peer.refuse(probe, -32601), () => {});
    peer.take("initialize").then((request) => peer.refuse(request, -32600, "no session left"));
  });
  const { error } = await outcomeOf(house.spawn());
  assert.ok(error instanceof NegotiationError && /no session left/.test(error.message), String(error));
  assert.equal(house.runtime.processes.length, 2);
});

const STRAY = ["hello", "building 10%\rbuilding 100%\u001b[2K\r", "\u0007"];

for (const text of STRAY) {
  test(`Client asks a server again whose first answer stands behind ${JSON.stringify(text)} (XB5, C6)`, async () => {
    for (const era of ["auto", "modern", "legacy"] as const) {
      const { client, peers, clock } = await inhabit(async (peer) => {
        await Promise.resolve();
        (async () => {
          const method = era === "legacy" ? "initialize" : "server/discover";
          const result = era === "legacy" ? INITIALIZED : DISCOVERED;
          const { id } = await peer.takeRequest(method);
          peer.write(`${text}${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
          peer.answer(await peer.takeRequest(method), result);
        })();
      }, { era });
      assert.equal(clock.now(), 0, "no time has passed");
      assert.equal(client.era, era === "legacy" ? "legacy" : "modern");
      assert.equal(peers.length, 1);
      await client.close();
    }
  });
}

test("Client asks a server again once only that answers with what cannot be read (XB5, E1)", async () => {
  const { client, peers, clock } = await inhabit(async (peer) => {
    await Promise.resolve();
    (async () => {
      for (let asked = 0; asked < 2; asked++) {
        const { id } = await peer.takeRequest("server/discover");
        peer.write(`hello {"jsonrpc":"2.0","id":${id},"result":{}}\n`);
      }
      await peer.initialize();
    })();
  });
  assert.deepEqual([client.era, clock.now()], ["legacy", 0]);
  assert.deepEqual(peers[0]!.methods, [
    "server/discover",
    "server/discover",
    "initialize",
    "notifications/initialized",
  ]);
  await client.close();
});

test("Client takes a server for legacy at once that answers its probe without an id (XB1, C5)", async () => {
  const { client, peers, clock } = await inhabit(async (peer) => {
    await Promise.resolve();
    (async () => {
      await peer.take("server/discover");
      peer.send({ id: null, error: { code: -32601, message: "Method not found" } });
      await peer.initialize();
    })();
  });
  assert.deepEqual([client.era, clock.now(), peers.length], ["legacy", 0, 1]);
  await client.close();
});
