import assert from "node:assert/strict";
import { test } from "node:test";
import { WriteBuffer, type WriteBufferSettings } from "../internal/framing/write_buffer.ts";
import {
  assertGrowth,
  bytesOf,
  cpuTime,
  createRandom,
  heldBytes,
  nextTurn,
  showUnhandledRejections,
  stateOf,
  textOf,
} from "./helpers.ts";

/** A byte sink that notes each write, and lets the test end it. */
class Sink {
  /** The texts of the writes, in order. */
  readonly writes: string[] = [];
  /** How many writes are under way. */
  underWay = 0;
  readonly #ends: { resolve: () => void; reject: (error: unknown) => void }[] = [];

  write(bytes: Uint8Array): Promise<void> {
    this.writes.push(textOf(bytes));
    this.underWay++;
    return new Promise((resolve, reject) => this.#ends.push({ resolve, reject }));
  }

  /** Ends the oldest write and lets what follows from it happen. */
  async accept(): Promise<void> {
    this.underWay--;
    this.#ends.shift()!.resolve();
    await nextTurn();
  }

  async refuse(error: unknown): Promise<void> {
    this.underWay--;
    this.#ends.shift()!.reject(error);
    await nextTurn();
  }
}

const WITHDRAWN = new Error("withdrawn");

function setUp(settings: Partial<WriteBufferSettings> = {}): { sink: Sink; buffer: WriteBuffer } {
  const sink = new Sink();
  const buffer = new WriteBuffer((bytes) => sink.write(bytes), {
    highWaterBytes: 100,
    maxBatchBytes: 1_000,
    ...settings,
  }, () => WITHDRAWN);
  return { sink, buffer };
}

test("WriteBuffer.enqueue() writes nothing before the turn has ended", async () => {
  const { sink, buffer } = setUp();
  const frame = buffer.enqueue("a");
  assert.equal(sink.writes.length, 0);
  assert.equal(frame.begun, false);
  assert.equal(buffer.idle, false);
  await nextTurn();
  assert.deepEqual(sink.writes, ["a\n"]);
  assert.equal(frame.begun, true);
  assert.equal(await stateOf(frame.accepted), "pending");
  await sink.accept();
  assert.equal(await stateOf(frame.accepted), "fulfilled");
  assert.equal(frame.begun, true);
  assert.equal(buffer.idle, true);
});

test("WriteBuffer.enqueue() makes one write of 64 frames of one turn", async () => {
  const { sink, buffer } = setUp();
  const frames = Array.from({ length: 64 }, (_, index) => buffer.enqueue(`${index}`));
  await nextTurn();
  assert.deepEqual(sink.writes, [frames.map((_, index) => `${index}\n`).join("")]);
  await sink.accept();
  for (const frame of frames) assert.equal(await stateOf(frame.accepted), "fulfilled");
  assert.equal(sink.writes.length, 1);
});

test("WriteBuffer.enqueue() makes one write of frames that come one after another in one turn", async () => {
  const { sink, buffer } = setUp();
  const texts = Array.from({ length: 20 }, (_, index) => `${index}`);
  for (const text of texts) {
    buffer.enqueue(text);
    await Promise.resolve();
  }
  await nextTurn();
  assert.deepEqual(sink.writes, [texts.map((text) => `${text}\n`).join("")]);
  await sink.accept();
  // A frame of 1 MiB does not wait for others, and no number of frames can put the write off for ever.
  for (let count = 0; count < 3 && sink.writes.length < 2; count++) {
    buffer.enqueue("x".repeat(1_048_576));
    await Promise.resolve();
  }
  assert.equal(sink.writes.length, 2);
});

test("WriteBuffer.enqueue() lets frames wait for the write in flight and sends them together", async () => {
  const { sink, buffer } = setUp();
  buffer.enqueue("first");
  await nextTurn();
  for (const text of ["a", "b", "c"]) {
    buffer.enqueue(text);
    await nextTurn();
  }
  assert.deepEqual(sink.writes, ["first\n"]);
  assert.equal(sink.underWay, 1);
  await sink.accept();
  assert.deepEqual(sink.writes, ["first\n", "a\nb\nc\n"]);
  buffer.enqueue("d");
  await sink.accept();
  await sink.accept();
  assert.deepEqual(sink.writes, ["first\n", "a\nb\nc\n", "d\n"]);
  assert.equal(buffer.idle, true);
});

test("WriteBuffer.enqueue() writes at once when enough for a write has come", async () => {
  const { sink, buffer } = setUp({ maxBatchBytes: 100_000 });
  buffer.enqueue("x".repeat(4_000));
  assert.equal(sink.writes.length, 0);
  buffer.enqueue("y".repeat(5_000));
  assert.deepEqual(sink.writes.map(({ length }) => length), [9_002]);
  buffer.enqueue("z".repeat(9_000));
  assert.equal(sink.writes.length, 1, "one write is in flight at a time");
  await sink.accept();
  assert.deepEqual(sink.writes.map(({ length }) => length), [9_002, 9_001]);
});

test("WriteBuffer.enqueue() has one write in flight at any time and keeps the order", async () => {
  const { sink, buffer } = setUp({ maxBatchBytes: 50 });
  const random = createRandom(3);
  const texts: string[] = [];
  for (let round = 0; round < 2_000; round++) {
    const text = `${round}${random.oneIn(20) ? "x".repeat(random.below(200)) : ""}`;
    texts.push(text);
    buffer.enqueue(random.oneIn(2) ? text : bytesOf(`${text}\n`));
    if (random.oneIn(10)) await Promise.resolve();
    assert.ok(sink.underWay <= 1);
    if (sink.underWay === 1 && random.oneIn(30)) await sink.accept();
  }
  await nextTurn();
  while (sink.underWay > 0) await sink.accept();
  assert.equal(sink.writes.join(""), texts.map((text) => `${text}\n`).join(""));
});

test("WriteBuffer.enqueue() ends a batch at its size, but never inside a frame", async () => {
  const { sink, buffer } = setUp({ maxBatchBytes: 10 });
  for (const text of ["12345", "67890", "1", "x".repeat(30), "2", bytesOf(`${"y".repeat(29)}\n`), "3"]) {
    buffer.enqueue(text);
  }
  await nextTurn();
  while (sink.underWay > 0) await sink.accept();
  assert.deepEqual(sink.writes, [
    "12345\n67890\n",
    "1\n",
    `${"x".repeat(30)}\n`,
    "2\n",
    `${"y".repeat(29)}\n`,
    "3\n",
  ]);
});

test("WriteBuffer.enqueue() joins text, which it gives a LF each, and bytes, which have one", async () => {
  const { sink, buffer } = setUp();
  for (const content of ["é", bytesOf("日本\n"), "😀", bytesOf("\u2028\n")]) buffer.enqueue(content);
  await nextTurn();
  assert.deepEqual(sink.writes, ["é\n日本\n😀\n\u2028\n"]);
});

test(
  "WriteBuffer.enqueue() empties a long queue in time that grows with it",
  { timeout: 60_000 },
  async () => {
    async function cost(count: number): Promise<number> {
      let written = 0;
      const buffer = new WriteBuffer(
        (bytes) => {
          written += bytes.length;
          return Promise.resolve();
        },
        { highWaterBytes: 1, maxBatchBytes: 10 },
        () => WITHDRAWN,
      );
      const start = cpuTime();
      for (let index = 0; index < count; index++) buffer.enqueue("0123456789");
      await buffer.flushed();
      assert.equal(written, 11 * count);
      return cpuTime() - start;
    }
    await assertGrowth(cost, { small: 10_000, large: 80_000, factor: 24 });
  },
);

test("WriteBuffer.full tells when as much is queued as the high water", async () => {
  const { sink, buffer } = setUp({ highWaterBytes: 10 });
  buffer.enqueue("123456789");
  assert.equal(buffer.full, false);
  assert.equal(await stateOf(buffer.drained()), "fulfilled");
  buffer.enqueue("12345678901");
  buffer.enqueue("1234567890");
  assert.equal(buffer.full, true);
  const drained = buffer.drained();
  assert.equal(await stateOf(drained), "pending");
  assert.equal(buffer.full, true);
  await sink.accept();
  assert.equal(buffer.full, false);
  assert.equal(await stateOf(drained), "fulfilled");
});

test("WriteBuffer.drained() resolves as soon as the queue is below the high water", async () => {
  const { sink, buffer } = setUp({ highWaterBytes: 25, maxBatchBytes: 10 });
  for (let count = 0; count < 5; count++) buffer.enqueue("0123456789");
  const drained = buffer.drained();
  await nextTurn();
  // One is in flight, four are queued.
  assert.equal(await stateOf(drained), "pending");
  await sink.accept();
  assert.equal(await stateOf(drained), "pending");
  await sink.accept();
  assert.equal(await stateOf(drained), "fulfilled");
  assert.equal(buffer.idle, false);
});

test("WriteBuffer.drained() waits for a write to be taken, not for its beginning: it may still be lost", async () => {
  const { sink, buffer } = setUp({ highWaterBytes: 5 });
  buffer.enqueue("0123456789");
  const drained = buffer.drained();
  await nextTurn();
  assert.equal(sink.writes.length, 1);
  assert.equal(await stateOf(drained), "pending");
  await sink.accept();
  assert.equal(await stateOf(drained), "fulfilled");
});

test("WriteBuffer.drained() can be awaited many times over", async () => {
  const { sink, buffer } = setUp({ highWaterBytes: 5 });
  for (let round = 0; round < 3; round++) {
    buffer.enqueue("0123456789");
    await nextTurn();
    buffer.enqueue("0123456789");
    const waiting = [buffer.drained(), buffer.drained()];
    assert.equal(await stateOf(waiting[0]!), "pending");
    await sink.accept();
    for (const drained of waiting) assert.equal(await stateOf(drained), "fulfilled");
    await sink.accept();
  }
});

test("WriteBuffer.flushed() resolves when all that was queued has been accepted", async () => {
  const { sink, buffer } = setUp({ maxBatchBytes: 1 });
  assert.equal(await stateOf(buffer.flushed()), "fulfilled");
  const frames = ["a", "b", "c"].map((text) => buffer.enqueue(text));
  const flushed = buffer.flushed();
  for (let count = 0; count < 3; count++) {
    assert.equal(await stateOf(flushed), "pending");
    await sink.accept();
  }
  assert.equal(await stateOf(flushed), "fulfilled");
  assert.equal(await stateOf(frames[2]!.accepted), "fulfilled");
  assert.equal(await stateOf(buffer.flushed()), "fulfilled");
});

test("Outgoing.accepted gives one outcome, whenever it is asked", async () => {
  const { sink, buffer } = setUp();
  const early = buffer.enqueue("early");
  const first = early.accepted;
  await nextTurn();
  await sink.accept();
  assert.equal(await stateOf(first), "fulfilled");
  assert.equal(await stateOf(early.accepted), "fulfilled");
  const lost = buffer.enqueue("lost");
  const before = lost.accepted;
  const error = new Error("gone");
  buffer.fail(error);
  await assert.rejects(before, error);
  await assert.rejects(lost.accepted, error);
  await assert.rejects(lost.accepted, error);
});

test("Outgoing.withdraw() takes back a frame that has not begun", async () => {
  const { sink, buffer } = setUp();
  const [first, second, third] = ["first", "second", "third"].map((text) => buffer.enqueue(text));
  const accepted = second!.accepted;
  assert.equal(second!.withdraw(), true);
  assert.equal(second!.begun, false);
  await assert.rejects(accepted, WITHDRAWN);
  await assert.rejects(second!.accepted, WITHDRAWN);
  assert.equal(second!.withdraw(), false);
  await nextTurn();
  assert.deepEqual(sink.writes, ["first\nthird\n"]);
  assert.equal(first!.withdraw(), false);
  assert.equal(third!.withdraw(), false);
  await sink.accept();
  assert.equal(first!.withdraw(), false);
  assert.equal(await stateOf(third!.accepted), "fulfilled");
  assert.equal(buffer.idle, true);
});

test("Outgoing.withdraw() takes back a frame that waits for a write in flight", async () => {
  const { sink, buffer } = setUp();
  buffer.enqueue("first");
  await nextTurn();
  const second = buffer.enqueue("second");
  const flushed = buffer.flushed();
  assert.equal(second.withdraw(), true);
  assert.equal(await stateOf(flushed), "pending");
  await sink.accept();
  assert.equal(await stateOf(flushed), "fulfilled");
  assert.deepEqual(sink.writes, ["first\n"]);
  assert.equal(buffer.idle, true);
});

test("Outgoing.withdraw() of the only frame leaves the buffer idle and makes no write", async () => {
  const { sink, buffer } = setUp();
  const frame = buffer.enqueue("a");
  const flushed = buffer.flushed();
  assert.equal(frame.withdraw(), true);
  assert.equal(buffer.idle, true);
  assert.equal(await stateOf(flushed), "fulfilled");
  assert.deepEqual(sink.writes, []);
  buffer.enqueue("b");
  await nextTurn();
  assert.deepEqual(sink.writes, ["b\n"]);
});

test("Outgoing.withdraw() makes room", async () => {
  const { buffer } = setUp({ highWaterBytes: 10 });
  const frame = buffer.enqueue("0123456789");
  assert.equal(buffer.full, true);
  const drained = buffer.drained();
  frame.withdraw();
  assert.equal(buffer.full, false);
  assert.equal(await stateOf(drained), "fulfilled");
});

test("Outgoing.withdraw() makes room while a write is stuck, and whoever waits for it goes on", async () => {
  const { buffer } = setUp({ highWaterBytes: 10 });
  buffer.enqueue("stuck");
  await nextTurn();
  const frame = buffer.enqueue("0123456789");
  assert.equal(buffer.full, true);
  const drained = buffer.drained();
  assert.equal(await stateOf(drained), "pending");
  frame.withdraw();
  assert.equal(await stateOf(drained), "fulfilled");
});

test(
  "Outgoing.withdraw() lets go of the frame's content while a write is stuck",
  { timeout: 60_000 },
  async () => {
    const { buffer } = setUp();
    buffer.enqueue("stuck");
    await nextTurn();
    const before = await heldBytes();
    // As with a server that reads nothing while one request after the other times out.
    for (let count = 0; count < 64; count++) {
      const frame = buffer.enqueue(new Uint8Array(1_048_576));
      await nextTurn();
      assert.equal(frame.withdraw(), true);
    }
    const held = await heldBytes() - before;
    assert.equal(buffer.full, false);
    assert.ok(held < 8 * 1_048_576, `${held} bytes are held`);
  },
);

test(
  "Outgoing.withdraw() leaves nothing of many frames behind a stuck write",
  { timeout: 60_000 },
  async () => {
    const { buffer } = setUp();
    buffer.enqueue("stuck");
    await nextTurn();
    const before = await heldBytes();
    for (let count = 0; count < 100_000; count++) buffer.enqueue("x").withdraw();
    const held = await heldBytes() - before;
    assert.equal(buffer.size, 0);
    assert.ok(held < 2 * 1_048_576, `${held} bytes are held`);
  },
);

test("Outgoing.accepted of a withdrawn frame keeps its reason after the buffer has failed", async () => {
  const { buffer } = setUp();
  const frame = buffer.enqueue("a");
  frame.withdraw();
  buffer.fail(new Error("gone"));
  await assert.rejects(frame.accepted, WITHDRAWN);
});

test("Outgoing.begun stays true for a frame that was in flight when the buffer failed", async () => {
  const { buffer } = setUp();
  const frame = buffer.enqueue("a");
  await nextTurn();
  const queued = buffer.enqueue("b");
  assert.equal(frame.begun, true);
  buffer.fail(new Error("gone"));
  // Part of it may have arrived: whoever wants to send it again has to know.
  assert.equal(frame.begun, true);
  assert.equal(queued.begun, false);
  assert.equal(frame.withdraw(), false);
  assert.equal(queued.withdraw(), false);
});

test("WriteBuffer.fail() fails what was not accepted, and all that comes later", async () => {
  const { sink, buffer } = setUp({ highWaterBytes: 1 });
  const accepted = buffer.enqueue("accepted");
  await nextTurn();
  await sink.accept();
  const inFlight = buffer.enqueue("in flight");
  await nextTurn();
  const queued = buffer.enqueue("queued");
  const [drained, flushed] = [buffer.drained(), buffer.flushed()];
  const error = new Error("gone");
  buffer.fail(error);
  buffer.fail(new Error("again"));
  const later = buffer.enqueue("later");
  for (const frame of [inFlight, queued, later]) {
    await assert.rejects(frame.accepted, error);
    assert.equal(frame.withdraw(), false);
  }
  assert.equal(await stateOf(accepted.accepted), "fulfilled");
  assert.equal(await stateOf(drained), "fulfilled");
  assert.equal(await stateOf(flushed), "fulfilled");
  assert.equal(await stateOf(buffer.drained()), "fulfilled");
  assert.equal(await stateOf(buffer.flushed()), "fulfilled");
  assert.equal(buffer.full, false);
  assert.equal(buffer.idle, true);
  // The write in flight may still end.
  await sink.accept();
  assert.deepEqual(sink.writes, ["accepted\n", "in flight\n"]);
  assert.equal(await stateOf(inFlight.accepted), "rejected");
});

test("WriteBuffer.fail() in the turn of an enqueue() prevents the write", async () => {
  const { sink, buffer } = setUp();
  const frame = buffer.enqueue("a");
  buffer.fail(new Error("gone"));
  await nextTurn();
  assert.deepEqual(sink.writes, []);
  assert.equal(await stateOf(frame.accepted), "rejected");
});

test("WriteBuffer fails when a write does", async () => {
  const { sink, buffer } = setUp();
  const first = buffer.enqueue("first");
  await nextTurn();
  const second = buffer.enqueue("second");
  const flushed = buffer.flushed();
  const error = new Error("EPIPE");
  await sink.refuse(error);
  await assert.rejects(first.accepted, error);
  await assert.rejects(second.accepted, error);
  await assert.rejects(buffer.enqueue("third").accepted, error);
  assert.equal(await stateOf(flushed), "fulfilled");
  assert.deepEqual(sink.writes, ["first\n"]);
});

test("WriteBuffer leaves no rejection unobserved", async () => {
  const { sink, buffer } = setUp({ highWaterBytes: 1 });
  const frames = ["a", "b", "c"].map((text) => buffer.enqueue(text));
  // Asked for, and then forgotten.
  for (const frame of frames) void frame.accepted;
  void buffer.drained();
  void buffer.flushed();
  frames[1]!.withdraw();
  await nextTurn();
  buffer.enqueue("d").withdraw();
  buffer.enqueue("e");
  await sink.refuse(new Error("EPIPE"));
  void buffer.enqueue("f").accepted;
  buffer.fail(new Error("gone"));
  await showUnhandledRejections();
});

test("WriteBuffer holds nothing of what was accepted", { timeout: 60_000 }, async () => {
  const buffer = new WriteBuffer(() => nextTurn(), {
    highWaterBytes: 1,
    maxBatchBytes: 1_048_576,
  }, () => WITHDRAWN);
  const before = await heldBytes();
  const frames = [];
  for (let count = 0; count < 32; count++) {
    frames.push(buffer.enqueue(new Uint8Array(1_048_576)));
    await buffer.drained();
  }
  await buffer.flushed();
  const held = await heldBytes() - before;
  assert.ok(held < 4 * 1_048_576, `${held} bytes are held by ${frames.length} frames`);
});

test("WriteBuffer goes on in the same call while the sink takes what it is given at once", async () => {
  const writes: string[] = [];
  const ends: (() => void)[] = [];
  let takes = 3;
  const buffer = new WriteBuffer(
    (bytes) => {
      writes.push(textOf(bytes));
      return takes-- > 0 ? undefined : new Promise((resolve) => ends.push(resolve));
    },
    { highWaterBytes: 100, maxBatchBytes: 4 },
    () => WITHDRAWN,
  );
  const frames = ["a", "bb", "cccc", "dddd", "eeee", "f"].map((text) => buffer.enqueue(text));
  const flushed = buffer.flushed();
  assert.deepEqual(writes, []);
  await Promise.all(frames.slice(0, 4).map(({ accepted }) => accepted));
  assert.deepEqual(writes, ["a\nbb\n", "cccc\n", "dddd\n", "eeee\n"]);
  assert.deepEqual(frames.map(({ begun }) => begun), [true, true, true, true, true, false]);
  assert.equal(await stateOf(frames[4]!.accepted), "pending");
  assert.equal(frames[5]!.withdraw(), true);
  frames[5]!.accepted.catch(() => {});
  ends[0]!();
  await Promise.all([frames[4]!.accepted, flushed]);
  takes = 1_000;
  const many = Array.from({ length: 100 }, (_, index) => buffer.enqueue(`${index}`.padEnd(4)));
  await buffer.drained();
  await Promise.all(many.map(({ accepted }) => accepted));
  assert.equal(writes.length, 104);
  assert.equal(buffer.idle, true);
});

test("WriteBuffer takes a frame that is queued while the sink takes another at once", () => {
  const writes: string[] = [];
  const buffer = new WriteBuffer(
    (bytes) => {
      writes.push(textOf(bytes));
      if (writes.length < 4) buffer.enqueue(`${writes.length}`.padEnd(9_000));
      return undefined;
    },
    { highWaterBytes: 100, maxBatchBytes: 4 },
    () => WITHDRAWN,
  );
  buffer.enqueue("0".padEnd(9_000));
  assert.deepEqual(writes.map((text) => text.trim()), ["0", "1", "2", "3"]);
  assert.equal(buffer.idle, true);
});
