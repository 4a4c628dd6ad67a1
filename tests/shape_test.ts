// What keeps the hot path fast, as counts that no machine changes: modules, writes and promises (section 14 of the design).
import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import process from "node:process";
import { test } from "node:test";
import { Client } from "../client.ts";
import { readableFrom, writableTo } from "../internal/runtime/byte_streams.ts";
import { detectRuntime } from "../internal/runtime/detect.ts";
import { silentLogger } from "../logger.ts";
import { Server } from "../server.ts";
import { loadedWith, readCode } from "./_sources.ts";
import { bytesOf, nextTurn, textOf } from "./helpers.ts";

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

test("Nothing that is loaded with a face or an adapter loads a module of Node, but where it runs on that", () => {
  const faces = ["server.ts", "client.ts", "host_config.ts", "sdk_transport.ts", "testing.ts"];
  const adapters = ["deno", "bun"].map((runtime) => `internal/runtime/${runtime}/adapter.ts`);
  const eager = [...loadedBy(...faces, ...adapters)]
    .filter((file) => /^import\s+(?!type\b)[^;]*from\s+"node:/m.test(readCode(file)));
  assert.deepEqual(eager, []);
});

/** A server over a source and a sink, and what it takes to ask it many things at once. */
function startServer(): {
  ask: (calls: number) => Promise<void>;
  writes: string[];
  end: () => Promise<void>;
} {
  const writes: string[] = [];
  let give = (_bytes: Uint8Array | null): void => {};
  const server = new Server({
    info: { name: "s", version: "1" },
    logger: silentLogger,
    tools: { echo: { inputSchema: { type: "object" }, call: ({ text }) => String(text) } },
  });
  const ended = server.run({
    readable: readableFrom({ read: () => new Promise((resolve) => give = resolve), close: () => give(null) }),
    writable: writableTo({
      write: (bytes) => Promise.resolve(void writes.push(textOf(bytes))),
      close() {},
      abort() {},
    }),
  });
  let id = 0;
  return {
    writes,
    ask: async (calls) => {
      const line = () => {
        const params = { name: "echo", arguments: { text: "x" }, _meta: META };
        return JSON.stringify({ jsonrpc: "2.0", id: ++id, method: "tools/call", params });
      };
      give(bytesOf(Array.from({ length: calls }, line).join("\n") + "\n"));
      await nextTurn();
    },
    end: async () => {
      give(null);
      await ended;
    },
  };
}

test("A server writes at most twice for all the calls of a turn", async () => {
  const { ask, writes, end } = startServer();
  await nextTurn();
  await ask(200);
  assert.ok(writes.length <= 2, `${writes.length} writes`);
  assert.equal(writes.join("").split("\n").length, 201);
  await end();
});

test("A client writes at most twice for all the calls of a turn, and for those that their answers bring", async () => {
  const writes: string[] = [];
  let give = (_bytes: Uint8Array | null): void => {};
  const answer = (line: string): string => {
    const { id, method } = JSON.parse(line) as { id: number; method: string };
    const result = method === "server/discover"
      ? { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} }
      : { resultType: "complete", content: [] };
    return `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
  };
  const client = await Client.connect({
    readable: readableFrom({ read: () => new Promise((resolve) => give = resolve), close: () => give(null) }),
    writable: writableTo({
      write(bytes): Promise<void> {
        writes.push(textOf(bytes));
        const answers = textOf(bytes).trimEnd().split("\n").map(answer).join("");
        setTimeout(() => give(bytesOf(answers)));
        return Promise.resolve();
      },
      close() {},
      abort() {},
    }),
  });
  assert.equal(writes.length, 1);
  let left = 64 * 5;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await client.request("tools/call", { name: "echo" });
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  assert.ok(writes.length - 1 <= 2 * 5, `${writes.length} writes`);
  assert.equal(writes.slice(1).join("").split("\n").length - 1, 64 * 5);
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
  const { ask, end } = startServer();
  await nextTurn();
  await ask(10);
  const few = await countPromises(() => ask(50));
  const many = await countPromises(() => ask(250));
  assert.ok(few < 40, `${few} for 50 calls`);
  assert.ok(many - few < 10, `${many} for 250 calls, ${few} for 50`);
  await end();
});
