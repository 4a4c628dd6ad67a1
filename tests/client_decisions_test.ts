import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "../internal/client/supervisor.ts";
import { type Deadline, Deadlines } from "../internal/client/deadlines.ts";
import { type LostRequest, mayRetry } from "../internal/client/retry.ts";
import type { Clock } from "../runtime.ts";
import { FakeClock } from "../testing.ts";
import { createRandom } from "./helpers.ts";

const RETRIES: ReadonlyArray<[what: string, lost: Partial<LostRequest>, again: boolean]> = [
  ["an idempotent request", { method: "tools/list" }, true],
  ["no method that no revision defines", { method: "acme/charge" }, false],
  ["a method of an extension that had not left", { method: "acme/charge", sent: false }, true],
  ["a method of an extension by force", { method: "acme/charge", policy: "force" }, true],
  ["no method of the other era: to a modern server", { method: "resources/subscribe" }, false],
  ["a method of the legacy era to a legacy server", { method: "resources/subscribe", era: "legacy" }, true],
  ["no method of the other era: to a legacy server", { method: "server/discover", era: "legacy" }, false],
  ["a listen stream", { method: "subscriptions/listen" }, true],
  ["no tools/call", { method: "tools/call" }, false],
  ["a tools/call that had not left", { method: "tools/call", sent: false }, true],
  ["a tools/call by force", { method: "tools/call", policy: "force" }, true],
  ["nothing that must not be", { method: "tools/list", policy: "never" }, false],
  ["nothing that must not be, even if it had not left", { policy: "never", sent: false }, false],
  ["a request for the third time", { retries: 2 }, true],
  ["no request for the fourth time", { retries: 3 }, false],
  ["no request for the fourth time by force", { retries: 3, policy: "force" }, false],
];

for (const [what, lost, again] of RETRIES) {
  test(`mayRetry() makes ${what} again (P8, XB10)`, () => {
    const listing = { method: "tools/list", policy: "auto", era: "modern", sent: true, retries: 0 } as const;
    assert.equal(mayRetry({ ...listing, ...lost }), again);
  });
}

test("backoffMs() waits 0, 250, 1 000, 4 000 ms, then no longer, give or take a quarter (P8, B74)", () => {
  const steps = [0, 250, 1_000, 4_000, 4_000, 4_000];
  assert.deepEqual(steps.map((_, n) => backoffMs(n + 1, 0.5)), steps);
  assert.deepEqual(steps.map((_, n) => backoffMs(n + 1, 0)), steps.map((step) => Math.round(step * 0.75)));
  const random = createRandom(7);
  for (let n = 0; n < 1_000; n++) {
    const waitMs = backoffMs(3, random.below(1_000) / 1_000);
    assert.ok(waitMs >= 750 && waitMs <= 1_250);
  }
});

/** Deadlines by the names of their items, each of which has one at a time. */
class NamedDeadlines {
  readonly all: Deadlines<string>;
  readonly #running = new Map<string, Deadline<string> | undefined>();

  constructor(clock: Clock, onExpired: (item: string) => void) {
    this.all = new Deadlines(clock, onExpired);
  }

  start(item: string, durationMs: number): void {
    this.stop(item);
    this.#running.set(item, this.all.start(item, durationMs));
  }

  stop(item: string): void {
    this.all.stop(this.#running.get(item));
  }
}

function createDeadlines(): { clock: FakeClock; deadlines: NamedDeadlines; expired: string[] } {
  const clock = new FakeClock();
  const expired: string[] = [];
  return {
    clock,
    expired,
    deadlines: new NamedDeadlines(clock, (item) => void expired.push(`${item}@${clock.now()}`)),
  };
}

test("Deadlines expire each at its time, whatever came and went (C4)", async () => {
  const { clock, deadlines, expired } = createDeadlines();
  deadlines.start("a", 60_000);
  deadlines.start("b", 300);
  deadlines.start("gone", 200);
  deadlines.start("c", 60_000);
  deadlines.stop("gone");
  await clock.advance(100);
  deadlines.start("d", 300);
  deadlines.start("b", 300); // Anew.
  deadlines.start("never", Infinity);
  await clock.advance(100_000);
  assert.deepEqual(expired, ["d@400", "b@400", "a@60000", "c@60000"]);
  assert.equal(clock.pendingTimers, 0);
});

test("Deadlines agree with a table of what should expire when, at random (C4)", async () => {
  const random = createRandom(20_261_130);
  const { clock, deadlines, expired } = createDeadlines();
  const due = new Map<string, number>();
  const should: string[] = [];
  for (let step = 0; step < 100; step++) {
    const item = `i${random.below(40)}`;
    const durationMs = 100 * (1 + Number(item.slice(1)) % 12);
    if (random.oneIn(3)) {
      deadlines.stop(item);
      due.delete(item);
    } else {
      deadlines.start(item, durationMs);
      due.set(item, clock.now() + durationMs);
    }
    const until = clock.now() + random.below(60);
    for (const [name, at] of [...due].sort(([, one], [, other]) => one - other)) {
      if (at > until) break;
      should.push(`${name}@${at}`);
      due.delete(name);
    }
    await clock.advance(until - clock.now());
  }
  assert.ok(should.length > 5);
  assert.deepEqual(expired.toSorted(), should.toSorted());
});

test("Deadlines hold one timer, and soon none when nothing is left (C9)", async () => {
  const { clock, deadlines } = createDeadlines();
  for (let round = 0; round < 1_000; round++) {
    deadlines.start("a", 60_000);
    deadlines.start("b", 50_000 + round);
    assert.equal(clock.pendingTimers, 1);
    deadlines.stop("a");
    deadlines.stop("b");
  }
  await clock.advance(1_000);
  assert.equal(clock.pendingTimers, 0);
  // A long one that is stopped after a while does not hold the timer either.
  deadlines.start("a", 60_000);
  await clock.advance(5_000);
  assert.equal(clock.pendingTimers, 1);
  deadlines.stop("a");
  await clock.advance(1_000);
  assert.equal(clock.pendingTimers, 0);
  deadlines.start("a", 60_000);
  deadlines.all.clear();
  assert.equal(clock.pendingTimers, 0);
});

test("Deadlines hold no timer for an item that was started anew and is gone (C4, C9)", async () => {
  const { clock, deadlines } = createDeadlines();
  deadlines.start("a", 60_000);
  await clock.advance(5_000);
  for (let round = 0; round < 3; round++) deadlines.start("a", 60_000);
  deadlines.stop("a");
  await clock.advance(1_000);
  assert.equal(clock.pendingTimers, 0);
});

test("Deadlines that are over hold none of the others (C9)", async () => {
  const { clock, deadlines: { all } } = createDeadlines();
  const [first, second, third] = ["a", "b", "c"].map((item) => all.start(item, 100)!);
  all.stop(second);
  assert.deepEqual([first!.after, third!.before], [third, first]);
  await clock.advance(100);
  for (const { line, before, after } of [first!, second!, third!]) {
    assert.deepEqual([line, before, after], [undefined, undefined, undefined]);
  }
});

test("Deadlines begin nothing while time stands still (C4)", async () => {
  const { clock, deadlines, expired } = createDeadlines();
  deadlines.start("early", 300);
  await clock.advance(100);
  deadlines.all.freeze();
  deadlines.start("late", 50);
  assert.equal(clock.pendingTimers, 0);
  await clock.advance(10_000);
  deadlines.all.thaw();
  await clock.advance(1_000);
  assert.deepEqual(expired, ["late@10150", "early@10300"]);
  assert.equal(clock.pendingTimers, 0);
});

test("Deadlines may be started and stopped while others expire (C4)", async () => {
  const clock = new FakeClock();
  const expired: string[] = [];
  const deadlines = new NamedDeadlines(clock, (item) => {
    expired.push(`${item}@${clock.now()}`);
    if (item === "a") deadlines.start("again", 50);
    if (item === "a") deadlines.stop("c");
  });
  for (const [item, durationMs] of [["a", 100], ["b", 100], ["c", 200]] as const) {
    deadlines.start(item, durationMs);
  }
  await clock.advance(1_000);
  assert.deepEqual(expired, ["a@100", "b@100", "again@150"]);
});

test("Deadlines longer than a timer can hold expire at their time (C4)", async () => {
  // As the runtimes' timers do, through the system's clock.
  class ShortClock extends FakeClock {
    override setTimeout(callback: () => void, delayMs: number): unknown {
      return super.setTimeout(callback, Math.min(delayMs, 2_147_483_647));
    }
  }
  const clock = new ShortClock();
  const expired: string[] = [];
  const deadlines = new NamedDeadlines(clock, (item) => void expired.push(`${item}@${clock.now()}`));
  deadlines.start("a", 3_000_000_000);
  await clock.advance(2_999_999_999);
  assert.deepEqual(expired, []);
  await clock.advance(1);
  assert.deepEqual(expired, ["a@3000000000"]);
});
