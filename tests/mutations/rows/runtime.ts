import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [
  {
    id: "R4",
    file: "internal/runtime/deno/stdio.ts",
    find: "filled.slice(0, size)",
    replace: "filled.subarray(0, size)",
    tests: ["runtime_adapter_test.ts"],
    breaks: "a request that comes in two reads is corrupted on Deno",
  },
];
