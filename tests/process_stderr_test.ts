import assert from "node:assert/strict";
import { test } from "node:test";
import { StderrDrain } from "../internal/process/stderr_drain.ts";
import { heldBytes, nextTurn } from "./helpers.ts";

function drain(receivers: ConstructorParameters<typeof StderrDrain>[1] = {}): {
  write: (chunk: string | Uint8Array) => void;
  end: () => void;
  stderr: StderrDrain;
  failures: unknown[];
} {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const failures: unknown[] = [];
  const stderr = new StderrDrain(stream, receivers, (error) => failures.push(error));
  const write = (chunk: string | Uint8Array) =>
    controller.enqueue(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
  return { write, end: () => controller.close(), stderr, failures };
}

test("StderrDrain keeps the last 64 KiB, and reads on whatever comes (P2, B60, B61)", async () => {
  const { write, end, stderr } = drain();
  for (let n = 0; n < 1_000; n++) write(`${String(n).padStart(9)}\r`.repeat(100));
  end();
  await stderr.ended;
  assert.equal(stderr.tail.length, 65_536);
  assert.ok(stderr.tail.endsWith("      999\r"));
});

test("StderrDrain holds no more than it needs for the tail, however much is written (P2)", async () => {
  const { write, end, stderr } = drain();
  const text = `${"x".repeat(1_023)}\n`.repeat(64);
  const before = await heldBytes();
  for (let n = 0; n < 200; n++) {
    write(text);
    await nextTurn();
  }
  const held = await heldBytes() - before;
  assert.ok(held < 2 * 1_048_576, `${held} of 12.5 MiB are held`);
  end();
  await stderr.ended;
  assert.equal(stderr.tail, text);
});

test("StderrDrain hands on lines, long ones in pieces of 8 KiB, and text that is no UTF-8 replaced (P2, B61)", async () => {
  const lines: [string, boolean][] = [];
  const { write, end, stderr } = drain({ onLine: (line, cut) => void lines.push([line, cut]) });
  write("one\ntw");
  write("o\n\n" + "x".repeat(20_000));
  write("\né".slice(0, 1));
  write(Uint8Array.of(0xc3));
  write(Uint8Array.of(0xa9, 0xff, 0x0a));
  write("last");
  end();
  await stderr.ended;
  const long = (length: number): string => "x".repeat(length);
  assert.deepEqual(lines, [
    ["one", false],
    ["two", false],
    ["", false],
    [long(8_192), true],
    [long(8_192), true],
    [long(20_000 - 2 * 8_192), false],
    ["é\ufffd", false],
    ["last", false],
  ]);
});

test("StderrDrain reads on when a receiver throws (P2, C3)", async () => {
  const fail = () => {
    throw new Error("mine");
  };
  const { write, end, stderr, failures } = drain({ onText: fail, onLine: fail });
  write("one\ntwo\n");
  write("three");
  end();
  await stderr.ended;
  assert.equal(stderr.tail, "one\ntwo\nthree");
  assert.equal(failures.length, 5);
});
