import { quoteText } from "./shown_text.ts";

/** Checks an option that is a count or a size. */
export function checkPositiveInteger(
  name: string,
  value: number,
  max: number = Number.MAX_SAFE_INTEGER,
): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return;
  const bound = max === Number.MAX_SAFE_INTEGER ? "" : ` of at most ${max}`;
  throw new RangeError(
    `Cannot use "${name}" as it must be a positive integer${bound}: current value is ${value}`,
  );
}

/** Checks an option that is a duration in milliseconds; `Infinity` means no limit. */
export function checkDuration(name: string, value: number): void {
  if (typeof value === "number" && value >= 0) return; // NaN is not.
  throw new RangeError(
    `Cannot use "${name}" as it must be a number of milliseconds, zero or more: current value is ${value}`,
  );
}

/** The longest line any option may allow: beyond it no runtime can make a string of it. */
const GREATEST_LINE_BYTES = 268_435_456;

/** Defaults of the limits of the framing layer, and of what a connection queues. */
export const FRAMING_DEFAULTS = {
  maxLineBytes: 16_777_216,
  maxQueuedBytes: 1_048_576,
  readBufferBytes: 65_536,
  maxNestingDepth: 512,
} as const;

/** Checks the limits of the framing layer. */
export function checkFramingLimits(
  limits: { maxLineBytes: number; readBufferBytes?: number; maxNestingDepth: number },
): void {
  checkPositiveInteger("maxLineBytes", limits.maxLineBytes, GREATEST_LINE_BYTES);
  // Each level is a stack frame of the check itself.
  checkPositiveInteger("maxNestingDepth", limits.maxNestingDepth, 2_048);
  if (limits.readBufferBytes !== undefined) checkPositiveInteger("readBufferBytes", limits.readBufferBytes);
}

/**
 * The limits of the framing layer with their defaults.
 *
 * @throws {RangeError} If one cannot be used.
 */
export function resolveFramingLimits(
  limits: { readonly [Name in keyof typeof FRAMING_DEFAULTS]?: number | undefined },
): Record<keyof typeof FRAMING_DEFAULTS, number> {
  const all = { ...FRAMING_DEFAULTS, ...withoutUndefined(limits) };
  checkFramingLimits(all);
  return all;
}

/** Options without those that are absent: `undefined` means the same as no member. */
export function withoutUndefined<T extends object>(
  options: T,
): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const present = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}

/**
 * Looks for options that do not exist: one that is written for another fails, and others are told.
 *
 * @throws {TypeError} If an option is misspelt, or what another program calls it.
 */
export function checkKnownOptions(
  what: string,
  options: object,
  known: readonly string[],
  tell: (text: string) => void,
): void {
  // One that is undefined is not given.
  const given = Object.entries(options).filter(([, value]) => value !== undefined).map(([name]) => name);
  const unknown = given.filter((name) => !known.includes(name));
  for (const name of unknown) {
    const meant = findMeant(name, known);
    if (meant !== undefined && !Object.hasOwn(options, meant)) {
      throw new TypeError(
        `Cannot use ${what}: there is no option ${quoteText(name)}, did you mean "${meant}"?`,
      );
    }
  }
  if (unknown.length > 0) {
    tell(`${what} knows no option ${unknown.map((name) => quoteText(name)).join(", ")}`);
  }
}

/** What people write for a key, also those of other programs, in lower case and without signs. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  command: ["cmd", "exec", "program", "executable", "binary"],
  args: ["arguments", "argv", "params", "parameters"],
  env: ["environment", "environ", "variables", "vars", "envvars"],
  envFile: ["dotenv", "environmentfile"],
  cwd: ["workingdirectory", "workingdir", "workdir", "directory"],
  url: ["uri", "endpoint", "address"],
  type: ["transport"],
  inputSchema: ["parameters", "params", "paramsschema", "args", "arguments", "schema", "input", "inputs"],
  outputSchema: ["output", "outputs", "returns", "result", "resultschema"],
  call: ["execute", "handler", "handle", "run", "fn", "func", "callback", "cb", "invoke"],
  read: ["handler", "handle", "load", "callback", "cb", "fn", "get"],
  get: ["handler", "handle", "callback", "cb", "fn", "messages", "build", "render"],
  arguments: ["args", "argsschema", "parameters", "params"],
  info: ["serverinfo", "implementation", "server"],
  mcpServers: ["servers", "mcp", "mcpserver"],
  servers: ["mcpservers", "mcp", "server"],
};

/** The key that is meant by another one, if that can be guessed. */
export function findMeant(written: string, keys: readonly string[]): string | undefined {
  if (written.length > 40 || keys.includes(written)) return undefined;
  const plain = toPlain(written);
  const namesOf = (key: string) => [toPlain(key), ...(OTHER_NAMES[key] ?? [])];
  return keys.find((key) => namesOf(key).includes(plain)) ??
    keys.find((key) => namesOf(key).some((name) => isNear(name, plain)));
}

/** Whether a word may be the other one with a slip: in a short one there is no room for two. */
function isNear(name: string, written: string): boolean {
  const most = name.length > 4 ? 2 : 1;
  return Math.abs(name.length - written.length) <= most && distance(name, written) <= most;
}

function toPlain(key: string): string {
  return key.replaceAll(/[^A-Za-z]/g, "").toLowerCase();
}

/** How many letters must be put in, left out, replaced or swapped to make one word of another. */
export function distance(left: string, right: string): number {
  let before: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const next = [row];
    for (let column = 1; column <= right.length; column++) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      const isSwap = row > 1 && column > 1 && left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      next.push(Math.min(
        last[column]! + 1,
        next[column - 1]! + 1,
        last[column - 1]! + cost,
        isSwap ? before[column - 2]! + 1 : Infinity,
      ));
    }
    before = last;
    last = next;
  }
  return last[right.length]!;
}
