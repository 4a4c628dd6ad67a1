import type { Mutation } from "../mutation.ts";

export const ROWS: readonly Mutation[] = [];
