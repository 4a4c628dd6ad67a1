// stderr where only another thread can wait for its reader, as on Windows (XC1).
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeByThreads } from "../internal/runtime/node_api/stderr.ts";
import { nextTurn, stateOf, textOf, waitUntil } from "./helpers.ts";

type Callback = (error: { code: string } | null, written: number) => void;

/** A system whose writes end when they are told to. */
class Files {
  readonly begun: string[] = [];
  #done: Callback | undefined;

  getBuiltinModule(): unknown {
    return {
      write: (_descriptor: number, bytes: Uint8Array, done: Callback) => {
        this.begun.push(textOf(bytes));
        this.#done = done;
      },
    };
  }

  async end(error: string | null, written = 0): Promise<void> {
    this.#done?.(error === null ? null : { code: error }, written);
    await nextTurn();
  }
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

test("writeByThreads() writes all of the bytes, in as many writes as that takes (XC1)", async () => {
  const files = new Files();
  const written = Promise.resolve(writeByThreads(files).write(bytesOf("one two")));
  await files.end(null, 4);
  assert.equal(await stateOf(written), "pending");
  await files.end(null, 3);
  assert.equal(await stateOf(written), "fulfilled");
  assert.deepEqual(files.begun, ["one two", "two"]);
});

test("writeByThreads() tries again where the descriptor does not wait, and gives up without a reader (XC1)", async () => {
  const files = new Files();
  const written = Promise.resolve(writeByThreads(files).write(bytesOf("text")));
  await files.end("EAGAIN");
  await waitUntil(() => files.begun.length === 2);
  await files.end("EPIPE");
  assert.equal(await stateOf(written), "fulfilled");
});

test("writeByThreads() has the last text written by a thread, unless a write has been stuck for long (XC1)", async () => {
  const files = new Files();
  const device = writeByThreads(files);
  device.writeLast(bytesOf("idle"));
  void device.write(bytesOf("under way"));
  device.writeLast(bytesOf("at once"));
  device.writeLast(bytesOf(""));
  await new Promise((resolve) => setTimeout(resolve, 400)); // Twice what is taken for long.
  device.writeLast(bytesOf("too late"));
  assert.deepEqual(files.begun, ["idle", "under way", "at once"]);
});
