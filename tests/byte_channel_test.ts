// Streams taken for all that comes and goes: whether what is behind them is used directly or not, they behave alike.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ByteChannel, LazyStdio, openChannel } from "../internal/runtime/byte_channel.ts";
import {
  type ByteSink,
  type ByteSource,
  readableFrom,
  writableTo,
} from "../internal/runtime/byte_streams.ts";
import { bytesOf, nextTurn, stateOf, textOf } from "./helpers.ts";

/** A source that the test gives chunks, and that settles in any manner once it is closed. */
class Source implements ByteSource {
  closed = 0;
  reads = 0;
  readonly #chunks: (Uint8Array | null | Error)[] = [];
  readonly #waiting: (() => void)[] = [];

  give(...chunks: (string | null | Error)[]): void {
    this.#chunks.push(...chunks.map((chunk) => typeof chunk === "string" ? bytesOf(chunk) : chunk));
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async read(): Promise<Uint8Array | null> {
    this.reads++;
    while (this.#chunks.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const chunk = this.#chunks.shift()!;
    if (chunk instanceof Error) throw chunk;
    return chunk;
  }

  close(): void {
    this.closed++;
    this.give(new Error("read after close"));
  }
}

class Sink implements ByteSink {
  readonly calls: string[] = [];
  failure: unknown;

  write(bytes: Uint8Array): Promise<void> {
    this.calls.push(textOf(bytes));
    return this.failure === undefined ? Promise.resolve() : Promise.reject(this.failure);
  }

  close(): void {
    this.calls.push("close()");
  }

  abort(): void {
    this.calls.push("abort()");
  }
}

const WAYS: Record<string, (source: Source, sink: Sink) => ByteChannel> = {
  "own standard streams": (source, sink) => openChannel(new LazyStdio(source, sink, false)),
  "streams of ours": (source, sink) =>
    openChannel({ readable: readableFrom(source), writable: writableTo(sink) }),
  "own standard streams that somebody has asked for": (source, sink) => {
    const stdio = new LazyStdio(source, sink, false);
    return openChannel({ readable: stdio.readable, writable: stdio.writable });
  },
  "foreign streams": (source, sink) => {
    const through = () =>
      new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 0 });
    const out = through();
    out.readable.pipeTo(writableTo(sink)).catch(() => {});
    return openChannel({ readable: readableFrom(source).pipeThrough(through()), writable: out.writable });
  },
};

for (const [way, open] of Object.entries(WAYS)) {
  test(`openChannel() of ${way} reads what comes, passes over empty chunks, and ends`, async () => {
    const source = new Source();
    const { input } = open(source, new Sink());
    source.give("a", "", "", "b");
    assert.equal(textOf((await input.read())!), "a");
    assert.equal(textOf((await input.read())!), "b");
    source.give("", null);
    assert.equal(await input.read(), undefined);
    assert.equal(await input.read(), undefined);
  });

  test(`openChannel() of ${way} rejects the read that fails, and has ended then`, async () => {
    const source = new Source();
    const { input } = open(source, new Sink());
    source.give(new Error("broken"));
    await assert.rejects(input.read(), /broken/);
  });

  test(`openChannel() of ${way} ends a read under way when it is cancelled, and closes the source once`, async () => {
    const source = new Source();
    const { input } = open(source, new Sink());
    const reading = input.read();
    await nextTurn();
    assert.equal(await stateOf(reading), "pending");
    await input.cancel();
    assert.equal(await reading, undefined);
    await input.cancel();
    await nextTurn();
    assert.equal(source.closed, 1);
    assert.equal(await input.read(), undefined);
  });

  test(`openChannel() of ${way} writes in order and closes`, async () => {
    const sink = new Sink();
    const { output } = open(new Source(), sink);
    await output.write(bytesOf("a"));
    await output.write(bytesOf("b"));
    await output.close();
    await nextTurn();
    assert.deepEqual(sink.calls, ["a", "b", "close()"]);
  });

  test(`openChannel() of ${way} gives the output up at once`, async () => {
    const sink = new Sink();
    const { output } = open(new Source(), sink);
    await output.write(bytesOf("a"));
    output.failed?.catch(() => {});
    await output.abort(new Error("enough"));
    await nextTurn();
    assert.ok(sink.calls.includes("abort()"), sink.calls.join());
  });
}

for (const code of ["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"]) {
  test(`openChannel() tells a reader that is gone as EPIPE: ${code} (V13)`, async () => {
    for (const way of ["own standard streams", "streams of ours"]) {
      const sink = new Sink();
      sink.failure = Object.assign(new Error("of the system"), { code });
      const { output } = WAYS[way]!(new Source(), sink);
      await assert.rejects(output.write(bytesOf("a"))!, { code: "EPIPE", cause: sink.failure });
    }
  });
}

test("openChannel() does not go behind a stream that somebody has read or written", async () => {
  const source = new Source();
  const sink = new Sink();
  const streams = { readable: readableFrom(source), writable: writableTo(sink) };
  source.give("first");
  const reader = streams.readable.getReader();
  assert.equal(textOf((await reader.read()).value!), "first");
  const writer = streams.writable.getWriter();
  await writer.write(bytesOf("first"));
  // A read that was given up has asked the source already: what comes for it belongs to the next.
  const abandoned = reader.read();
  abandoned.catch(() => {});
  await nextTurn();
  reader.releaseLock();
  writer.releaseLock();
  const { input, output } = openChannel(streams);
  const reading = input.read();
  source.give("second");
  await nextTurn();
  assert.equal(await stateOf(reading), "fulfilled");
  assert.equal(textOf((await reading)!), "second");
  await output.write(bytesOf("second"));
  assert.ok(output.failed !== undefined, "it goes by the stream");
  assert.deepEqual(sink.calls, ["first", "second"]);
});

test("LazyStdio gives its streams to one only", () => {
  const stdio = new LazyStdio(new Source(), new Sink(), false);
  openChannel(stdio);
  assert.throws(() => stdio.readable, /in use/);
  assert.throws(() => stdio.writable, /in use/);
  assert.throws(() => openChannel(stdio), /in use/);
  const opened = new LazyStdio(new Source(), new Sink(), true);
  assert.equal(opened.readable, opened.readable);
  openChannel(opened);
  assert.equal(opened.readable.locked, true);
});
