/**
 * Clients on the official SDK, v1 and v2 in each mode, over our transport, on each runtime, against servers of every kind (rules
 * K1, K2).
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { silentLogger } from "../../logger.ts";
import { StdioClientTransport, type StdioClientTransportOptions } from "../../sdk_transport.ts";
import { waitUntil } from "../helpers.ts";
import { type Command, createBrood, fixture, outOfTurn, ROOT, RUNTIMES, SLOW, textOf } from "./harness.ts";

const execute = promisify(execFile);

const LEGACY = "legacy 2025-11-25";
const MODERN = "modern 2026-07-28";
const REFUSED = "ERA_NEGOTIATION_FAILED";

const NODE = RUNTIMES[2]!;

/** A server, what each client must speak with it or fail with, and how often it is started. */
interface Row {
  readonly server: string;
  readonly command: Command;
  readonly auto: string;
  readonly pin: string;
  readonly starts?: { readonly auto: number };
}

const ROWS: readonly Row[] = [
  { server: "ours", command: NODE.run("examples/everything_server"), auto: MODERN, pin: MODERN },
  { server: "SDK v1", command: fixture("sdk_v1_server.mjs"), auto: LEGACY, pin: REFUSED },
  { server: "SDK v2 by serveStdio", command: fixture("sdk_v2_server.mjs"), auto: MODERN, pin: MODERN },
  {
    server: "raw and modern",
    command: fixture("sdk_transport_raw.mjs", "modern"),
    auto: MODERN,
    pin: MODERN,
    starts: { auto: 1 },
  },
  {
    server: "raw and legacy",
    command: fixture("sdk_transport_raw.mjs", "legacy"),
    auto: LEGACY,
    pin: REFUSED,
    starts: { auto: 1 },
  },
  {
    server: "raw, legacy and silent",
    command: fixture("sdk_transport_raw.mjs", "silent"),
    auto: LEGACY,
    pin: REFUSED,
    starts: { auto: 1 },
  },
  {
    server: "raw, and exits at the probe",
    command: fixture("sdk_transport_raw.mjs", "exits"),
    auto: LEGACY,
    pin: REFUSED,
    starts: { auto: 2 },
  },
];

for (const { name: runtime, skip, run } of RUNTIMES) {
  for (const [index, row] of ROWS.entries()) {
    for (const kind of ["v1", "legacy", "auto", "pin"] as const) {
      if (!isWorthwhile(runtime, row, kind)) continue;
      const expected = kind === "auto" || kind === "pin" ? row[kind] : LEGACY;
      const title =
        `A client on SDK ${kind === "v1" ? "v1" : `v2 (${kind})`} over our transport on ${runtime}` +
        ` and a server that is ${row.server}: ${expected}`;

      test(
        `${title}, 250 of 250 progress notifications (K1, K2, F1 of the SDK)`,
        {
          ...SLOW,
          skip: skip || !isOnNodeAlone(row, kind) && outOfTurn(runtime, index + Number(kind === "auto")),
        },
        async (t) => {
          const brood = createBrood(t);
          const [program, ...args] = withAllPermissions(
            run("tests/peers/fixtures/sdk_transport_client", kind, ...row.command),
          );
          const env = { ...process.env, ...brood.env };
          const { stdout } = await execute(program, args, { cwd: ROOT, env });
          const seen = JSON.parse(stdout);
          await brood.gone();
          assert.equal(seen.closes, 1);
          if (expected === REFUSED) {
            assert.equal(seen.failure, REFUSED);
            return;
          }
          assert.deepEqual(
            [seen.failure, seen.spoken, seen.sum, seen.told, seen.inOrder, seen.errors],
            ["", expected, "42", 250, true, []],
          );
          assert.match(seen.cancelled, /enough/);
          assert.ok(seen.pid > 0);
          assert.deepEqual(seen.exit, { code: 0 });
          if (row.starts !== undefined) assert.equal(seen.starts, kind === "auto" ? row.starts.auto : 1);
        },
      );
    }
  }
}

/** Who connects to whom at all is shown by the matrix; here is tried what depends on the runtime, the process and the era. */
function isWorthwhile(runtime: string, { server }: Row, kind: string): boolean {
  if (server === "raw and modern" && (kind === "v1" || kind === "legacy")) return false;
  if (kind === "legacy") return runtime === "Node" && server === "ours";
  if (kind === "pin") return runtime === "Node" && /^(ours|raw and \w+)$/.test(server);
  return runtime === "Node" || !isOnNodeAlone({ server }, kind);
}

function isOnNodeAlone({ server }: Pick<Row, "server">, kind: string): boolean {
  return kind === "legacy" || kind === "pin" || server.startsWith("SDK");
}

/** A Deno client needs to run a program; the harness gives no permission. */
function withAllPermissions([program, ...args]: Command): Command {
  return args[0] === "run" ? [program, "run", "-A", ...args.slice(1)] : [program, ...args];
}

/** What the checks below use of a client. */
interface Peer {
  readonly name: string;
  readonly errors: Error[];
  readonly transport: StdioClientTransport;
  closes: number;
  odd(options?: object): Promise<{ content?: unknown }>;
  call(name: string, args: Record<string, unknown>): Promise<{ content?: unknown }>;
  close(): Promise<void>;
}

/** Clients of both SDKs against a raw server in the legacy era. */
async function connectBoth(
  t: TestContext,
  odd: string,
  options: Partial<StdioClientTransportOptions> = {},
): Promise<Peer[]> {
  const brood = createBrood(t);
  t.after(() => brood.gone());
  const info = { name: "client", version: "1.0.0" };
  const peers: Peer[] = [];
  for (const client of [new ClientV1(info), new ClientV2(info)] as ClientV2[]) {
    const [command, ...args] = fixture("sdk_transport_raw.mjs", "legacy", odd);
    const env = { ...brood.env };
    const transport = new StdioClientTransport({
      command,
      args,
      env,
      stderr: "capture",
      logger: silentLogger,
      ...options,
    });
    const isV1 = peers.length === 0;
    const call = (name: string, args: Record<string, unknown>, options = {}) =>
      (isV1
        ? (client as unknown as ClientV1).callTool({ name, arguments: args }, undefined, options)
        : client.callTool({ name, arguments: args }, options)) as Promise<{ content?: unknown }>;
    const peer: Peer = {
      name: isV1 ? "v1" : "v2",
      errors: [],
      transport,
      closes: 0,
      call,
      odd: (options) => call("odd", {}, options),
      close: () => client.close(),
    };
    client.onerror = (error: Error) => void peer.errors.push(error);
    client.onclose = () => void peer.closes++;
    await client.connect(transport);
    t.after(() => client.close());
    peers.push(peer);
  }
  return peers;
}

for (const odd of ["cut", "primitive", "both", "meta", "long"]) {
  test(
    `An answer that is ${odd} fails its call at once, in SDK v1 and v2 (C5, F13 of the SDK)`,
    SLOW,
    async (t) => {
      for (const peer of await connectBoth(t, odd)) {
        // A timeout would have another code.
        await assert.rejects(peer.odd(), { code: -32700, message: /The answer cannot be read/ });
        assert.equal(textOf(await peer.call("add", { a: 1, b: 2 })), "3");
        assert.deepEqual(peer.errors.map(({ name }) => name), ["InvalidResponseError"]);
      }
    },
  );
}

test("An error without an id fails the one call that is open, in SDK v1 and v2 (C5)", SLOW, async (t) => {
  for (const peer of await connectBoth(t, "nobody")) {
    // Before the first answer it could be meant for "notifications/initialized".
    assert.equal(textOf(await peer.call("add", { a: 1, b: 2 })), "3");
    await assert.rejects(peer.odd(), { code: -32700, message: /Parse error/ });
    assert.deepEqual(peer.errors, []);
  }
});

test("An answer with a member that the SDKs do not know is one (K2)", SLOW, async (t) => {
  for (const peer of await connectBoth(t, "extra")) {
    assert.equal(textOf(await peer.odd()), "extra");
    assert.deepEqual(peer.errors, []);
  }
});

test("An answer under another id settles nothing (C2, F11 of the SDK)", SLOW, async (t) => {
  for (const peer of await connectBoth(t, "other")) {
    assert.equal(textOf(await peer.odd()), "mine");
    assert.deepEqual(peer.errors, []);
  }
});

test("A banner on stdout does no harm (C6)", SLOW, async (t) => {
  for (const peer of await connectBoth(t, "banner")) {
    assert.equal(textOf(await peer.odd()), "after a banner");
    assert.deepEqual(peer.errors, []);
  }
});

test("A server that dies in a call fails it, and onerror tells how and why (K2)", SLOW, async (t) => {
  for (const peer of await connectBoth(t, "dies")) {
    await assert.rejects(peer.odd(), { message: /Connection closed/ });
    await waitUntil(() => peer.closes === 1);
    const [error] = peer.errors as Array<Error & { exit?: unknown; stderrTail?: unknown }>;
    assert.match(error!.message, /the server has exited with code 3; its stderr says: .*out of paper/);
    assert.deepEqual(error!.exit, { code: 3 });
    assert.equal(peer.transport.pid, null);
    await peer.close();
    assert.deepEqual([peer.closes, peer.errors.length], [1, 1]);
  }
});

test(
  "A server that dies while a helper holds its output is noticed, and the helper is ended (C7, F4 of the SDK)",
  {
    ...SLOW,
    skip: process.platform === "win32" ? "Windows has no sleep" : false,
  },
  async (t) => {
    for (const peer of await connectBoth(t, "helper")) {
      // The helper lives longer than that.
      await assert.rejects(peer.odd({ timeout: 15_000 }), { message: /Connection closed/ });
      await peer.close();
    }
  },
);

test("A server that floods its stderr is not stopped by it (P2, F6 of the SDK)", SLOW, async (t) => {
  for (const peer of await connectBoth(t, "floods")) {
    assert.equal(textOf(await peer.odd()), "flooded");
    await peer.close();
  }
});

test("A client of SDK v2 is told by connect() when the server cannot be started (P10)", SLOW, async () => {
  for (const mode of ["legacy", "auto"] as const) {
    const client = new ClientV2({ name: "client", version: "1.0.0" }, { versionNegotiation: { mode } });
    const transport = new StdioClientTransport({
      command: join(ROOT, "no-such-program"),
      logger: silentLogger,
    });
    await assert.rejects(client.connect(transport), { name: "ProcessError", code: "command_not_found" });
    await client.close();
  }
});

test("A client of SDK v1 can connect anew after a server that could not be started (K2)", SLOW, async (t) => {
  const brood = createBrood(t);
  const client = new ClientV1({ name: "client", version: "1.0.0" });
  const missing = new StdioClientTransport({ command: join(ROOT, "no-such-program"), logger: silentLogger });
  await assert.rejects(client.connect(missing), { code: "command_not_found" });
  const [command, ...args] = fixture("sdk_transport_raw.mjs");
  await client.connect(new StdioClientTransport({ command, args, env: brood.env, stderr: "ignore" }));
  await client.ping().catch(() => {});
  await client.close();
  await brood.gone();
});
