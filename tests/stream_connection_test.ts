import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionEnd, Inbound } from "../connection.ts";
import { ConnectionClosedError, FrameError } from "../errors.ts";
import { FRAMING_DEFAULTS } from "../internal/options.ts";
import { type ConnectionSettings, StreamConnection } from "../internal/stream_connection.ts";
import type { JSONRPCMessage } from "../messages.ts";
import {
  bytesOf,
  chunked,
  createRandom,
  everySplit,
  heldBytes,
  nextTurn,
  randomCuts,
  showUnhandledRejections,
  stateOf,
  streamOf,
  textOf,
} from "./helpers.ts";

const SETTINGS: ConnectionSettings = {
  maxLineBytes: 1_000,
  maxNestingDepth: 512,
  maxQueuedBytes: 200,
  readBufferBytes: 65_536,
};
const PING = { jsonrpc: "2.0", id: 0, method: "ping" } as const;
const PING_LINE = '{"jsonrpc":"2.0","id":0,"method":"ping"}\n';

/** A stream the test writes into: `controller` is the source of the connection's input. */
function openInput(): {
  readable: ReadableStream<Uint8Array>;
  controller: ReadableStreamDefaultController<Uint8Array>;
} {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const readable = new ReadableStream<Uint8Array>({ start: (created) => void (controller = created) });
  return { readable, controller };
}

/** A sink of the connection's output whose writes the test ends one by one. */
function openOutput(): {
  writable: WritableStream<Uint8Array>;
  writes: string[];
  accept: () => Promise<void>;
  refuse: (error: unknown) => Promise<void>;
  closed: () => boolean;
  aborted: () => unknown;
} {
  const writes: string[] = [];
  const ends: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  let closed = false;
  let aborted: unknown;
  const writable = new WritableStream<Uint8Array>({
    write(bytes): Promise<void> {
      writes.push(textOf(bytes));
      return new Promise((resolve, reject) => ends.push({ resolve, reject }));
    },
    close(): void {
      closed = true;
    },
    abort(reason): void {
      aborted = reason;
    },
  });
  return {
    writable,
    writes,
    accept: () => (ends.shift()!.resolve(), nextTurn()),
    refuse: (error) => (ends.shift()!.reject(error), nextTurn()),
    closed: () => closed,
    aborted: () => aborted,
  };
}

/** A sink that takes everything at once. */
function openDrain(): { writable: WritableStream<Uint8Array>; writes: string[]; closed: () => boolean } {
  const writes: string[] = [];
  let closed = false;
  const writable = new WritableStream<Uint8Array>({
    write: (bytes) => void writes.push(textOf(bytes)),
    close: () => void (closed = true),
  });
  return { writable, writes, closed: () => closed };
}

/** A connection that reads these chunks. */
function reading(chunks: Iterable<Uint8Array>, settings = SETTINGS): StreamConnection {
  return new StreamConnection({ readable: streamOf(chunks), writable: openDrain().writable }, settings);
}

async function receiveAll(connection: StreamConnection): Promise<Inbound[]> {
  const inbound: Inbound[] = [];
  for (let batch = await connection.receive(); batch !== undefined; batch = await connection.receive()) {
    assert.ok(batch.length > 0, "an empty batch was received");
    inbound.push(...batch);
  }
  return inbound;
}

function isClosedError(facts: { reason: string; sent: boolean }): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ConnectionClosedError, `not a ConnectionClosedError: ${error}`);
    assert.deepEqual({ reason: error.reason, sent: error.sent }, facts);
    return true;
  };
}

/** Fails, rather than hangs, when a promise does not settle. */
async function settled<T>(promise: Promise<T>, what: string): Promise<T> {
  assert.notEqual(await stateOf(promise), "pending", what);
  return promise;
}

test("StreamConnection.receive() gives what came, in wire order, however it was cut (F3)", {
  timeout: 60_000,
}, async () => {
  const bytes = bytesOf(
    PING_LINE,
    "x\n",
    '{"jsonrpc":"2.0","method":"é"}\r\n',
    "\n",
    '{"id":5,"method":1}\n',
    '{"id":"half"',
  );
  const whole = await receiveAll(reading([bytes]));
  assert.deepEqual(whole.map((inbound) => inbound.kind === "message" ? inbound.message : inbound.reason), [
    PING,
    "invalid_json",
    { jsonrpc: "2.0", method: "é" },
    "invalid_message",
    "truncated",
  ]);
  for (const chunks of everySplit(bytes)) assert.deepEqual(await receiveAll(reading(chunks)), whole);
  assert.deepEqual(await receiveAll(reading(chunked(bytes, 1))), whole);
});

test("StreamConnection.receive() decodes readBufferBytes at a time, and lines longer than that (S1-15)", async () => {
  const bytes = bytesOf(PING_LINE.repeat(10), `{"jsonrpc":"2.0","method":"${"x".repeat(300)}"}\n`, PING_LINE);
  for (const readBufferBytes of [1, 7, 40, 41, 100, 10_000]) {
    const connection = reading([bytes, bytesOf(PING_LINE)], { ...SETTINGS, readBufferBytes });
    const batches: (readonly Inbound[])[] = [];
    for (let batch = await connection.receive(); batch !== undefined; batch = await connection.receive()) {
      batches.push(batch);
    }
    assert.ok(batches.flat().every(({ kind }) => kind === "message"));
    assert.equal(batches.flat().length, 13);
    const most = Math.max(1, Math.ceil(readBufferBytes / PING_LINE.length));
    assert.ok(
      batches.every((batch) => batch.length <= most),
      `${readBufferBytes}: ${batches.map((b) => b.length)}`,
    );
    assert.equal(connection.bytesRead, bytes.length + PING_LINE.length);
  }
  assert.equal(FRAMING_DEFAULTS.readBufferBytes, 65_536);
  const settings = { ...SETTINGS, ...FRAMING_DEFAULTS };
  for (const length of [65_535, 65_536, 65_537, 1_048_576]) {
    const line = `{"jsonrpc":"2.0","method":"${"x".repeat(length - 30)}"}\n`;
    for (const chunks of [[bytesOf(line)], chunked(bytesOf(line), length > 100_000 ? 1_000 : 1)]) {
      const inbound = await receiveAll(reading(chunks, settings));
      assert.equal(JSON.stringify((inbound[0] as { message: unknown }).message).length + 1, line.length);
      assert.equal(inbound.length, 1);
    }
  }
});

test("StreamConnection.cancelInput() drops what was read and not yet decoded (S1-15)", async () => {
  const connection = reading([bytesOf(PING_LINE.repeat(3))], {
    ...SETTINGS,
    readBufferBytes: PING_LINE.length,
  });
  assert.equal((await connection.receive())?.length, 1);
  connection.cancelInput();
  assert.equal(await connection.receive(), undefined);
});

test("StreamConnection.receive() gives one batch for each chunk, never an empty one", async () => {
  const connection = reading([
    new Uint8Array(),
    bytesOf("\n\r\n"),
    bytesOf(PING_LINE, PING_LINE, "{"),
    bytesOf("}\n"),
  ]);
  assert.deepEqual((await connection.receive())?.map(({ kind }) => kind), ["message", "message"]);
  assert.deepEqual((await connection.receive())?.map(({ kind }) => kind), ["fault"]);
  assert.equal(await connection.receive(), undefined);
  assert.equal(await connection.receive(), undefined);
  assert.equal(connection.inputError, undefined);
});

test("StreamConnection.receive() reads only when it is asked", async () => {
  let pulls = 0;
  const readable = new ReadableStream<Uint8Array>({
    pull(controller): void {
      pulls++;
      controller.enqueue(bytesOf(PING_LINE));
    },
  }, { highWaterMark: 0 });
  const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
  await nextTurn();
  assert.equal(pulls, 0);
  for (let count = 1; count <= 3; count++) {
    await connection.receive();
    await nextTurn();
    assert.equal(pulls, count);
  }
});

test("StreamConnection.receive() refuses a second call while one waits", async () => {
  const { readable, controller } = openInput();
  const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
  const first = connection.receive();
  await assert.rejects(connection.receive(), TypeError);
  controller.enqueue(bytesOf(PING_LINE));
  assert.equal((await first)?.length, 1);
  controller.close();
  assert.equal(await connection.receive(), undefined);
});

test("StreamConnection.receive() ends when the input fails, and keeps the error", async () => {
  const { readable, controller } = openInput();
  const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
  controller.enqueue(bytesOf(PING_LINE));
  assert.equal((await connection.receive())?.length, 1);
  const waiting = connection.receive();
  const error = new Error("EIO");
  controller.error(error);
  assert.equal(await waiting, undefined);
  assert.equal(connection.inputError, error);
  assert.equal(await connection.receive(), undefined);
  // The other direction is not touched.
  await connection.send(PING).accepted;
  assert.equal(await stateOf(connection.closed), "pending");
});

test("StreamConnection.firstInput resolves with the first bytes, not with an empty chunk or the end", async () => {
  const { readable, controller } = openInput();
  const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
  const receiving = connection.receive();
  controller.enqueue(new Uint8Array());
  assert.equal(await stateOf(connection.firstInput), "pending");
  controller.enqueue(bytesOf("{"));
  assert.equal(await stateOf(connection.firstInput), "fulfilled");
  assert.equal(connection.bytesRead, 1);
  controller.close();
  assert.equal((await receiving)?.length, 1);
  assert.equal(await connection.receive(), undefined);
  const silent = reading([]);
  assert.equal(await silent.receive(), undefined);
  assert.equal(await stateOf(silent.firstInput), "pending");
});

test("StreamConnection.cancelInput() lets a waiting receive() resolve with undefined", async () => {
  let reason: unknown;
  const readable = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytesOf(PING_LINE)),
    cancel: (given) => void (reason = given),
  });
  const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
  assert.equal((await connection.receive())?.length, 1);
  const waiting = connection.receive();
  connection.cancelInput("enough");
  assert.equal(await settled(waiting, "receive() still waits"), undefined);
  assert.equal(reason, "enough");
  assert.equal(connection.inputError, undefined);
  await connection.send(PING).accepted;
});

test("StreamConnection.cancelInput() makes no truncated line of what has come so far", async () => {
  for (const waits of [true, false]) {
    const { readable, controller } = openInput();
    const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
    controller.enqueue(bytesOf(PING_LINE, '{"id":5,"me'));
    assert.equal((await connection.receive())?.length, 1);
    const waiting = waits ? connection.receive() : undefined;
    connection.cancelInput();
    // The line was not cut by the sender: we have stopped reading it.
    assert.equal(await (waiting ?? connection.receive()), undefined);
  }
});

test("StreamConnection.cancelInput() does not wait for a source that never ends its cancellation", async () => {
  const readable = new ReadableStream<Uint8Array>({ cancel: () => new Promise(() => {}) });
  const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
  const waiting = connection.receive();
  connection.cancelInput();
  assert.equal(await settled(waiting, "receive() still waits"), undefined);
  await settled(connection.close(), "close() waits for the source");
});

test("StreamConnection.send() writes the messages of one turn in one go and in order", async () => {
  const { writable, writes, accept } = openOutput();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  const messages = Array.from(
    { length: 64 },
    (_, id): JSONRPCMessage => ({ jsonrpc: "2.0", id, method: "a" }),
  );
  const frames = messages.map((message) => connection.send(message));
  assert.equal(writes.length, 0);
  await nextTurn();
  assert.deepEqual(writes, [messages.map((message) => `${JSON.stringify(message)}\n`).join("")]);
  assert.equal(await stateOf(frames[0]!.accepted), "pending");
  await accept();
  for (const frame of frames) assert.equal(await stateOf(frame.accepted), "fulfilled");
});

test("StreamConnection.send() throws for what cannot be written and goes on (F10)", async () => {
  const { writable, writes } = openDrain();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  const bad: unknown[] = [
    { ...PING, params: { a: 1n } },
    { ...PING, params: { a: "x".repeat(1_000) } },
    undefined,
  ];
  for (const message of bad) {
    assert.throws(() => connection.send(message as JSONRPCMessage), FrameError);
    await connection.send(PING).accepted;
  }
  assert.deepEqual(writes, Array(bad.length).fill(PING_LINE));
  assert.equal(await stateOf(connection.closed), "pending");
});

test("StreamConnection.send() writes a legacy batch on one line", async () => {
  const { writable, writes } = openDrain();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  await connection.send([PING, PING]).accepted;
  assert.deepEqual(writes, [`[${PING_LINE.trimEnd()},${PING_LINE.trimEnd()}]\n`]);
});

test("StreamConnection.full and drained() hold whoever writes faster than the other side reads", async () => {
  const { writable, writes, accept } = openOutput();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  connection.send(PING);
  await nextTurn();
  let sent = 1;
  while (!connection.full) {
    connection.send(PING);
    sent++;
  }
  assert.equal(sent, 6, "five frames of 40 bytes wait behind the one in flight");
  assert.ok(connection.queuedBytes >= SETTINGS.maxQueuedBytes);
  const [drained, flushed] = [connection.drained(), connection.flushed()];
  assert.equal(await stateOf(drained), "pending");
  await accept();
  assert.equal(await stateOf(drained), "fulfilled");
  assert.equal(connection.full, false);
  assert.equal(connection.queuedBytes, 0);
  assert.equal(await stateOf(flushed), "pending");
  await accept();
  assert.equal(await stateOf(flushed), "fulfilled");
  assert.equal(writes.join(""), PING_LINE.repeat(sent));
});

test("StreamConnection.send() gives a message that can be withdrawn until it begins to leave", async () => {
  const { writable, writes, accept } = openOutput();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  const first = connection.send(PING);
  await nextTurn();
  const second = connection.send(PING);
  assert.equal(first.withdraw(), false);
  assert.equal(second.withdraw(), true);
  await assert.rejects(second.accepted, isClosedError({ reason: "local", sent: false }));
  await accept();
  await connection.flushed();
  assert.deepEqual(writes, [PING_LINE]);
});

test("StreamConnection.close() flushes what is queued, closes the output, and ends the input", async () => {
  const { writable, writes, accept, closed } = openOutput();
  const { readable } = openInput();
  const connection = new StreamConnection({ readable, writable }, SETTINGS);
  const receiving = connection.receive();
  const first = connection.send(PING);
  await nextTurn();
  const second = connection.send(PING);
  const closing = connection.close();
  assert.throws(() => connection.send(PING), isClosedError({ reason: "local", sent: false }));
  assert.equal(await stateOf(closing), "pending");
  await accept();
  assert.equal(await stateOf(closing), "pending");
  assert.equal(closed(), false);
  await accept();
  await settled(closing, "close() still waits");
  assert.equal(closed(), true);
  assert.deepEqual(writes, [PING_LINE, PING_LINE]);
  assert.equal(await stateOf(first.accepted), "fulfilled");
  assert.equal(await stateOf(second.accepted), "fulfilled");
  assert.equal(await settled(receiving, "receive() still waits"), undefined);
  assert.deepEqual(await connection.closed, { kind: "local" });
});

test("StreamConnection.close() can be called again, and after an abort", async () => {
  const connection = new StreamConnection(
    { readable: openInput().readable, writable: openDrain().writable },
    SETTINGS,
  );
  await Promise.all([connection.close(), connection.close()]);
  await connection.close();
  connection.abort();
  await connection.close();
  assert.deepEqual(await connection.closed, { kind: "local" });
  const aborted = new StreamConnection(
    { readable: openInput().readable, writable: openOutput().writable },
    SETTINGS,
  );
  aborted.send(PING);
  aborted.abort();
  await settled(aborted.close(), "close() waits");
});

test("StreamConnection.abort() ends a close() that waits for a write that never ends", async () => {
  const { writable, aborted } = openOutput();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  const receiving = connection.receive();
  const inFlight = connection.send(PING);
  await nextTurn();
  const queued = connection.send(PING);
  const closing = connection.close();
  assert.equal(await stateOf(closing), "pending");
  const reason = new Error("too slow");
  connection.abort(reason);
  await settled(closing, "close() still waits");
  assert.deepEqual(await settled(connection.closed, "closed is pending"), { kind: "local" });
  assert.equal(await settled(receiving, "receive() still waits"), undefined);
  assert.equal(await stateOf(inFlight.accepted), "rejected");
  await assert.rejects(
    queued.accepted,
    (error) => error instanceof ConnectionClosedError && error.cause === reason,
  );
  // A sink in the middle of a write is told afterwards, as the standard has it.
  assert.equal(aborted(), undefined);
});

test("StreamConnection.abort() loses what is queued and ends both directions", async () => {
  const { writable, writes, aborted } = openOutput();
  const { readable } = openInput();
  const connection = new StreamConnection({ readable, writable }, SETTINGS);
  const receiving = connection.receive();
  const frame = connection.send(PING);
  const reason = new Error("stop");
  connection.abort(reason);
  connection.abort(new Error("again"));
  await assert.rejects(frame.accepted, isClosedError({ reason: "local", sent: false }));
  assert.throws(() => connection.send(PING), isClosedError({ reason: "local", sent: false }));
  assert.equal(await settled(receiving, "receive() still waits"), undefined);
  await settled(connection.drained(), "drained() still waits");
  await settled(connection.flushed(), "flushed() still waits");
  assert.deepEqual(writes, []);
  assert.equal(aborted(), reason);
});

test("StreamConnection.closed tells that the output failed; the input goes on", async () => {
  const { writable, refuse } = openOutput();
  const { readable, controller } = openInput();
  const connection = new StreamConnection({ readable, writable }, SETTINGS);
  connection.send(PING);
  await nextTurn();
  const error = new Error("EPIPE");
  await refuse(error);
  const end: ConnectionEnd = await settled(connection.closed, "closed is pending");
  assert.deepEqual(end, { kind: "output_failed", error });
  assert.throws(() => connection.send(PING), isClosedError({ reason: "output_failed", sent: false }));
  controller.enqueue(bytesOf(PING_LINE));
  assert.equal((await connection.receive())?.length, 1);
});

test("StreamConnection.closed tells that the output failed while nothing was written", async () => {
  let fail!: (error: unknown) => void;
  const writable = new WritableStream<Uint8Array>({
    start: (controller) => void (fail = (error) => controller.error(error)),
  });
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  await nextTurn();
  const error = new Error("the reader has gone");
  fail(error);
  assert.deepEqual(await settled(connection.closed, "closed is pending"), { kind: "output_failed", error });
});

test("StreamConnection.closed tells that the output failed to close", async () => {
  const error = new Error("EIO");
  const writable = new WritableStream<Uint8Array>({ close: () => Promise.reject(error) });
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  await settled(connection.close(), "close() still waits");
  assert.deepEqual(await connection.closed, { kind: "output_failed", error });
});

test("StreamConnection rejects what was not accepted with a ConnectionClosedError when a write fails", async () => {
  const { writable, refuse } = openOutput();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  const inFlight = connection.send(PING);
  await nextTurn();
  const queued = connection.send(PING);
  const error = new Error("EPIPE");
  await refuse(error);
  for (const frame of [inFlight, queued]) {
    await assert.rejects(frame.accepted, (thrown) => {
      assert.ok(thrown instanceof ConnectionClosedError, `not a ConnectionClosedError: ${thrown}`);
      assert.equal(thrown.reason, "output_failed");
      assert.equal(thrown.cause, error);
      return true;
    });
  }
});

test("StreamConnection says of a message in flight that it was sent, of a queued one that it was not", async () => {
  for (const how of ["abort", "fail"]) {
    const { writable, refuse } = openOutput();
    const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
    const inFlight = connection.send(PING);
    await nextTurn();
    const queued = connection.send(PING);
    if (how === "abort") connection.abort();
    else await refuse(new Error("EPIPE"));
    const reason = how === "abort" ? "local" : "output_failed";
    assert.deepEqual([inFlight.begun, queued.begun], [true, false], `begun after ${how}`);
    await assert.rejects(inFlight.accepted, isClosedError({ reason, sent: true }));
    await assert.rejects(queued.accepted, isClosedError({ reason, sent: false }));
  }
});

test("StreamConnection.close() ends the input although the output has failed before", async () => {
  const { writable, refuse } = openOutput();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  const receiving = connection.receive();
  connection.send(PING);
  await nextTurn();
  await refuse(new Error("EPIPE"));
  assert.equal(await stateOf(receiving), "pending");
  await settled(connection.close(), "close() still waits");
  assert.equal(await stateOf(receiving), "fulfilled", "receive() waits although the connection is closed");
});

test("StreamConnection.abort() ends the input although the output has failed before", async () => {
  const { writable, refuse } = openOutput();
  const connection = new StreamConnection({ readable: openInput().readable, writable }, SETTINGS);
  const receiving = connection.receive();
  connection.send(PING);
  await nextTurn();
  await refuse(new Error("EPIPE"));
  connection.abort();
  assert.equal(await stateOf(receiving), "fulfilled", "receive() waits although the connection was aborted");
});

test("StreamConnection gives back the stream it took when the other one is taken already", () => {
  for (const taken of ["readable", "writable"] as const) {
    const streams = { readable: openInput().readable, writable: openDrain().writable };
    if (taken === "readable") streams.readable.getReader();
    else streams.writable.getWriter();
    assert.throws(() => new StreamConnection(streams, SETTINGS), TypeError);
    const other = taken === "readable" ? streams.writable : streams.readable;
    assert.equal(other.locked, false, `the other one is locked when the ${taken} is taken`);
  }
});

test("StreamConnection leaves no rejection unobserved, however it ends", async () => {
  const ends: ((connection: StreamConnection, output: ReturnType<typeof openOutput>) => unknown)[] = [
    (connection) => connection.abort(new Error("stop")),
    (_, output) => output.refuse(new Error("EPIPE")),
    (connection, output) => (void connection.close(), output.refuse(new Error("EPIPE"))),
    (connection) => (void connection.close(), connection.abort()),
    (connection) => connection.cancelInput(new Error("enough")),
    async (connection, output) => {
      await output.accept();
      await output.accept();
      await connection.close();
    },
  ];
  for (const end of ends) {
    const output = openOutput();
    const readable = new ReadableStream<Uint8Array>({
      cancel: () => Promise.reject(new Error("cannot cancel")),
    });
    const connection = new StreamConnection({ readable, writable: output.writable }, SETTINGS);
    void connection.receive();
    void connection.send(PING).accepted;
    await nextTurn();
    void connection.send(PING).accepted;
    connection.send(PING).withdraw();
    void connection.drained();
    await end(connection, output);
    await showUnhandledRejections();
  }
  const { readable, controller } = openInput();
  const connection = new StreamConnection({ readable, writable: openDrain().writable }, SETTINGS);
  controller.error(new Error("EIO"));
  await nextTurn();
  assert.equal(await connection.receive(), undefined);
  connection.cancelInput();
  await connection.close();
  await showUnhandledRejections();
});

test("StreamConnection carries messages both ways over streams that cut them anywhere (F3)", {
  timeout: 60_000,
}, async () => {
  const random = createRandom(12);
  function cutting(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform(chunk, controller): void {
        for (const part of randomCuts(chunk, random)) controller.enqueue(part);
      },
    });
  }
  const [there, back] = [cutting(), cutting()];
  const left = new StreamConnection({ readable: back.readable, writable: there.writable }, SETTINGS);
  const right = new StreamConnection({ readable: there.readable, writable: back.writable }, SETTINGS);
  const messages = Array.from({ length: 500 }, (_, id): JSONRPCMessage => {
    return { jsonrpc: "2.0", id, method: "m", params: { text: "é\n日😀".repeat(random.below(30)) } };
  });
  const echo = (async () => {
    for (let batch = await right.receive(); batch !== undefined; batch = await right.receive()) {
      for (const inbound of batch) {
        assert.ok(inbound.kind === "message");
        if (right.full) await right.drained();
        right.send(inbound.message);
      }
    }
    await right.close();
  })();
  const received: JSONRPCMessage[] = [];
  const answers = (async () => {
    while (received.length < messages.length) {
      for (const inbound of await left.receive() ?? []) {
        assert.ok(inbound.kind === "message");
        received.push(inbound.message);
      }
    }
  })();
  for (const message of messages) {
    if (left.full) await left.drained();
    left.send(message);
  }
  await answers;
  await left.close();
  await echo;
  assert.deepEqual(received, messages);
});

test("StreamConnection holds nothing of what went through it", { timeout: 60_000 }, async () => {
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const settings = { ...SETTINGS, maxLineBytes: 4 * 1_048_576 };
  const left = new StreamConnection({ readable: openInput().readable, writable: pipe.writable }, settings);
  const right = new StreamConnection({ readable: pipe.readable, writable: openDrain().writable }, settings);
  const before = await heldBytes();
  const text = "x".repeat(1_048_576);
  for (let count = 0; count < 32; count++) {
    const frame = left.send({ jsonrpc: "2.0", id: count, result: { text: `${count}${text}` } });
    assert.equal((await right.receive())?.length, 1);
    await frame.accepted;
  }
  const held = await heldBytes() - before;
  assert.ok(held < 6 * 1_048_576, `${held} bytes are held`);
});

test("StreamConnection observes a failed input whose error throws when it is looked at (C9)", async () => {
  const { readable, controller } = openInput();
  const connection = new StreamConnection({ readable, writable: openOutput().writable }, SETTINGS);
  const received = connection.receive();
  controller.error(
    new Proxy({}, {
      get: () => {
        throw new Error("not for you");
      },
    }),
  );
  assert.equal(await received, undefined);
  connection.cancelInput();
  connection.abort();
  await showUnhandledRejections();
});

for (const line of ["y", "{", "7"]) {
  test(`StreamConnection lets timers have their turns while ${line} comes without end (XB14, F5)`, async () => {
    const flood = bytesOf(`${line}\n`.repeat(32_768));
    const readable = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(flood) });
    const connection = new StreamConnection({ readable, writable: openOutput().writable }, {
      ...SETTINGS,
      maxLineBytes: 65_536,
    });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    let faults = 0;
    // The first chunk is not known for a flood yet; then none is longer than a few pages.
    for (let batches = 0; turns < 10; batches++) {
      assert.ok(batches < 1_000, `${turns} turns in ${faults} bad lines`);
      const batch = (await connection.receive())!;
      if (batches > 0) assert.ok(batch.length <= 8_192, `${batch.length} lines in one turn`);
      faults += batch.length;
    }
    clearInterval(timer);
    assert.equal(faults % 8_192, 0, "none is lost");
    connection.abort();
  });
}
