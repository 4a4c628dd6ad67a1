// What goes over the pipes of a served process: sizes, encodings, files, time (rules F1, V11, V12).
import assert from "node:assert/strict";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { waitUntil } from "./helpers.ts";
import { call, legacy, SLOW, textOf } from "./server_helpers.ts";
import { pause, type ServerProcess, startInShell, startProcess } from "./server_processes.ts";

const LIFE = "tests/fixtures/server_life";
const POSIX = { ...SLOW, skip: process.platform === "win32" ? "needs a POSIX shell" : false } as const;

function startLife(t: TestContext, settings: object = {}, env: Record<string, string> = {}): ServerProcess {
  return startProcess(t, LIFE, { args: [JSON.stringify(settings)], env });
}

async function ready(server: ServerProcess): Promise<void> {
  server.send(legacy("ready", "ping"));
  await server.response("ready");
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "stdio-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("A server answers requests from a file, into a file (V11)", POSIX, async (t) => {
  const folder = folderOf(t);
  const requests = Array.from(
    { length: 100 },
    (_, id) => `${JSON.stringify(call(id, "big", { size: 10_000 }))}\n`,
  );
  writeFileSync(join(folder, "in"), requests.join(""));
  const stdio = [openSync(join(folder, "in"), "r"), openSync(join(folder, "out"), "w"), "pipe" as const];
  const server = startProcess(t, LIFE, { stdio });
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  server.transcript.push(readFileSync(join(folder, "out")));
  assert.equal(server.transcript.messages.length, 100);
  assert.equal(server.transcript.rest, "");
});

test("A server reads what was in the pipe before it was there to read it (V11, B33)", SLOW, async (t) => {
  const server = startLife(t, { delayMs: 500 });
  server.send(call(1, "pid"), call(2, "big", { size: 5 }));
  assert.equal(textOf(await server.response(1)), String(server.pid));
  server.end();
  assert.equal((await server.exited).code, 0);
  assert.equal(textOf(server.transcript.responsesTo(2)[0]!), "xxxxx");
});

for (
  const [kind, script] of Object.entries({
    "its parent's own pipes": '"$@"',
    "true pipes": 'cat | "$@" | cat',
  })
) {
  test(
    `A server over ${kind} takes and gives lines of any size, each at once (V12, B34, B51)`,
    POSIX,
    async (t) => {
      const server = startInShell(t, LIFE, script);
      for (const size of [16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 1 << 20, 9 << 20]) {
        const request = JSON.stringify(call(size, "big", { size, fill: "" }));
        server.send(
          request.replace('"fill":""', `"fill":"${"y".repeat(Math.max(0, size - request.length))}"`),
        );
        // Its input stays open: nothing waits for the end.
        assert.equal(textOf(await server.response(size)).length, size);
      }
      server.end();
      assert.equal((await server.exited).code, 0);
    },
  );
}

test("A server whose client reads nothing for a while loses no byte (V12, B35)", SLOW, async (t) => {
  const server = startLife(t);
  await ready(server);
  server.stall();
  server.send(...Array.from({ length: 10 }, (_, id) => call(id, "big", { size: 300 << 10 })));
  await pause(1_000);
  server.resume();
  const expected = "x".repeat(300 << 10);
  for (let id = 0; id < 10; id++) assert.ok(textOf(await server.response(id)) === expected);
});

test("An answer is in a file at once, though stdin stays open (V12, B51)", SLOW, async (t) => {
  const path = join(folderOf(t), "out");
  const server = startProcess(t, LIFE, { stdio: ["pipe", openSync(path, "w"), "pipe"] });
  for (const id of [1, 2, 3]) {
    server.send(call(id, "pid"));
    await waitUntil(() => readFileSync(path, "utf8").split("\n").length === id + 1, { what: `answer ${id}` });
  }
  server.transcript.push(readFileSync(path));
  assert.equal(textOf(server.transcript.responsesTo(3)[0]!), String(server.pid));
});

for (const [kind, locale] of [["LANG=C", "C"], ["no locale", ""], ["one that is not UTF-8", "zh_CN.GBK"]]) {
  test(`Text is the same on the wire and on stderr with ${kind} (F1, B14)`, SLOW, async (t) => {
    const env = { LANG: locale!, LC_ALL: locale!, LC_CTYPE: locale! };
    const server = startProcess(t, "examples/everything_server", { env });
    const text = "漢字 😀👩‍👩‍👧 e\u0301 \u2028 \ufeff ñ";
    server.send(call("漢字", "echo", { text }), call("é", "print", { text }));
    assert.equal(textOf(await server.response("漢字")), text);
    await server.response("é");
    server.end();
    assert.equal((await server.exited).code, 0);
    assert.equal(server.stderr, `${text}\neverything: closed (eof)\n`);
  });
}

test("A request that comes in several reads is one request (F3)", SLOW, async (t) => {
  const server = startLife(t);
  const line = `${JSON.stringify(call(1, "pid"))}\n`;
  // Not at once, so that each piece is a read of its own. If a busy machine joins two of them, that is as good.
  for (let at = 0; at < line.length; at += 40) {
    server.write(line.slice(at, at + 40));
    await pause(100);
  }
  assert.equal(textOf(await server.response(1)), String(server.pid));
  assert.deepEqual(server.transcript.responsesTo(null), []);
});

test("A cut-off frame harms nothing but itself (V5, B07)", SLOW, async (t) => {
  const server = startLife(t);
  server.write(JSON.stringify(call(1, "pid")).slice(0, 40));
  await pause(200);
  server.send("", call(2, "pid"));
  assert.equal(textOf(await server.response(2)), String(server.pid));
  assert.equal(server.transcript.responsesTo(null).length, 1);
});
