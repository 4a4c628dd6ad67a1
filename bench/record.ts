// What a recorder between a client and a server costs: the same calls without it, with it, and, as the limit of what any relay
// can do, with two `cat`s in its place. In turns, medians of some rounds: deno task bench:record [node|bun|deno …]
//
// A relay is two more ways through the system for each batch of calls, whoever makes it: on two cores that are both busy with
// the echoes of a client and a server that do nothing else, `cat` shows what is left at best.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const CALLS: Readonly<Record<string, string>> = { ours: "60000", official: "12000" };

const RUNTIMES: Readonly<
  Record<string, { run: string[]; programs: string; cli: string; extension: string }>
> = {
  node: { run: ["node"], programs: "build/bench/programs/", cli: "build/cli.js", extension: "js" },
  bun: { run: ["./node_modules/.bin/bun"], programs: "bench/programs/", cli: "cli.ts", extension: "ts" },
  deno: { run: ["deno", "run", "-A"], programs: "bench/programs/", cli: "cli.ts", extension: "ts" },
};

const folder = mkdtempSync(join(tmpdir(), "bench-"));
const cats = join(folder, "cats");
writeFileSync(cats, '#!/bin/sh\ncat | "$@" | cat\n');
chmodSync(cats, 0o700);
const wanted = process.argv.slice(2);
for (const [name, { run, programs, cli, extension }] of Object.entries(RUNTIMES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const kind of ["ours", "official"]) {
    const program = (role: string) => [...run, `${programs}${role}.${extension}`];
    const server = program(`${kind}_server`);
    const ways: Readonly<Record<string, () => string[]>> = {
      plain: () => server,
      cat: () => [cats, ...server],
      record: () => [...run, cli, "record", join(folder, "a.ndjson"), "--", ...server],
    };
    const rates: Record<string, number[]> = {};
    for (let round = 0; round < ROUNDS; round++) {
      for (const [way, command] of Object.entries(ways)) {
        const rate = measure([...program("drive"), kind, "pipelined", ...command()], CALLS[kind]!);
        (rates[way] ??= []).push(rate);
      }
    }
    const plain = median(rates["plain"]!);
    const shares = ["cat", "record"].map((way) => `${way} ${(median(rates[way]!) / plain).toFixed(2)}`);
    process.stdout.write(
      `${name.padEnd(5)} ${kind.padEnd(9)} ${Math.round(plain)} calls/s, ${shares.join(", ")} of it\n`,
    );
  }
}
rmSync(folder, { recursive: true });

function measure([command = "", ...args]: string[], calls: string): number {
  const env = { ...process.env, CALLS: calls, WARM_UP_CALLS: "5000" };
  const { stdout } = spawnSync(command, args, { env, encoding: "utf8" });
  execFileSync("sh", ["-c", `rm -f ${folder}/*.ndjson`]);
  return (JSON.parse(stdout) as { perSecond: number }).perSecond;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!;
}
