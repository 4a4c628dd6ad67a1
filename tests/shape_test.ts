// What keeps the hot path fast, as counts that no machine changes: modules, writes and promises (section 14 of the design).
import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import process from "node:process";
import { test } from "node:test";
import { Client, spawn } from "../client.ts";
import { readableFrom, writableTo } from "../internal/runtime/byte_streams.ts";
import { detectRuntime } from "../internal/runtime/detect.ts";
import { silentLogger } from "../logger.ts";
import { Server } from "../server.ts";
import { createFakeRuntime } from "../testing.ts";
import { loadedWith, readCode } from "./_sources.ts";
import { bytesOf, chunked, nextTurn, textOf } from "./helpers.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Only Node tells of each promise that is made. */
const COUNTED = {
  skip: "bun" in process.versions || "deno" in process.versions ? "only Node counts promises" : false,
} as const;

function loadedBy(...entries: string[]): Set<string> {
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    loadedWith(file).forEach(load);
  };
  entries.forEach(load);
  return loaded;
}

test("server.ts loads nothing that a first answer does not need", () => {
  const loaded = loadedBy("server.ts");
  const strange = [...loaded].filter((file) =>
    /^(client|host_config|sdk_transport|testing|mod)\.ts$|^internal\/(client|host_config|sdk|testing)\//.test(
      file,
    ) ||
    // But for what guards stdout in the very call of serve(), on whatever runtime.
    /^internal\/runtime\/.*\/(adapter|child|descriptors|process_end|signals|stdio|streams|uncaught)\.ts$/
      .test(
        file,
      )
  );
  assert.deepEqual(strange, []);
  assert.ok(loaded.size <= 74, `${loaded.size} modules`);
});

test("client.ts loads nothing that spawn() and a first call do not need", () => {
  const loaded = loadedBy("client.ts");
  const strange = [...loaded].filter((file) =>
    /^(server|host_config|sdk_transport|testing|mod)\.ts$|^internal\/(server|host_config|sdk|testing)\//.test(
      file,
    ) ||
    /^internal\/runtime\/\w+\/|^internal\/windows\//.test(file)
  );
  assert.deepEqual(strange, []);
  assert.ok(loaded.size <= 75, `${loaded.size} modules`);
});

test("A server is loaded to its first answer, and a client to its server's start, in few modules on each runtime", () => {
  for (const [runtime, server, client] of [["deno", 78, 90], ["bun", 80, 96], ["node", 81, 94]] as const) {
    const folder = `internal/runtime/${runtime}`;
    const served = loadedBy("server.ts", `${folder}/adapter.ts`).size;
    const spawned = loadedBy("client.ts", `${folder}/adapter.ts`, `${folder}/child.ts`).size;
    assert.ok(served <= server, `${runtime}: ${served} modules of a server`);
    assert.ok(spawned <= client, `${runtime}: ${spawned} modules of a client`);
  }
});

test("An adapter loads what starts processes only when one is started", () => {
  for (const runtime of ["deno", "bun", "node"]) {
    const loaded = loadedBy(`internal/runtime/${runtime}/adapter.ts`);
    assert.deepEqual([...loaded].filter((file) => /\/child\.ts|spawn_failure|signal_target/.test(file)), []);
    assert.ok(loaded.size <= 17, `${runtime}: ${loaded.size} modules`);
  }
});

test("An environment that may be read is read without a question for each name", {
  skip: "deno" in process.versions ? false : "only Deno has permissions",
}, async () => {
  const { permissions } = (globalThis as unknown as {
    Deno: { permissions: { querySync(permission: object): unknown } };
  }).Deno;
  const { querySync } = permissions;
  const runtime = await detectRuntime();
  let asked = 0;
  permissions.querySync = (permission) => {
    asked++;
    return Reflect.apply(querySync, permissions, [permission]);
  };
  try {
    assert.equal(runtime.env(["PATH", "HOME", "LANG", "TZ"])["PATH"], process.env["PATH"]);
  } finally {
    permissions.querySync = querySync;
  }
  assert.equal(asked, 1);
});

test("A start makes no text that nobody has asked for, such as the server's command line", async () => {
  const { test: looksAt } = RegExp.prototype;
  let shown = 0;
  // What is to be shown is first looked at for signs that are not seen: a long expression, which takes a millisecond to begin.
  RegExp.prototype.test = function (text: string): boolean {
    if (this.source.includes("\\p{Cc}")) shown++;
    return Reflect.apply(looksAt, this, [text]);
  };
  try {
    const server = new Server({
      info: { name: "s", version: "1" },
      tools: { echo: { inputSchema: { type: "object" }, call: ({ text }) => String(text) } },
    });
    const runtime = createFakeRuntime({
      onSpawn: (started) => void server.run(started).then(() => started.exit({ code: 0 })),
    });
    const client = await spawn({ command: "node", args: ["server.js"], env: { TOKEN: "secret" }, runtime });
    await client.callTool("echo", { text: "x" });
    await client.close();
    assert.equal(shown, 0);
    // The count is one of something.
    await assert.rejects(spawn({ command: "node", args: "server.js" as never, runtime }), TypeError);
    assert.notEqual(shown, 0);
  } finally {
    RegExp.prototype.test = looksAt;
  }
});

test("Nothing that is loaded with a face or an adapter loads a module of Node, but where it runs on that", () => {
  const faces = ["server.ts", "client.ts", "host_config.ts", "sdk_transport.ts", "testing.ts"];
  const adapters = ["deno", "bun"].map((runtime) => `internal/runtime/${runtime}/adapter.ts`);
  const eager = [...loadedBy(...faces, ...adapters)]
    .filter((file) => /^import\s+(?!type\b)[^;]*from\s+"node:/m.test(readCode(file)));
  assert.deepEqual(eager, []);
});

/** Two streams without a process, whose other end is the test. */
class TestPipe {
  readonly writes: Uint8Array[] = [];
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  #give: (bytes: Uint8Array | null) => void = () => {};

  /** `taken` is what a write gives: undefined for one that was taken at once, as by a pipe with room. */
  constructor(onWrite: () => void = () => {}, taken: () => Promise<void> | undefined = () => undefined) {
    this.readable = readableFrom({
      read: () => new Promise((resolve) => this.#give = resolve),
      close: () => this.give(null),
    });
    this.writable = writableTo({
      write: (bytes) => {
        this.writes.push(bytes);
        onWrite();
        return taken();
      },
      close() {},
      abort() {},
    });
  }

  give(bytes: Uint8Array | null): void {
    this.#give(bytes);
  }

  /** Gives bytes and waits for what is made of them. */
  async feed(bytes: Uint8Array): Promise<void> {
    this.give(bytes);
    await nextTurn();
  }

  /** All that was written, in lines. */
  get lines(): string[] {
    return this.writes.map(textOf).join("").split("\n").slice(0, -1);
  }
}

interface TestServer {
  readonly pipe: TestPipe;
  /** So many calls as the lines that ask for them. */
  calls(count: number): Uint8Array;
  end(): Promise<void>;
}

async function startServer(pipe: TestPipe = new TestPipe()): Promise<TestServer> {
  const server = new Server({
    info: { name: "s", version: "1" },
    logger: silentLogger,
    tools: { echo: { inputSchema: { type: "object" }, call: ({ text }) => String(text) } },
  });
  const ended = server.run(pipe);
  await nextTurn();
  let id = 0;
  const line = () => {
    const params = { name: "echo", arguments: { text: "x" }, _meta: META };
    return `${JSON.stringify({ jsonrpc: "2.0", id: ++id, method: "tools/call", params })}\n`;
  };
  return {
    pipe,
    calls: (count) => bytesOf(Array.from({ length: count }, line).join("")),
    end: async () => {
      pipe.give(null);
      await ended;
    },
  };
}

/** What a server answers to lines of requests. */
function answersTo(lines: readonly string[]): Uint8Array {
  const answers = lines.map((line) => {
    const { id, method } = JSON.parse(line) as { id: number; method: string };
    const result = method === "server/discover"
      ? { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} }
      : { resultType: "complete", content: [] };
    return `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
  });
  return bytesOf(answers.join(""));
}

/** A client that has been greeted; what it writes then is for the test to answer. */
async function startClient(): Promise<{ client: Client; pipe: TestPipe; close: () => Promise<void> }> {
  const pipe = new TestPipe();
  const connecting = Client.connect(pipe);
  await nextTurn();
  await pipe.feed(answersTo(pipe.lines));
  const client = await connecting;
  pipe.writes.length = 0;
  return { client, pipe, close: async () => void await client.close() };
}

/** As much as goes into one write before the end of a turn. */
const EARLY_WRITE_BYTES = 8_192;

const later = () => Promise.resolve();

test("A server writes at most twice for all the calls of a turn, while a write takes its time", async () => {
  const { pipe, calls, end } = await startServer(new TestPipe(undefined, later));
  await pipe.feed(calls(200));
  assert.ok(pipe.writes.length <= 2, `${pipe.writes.length} writes`);
  assert.equal(pipe.lines.length, 200);
  await end();
});

test("A server writes once for each 8 KiB of a turn that are taken at once", async () => {
  const { pipe, calls, end } = await startServer();
  await pipe.feed(calls(200));
  const size = pipe.writes.reduce((sum, { length }) => sum + length, 0);
  assert.ok(pipe.writes.length <= Math.ceil(size / EARLY_WRITE_BYTES), `${pipe.writes.length} of ${size}`);
  assert.equal(pipe.lines.length, 200);
  await end();
});

test("A client writes at most twice for all the calls of a turn, and for those that their answers bring", async () => {
  const pipe: TestPipe = new TestPipe(() => {
    const lines = textOf(pipe.writes.at(-1)!).split("\n").slice(0, -1);
    setTimeout(() => pipe.give(answersTo(lines)));
  }, later);
  const client = await Client.connect(pipe);
  assert.equal(pipe.writes.length, 1);
  let left = 64 * 5;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await client.request("tools/call", { name: "echo" });
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  assert.ok(pipe.writes.length - 1 <= 2 * 5, `${pipe.writes.length} writes`);
  assert.equal(pipe.lines.length - 1, 64 * 5);
  await client.close();
});

async function countPromises(work: () => Promise<void>): Promise<number> {
  let count = 0;
  const hook = createHook({ init: (_id, type) => void (type === "PROMISE" && count++) }).enable();
  await work();
  hook.disable();
  return count;
}

test("A server makes promises for a turn, and none for a call whose tool makes none", COUNTED, async () => {
  const { pipe, calls, end } = await startServer();
  await pipe.feed(calls(10));
  const [fewCalls, manyCalls] = [calls(50), calls(250)];
  const few = await countPromises(() => pipe.feed(fewCalls));
  const many = await countPromises(() => pipe.feed(manyCalls));
  assert.ok(few < 20, `${few} for 50 calls`);
  assert.ok(many - few < 10, `${many} for 250 calls, ${few} for 50`);
  await end();
});

test("A client makes one promise for a call, and some for a turn", COUNTED, async () => {
  const { client, pipe, close } = await startClient();
  const measure = async (calls: number): Promise<number> => {
    pipe.writes.length = 0;
    const asking = await countPromises(async () => {
      for (let call = 0; call < calls; call++) client.request("tools/call", { name: "echo" });
      await nextTurn();
    });
    const answers = answersTo(pipe.lines);
    return asking + await countPromises(() => pipe.feed(answers));
  };
  await measure(10);
  const few = await measure(50);
  const many = await measure(250);
  assert.ok(few - 50 < 30, `${few} for 50 calls`);
  assert.ok(many - few - 200 < 10, `${many} for 250 calls, ${few} for 50`);
  await close();
});

/** What some work does with functions of the platform; each call counts for what `worth` says, one if it says nothing. */
async function countCalls(
  functions: ReadonlyArray<
    readonly [owner: object, name: string, worth?: (result: unknown, args: readonly unknown[]) => number]
  >,
  work: () => Promise<void>,
): Promise<number> {
  let sum = 0;
  const restore = functions.map(([owner, name, worth = () => 1]) => {
    const own = Object.getOwnPropertyDescriptor(owner, name);
    const original = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
    const value = function (this: unknown, ...args: unknown[]): unknown {
      const result = Reflect.apply(original, this, args);
      sum += worth(result, args);
      return result;
    };
    Object.defineProperty(owner, name, { ...(own ?? { configurable: true, writable: true }), value });
    return () =>
      own === undefined ? Reflect.deleteProperty(owner, name) : Object.defineProperty(owner, name, own);
  });
  try {
    await work();
  } finally {
    for (const each of restore) each();
  }
  return sum;
}

const byteLengthOf = (value: unknown): number => (value as { readonly byteLength?: number }).byteLength ?? 0;

/** Whatever makes text of bytes, bytes of text, or bytes of bytes. */
const COPIES = [
  [TextDecoder.prototype, "decode", (_text: unknown, [bytes]: readonly unknown[]) => byteLengthOf(bytes)],
  [TextEncoder.prototype, "encode", byteLengthOf],
  [Uint8Array.prototype, "slice", byteLengthOf],
  [Uint8Array.prototype, "set", (_nothing: unknown, [bytes]: readonly unknown[]) => byteLengthOf(bytes)],
] as const;
const PARSES = [[JSON, "parse"], [JSON, "stringify"]] as const;
const CLOCK = [[performance, "now"], [Date, "now"]] as const;

test("A server copies each byte of a call once as it comes and once as it goes, parses and writes it once, and reads no clock", async () => {
  const { pipe, calls, end } = await startServer();
  await pipe.feed(calls(10));
  const lines = calls(200);
  pipe.writes.length = 0;
  const copied = await countCalls(COPIES, () => pipe.feed(lines));
  const written = pipe.writes.reduce((sum, { length }) => sum + length, 0);
  assert.equal(copied, lines.length - 1 + written); // The last line feed is nobody's text.
  const parsing = calls(200);
  assert.equal(await countCalls(PARSES, () => pipe.feed(parsing)), 400);
  const timing = calls(200);
  assert.ok(await countCalls(CLOCK, () => pipe.feed(timing)) <= 4);
  await end();
});

test("A client copies each byte of a call once as it goes and once as it comes, and reads the clock once a turn", async () => {
  const { client, pipe, close } = await startClient();
  const ask = async (): Promise<void> => {
    pipe.writes.length = 0;
    for (let call = 0; call < 200; call++) client.request("tools/call", { name: "echo" });
    await nextTurn();
  };
  await ask();
  await pipe.feed(answersTo(pipe.lines));
  const copiedAsking = await countCalls(COPIES, ask);
  assert.equal(copiedAsking, pipe.writes.reduce((sum, { length }) => sum + length, 0));
  const answers = answersTo(pipe.lines);
  assert.equal(await countCalls(COPIES, () => pipe.feed(answers)), answers.length - 1);
  assert.equal(await countCalls(PARSES, ask), 200);
  const others = answersTo(pipe.lines);
  assert.equal(await countCalls(PARSES, () => pipe.feed(others)), 200);
  assert.ok(await countCalls(CLOCK, ask) <= 4);
  const last = answersTo(pipe.lines);
  assert.ok(await countCalls(CLOCK, () => pipe.feed(last)) <= 4);
  await close();
});

test("A line that comes in many pieces is put together with one copy of each byte", async () => {
  const { client, pipe, close } = await startClient();
  const answer = client.request("tools/call", { name: "echo" });
  await nextTurn();
  const { id } = JSON.parse(pipe.lines[0]!) as { id: number };
  const content = [{ type: "text", text: "x".repeat(4 * 1_048_576) }];
  const line = bytesOf(
    `${JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", content } })}\n`,
  );
  const pieces = chunked(line, 65_536).map((piece) => new Uint8Array(piece));
  const copied = await countCalls(COPIES, async () => {
    for (const piece of pieces) await pipe.feed(piece);
  });
  assert.deepEqual((await answer).content, content);
  // Put together, and made into text. Of a line's last piece the end is copied once more.
  assert.ok(copied <= 2.001 * line.length, `${copied / line.length} copies`);
  await close();
});
