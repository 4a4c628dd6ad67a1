import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { ProcessEndWatch } from "../internal/runtime/node_api/process_end.ts";

/** A process that raises signals as Node does: it ends by one that nobody listens to. */
class FakeEvents extends EventEmitter {
  readonly pid = 7;
  readonly endedBy: string[] = [];

  kill = (pid: number, signal: string): void => {
    assert.equal(pid, this.pid);
    if (!this.emit(signal)) this.endedBy.push(signal);
  };

  raise(signal: string): void {
    this.kill(this.pid, signal);
  }
}

function setUp(): { process: FakeEvents; calls: () => number; undo: () => void } {
  const process = new FakeEvents();
  let calls = 0;
  const undo = new ProcessEndWatch(process).add(() => calls++);
  return { process, calls: () => calls, undo };
}

test("ProcessEndWatch calls back at a signal that ends the process, and lets it end (P9)", () => {
  const { process, calls } = setUp();
  process.raise("SIGINT");
  assert.deepEqual([calls(), process.endedBy], [1, ["SIGINT"]]);
  assert.deepEqual(process.eventNames(), []);
});

test("ProcessEndWatch calls back at the second signal of a host that handles only the first (P9)", async () => {
  const { process, calls } = setUp();
  let handled = 0;
  process.once("SIGINT", () => handled++);
  process.raise("SIGINT");
  assert.deepEqual([handled, calls(), process.endedBy], [1, 0, []]);
  await Promise.resolve();
  process.raise("SIGINT");
  assert.deepEqual([handled, calls(), process.endedBy], [1, 1, ["SIGINT"]]);
});

test("ProcessEndWatch is away while a host handles a signal, and back when that is raised again (P9)", async () => {
  const { process, calls } = setUp();
  let listeners: number | undefined;
  const handle = (): void => {
    // As `signal-exit` does.
    listeners = process.listenerCount("SIGTERM");
    process.removeListener("SIGTERM", handle);
    process.kill(process.pid, "SIGTERM");
  };
  process.on("SIGTERM", handle);
  const { kill } = process;
  process.raise("SIGTERM");
  assert.equal(listeners, 1);
  assert.deepEqual([calls(), process.endedBy], [1, ["SIGTERM"]]);
  await Promise.resolve();
  assert.equal(process.kill, kill);
  assert.deepEqual(process.eventNames(), []);
});

test("ProcessEndWatch that is undone while a host handles a signal does not come back (P9)", async () => {
  const { process, calls, undo } = setUp();
  process.once("SIGHUP", undo);
  process.raise("SIGHUP");
  await Promise.resolve();
  assert.deepEqual(process.eventNames(), []);
  process.raise("SIGHUP");
  assert.deepEqual([calls(), process.endedBy], [0, ["SIGHUP"]]);
});
