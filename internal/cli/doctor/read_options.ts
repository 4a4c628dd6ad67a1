/** What the command line asks of a run. */

import { type Options, parseObject } from "../arguments.ts";
import { UsageError } from "../command.ts";
import { LEGACY_VERSIONS, MODERN_VERSION } from "./era.ts";
import { DEFAULTS, type DoctorOptions, NAMED_ROLES, type NamedTool, type ToolPolicy } from "./options.ts";
import { unknownPatterns } from "./selection.ts";
import type { Strictness } from "./summary.ts";
import { TABLE } from "./table.ts";

const DEEP_STARTS = 110;

/**
 * Reads it, but for the server.
 *
 * @throws {UsageError} If an option means nothing.
 */
export function readDoctorOptions(options: Options): Omit<DoctorOptions, "launch" | "runtime"> {
  const deep = options.has("deep");
  const explained = options.value("explain");
  return {
    ...DEFAULTS,
    only: readPatterns("--only", explained === undefined ? options.values("only") : [explained]),
    skip: readPatterns("--skip", options.values("skip")),
    era: readEra(options.value("era")),
    quick: options.has("quick"),
    deep,
    once: options.has("once"),
    maxStarts: readNumber(options, "max-starts", deep ? DEEP_STARTS : DEFAULTS.maxStarts, 1),
    patience: readNumber(options, "patience", DEFAULTS.patience, 0.01),
    confirm: !options.has("no-confirm"),
    policy: readPolicy(options),
    tool: readTool(options, "tool", "args"),
    ...Object.fromEntries(NAMED_ROLES.map((role) => [role, readTool(options, role)])),
    prompts: !options.has("no-prompts"),
    resources: !options.has("no-resources"),
    showContent: options.has("show-content"),
    lean: options.has("lean"),
  };
}

/** What fails a run. */
export function readStrictness(options: Options): Strictness {
  if (!options.has("strict")) return "must";
  return options.value("strict") === "advice" ? "advice" : "should";
}

function readPatterns(option: string, values: readonly string[]): string[] {
  const patterns = values.flatMap((value) => value.split(",")).map((each) => each.trim()).filter((each) =>
    each !== ""
  );
  const unknown = unknownPatterns(patterns, TABLE);
  if (unknown.length > 0) {
    throw new UsageError(
      `Cannot use ${option} ${JSON.stringify(unknown[0])}: no check and no group has that name, see --list`,
    );
  }
  return patterns;
}

function readEra(era: string | undefined): string | undefined {
  const known = ["modern", "legacy", MODERN_VERSION, ...LEGACY_VERSIONS];
  if (era === undefined || era === "auto") return undefined;
  if (known.includes(era)) return era;
  throw new UsageError(`Cannot use --era ${JSON.stringify(era)}: it is one of ${known.join(", ")}`);
}

function readNumber(options: Options, name: string, otherwise: number, least: number): number {
  const text = options.value(name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value >= least) return value;
  throw new UsageError(`Cannot use --${name} ${JSON.stringify(text)}: it is a number from ${least} on`);
}

function readPolicy(options: Options): ToolPolicy {
  if (options.has("no-tools")) return "none";
  if (options.has("all-tools")) return "all";
  return options.has("read-only-tools") ? "read_only" : "harmless";
}

function readTool(options: Options, name: string, argsName = `${name}-args`): NamedTool | undefined {
  const tool = options.value(name);
  const text = options.value(argsName);
  if (tool === undefined) {
    if (text === undefined) return undefined;
    throw new UsageError(`Cannot use --${argsName}: it needs --${name}`);
  }
  return { name: tool, args: parseObject(`--${argsName}`, text ?? "{}") };
}
