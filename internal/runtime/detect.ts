/** The one place that asks which runtime this is. */

import type { RuntimeAdapter } from "../../runtime.ts";
import { writeLinesBy } from "../stderr_line.ts";

/** A runtime there is an adapter for. */
export type RuntimeName = "deno" | "bun" | "node";

/** Which runtime this is. Touching `process` would load Deno's Node layer, so Deno is looked for first. */
export function runtimeName(): RuntimeName {
  const globals = globalThis as {
    Deno?: { version?: { deno?: unknown } };
    Bun?: { version?: unknown };
    process?: { versions?: { node?: unknown } };
  };
  if (typeof globals.Deno?.version?.deno === "string") return "deno";
  if (typeof globals.Bun?.version === "string") return "bun";
  if (typeof globals.process?.versions?.node === "string") return "node";
  throw new TypeError("Cannot find a runtime: this is neither Deno nor Bun nor Node");
}

let detected: Promise<RuntimeAdapter> | undefined;

/** The adapter for this runtime: one per process, loaded at first use, and only that one. Our own lines go by it then. */
export function detectRuntime(): Promise<RuntimeAdapter> {
  return detected ??= LOADERS[runtimeName()].adapter().then((adapter) => {
    writeLinesBy((text) => adapter.writeStderr(text));
    return adapter;
  });
}

/** The same for whoever starts a process: what that needs is loaded beside the adapter, and not behind it. */
export async function detectRuntimeToSpawn(): Promise<RuntimeAdapter> {
  const [runtime] = await Promise.all([detectRuntime(), LOADERS[runtimeName()].child()]);
  return runtime;
}

/** What is loaded, by runtime. */
const LOADERS: Record<RuntimeName, { child(): Promise<unknown>; adapter(): Promise<RuntimeAdapter> }> = {
  deno: {
    child: () => import("./deno/child.ts"),
    adapter: async () => new (inOrder(await import("./deno/adapter.ts"))).DenoRuntime(),
  },
  bun: {
    child: () => import("./bun/child.ts"),
    adapter: async () => new (inOrder(await import("./bun/adapter.ts"))).BunRuntime(),
  },
  node: {
    child: () => import("./node/child.ts"),
    adapter: async () => new (inOrder(await import("./node/adapter.ts"))).NodeRuntime(),
  },
};

/**
 * A bundler that makes one file of everything, as Rollup can, puts what is loaded later behind the program, and it is not
 * there yet while the program's own `await serve()` waits. In the npm package nothing is loaded later.
 */
function inOrder<T>(module: T | undefined): T {
  if (module !== undefined) return module;
  throw new TypeError(
    "Cannot load the adapter of this runtime: a bundler has put it behind the program's own top-level await; " +
      "have it make chunks, or call serve() without await",
  );
}
