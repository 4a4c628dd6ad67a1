// Stdout belongs to frames, whatever code in the process prints (rule V14).
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, SLOW, textOf } from "./server_helpers.ts";
import { startProcess } from "./server_processes.ts";

test("What a handler prints never reaches stdout, and reaches stderr in order (V14)", SLOW, async (t) => {
  const server = startProcess(t, "examples/everything_server");
  const texts = ["one", "two\nthree", '{"jsonrpc":"2.0","id":1,"result":{}}', "{broken", "漢字"];
  for (const [id, text] of texts.entries()) {
    server.send(call(id, "print", { text }));
    assert.equal(textOf(await server.response(id)), "printed");
  }
  server.end();
  assert.equal((await server.exited).code, 0);
  assert.equal(server.transcript.messages.length, texts.length);
  assert.equal(server.stderr, `${texts.join("\n")}\neverything: closed (eof)\n`);
});

test(
  "With the guard imported first nothing reaches stdout, not even what an import prints (V14)",
  SLOW,
  async (t) => {
    const server = startProcess(t, "tests/fixtures/server_noise");
    server.send(call(1, "shout"), call(2, "shout"));
    assert.equal(textOf(await server.response(1)), "shouted");
    await server.response(2);
    server.end();
    assert.deepEqual(await server.exited, { code: 0, signal: null });
    assert.equal(server.transcript.messages.length, 2);
    assert.equal(server.transcript.rest, "");

    const places = [
      "in an import",
      "before serve()",
      "in a handler",
      "in a handler",
      "in onClose",
      "after serve()",
    ];
    const said = [...server.stderr.matchAll(/noise: ([^,;\n]+), (log|info|debug)$/gm)].map(([, where, how]) =>
      `${where} ${how}`
    );
    assert.deepEqual(
      said,
      places.flatMap((place) => ["log", "info", "debug"].map((how) => `${place} ${how}`)),
    );
    assert.equal(server.stderr.match(/noise: without a line feed;/g)?.length, 2);
    assert.ok(server.stderr.indexOf("by process.stdout") < server.stderr.indexOf("in a handler"));
  },
);

test(
  "An error with which an import fails is told on stderr, and nothing on stdout (V14)",
  SLOW,
  async (t) => {
    const server = startProcess(t, "tests/fixtures/server_fails");
    const { code } = await server.exited;
    assert.equal(code, 1);
    assert.equal(server.transcript.bytes, 0);
    assert.match(server.stderr, /cannot start/);
  },
);
