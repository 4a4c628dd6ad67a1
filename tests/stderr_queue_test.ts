// Text on its way to stderr: nothing waits for its reader, and what is dropped is counted (XC1).
import assert from "node:assert/strict";
import { test } from "node:test";
import { type StderrDevice, StderrQueue } from "../internal/runtime/stderr_queue.ts";
import { nextTurn, textOf, waitUntil } from "./helpers.ts";

const LIMIT_BYTES = 1_048_576;

/** Takes what there is room for, at once. */
class Pipe implements StderrDevice {
  room = 0;
  text = "";
  last = "";

  write(bytes: Uint8Array): number {
    const taken = Math.min(this.room, bytes.length);
    this.room -= taken;
    this.text += textOf(bytes.subarray(0, taken));
    return taken;
  }

  writeLast(bytes: Uint8Array): void {
    this.last += textOf(bytes);
  }
}

/** Takes everything, when it is told to. */
class Thread implements StderrDevice {
  text = "";
  writes = 0;
  last: string[] = [];
  #done: ((failed?: Error) => void) | undefined;

  write(bytes: Uint8Array): Promise<void> {
    this.writes++;
    return new Promise((resolve, reject) => {
      this.#done = (failed) => {
        if (failed !== undefined) return reject(failed);
        this.text += textOf(bytes);
        resolve();
      };
    });
  }

  async done(failed?: Error): Promise<void> {
    this.#done?.(failed);
    await nextTurn();
  }

  writeLast(bytes: Uint8Array): void {
    this.last.push(textOf(bytes));
  }
}

test("StderrQueue.write() writes at once what there is room for, and the rest in order later (XC1)", async () => {
  const pipe = new Pipe();
  const queue = new StderrQueue(pipe);
  pipe.room = 8;
  queue.write("one\ntwo\n");
  assert.equal(pipe.text, "one\ntwo\n");
  pipe.room = 2;
  queue.write("three\n");
  queue.write(new TextEncoder().encode("four\n"));
  queue.write("");
  assert.equal(pipe.text, "one\ntwo\nth");
  pipe.room = 1_000;
  await waitUntil(() => pipe.text.endsWith("four\n"));
  queue.write("five\n");
  assert.equal(pipe.text, "one\ntwo\nthree\nfour\nfive\n");
});

test("StderrQueue.write() keeps no more than its bound, and says what it has dropped (XC1)", async () => {
  const pipe = new Pipe();
  const queue = new StderrQueue(pipe);
  const line = "x".repeat(99) + "\n";
  const kept = Math.floor(LIMIT_BYTES / line.length);
  for (let i = 0; i < kept + 7; i++) queue.write(line);
  queue.write("no line");
  pipe.room = Infinity;
  await waitUntil(() => pipe.text.includes("dropped"));
  assert.ok(pipe.text.startsWith(line.repeat(kept)));
  assert.equal(
    pipe.text.slice(kept * line.length),
    "[mcp_stdio] dropped 7 lines (707 bytes) here, since nobody was reading stderr\n",
  );
  queue.write("after\n");
  assert.ok(pipe.text.endsWith("stderr\nafter\n"));
});

test("StderrQueue.write() drops nothing in the middle of what it keeps: first the whole queue is written (XC1)", async () => {
  const thread = new Thread();
  const queue = new StderrQueue(thread);
  queue.write("under way\n");
  queue.write("x".repeat(LIMIT_BYTES - 4));
  queue.write("dropped\n");
  queue.write("fits\n"); // But it came after what was dropped.
  await thread.done();
  assert.equal(thread.text, "under way\n");
  queue.write("dropped too\n");
  await thread.done();
  await thread.done();
  assert.match(thread.text, /x\n\[mcp_stdio\] dropped 3 lines \(25 bytes\) here/);
  assert.equal(thread.writes, 3);
});

test("StderrQueue.write() takes a single text of any size when nothing waits (XC1)", () => {
  const pipe = new Pipe();
  pipe.room = Infinity;
  const text = "y".repeat(3 * LIMIT_BYTES);
  new StderrQueue(pipe).write(text);
  assert.ok(pipe.text === text);
});

test("StderrQueue.write() takes a copy of bytes (XC1)", async () => {
  const thread = new Thread();
  const queue = new StderrQueue(thread);
  queue.write("first ");
  const bytes = new TextEncoder().encode("second");
  queue.write(bytes);
  bytes.fill(0x7a);
  await thread.done();
  await thread.done();
  assert.equal(thread.text, "first second");
});

test("StderrQueue.write() joins what has come while a write was under way, and survives one that fails (XC1)", async () => {
  const thread = new Thread();
  const queue = new StderrQueue(thread);
  for (const text of ["a", "b", "c", "d"]) queue.write(text);
  assert.equal(thread.writes, 1);
  await thread.done(new Error("no reader"));
  assert.equal(thread.writes, 2);
  queue.write("e");
  await thread.done();
  await thread.done();
  assert.equal(thread.text, "bcde");
});

test("StderrQueue.end() hands on what is left, what was dropped, and what comes then (XC1)", async () => {
  const thread = new Thread();
  const queue = new StderrQueue(thread);
  queue.end();
  assert.deepEqual(thread.last, [], "nothing to wait for");
  const other = new StderrQueue(thread);
  other.write("under way");
  other.write("waiting\n");
  other.end();
  assert.deepEqual(thread.last, ["waiting\n"]);
  other.write("late\n");
  assert.deepEqual(thread.last, ["waiting\n", "late\n"]);
  await thread.done();
  assert.equal(thread.writes, 1);
});

test("StderrQueue.writeLast() waits for a write that is under way, although nothing is behind it (XC1)", () => {
  const thread = new Thread();
  const queue = new StderrQueue(thread);
  queue.write("under way");
  queue.writeLast();
  assert.deepEqual(thread.last, [""]);
});
