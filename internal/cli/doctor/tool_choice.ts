/** Which tool may be called unasked, and with what. */

import { type Trial, Unmet } from "./check.ts";
import type { Asked, Conversation } from "./conversation.ts";
import { listsOf } from "./facts.ts";
import type { NamedTool, ToolPolicy, ToolRole } from "./options.ts";
import { asObject, at, isObject, type Members } from "./raw_line.ts";
import { skip } from "./verdict.ts";

/** A tool that may be called, and why it may. */
export interface CallableTool extends NamedTool {
  readonly why: string;
}

/** A tool with arguments that were made for it. */
export interface ChosenTool extends CallableTool {
  readonly tool: Members;
}

const NO_ARGUMENT = Symbol("no argument");

/** The tool for checks that need any; a sentence if there is none. */
export function chooseTool(trial: Trial): ChosenTool | string {
  const tools = listsOf(trial.facts, trial.era)?.tools.items ?? [];
  const { tool: named, policy } = trial.options;
  if (named !== undefined) {
    const tool = tools.find(({ name }) => name === named.name) ?? { name: named.name };
    return { tool, name: named.name, args: named.args, why: "named by --tool" };
  }
  if (tools.length === 0) return "the server lists no tools";
  if (policy === "none") return "no tool may be called: --no-tools";
  const allowed = tools.filter((tool) => mayBeCalled(tool, policy));
  if (allowed.length === 0) {
    return "no tool says that it is read-only and closed-world: name one with --tool NAME --args JSON";
  }
  const chosen = allowed
    .map((tool) => ({ tool, args: makeArguments(tool["inputSchema"]), size: sizeOf(tool["inputSchema"]) }))
    .filter((each): each is typeof each & { args: Members } => each.args !== undefined)
    .sort((one, other) => one.size - other.size)[0];
  if (chosen === undefined) {
    return `the arguments of ${String(allowed[0]!["name"])} cannot be made up: --tool ${
      String(allowed[0]!["name"])
    } --args JSON`;
  }
  const why = policy === "all"
    ? "--all-tools"
    : policy === "read_only"
    ? "read-only by its own word"
    : "read-only and closed-world by its own word";
  return { tool: chosen.tool, name: String(chosen.tool["name"]), args: chosen.args, why };
}

const SLOW_LOOK = /sleep|wait|delay|slow|long.?running/i;

/** What is said where a slow tool is needed; one that looks like it is proposed and not called. */
function needsSlow({ facts, era }: Trial): string {
  const tools = listsOf(facts, era)?.tools.items ?? [];
  const look = tools.find(({ name }) => SLOW_LOOK.test(String(name))) ??
    tools.find(({ description }) => SLOW_LOOK.test(String(description)));
  const proposal = look === undefined ? "" : `; ${String(look["name"])} looks like one`;
  return `needs a slow tool: --slow NAME --slow-args JSON${proposal}`;
}

/**
 * The tool that is named for a role.
 *
 * @throws {Unmet} If none is, with `otherwise` as the reason.
 */
export function needNamed({ options }: Trial, role: ToolRole, otherwise: string): CallableTool {
  const named = options[role];
  if (named === undefined) throw new Unmet(skip(otherwise));
  return { ...named, why: `named by --${role}` };
}

/**
 * The tool that is named as a slow one.
 *
 * @throws {Unmet} If none is.
 */
export function needSlow(trial: Trial): CallableTool {
  return needNamed(trial, "slow", needsSlow(trial));
}

/**
 * The tool that may be called.
 *
 * @throws {Unmet} If there is none.
 */
export function needTool(trial: Trial): ChosenTool {
  const chosen = chooseTool(trial);
  if (typeof chosen === "string") throw new Unmet(skip(chosen));
  return chosen;
}

/** Calls a tool, and remembers that for the report. */
export function callTool(
  talk: Conversation,
  { facts }: Trial,
  { name, why, args }: CallableTool,
  options?: { id?: unknown; meta?: Members },
): Asked {
  facts.called.set(name, { name, why, arguments: args });
  return talk.ask("tools/call", { name, arguments: args }, options);
}

/** What its annotations say; what is unsaid counts as in the schema. */
export function mayBeCalled(tool: Members, policy: ToolPolicy): boolean {
  if (typeof tool["name"] !== "string") return false;
  if (policy === "all") return true;
  const hint = (name: string) => at(tool, "annotations", name);
  const isReadOnly = hint("readOnlyHint") === true && hint("destructiveHint") !== true;
  if (policy === "read_only") return isReadOnly;
  return policy === "harmless" && isReadOnly && hint("openWorldHint") === false;
}

/** Arguments made from what the schema itself names; undefined if a required one would have to be invented. */
export function makeArguments(schema: unknown): Members | undefined {
  const args: { [name: string]: unknown } = {};
  for (const name of requiredBy(schema)) {
    const value = makeArgument(at(schema, "properties", String(name)));
    if (value === NO_ARGUMENT) return undefined;
    args[String(name)] = value;
  }
  return args;
}

function makeArgument(schema: unknown): unknown {
  if (!isObject(schema)) return NO_ARGUMENT;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return schema["enum"][0];
  if ("default" in schema) return schema["default"];
  const { examples } = schema;
  return Array.isArray(examples) && examples.length > 0 ? examples[0] : NO_ARGUMENT;
}

/** No required arguments first, then fewest. */
function sizeOf(schema: unknown): number {
  return 1_000 * requiredBy(schema).length + Object.keys(asObject(at(schema, "properties"))).length;
}

function requiredBy(schema: unknown): readonly unknown[] {
  const required = at(schema, "required");
  return Array.isArray(required) ? required : [];
}

/** Arguments that the tool's schema must refuse; undefined if it takes anything. */
export function breakArguments(schema: unknown, args: Members): Members | undefined {
  const first = requiredBy(schema).find((name) => typeof name === "string");
  if (first !== undefined) return Object.fromEntries(Object.entries(args).filter(([name]) => name !== first));
  for (const [name, property] of Object.entries(asObject(at(schema, "properties")))) {
    const type = at(property, "type");
    if (typeof type === "string" && type !== "object") {
      return { ...args, [name]: { "mcp-stdio-doctor": true } };
    }
    if (type === "object") return { ...args, [name]: 5 };
  }
  return undefined;
}
