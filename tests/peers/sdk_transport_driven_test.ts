/**
 * Servers on the official SDK, v1 and v2, over our transport and under serve(), on each runtime: driven by clients of the SDK (rules K1 to
 * K3).
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../helpers.ts";
import { outOfTurn, RUNTIMES, SLOW, textOf } from "./harness.ts";
import { SDK_CLIENTS } from "./sdk_clients.ts";
import { describeServer, SERVER_KINDS, SERVER_PROGRAM } from "./sdk_servers.ts";

for (const { name: runtime, skip, run } of RUNTIMES) {
  for (const [row, [sdk, how]] of SERVER_KINDS.entries()) {
    for (const [column, kind] of SDK_CLIENTS.entries()) {
      const isModern = sdk === "v2" && how === "serve";
      const spoken = isModern ? kind.spoken : "legacy 2025-11-25";
      // Who is refused is shown by the matrix.
      if (kind.name === "SDK v2 pinned" && !isModern) continue;

      test(
        `${kind.name} drives ${
          describeServer(sdk, how).replace(/^A/, "a")
        } on ${runtime} in ${spoken} (K1, K3)`,
        { ...SLOW, skip: skip || outOfTurn(runtime, row + column) },
        async (t) => {
          const peer = await kind.connect(t, run(SERVER_PROGRAM, sdk, how));
          assert.equal(peer.spoken, spoken);
          assert.deepEqual(peer.client.getServerVersion(), { name: "behind", version: "1.0.0" });
          assert.equal(textOf(await peer.call("add", { a: 2, b: 40 })), "42");
          assert.equal((await peer.call("fail")).isError, true);
          assert.equal(textOf(await peer.call("big", { size: 3_000_000 })).length, 3_000_000);
          assert.equal(textOf(await peer.call("ask")), "Hello, Ada!");
          let changes = 0;
          peer.v2?.setNotificationHandler("notifications/tools/list_changed", () => void changes++);
          const subscription = spoken.startsWith("modern")
            ? await peer.v2!.listen({ toolsListChanged: true })
            : undefined;
          await peer.call("grow");
          if (peer.v2 !== undefined) {
            await waitUntil(() => changes > 0);
          }
          assert.ok((await peer.client.listTools()).tools.some(({ name }) => name === "grown"));
          await subscription?.close();
          await peer.close();
          assert.deepEqual(peer.errors, []);
        },
      );
    }
  }
}
