/**
 * The section "Framing" of the log of public bug reports, one test a row, on streams. Rows and parts of rows that need
 * a process or our server are named beside the row; they are tested there.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault, Inbound } from "../connection.ts";
import { MessageDecoderStream, MessageEncoderStream } from "../framing.ts";
import { StreamConnection } from "../internal/stream_connection.ts";
import type { JSONRPCMessage } from "../messages.ts";
import {
  assertGrowth,
  byteByByte,
  bytesOf,
  collect,
  cpuTime,
  everyCut,
  everySplit,
  heldBytes,
  nextTurn,
  parseCost,
  streamOf,
  textOf,
} from "./helpers.ts";

const GOOD = { jsonrpc: "2.0", id: 1, result: { text: "é日𝒜" } } as const;
const GOOD_LINE = `${JSON.stringify(GOOD)}\n`;

function decode(chunks: Iterable<Uint8Array>, maxLineBytes?: number): Promise<Inbound[]> {
  return collect(streamOf(chunks).pipeThrough(new MessageDecoderStream({ maxLineBytes })));
}

/** What the stream gives, over every cut of the input. */
async function decodeEveryWay(bytes: Uint8Array): Promise<Inbound[]> {
  const whole = await decode([bytes]);
  for (const chunks of everyCut(bytes)) assert.deepEqual(await decode(chunks), whole);
  return whole;
}

function messagesOf(inbound: readonly Inbound[]): JSONRPCMessage[] {
  return inbound.map((value) => {
    assert.ok(value.kind === "message", value.kind === "fault" ? value.detail : "");
    return value.message;
  });
}

function kindsOf(inbound: readonly Inbound[]): string[] {
  return inbound.map((value) => value.kind === "message" ? "message" : value.reason);
}

async function encode(messages: readonly JSONRPCMessage[]): Promise<string> {
  return textOf(bytesOf(...await collect(streamOf(messages).pipeThrough(new MessageEncoderStream()))));
}

// The part with a process that flushes each byte: the tests of processes.
test("B01 a character cut by a chunk edge arrives whole (F3)", { timeout: 60_000 }, async () => {
  const bytes = bytesOf(GOOD_LINE);
  for (const chunks of [...everySplit(bytes), byteByByte(bytes)]) {
    const [message, ...more] = messagesOf(await decode(chunks));
    assert.deepEqual(message, GOOD);
    assert.ok(!JSON.stringify(message).includes("\ufffd"));
    assert.deepEqual(more, []);
  }
});

// That the argument reaches a handler: the tests of the server.
test("B02 raw U+2028, U+2029 and U+0085 in a string end no line (F1)", { timeout: 60_000 }, async () => {
  const text = "a\u2028b\u2029c\u0085d";
  const message = { jsonrpc: "2.0", id: 1, result: { text } } as const;
  const line = `{"jsonrpc":"2.0","id":1,"result":{"text":"${text}"}}\n`;
  assert.deepEqual(messagesOf(await decodeEveryWay(bytesOf(line))), [message]);
  assert.deepEqual(messagesOf(await decodeEveryWay(bytesOf(await encode([message])))), [message]);
});

// The same towards our server: the tests of the server.
test("B03 CR LF ends a line, also in two chunks, and a line of CR LF alone is skipped (F2)", {
  timeout: 60_000,
}, async () => {
  const line = GOOD_LINE.trimEnd();
  const bytes = bytesOf(line, "\r\n", "\r\n", line, "\r\n", "\n", line, "\n");
  assert.deepEqual(messagesOf(await decodeEveryWay(bytes)), [GOOD, GOOD, GOOD]);
  assert.deepEqual(messagesOf(await decode([bytesOf(line, "\r"), bytesOf("\n")])), [GOOD]);
});

// That the client reports each stray line and the session stays open: the tests of the client.
test(
  "B05 each of the lines of an object dump is a fault of its own, and the response behind them arrives (F4)",
  { timeout: 60_000 },
  async () => {
    const dump = ["{", "  name: 'actual',", `  items: [ 1, 2 ], // ${"x".repeat(2_000)}`, "}"];
    const bytes = bytesOf(...dump.map((line) => `${line}\n`), GOOD_LINE);
    const inbound = await decode([bytes]);
    assert.deepEqual(kindsOf(inbound), [...dump.map(() => "invalid_json"), "message"]);
    const previews = (inbound.slice(0, 4) as Fault[]).map(({ preview }) => preview);
    assert.deepEqual(previews, dump.map((line) => line.slice(0, 1_024)));
    assert.deepEqual(await decode(byteByByte(bytes)), inbound);
  },
);

// That the server answers, stays up and reports: the tests of the server.
test(
  "B06 a malformed line is a fault, an empty one is nothing, and the request behind them arrives (F2, F4)",
  { timeout: 60_000 },
  async () => {
    const bytes = bytesOf("\n", '{"a":1} x\n', '& "$env:USERPROFILE\\server.exe"\n', GOOD_LINE);
    assert.deepEqual(kindsOf(await decodeEveryWay(bytes)), ["invalid_json", "invalid_json", "message"]);
  },
);

// That the answer comes within 100 ms: the tests of the server.
test("B07 a frame that was given up in the middle ends at LF and leaves no state behind (F3, F7)", {
  timeout: 60_000,
}, async () => {
  for (let cut = 1; cut < GOOD_LINE.length - 1; cut++) {
    const bytes = bytesOf(bytesOf(GOOD_LINE).subarray(0, cut), "\n", GOOD_LINE);
    const inbound = await decode([bytes]);
    assert.equal(inbound.length, 2, `cut at ${cut}`);
    assert.equal(inbound[0]!.kind, "fault");
    assert.deepEqual(messagesOf(inbound.slice(1)), [GOOD]);
    assert.deepEqual(await decode([bytes.subarray(0, cut), bytes.subarray(cut)]), inbound);
  }
});

// That requests in flight are rejected: the tests of the client.
test("B09 64 MiB without LF are a fault and cost no memory (F5)", { timeout: 60_000 }, async () => {
  const limit = 2 * 1_048_576;
  const before = await heldBytes();
  let most = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    for (let count = 0; count < 64 * 16; count++) {
      yield new Uint8Array(65_536).fill(0x78);
      if (count % 256 === 100) most = Math.max(most, await heldBytes() - before);
    }
    yield bytesOf("\n", GOOD_LINE);
  }
  const inbound = await collect(
    ReadableStream.from(source()).pipeThrough(new MessageDecoderStream({ maxLineBytes: limit })),
  );
  assert.deepEqual(kindsOf(inbound), ["too_long", "message"]);
  assert.equal((inbound[0] as Fault).byteLength, 64 * 1_048_576);
  assert.ok(most < limit + 16 * 1_048_576, `${most} bytes were held`);
});

test("B11 a message of 64 MiB in 4 KiB chunks costs linear time, and its buffer is released (F8)", {
  timeout: 120_000,
}, async () => {
  async function cost(mebibytes: number): Promise<number> {
    const before = await heldBytes();
    const { readable, writable } = new MessageDecoderStream({ maxLineBytes: 128 * 1_048_576 });
    const [writer, reader] = [writable.getWriter(), readable.getReader()];
    const chunk = new Uint8Array(4_096).fill(0x78);
    const start = cpuTime();
    const read = reader.read();
    void writer.write(bytesOf('{"jsonrpc":"2.0","id":1,"result":{"text":"'));
    for (let count = 0; count < mebibytes * 256; count++) {
      await writer.ready;
      void writer.write(chunk);
    }
    void writer.write(bytesOf('"}}\n'));
    const { value } = await read;
    const time = cpuTime() - start;
    assert.ok(value?.kind === "message" && "result" in value.message);
    assert.equal((value.message.result["text"] as string).length, mebibytes * 1_048_576);
    delete value.message.result["text"];
    const held = await heldBytes() - before;
    assert.ok(held < mebibytes * 0.1 * 1_048_576 + 1_048_576, `${held} bytes are still held`);
    // The decoder lives on.
    void writer.write(bytesOf(GOOD_LINE));
    assert.equal((await reader.read()).value?.kind, "message");
    return time;
  }
  await assertGrowth(cost, { small: 16, large: 64, factor: 5, floor: parseCost });
});

// The same over the pipes of each runtime: the tests of processes.
test("B12 messages at and around the sizes of buffers arrive whole and in order at a slow reader (F2, F5)", {
  timeout: 60_000,
}, async () => {
  const settings = {
    maxLineBytes: 32 * 1_048_576,
    maxNestingDepth: 512,
    maxQueuedBytes: 1_048_576,
    readBufferBytes: 65_536,
  };
  const sizes = [16_383, 16_384, 65_535, 65_536, 65_537, 1_048_576, 20 * 1_048_576];
  const pipe = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller): Promise<void> {
      // As a pipe does: never more than 64 KiB at once.
      for (let at = 0; at < chunk.length; at += 65_536) {
        if (at % (64 * 65_536) === 0) await nextTurn();
        controller.enqueue(chunk.slice(at, at + 65_536));
      }
    },
  });
  const never = { readable: new ReadableStream<Uint8Array>(), writable: new WritableStream<Uint8Array>() };
  const sender = new StreamConnection({ readable: never.readable, writable: pipe.writable }, settings);
  const receiver = new StreamConnection({ readable: pipe.readable, writable: never.writable }, settings);
  const messages = sizes.map((size, id): JSONRPCMessage => {
    const empty = `{"jsonrpc":"2.0","id":${id},"result":{"text":""}}\n`.length;
    return { jsonrpc: "2.0", id, result: { text: String(id).repeat(size - empty) } };
  });
  const frames = messages.map((message) => sender.send(message));
  const closing = sender.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const received: JSONRPCMessage[] = [];
  for (let batch = await receiver.receive(); batch !== undefined; batch = await receiver.receive()) {
    received.push(...messagesOf(batch));
  }
  await closing;
  for (const frame of frames) await frame.accepted;
  assert.deepEqual(received.map((message) => "id" in message && message.id), messages.map((_, id) => id));
  for (const [index, message] of messages.entries()) {
    assert.ok(JSON.stringify(received[index]) === JSON.stringify(message), `${sizes[index]} bytes`);
  }
});

// That the server's reply carries the very same id: the tests of the server. Here: the framing changes none.
test("B13 ids keep their type and value (F9)", { timeout: 60_000 }, async () => {
  const ids = [0, "0", "1", 1, "req-abc", "", "x".repeat(64), 2 ** 53 - 1];
  const messages = ids.map((id) => ({ jsonrpc: "2.0", id, method: "ping" } as const));
  const inbound = await decode([bytesOf(await encode(messages))]);
  assert.deepEqual(messagesOf(inbound), messages);
});

// B14, encoding under LANG=C and no LANG: the tests of processes. The framing itself asks for no locale.

// The same towards our server, and that no error is reported: the tests of the server and the client.
test("B16 one byte order mark before a line is removed, one inside a string is kept (F2)", {
  timeout: 60_000,
}, async () => {
  const mark = [0xef, 0xbb, 0xbf];
  const marked = { jsonrpc: "2.0", id: 2, result: { text: "\ufeffa\ufeff" } } as const;
  const line = `{"jsonrpc":"2.0","id":2,"result":{"text":"\ufeffa\ufeff"}}`;
  const bytes = bytesOf(
    mark,
    GOOD_LINE,
    GOOD_LINE,
    mark,
    line,
    "\r\n",
    line,
    "\n",
    mark,
    "\r\n",
    mark,
    GOOD_LINE,
  );
  assert.deepEqual(messagesOf(await decodeEveryWay(bytes)), [GOOD, GOOD, marked, marked, GOOD]);
  const inThree = [...mark.map((byte) => bytesOf([byte])), bytesOf(GOOD_LINE)];
  assert.deepEqual(messagesOf(await decode(inThree)), [GOOD]);
});
