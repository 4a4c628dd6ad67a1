/** Runs the cells of the matrix: clients in a process for each runtime, servers in one for each cell. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Brood, Command, Runtime } from "./harness.ts";
import { ROOT, RUNTIMES } from "./harness.ts";
import type { CellJob, CellOutcome, ClientKind } from "./matrix_cell.ts";
import { CLIENTS, type MatrixServer, SERVERS, wordFor } from "./matrix_table.ts";

/** A client and a server, each on a runtime. */
interface Pairing {
  readonly client: ClientKind;
  readonly overOurs: boolean;
  readonly clientRuntime: Runtime;
  readonly serverRuntime: Runtime;
}

/** What became of a pairing. */
export interface Run extends Pairing, CellOutcome {}

const NODE = RUNTIMES.find(({ name }) => name === "Node")!;
const USABLE = RUNTIMES.filter(({ skip }) => skip === false);

/**
 * Who is paired in a row: wherever code of ours runs, it does so on each runtime, on both ends at the same time. What is not ours runs on
 * Node.
 */
function allPairings(server: MatrixServer): Pairing[] {
  return WAYS.flatMap((way) => pairingsOf(way, server));
}

/** One pairing for each client, so that in some row each way meets each runtime. */
function inTurn(server: MatrixServer): Pairing[] {
  const row = SERVERS.indexOf(server);
  return CLIENTS.map(({ kind }, column) => {
    const ways = WAYS.filter(({ client }) => client === kind);
    const pairings = pairingsOf(ways[(row + column) % ways.length]!, server);
    return pairings[Math.floor((row + column) / ways.length) % pairings.length]!;
  });
}

/** The clients, those of the SDKs over either transport. */
const WAYS: ReadonlyArray<Pick<Pairing, "client" | "overOurs">> = CLIENTS.flatMap(({ kind }) =>
  (kind === "ours" ? [false] : [false, true]).map((overOurs) => ({ client: kind, overOurs }))
);

function pairingsOf(way: Pick<Pairing, "client" | "overOurs">, server: MatrixServer): Pairing[] {
  const isOurs = way.client === "ours" || way.overOurs;
  const runtimes = isOurs || server.isOurs ? USABLE : [NODE];
  return runtimes.map((runtime) => ({
    ...way,
    clientRuntime: isOurs ? runtime : NODE,
    serverRuntime: server.isOurs ? runtime : NODE,
  }));
}

/** Which pairings are run: all of them, or for each client of a row one, over the transports and on the runtimes in turn. */
export type Extent = "all" | "in turn";

/** The processes that the clients run in; each is started when it is first needed. */
export class ClientProcesses {
  readonly #processes = new Map<Runtime, ClientProcess>();

  /** Runs the pairings of a row, two at a time; more where most of the time is waiting. */
  async runRow(server: MatrixServer, extent: Extent, brood: Brood): Promise<Run[]> {
    const pairings = extent === "all" ? allPairings(server) : inTurn(server);
    const runs: Run[] = [];
    const next = pairings.values();
    const lane = async () => {
      for (const pairing of next) runs.push({ ...pairing, ...await this.#run(pairing, server, brood) });
    };
    const width = server.probeMs < 5_000 ? 8 : 2;
    await Promise.all(Array.from({ length: width }, lane));
    await brood.gone();
    return runs;
  }

  /** Ends them. */
  async close(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.close()));
  }

  #run(pairing: Pairing, server: MatrixServer, { env }: Brood): Promise<CellOutcome> {
    const { client, overOurs, clientRuntime } = pairing;
    const { call, probeMs, requestMs } = server;
    const command = server.command(pairing.serverRuntime);
    return this.#process(clientRuntime).run({
      client,
      overOurs,
      command,
      env: { ...env },
      call,
      probeMs,
      requestMs,
    });
  }

  #process(runtime: Runtime): ClientProcess {
    const known = this.#processes.get(runtime);
    if (known !== undefined) return known;
    const process = new ClientProcess(withAllPermissions(runtime.run("tests/peers/fixtures/matrix_client")));
    this.#processes.set(runtime, process);
    return process;
  }
}

/** A client that starts programs needs more than the servers of the harness do. */
function withAllPermissions([program, ...args]: Command): Command {
  return args[0] === "run" ? [program, "run", "-A", ...args.slice(1)] : [program, ...args];
}

class ClientProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting = new Map<number, (outcome: CellOutcome) => void>();
  #lastId = 0;

  constructor([command, ...args]: Command) {
    this.#child = spawn(command, args, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const { id, ...outcome } = JSON.parse(line);
      this.#waiting.get(id)?.(outcome);
      this.#waiting.delete(id);
    });
    this.#child.once("exit", (code, signal) => {
      for (const give of this.#waiting.values()) {
        give({ text: `the client has gone (${signal ?? code})`, ms: 0 });
      }
    });
  }

  run(job: CellJob): Promise<CellOutcome> {
    const id = ++this.#lastId;
    this.#child.stdin.write(`${JSON.stringify({ id, ...job })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async close(): Promise<void> {
    const exit = once(this.#child, "exit");
    this.#child.stdin.end();
    await exit;
  }
}

/** What stands in each cell of a row: one word if all runs agree, else each word with those it holds for. */
export function cellsOf(runs: readonly Run[]): string[] {
  return CLIENTS.map(({ kind }) => {
    const groups = new Map<string, string[]>();
    for (const run of runs.filter(({ client }) => client === kind)) {
      const word = wordFor(run.text);
      groups.set(word, [...groups.get(word) ?? [], describePairing(run)]);
    }
    if (groups.size === 1) return [...groups.keys()][0]!;
    return [...groups].map(([word, whose]) => `${word} (${whose.join(", ")})`).join("; ");
  });
}

/** A pairing in few words. */
export function describePairing({ overOurs, clientRuntime, serverRuntime }: Pairing): string {
  const client = `${overOurs ? "over ours " : ""}on ${clientRuntime.name}`;
  return `${client} with ${serverRuntime.name}`;
}
