/**
 * Random frames, mutated and cut at random, through the decoder, against a model that takes the plain way: split at LF,
 * decode, parse, look at the shape, and find the id by tokens. A failure names its seed: set `TEST_SEED` to see it again, or
 * to `random` to see something new.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inbound } from "../connection.ts";
import { IdScanner, type ScannedFrame } from "../internal/framing/id_scanner.ts";
import { MessageDecoder } from "../internal/framing/message_decoder.ts";
import { encodeMessage } from "../internal/framing/message_encoder.ts";
import type { JSONRPCMessage } from "../messages.ts";
import {
  byteByByte,
  bytesOf,
  createRandom,
  heldBytes,
  type Random,
  randomCuts,
  rounds,
  testSeed,
} from "./helpers.ts";

const SEED = testSeed();
const DECODER_STREAMS = rounds(4_000);
const LINES_IN_A_STREAM = 8;
const SCANNER_FRAMES = rounds(60_000);
const ENCODER_MESSAGES = rounds(10_000);

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The model

interface Limits {
  maxLineBytes: number;
  maxNestingDepth: number;
}

/** What the model says of a line: the message as JSON, or the reason of the fault, and what it knows of the id. */
interface Expected {
  readonly kind: string;
  readonly json?: string;
  readonly ids: Ids;
}

/** What the tokens of a frame say about its id. */
interface Ids {
  /** Every value the id may have: the complete values at the top level behind a key `id`. */
  readonly possible: readonly unknown[];
  /** Whether there is one such key at most, with all around it in order, so that the id is certain. */
  readonly certain: boolean;
  /** The id, if that is certain. */
  readonly id: unknown;
  readonly idText: string | undefined;
}

function modelStream(bytes: Uint8Array, limits: Limits): Expected[] {
  const expected: Expected[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    const outcome = modelLine(bytes.subarray(start, end), limits);
    if (outcome !== undefined) expected.push(outcome);
    start = end + 1;
  }
  const rest = bytes.subarray(start);
  const isBlank = rest.length <= limits.maxLineBytes + 1 &&
    /^\0*(?:\xef\xbb\xbf)?\0*[ \t\r]*$/.test(latin1(rest));
  if (!isBlank) expected.push({ kind: "truncated", ids: findIds(rest) });
  return expected;
}

function modelLine(line: Uint8Array, limits: Limits): Expected | undefined {
  const length = line.at(-1) === 0x0d ? line.length - 1 : line.length;
  if (length > limits.maxLineBytes) return { kind: "too_long", ids: findIds(line) };
  let text: string;
  try {
    text = decoder.decode(line);
  } catch {
    return { kind: "invalid_utf8", ids: findIds(line) };
  }
  text = text.replace(/^\0*\ufeff?\0*/, "");
  if (/^[ \t\r]*$/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "invalid_json", ids: findIds(line) };
  }
  // Only the depth of what is left counts, should two members have one name.
  if (depthOf(value) > limits.maxNestingDepth) return { kind: "invalid_json", ids: findIds(line) };
  const id = isObject(value) && isId(value["id"]) ? value["id"] : undefined;
  const isUnsafe = typeof id === "number" && !Number.isSafeInteger(id);
  const known = { possible: [id], certain: true, id, idText: isUnsafe ? findIds(line).idText : undefined };
  if (!isMessage(value)) return { kind: "invalid_message", ids: known };
  if (value["id"] === null) delete value["id"];
  if (value["params"] === null) delete value["params"];
  return { kind: "message", json: JSON.stringify(value), ids: known };
}

function isMessage(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const has = (name: string) => Object.hasOwn(value, name);
  const { id, method, params, result, error } = value;
  if (has("method")) {
    return typeof method === "string" && (!has("id") || isId(id)) &&
      (!has("params") || params === null || isObject(params)) &&
      !has("result") && !has("error");
  }
  if (has("result")) return !has("error") && isId(id) && isObject(result);
  return isObject(error) && Number.isInteger(error["code"]) && typeof error["message"] === "string" &&
    (!has("id") || id === null || isId(id));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value instanceof Object && !Array.isArray(value);
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isInteger(value);
}

function depthOf(value: unknown): number {
  return value instanceof Object ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

const TOKEN_REGEXP = /"(?:[^"\\]|\\[^])*"|[{}[\],:]|[ \t\r\n]+|[^"{}[\],: \t\r\n]+|"/g;

const ID_KEY_REGEXP = /"(?:i|\\u0069)(?:d|\\u0064)"/g;

/** Finds the id by the tokens of the frame, each a piece of text in which a character is a byte. */
function findIds(bytes: Uint8Array): Ids {
  const text = latin1(bytes).replace(/^[ \t\r\0\xef\xbb\xbf]+/, "");
  const ids = findFirstIds(text);
  if (/^\{/.test(text) ? !ids.isFollowed : /^\[[ \t\r]*\{/.test(text)) return ids;
  // A frame that is glued behind what somebody has printed. Which one, and what in it is broken, the tests of the scanner say.
  const glued = [...text.matchAll(ID_KEY_REGEXP)].flatMap(({ 0: key, index }) =>
    (text.slice(index + key.length).match(TOKEN_REGEXP) ?? []).map(toValue)
  );
  return {
    possible: [undefined, ...ids.possible, ...glued],
    certain: false,
    id: undefined,
    idText: undefined,
  };
}

/** What the object says that begins the text, and whether it is no frame, or may be a notification, and something comes behind it. */
function findFirstIds(text: string): Ids & { readonly isFollowed: boolean } {
  const tokens = text.match(TOKEN_REGEXP) ?? [];
  const top: string[] = [];
  const open: string[] = [];
  let isOpen = tokens[0] === "{";
  let isFollowed = false;
  for (let at = 0; at < tokens.length && isOpen; at++) {
    const token = tokens[at]!;
    if (token === '"') isOpen = false; // A string without end.
    else if (token === "{" || token === "[") {
      open.push(token);
      top.push(open.length === 1 ? "{" : open.length === 2 ? "nested" : "");
    } else if (token === "}" || token === "]") {
      if (open.length === 1) top.push("}");
      if (open.pop() !== (token === "}" ? "{" : "[")) isOpen = false;
      else if (open.length === 0) {
        isOpen = false;
        const names = top.filter((name) => !/^[ \t\r\n]*$/.test(name));
        const isFrame = names.some((name, index) =>
          name === '"jsonrpc"' && /^[{,]$/.test(names[index - 1] ?? "") && names[index + 1] === ":"
        );
        const isNotification = names.some((name) => toValue(name) === "method");
        isFollowed = (!isFrame || isNotification) && tokens.slice(at + 1).join("").includes("{");
      }
    } else if (open.length === 1) top.push(token);
  }
  const line = top.filter((token) => token !== "" && !/^[ \t\r\n]+$/.test(token));
  const keys = line.flatMap((token, at) => isIdKey(token) ? [at] : []);
  // A number at the very end may have been cut.
  const isCut = isOpen && /^[^" \t\r\n]/.test(top.at(-1) ?? "");
  const possible = line.filter((_, at) => keys.some((key) => key < at) && !(isCut && at === line.length - 1));
  const key = keys.at(-1) ?? -1;
  const [before, colon, value, behind] = [line[key - 1], line[key + 1], line[key + 2], line[key + 3]];
  const inOrder = /^[{,]$/.test(before ?? "") && colon === ":" && value !== undefined &&
    /^[},]$/.test(behind ?? "");
  const isCertain = keys.length === 0 || keys.length === 1 && inOrder;
  const found = inOrder ? toValue(value!) : undefined;
  const id = isId(found) ? found : undefined;
  return {
    possible: isCertain ? [id] : [undefined, ...possible.map(toValue)],
    certain: isCertain,
    id,
    idText: id === undefined || typeof id === "string" || Number.isSafeInteger(id) ? undefined : value,
    isFollowed,
  };
}

function isIdKey(token: string): boolean {
  return token === '"id"' || token.startsWith('"') && token.includes("\\u00") && toValue(token) === "id";
}

/** The value of a token, undefined for one that is no JSON. */
function toValue(token: string): unknown {
  if (token.length < 2 && !/\d/.test(token)) return undefined;
  try {
    return JSON.parse(decoder.decode(Uint8Array.from(token, (character) => character.charCodeAt(0))));
  } catch {
    return undefined;
  }
}

function checkId(ids: Ids, found: { id?: unknown; idText?: string | undefined }): string | undefined {
  if (!ids.certain) {
    return ids.possible.includes(found.id) ? undefined : `the id ${found.id} is none of ${ids.possible}`;
  }
  if (found.id !== ids.id) return `the id is ${found.id}, not ${ids.id}`;
  return found.idText === ids.idText ? undefined : `the digits are ${found.idText}, not ${ids.idText}`;
}

// What is fed

const IDS = [
  "1",
  "0",
  '"a"',
  '""',
  '"é"',
  '"\\u0031"',
  "9007199254740993",
  "-5",
  "1e3",
  "null",
  "1.5",
  "[1]",
  '{"id":3}',
];
const KEYS = ['"id"', '"id"', '"\\u0069d"', '"i\\u0064"', '"id "', '"ID"'];
const VALUES = [
  "1",
  '"text"',
  '"日本 \\"id\\":1 \u2028"',
  "null",
  '[{"id":"nested"},[2]]',
  '{"id":"nested","method":"nested","result":{"id":77}}',
  '"}{][\\\\"',
  "[[[[[[]]]]]]",
  '{"a":{"a":{"a":{"a":{"a":{}}}}}}',
  "{}",
  "-1.5e-7",
  `"${"x".repeat(70)}"`,
  '"\\ud800"',
];

function member(random: Random): string {
  const colon = random.oneIn(8) ? " : " : ":";
  const kind = random.below(10);
  if (kind < 3) return `${random.pick(KEYS)}${colon}${random.pick(IDS)}`;
  if (kind < 5) return `"method"${colon}${random.pick(['"ping"', '""', '"é"', "5", "null"])}`;
  if (kind < 6) {
    return `"error"${colon}${
      random.pick(['{"code":-32700,"message":"a"}', '{"code":1}', "null", '{"id":"nested"}'])
    }`;
  }
  const key = random.pick(['"result"', '"result"', '"params"', '"x"', '"a\\"b"', '"__proto__"']);
  return `${key}${colon}${random.pick(VALUES)}`;
}

function frame(random: Random): Uint8Array {
  const kind = random.below(20);
  if (kind === 0) {
    return bytesOf(
      random.pick(["", " ", "\t\r", "\ufeff", "null", "5", '"id"', "[]", "Server started", "true false"]),
    );
  }
  if (kind === 1) return bytesOf(`[${random.pick(VALUES)},{"jsonrpc":"2.0","id":1,"method":"a"}]`);
  const members = ['"jsonrpc":"2.0"'];
  if (kind < 14) {
    const id = `${random.pick(KEYS)}:${random.pick(IDS)}`;
    const content = random.pick([
      `"method":"a","params":{"v":${random.pick(VALUES)}}`,
      `"result":{"v":${random.pick(VALUES)}}`,
    ]);
    members.push(...random.pick([[id, content], [content, id], [content]]));
  } else {
    for (let count = random.below(5); count > 0; count--) members.push(member(random));
  }
  const text = `{${members.join(random.oneIn(8) ? " ,\t" : ",")}}`;
  return bytesOf(random.oneIn(12) ? "\ufeff" : "", text, random.oneIn(6) ? "\r" : "");
}

const INSERTS: Uint8Array[] = [
  ...[
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\n",
    "\r",
    "\r\n",
    " ",
    "\ufeff",
    "\ufeff\ufeff",
    "0",
    "1",
    "e",
    "-",
    ".",
  ],
  ...[
    '"id":5,',
    ',"id":"late"',
    '{"id":"nested"}',
    '"method"',
    "\u2028",
    "\0",
    "é",
    "[[[[[[[[",
    "]]]]]]]]",
    "\\u0069",
    '"":',
    "nul",
  ],
].map((text) => bytesOf(text));
INSERTS.push(
  ...[[0x80], [0xff], [0xc3], [0xf0, 0x9f], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xef, 0xbb]].map((bytes) =>
    bytesOf(bytes)
  ),
);
INSERTS.push(
  bytesOf("x".repeat(200)),
  bytesOf(" ".repeat(120)),
  bytesOf('{"a":'.repeat(40)),
  bytesOf("[".repeat(100), "]".repeat(99)),
);

function mutate(bytes: Uint8Array, random: Random, others: readonly Uint8Array[]): Uint8Array {
  const at = random.below(bytes.length + 1);
  const span = random.oneIn(3)
    ? random.below(bytes.length - at + 1)
    : Math.min(1 + random.below(3), bytes.length - at);
  switch (random.below(7)) {
    case 0: {
      if (at === bytes.length) return bytes;
      const flipped = bytes.slice();
      flipped[at]! ^= 1 << random.below(8);
      return flipped;
    }
    case 1:
      return bytesOf(bytes.subarray(0, at), bytes.subarray(at + span));
    case 2:
      return bytesOf(bytes.subarray(0, at + span), bytes.subarray(at));
    case 3: {
      const other = random.pick(others);
      return bytesOf(bytes.subarray(0, at), other.subarray(random.below(other.length + 1)));
    }
    default:
      return bytesOf(bytes.subarray(0, at), random.pick(INSERTS), bytes.subarray(at));
  }
}

function cut(bytes: Uint8Array, random: Random): Uint8Array[] {
  const kind = random.below(20);
  if (kind < 2) return [bytes];
  return kind === 2 ? byteByByte(bytes) : randomCuts(bytes, random, random.pick([1, 3, 20]));
}

/** Says how to see a failure again. */
function describe(what: string, details: Record<string, unknown>): string {
  return `TEST_SEED=${SEED}: ${what} ${JSON.stringify(details, null, 1)}`;
}

/** Runs without the cost of stack traces: the model and the decoder throw and catch at every bad line. */
function withoutStacks<T>(run: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

test(
  `MessageDecoder agrees with a plain model on ${
    DECODER_STREAMS * LINES_IN_A_STREAM
  } mutated frames (F1 to F11)`,
  { timeout: 120_000 },
  async () => {
    const before = await heldBytes();
    const seen = new Map<string, number>();
    withoutStacks(() => {
      const random = createRandom(SEED);
      const pool = Array.from({ length: 500 }, () => frame(random));
      for (let round = 0; round < DECODER_STREAMS; round++) {
        const limits = {
          maxLineBytes: random.pick([60, 100, 150, 250, 100_000]),
          maxNestingDepth: random.pick([4, 6, 8, 512]),
        };
        const good: string[] = [];
        const parts: Uint8Array[] = [];
        for (let count = 0; count < LINES_IN_A_STREAM; count++) {
          let line = random.pick(pool);
          for (let times = random.below(4); times > 0; times--) line = mutate(line, random, pool);
          parts.push(line, LINE_FEED);
          if (random.oneIn(4)) {
            good.push(`{"jsonrpc":"2.0","method":"good${count}"}`);
            parts.push(bytesOf(good.at(-1)!, "\n"));
          }
        }
        // Half of the streams end inside a line.
        if (random.oneIn(2) && parts.at(-1) === LINE_FEED) parts.pop();
        const bytes = bytesOf(...parts);
        check(bytes, cut(bytes, random), limits, good, seen, round);
      }
    });
    for (
      const kind of ["message", "too_long", "invalid_utf8", "invalid_json", "invalid_message", "truncated"]
    ) {
      assert.ok((seen.get(kind) ?? 0) > DECODER_STREAMS / 8, `only ${seen.get(kind)} of ${kind}`);
    }
    const held = await heldBytes() - before;
    assert.ok(held < 16 * 1_048_576, `${held} bytes are held after the run`);
  },
);

const LINE_FEED = bytesOf("\n");

/**
 * A key with an escape at its end. `JSON.parse()` of V8 13.6 and later (Node 24, Deno 2) reads it as a backslash when it
 * has seen such a key before: https://github.com/nodejs/node/issues/63785.
 */
const V8_BUG_REGEXP = /\\(?:u[0-9a-f]{4}|.)":/;

function check(
  bytes: Uint8Array,
  chunks: readonly Uint8Array[],
  limits: Limits,
  good: readonly string[],
  seen: Map<string, number>,
  round: number,
): void {
  const details = () => ({ round, limits, input: latin1(bytes), cuts: chunks.map(({ length }) => length) });
  const inbound: Inbound[] = [];
  try {
    const messageDecoder = new MessageDecoder(limits);
    for (const chunk of chunks) inbound.push(...messageDecoder.push(chunk));
    inbound.push(...messageDecoder.end());
  } catch (error) {
    assert.fail(describe(`the decoder threw ${error}`, details()));
  }
  const expected = modelStream(bytes, limits);
  const kinds = inbound.map((value) => value.kind === "fault" ? value.reason : "message");
  if (kinds.join() !== expected.map(({ kind }) => kind).join()) {
    assert.fail(
      describe("other outcomes", { ...details(), kinds, expected: expected.map(({ kind }) => kind) }),
    );
  }
  let goodSeen = 0;
  for (const [index, value] of inbound.entries()) {
    const { kind, json, ids } = expected[index]!;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    let wrong: string | undefined;
    if (value.kind === "message") {
      const text = JSON.stringify(value.message);
      if (text === good[goodSeen]) goodSeen++;
      wrong = text === json || V8_BUG_REGEXP.test(json ?? "")
        ? checkId(ids, { ...value.message, idText: value.idText })
        : `${text} is not ${json}`;
    } else {
      wrong = checkId(ids, value);
    }
    if (wrong !== undefined) assert.fail(describe(`outcome ${index}, ${kind}: ${wrong}`, details()));
  }
  if (goodSeen !== good.length) {
    assert.fail(describe(`${goodSeen} of ${good.length} good frames arrived`, details()));
  }
}

const SOUP = [
  ...["{", "}", "[", "]", '"', ",", ":", "\\", " ", "1", "2", "e", "-", "é", "\ufeff"],
  ...[
    '"id"',
    '"id":',
    '"id":1',
    '"id":"a"',
    ',"id":2',
    '"\\u0069d":3',
    '{"id":4}',
    '"method":',
    '"x":',
    "true",
    "9007199254740993",
  ],
].map((text) => bytesOf(text));
SOUP.push(bytesOf([0xff]), bytesOf([0xc3]));

test(`IdScanner agrees with the tokens of ${SCANNER_FRAMES} frames of junk, however they are cut (F3, F6)`, {
  timeout: 120_000,
}, () => {
  let certain = 0;
  withoutStacks(() => {
    const random = createRandom(SEED + 1);
    for (let round = 0; round < SCANNER_FRAMES; round++) {
      const parts = [bytesOf(random.oneIn(20) ? "" : "{")];
      for (let count = random.below(14); count > 0; count--) parts.push(random.pick(SOUP));
      const bytes = bytesOf(...parts);
      const whole = scan([bytes]);
      const pieces = scan(randomCuts(bytes, random, 5));
      const ids = findIds(bytes);
      if (ids.certain) certain++;
      const wrong =
        whole.id === pieces.id && whole.idText === pieces.idText && whole.hasMethod === pieces.hasMethod
          ? checkId(ids, whole)
          : `the whole gives ${whole.id}, pieces give ${pieces.id}`;
      if (wrong !== undefined) assert.fail(describe(wrong, { round, frame: latin1(bytes) }));
    }
  });
  assert.ok(certain > SCANNER_FRAMES / 10, `the id is certain in ${certain} frames only`);
});

function scan(chunks: readonly Uint8Array[]): ScannedFrame {
  const scanner = new IdScanner();
  for (const chunk of chunks) scanner.push(chunk);
  return scanner.end();
}

test(
  `encodeMessage() writes ${ENCODER_MESSAGES} random messages that MessageDecoder reads back (F2, F3, F10)`,
  { timeout: 120_000 },
  () => {
    const random = createRandom(SEED + 2);
    for (let round = 0; round < ENCODER_MESSAGES; round++) {
      const message = {
        jsonrpc: "2.0",
        id: random.pick([0, -1, "", "é"]),
        method: randomText(random),
        params: { v: randomValue(random, 4) },
      };
      const frame = bytesOf(encodeMessage(message as JSONRPCMessage, 100_000));
      if (frame.includes(0x0a) || frame.includes(0x0d)) {
        assert.fail(describe("a line break was written", { round, message }));
      }
      const messageDecoder = new MessageDecoder({ maxLineBytes: frame.length, maxNestingDepth: 16 });
      const inbound = cut(bytesOf(frame, "\n"), random).flatMap((chunk) => messageDecoder.push(chunk));
      const [first, ...more] = inbound;
      if (
        first?.kind !== "message" || more.length > 0 ||
        JSON.stringify(first.message) !== JSON.stringify(wellFormed(JSON.parse(JSON.stringify(message))))
      ) {
        assert.fail(describe("another message was read", { round, message, inbound }));
      }
    }
  },
);

/** The value with U+FFFD for each lone surrogate. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(/\p{Surrogate}/gu, "\ufffd");
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [wellFormed(key), wellFormed(member)]),
  );
}

function randomText(random: Random): string {
  const length = random.below(12);
  let text = "";
  for (let count = 0; count < length; count++) {
    text += random.pick([
      '"',
      "\\",
      "\n",
      "\r",
      "\0",
      "\u2028",
      "\ufeff",
      "é",
      "日",
      "😀",
      "\ud800",
      "\udc00",
      "a",
      "{",
      "}",
    ]);
  }
  return text;
}

function randomValue(random: Random, depth: number): unknown {
  const kind = random.below(depth > 0 ? 7 : 5);
  if (kind === 5) return Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1));
  if (kind === 6) {
    return Object.fromEntries(
      Array.from(
        { length: random.below(4) },
        // An escape at the end of a key meets a bug of V8, see above.
        () => [`${randomText(random)}k`, randomValue(random, depth - 1)],
      ),
    );
  }
  return kind < 2 ? randomText(random) : random.pick([null, true, 0, -1.5, 1e300, 2 ** 53 + 2, "id"]);
}
