// A server whose stderr nobody reads goes on (XC1).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { JSONRPCMessage } from "../messages.ts";
import type { ChildHandle } from "../runtime.ts";
import { name, readUntil, SLOW, start, textOf, WINDOWS, within } from "./runtime_adapter/harness.ts";
import { call, legacy } from "./server_helpers.ts";
import { SECOND_UNDER_LOAD_MS } from "./server_processes.ts";

/** A server in a process, whose stderr is a pipe that is read when a test reads it. */
class UnreadServer {
  readonly child: ChildHandle;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(child: ChildHandle) {
    this.child = child;
    this.#writer = child.stdin.getWriter();
  }

  async send(...messages: readonly (JSONRPCMessage | string)[]): Promise<void> {
    const lines = messages.map((each) => typeof each === "string" ? each : JSON.stringify(each));
    await this.#writer.write(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  }

  async answers(id: number): Promise<void> {
    const answer = await within(readUntil(this.child.stdout, `"id":${id},`), SECOND_UNDER_LOAD_MS);
    assert.notEqual(answer, "pending", `no answer to ${id}`);
  }

  async end(): Promise<void> {
    await this.#writer.close();
  }
}

async function startUnread(t: TestContext, args: string[] = []): Promise<UnreadServer> {
  const server = new UnreadServer(await start(t, "server_chatty.ts", args, { stderr: "pipe" }));
  await server.send(legacy(0, "ping"));
  await readUntil(server.child.stdout, `"id":0,`);
  return server;
}

test("3 000 bad lines do not hold up the next request though nobody reads stderr (XC1)", SLOW, async (t) => {
  const server = await startUnread(t);
  const bad = Array.from({ length: 3_000 }, (_, line) => `{"no": "request ${line}`);
  const sent = server.send(...bad, legacy(1, "ping"));
  await server.answers(1);
  await sent;
});

for (const [way, ...args] of [["log"], ["error"], ["stdout"], ["logger"], ["logger", "unguarded"]]) {
  const how = [way, ...args].join(", ");
  test(
    `A handler that writes 3 MB to stderr by ${how} answers though nobody reads it (XC1)`,
    SLOW,
    async (t) => {
      const server = await startUnread(t, args);
      await server.send(call(1, "chat", { way, lines: 30_000, length: 100 }), legacy(2, "ping"));
      await server.answers(2);
      await server.end();
      // Read in the end, it begins with the beginning.
      assert.match(await textOf(server.child.stderr), /^\S*:?\s?line 1 x+\n/);
    },
  );
}

test(
  "What of stderr was dropped is said where it would have been, and later lines follow (XC1)",
  SLOW,
  async (t) => {
    const server = await startUnread(t);
    await server.send(call(1, "chat", { way: "log", lines: 30_000, length: 100 }));
    await server.answers(1);
    const told = await readUntil(server.child.stderr, "reading stderr\n");
    assert.match(
      told,
      /x\n\[mcp_stdio\] dropped \d{4,} lines \(\d+ bytes\) here, since nobody was reading stderr\n$/,
    );
    const lines = told.split("\n").slice(0, -2);
    const dropped = Number(/dropped (\d+)/.exec(told)?.[1]);
    assert.equal(lines.length + dropped, 30_000);
    lines.forEach((line, index) => assert.ok(line.startsWith(`line ${index + 1} `), line));
    await server.send(call(2, "chat", { way: "log", lines: 1, length: 10 }));
    assert.equal(await readUntil(server.child.stderr, "line 1 xxx\n"), "line 1 xxx\n");
    await server.end();
  },
);

test("A burst of 0.9 MB on stderr is whole for a reader that is slow (XC1)", SLOW, async (t) => {
  const server = await startUnread(t);
  await server.send(call(1, "chat", { way: "log", lines: 9_000, length: 100 }));
  await server.answers(1);
  const told = await readUntil(server.child.stderr, "line 9000 ");
  assert.doesNotMatch(told, /dropped/);
  await server.end();
});

for (const end of ["exit", "process_exit", "error", "by itself"]) {
  test(
    `What is written to stderr in the turn in which a process ends is not lost: ${end} (XC1)`,
    SLOW,
    async (t) => {
      const child = await start(t, "own_stderr.ts", [end, "300"], { stderr: "pipe" });
      const told = await textOf(child.stderr);
      const lines = Array.from({ length: 300 }, (_, line) => `line ${line + 1}\n`).join("");
      assert.ok(told.startsWith(lines), told);
    },
  );
}

for (const end of ["exit", "process_exit"]) {
  test(`What stderr had no room for when a process ends is written at its end: ${end} (XC1)`, {
    ...SLOW,
    skip: WINDOWS ? "there another thread waits for room, as the tests of the queue show" : false,
  }, async (t) => {
    let told = "";
    // For half a second only: a busy machine may have begun to read later.
    for (let attempt = 0; attempt < 5 && !told.includes("line 40000\n"); attempt++) {
      const child = await start(t, "own_stderr.ts", [end, "40000", "tells"], { stderr: "pipe" });
      await readUntil(child.stdout, "written\n");
      told = await textOf(child.stderr);
    }
    const numbers = told.trimEnd().split("\n").map((line) => Number(/^line (\d+)$/.exec(line)?.[1]));
    assert.deepEqual(numbers, Array.from({ length: 40_000 }, (_, line) => line + 1));
  });
}

/** There is nothing that ends a thread of Node which waits for a reader. */
const AT_AN_END = {
  ...SLOW,
  skip: WINDOWS && name === "node" ? "on Windows Node waits in the end for a write that nobody reads" : false,
} as const;

// A runtime prints an error that nobody catches by itself, and then waits for the reader.
for (const end of ["exit", "process_exit"]) {
  test(`A process whose stderr nobody reads can still end: ${end} (XC1)`, AT_AN_END, async (t) => {
    const child = await start(t, "own_stderr.ts", [end, "200000"], { stderr: "pipe" });
    assert.deepEqual(await child.exited, { code: 0 });
  });
}
