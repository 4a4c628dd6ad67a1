import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { outcomeOf } from "./_client_peer.ts";
import { Script, type Step } from "./_scripted_server.ts";
import { waitUntil } from "./helpers.ts";
import { SLOW } from "./runtime_adapter/harness.ts";

const WELCOME =
  `{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"old","version":"1"}}}\n`;
const HELLO_LATE =
  `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}\n`;
const refusal = (code: number) => `{"jsonrpc":"2.0","id":$id,"error":{"code":${code},"message":"no"}}\n`;

/** Only who must run into it gets a probe time that a busy machine could use up. */
const SOON_MS = 600;

/** Servers of both eras in their own ways, and what comes of it. */
const SERVERS: ReadonlyArray<
  [what: string, steps: Step[], era: string, methods: string[], probeTimeoutMs?: number]
> = [
  ["a modern server (E1)", [], "modern", ["server/discover"]],
  ["a legacy server (E1)", [{ serve: "legacy" }], "legacy", [
    "server/discover",
    "initialize",
    "notifications/initialized",
  ]],
  [
    "a silent legacy server, and its late answer does no harm (E1, B137)",
    [{ on: "initialize" }, { write: WELCOME }, { sleep: 100 }, { write: HELLO_LATE }, { serve: "legacy" }],
    "legacy",
    ["server/discover", "initialize", "notifications/initialized"],
    SOON_MS,
  ],
  [
    "a legacy server that logs a quarter of a megabyte about the probe (E1, B141)",
    [{ on: "server/discover" }, { stderr: "$x65536", times: 4 }, { write: refusal(-32000) }, {
      serve: "legacy",
    }],
    "legacy",
    ["server/discover", "initialize", "notifications/initialized"],
  ],
  [
    "a server that prints before it answers (E1, B91)",
    [{ write: "loading…\n[1,2]\n" }],
    "modern",
    ["server/discover"],
  ],
  [
    "a modern server that starts slowly (E3, B142)",
    [{ sleep: 2 * SOON_MS }],
    "modern",
    ["server/discover", "initialize"],
    SOON_MS,
  ],
];

for (const [what, steps, era, methods, probeTimeoutMs = 30_000] of SERVERS) {
  test(`spawn() comes to terms with ${what}`, SLOW, async (t) => {
    const script = new Script(t, steps);
    const client = await script.spawn(t, { probeTimeoutMs, connectTimeoutMs: 60_000 });
    await client.request("tools/list");
    assert.equal(client.era, era);
    assert.equal(script.starts, 1);
    assert.deepEqual(script.methods(0), [...methods, "tools/list"]);
    assert.equal(client.pid, script.pids[0]); // Neither killed nor doubled for the probe (E2).
    await client.close();
  });
}

test("spawn() falls back whatever the code of the error is (E1, B138)", SLOW, async (t) => {
  await Promise.all([-32601, -32602, -32600, -32603, -32700, -32000, 0, 1].map(async (code) => {
    const script = new Script(t, [{ on: "server/discover" }, { write: refusal(code) }, { serve: "legacy" }]);
    const client = await script.spawn(t);
    assert.equal(client.era, "legacy", String(code));
    await client.close();
  }));
});

test("spawn() does not fall back on a modern error (E1, B138)", SLOW, async (t) => {
  const refused =
    `{"jsonrpc":"2.0","id":$id,"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}}\n`;
  const script = new Script(t, [{ on: "server/discover" }, { write: refused }, { stay: true }]);
  const { error } = await outcomeOf(script.spawn(t, { shutdownGraceMs: 100 }));
  assert.deepEqual([error?.code, error?.supported], ["unsupported_version", ["2027-01-01"]]);
  assert.deepEqual(script.methods(0), ["server/discover"]);
});

test(
  "spawn() starts a server once more that exits on the probe, and never probes it again (E2, E4, B139)",
  SLOW,
  async (t) => {
    const script = new Script(t, [{ on: "*" }, { exit: 1 }], [{ serve: "legacy" }]);
    const client = await script.spawn(t);
    assert.deepEqual([client.era, client.restartCount, script.starts], ["legacy", 0, 2]);
    for (const run of [1, 2]) {
      await script.until(`run ${run} was greeted`, () => script.methods(run).length >= 2);
      assert.deepEqual(script.methods(run).slice(0, 2), ["initialize", "notifications/initialized"]);
      if (run === 2) break;
      process.kill(client.pid!, "SIGKILL");
      await waitUntil(() => client.restartCount === 1 && client.state === "ready", { timeoutMs: 30_000 });
    }
    assert.equal(script.starts, 3);
    await client.close();
  },
);
