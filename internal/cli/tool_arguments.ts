/** The arguments of a tool or a prompt: from `key=value` words, from `--args`, and from who sits at the terminal. */

import { isJSONObject, type JSONObject } from "../../messages.ts";
import { nearest, parseObject } from "./arguments.ts";
import { UsageError } from "./command.ts";
import type { CliIo } from "./io.ts";
import { type Person, personAt } from "./person.ts";
import { describeSpec, type ObjectSpec, readValues, type ValueSpec } from "./schema_values.ts";
import { showLine } from "./shown_text.ts";

/** Where arguments come from. */
export interface ArgumentSources {
  /** What they are for, such as `call "roll"`. */
  readonly what: string;
  readonly spec: ObjectSpec;
  /** `key=value` and `key:=JSON`. */
  readonly words: readonly string[];
  /** Members that were given as JSON. */
  readonly given: JSONObject;
}

/**
 * Puts arguments together. What is missing is asked for on a terminal.
 *
 * @throws {UsageError} If a word cannot be read, or something is missing and there is nobody to ask.
 */
export async function gatherArguments(sources: ArgumentSources, io: CliIo): Promise<JSONObject> {
  const { spec, given, what } = sources;
  const args: JSONObject = { ...given, ...readWords(sources) };
  const missing = spec.members.filter(({ name, isRequired }) => isRequired && !Object.hasOwn(args, name));
  if (missing.length === 0) return args;
  const person = personAt(io);
  if (person === undefined) {
    const names = missing.map(({ name }) => JSON.stringify(showLine(name, 100)));
    const hints = missing.map((member) =>
      `  ${showLine(member.name, 100)}=…  ${aboutMember(member)}`.trimEnd()
    );
    throw new UsageError(
      `Cannot ${what}: ${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing\n${hints.join("\n")}`,
    );
  }
  for (const member of missing) args[member.name] = await askForMember(member, what, person);
  return args;
}

/** Asks until the answer can be read; the end of the input gives up. */
async function askForMember(member: ValueSpec, what: string, person: Person): Promise<unknown> {
  const answer = await person.askFor(member);
  if (answer === undefined) {
    throw new UsageError(`Cannot ${what}: ${JSON.stringify(showLine(member.name, 100))} is missing`);
  }
  return answer.value;
}

/** What a member is for, in a line. */
export function aboutMember(member: ValueSpec): string {
  const about = [describeSpec(member), member.description.split("\n")[0]!].filter((part) => part !== "");
  return showLine(about.join(": "), 300);
}

function readWords({ spec, words, what }: ArgumentSources): JSONObject {
  const texts = new Map<string, string[]>();
  const args: JSONObject = {};
  for (const word of words) {
    const match = /^([^=]*?)(:?)=([^]*)$/.exec(word);
    if (match === null || match[1] === "") {
      throw new UsageError(`Cannot ${what} with ${JSON.stringify(word)}: it is no key=value`);
    }
    const [, name = "", isJson, text = ""] = match;
    checkName(name, spec, what);
    if (isJson === ":") setOwn(args, name, parseMember(word, text, what));
    else texts.set(name, [...texts.get(name) ?? [], text]);
  }
  for (const [name, values] of texts) {
    const member = spec.members.find((candidate) => candidate.name === name);
    const read = member === undefined
      ? readValues({ ...ANYTHING, name }, values)
      : readValues(member, values);
    if ("problem" in read) {
      throw new UsageError(
        `Cannot ${what} with ${JSON.stringify(`${name}=${values.at(-1)}`)}: ${read.problem}`,
      );
    }
    setOwn(args, name, read.value);
  }
  return args;
}

const ANYTHING: ValueSpec = {
  name: "",
  kinds: [],
  options: [],
  optionNames: [],
  items: undefined,
  isRequired: false,
  default: undefined,
  description: "",
};

/** `__proto__` is a name like any other. */
function setOwn(target: JSONObject, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function checkName(name: string, { members, isOpen }: ObjectSpec, what: string): void {
  const names = members.map((member) => member.name);
  if (isOpen && names.length === 0 || names.includes(name)) return;
  const near = nearest(name, names);
  // An open object takes any name, but one that is nearly that of a member was mistyped.
  if (isOpen && near === undefined) return;
  const hint = near === undefined ? `it takes ${names.join(", ") || "none"}` : `but there is ${near}`;
  throw new UsageError(
    `Cannot ${what} with ${JSON.stringify(name)}: there is no such argument, ${showLine(hint)}`,
  );
}

function parseMember(word: string, text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`Cannot ${what} with ${JSON.stringify(word)}: what follows := is no JSON`, {
      cause,
    });
  }
}

/**
 * Reads the value of `--args`: JSON, a file behind `@`, or `-` for what is piped in.
 *
 * @throws {UsageError} If it is no JSON object.
 */
export async function readJsonArguments(value: string | undefined, io: CliIo): Promise<JSONObject> {
  if (value === undefined) return {};
  return parseObject("--args", await readSource(value, io), showLine(value, 100));
}

async function readSource(value: string, io: CliIo): Promise<string> {
  if (value === "-") return new TextDecoder().decode(await io.input.readAll());
  if (!value.startsWith("@")) return value;
  const path = value.slice(1);
  try {
    return await io.runtime.readTextFile(path);
  } catch (cause) {
    throw new UsageError(`Cannot read the arguments in ${JSON.stringify(path)}: ${String(cause)}`, { cause });
  }
}

/** What a prompt says of its arguments; all of them are text. */
export function promptSpec(listed: unknown): ObjectSpec {
  const members = (Array.isArray(listed) ? listed : []).filter(isJSONObject).map((member): ValueSpec => ({
    ...ANYTHING,
    name: String(member.name),
    kinds: ["string"],
    isRequired: member.required === true,
    description: typeof member.description === "string" ? member.description : "",
  }));
  return { members, isOpen: true };
}
