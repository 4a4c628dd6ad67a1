import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameError } from "../errors.ts";
import {
  type Inbound,
  type Line,
  LineDecoderStream,
  MessageDecoderStream,
  type MessageEncoderOptions,
  MessageEncoderStream,
} from "../framing.ts";
import type { JSONRPCMessage } from "../messages.ts";
import {
  bytesOf,
  chunked,
  collect,
  createRandom,
  everyCut,
  heldBytes,
  nextTurn,
  randomCuts,
  stateOf,
  streamOf,
  textOf,
} from "./helpers.ts";

const PING = { jsonrpc: "2.0", id: 0, method: "ping" } as const;
const PING_LINE = '{"jsonrpc":"2.0","id":0,"method":"ping"}\n';

function linesOf(chunks: Iterable<Uint8Array>, maxLineBytes?: number): Promise<Line[]> {
  return collect(streamOf(chunks).pipeThrough(new LineDecoderStream({ maxLineBytes })));
}

function inboundOf(chunks: Iterable<Uint8Array>, options = {}): Promise<Inbound[]> {
  return collect(streamOf(chunks).pipeThrough(new MessageDecoderStream(options)));
}

/** What the stream gives, which must be the same for every cut of the input (F3). */
async function everyWay<T>(
  bytes: Uint8Array,
  read: (chunks: Iterable<Uint8Array>) => Promise<T[]>,
): Promise<T[]> {
  const whole = await read([bytes]);
  for (const chunks of everyCut(bytes)) {
    assert.deepEqual(await read(chunks), whole, `in ${chunks.length} chunks`);
  }
  return whole;
}

function textsOf(lines: readonly Line[]): string[] {
  return lines.map((line) => line.kind === "line" ? line.text : `<${line.reason}>`);
}

function kindsOf(inbound: readonly Inbound[]): string[] {
  return inbound.map((value) => value.kind === "message" ? "message" : value.reason);
}

const RANGE_ROWS: [option: string, values: unknown[]][] = [
  ["maxLineBytes", [0, -1, 1.5, NaN, Infinity, 268_435_457, "1024", null]],
  ["readBufferBytes", [0, -1, 1.5, NaN, Infinity, "1024", null]],
];

test(
  "LineDecoderStream yields lines without LF, one CR and one byte order mark, and no blank ones (F1, F2, F3)",
  { timeout: 60_000 },
  async () => {
    const bytes = bytesOf(
      "\ufeffone\r\n\n \t\r\n\ufeff\n",
      "zwei é\u2028日\u0085\r😀\r\r\n",
      "\ufeff\ufeffx\n",
      " y \n",
    );
    const lines = await everyWay(bytes, linesOf);
    assert.deepEqual(
      lines,
      ["one", "zwei é\u2028日\u0085\r😀\r", "\ufeffx", " y "].map((text) => ({ kind: "line", text })),
    );
  },
);

test("LineDecoderStream yields a fault for a line that is no text and goes on (F4, F5, F6, F7)", {
  timeout: 60_000,
}, async () => {
  const long = `{"a":{"id":1},"id":2,"b":"${"x".repeat(1_100)}"}`;
  const bytes = bytesOf("one\n", long, "\n", "two\n", [0xc0, 0xaf], "\n", "three\n", '{"id":3,');
  const lines = await linesOf([bytes], 1_100);
  assert.deepEqual(textsOf(lines), ["one", "<too_long>", "two", "<invalid_utf8>", "three", "<truncated>"]);
  assert.deepEqual(lines.map((line) => line.kind === "fault" ? line.id : undefined), [
    undefined,
    2,
    undefined,
    undefined,
    undefined,
    3,
  ]);
  const random = createRandom(7);
  for (const size of [1, 2, 3, 7, 100, 1_024]) {
    assert.deepEqual(await linesOf(chunked(bytes, size), 1_100), lines);
  }
  for (let round = 0; round < 100; round++) {
    assert.deepEqual(await linesOf(randomCuts(bytes, random), 1_100), lines);
  }
});

test(
  "LineDecoderStream takes 16 MiB unless told otherwise, and not a byte more (F5)",
  { timeout: 60_000 },
  async () => {
    const line = new Uint8Array(16_777_216).fill(0x78);
    for (
      const chunks of [[line, bytesOf("\r\n")], [line, bytesOf("x\r\n")], [
        line,
        bytesOf("\r"),
        bytesOf("y\n"),
      ]]
    ) {
      const [first, second, ...more] = await linesOf([...chunks, bytesOf("next\n")]);
      if (chunks.length === 2 && chunks[1]!.length === 2) {
        assert.ok(
          first?.kind === "line" && first.text.length === 16_777_216,
        );
      } else assert.ok(first?.kind === "fault" && first.reason === "too_long");
      assert.deepEqual([second, ...more], [{ kind: "line", text: "next" }]);
    }
  },
);

for (const Stream of [LineDecoderStream, MessageDecoderStream, MessageEncoderStream]) {
  test(`${Stream.name} refuses a limit that is no positive integer in its range`, () => {
    const rows = [...RANGE_ROWS];
    if (Stream === MessageDecoderStream) {
      rows.push(["maxNestingDepth", [0, -1, 1.5, NaN, Infinity, 2_049, "5", null]]);
    }
    for (const [option, values] of rows) {
      for (const value of values) {
        const make = () => new Stream({ [option]: value });
        assert.throws(
          make,
          (error) => error instanceof RangeError && error.message.includes(`"${option}"`),
          `${option} = ${value}`,
        );
      }
      void new Stream({ [option]: undefined });
      void new Stream({ [option]: 1 });
    }
    void new Stream({ maxLineBytes: 268_435_456 });
    void new Stream();
  });
}

for (const Stream of [LineDecoderStream, MessageDecoderStream]) {
  test(`${Stream.name} asks for readBufferBytes before it waits for its reader`, async () => {
    for (const [options, expected] of [[{}, 65_536], [{ readBufferBytes: 100 }, 100]] as const) {
      const { readable, writable } = new Stream(options);
      const writer = writable.getWriter();
      await writer.ready;
      assert.equal(writer.desiredSize, expected);
      const written = writer.write(bytesOf("x".repeat(expected)));
      assert.equal(await stateOf(writer.ready), "pending");
      const read = readable.getReader().read();
      assert.equal(await stateOf(written), "fulfilled");
      assert.equal(await stateOf(writer.ready), "fulfilled");
      void writer.write(bytesOf("\n"));
      assert.equal((await read).value?.kind, Stream === LineDecoderStream ? "line" : "fault");
    }
  });

  test(`${Stream.name} hands on the error of its source and the cancellation of its reader`, async () => {
    const error = new Error("EIO");
    const failing = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(error) });
    await assert.rejects(
      collect(failing.pipeThrough(new Stream() as TransformStream<Uint8Array, unknown>)),
      error,
    );
    let reason: unknown;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytesOf("x\n")),
      cancel: (given) => void (reason = given),
    });
    const reader = source.pipeThrough(new Stream() as TransformStream<Uint8Array, unknown>).getReader();
    await reader.read();
    await reader.cancel("enough");
    await nextTurn();
    assert.equal(reason, "enough");
  });

  test(`${Stream.name} yields what has come before its source ends`, async () => {
    const { readable, writable } = new Stream();
    const writer = writable.getWriter();
    const reader = readable.getReader();
    for (let count = 0; count < 3; count++) {
      void writer.write(bytesOf(PING_LINE.slice(0, 20)));
      const read = reader.read();
      assert.equal(await stateOf(read), "pending");
      void writer.write(bytesOf(PING_LINE.slice(20)));
      assert.equal(await stateOf(read), "fulfilled");
    }
  });
}

test(
  "MessageDecoderStream yields messages and faults in the order of the lines (F1 to F4, F6, F7, F9, F11)",
  { timeout: 60_000 },
  async () => {
    const bytes = bytesOf(
      '\ufeff{"jsonrpc":"2.0","id":1,"method":"a\u2028é😀"}\r\n',
      "\r\n\n",
      "Server started\n",
      '{"jsonrpc":"2.0","id":"b","method":5}\n',
      '{"result":{"id":9},"a":"',
      [0xff],
      '","\\u0069d":2}\n',
      '{"jsonrpc":"2.0","id":9007199254740993,"result":{"__proto__":{"a":1}}}\n',
      `{"jsonrpc":"2.0","id":3,"method":"a","params":{"a":${"[".repeat(5)}${"]".repeat(5)}}}\n`,
      '{"jsonrpc":"2.0","id":4,"method":"cut"}',
    );
    const inbound = await everyWay(bytes, (chunks) => inboundOf(chunks, { maxNestingDepth: 6 }));
    assert.deepEqual(kindsOf(inbound), [
      "message",
      "invalid_json",
      "invalid_message",
      "invalid_utf8",
      "message",
      "invalid_json",
      "truncated",
    ]);
    assert.deepEqual(inbound.map((value) => value.kind === "fault" ? value.id : value.idText), [
      undefined,
      undefined,
      "b",
      2,
      "9007199254740993",
      3,
      4,
    ]);
    assert.equal(({} as Record<string, unknown>)["a"], undefined);
  },
);

test(
  "MessageDecoderStream takes exactly the limit and drops one byte more (F5)",
  { timeout: 60_000 },
  async () => {
    const line = PING_LINE.trimEnd();
    const bytes = bytesOf(line, "\n", line, " \n", line, "\r\n", line, " \r\n", line, "\n");
    const read = (chunks: Iterable<Uint8Array>) =>
      inboundOf(chunks, { maxLineBytes: line.length }).then(kindsOf);
    assert.deepEqual(await everyWay(bytes, read), ["message", "too_long", "message", "too_long", "message"]);
  },
);

test("MessageDecoderStream makes a fault of 513 levels unless told otherwise (F11)", async () => {
  const lines = [512, 513].map((depth) => {
    const [open, close] = ["[".repeat(depth - 2), "]".repeat(depth - 2)];
    return `{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":${open}${close}}}\n`;
  });
  assert.deepEqual(kindsOf(await inboundOf([bytesOf(...lines)])), ["message", "invalid_json"]);
  assert.deepEqual(kindsOf(await inboundOf([bytesOf(...lines)], { maxNestingDepth: 513 })), [
    "message",
    "message",
  ]);
});

test(
  "MessageDecoderStream holds at most what it asks for when nobody reads",
  { timeout: 60_000 },
  async () => {
    const { writable } = new MessageDecoderStream();
    const writer = writable.getWriter();
    const before = await heldBytes();
    let sent = 0;
    const chunk = PING_LINE.repeat(100);
    while ((writer.desiredSize ?? 0) > 0 && sent < 10_000_000) {
      writer.write(bytesOf(chunk)).catch(() => {});
      sent += chunk.length;
      await nextTurn();
    }
    assert.ok(sent < 2 * 65_536, `${sent} bytes were taken`);
    assert.ok(await heldBytes() - before < 2 * 1_048_576);
  },
);

/** Writes messages; gives the chunks, and the errors with their messages. */
async function encode(
  messages: readonly unknown[],
  options: MessageEncoderOptions = {},
): Promise<{ chunks: string[]; errors: [Error, unknown][] }> {
  const errors: [Error, unknown][] = [];
  const encoder = new MessageEncoderStream({
    onError: (error, message) => void errors.push([error, message]),
    ...options,
  });
  const chunks = await collect(streamOf(messages as JSONRPCMessage[]).pipeThrough(encoder));
  return { chunks: chunks.map(textOf), errors };
}

test("MessageEncoderStream writes compact JSON and one LF for each message, with no CR and no mark (F2)", async () => {
  const text = "first\r\nsecond\n\ufeff\u2028 é😀";
  const { chunks, errors } = await encode([PING, { jsonrpc: "2.0", method: "m", params: { text } }]);
  assert.deepEqual(errors, []);
  assert.equal(chunks[0], PING_LINE);
  assert.match(chunks[1]!, /^\{[^\r\n]*\}\n$/);
  assert.deepEqual(JSON.parse(chunks[1]!), { jsonrpc: "2.0", method: "m", params: { text } });
});

test("MessageEncoderStream hands what it cannot write to onError and goes on (F10)", async () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const bad = [{ ...PING, params: { a: 1n } }, { ...PING, params: cycle }, {
    ...PING,
    method: "x".repeat(100),
  }, Symbol("s")];
  const { chunks, errors } = await encode(bad.flatMap((message) => [PING, message]).concat(PING), {
    maxLineBytes: 100,
  });
  assert.deepEqual(chunks, Array(bad.length + 1).fill(PING_LINE));
  assert.deepEqual(errors.map(([, message]) => message), bad);
  assert.deepEqual(errors.map(([error]) => error instanceof FrameError && error.code), [
    "unserializable",
    "unserializable",
    "frame_too_long",
    "unserializable",
  ]);
});

test("MessageEncoderStream writes exactly the limit, in text and in bytes (F10)", async () => {
  for (const method of ["x".repeat(50), "é".repeat(50), "日".repeat(50), "\ufffd".repeat(9)]) {
    const message = { jsonrpc: "2.0", method };
    const line = `${JSON.stringify(message)}\n`;
    const { length } = bytesOf(line);
    assert.deepEqual(await encode([message], { maxLineBytes: length - 1 }), { chunks: [line], errors: [] });
    assert.deepEqual((await encode([message], { maxLineBytes: length - 2 })).chunks, []);
  }
});

/** Runs the function and gives what was said on stderr meanwhile. */
async function saidOnStderr(run: () => Promise<void>): Promise<string[]> {
  const { console: stderr } = globalThis;
  const { error } = stderr;
  const said: string[] = [];
  stderr.error = (...values: unknown[]) => void said.push(values.map(String).join(" "));
  try {
    await run();
  } finally {
    stderr.error = error;
  }
  return said;
}

test("MessageEncoderStream says on stderr what it cannot write, in one line (F10)", async () => {
  const said = await saidOnStderr(async () => {
    const source = streamOf([{ ...PING, params: { secret: 1n } }, PING] as unknown as JSONRPCMessage[]);
    const chunks = await collect(source.pipeThrough(new MessageEncoderStream()));
    assert.deepEqual(chunks.map(textOf), [PING_LINE]);
  });
  assert.equal(said.length, 1);
  assert.match(said[0]!, /^warning: \[mcp_stdio\] Cannot write the message as JSON: [^\n]*$/);
  assert.ok(!said[0]!.includes("secret"));
});

test("MessageEncoderStream goes on when onError throws (F10)", async () => {
  let calls = 0;
  const onError = (): never => {
    calls++;
    throw new Error("from onError");
  };
  const said = await saidOnStderr(async () => {
    const { chunks } = await encode([{ ...PING, params: { a: 1n } }, PING], { onError });
    assert.deepEqual(chunks, [PING_LINE]);
  });
  assert.equal(calls, 1);
  assert.match(said.join(), /from onError/);
});

test("MessageEncoderStream yields each message before the next one comes (F2)", async () => {
  const { readable, writable } = new MessageEncoderStream();
  const [writer, reader] = [writable.getWriter(), readable.getReader()];
  for (let count = 0; count < 3; count++) {
    const read = reader.read();
    void writer.write(PING);
    assert.equal(await stateOf(read), "fulfilled");
    assert.equal(textOf((await read).value!), PING_LINE);
  }
});

test("MessageEncoderStream makes readBufferBytes ready before it waits for its reader", async () => {
  for (const [options, expected] of [[{}, 65_536], [{ readBufferBytes: 100 }, 100]] as const) {
    const { readable, writable } = new MessageEncoderStream(options);
    const writer = writable.getWriter();
    const frames = Math.ceil(expected / PING_LINE.length);
    for (let count = 0; count < frames; count++) await writer.write(PING);
    const waiting = writer.write(PING);
    assert.equal(await stateOf(waiting), "pending");
    await readable.getReader().read();
    assert.equal(await stateOf(waiting), "fulfilled");
  }
});

test("MessageEncoderStream writes what MessageDecoderStream reads, over every cut (F2, F3)", {
  timeout: 60_000,
}, async () => {
  const messages = [
    PING,
    { jsonrpc: "2.0", id: "", method: "", params: { text: '\n\r\t"\\\u0000\u2028\ufeff\ud83d\ude00' } },
    { jsonrpc: "2.0", id: -1, result: { a: [[], {}, null, 1e-7, "\u007f"] } },
    { jsonrpc: "2.0", error: { code: -32700, message: "é" } },
  ];
  const { chunks } = await encode(messages);
  const inbound = await everyWay(bytesOf(...chunks), (parts) => inboundOf(parts));
  assert.deepEqual(inbound, messages.map((message) => ({ kind: "message", message, idText: undefined })));
});
