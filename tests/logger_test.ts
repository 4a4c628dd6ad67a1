// Loggers: the one that writes to stderr, the wrapper that nothing comes through, and the count of what is repeated.
import assert from "node:assert/strict";
import { test } from "node:test";
import { flushLogger, RepeatedLines, toSafeLogger } from "../internal/safe_logger.ts";
import { writeLinesBy } from "../internal/stderr_line.ts";
import { stderrLogger } from "../logger.ts";
import { Server } from "../server.ts";
import { createStreamPair, FakeClock } from "../testing.ts";
import { createLog, inhabit, meet, Peer, settle } from "./_client_peer.ts";
import { countTold, heldBytes, showUnhandledRejections } from "./helpers.ts";

/** Lines that were said, and the counter that says them. */
function count(): { lines: RepeatedLines; said: string[]; facts: unknown[]; clock: FakeClock } {
  const said: string[] = [];
  const facts: unknown[] = [];
  const clock = new FakeClock();
  const lines = new RepeatedLines((level, message, details) => {
    said.push(`${level} ${message}`);
    facts.push(...details);
  }, clock);
  return { lines, said, facts, clock };
}

test("RepeatedLines says a line once and counts the equal ones (XB14, XF20)", async () => {
  const { lines, said, facts, clock } = count();
  for (let index = 0; index < 400_000; index++) lines.add("warn", "dropped", [{ id: "none" }]);
  assert.deepEqual(said, ["warn dropped"]);
  await clock.advance(1_000);
  assert.deepEqual(said, ["warn dropped", "warn dropped (and 399999 more)"]);
  assert.deepEqual(facts, [{ id: "none" }, { id: "none" }]);
  assert.equal(clock.pendingTimers, 0);
});

test("RepeatedLines tells lines apart by level, text and facts (XB14)", () => {
  const { lines, said } = count();
  for (let round = 0; round < 2; round++) {
    lines.add("warn", "a", []);
    lines.add("error", "a", []);
    lines.add("warn", "b", []);
    lines.add("warn", "a", [{ id: 1 }]);
    lines.add("warn", "a", [{ id: 2 }]);
    lines.add("warn", "a", [{ error: new Error("x") }]);
    lines.add("warn", "a", [{ error: new Error("y") }]);
  }
  assert.equal(said.length, 7);
  lines.flush();
  assert.equal(said.length, 14);
  assert.equal(countTold(said), 14);
});

test("RepeatedLines says what comes now and then less and less often (XF20)", async () => {
  const { lines, said, clock } = count();
  let came = 0;
  for (; came < 60; came++) {
    lines.add("warn", "stray", []);
    await clock.advance(10_000);
  }
  assert.ok(said.length < 14, `${said.length} lines`);
  lines.flush();
  assert.equal(countTold(said), came);
  assert.equal(said[1], "warn stray"); // One that comes alone has no count.
  assert.match(said.at(-1)!, / more\)$/);
});

test("RepeatedLines takes a line for new that has not come for a minute", async () => {
  const { lines, said, clock } = count();
  lines.add("warn", "a", []);
  lines.add("warn", "a", []);
  await clock.advance(2_000);
  await clock.advance(60_000);
  lines.add("warn", "a", []);
  lines.add("warn", "a", []);
  await clock.advance(1_000);
  assert.deepEqual(said, ["warn a", "warn a (and 1 more)", "warn a", "warn a (and 1 more)"]);
});

test("RepeatedLines says 20 different lines in a second and how many it has left out (XB14)", async () => {
  const { lines, said, clock } = count();
  for (let index = 0; index < 5_000; index++) lines.add("warn", `line ${index}`, []);
  assert.equal(said.length, 20);
  await clock.advance(1_000);
  assert.deepEqual(said.slice(20), ["warn [mcp_stdio] left out 4980 other warnings"]);
  lines.add("warn", "line 4000", []);
  assert.equal(said.at(-1), "warn line 4000");
  assert.equal(clock.pendingTimers, 0);
});

test("RepeatedLines keeps nothing of what it was told but a bounded number of texts", async () => {
  const clock = new FakeClock();
  const lines = new RepeatedLines(() => {}, clock);
  const before = await heldBytes();
  for (let index = 0; index < 60; index++) {
    const cause = new Uint8Array(1_048_576).fill(1);
    lines.add("warn", `${index}`.padEnd(20_000), [{ error: new Error("x", { cause }) }]);
    await clock.advance(100);
  }
  const held = await heldBytes() - before;
  assert.ok(held < 4_194_304, `${held} bytes are held`);
  lines.flush();
});

test("RepeatedLines.flush() tells what is left, and leaves no timer", () => {
  const { lines, said, clock } = count();
  lines.add("error", "a", []);
  lines.flush();
  assert.deepEqual(said, ["error a"]);
  for (let index = 0; index < 30; index++) lines.add("warn", `b${index % 25}`, []);
  lines.flush();
  assert.equal(clock.pendingTimers, 0);
  assert.equal(countTold(said.filter((line) => line.startsWith("warn b"))), 24);
  assert.equal(said.at(-1), "warn [mcp_stdio] left out 6 other warnings");
});

/** Values that do something when they are looked at. */
function hostileValues(): unknown[] {
  const fail = (): never => {
    throw new Error("looked at");
  };
  const hostile: unknown = new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail });
  return [
    hostile,
    { a: hostile },
    {
      get a(): unknown {
        return fail();
      },
    },
    { a: { toString: fail } },
    { a: Symbol("a"), b: 5n, c: Object.create(null) },
    Object.defineProperty(new Error("x"), "message", { get: fail }),
    { error: Object.defineProperty(new Error("x"), "stack", { get: fail }) },
    { error: new Error("y".repeat(1_000_000)) },
  ];
}

test("A safe logger lets nothing through that a logger does, or the facts do (XA6)", async () => {
  const throwing = (): never => {
    throw new Error("the disk is full");
  };
  const rejecting = (): Promise<void> => Promise.reject(new Error("the disk is full"));
  const odd = (): unknown => ({
    get then(): unknown {
      return throwing();
    },
  });
  for (const said of [throwing, rejecting, odd as () => void]) {
    const logger = toSafeLogger({ debug: said, info: said, warn: said, error: said }, new FakeClock());
    for (const level of ["debug", "info", "warn", "error"] as const) {
      logger[level]("a");
      for (const value of hostileValues()) logger[level]("a", value);
    }
    flushLogger(logger);
  }
  await showUnhandledRejections();
});

test("stderrLogger writes one line of bounded length, whatever the facts do", () => {
  const written: string[] = [];
  writeLinesBy((text) => void written.push(text));
  try {
    for (const value of hostileValues()) stderrLogger.warn("[mcp_stdio] a\nb", value);
    stderrLogger.error("c", { id: 5, error: "d\r\ne" });
  } finally {
    // deno-lint-ignore no-console -- where the lines go until a runtime has been found
    writeLinesBy((text) => console.error(text.trimEnd()));
  }
  assert.equal(written.length, hostileValues().length + 1);
  assert.ok(written.every((text) => text.indexOf("\n") === text.length - 1 && text.length < 20_000));
  assert.equal(written.at(-1), "error: c id=5 error=d e\n");
});

test("Client tells a flood of bad lines in a few lines, at the latest when it is closed (XB14, S1-70)", async () => {
  const { client, peer, log } = await meet();
  const call = client.request("tools/list");
  const request = await peer.take("tools/list");
  peer.write("x\n".repeat(80_000));
  peer.write(`[{"jsonrpc":"2.0","method":"x"}${",1".repeat(400_000)}]\n`);
  peer.answer(request);
  await call;
  assert.ok(log.of("warn").length <= 3, log.of("warn").join("\n"));
  await client.close();
  assert.equal(countTold(log.of("warn")), 80_001);
});

test("Server tells a flood of bad lines in a few lines, at the latest when it ends (XB14)", async () => {
  const log = createLog();
  const [here, there] = createStreamPair();
  const server = new Server({
    info: { name: "test", version: "1" },
    logger: log.logger,
    clock: new FakeClock(),
  });
  const running = server.run(there);
  const peer = new Peer(here);
  peer.write('{"jsonrpc":"2.0","id":1,"result":{}}\n'.repeat(5_000));
  peer.end();
  await running;
  assert.ok(log.of("warn").length <= 3);
  assert.equal(countTold(log.of("warn")), 5_000);
});

test("spawn() names the server in its warnings, without its secrets (XF20, XD5)", async () => {
  const { client, peers, log } = await inhabit(undefined, {
    command: "npx",
    args: ["-y", "some-server", "--api-key=sk-abcdefabcdef"],
    env: { TOKEN: "secret" },
  });
  peers[0]!.write("stray\n");
  await settle();
  const { facts } = log.lines.find(({ level }) => level === "warn")!;
  assert.match(String(facts.server), /npx -y some-server/);
  assert.ok(!/sk-abc|secret/.test(String(facts.server)), String(facts.server));
  assert.match(String(facts.reason), /not valid JSON/);
  await client.close();
});

test("Warnings of a client in memory name no server", async () => {
  const { client, peer, log } = await meet();
  peer.write("stray\n");
  await settle();
  assert.equal("server" in log.lines.at(-1)!.facts, false);
  await client.close();
});
