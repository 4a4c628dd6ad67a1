// Prints the compatibility matrix: `deno task matrix`. Ends with code 1 if a cell is not as it should be.
import process from "node:process";
import { cellsOf, ClientProcesses } from "./matrix_runs.ts";
import { formatTable, SERVERS } from "./matrix_table.ts";
import { watchProcesses } from "./harness.ts";

const begin = performance.now();
const clients = new ClientProcesses();
const rows: Array<[string, ...string[]]> = [];
const wrong: string[] = [];
let count = 0;
for (const server of SERVERS) {
  const runs = await clients.runRow(server, "all", watchProcesses());
  const cells = cellsOf(runs);
  count += runs.length;
  rows.push([server.name, ...cells]);
  if (cells.join() !== server.expected.join()) {
    wrong.push(`${server.name}: expected ${server.expected.join(", ")}`);
  }
  process.stderr.write(`${server.name}: ${runs.length} runs\n`);
}
await clients.close();
process.stdout.write(`${formatTable(rows)}\n`);
process.stderr.write(`${count} runs in ${((performance.now() - begin) / 1_000).toFixed(0)} s\n`);
for (const line of wrong) process.stderr.write(`${line}\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;
