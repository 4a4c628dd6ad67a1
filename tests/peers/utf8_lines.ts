/** Bytes that are UTF-8 and bytes that are not, of every kind there is. */

import { bytesOf } from "../helpers.ts";

/** First, last and neighbouring code points of each length, and what other readers stumble on. */
export const GOOD_TEXTS: Readonly<Record<string, Uint8Array>> = {
  "the last of one byte": bytesOf("\u007f"),
  "the first of two bytes": bytesOf([0xc2, 0x80]),
  "the last of two bytes": bytesOf([0xdf, 0xbf]),
  "the first of three bytes": bytesOf([0xe0, 0xa0, 0x80]),
  "the last before the surrogates": bytesOf([0xed, 0x9f, 0xbf]),
  "the first after the surrogates": bytesOf([0xee, 0x80, 0x80]),
  "the replacement character": bytesOf([0xef, 0xbf, 0xbd]),
  "the last of three bytes, a noncharacter": bytesOf([0xef, 0xbf, 0xbf]),
  "the first of four bytes": bytesOf([0xf0, 0x90, 0x80, 0x80]),
  "the last code point": bytesOf([0xf4, 0x8f, 0xbf, 0xbf]),
  "a byte order mark in the middle": bytesOf("a\ufeffb"),
  "line and paragraph separator": bytesOf("a\u2028b\u2029c"),
  "next line": bytesOf("a\u0085b"),
  "a family": bytesOf("👨‍👩‍👧‍👦"),
  "combining marks": bytesOf("e\u0301\u0302\u0303"),
  "right to left": bytesOf("שלום \u202eمرحبا"),
  "four bytes many times": bytesOf("𝄞".repeat(5_000)),
};

const ALONE: Readonly<Record<string, readonly number[]>> = {
  "a lone continuation byte, the first": [0x80],
  "a lone continuation byte, the last": [0xbf],
  "many continuation bytes": Array.from({ length: 64 }, (_, index) => 0x80 + index),
  "a lead of two bytes alone": [0xc3],
  "leads of two bytes, each followed by a space": [0xc3, 0x20, 0xc4, 0x20],
  "a lead of three bytes alone": [0xe2],
  "three bytes, one missing": [0xe2, 0x82],
  "a lead of four bytes alone": [0xf0],
  "four bytes, two missing": [0xf0, 0x9f],
  "four bytes, one missing": [0xf0, 0x9f, 0xa6],
  "a lead of five bytes": [0xf8, 0x88, 0x80, 0x80, 0x80],
  "a lead of six bytes": [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80],
  "six bytes that mean NUL": [0xfc, 0x80, 0x80, 0x80, 0x80, 0x80],
  "the byte FE": [0xfe],
  "the byte FF": [0xff],
  "FE FE FF FF": [0xfe, 0xfe, 0xff, 0xff],
  "an overlong slash in two bytes": [0xc0, 0xaf],
  "an overlong slash in three bytes": [0xe0, 0x80, 0xaf],
  "an overlong slash in four bytes": [0xf0, 0x80, 0x80, 0xaf],
  "an overlong NUL": [0xc0, 0x80],
  "the last overlong in two bytes": [0xc1, 0xbf],
  "the last overlong in three bytes": [0xe0, 0x9f, 0xbf],
  "the last overlong in four bytes": [0xf0, 0x8f, 0xbf, 0xbf],
  "the first high surrogate": [0xed, 0xa0, 0x80],
  "the last low surrogate": [0xed, 0xbf, 0xbf],
  "a pair of surrogates": [0xed, 0xa0, 0xb5, 0xed, 0xb4, 0x9e],
  "beyond the last code point": [0xf4, 0x90, 0x80, 0x80],
  "a lead beyond the last code point": [0xf5, 0x80, 0x80, 0x80],
  "é in Latin-1": [0xe9],
  "good, bad, good": [0xc3, 0xa9, 0xff, 0xc3, 0xa9],
};

/** Lines that JSONTestSuite has as files and that are no UTF-8 as a whole; by kind, with bytes of our own. */
const WHOLE: Readonly<Record<string, Uint8Array>> = {
  "UTF-16, little endian, with a byte order mark": bytesOf([0xff, 0xfe], wide('{"a":"é"}', 0)),
  "UTF-16, little endian": bytesOf(wide('["é"]', 0)),
  "UTF-16, big endian": bytesOf(wide('["é"]', 1)),
  "half a byte order mark": bytesOf([0xef, 0xbb], "{}"),
  "a bad byte alone": bytesOf([0xe9]),
  "in an array, outside of strings": bytesOf("[", [0xff], "]"),
  "behind a value in an array": bytesOf("[a", [0xe5], "]"),
  "in a number": bytesOf("[123", [0xe5], "]"),
  "in an exponent": bytesOf("[1e1", [0xe5], "]"),
  "behind an exponent": bytesOf("[0e", [0xe5], "]"),
  "as a key": bytesOf('{"', [0xb9], '":"0",}'),
  "in an escape": bytesOf('["\\u', [0xe5], '"]'),
  "behind an escape": bytesOf('["\\', [0xe5], '"]'),
  "in a string that does not end": bytesOf('["', [0xe0, 0xff]),
};

/** Lines with bytes that are not UTF-8: each sequence on its own, and within a request whose id could be read. */
export const BAD_LINES: Readonly<Record<string, Uint8Array>> = {
  ...WHOLE,
  ...Object.fromEntries(
    Object.entries(ALONE).flatMap(([name, bytes]) => [
      [`${name}, alone`, bytesOf(bytes)],
      [
        `${name}, in a request`,
        bytesOf('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"', bytes, '"}}'),
      ],
    ]),
  ),
};

function wide(text: string, firstByte: 0 | 1): number[] {
  return [...text].flatMap((char) => {
    const unit = [char.charCodeAt(0) & 0xff, char.charCodeAt(0) >> 8];
    return firstByte === 0 ? unit : unit.reverse();
  });
}
