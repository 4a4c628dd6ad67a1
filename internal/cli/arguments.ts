/** Arguments to values, with complaints of our own, which are the same on each runtime. */

import { isJSONObject, type JSONObject } from "../../messages.ts";
import { distance } from "../options.ts";
import { parseArgs } from "../runtime/node_api/parse_args.ts";
import { type OptionSpec, type OptionSpecs, UsageError } from "./command.ts";

/** Arguments that were read. */
export interface ParsedArguments {
  readonly words: readonly string[];
  readonly options: Options;
  /** What stands behind the first `--`; undefined without one. */
  readonly rest: readonly string[] | undefined;
}

/** The options that were given. */
export class Options {
  readonly #values: ReadonlyMap<string, readonly (string | true)[]>;

  constructor(values: ReadonlyMap<string, readonly (string | true)[]> = new Map()) {
    this.#values = values;
  }

  /** Whether a flag was given. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The value of an option, the last one if there are more; undefined without one. */
  value(name: string): string | undefined {
    const last = this.#values.get(name)?.at(-1);
    return last === true ? undefined : last;
  }

  /** All values of an option. */
  values(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).filter((value) => value !== true);
  }
}

/**
 * Reads arguments.
 *
 * @throws {UsageError} If they cannot be used.
 */
export function parseArguments(args: readonly string[], specs: OptionSpecs): ParsedArguments {
  const own = ownPart(args);
  const { tokens } = parseArgs({
    args: [...own],
    options: Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, toParseArgsOption(spec)])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const words: string[] = [];
  const values = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const spec = Object.hasOwn(specs, name) ? specs[name]! : unknownOption(rawName, specs);
    values.set(name, [...values.get(name) ?? [], checkValue(rawName, spec, value)]);
  }
  return { words, options: new Options(values), rest: own === args ? undefined : args.slice(own.length + 1) };
}

/** What stands before the first `--`. */
export function ownPart(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end < 0 ? args : args.slice(0, end);
}

function toParseArgsOption({ kind, short }: OptionSpec) {
  return {
    type: kind === "flag" ? "boolean" as const : "string" as const,
    ...short === undefined ? {} : { short },
  };
}

function checkValue(
  shown: string,
  { kind, choices, placeholder }: OptionSpec,
  value: unknown,
): string | true {
  if (typeof value !== "string") {
    if (kind === "flag") return true;
    throw new UsageError(`Cannot use ${shown}: it needs a value, as in ${shown} ${placeholder ?? "VALUE"}`);
  }
  if (kind === "flag" && choices === undefined) {
    throw new UsageError(`Cannot use ${shown}=${value}: the option takes no value`);
  }
  if (choices !== undefined && !choices.includes(value)) {
    throw new UsageError(`Cannot use ${shown} ${JSON.stringify(value)}: it is one of ${choices.join(", ")}`);
  }
  return value;
}

function unknownOption(shown: string, specs: OptionSpecs): never {
  const name = shown.replace(/^-+/, "");
  const near = nearest(name, Object.keys(specs));
  throw new UsageError(
    `Cannot use ${shown}: there is no such option${near === undefined ? "" : `, but --${near}`}`,
  );
}

/** The name that is nearest to what was typed, if one is near enough to be meant. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  // Words of a command line are short: what is longer than any is near to none.
  if (typed.length > 40) return undefined;
  const ranked = names
    .map((name) => ({ name, distance: distance(typed, name) }))
    .sort((one, other) => one.distance - other.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(typed.length / 3))
    ? best.name
    : undefined;
}

/**
 * The value of an option that is an object in JSON; `shown` is how it is told.
 *
 * @throws {UsageError} If it is none.
 */
export function parseObject(option: string, text: string, shown: string = text): JSONObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`Cannot use ${option} ${JSON.stringify(shown)}: it is no JSON`, { cause });
  }
  if (isJSONObject(value)) return value;
  throw new UsageError(`Cannot use ${option} ${JSON.stringify(shown)}: it is no JSON object`);
}

/** What is said of a name that is not there: the one that is nearest, or something else where none is near. */
export function nearestHint(typed: string, names: readonly string[], otherwise: string): string {
  const near = nearest(typed, names);
  return near === undefined ? otherwise : `but there is ${near}`;
}

/**
 * A duration as one types it: `500ms`, `1.5s`, `2m`, or a number of seconds.
 *
 * @throws {UsageError} If it is none.
 */
export function parseDurationMs(shown: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  if (match === null) {
    throw new UsageError(
      `Cannot use ${shown} ${JSON.stringify(text)}: it is a number of seconds, or such as 500ms, 1.5s, 2m`,
    );
  }
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[match[2] ?? "s"]!;
  return Number(match[1]) * factor;
}
