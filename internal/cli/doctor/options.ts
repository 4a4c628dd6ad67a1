import type { RuntimeAdapter } from "../../../runtime.ts";
import type { LaunchSettings } from "../../process/launch.ts";

/** A tool that the user has named, with its arguments. */
export interface NamedTool {
  readonly name: string;
  readonly args: { readonly [name: string]: unknown };
}

/** What a tool can be named for, beside being called. */
export const NAMED_ROLES = ["slow", "progress", "ask", "log", "crash", "change"] as const;
export type ToolRole = "tool" | typeof NAMED_ROLES[number];

/** Which tools may be called unasked: none, those that are read-only and closed-world, those that are read-only, all. */
export type ToolPolicy = "none" | "harmless" | "read_only" | "all";

/** What a run is to do; everything is set. */
export interface DoctorOptions extends Readonly<Partial<Record<ToolRole, NamedTool | undefined>>> {
  readonly launch: LaunchSettings;
  readonly runtime: RuntimeAdapter;
  /** Ids and groups, with `*`; empty is all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  /** `modern`, `legacy`, a version, or undefined for all. */
  readonly era: string | undefined;
  readonly quick: boolean;
  readonly deep: boolean;
  /** One process for each era, and no more. */
  readonly once: boolean;
  readonly maxStarts: number;
  /** By what all bounds are multiplied. */
  readonly patience: number;
  /** Whether what is not kept is asked a second time. */
  readonly confirm: boolean;
  readonly policy: ToolPolicy;
  readonly prompts: boolean;
  readonly resources: boolean;
  /** Whether what tools and resources return is shown. */
  readonly showContent: boolean;
  readonly lean: boolean;
}

/** What a run does unless it is told otherwise. */
export const DEFAULTS: Omit<DoctorOptions, "launch" | "runtime"> = {
  only: [],
  skip: [],
  era: undefined,
  quick: false,
  deep: false,
  once: false,
  maxStarts: 80,
  patience: 1,
  confirm: true,
  policy: "harmless",
  prompts: true,
  resources: true,
  showContent: false,
  lean: false,
};
