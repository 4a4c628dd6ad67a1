// What a server reads behind a full look-ahead: cancellations and the end of the input are learned in every state, requests are
// kept aside within a bound, and past it nobody is held for ever (V18). Over a Server and over StdioServerTransport.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { waitUntil } from "./helpers.ts";
import { serveInMemory } from "./sdk_transport_helpers.ts";
import {
  call,
  cancel,
  type FakeClock,
  initialize,
  legacy,
  type LogSink,
  notification,
  settle,
  SLOW,
  start,
  type Transcript,
} from "./server_helpers.ts";
import { startProcess } from "./server_processes.ts";

/** A server whose requests hang, seen as its client sees it. */
interface Seat {
  send(...messages: unknown[]): void;
  end(): void;
  stall(): void;
  resume(): void;
  /** Lets a request that runs be answered. */
  release(id: number): void;
  readonly begun: unknown[];
  readonly transcript: Transcript;
  readonly log: LogSink;
  readonly clock: FakeClock;
  readonly over: Promise<unknown>;
}

interface Limits {
  maxInFlightRequests?: number;
  maxQueuedRequests?: number;
  maxQueuedBytes?: number;
}

type Open = (t: TestContext, limits?: Limits) => Promise<Seat>;

const SEATS: Readonly<Record<string, Open>> = {
  "Server": async (t, limits = {}) => {
    const begun: unknown[] = [];
    const released = new Map<unknown, () => void>();
    const session = start(t, {
      limits,
      drainTimeoutMs: 500,
      handlers: {
        hang: (_params, { id, signal }) => {
          begun.push(id);
          return new Promise((resolve, reject) => {
            released.set(id, () => resolve({}));
            signal.onabort = () => reject(signal.reason);
          });
        },
      },
    }, { capacityBytes: 1_000 });
    session.send(initialize(0, "2025-03-26"));
    await session.response(0);
    return {
      send: (...messages) => session.send(...messages as string[]),
      end: () => session.end(),
      stall: () => session.stall(),
      resume: () => session.resume(),
      release: (id) => released.get(id)!(),
      begun,
      transcript: session.transcript,
      log: session.log,
      clock: session.clock,
      over: session.running,
    };
  },
  "StdioServerTransport": async (t, limits = {}) => {
    const begun: unknown[] = [];
    const served = await serveInMemory(t, {
      limits,
      drainTimeoutMs: 500,
      capacityBytes: 1_000,
      onmessage(message, { answer }) {
        if (!("method" in message) || !("id" in message)) return;
        if (message.method === "initialize") return answer(0, { protocolVersion: "2025-03-26" });
        if (message.method === "ping") return answer(message.id!);
        begun.push(message.id);
      },
    });
    served.client.send(initialize(0, "2025-03-26"));
    await served.client.transcript.response(0);
    return {
      send: (...messages) => served.client.send(...messages as string[]),
      end: () => served.client.end(),
      stall: () => served.client.stall(),
      resume: () => served.client.resume(),
      release: (id) => void served.answer(id),
      begun,
      transcript: served.client.transcript,
      log: served.log,
      clock: served.clock,
      over: served.client.ended,
    };
  },
};

const ids = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
const hanging = (first: number, last: number, params?: { text: string }) =>
  ids(first, last).map((id) => legacy(id, "hang", params));

/** As much that nothing more is read. */
const HUGE = { text: "x".repeat(400_000) };

for (const [name, open] of Object.entries(SEATS)) {
  test(`${name} learns cancellations behind calls that hang, and serves on (XA9, V18)`, SLOW, async (t) => {
    for (const [running, queued, aside] of [[256, 256, 200], [1, 1, 1]] as const) {
      const seat = await open(t, { maxInFlightRequests: running, maxQueuedRequests: queued });
      const last = running + queued + aside;
      seat.send(...hanging(1, last));
      await waitUntil(() => seat.begun.length === running);
      seat.send(...ids(1, last).map((id) => cancel(id)), legacy("after", "ping"));
      assert.ok(await seat.transcript.response("after"));
      await settle();
      assert.deepEqual(seat.begun, ids(1, running), "what was kept aside never runs");
      assert.equal(seat.transcript.messages.length, 2);
      seat.end();
      await seat.over;
    }
  });

  test(
    `${name} learns the end of its input behind calls that hang, and answers them all (XA9, V11, V18)`,
    SLOW,
    async (t) => {
      const seat = await open(t, { maxInFlightRequests: 2, maxQueuedRequests: 2 });
      seat.send(...hanging(1, 9), cancel(8));
      seat.end();
      await settle();
      seat.release(1);
      await seat.transcript.response(1);
      await settle();
      assert.deepEqual(seat.begun, [1, 2, 3], "the drain goes on with what was read");
      await seat.clock.advance(1_000);
      await seat.over;
      for (const id of ids(2, 9)) {
        const [answer, ...more] = seat.transcript.responsesTo(id);
        assert.deepEqual(more, []);
        assert.equal(answer?.error?.message, id === 8 ? undefined : "Server is shutting down", String(id));
      }
    },
  );

  test(
    `${name} takes on in order what was kept aside, and bad lines and batches in their turn (V5, V8, V18)`,
    SLOW,
    async (t) => {
      const seat = await open(t, { maxInFlightRequests: 1, maxQueuedRequests: 1 });
      const batch = JSON.stringify([legacy(4, "hang"), notification("x"), 5, legacy(5, "hang")]);
      seat.send(...hanging(1, 3), batch, "{bad", legacy(6, "hang"), cancel(5));
      await settle();
      for (const id of [1, 2, 3, 4, 6]) {
        await waitUntil(() => seat.begun.includes(id));
        seat.release(id);
      }
      await seat.transcript.response(6);
      assert.deepEqual(seat.begun, [1, 2, 3, 4, 6]);
      const answers = seat.transcript.texts.slice(1).map((text) => JSON.parse(text));
      const order = answers.map((each) => Array.isArray(each) ? each.map(({ id }) => id) : each.id);
      assert.deepEqual(order, [1, 2, 3, null, [null, 4], 6]);
    },
  );

  test(`${name} says once that requests wait, after a second (XA9, V18)`, async (t) => {
    const seat = await open(t, { maxInFlightRequests: 1, maxQueuedRequests: 1 });
    const told = () => seat.log.texts("warn").filter((text) => text.includes("requests wait"));
    seat.send(...hanging(1, 3));
    await seat.clock.advance(900);
    assert.deepEqual(told(), []);
    seat.send(...hanging(4, 4));
    await seat.clock.advance(100);
    assert.deepEqual(told(), [
      "[mcp_stdio] requests wait for more than a second: 1 run and 1 are queued before them",
    ]);
    await seat.clock.advance(60_000);
    seat.send(cancel(3), cancel(4));
    await seat.clock.advance(0);
    seat.send(...hanging(5, 6));
    await seat.clock.advance(60_000);
    assert.equal(told().length, 1);
  });

  test(`${name} is silent when nothing waits for a second (V18)`, async (t) => {
    const seat = await open(t, { maxInFlightRequests: 1, maxQueuedRequests: 1 });
    seat.send(...hanging(1, 3));
    for (const id of ids(1, 20)) {
      await seat.clock.advance(700);
      seat.send(legacy(id + 3, "hang"));
      seat.release(id);
    }
    await seat.clock.advance(700);
    assert.deepEqual(seat.log.texts("warn"), []);
    assert.ok(seat.begun.length >= 20);
  });

  test(
    `${name} holds a client behind 1 MiB of lines, and answers Server busy after 10 s (XA9, V18)`,
    SLOW,
    async (t) => {
      const seat = await open(t, { maxInFlightRequests: 1, maxQueuedRequests: 1 });
      seat.send(...hanging(1, 4, HUGE));
      await settle();
      // 800 kB are aside: this is read, and kept with them.
      seat.send(...hanging(5, 5, HUGE));
      await settle();
      // 1.2 MB are: nothing more is read.
      seat.send(cancel(1));
      seat.end();
      await seat.clock.advance(9_900);
      assert.deepEqual([seat.begun, seat.transcript.messages.length], [[1], 1]);
      await seat.clock.advance(100);
      assert.deepEqual(seat.begun, [1, 2], "the cancellation behind is read and frees the permit");
      await seat.clock.advance(1_000);
      await seat.over;
      const answers = ids(1, 5).map((id) =>
        seat.transcript.responsesTo(id).map(({ error }) => error!.message)
      );
      const shutdown = ["Server is shutting down"];
      assert.deepEqual(answers, [[], shutdown, ["Server busy"], shutdown, shutdown]);
    },
  );

  test(`${name} refuses a request longer than 1 MiB after 10 s, and waits no more (V18)`, SLOW, async (t) => {
    const seat = await open(t, { maxInFlightRequests: 1, maxQueuedRequests: 1 });
    seat.send(...hanging(1, 2));
    await settle();
    seat.send(...hanging(3, 3, { text: "x".repeat(2_000_000) }));
    await seat.clock.advance(9_000);
    seat.send(legacy(4, "hang"));
    await seat.clock.advance(2_000);
    assert.equal(seat.transcript.responsesTo(3)[0]?.error?.message, "Server busy");
    seat.send(cancel(4), cancel(2));
    await seat.clock.advance(20_000);
    seat.end();
    await settle();
    seat.release(1);
    await seat.over;
    await settle();
    assert.deepEqual(seat.transcript.messages.map(({ id }) => id), [0, 3, 1]);
    assert.equal(seat.clock.pendingTimers, 0);
  });

  test(
    `${name} adds few answers to an output that nobody reads, and goes on when it is read (V12, V18)`,
    SLOW,
    async (t) => {
      const seat = await open(t, { maxInFlightRequests: 1, maxQueuedRequests: 1, maxQueuedBytes: 1_000 });
      seat.stall();
      // Enough answers to fill the output twice over, then requests without room.
      seat.send(...ids(100, 200).map((id) => legacy(id, "ping")));
      await settle();
      seat.send(...hanging(1, 60, HUGE));
      await seat.clock.advance(600_000);
      assert.ok(seat.log.texts("warn").some((text) => text.includes("the client does not read")));
      seat.resume();
      await seat.transcript.until(() => seat.transcript.messages.length >= 102, "the answers to the pings");
      await seat.clock.advance(0);
      const busy = ids(100, 200).filter((id) => seat.transcript.responsesTo(id)[0]?.error !== undefined);
      assert.ok(busy.length > 0 && busy.length < 30, `${busy.length} pings were refused`);
      seat.end();
      await seat.clock.advance(600_000);
      await seat.over;
      const all = [...ids(1, 60), ...ids(100, 200)];
      assert.deepEqual(all.filter((id) => seat.transcript.responsesTo(id).length !== 1), []);
    },
  );

  test(
    `${name} takes 1 000 messages on a line, and answers a longer batch once (XC13, V18)`,
    SLOW,
    async (t) => {
      const seat = await open(t);
      const pings = ids(1, 1_000).map((id) => legacy(id, "ping"));
      seat.send(JSON.stringify(pings));
      await seat.transcript.response(1_000);
      assert.match(seat.transcript.texts[1]!, /^\[\{/, "on one line");
      assert.equal(seat.transcript.texts.length, 2);
      seat.send(JSON.stringify([...pings, 1]), `[${"1,".repeat(400_000)}1]`, legacy("after", "ping"));
      await seat.transcript.response("after");
      const refused = seat.transcript.responsesTo(null);
      assert.equal(refused.length, 2);
      for (const { error } of refused) {
        assert.deepEqual(error, {
          code: -32600,
          message: "Invalid Request: a batch has more than 1000 members",
        });
      }
      assert.equal(seat.transcript.messages.length, 1 + 1_000 + 2 + 1);
    },
  );
}

test(
  "A served process ends at the end of its input although all permits and places are taken (XA9, V11)",
  SLOW,
  async (t) => {
    const server = startProcess(t, "tests/fixtures/server_life", {
      args: [
        JSON.stringify({ drainTimeoutMs: 200, limits: { maxInFlightRequests: 1, maxQueuedRequests: 1 } }),
      ],
    });
    server.send(...ids(1, 4).map((id) => legacy(id, "ping")));
    await server.response(4);
    server.send(...ids(11, 20).map((id) => call(id, "sleep", { ms: 60_000 })));
    server.end();
    const exit = await server.exited;
    assert.deepEqual(exit, { code: 0, signal: null });
    for (const id of ids(11, 20)) {
      assert.equal(server.transcript.responsesTo(id)[0]?.error?.message, "Server is shutting down");
    }
  },
);
