import assert from "node:assert/strict";
import { test } from "node:test";
import { NegotiationError } from "../errors.ts";
import {
  EndedEarly,
  negotiate,
  type NegotiationSettings,
  type Peer as Found,
} from "../internal/client/negotiate.ts";
import { createDeferred } from "../internal/promises.ts";
import type { ProbeOutcome } from "../internal/era.ts";
import { FakeClock } from "../testing.ts";
import { DISCOVERED, INITIALIZED, outcomeOf, settle } from "./_client_peer.ts";

type Step = string | [method: string, version: unknown];

/** What a server makes of each question: an outcome, the same after a while, or nothing. */
type Answers = { readonly [method: string]: ReadonlyArray<ProbeOutcome | [afterMs: number, ProbeOutcome]> };

const result = (value: object): ProbeOutcome => ({
  kind: "result",
  result: value as Record<string, unknown>,
});
const error = (code: number, data?: unknown): ProbeOutcome => ({
  kind: "error",
  error: { code, message: `E${code}`, data },
});
const ENDED: ProbeOutcome = { kind: "ended" };
const HELLO = result(DISCOVERED);
const WELCOME = result(INITIALIZED);

/** Negotiates with a server of these answers while time passes. */
async function run(
  answers: Answers,
  { signAtMs, lasts = 60_000, ...settings }: Partial<NegotiationSettings> & {
    signAtMs?: number;
    lasts?: number;
  } = {},
): Promise<{ peer?: Found; error?: Error; steps: Step[]; tookMs: number; timers: number }> {
  const clock = new FakeClock();
  const steps: Step[] = [];
  const asked = new Map<string, number>();
  const sign = createDeferred();
  if (signAtMs !== undefined) clock.setTimeout(() => sign.resolve(), signAtMs);
  let tookMs = -1;
  const negotiation = outcomeOf(negotiate({
    firstSign: sign.promise,
    tell: (method) => void steps.push(method),
    ask: (method, params) => {
      const meta = params._meta as { [key: string]: unknown } | undefined;
      steps.push([method, params.protocolVersion ?? meta?.["io.modelcontextprotocol/protocolVersion"]]);
      const count = asked.get(method) ?? 0;
      asked.set(method, count + 1);
      const answer = answers[method]?.[count];
      if (answer === undefined) return new Promise(() => {});
      if (!Array.isArray(answer)) return Promise.resolve(answer as ProbeOutcome);
      const [afterMs, outcome] = answer as [number, ProbeOutcome];
      return new Promise((resolve) => void clock.setTimeout(() => resolve(outcome), afterMs));
    },
  }, {
    era: "auto",
    probeTimeoutMs: 10_000,
    meta: { mine: true },
    handshake: { clientInfo: { name: "c", version: "1" } },
    clock,
    shown: () => "",
    ...settings,
  })).then((outcome) => {
    tookMs = clock.now();
    return outcome;
  });
  await clock.advance(lasts);
  await settle();
  const { value, error } = tookMs < 0 ? {} as { value?: Found; error?: Error } : await negotiation;
  return {
    ...(value && { peer: value }),
    ...(error && { error }),
    steps,
    tookMs,
    timers: clock.pendingTimers,
  };
}

const DISCOVER: Step = ["server/discover", "2026-07-28"];
const INITIALIZE: Step = ["initialize", "2025-11-25"];
const FALL_BACK: Step[] = [DISCOVER, INITIALIZE, "notifications/initialized"];

const MEETINGS: ReadonlyArray<
  [
    what: string,
    answers: Answers,
    options: Parameters<typeof run>[1],
    era: string,
    steps: Step[],
    tookMs: number,
  ]
> = [
  ["a modern server (E1)", { "server/discover": [HELLO] }, {}, "modern", [DISCOVER], 0],
  [
    "a legacy server that refuses the probe (E1)",
    { "server/discover": [error(-32601)], "initialize": [WELCOME] },
    {},
    "legacy",
    FALL_BACK,
    0,
  ],
  [
    "a legacy server that answers the probe with anything (E1)",
    { "server/discover": [result({})], "initialize": [WELCOME] },
    {},
    "legacy",
    FALL_BACK,
    0,
  ],
  [
    "a legacy server that answers the probe with what cannot be read (E1)",
    { "server/discover": [{ kind: "invalid", reason: "x" }], "initialize": [WELCOME] },
    {},
    "legacy",
    FALL_BACK,
    0,
  ],
  ["a silent legacy server (E1, B137)", { "initialize": [WELCOME] }, {}, "legacy", FALL_BACK, 10_000],
  [
    "a silent legacy server, in its own time (E1, B137)",
    { "initialize": [WELCOME] },
    { probeTimeoutMs: 300 },
    "legacy",
    FALL_BACK,
    300,
  ],
  [
    "a slow starter that shows a sign of life (E3)",
    { "server/discover": [[15_000, HELLO]] },
    { signAtMs: 9_000 },
    "modern",
    [DISCOVER],
    15_000,
  ],
  [
    "a silent server from its sign of life on (E3)",
    { "initialize": [WELCOME] },
    { signAtMs: 9_000 },
    "legacy",
    FALL_BACK,
    19_000,
  ],
  [
    "a modern server that answers the probe late (E3, B142)",
    { "server/discover": [[12_000, HELLO]] },
    {},
    "modern",
    [DISCOVER, INITIALIZE],
    12_000,
  ],
  [
    "a server of both eras that answers both in one breath: the probe wins (E3)",
    { "server/discover": [[12_000, HELLO]], "initialize": [[2_000, WELCOME]] },
    {},
    "modern",
    [DISCOVER, INITIALIZE],
    12_000,
  ],
  [
    "a legacy server that answers both late (E3)",
    { "server/discover": [[12_000, error(-32601)]], "initialize": [[3_000, WELCOME]] },
    {},
    "legacy",
    FALL_BACK,
    13_000,
  ],
  [
    "a modern server that refuses initialize, and is probed again (E3, S2-59)",
    {
      "server/discover": [[40_000, HELLO], HELLO],
      "initialize": [error(-32022, { supported: ["2026-07-28"] })],
    },
    {},
    "modern",
    [DISCOVER, INITIALIZE, DISCOVER],
    10_000,
  ],
  [
    "a modern server that refuses the probe late, and names a revision that both speak (E3)",
    { "server/discover": [[12_000, error(-32022, { supported: ["2026-07-28"] })], HELLO] },
    {},
    "modern",
    [DISCOVER, INITIALIZE, DISCOVER],
    12_000,
  ],
  ["a modern server by its error (E1)", { "server/discover": [error(-32021)] }, {}, "modern", [DISCOVER], 0],
  [
    "a legacy server without a probe (E4)",
    { "initialize": [WELCOME] },
    { era: "legacy" },
    "legacy",
    [INITIALIZE, "notifications/initialized"],
    0,
  ],
  [
    "a slow modern server, for as long as it takes (E4)",
    { "server/discover": [[30_000, HELLO]] },
    { era: "modern" },
    "modern",
    [DISCOVER],
    30_000,
  ],
];

for (const [what, answers, options, era, steps, tookMs] of MEETINGS) {
  test(`negotiate() comes to terms with ${what}`, async () => {
    const found = await run(answers, options);
    assert.equal(found.peer?.era, era, String(found.error));
    assert.deepEqual(found.steps, steps);
    assert.equal(found.tookMs, tookMs);
  });
}

test("negotiate() carries the facts of the client in both ways of asking (E1)", async () => {
  const asked: unknown[] = [];
  await negotiate({
    firstSign: new Promise(() => {}),
    tell: () => {},
    ask: (method, params) => {
      asked.push(params);
      return Promise.resolve(method === "initialize" ? WELCOME : error(-1));
    },
  }, {
    era: "auto",
    probeTimeoutMs: 1,
    meta: { a: 1 },
    handshake: { b: 2 },
    clock: new FakeClock(),
    shown: () => "",
  });
  assert.deepEqual(asked, [
    { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", a: 1 } },
    { protocolVersion: "2025-11-25", b: 2 },
  ]);
});

test("negotiate() leaves no timer, whoever wins", async () => {
  for (const [, answers, options] of MEETINGS) {
    const { timers } = await run(answers, options);
    assert.equal(timers, 0);
  }
});

test("negotiate() leaves no timer when the probe cannot be written (C9)", async () => {
  const clock = new FakeClock();
  const failing = negotiate({
    firstSign: new Promise(() => {}),
    tell: () => {},
    ask: () => Promise.reject(new Error("too long")),
  }, { era: "auto", probeTimeoutMs: 10_000, meta: {}, handshake: {}, shown: () => "", clock });
  await assert.rejects(failing, /too long/);
  assert.equal(clock.pendingTimers, 0);
});

test("negotiate() speaks each of the legacy revisions, and no other (E1)", async () => {
  for (const protocolVersion of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
    const { peer } = await run({ "initialize": [result({ ...INITIALIZED, protocolVersion })] }, {
      era: "legacy",
    });
    assert.equal(peer?.protocolVersion, protocolVersion);
  }
  for (const protocolVersion of ["2026-07-28", "1999-01-01", undefined, 7]) {
    const { error } = await run({ "initialize": [result({ ...INITIALIZED, protocolVersion })] }, {
      era: "legacy",
    });
    assert.ok(error instanceof NegotiationError && error.code === "unsupported_version", String(error));
  }
});

test("negotiate() never falls back on a modern error, and names both lists (E1)", async () => {
  const { error: thrown, steps } = await run({
    "server/discover": [error(-32022, { supported: ["2027-01-01"] })],
    "initialize": [WELCOME],
  });
  assert.ok(thrown instanceof NegotiationError);
  assert.deepEqual([thrown.code, thrown.supported, thrown.requested], [
    "unsupported_version",
    ["2027-01-01"],
    ["2026-07-28"],
  ]);
  assert.match(thrown.message, /2027-01-01.*2026-07-28/);
  assert.deepEqual(steps, [DISCOVER]);
});

test("negotiate() takes a late modern refusal for the last word, and waits for no answer to initialize (E3)", async () => {
  const { error: thrown, tookMs } = await run({
    "server/discover": [[12_000, error(-32022, { supported: ["2099-12-31"] })]],
  });
  assert.ok(thrown instanceof NegotiationError);
  assert.deepEqual([thrown.code, thrown.supported], ["unsupported_version", ["2099-12-31"]]);
  assert.equal(tookMs, 12_000);
});

test("negotiate() keeps both errors when both ways fail (E4)", async () => {
  const { error: thrown } = await run({ "server/discover": [error(-32601)], "initialize": [error(-32000)] });
  assert.ok(thrown instanceof NegotiationError);
  assert.equal(thrown.phase, "handshake");
  assert.match(String(thrown.probeError), /E-32601/);
  assert.match(String(thrown.handshakeError), /E-32000/);
  // The other way round: a refusal of `initialize` led back to the probe.
  const back = await run({
    "server/discover": [[40_000, HELLO], error(-32601)],
    "initialize": [error(-32022)],
  });
  assert.ok(back.error instanceof NegotiationError);
  assert.match(String(back.error.probeError), /E-32601/);
  assert.match(String(back.error.handshakeError), /E-32022/);
});

test("negotiate() refuses a legacy server that is asked to be modern (E4, S2-58)", async () => {
  const { error: thrown, steps } = await run({ "server/discover": [error(-32601)] }, { era: "modern" });
  assert.ok(thrown instanceof NegotiationError && thrown.code === "negotiation_failed");
  assert.match(String(thrown.probeError), /E-32601/);
  assert.deepEqual(steps, [DISCOVER]);
});

const ENDS: ReadonlyArray<
  [what: string, answers: Answers, options: Parameters<typeof run>[1], phase: string, probed: boolean]
> = [
  ["at the probe", { "server/discover": [ENDED] }, {}, "probe", true],
  [
    "behind its answer to the probe (B45)",
    { "server/discover": [error(-1)], "initialize": [ENDED] },
    {},
    "handshake",
    true,
  ],
  [
    "at the probe, late",
    { "server/discover": [[12_000, ENDED]], "initialize": [[2_000, ENDED]] },
    {},
    "handshake",
    true,
  ],
  ["at initialize, without a probe", { "initialize": [ENDED] }, { era: "legacy" }, "handshake", false],
];

for (const [what, answers, options, phase, probed] of ENDS) {
  test(`negotiate() tells of a server that ends ${what} (E2)`, async () => {
    const { error: thrown } = await run(answers, options);
    assert.ok(thrown instanceof EndedEarly, String(thrown));
    assert.deepEqual([thrown.phase, thrown.probed], [phase, probed]);
  });
}
