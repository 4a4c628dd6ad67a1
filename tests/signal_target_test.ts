import assert from "node:assert/strict";
import { test } from "node:test";
import { isGroupAlive, signalGroup } from "../internal/runtime/signal_target.ts";

const fail = (error: object) => (): never => {
  throw Object.assign(new Error("refused"), error);
};

/** What the runtimes throw, whether somebody is left in the group then, and what a signal to it comes to. */
const ERRORS: ReadonlyArray<[what: object, alive: boolean, outcome: string, without: string]> = [
  [{ code: "ESRCH" }, false, "gone", "gone"],
  [{ name: "NotFound" }, false, "gone", "gone"],
  // A helper that runs as another user.
  [{ code: "EPERM" }, true, "child_only", "gone"],
  [{ name: "PermissionDenied" }, true, "child_only", "gone"],
];

for (const [error, alive, outcome, without] of ERRORS) {
  test(`A group of which the system says ${JSON.stringify(error)} is ${alive ? "there" : "gone"} (P5)`, () => {
    assert.equal(isGroupAlive(fail(error)), alive);
    assert.equal(signalGroup(fail(error), () => true), outcome);
    assert.equal(signalGroup(fail(error), () => false), without);
  });
}

test("A group that takes the signal is there (P5)", () => {
  assert.equal(isGroupAlive(() => {}), true);
  assert.equal(signalGroup(() => {}, () => assert.fail("the child is signalled with its group")), "sent");
});
