import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inbound } from "../connection.ts";
import { FrameError } from "../errors.ts";
import { MessageDecoder } from "../internal/framing/message_decoder.ts";
import { encodeMessage, Ending, RawId } from "../internal/framing/message_encoder.ts";
import type { JSONRPCMessage } from "../messages.ts";
import { assertGrowth, bytesOf, cpuTime, textOf } from "./helpers.ts";

const LIMITS = { maxLineBytes: 400, maxNestingDepth: 512 };
const PING = { jsonrpc: "2.0", id: 0, method: "ping" } as const;
const PING_LINE = '{"jsonrpc":"2.0","id":0,"method":"ping"}\n';

/** What the decoder makes of lines, all given at once. */
function decode(lines: readonly string[]): Inbound[] {
  return new MessageDecoder(LIMITS).push(bytesOf(...lines));
}

function textOfFrame(frame: string | Uint8Array): string {
  if (typeof frame === "string") return frame;
  const text = textOf(frame);
  assert.ok(text.endsWith("\n"), "bytes have their line feed");
  return text.slice(0, -1);
}

/** A value of any kind in the place of a message: what the encoder must take or refuse. */
function message(value: unknown): JSONRPCMessage {
  return value as JSONRPCMessage;
}

test("encodeMessage() writes compact JSON on one line (F2)", () => {
  assert.equal(textOfFrame(encodeMessage(PING, 100)), PING_LINE.trimEnd());
  const result = { content: [{ type: "text", text: "first\nsecond\r\n\u2028 é😀" }] };
  const frame = textOfFrame(encodeMessage({ jsonrpc: "2.0", id: "a b", result }, 1_000));
  assert.ok(!/[\n\r]/.test(frame));
  assert.ok(!/[:,] /.test(frame));
  assert.deepEqual(JSON.parse(frame), { jsonrpc: "2.0", id: "a b", result });
  assert.equal(
    textOfFrame(encodeMessage([PING, PING], 1_000)),
    `[${PING_LINE.trimEnd()},${PING_LINE.trimEnd()}]`,
  );
});

test("encodeMessage() writes what MessageDecoder reads back", () => {
  const messages: JSONRPCMessage[] = [
    PING,
    {
      jsonrpc: "2.0",
      id: "",
      method: "a",
      params: { a: [null, true, 1.5, "\u0000\u001f\u007f\ud83d\ude00\ufeff"] },
    },
    { jsonrpc: "2.0", id: 2 ** 53 - 1, result: { ["__proto__"]: 1, nested: { id: 9 } } },
    { jsonrpc: "2.0", error: { code: -32700, message: "Parse error" } },
  ];
  const lines = messages.map((message) => `${textOfFrame(encodeMessage(message, 1_000))}\n`);
  assert.deepEqual(
    decode(lines),
    messages.map((message) => ({ kind: "message", message, idText: undefined })),
  );
});

test("encodeMessage() writes U+FFFD for a lone surrogate, but in an id (F10, XC3)", () => {
  const rows: [text: string, written: string][] = [
    ["\ud800", "\ufffd"],
    ["a\udfffb", "a\ufffdb"],
    ["\ude00\ud83d", "\ufffd\ufffd"],
    ["\ud83d\ud83d\ude00", "\ufffd😀"],
    ["cut \ud83d here", "cut \ufffd here"],
    ["\\\ud83d", "\\\ufffd"],
    ['"\ud83d"\n\\\\', '"\ufffd"\n\\\\'],
    ["\\ud83d", "\\ud83d"],
    ["\\\\ud83d\\\ud83d", "\\\\ud83d\\\ufffd"],
    ["\\udev \\udead", "\\udev \\udead"],
    ["😀\u0000\ufffd", "😀\u0000\ufffd"],
  ];
  for (const [text, written] of rows) {
    const request = {
      jsonrpc: "2.0",
      id: text,
      method: text,
      params: { [text]: [text, { id: text }] },
    } as const;
    const wanted = {
      jsonrpc: "2.0",
      id: text,
      method: written,
      params: { [written]: [written, { id: written }] },
    };
    for (const limit of [2_000, 300]) {
      const frame = textOfFrame(encodeMessage(request, limit));
      assert.equal(textOf(bytesOf(frame)), frame);
      assert.deepEqual(JSON.parse(frame), wanted, text);
    }
    const batch = [{ jsonrpc: "2.0", id: 1, result: { text } }, {
      jsonrpc: "2.0",
      id: text,
      result: { text },
    }] as const;
    assert.deepEqual(JSON.parse(textOfFrame(encodeMessage(batch, 2_000))), [
      { ...batch[0], result: { text: written } },
      { ...batch[1], result: { text: written } },
    ]);
  }
});

test("encodeMessage() gives back whatever stands for a request as it came (F10, XC3)", () => {
  const id = "\ud83d";
  const subscriptionId = "io.modelcontextprotocol/subscriptionId";
  const messages = [
    { jsonrpc: "2.0", id, error: { code: 1, message: "a" } },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } },
    { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: id, progress: 1 } },
    { jsonrpc: "2.0", id, method: "a", params: { _meta: { progressToken: id } } },
    { jsonrpc: "2.0", method: "a", params: { _meta: { [subscriptionId]: id } } },
    { jsonrpc: "2.0", id, result: { _meta: { [subscriptionId]: id } } },
  ] as const;
  for (const message of messages) {
    assert.deepEqual(JSON.parse(textOfFrame(encodeMessage(message, 1_000))), message);
    assert.deepEqual(JSON.parse(textOfFrame(encodeMessage([message, message], 1_000))), [message, message]);
  }
});

test("encodeMessage() looks at backslashes in linear time (XC3, F8)", () => {
  const cost = (mebibytes: number): number => {
    const text = "\\".repeat(mebibytes * 500_000) + "\\udev" + "\ud83d".repeat(mebibytes * 20_000);
    const start = cpuTime();
    encodeMessage({ jsonrpc: "2.0", id: 1, result: { text } }, 100_000_000);
    return cpuTime() - start;
  };
  return assertGrowth(cost, { small: 1, large: 4, factor: 12 });
});

test("encodeMessage() takes exactly the limit in bytes and refuses one more (F10)", () => {
  for (const unit of ["x", "é", "日", "😀", '"', "\n", "\ufffd"]) {
    for (const count of [1, 10, 33, 34, 35, 1_000]) {
      const message = { jsonrpc: "2.0", method: unit.repeat(count) } as const;
      const { length } = bytesOf(JSON.stringify(message));
      assert.equal(bytesOf(textOfFrame(encodeMessage(message, length))).length, length);
      assert.equal(textOfFrame(encodeMessage(message, length)), JSON.stringify(message));
      assert.equal(textOfFrame(encodeMessage(message, 3 * length)), JSON.stringify(message));
      assert.throws(
        () => encodeMessage(message, length - 1),
        (error) =>
          error instanceof FrameError && error.code === "frame_too_long" && error.limitBytes === length - 1,
        `${unit} × ${count}`,
      );
    }
  }
});

test("encodeMessage() refuses what is no JSON value and says why (F10)", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const thrown = new Error("from toJSON");
  const rows: [value: unknown, reason: RegExp][] = [
    [undefined, /no value/],
    [() => {}, /no value/],
    [Symbol("a"), /no value/],
    [{ toJSON: () => undefined }, /no value/],
    [{ ...PING, params: { big: 5n } }, /BigInt/i],
    [{ ...PING, id: 5n }, /BigInt/i],
    [{ ...PING, params: cycle }, /circular|cyclic/i],
    [{ ...PING, params: { a: { toJSON: () => assert.fail(thrown) } } }, /from toJSON/],
    [{
      ...PING,
      params: Object.defineProperty({}, "a", { enumerable: true, get: () => assert.fail(thrown) }),
    }, /from toJSON/],
  ];
  for (const [value, reason] of rows) {
    assert.throws(() => encodeMessage(message(value), 1_000), (error) => {
      assert.ok(error instanceof FrameError);
      assert.equal(error.code, "unserializable");
      assert.match(error.message, reason);
      return true;
    });
    // The next one is not touched by the failure.
    assert.equal(textOfFrame(encodeMessage(PING, 1_000)), PING_LINE.trimEnd());
  }
});

test("encodeMessage() refuses what is no message, before or after its toJSON() (F10, XC12, S2-10)", () => {
  const rows: [value: unknown, reason: RegExp][] = [
    [null, /not a JSON object/],
    [5, /not a JSON object/],
    ["text", /not a JSON object/],
    [[], /an empty batch/],
    [[PING, 5], /not a JSON object/],
    [[PING, [PING]], /a batch is not a message/],
    [{}, /"jsonrpc" is not "2\.0"/],
    [{ ...PING, id: NaN }, /"id" is neither/],
    [{ ...PING, id: 1.5 }, /"id" is neither/],
    [{ ...PING, id: {} }, /"id" is neither/],
    [{ ...PING, id: null }, /"id" is neither/],
    [{ ...PING, id: "x".repeat(4_097) }, /"id" is longer than 4096 bytes/],
    [{ ...PING, method: 5 }, /"method" is not a string/],
    [{ ...PING, params: [1] }, /"params" is not an object/],
    [{ ...PING, params: { toJSON: () => "text" } }, /"params" is not an object/],
    [{ toJSON: () => "text", ...PING }, /not a JSON object/],
    [{ toJSON: () => ({ ...PING, id: "x".repeat(5_000) }), ...PING }, /"id" is longer/],
    [{ jsonrpc: "2.0", id: 1, result: new Date(0) }, /"result" is not an object/],
    [{ jsonrpc: "2.0", id: 1, result: "text" }, /"result" is not an object/],
    [{ jsonrpc: "2.0", id: 1, error: { code: NaN, message: "a" } }, /"code" is not an integer/],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1, message: 5n.toString } }, /"message" is not a string/],
    [{ jsonrpc: "2.0", result: {} }, /"id" is neither/],
    [[PING, { ...PING, params: { toJSON: () => 1 } }], /"params" is not an object/],
  ];
  for (const [value, reason] of rows) {
    assert.throws(() => encodeMessage(message(value), 100_000), (error) => {
      assert.ok(error instanceof FrameError, String(error));
      assert.equal(error.code, "invalid_message");
      assert.match(error.message, reason);
      return true;
    });
  }
  const own = { ...PING, params: { toJSON: () => ({ a: 1 }) } };
  assert.deepEqual(JSON.parse(textOfFrame(encodeMessage(message(own), 1_000))), {
    ...PING,
    params: { a: 1 },
  });
  const unread = { jsonrpc: "2.0", id: null, error: { code: 1, message: "a" } };
  assert.deepEqual(JSON.parse(textOfFrame(encodeMessage(message(unread), 1_000))), unread);
});

test("encodeMessage() throws nothing but a FrameError, whatever a value does (F10, XA4, XA7)", () => {
  const fail = (): never => {
    throw hostile;
  };
  const hostile: unknown = new Proxy({}, {
    get: fail,
    getPrototypeOf: fail,
    ownKeys: fail,
    has: fail,
    getOwnPropertyDescriptor: fail,
  });
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const lying = Object.defineProperty(new Error(), "message", { get: fail });
  const thrown = [
    hostile,
    revoked,
    lying,
    Object.assign(new Error(), { message: 5n }),
    Object.assign(new Error(), { message: { toString: fail } }),
    Object.assign(new Error(), { message: Symbol("a") }),
    { toString: fail },
    new Error("x\ny".repeat(100_000)),
  ];
  const values: unknown[] = [hostile, revoked, [hostile], [revoked], { ...PING, params: hostile }, {
    ...PING,
    params: revoked,
  }];
  for (const error of thrown) {
    const toJSON = (): never => {
      throw error;
    };
    values.push({ ...PING, params: { toJSON } }, { ...PING, toJSON });
    values.push({ ...PING, params: Object.defineProperty({}, "a", { enumerable: true, get: toJSON }) });
    values.push(
      Object.defineProperty({ ...PING, toJSON: undefined }, "method", { enumerable: true, get: toJSON }),
    );
  }
  // Good when it is written, bad when it is looked at again.
  let looks = 0;
  values.push(Object.defineProperty({ jsonrpc: "2.0", id: 1 }, "method", {
    enumerable: true,
    get: () => looks++ === 0 ? "ping" : fail(),
  }));
  for (const value of values) {
    assert.throws(() => encodeMessage(message(value), 1_000), (error) => {
      assert.ok(error instanceof FrameError);
      assert.ok(error.message.length < 1_000 && !/[\r\n]/.test(error.message));
      return true;
    });
  }
});

test("encodeMessage() keeps the thrown value as the cause (F10)", () => {
  for (const cause of [new TypeError("a"), "text", 0, undefined, null, Symbol("a")]) {
    const value = {
      ...PING,
      params: {
        toJSON: () => {
          throw cause;
        },
      },
    };
    assert.throws(() => encodeMessage(message(value), 1_000), (error) => {
      assert.ok(error instanceof FrameError);
      assert.equal(error.cause, cause);
      return true;
    });
  }
});

test("encodeMessage() throws a FrameError although the thrown value has no text (F10)", () => {
  const value = {
    ...PING,
    params: {
      toJSON: () => {
        throw Object.create(null);
      },
    },
  };
  assert.throws(() => encodeMessage(message(value), 1_000), FrameError);
});

test("encodeMessage() meets deep values without a stack overflow (F10, F11)", { timeout: 60_000 }, () => {
  let deep: unknown[] = [];
  for (let level = 0; level < 200_000; level++) deep = [deep];
  try {
    assert.equal(
      bytesOf(encodeMessage(message({ ...PING, params: { deep } }), 1_000_000)).length > 400_000,
      true,
    );
  } catch (error) {
    assert.ok(error instanceof FrameError && error.code === "unserializable");
  }
});

test("encodeMessage() writes the digits of a RawId (F9)", () => {
  const digits = "900719925474099300000001";
  const answer = { jsonrpc: "2.0", id: new RawId(digits), result: { text: "a" } };
  assert.equal(
    textOfFrame(encodeMessage(message(answer), 1_000)),
    `{"jsonrpc":"2.0","id":${digits},"result":{"text":"a"}}`,
  );
  const batch = [answer, PING, { jsonrpc: "2.0", id: new RawId("-1e30"), result: {} }].map(message);
  assert.equal(
    textOfFrame(encodeMessage(batch, 1_000)),
    `[{"jsonrpc":"2.0","id":${digits},"result":{"text":"a"}},${PING_LINE.trimEnd()},{"jsonrpc":"2.0","id":-1e30,"result":{}}]`,
  );
  // As the last member, and beside text that looks like one.
  const last = { jsonrpc: "2.0", result: { text: `"id":"${digits}"\u0000id:` }, id: new RawId(digits) };
  assert.deepEqual(
    textOfFrame(encodeMessage(message(last), 1_000)),
    `{"jsonrpc":"2.0","result":${JSON.stringify(last.result)},"id":${digits}}`,
  );
});

test("encodeMessage() measures a message with a RawId as it is written (F9, F10)", () => {
  const answer = message({ jsonrpc: "2.0", id: new RawId("9007199254740993"), result: { text: "é" } });
  const written = '{"jsonrpc":"2.0","id":9007199254740993,"result":{"text":"é"}}';
  const { length } = bytesOf(written);
  assert.equal(textOfFrame(encodeMessage(answer, length)), written);
  assert.throws(() => encodeMessage(answer, length - 1), FrameError);
});

test("encodeMessage() answers a request beyond 2^53 with the digits that came (F9)", () => {
  for (const digits of ["9007199254740993", "-9007199254740993", "1e300", "123456789012345678901234567890"]) {
    const [inbound] = decode([`{"jsonrpc":"2.0","id":${digits},"method":"ping"}\n`]);
    assert.ok(inbound?.kind === "message" && inbound.idText !== undefined);
    const answer = message({ jsonrpc: "2.0", id: new RawId(inbound.idText), result: {} });
    assert.equal(textOfFrame(encodeMessage(answer, 1_000)), `{"jsonrpc":"2.0","id":${digits},"result":{}}`);
  }
});

test("encodeMessage() keeps a RawId when a value of the message encodes another message meanwhile (F9)", () => {
  // A handler's result may log, and so send, from its toJSON().
  const logs = { toJSON: () => textOfFrame(encodeMessage(PING, 1_000)).length };
  const answer = message({ jsonrpc: "2.0", id: new RawId("9007199254740993"), result: { logs } });
  assert.equal(
    textOfFrame(encodeMessage(answer, 1_000)),
    '{"jsonrpc":"2.0","id":9007199254740993,"result":{"logs":40}}',
  );
});

test("encodeMessage() ends params and results with an Ending as if its members stood in them (F2, F10)", () => {
  const members = { resultType: "complete", _meta: { "a/b": { name: 'é"\n', cut: "\ud83d" } } };
  const ending = Ending.of(members)!;
  const contents = [
    {},
    { a: {} },
    { a: [] },
    { a: "}}" },
    { a: "{" },
    { a: "\ud800" },
    { a: undefined },
    { a: { b: { c: {} } }, d: 1 },
  ];
  const written = { ...members, _meta: { "a/b": { name: 'é"\n', cut: "\ufffd" } } };
  for (const content of contents) {
    for (
      const whole of [{ jsonrpc: "2.0", id: 1, result: content }, {
        jsonrpc: "2.0",
        id: "x",
        method: "a",
        params: content,
      }]
    ) {
      const name = "result" in whole ? "result" : "params";
      const plain = textOfFrame(
        encodeMessage(message({ ...whole, [name]: { ...content, ...written } }), 1_000),
      );
      assert.equal(textOfFrame(encodeMessage(message(whole), 1_000, ending)), plain);
      const { length } = bytesOf(plain);
      assert.equal(textOfFrame(encodeMessage(message(whole), length, ending)), plain);
      assert.throws(() => encodeMessage(message(whole), length - 1, ending), { code: "frame_too_long" });
    }
  }
  const answer = { jsonrpc: "2.0", id: new RawId("9007199254740993"), result: {} };
  assert.match(textOfFrame(encodeMessage(message(answer), 1_000, ending)), /"id":9007199254740993,.*"_meta"/);
});

test("encodeMessage() refuses with an Ending what it refuses without one (F10)", () => {
  const ending = Ending.of({ _meta: {} })!;
  for (
    const params of [
      { big: 5n },
      { toJSON: () => "text" },
      { toJSON: () => [1] },
      { toJSON: () => 5 },
      { toJSON: () => undefined },
      [1],
      "text",
    ]
  ) {
    assert.throws(() => encodeMessage(message({ ...PING, params }), 1_000, ending), FrameError);
  }
  const own = { ...PING, params: { toJSON: () => ({ a: 1 }) } };
  assert.deepEqual(JSON.parse(textOfFrame(encodeMessage(message(own), 1_000, ending))), {
    ...PING,
    params: { a: 1, _meta: {} },
  });
  assert.equal(Ending.of({ big: 5n }), undefined);
  assert.equal(Ending.of({ toJSON: () => undefined }), undefined);
});
