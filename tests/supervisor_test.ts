import assert from "node:assert/strict";
import { test } from "node:test";
import type { CloseReport, Link } from "../internal/client/link.ts";
import { type Life, Supervisor, type SupervisorPort } from "../internal/client/supervisor.ts";
import { createDeferred, type Deferred } from "../internal/promises.ts";
import type { ExitStatus } from "../runtime.ts";
import { FakeClock } from "../testing.ts";
import { createLog, settle } from "./_client_peer.ts";
import { stateOf } from "./helpers.ts";

const GRACES = { shutdownGraceMs: 2_000, terminateGraceMs: 2_000 };

/** A link that ends when the test says so, or is killed. */
class FakeLink {
  readonly number: number;
  /** What was asked of it, in order. */
  readonly asked: string[] = [];
  exit: ExitStatus | null = null;
  readonly #ended = createDeferred<CloseReport>();

  constructor(number: number) {
    this.number = number;
  }

  finish(exit: ExitStatus = { code: 0 }, step: CloseReport["step"] = "eof"): void {
    this.exit = exit;
    this.#ended.resolve({ exit, step });
  }

  end(): Promise<CloseReport> {
    this.asked.push("end");
    return this.#ended.promise;
  }

  kill(): Promise<CloseReport> {
    this.asked.push("kill");
    this.finish({ signal: "SIGKILL" }, "kill");
    return this.#ended.promise;
  }
}

/** A supervisor and all that it acts on, each step at the test's word. */
class Stage {
  readonly clock: FakeClock = new FakeClock();
  readonly log: ReturnType<typeof createLog> = createLog();
  readonly phases: string[] = [];
  readonly links: FakeLink[] = [];
  readonly told: string[] = [];
  readonly ended: Set<FakeLink> = new Set();
  readonly supervisor: Supervisor;
  readonly started: Promise<unknown>;
  /** Called at each change of phase. */
  onPhase: (phase: string) => void = () => {};
  opening: Deferred<Link> = createDeferred();
  greeting: Deferred<void> = createDeferred();
  opened = 0;

  constructor(maxRestarts = 3) {
    const port: SupervisorPort = {
      open: () => {
        this.opened++;
        this.opening = createDeferred();
        return this.opening.promise;
      },
      prepare: () => {
        this.greeting = createDeferred();
        return this.greeting.promise;
      },
      cause: "it has ended",
      hasEnded: (link) => this.ended.has(link as unknown as FakeLink),
      lost: (willRestart) => void this.told.push(willRestart ? "lost" : "lost for good"),
      changed: (life: Life) => {
        if (this.phases.at(-1) === life.phase) return;
        this.phases.push(life.phase);
        this.onPhase(life.phase);
      },
      over: (cause) =>
        void this.told.push(cause === undefined ? "over" : `over: ${(cause as Error).message}`),
    };
    const { clock, log: { logger } } = this;
    this.supervisor = new Supervisor(port, { maxRestarts, graces: GRACES, clock, logger, random: () => 0.5 });
    this.started = this.supervisor.start().then(() => "ready", (error) => error);
  }

  get link(): FakeLink {
    return this.links.at(-1)!;
  }

  async opens(): Promise<void> {
    this.links.push(new FakeLink(this.links.length));
    this.opening.resolve(this.link as unknown as Link);
    await settle();
  }

  async greets(): Promise<void> {
    this.greeting.resolve();
    await settle();
  }

  async loses(): Promise<void> {
    this.ended.add(this.link);
    this.supervisor.lost(this.link as unknown as Link);
    await settle();
  }

  async finishes(exit: ExitStatus = { code: 1 }): Promise<void> {
    this.link.finish(exit, "already");
    await settle();
  }

  /** Brings it to a point of its life. */
  async to(point: Point): Promise<this> {
    const steps = [
      ["opening", () => settle()],
      ["greeting", () => this.opens()],
      ["ready", () => this.greets()],
      ["ending", () => this.loses()],
      ["waiting", () => this.finishes()],
      ["reopening", () => this.clock.advance(0)],
      ["regreeting", () => this.opens()],
    ] as const;
    for (const [name, step] of steps) {
      await step();
      if (name === point) return this;
    }
    throw new Error(`no such point: ${point}`);
  }
}

type Point = "opening" | "greeting" | "ready" | "ending" | "waiting" | "reopening" | "regreeting";

/** What happens at a point, the phases that follow, and what is asked of the last server. */
const TRANSITIONS: ReadonlyArray<
  [point: Point, event: string, happens: (stage: Stage) => unknown, phases: string[], asked: string[]]
> = [
  ["opening", "it is started", (stage) => stage.opens(), ["starting"], []],
  ["opening", "it cannot be started", (stage) => stage.opening.reject(new Error("ENOENT")), [
    "closing",
    "closed",
  ], []],
  ["greeting", "it answers", (stage) => stage.greets(), ["ready"], []],
  ["greeting", "it does not answer", (stage) => stage.greeting.reject(new Error("no")), ["closing"], ["end"]],
  ["ready", "it ends", (stage) => stage.loses(), ["ending"], ["end"]],
  ["ending", "it is reaped", (stage) => stage.finishes(), ["waiting"], ["end"]],
  ["waiting", "the wait is over", (stage) => stage.clock.advance(0), ["starting"], ["end"]],
  ["reopening", "it is started", (stage) => stage.opens(), [], ["end"]],
  ["reopening", "it cannot be started", (stage) => stage.opening.reject(new Error("ENOENT")), ["waiting"], [
    "end",
  ]],
  ["regreeting", "it answers", (stage) => stage.greets(), ["ready"], []],
  ["regreeting", "it does not answer", (stage) => stage.greeting.reject(new Error("no")), ["ending"], [
    "end",
  ]],
  // Closed or killed at any point.
  ["opening", "close", (stage) => stage.supervisor.close(GRACES), ["closing"], []],
  ["opening", "kill", (stage) => stage.supervisor.kill(), ["closing"], []],
  ["greeting", "close", (stage) => stage.supervisor.close(GRACES), ["closing"], ["end"]],
  ["greeting", "kill", (stage) => stage.supervisor.kill(), ["closing", "closed"], ["kill"]],
  ["ready", "close", (stage) => stage.supervisor.close(GRACES), ["closing"], ["end"]],
  ["ready", "kill", (stage) => stage.supervisor.kill(), ["closing", "closed"], ["kill"]],
  ["ending", "close", (stage) => stage.supervisor.close(GRACES), ["closing"], ["end", "end"]],
  ["ending", "kill", (stage) => stage.supervisor.kill(), ["closing", "closed"], ["end", "kill"]],
  ["waiting", "close", (stage) => stage.supervisor.close(GRACES), ["closing", "closed"], ["end"]],
  ["waiting", "kill", (stage) => stage.supervisor.kill(), ["closing", "closed"], ["end"]],
  ["reopening", "close", (stage) => stage.supervisor.close(GRACES), ["closing"], ["end"]],
  ["reopening", "kill", (stage) => stage.supervisor.kill(), ["closing"], ["end"]],
  ["regreeting", "close", (stage) => stage.supervisor.close(GRACES), ["closing"], ["end"]],
  ["regreeting", "kill", (stage) => stage.supervisor.kill(), ["closing", "closed"], ["kill"]],
  // What is said too late, or of another server, changes nothing.
  [
    "ready",
    "the end of another server",
    (stage) => stage.supervisor.lost(new FakeLink(9) as unknown as Link),
    [],
    [],
  ],
  ["ending", "its end again", (stage) => stage.supervisor.lost(stage.link as unknown as Link), [], ["end"]],
  ["greeting", "its end", (stage) => stage.supervisor.lost(stage.link as unknown as Link), [], []],
];

for (const [point, event, happens, phases, asked] of TRANSITIONS) {
  test(`Supervisor at ${point}: ${event} (P8)`, async () => {
    const stage = await new Stage().to(point);
    const { link } = stage;
    const before = stage.phases.length;
    happens(stage);
    await settle();
    assert.deepEqual(stage.phases.slice(before), phases);
    assert.deepEqual(link?.asked ?? [], asked);
  });
}

for (const point of ["opening", "reopening"] as const) {
  for (const [how, asked] of [["close", ["end"]], ["kill", ["kill"]]] as const) {
    test(`Supervisor ends a server that comes when it was told to ${how} at ${point} (P4, B80)`, async () => {
      const stage = await new Stage().to(point);
      const ended = how === "kill" ? stage.supervisor.kill() : stage.supervisor.close(GRACES);
      await settle();
      assert.equal(await stateOf(ended), "pending");
      await stage.opens();
      assert.deepEqual(stage.link.asked, asked);
      if (how === "close") {
        assert.equal(await stateOf(ended), "pending");
        stage.link.finish({ code: 0 });
      }
      const report = await ended;
      assert.equal(report.step, how === "kill" ? "kill" : "eof");
      // The last one reaped is the one that nobody used (P6, S1-90).
      assert.deepEqual(stage.supervisor.lastExit, report.exit);
      assert.equal(stage.phases.at(-1), "closed");
      assert.equal(stage.clock.pendingTimers, 0);
    });
  }
}

test("Supervisor kills what an orderly end is under way for, also one that comes late (P4)", async () => {
  const stage = await new Stage().to("ready");
  const closed = stage.supervisor.close(GRACES);
  assert.equal(await stateOf(closed), "pending");
  const killed = stage.supervisor.kill();
  assert.deepEqual(await Promise.all([closed, killed]), [
    { exit: { signal: "SIGKILL" }, step: "kill" },
    { exit: { signal: "SIGKILL" }, step: "kill" },
  ]);

  const late = await new Stage().to("opening");
  late.supervisor.close(GRACES);
  const dead = late.supervisor.kill();
  await late.opens();
  assert.equal((await dead).step, "kill");

  const later = await new Stage().to("opening");
  later.supervisor.close(GRACES);
  await later.opens();
  assert.deepEqual(later.link.asked, ["end"]);
  assert.equal((await later.supervisor.kill()).step, "kill");
});

test("Supervisor starts no other server once it is told to end, at whatever change of phase (P8, B76)", async () => {
  for (const phase of ["starting", "ready", "ending", "waiting"]) {
    for (const occurrence of [1, 2]) {
      for (const how of ["close", "kill"] as const) {
        const stage = new Stage();
        let seen = 0;
        stage.onPhase = (now) => {
          if (now !== phase || ++seen !== occurrence) return;
          if (how === "kill") stage.supervisor.kill();
          else stage.supervisor.close(GRACES);
        };
        const steps = [
          () => stage.opens(),
          () => stage.greets(),
          () => stage.loses(),
          () => stage.finishes(),
          () => stage.clock.advance(10_000),
        ];
        for (let n = 0; n < 12; n++) await steps[n % steps.length]!();
        const opened = stage.opened;
        stage.link.finish();
        await settle();
        assert.equal(stage.phases.at(-1), "closed", `${how} at ${phase}`);
        assert.equal(stage.opened, opened);
        assert.equal(stage.clock.pendingTimers, 0);
        assert.equal(stage.told.filter((what) => what === "over").length, 1);
      }
    }
  }
});

test("Supervisor starts a server again as often as it may, with growing waits, and tells why (P8, B74)", async () => {
  const stage = await new Stage(5).to("ready");
  const waits: number[] = [];
  for (let restart = 1; restart <= 5; restart++) {
    await stage.loses();
    await stage.finishes({ code: restart });
    const from = stage.clock.now();
    while (stage.opened === restart) await stage.clock.advance(1_000);
    waits.push(Math.floor((stage.clock.now() - from) / 1_000));
    assert.equal(stage.supervisor.restartCount, restart);
    await stage.opens();
    await stage.greets();
  }
  await stage.loses();
  assert.equal(stage.phases.at(-1), "closing");
  await stage.finishes({ code: 78 });
  assert.deepEqual(stage.phases.slice(-2), ["closing", "closed"]);
  assert.deepEqual(stage.told, [...Array(5).fill("lost"), "lost for good", "over"]);
  assert.deepEqual(
    stage.log.lines.map(({ level, message, facts }) => [level, message, facts.exit, facts.waitMs]),
    [
      ...[0, 250, 1_000, 4_000, 4_000].map((waitMs, n) => [
        "warn",
        "[mcp_stdio] the server has ended and is started again",
        `code ${n + 1}`,
        waitMs,
      ]),
      ["warn", "[mcp_stdio] the server has ended", "code 78", undefined],
    ],
  );
  assert.deepEqual(stage.supervisor.lastExit, { code: 78 });
  assert.equal(stage.clock.pendingTimers, 0);
});

test("Supervisor forgets earlier ends of a server that has lived for a minute, not of one that was started (P8, B74)", async () => {
  const stage = await new Stage(1).to("ready");
  for (let round = 0; round < 4; round++) {
    await stage.clock.advance(60_000);
    await stage.loses();
    await stage.finishes();
    await stage.clock.advance(10_000);
    await stage.opens();
    await stage.greets();
    assert.equal(stage.phases.at(-1), "ready", `round ${round}`);
  }
  await stage.clock.advance(59_999);
  await stage.loses();
  await stage.finishes();
  assert.equal(stage.phases.at(-1), "closed");
  assert.equal(stage.supervisor.restartCount, 4);
});

test("Supervisor counts starts that fail, and gives the last reason (P8)", async () => {
  const stage = await new Stage(3).to("ready");
  await stage.loses();
  await stage.finishes();
  for (let n = 1; n <= 3; n++) {
    while (stage.opened === n) await stage.clock.advance(1_000);
    stage.opening.reject(new Error(`ENOENT ${n}`));
    await settle();
  }
  assert.deepEqual([stage.phases.at(-1), stage.opened], ["closed", 4]);
  assert.equal(stage.told.at(-1), "over: ENOENT 3");
});

test("Supervisor restarts nothing when no restart is allowed, and reaps it all the same (P7, S1-84)", async () => {
  const stage = await new Stage(0).to("ready");
  await stage.loses();
  assert.deepEqual(stage.link.asked, ["end"]);
  assert.deepEqual(stage.told, ["lost for good"]);
  assert.ok(stage.supervisor.isOver);
  // Whoever closes now waits for the same end; whoever kills hurries it.
  const closed = stage.supervisor.close(GRACES);
  assert.equal(await stateOf(closed), "pending");
  const killed = stage.supervisor.kill();
  assert.equal(await killed, await closed);
  assert.deepEqual(stage.log.of("warn"), ["[mcp_stdio] the server has ended"]);
});

test("Supervisor notices a server that ends as it becomes ready (P8)", async () => {
  const stage = await new Stage().to("greeting");
  stage.ended.add(stage.link);
  await stage.greets();
  assert.deepEqual(stage.phases, ["starting", "ready", "ending"]);
});

test("Supervisor never has two servers at a time (P8, S1-93)", async () => {
  const stage = await new Stage().to("ready");
  await stage.loses();
  await stage.clock.advance(60_000);
  assert.equal(stage.opened, 1); // The first one has not been reaped.
  await stage.finishes();
  await stage.clock.advance(0);
  assert.equal(stage.opened, 2);
});

test("Supervisor.relaunch() replaces a server at the probe, and that is no restart (E2, B139)", async () => {
  const stage = await new Stage().to("greeting");
  const relaunched = stage.supervisor.relaunch(stage.link as unknown as Link);
  await stage.finishes();
  await stage.opens();
  assert.equal(await relaunched, stage.link as unknown as Link);
  await stage.greets();
  assert.equal(await stage.started, "ready");
  assert.deepEqual([stage.supervisor.restartCount, stage.opened], [0, 2]);
  assert.equal(stage.supervisor.link, stage.link as unknown as Link);
});

test("Supervisor.relaunch() starts nothing for a client that was closed meanwhile (E2, B76)", async () => {
  for (const how of ["close", "kill"] as const) {
    const stage = await new Stage().to("greeting");
    const { link } = stage;
    const relaunched = stage.supervisor.relaunch(link as unknown as Link).then(
      () => "relaunched",
      () => "refused",
    );
    if (how === "kill") stage.supervisor.kill();
    else stage.supervisor.close(GRACES);
    link.finish();
    assert.equal(await relaunched, "refused");
    await settle();
    assert.deepEqual([stage.opened, stage.phases.at(-1)], [1, "closed"]);
  }
});

test("Supervisor.relaunch() starts nothing when the next start is under way already (E2, P8)", async () => {
  const stage = await new Stage().to("regreeting");
  const ended = new FakeLink(7);
  const relaunched = stage.supervisor.relaunch(ended as unknown as Link).catch(() => "refused");
  stage.greeting.reject(new Error("the time is up"));
  await settle();
  await stage.finishes();
  await stage.clock.advance(10_000);
  assert.equal(stage.opened, 3);
  ended.finish();
  assert.equal(await relaunched, "refused");
  assert.equal(stage.opened, 3);
});

test("Supervisor ends a server that is started again too late, before the next one (E2, P8)", async () => {
  const stage = await new Stage().to("regreeting");
  const relaunched = stage.supervisor.relaunch(stage.link as unknown as Link).catch(() => "refused");
  await stage.finishes();
  const { opening, greeting } = stage;
  greeting.reject(new Error("the time is up"));
  await settle();
  const stray = new FakeLink(7);
  await stage.clock.advance(10_000);
  assert.equal(stage.opened, 3);
  opening.resolve(stray as unknown as Link);
  await settle();
  assert.deepEqual(stray.asked, ["end"]);
  assert.equal(stage.opened, 3);
  stray.finish();
  assert.equal(await relaunched, "refused");
  await stage.clock.advance(10_000);
  assert.equal(stage.opened, 4);
});

test("Supervisor.renew() greets a server anew, and restarts one that cannot be greeted (E4)", async () => {
  const stage = await new Stage().to("ready");
  stage.supervisor.renew(stage.link as unknown as Link);
  assert.equal(stage.phases.at(-1), "starting");
  await stage.greets();
  assert.equal(stage.phases.at(-1), "ready");
  assert.equal(stage.opened, 1);
  stage.supervisor.renew(stage.link as unknown as Link);
  stage.greeting.reject(new Error("no"));
  await settle();
  assert.equal(stage.phases.at(-1), "ending");
  await stage.finishes();
  await stage.clock.advance(0);
  assert.equal(stage.opened, 2);
});

test("Supervisor.start() rejects only when nothing is left of the server (P3, B72)", async () => {
  const stage = await new Stage().to("greeting");
  stage.greeting.reject(new Error("no answer"));
  assert.equal(await stateOf(stage.started), "pending");
  stage.link.finish();
  assert.equal((await stage.started as Error).message, "no answer");
  assert.deepEqual(stage.told, ["over"]);
});
