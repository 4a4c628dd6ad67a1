/** Reads one server's entry: what it would start, or everything that is wrong with it at once. */

import { quoteText } from "../shown_text.ts";
import type { DialectRules } from "./dialects.ts";
import {
  ARGUMENT,
  type Expanded,
  type MaybePromise,
  PLACE,
  TextReader,
  type TextSettings,
  VALUE,
} from "./entry_text.ts";
import {
  describeNode,
  findMember,
  GREATEST_PARTS,
  type JsonArray,
  type JsonMember,
  type JsonNode,
  type JsonObject,
  listRepeated,
} from "./json_tree.ts";
import { isAbsolutePath, type PathSystem, resolvePath } from "./paths.ts";
import { type EntryProblem, type ProblemBudget, ProblemList } from "./problems.ts";
import type { HostServerLaunch } from "./shapes.ts";
import { findMeant } from "../options.ts";

/** What an entry says. In its `shown` form it has nothing that a person should not see. */
export type EntryOutcome =
  | {
    readonly kind: "stdio";
    readonly launch: HostServerLaunch;
    readonly shown: HostServerLaunch;
    readonly strangers: readonly Stranger[];
  }
  | { readonly kind: "remote"; readonly url: string; readonly strangers: readonly Stranger[] }
  | { readonly kind: "invalid"; readonly problems: ProblemList; readonly strangers: readonly Stranger[] };

/** A key that nobody reads, and the one that it looks like. */
export interface Stranger {
  readonly key: string;
  readonly meant: string;
}

/** What is the same for all entries of a file. */
export interface EntrySettings extends TextSettings {
  readonly os: PathSystem;
  readonly rules: DialectRules;
  /** What a relative path is seen from; undefined for a text that came from no file. */
  readonly folder: string | undefined;
  /** How many unknown keys may still be compared with the known ones, for the file as a whole. */
  readonly guesses: { left: number };
  readonly problems: ProblemBudget;
}

const REMOTE_TYPES = [
  "http",
  "sse",
  "streamable-http",
  "streamableHttp",
  "streamable_http",
  "ws",
  "websocket",
];
const URL_KEYS = ["url", "serverUrl", "httpUrl"];
/** The keys that are read, and those that often stand beside them. */
const ENTRY_KEYS = [
  "command",
  "args",
  "env",
  "envFile",
  "cwd",
  "type",
  ...URL_KEYS,
  "headers",
  "disabled",
  "enabled",
];

/** Reads an entry. */
export function readEntry(node: JsonNode, settings: EntrySettings): Promise<EntryOutcome> {
  return new EntryReader(settings).read(node);
}

/** What is said of an entry that is not read, for one reason. */
export function toFault(problem: EntryProblem, settings: EntrySettings): EntryOutcome {
  const problems = new ProblemList(settings.problems);
  problems.add(problem);
  return { kind: "invalid", problems, strangers: [] };
}

/** The command line of an entry as it is written, for one that cannot be started; undefined if there is none. */
export function readWritten(
  node: JsonNode,
): { command: string; args: string[]; env: Record<string, string> } | undefined {
  const command = findMember(node, "command")?.value;
  if (command?.kind !== "string") return undefined;
  const args = findMember(node, "args")?.value;
  const env = findMember(node, "env")?.value;
  const toText = (value: JsonNode) => value.kind === "string" ? value.value : "?";
  return {
    command: command.value,
    args: args?.kind === "array" ? args.items.map(toText) : [],
    env: Object.fromEntries(
      env?.kind === "object" ? env.members.map(({ key, value }) => [key, toText(value)]) : [],
    ),
  };
}

class EntryReader {
  readonly #settings: EntrySettings;
  readonly #problems: ProblemList;
  readonly #texts: TextReader;

  constructor(settings: EntrySettings) {
    this.#settings = settings;
    this.#problems = new ProblemList(settings.problems);
    this.#texts = new TextReader(settings, this.#problems);
  }

  async read(node: JsonNode): Promise<EntryOutcome> {
    if (node.kind !== "object") {
      this.#add("", node, `the entry must be an object, but is ${describeNode(node)}`);
      return { kind: "invalid", problems: this.#problems, strangers: [] };
    }
    this.#checkParts("", node);
    const strangers = this.#findStrangers(node);
    if (this.#readType(node) === "remote") return this.#readRemote(node, strangers);
    const command = await this.#readCommand(node, strangers);
    const args = await this.#readArgs(node);
    const env = await this.#readEnv(node);
    const envFile = await this.#readPath("envFile", node);
    const cwd = await this.#readPath("cwd", node);
    if (this.#problems.count > 0) return { kind: "invalid", problems: this.#problems, strangers };
    const launch = toLaunch((expanded) => expanded.text, command, args, env, envFile, cwd);
    const shown = toLaunch((expanded) => expanded.shown, command, args, env, envFile, cwd);
    return { kind: "stdio", launch, shown, strangers };
  }

  #readType(node: JsonObject): "stdio" | "remote" {
    const type = node.find("type")?.value;
    if (type === undefined) {
      const isRemote = node.find("command") === undefined && findUrl(node) !== undefined;
      return isRemote ? "remote" : "stdio";
    }
    if (type.kind !== "string") {
      this.#add("type", type, `"type" must be a string, but is ${describeNode(type)}`);
      return "stdio";
    }
    if (REMOTE_TYPES.includes(type.value)) return "remote";
    if (type.value !== "stdio") this.#add("type", type, `"type" is not known: ${quoteText(type.value)}`);
    return "stdio";
  }

  #readRemote(node: JsonObject, strangers: readonly Stranger[]): EntryOutcome {
    const url = findUrl(node)?.value;
    if (url === undefined) this.#add("url", node, `"url" is missing${guess("url", strangers)}`);
    else if (url.kind !== "string") {
      this.#add("url", url, `"url" must be a string, but is ${describeNode(url)}`);
    } else if (url.value === "") this.#add("url", url, `"url" is empty`);
    else if (this.#problems.count === 0) return { kind: "remote", url: url.value, strangers };
    return { kind: "invalid", problems: this.#problems, strangers };
  }

  async #readCommand(node: JsonObject, strangers: readonly Stranger[]): Promise<Expanded | undefined> {
    const command = node.find("command");
    if (command !== undefined) return await this.#texts.read("command", command.value, PLACE);
    this.#add("command", node, `"command" is missing${guess("command", strangers)}`);
    return undefined;
  }

  async #readArgs(node: JsonObject): Promise<Expanded[]> {
    const args = node.find("args")?.value;
    if (args === undefined) return [];
    if (args.kind !== "array") {
      this.#add("args", args, `"args" must be an array of strings, but is ${describeNode(args)}`);
      return [];
    }
    this.#checkParts("args", args);
    const texts: Expanded[] = [];
    for (const [index, item] of args.items.entries()) {
      if (this.#problems.isFull) break;
      const text = this.#texts.read(`args[${index}]`, item, ARGUMENT);
      const expanded = text instanceof Promise ? await text : text;
      if (expanded !== undefined) texts.push(expanded);
    }
    return texts;
  }

  async #readEnv(node: JsonObject): Promise<Map<string, Expanded | null>> {
    const variables = new Map<string, Expanded | null>();
    const env = node.find("env")?.value;
    if (env === undefined) return variables;
    if (env.kind !== "object") {
      this.#add("env", env, `"env" must be an object of strings, but is ${describeNode(env)}`);
      return variables;
    }
    this.#checkParts("env", env);
    for (const member of env.members) {
      if (this.#problems.isFull) break;
      const value = this.#readVariable(member);
      const expanded = value instanceof Promise ? await value : value;
      if (expanded !== undefined) variables.set(member.key, expanded);
    }
    return variables;
  }

  #readVariable({ key, offset, value }: JsonMember): MaybePromise<Expanded | null | undefined> {
    const field = `env.${key}`;
    if (key === "" || /[=\0]/.test(key)) {
      this.#problems.add({
        field,
        message: `${quoteText(field)} must have a name without "=" and NUL characters`,
        offset,
      });
      return undefined;
    }
    if (value.kind === "number" || value.kind === "boolean") {
      const text = value.kind === "number" ? value.text : String(value.value);
      return { text, shown: text };
    }
    if (value.kind === "null" && this.#settings.rules.nullRemoves) return null;
    return this.#texts.read(field, value, VALUE);
  }

  async #readPath(field: "envFile" | "cwd", node: JsonObject): Promise<Expanded | undefined> {
    const member = node.find(field);
    if (member === undefined) return undefined;
    const path = await this.#texts.read(field, member.value, PLACE);
    const { os, folder } = this.#settings;
    if (path === undefined || folder === undefined || isAbsolutePath(os, path.text)) return path;
    return { text: resolvePath(os, folder, path.text), shown: resolvePath(os, folder, path.shown) };
  }

  #checkParts(field: "" | "args" | "env", node: JsonObject | JsonArray): void {
    if (node.isCut) {
      const name = field === "" ? "the entry" : quoteText(field);
      this.#add(field, node, `${name} has more than ${GREATEST_PARTS} parts`);
    }
    if (node.kind === "array") return;
    const prefix = field === "" ? "" : `${field}.`;
    for (const { key, offset } of listRepeated(node.members)) {
      const field = prefix + key;
      this.#problems.add({ field, message: `${quoteText(field)} stands more than once`, offset });
    }
  }

  /** Finds keys that look like others that are not there. */
  #findStrangers(node: JsonObject): Stranger[] {
    const { guesses } = this.#settings;
    return node.members.flatMap(({ key }) => {
      if (ENTRY_KEYS.includes(key) || guesses.left-- <= 0) return [];
      const meant = findMeant(key, ENTRY_KEYS);
      return meant === undefined || node.find(meant) !== undefined ? [] : [{ key, meant }];
    });
  }

  #add(field: string, { offset }: JsonNode, message: string): void {
    this.#problems.add({ field, message, offset });
  }
}

function findUrl(node: JsonObject): JsonMember | undefined {
  return URL_KEYS.map((key) => node.find(key)).find((member) => member !== undefined);
}

function guess(key: string, strangers: readonly Stranger[]): string {
  const stranger = strangers.find(({ meant }) => meant === key);
  return stranger === undefined ? "" : `: did you mean it by ${quoteText(stranger.key)}?`;
}

function toLaunch(
  pick: (expanded: Expanded) => string,
  command: Expanded | undefined,
  args: readonly Expanded[],
  env: ReadonlyMap<string, Expanded | null>,
  envFile: Expanded | undefined,
  cwd: Expanded | undefined,
): HostServerLaunch {
  return {
    command: command === undefined ? "" : pick(command),
    args: args.map(pick),
    env: Object.fromEntries(Array.from(env, ([name, value]) => [name, value === null ? null : pick(value)])),
    ...(cwd === undefined ? {} : { cwd: pick(cwd) }),
    ...(envFile === undefined ? {} : { envFile: pick(envFile) }),
  };
}
