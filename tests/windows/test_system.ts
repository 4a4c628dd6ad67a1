// Where Windows programs run: on a Windows, or under Wine in a copy of this project.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../_sources.ts";
import { findWine, run, type Say, type Wine } from "./wine.ts";
import { fetchRuntime, packageOf, type WindowsRuntime } from "./windows_runtimes.ts";

/** A system that runs the tests of a runtime. */
export interface TestSystem {
  /** What it is, and what it runs. */
  readonly name: string;
  readonly isWine: boolean;
  /** Where the project is. */
  readonly project: string;
  readonly env: Record<string, string | undefined>;
  /** The program of a runtime; everything is made ready for it. */
  prepare(runtime: WindowsRuntime): string;
  /** The command line that runs a program. */
  command(program: readonly string[]): string[];
  /** A path as a program there sees it. */
  pathOf(path: string): string;
  /** Lets go of it. */
  end(): void;
}

/** Makes one, with `cache` for what it needs; gives the reason if there can be none. */
export function openSystem(
  cache: string,
  runtimes: readonly WindowsRuntime[],
  say: Say,
): TestSystem | string {
  if (process.platform === "win32") return ownSystem(runtimes);
  const wine = findWine(cache, [ROOT], say);
  return typeof wine === "string" ? wine : wineSystem(wine, cache, runtimes, say);
}

function ownSystem(runtimes: readonly WindowsRuntime[]): TestSystem {
  if (runtimes.includes("node")) build();
  const programs: Record<WindowsRuntime, string> = {
    node: "node.exe",
    deno: process.execPath,
    bun: join(ROOT, "node_modules/bun/bin/bun.exe"),
  };
  return {
    name: `Windows with ${runtimes.map((runtime) => programs[runtime]).join(", ")}`,
    isWine: false,
    project: ROOT,
    env: process.env,
    prepare: (runtime) => programs[runtime],
    command: (program) => [...program],
    pathOf: (path) => path,
    end() {},
  };
}

function wineSystem(wine: Wine, cache: string, runtimes: readonly WindowsRuntime[], say: Say): TestSystem {
  const programs = new Map(runtimes.map((name) => [name, fetchRuntime(cache, name, say)]));
  const project = join(cache, "project");
  preparePrefix(wine, cache, say);
  if (runtimes.includes("node")) build();
  copyProject(project);
  return {
    name: `${wine.version} with ${runtimes.map(packageOf).join(", ")}`,
    isWine: true,
    project,
    env: wine.env,
    prepare(runtime) {
      if (runtime === "bun") hidePackage(project);
      return programs.get(runtime)!;
    },
    command: wine.command,
    pathOf: (path) => `Z:${path.replaceAll("/", "\\")}`,
    end: () => attempt(wine, cache, wine.server("-k")),
  };
}

function build(): void {
  run("node", ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"], { cwd: ROOT });
  run("node", [".ci/build_package.mjs"], { cwd: ROOT });
}

/** A Windows for these programs. Its server stays up between them: a start then takes a second. */
function preparePrefix(wine: Wine, cache: string, say: Say): void {
  const prefix = join(cache, "prefix");
  if (!existsSync(join(prefix, "system.reg"))) {
    say(`a Windows is made in ${prefix}`);
    // It complains, and ends with an error, about a part that no program of these needs.
    attempt(wine, cache, wine.command(["wineboot", "-i"]));
  }
  const version = ["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"];
  const [command = "", ...args] = wine.command(version);
  run(command, args, { env: wine.env, log: join(cache, "wine.log"), cwd: cache });
  attempt(wine, cache, wine.server("-p"));
}

/** Runs something whose outcome does not matter: what is not as it should be shows when a test runs. */
function attempt(wine: Wine, cache: string, [command = "", ...args]: readonly string[]): void {
  try {
    run(command, args, { env: wine.env, log: join(cache, "wine.log"), cwd: cache });
  } catch {
    // See above.
  }
}

const NOT_COPIED = new Set([".git", "node_modules", "coverage", "bench"]);

/** A copy, which Windows programs may fill, with the packages of this system. */
function copyProject(project: string): void {
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project);
  for (const name of readdirSync(ROOT)) {
    if (!NOT_COPIED.has(name)) cpSync(join(ROOT, name), join(project, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
  // Deno would fetch what some packages have for Windows.
  const config = readFileSync(join(ROOT, "deno.json"), "utf8");
  writeFileSync(
    join(project, "deno.json"),
    config.replace('"nodeModulesDir": "auto"', '"nodeModulesDir": "manual"'),
  );
}

/**
 * Under Wine Bun takes a package.json or a tsconfig.json for a folder, and says so on stderr each time. Without them nothing
 * has the module's name, so the examples, which use that, are given paths.
 */
function hidePackage(project: string): void {
  const { name, exports } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const folder = join(project, "examples");
  for (const file of readdirSync(folder).filter((file) => file.endsWith(".ts"))) {
    const text = readFileSync(join(folder, file), "utf8");
    const paths = Object.entries(exports).map(([key, path]) =>
      [`"${name}${key.slice(1)}"`, `".${path}"`] as const
    );
    writeFileSync(join(folder, file), paths.reduce((text, [own, path]) => text.replaceAll(own, path), text));
  }
  rmSync(join(project, "package.json"));
  rmSync(join(project, "tsconfig.json"));
}
