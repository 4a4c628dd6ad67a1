// Ending a tree on Windows, as decisions: what is run, and what happens when that fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDeferred } from "../internal/promises.ts";
import { OwnedProcess } from "../internal/process/owned_process.ts";
import { endTree, endTreeNow, type TreeEndMeans } from "../internal/runtime/tree_end.ts";
import { createFakeRuntime, FakeClock } from "../testing.ts";
import { nextTurn, stateOf } from "./helpers.ts";

/** A process on Windows, and what is done to it. */
class Target implements TreeEndMeans {
  readonly pid = 4_711;
  systemRoot: string | undefined = "D:\\Windows";
  readonly #exit = createDeferred();
  readonly exited: Promise<unknown> = this.#exit.promise;
  isThere = true;
  readonly ran: string[][] = [];
  kills = 0;
  /** What comes of the system's program: whether it ended with code 0, or why it could not be run. */
  outcome: boolean | Error = true;
  #program = createDeferred<boolean>();

  hasExited(): boolean {
    return !this.isThere;
  }

  run({ command, args }: Parameters<TreeEndMeans["run"]>[0]): Promise<boolean> {
    this.ran.push([command, ...args]);
    if (this.outcome instanceof Error) throw this.outcome;
    return this.#program.promise;
  }

  runNow({ command, args }: Parameters<TreeEndMeans["runNow"]>[0]): boolean {
    this.ran.push([command, ...args]);
    if (this.outcome instanceof Error) throw this.outcome;
    return this.outcome;
  }

  killChild(): boolean {
    this.kills++;
    return this.isThere;
  }

  programEnds(): void {
    this.#program.resolve(this.outcome === true);
  }

  exits(): void {
    this.isThere = false;
    this.#exit.resolve();
  }
}

const TASKKILL = ["D:\\Windows\\System32\\taskkill.exe", "/PID", "4711", "/T", "/F"];

test("endTree() runs the system's own taskkill by its full path, and waits for what comes of it (P11, XE1)", async () => {
  const target = new Target();
  const outcome = endTree(target);
  assert.deepEqual(target.ran, [TASKKILL]);
  assert.equal(await stateOf(outcome), "pending");
  target.programEnds();
  assert.equal(await outcome, "sent");
  assert.equal(target.kills, 0);
});

test("endTree() finds taskkill in the system folder when that is not told, or no path (P11, XE1, XD9)", () => {
  for (const systemRoot of [undefined, "", "Windows", ".\\Windows", "\\\\evil\\share"]) {
    const target = new Target();
    target.systemRoot = systemRoot;
    void endTree(target);
    assert.equal(target.ran[0]?.[0], "C:\\Windows\\System32\\taskkill.exe", String(systemRoot));
  }
});

for (const outcome of [false, new Error("ENOENT")]) {
  const how = outcome === false ? "ends with an error" : "cannot be run";
  test(`endTree() ends the process alone when taskkill ${how} (P11, XE2)`, async () => {
    const target = new Target();
    target.outcome = outcome;
    const ended = endTree(target);
    target.programEnds();
    assert.equal(await ended, "child_only");
    assert.equal(target.kills, 1);
  });

  test(`endTree() says nothing of a process that was gone when taskkill ${how} (P11, XE2)`, async () => {
    const target = new Target();
    target.outcome = outcome;
    const ended = endTree(target);
    target.programEnds();
    await nextTurn();
    target.exits();
    assert.equal(await ended, "gone");
    assert.equal(target.kills, 0);
  });

  test(`endTreeNow() has ended the process when it returns, also when taskkill ${how} (P9, XE2, XE7)`, () => {
    const target = new Target();
    target.outcome = outcome;
    assert.equal(endTreeNow(target), "child_only");
    assert.deepEqual([target.ran, target.kills], [[TASKKILL], 1]);
  });
}

test("endTreeNow() has ended the tree when it returns (P9, XE7)", () => {
  const target = new Target();
  assert.equal(endTreeNow(target), "sent");
  assert.deepEqual([target.ran, target.kills], [[TASKKILL], 0]);
});

test("endTree() and endTreeNow() touch no id of a process that was reaped (P5)", async () => {
  const target = new Target();
  target.exits();
  assert.deepEqual([await endTree(target), endTreeNow(target)], ["gone", "gone"]);
  assert.deepEqual([target.ran, target.kills], [[], 0]);
});

test("OwnedProcess tells of a tree that could not be ended, and of a signal refused, when that is known (P11, XE2)", async () => {
  const runtime = createFakeRuntime({ os: "windows" });
  const child = await runtime.spawn({
    command: "s",
    args: [],
    env: {},
    stderr: "ignore",
    processGroup: true,
  });
  const told: string[] = [];
  const owned = new OwnedProcess(child, {
    processGroup: true,
    runtime,
    clock: new FakeClock(),
    onChildOnly: () => void told.push("child only"),
    onRefused: (signal, error) => void told.push(`${signal} refused: ${error}`),
  });
  const late: (Promise<"child_only"> | Promise<never>)[] = [
    Promise.resolve("child_only"),
    Promise.reject(new Error("no")),
  ];
  late.forEach((each) => each.catch(() => {}));
  Object.assign(child, { signal: () => late.shift() });
  owned.signal("SIGKILL");
  owned.signal("SIGTERM");
  assert.deepEqual(told, []);
  await nextTurn();
  assert.deepEqual(told, ["child only", "SIGTERM refused: Error: no"]);
});

test("OwnedProcess.endNow() asks for an end that is done when it returns (P9, XE7)", async () => {
  const runtime = createFakeRuntime({ os: "windows" });
  const targets: string[] = [];
  for (const processGroup of [true, false]) {
    const child = await runtime.spawn({ command: "s", args: [], env: {}, stderr: "ignore", processGroup });
    Object.assign(child, {
      signal: () => assert.fail("that may take turns"),
      killNow: (target: string) => {
        targets.push(target);
        return "sent";
      },
    });
    const settings = { processGroup, runtime, clock: new FakeClock(), onChildOnly() {}, onRefused() {} };
    new OwnedProcess(child, settings).endNow();
  }
  assert.deepEqual(targets, ["group", "child"]);
});
