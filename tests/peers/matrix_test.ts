/**
 * The matrix of `deno task matrix` as tests: a row each, which says what every client is to speak with a server, or fail with. The task
 * runs every cell over every transport on every runtime; here each is run on one, in turn.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { createBrood, ROOT } from "./harness.ts";
import { cellsOf, ClientProcesses, describePairing } from "./matrix_runs.ts";
import { CLIENTS, formatTable, SERVERS } from "./matrix_table.ts";

/** How much longer than its own limits a busy machine may take to start the programs and to give up. */
const SLACK_MS = 30_000;

const clients = new ClientProcesses();
after(() => clients.close());

for (const server of SERVERS) {
  test(
    `A server that is "${server.name}" and every client: ${server.expected.join(", ")} (K1, K3, E1, E2)`,
    { timeout: 240_000 },
    async (t) => {
      const runs = await clients.runRow(server, "in turn", createBrood(t));
      assert.deepEqual(cellsOf(runs), server.expected);
      assert.equal(runs.length, CLIENTS.length);
      // A client may probe and greet, and each of the two on a process of its own.
      const limit = 2 * Math.min(server.probeMs + server.requestMs, 5_000) + SLACK_MS;
      const late = runs.filter(({ ms }) => ms > limit).map((run) => `${describePairing(run)}: ${run.ms} ms`);
      assert.deepEqual(late, []);
    },
  );
}

test("The docs show the matrix as it is", () => {
  const table = formatTable(SERVERS.map(({ name, expected }) => [name, ...expected]));
  assert.ok(readFileSync(join(ROOT, "docs/sdk-and-eras.md"), "utf8").includes(table));
});
