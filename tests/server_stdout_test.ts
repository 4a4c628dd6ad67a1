// Stdout belongs to frames, whatever code in the process prints (rule V14).
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { spawn } from "../client.ts";
import { runtimeName } from "../internal/runtime/detect.ts";
import { silentLogger } from "../logger.ts";
import { Script } from "./_scripted_server.ts";
import { call, legacy, SLOW, textOf } from "./server_helpers.ts";
import { commandOf, startProcess } from "./server_processes.ts";

test(
  "What a handler prints never reaches stdout, and reaches stderr in order (V14, B37)",
  SLOW,
  async (t) => {
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
  },
);

test(
  "With the guard imported first nothing reaches stdout, not even what an import prints (V14, B37, B38)",
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
  "With the guard imported second the client sees what came before it, and connects (V14, B38)",
  SLOW,
  async (t) => {
    const [command = "", ...args] = commandOf("tests/fixtures/server_guards_late");
    const strays: string[] = [];
    const client = await spawn({
      command,
      args,
      inheritEnv: "all",
      stderr: "ignore",
      logger: silentLogger,
      onStrayOutput: (text) => void strays.push(text),
    });
    t.after(() => client.close());
    const { content } = await client.request("tools/call", { name: "hello", arguments: {} });
    assert.deepEqual(content, [{ type: "text", text: "hello" }]);
    assert.match(strays.join("\n"), /^noise: in an import, log/);
    assert.doesNotMatch(strays.join("\n"), /before serve/);
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

test(
  "A child that is given no stdin, and stderr for its stdout, takes nothing and adds nothing (V14, B40)",
  SLOW,
  async (t) => {
    const server = startProcess(t, "tests/fixtures/server_strays");
    server.send(call(1, "separate"), call(2, "separate"));
    assert.equal(textOf(await server.response(1)), "the child has ended");
    await server.response(2);
    server.end();
    assert.equal((await server.exited).code, 0);
    assert.equal(server.transcript.messages.length, 2);
    const lines = ["child at end", "child at end", "stray child", "stray child"];
    assert.deepEqual(server.stderr.trim().split("\n").sort(), lines);
  },
);

test(
  "A child that inherits everything takes no request, and what it prints goes to stderr (V14, B40)",
  {
    ...SLOW,
    skip: runtimeName() === "bun" && process.platform !== "win32"
      ? false
      : "only Bun can duplicate a descriptor, and not on Windows: see docs/stdout.md",
  },
  async (t) => {
    const server = startProcess(t, "tests/fixtures/server_strays");
    server.send(call(1, "inheriting"));
    server.send(call(2, "native"));
    assert.equal(textOf(await server.response(1)), "the child has ended");
    assert.equal(textOf(await server.response(2)), "written");
    server.end();
    assert.equal((await server.exited).code, 0);
    assert.equal(server.transcript.messages.length, 2);
    assert.equal(server.transcript.rest, "");
    assert.deepEqual(server.stderr.trim().split("\n").sort(), [
      "child at end",
      "stray child",
      "stray native",
    ]);
  },
);

test(
  "A server that ends a server of its own by force has nothing of that on its stdout or stderr (V14, B93)",
  SLOW,
  async (t) => {
    const { command, args } = new Script(t, [
      { ignore: "eof" },
      { ignore: "SIGTERM" },
      { helper: "in", holds: "stderr", ignores: "SIGTERM" },
    ]);
    const stubborn = [command, ...args];
    const server = startProcess(t, "tests/fixtures/server_hosts", { args: [JSON.stringify(stubborn)] });
    server.send(call(1, "hostAndEnd"));
    assert.equal(textOf(await server.response(1)), "kill");
    server.end();
    assert.equal((await server.exited).code, 0);
    assert.equal(server.transcript.messages.length, 1);
    assert.equal(server.transcript.rest, "");
    assert.equal(server.stderr, "");
  },
);

for (const way of ["options", "server", "factory", "transport"]) {
  test(
    `What is printed in the turn of serve(), which nobody waits for, goes to stderr: ${way} (V14, XC17)`,
    SLOW,
    async (t) => {
      const server = startProcess(t, "tests/fixtures/server_unawaited", { args: [way] });
      server.send(legacy(1, "ping"));
      assert.deepEqual((await server.response(1)).result, {});
      server.end();
      assert.equal((await server.exited).code, 0);
      assert.equal(server.transcript.messages.length, 1);
      assert.equal(server.transcript.rest, "");
      for (const stray of ["console.log", "console.error", "process.stdout"]) {
        assert.ok(server.stderr.includes(`stray: ${stray}\n`), server.stderr);
      }
    },
  );
}
