import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { Fault } from "../connection.ts";
import { cleanLine } from "../internal/framing/line_fault.ts";
import { LineSplitter } from "../internal/framing/line_splitter.ts";
import {
  assertGrowth,
  byteByByte,
  bytesOf,
  chunked,
  cpuTime,
  createRandom,
  everyCut,
  everySplit,
  heldBytes,
  randomCuts,
} from "./helpers.ts";

const LIMIT = 64;

/** What the splitter said: a text for a line, a fault for a fault. */
type Outcome = string | Fault;

function split(chunks: Iterable<Uint8Array>, limit = LIMIT): Outcome[] {
  const outcomes: Outcome[] = [];
  const splitter = new LineSplitter(limit, {
    line: (text) => {
      // Blank lines are left to the sink; whether an empty one is told depends on the cut and means nothing.
      if (text !== "") outcomes.push(text);
    },
    fault: (fault) => outcomes.push(fault),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return outcomes;
}

/** What the splitter says, which must be the same for every cut of the input (F3). Previews have a test of their own. */
function splitEveryWay(bytes: Uint8Array, limit = LIMIT): Outcome[] {
  const whole = split([bytes.slice()], limit);
  for (const chunks of everyCut(bytes)) {
    assert.deepEqual(
      split(chunks, limit).map(withoutPreview),
      whole.map(withoutPreview),
      `in ${chunks.length} chunks: ${chunks[0]?.length}, …`,
    );
  }
  return whole;
}

function withoutPreview(outcome: Outcome): Outcome {
  return typeof outcome === "string" ? outcome : { ...outcome, preview: "" };
}

function reasons(outcomes: readonly Outcome[]): (string | undefined)[] {
  return outcomes.map((outcome) => typeof outcome === "string" ? undefined : outcome.reason);
}

test("LineSplitter ends a line at LF alone (F1)", () => {
  const line = "a\u2028b\u2029c\u0085d\re\vf\fg\0h";
  assert.deepEqual(splitEveryWay(bytesOf(line, "\n", "next\n")), [line, "next"]);
});

test("LineSplitter keeps characters of two, three and four bytes whole (F1, F3)", () => {
  const lines = ["é – 日本語 – 𝒜😀", "\ufeff", "e\u0301\u200d"];
  assert.deepEqual(splitEveryWay(bytesOf(lines.join("\n"), "\n")), lines);
});

test("LineSplitter leaves a carriage return and a byte order mark to the sink (F2)", () => {
  assert.deepEqual(splitEveryWay(bytesOf("\ufeffa\r\n", "b\r\r\n", "\r\n", "\n", " \t\n")), [
    "\ufeffa\r",
    "b\r\r",
    "\r",
    " \t",
  ]);
});

test("LineSplitter takes a line of exactly the limit and refuses one byte more (F5)", () => {
  for (const limit of [1, 2, 3, 7, 8]) {
    const ok = "x".repeat(limit);
    const outcomes = splitEveryWay(bytesOf(ok, "\n", ok, "y\n", ok, "\r\n", ok, "y\r\n", ok, "\n"), limit);
    assert.deepEqual(
      reasons(outcomes),
      [undefined, "too_long", undefined, "too_long", undefined],
      `limit ${limit}`,
    );
  }
});

test("LineSplitter counts one carriage return out of the limit, and no more (F5)", () => {
  const ok = "x".repeat(LIMIT - 1);
  const outcomes = splitEveryWay(bytesOf(ok, "\r\r\n", ok, "\r\r\r\n", ok, "x\ry\n", ok, "x\r\n"));
  assert.deepEqual(reasons(outcomes), [undefined, "too_long", "too_long", undefined]);
});

test("LineSplitter drops a line over the limit and gives the next one whole (F5)", () => {
  const long = `{"id":"a","text":"${"x".repeat(3 * LIMIT)}"}`;
  const outcomes = splitEveryWay(bytesOf("before\n", long, "\n", "after\n", long, "\r\n", "end\n"));
  assert.deepEqual(reasons(outcomes), [undefined, "too_long", undefined, "too_long", undefined]);
  const faults = outcomes.filter((outcome): outcome is Fault => typeof outcome !== "string");
  assert.deepEqual(faults.map(({ byteLength }) => byteLength), [long.length, long.length + 1]);
  assert.deepEqual(faults.map(({ id }) => id), ["a", "a"]);
});

test("LineSplitter gives the same preview for a line over the limit, however it was cut (F3, F5)", () => {
  // Shorter than a preview, and longer than the part that was read when the limit was passed.
  const bytes = bytesOf(`{"id":1,"text":"${"0123456789".repeat(40)}"}\n`);
  const previews = new Set<string>();
  for (const chunks of everyCut(bytes)) {
    const [fault] = split(chunks, 32) as [Fault];
    assert.equal(fault.reason, "too_long");
    previews.add(fault.preview);
  }
  assert.equal(previews.size, 1, `${previews.size} different previews`);
});

test("LineSplitter keeps at most 1 KiB of a line as its preview", () => {
  for (const limit of [2_048, 100_000]) {
    const [fault] = split([bytesOf("é", "y".repeat(5_000), [0xff], "\n")], limit);
    assert.ok(typeof fault === "object");
    assert.equal(fault.preview, `é${"y".repeat(1_022)}`);
  }
});

test("LineSplitter makes a fault of each line with bad UTF-8 and spares its neighbours (F4)", () => {
  const outcomes = splitEveryWay(
    bytesOf("one\n", [0xff], "\n", "two\n", [0xc3], "\n", [0xa9], "\n", "three\n"),
  );
  assert.deepEqual(reasons(outcomes), [
    undefined,
    "invalid_utf8",
    undefined,
    "invalid_utf8",
    "invalid_utf8",
    undefined,
  ]);
  assert.deepEqual(outcomes.filter((outcome) => typeof outcome === "string"), ["one", "two", "three"]);
});

test("LineSplitter says too_long, not invalid_utf8, for a line that is both (F5)", () => {
  const outcomes = splitEveryWay(
    bytesOf([0xff], "x".repeat(LIMIT), "\n", [0xff], "x".repeat(LIMIT - 1), "\n"),
  );
  assert.deepEqual(reasons(outcomes), ["too_long", "invalid_utf8"]);
});

test("LineSplitter.end() makes a fault of an unfinished line (F7)", () => {
  const outcomes = splitEveryWay(bytesOf("one\n", '{"id":5,"method":"m"}'));
  assert.deepEqual(reasons(outcomes), [undefined, "truncated"]);
  const fault = outcomes[1] as Fault;
  assert.equal(fault.id, 5);
  assert.equal(fault.hasMethod, true);
  assert.equal(fault.byteLength, 21);
  assert.equal(fault.preview, '{"id":5,"method":"m"}');
});

test("LineSplitter.end() makes a fault of an unfinished line over the limit (F5, F7)", () => {
  const outcomes = splitEveryWay(bytesOf('{"id":"long","a":"', "x".repeat(2 * LIMIT)));
  assert.deepEqual(reasons(outcomes), ["truncated"]);
  assert.equal((outcomes[0] as Fault).id, "long");
  assert.equal((outcomes[0] as Fault).byteLength, 18 + 2 * LIMIT);
});

test("LineSplitter.end() makes a fault of an unfinished line that is cut inside a character (F4, F7)", () => {
  const outcomes = splitEveryWay(bytesOf('{"id":1,"a":"', [0xf0, 0x9f, 0x98]));
  assert.deepEqual(reasons(outcomes), ["truncated"]);
});

test("LineSplitter.end() says nothing of an unfinished line that is blank (F2, F7)", () => {
  for (const blank of ["", " ", "\t\r", "\ufeff", "\ufeff \r", "\r"]) {
    assert.deepEqual(splitEveryWay(bytesOf("one\n", blank)), ["one"], JSON.stringify(blank));
  }
  assert.deepEqual(reasons(splitEveryWay(bytesOf("\ufeff\ufeff"))), ["truncated"]);
});

test("LineSplitter.end() leaves nothing for a second end (F7)", () => {
  const outcomes: string[] = [];
  const splitter = new LineSplitter(8, { line() {}, fault: ({ reason }) => outcomes.push(reason) });
  splitter.push(bytesOf("half"));
  splitter.end();
  splitter.end();
  splitter.push(bytesOf("more than eight"));
  splitter.end();
  splitter.end();
  assert.deepEqual(outcomes, ["truncated", "truncated"]);
});

test("LineSplitter.push() makes nothing of empty chunks (F3)", () => {
  const empty = new Uint8Array();
  const bytes = bytesOf("é\n", "x".repeat(LIMIT + 1), "\n", "end\n");
  const chunks = byteByByte(bytes).flatMap((chunk) => [empty, chunk, empty]);
  assert.deepEqual(split(chunks), split([bytes]));
  assert.deepEqual(split([empty, empty]), []);
});

test("LineSplitter.push() joins chunks of every size at and around its block sizes (F3)", () => {
  const random = createRandom(1);
  const sizes = [1, 2, 16_383, 16_384, 16_385, 32_768, 65_535, 65_536, 65_537, 100_000];
  const lines = sizes.map((size, index) => String.fromCharCode(97 + index).repeat(size));
  const bytes = bytesOf(lines.join("\n"), "\n");
  for (const size of sizes.filter((size) => size > 2)) {
    assert.deepEqual(split(chunked(bytes, size), 100_000), lines, `chunks of ${size}`);
  }
  for (let round = 0; round < 30; round++) {
    assert.deepEqual(split(randomCuts(bytes, random, 40), 100_000), lines);
  }
});

test("LineSplitter.push() mixes large and small chunks in their order (F3)", () => {
  const random = createRandom(2);
  for (let round = 0; round < 20; round++) {
    const chunks: Uint8Array[] = [];
    for (let count = 0; count < 20; count++) {
      const size = random.pick([1, 3, 1_000, 16_383, 16_384, 20_000]);
      chunks.push(Uint8Array.from({ length: size }, () => 0x61 + random.below(26)));
    }
    chunks.push(bytesOf("\n"));
    const [line] = split(chunks, 1_000_000);
    assert.ok(line === new TextDecoder().decode(bytesOf(...chunks)).slice(0, -1), `round ${round}`);
  }
});

test("LineSplitter.push() does not change the chunks it is given", () => {
  const bytes = bytesOf("\ufeffone\r\n", [0xff], "\n", "x".repeat(2 * LIMIT), "\nend");
  for (const chunks of everySplit(bytes)) {
    const before = chunks.map((chunk) => chunk.slice());
    split(chunks);
    assert.deepEqual(chunks, before);
  }
});

test("LineSplitter.push() takes views into the middle of a larger buffer", () => {
  const buffer = bytesOf("junk\n", "one\ntwo\n", "junk\n");
  assert.deepEqual(split([new Uint8Array(buffer.buffer, 5, 8)]), ["one", "two"]);
  assert.deepEqual(split([new Uint8Array(buffer.buffer, 5, 6), new Uint8Array(buffer.buffer, 11, 2)]), [
    "one",
    "two",
  ]);
});

test("LineSplitter drops 64 MiB without LF in flat memory, and the next line is whole (F5)", {
  timeout: 60_000,
}, async () => {
  const limit = 4 * 1_048_576;
  const outcomes: Outcome[] = [];
  const splitter = new LineSplitter(limit, {
    line: (text) => outcomes.push(text),
    fault: (fault) => outcomes.push(fault),
  });
  const before = await heldBytes();
  let most = 0;
  splitter.push(bytesOf('{"jsonrpc":"2.0","result":{"text":"'));
  for (let mebibyte = 0; mebibyte < 64; mebibyte++) {
    for (let part = 0; part < 16; part++) splitter.push(new Uint8Array(65_536).fill(0x78));
    // Right under the limit, right over it, and now and then.
    if ([3, 4, 30, 63].includes(mebibyte)) most = Math.max(most, await heldBytes() - before);
  }
  splitter.push(bytesOf('"},"id":7}\nnext\n'));
  assert.equal(outcomes.length, 2);
  const [fault, line] = outcomes as [Fault, string];
  assert.equal(fault.reason, "too_long");
  assert.equal(fault.id, 7);
  assert.equal(fault.byteLength, 64 * 1_048_576 + 45);
  assert.equal(line, "next");
  assert.ok(most < limit + 2 * 1_048_576, `${most} bytes were held`);
});

test("LineSplitter holds nothing of a line that has ended (F8)", { timeout: 60_000 }, async () => {
  const splitter = new LineSplitter(64 * 1_048_576, { line() {}, fault() {} });
  const before = await heldBytes();
  for (const size of [65_536, 4_096]) {
    for (let sent = 0; sent < 16 * 1_048_576; sent += size) splitter.push(new Uint8Array(size).fill(0x78));
    assert.ok(await heldBytes() - before >= 4 * 1_048_576, "the unfinished line is not held");
    splitter.push(bytesOf("\n"));
    const held = await heldBytes() - before;
    assert.ok(held < 1_048_576, `${held} bytes are still held`);
  }
});

test("LineSplitter holds no chunk for the start of a line at its end (F8)", { timeout: 60_000 }, async () => {
  // `slice()` of a Buffer, which Node's streams give, makes no copy.
  for (const make of [(size: number) => new Uint8Array(size), (size: number) => Buffer.alloc(size)]) {
    const splitters: LineSplitter[] = [];
    const before = await heldBytes();
    for (let count = 0; count < 64; count++) {
      const splitter = new LineSplitter(1_000, { line() {}, fault() {} });
      const chunk = make(1_048_576).fill(0x78);
      chunk.set(bytesOf("\na"), chunk.length - 2);
      splitter.push(chunk);
      splitters.push(splitter);
    }
    const held = await heldBytes() - before;
    assert.ok(held < 8 * 1_048_576, `${held} bytes are held for ${splitters.length} bytes`);
  }
});

test("LineSplitter holds little more than the bytes of an unfinished line, however it was cut (F5)", {
  timeout: 60_000,
}, async () => {
  const mebibytes = 4;
  for (const sizes of [[1_000], [16_383], [16_384], [16_384, 1], [65_536, 1], [20_000, 5_000]]) {
    const splitter = new LineSplitter(64 * 1_048_576, { line() {}, fault() {} });
    const before = await heldBytes();
    for (let sent = 0, turn = 0; sent < mebibytes * 1_048_576; turn++) {
      const size = sizes[turn % sizes.length]!;
      splitter.push(new Uint8Array(size).fill(0x78));
      sent += size;
    }
    const held = await heldBytes() - before;
    splitter.push(bytesOf("\n"));
    assert.ok(held < 2 * mebibytes * 1_048_576, `${held} bytes are held for chunks of ${sizes}`);
  }
});

test(
  "LineSplitter joins a line of 1 MiB in one-byte chunks with little memory (F8)",
  { timeout: 60_000 },
  async () => {
    let length = 0;
    const splitter = new LineSplitter(2 * 1_048_576, { line: (text) => length = text.length, fault() {} });
    const bytes = new Uint8Array(1_048_576).fill(0x78);
    const before = await heldBytes();
    for (let at = 0; at < bytes.length; at++) splitter.push(bytes.slice(at, at + 1));
    const held = await heldBytes() - before;
    splitter.push(bytesOf("\n"));
    assert.equal(length, bytes.length);
    assert.ok(held < 3 * 1_048_576, `${held} bytes were held`);
  },
);

test("LineSplitter copies each byte of a line at most twice (F8)", () => {
  const line = new Uint8Array(4 * 1_048_576).fill(0x78);
  for (const size of [100, 4_096, 16_384, 65_536, 65_537]) {
    const chunks = [...chunked(line, size), bytesOf("\n")];
    const copied = copiedBytes(() => assert.equal(split(chunks, line.length).length, 1));
    assert.ok(
      copied <= 2 * line.length,
      `${copied} bytes were copied for ${line.length} in chunks of ${size}`,
    );
  }
});

test(
  "LineSplitter joins one-byte chunks in time that grows with their number (F8)",
  { timeout: 60_000 },
  () => {
    function cost(kibibytes: number): number {
      const splitter = new LineSplitter(128 * 1_048_576, { line() {}, fault() {} });
      const chunk = bytesOf("x");
      const start = cpuTime();
      for (let count = 0; count < kibibytes * 1_024; count++) splitter.push(chunk);
      splitter.push(bytesOf("\n"));
      return cpuTime() - start;
    }
    return assertGrowth(cost, { small: 128, large: 1_024, factor: 24 });
  },
);

test("LineSplitter drops a line in time that grows with its length (F5, F8)", { timeout: 60_000 }, () => {
  function cost(mebibytes: number): number {
    const splitter = new LineSplitter(1_024, { line() {}, fault() {} });
    const chunk = bytesOf('"text":["a\\"b",{"c":1}],'.repeat(170));
    const start = cpuTime();
    splitter.push(bytesOf("{"));
    for (let count = 0; count < mebibytes * 256; count++) splitter.push(chunk);
    splitter.push(bytesOf("\n"));
    return cpuTime() - start;
  }
  return assertGrowth(cost, { small: 1, large: 8, factor: 24 });
});

test("cleanLine() removes one byte order mark and one carriage return (F2)", () => {
  const rows: [string, string | undefined][] = [
    ["a", "a"],
    ["a\r", "a"],
    ["a\r\r", "a\r"],
    ["\ra", "\ra"],
    ["\ufeffa", "a"],
    ["\ufeff\ufeffa", "\ufeffa"],
    ["a\ufeff", "a\ufeff"],
    [" \ufeffa\r", " \ufeffa"],
    [" a ", " a "],
    ["", undefined],
    [" \t\r", undefined],
    ["\r\r", undefined],
    ["\ufeff", undefined],
    ["\ufeff\r", undefined],
    ["\ufeff\ufeff", "\ufeff"],
    ["\u00a0", "\u00a0"],
    ["\u2003", "\u2003"],
    ["\v", "\v"],
    ["\f", "\f"],
    ["a\0", "a\0"],
    [" \0", " \0"],
  ];
  for (const [line, clean] of rows) assert.equal(cleanLine(line), clean, JSON.stringify(line));
});

test("cleanLine() removes the NUL characters that UTF-16 text leaves at a line's start (F2, XB6)", () => {
  const rows: [string, string | undefined][] = [
    ["\0", undefined],
    ["\0\0\r", undefined],
    ["\0a", "a"],
    ["\0\0\0a\r", "a"],
    ["\0\ufeff\0a", "a"],
    ["\ufeff\0a", "a"],
    ["\0\ufeff\ufeffa", "\ufeffa"],
    ["\0 \0a", " \0a"],
  ];
  for (const [line, clean] of rows) assert.equal(cleanLine(line), clean, JSON.stringify(line));
});

test("LineSplitter.end() takes the NUL behind the last line feed of UTF-16 text for nothing (F2, F7)", () => {
  assert.deepEqual(splitEveryWay(bytesOf("a\n", [0])), ["a"]);
  assert.deepEqual(splitEveryWay(bytesOf("a\n", [0, 0xef, 0xbb, 0xbf, 0, 0x20])), ["a"]);
  assert.deepEqual(reasons(splitEveryWay(bytesOf("a\n", [0x20, 0]))), [undefined, "truncated"]);
});

/** How many bytes are copied from one array to another while the function runs. */
function copiedBytes(run: () => void): number {
  const { set, slice } = Uint8Array.prototype;
  let copied = 0;
  Uint8Array.prototype.set = function (source, offset): void {
    copied += source.length;
    set.call(this, source, offset);
  };
  Uint8Array.prototype.slice = function (...bounds): Uint8Array<ArrayBuffer> {
    const bytes = slice.apply(this, bounds);
    copied += bytes.length;
    return bytes;
  };
  try {
    run();
  } finally {
    Object.assign(Uint8Array.prototype, { set, slice });
  }
  return copied;
}
