// How the programs of the benches are run on each runtime.
import { execFileSync } from "node:child_process";
import process from "node:process";

/** What is measured: ours, the official SDK, or the bare program that is the limit. */
export type Kind = "limit" | "ours" | "official";

/** Where. */
export type Runtime = "node" | "bun" | "deno";

/** Whether ours is loaded from its source modules or, as npm has it, from bundles; Node has no other. */
export type Form = "source" | "tarball";

export const RUNTIMES: readonly Runtime[] = ["node", "bun", "deno"];

/** The command of a program of `bench/programs/`. */
export function programOf(runtime: Runtime, name: string, form: Form = "source"): string[] {
  const isBuilt = runtime === "node" || form === "tarball";
  return [
    ...commandOf(runtime, form),
    isBuilt ? `build/bench/programs/${name}.js` : `bench/programs/${name}.ts`,
  ];
}

/** Deno goes by a configuration as users have one: it would look for all that this repository wants to have installed. */
function commandOf(runtime: Runtime, form: Form): string[] {
  switch (runtime) {
    case "node":
      return ["node"];
    case "bun":
      return ["node_modules/.bin/bun"];
    case "deno":
      return [process.execPath, "run", "-A", "--no-check", "--config", `bench/configs/${form}.json`];
  }
}

/** Runs a command, which prints one line of JSON. */
export function runJson(
  [file, ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Record<string, number> {
  const printed = execFileSync(file!, args, {
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(printed);
}

/** The one in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
