/** Bundlers, each as its users call it, and programs that are made one file or a few chunks by them. */

import { execFileSync, type ExecFileSyncOptions } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { findOnPath, ROOT } from "./harness.ts";

/** A runtime that bundles run on. */
export type RuntimeName = "Node" | "Deno" | "Bun";

/** Makes of a program what is started in a folder. */
export interface Bundler {
  /** Where `server.mjs` runs; on none if it is `server`, an executable. */
  readonly runtimes: readonly RuntimeName[];
  bundle(program: string, folder: string): Promise<unknown>;
}

const BUN = join(ROOT, "node_modules/.bin/bun");
const NODE_MODULES = /^node:/;
const QUIET: ExecFileSyncOptions = { stdio: ["ignore", "ignore", "inherit"] };
/** Where a bundle runs that is for no runtime of its own; the first is the one that bundlers have in mind. */
const ANYWHERE: readonly RuntimeName[] = ["Node", "Deno", "Bun"];

/** Bundlers have types of their own, and many: here their options are what is looked at. */
// deno-lint-ignore no-explicit-any
function load(name: string): Promise<any> {
  return import(name);
}

/** What esbuild can be told, beside what is the same each time. */
function esbuild(options: Record<string, unknown>): Bundler["bundle"] {
  return async (program, folder) => {
    const { build } = await load("esbuild");
    await build({
      entryPoints: { server: program },
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      format: "esm",
      platform: "node",
      logLevel: "error",
      ...options,
    });
  };
}

function rollup(output: Record<string, unknown>): Bundler["bundle"] {
  return async (program, folder) => {
    const [{ rollup }, { default: nodeResolve }] = await Promise.all([
      load("rollup"),
      load("@rollup/plugin-node-resolve"),
    ]);
    const bundle = await rollup({
      input: { server: program },
      external: NODE_MODULES,
      plugins: [nodeResolve()],
      onwarn: () => {},
    });
    await bundle.write({ dir: folder, format: "es", entryFileNames: "[name].mjs", ...output });
    await bundle.close();
  };
}

function rolldown(output: Record<string, unknown>): Bundler["bundle"] {
  return async (program, folder) => {
    const { rolldown } = await load("rolldown");
    const bundle = await rolldown({ input: { server: program }, platform: "node", logLevel: "silent" });
    await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", ...output });
    await bundle.close();
  };
}

/** The bundlers, by name. */
export const BUNDLERS: ReadonlyMap<string, Bundler> = new Map(Object.entries({
  "esbuild": { runtimes: ANYWHERE, bundle: esbuild({}) },
  "esbuild, minified": { runtimes: ANYWHERE, bundle: esbuild({ minify: true }) },
  "esbuild, in chunks": { runtimes: ANYWHERE, bundle: esbuild({ splitting: true }) },
  "rollup": { runtimes: ANYWHERE, bundle: rollup({ inlineDynamicImports: true }) },
  "rollup, in chunks": { runtimes: ANYWHERE, bundle: rollup({ chunkFileNames: "[name]-[hash].mjs" }) },
  "rolldown": { runtimes: ANYWHERE, bundle: rolldown({ codeSplitting: false }) },
  "rolldown, in chunks": { runtimes: ANYWHERE, bundle: rolldown({ chunkFileNames: "[name]-[hash].mjs" }) },
  "vite, for servers": {
    runtimes: ANYWHERE,
    bundle: async (program, folder) => {
      const { build } = await load("vite");
      await build({
        configFile: false,
        logLevel: "error",
        ssr: { noExternal: true },
        build: {
          ssr: program,
          outDir: folder,
          emptyOutDir: false,
          rollupOptions: { output: { entryFileNames: "server.mjs" } },
        },
      });
    },
  },
  "webpack": {
    runtimes: ANYWHERE,
    bundle: async (program, folder) => {
      const { default: webpack } = await load("webpack");
      const options = {
        mode: "production",
        target: "node20",
        entry: program,
        // To minify takes ten times as long as all else.
        optimization: { minimize: process.env["TEST_FULL"] === "1" },
        experiments: { outputModule: true },
        output: { path: folder, filename: "server.mjs", module: true, chunkFormat: "module" },
      };
      await new Promise<void>((done, fail) => {
        webpack(options, (error: unknown, stats: { hasErrors(): boolean }) => {
          if (error || stats.hasErrors()) fail(error ?? new Error(String(stats)));
          else done();
        });
      });
    },
  },
  "ncc": {
    runtimes: ANYWHERE,
    bundle: async (program, folder) => {
      const { default: ncc } = await load("@vercel/ncc");
      const { code, assets } = await ncc(program, { quiet: true, esm: true });
      for (const [name, { source }] of Object.entries<{ source: string }>(assets)) {
        writeFileSync(join(folder, name), source);
      }
      writeFileSync(join(folder, "server.mjs"), code);
    },
  },
  "bun build": { runtimes: ["Bun"], bundle: bunBuild("--target=bun") },
  "bun build, for Node": { runtimes: ANYWHERE, bundle: bunBuild("--target=node") },
  "bun build --compile": {
    runtimes: [],
    bundle: (program, folder) => {
      return Promise.resolve(
        execFileSync(BUN, ["build", "--compile", program, `--outfile=${join(folder, "server")}`], QUIET),
      );
    },
  },
  "deno bundle": {
    runtimes: ["Deno", "Node", "Bun"],
    bundle: (program, folder) => {
      const args = [
        "bundle",
        "--quiet",
        "--node-modules-dir=manual",
        `--output=${join(folder, "server.mjs")}`,
      ];
      // In the folder of the program, whose node_modules are meant and not those of this repository.
      const cwd = resolve(program, "..");
      return Promise.resolve(
        execFileSync(findOnPath("deno") ?? "deno", [...args, program], { ...QUIET, cwd }),
      );
    },
  },
}));

function bunBuild(target: string): Bundler["bundle"] {
  return (program, folder) =>
    Promise.resolve(
      execFileSync(BUN, ["build", program, target, `--outfile=${join(folder, "server.mjs")}`], QUIET),
    );
}

/** Bundles a program into a folder, which is made. */
export async function bundleInto(name: string, program: string, folder: string): Promise<string> {
  const { bundle, runtimes } = BUNDLERS.get(name)!;
  mkdirSync(folder, { recursive: true });
  // What is written is ES modules, whatever the ending.
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  await bundle(program, folder);
  return join(folder, runtimes.length === 0 ? "server" : "server.mjs");
}
