/** Reads one server's entry: what it would start, or everything that is wrong with it at once. */

import { quoteText } from "../shown_text.ts";
import { parseEnvFile } from "./env_file.ts";
import { expandTemplate, parseTemplate, type Resolution } from "./expansion.ts";
import { findMember, type JsonMember, type JsonNode, listRepeated } from "./jsonc.ts";
import { isAbsolutePath, type PathSystem, resolvePath } from "./paths.ts";

/** Something that is wrong with an entry, and where. */
export interface EntryProblem {
  readonly field: string;
  readonly message: string;
  readonly offset: number;
  readonly variable?: string | undefined;
}

/** What an entry says. */
export type EntryOutcome =
  | { readonly kind: "stdio"; readonly launch: EntryLaunch; readonly masked: EntryLaunch }
  | { readonly kind: "remote"; readonly url: string }
  | { readonly kind: "invalid"; readonly problems: readonly EntryProblem[] };

/** What would be started; in its `masked` form secrets are replaced by `…`. */
export interface EntryLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | null>>;
  readonly cwd?: string;
}

/** What is the same for all entries of a file. */
export interface EntrySettings {
  readonly os: PathSystem;
  /** What a relative `cwd` is seen from; undefined for a text that came from no file. */
  readonly folder: string | undefined;
  /** Whether `null` removes a variable. */
  readonly nullRemoves: boolean;
  /** What a leading `~` stands for; undefined if it stands for itself. */
  readonly tilde: (() => string | undefined) | undefined;
  resolve(name: string): Promise<Resolution>;
  readFile?: ((path: string) => Promise<string>) | undefined;
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

/** Reads an entry. */
export function readEntry(node: JsonNode, settings: EntrySettings): Promise<EntryOutcome> {
  return new EntryReader(settings).read(node);
}

/** The command line of an entry as it is written, for one that cannot be started; undefined if there is none. */
export function readWritten(
  node: JsonNode,
): { command: string; args: string[]; env: Record<string, string> } | undefined {
  const command = findMember(node, "command")?.value;
  if (command?.kind !== "string") return undefined;
  const args = findMember(node, "args")?.value;
  const env = findMember(node, "env")?.value;
  return {
    command: command.value,
    args: args?.kind === "array" ? args.items.map((item) => item.kind === "string" ? item.value : "?") : [],
    env: Object.fromEntries(env?.kind === "object" ? env.members.map(({ key }) => [key, "…"]) : []),
  };
}

/** A string of the file with everything put in. */
interface Expanded {
  readonly text: string;
  readonly shown: string;
}

class EntryReader {
  readonly #settings: EntrySettings;
  readonly #problems: EntryProblem[] = [];

  constructor(settings: EntrySettings) {
    this.#settings = settings;
  }

  async read(node: JsonNode): Promise<EntryOutcome> {
    if (node.kind !== "object") {
      this.#add("", node, `the entry must be an object, but is ${describe(node)}`);
      return { kind: "invalid", problems: this.#problems };
    }
    this.#checkRepeated("", node.members);
    const type = this.#readType(node);
    if (type === "remote") return this.#readRemote(node);
    const command = await this.#readCommand(node);
    const args = await this.#readArgs(node);
    const env = await this.#readEnv(node);
    const cwd = await this.#readCwd(node);
    const launch = toLaunch((expanded) => expanded.text, command, args, env, cwd);
    const masked = toLaunch((expanded) => expanded.shown, command, args, env, cwd);
    return this.#problems.length === 0
      ? { kind: "stdio", launch, masked }
      : { kind: "invalid", problems: this.#problems };
  }

  #readType(node: JsonNode): "stdio" | "remote" {
    const type = findMember(node, "type")?.value;
    if (type === undefined) {
      const isRemote = findMember(node, "command") === undefined && findUrl(node) !== undefined;
      return isRemote ? "remote" : "stdio";
    }
    if (type.kind !== "string") {
      this.#add("type", type, `"type" must be a string, but is ${describe(type)}`);
      return "stdio";
    }
    if (REMOTE_TYPES.includes(type.value)) return "remote";
    if (type.value !== "stdio") this.#add("type", type, `"type" is not known: ${quoteText(type.value)}`);
    return "stdio";
  }

  #readRemote(node: JsonNode): EntryOutcome {
    const url = findUrl(node)?.value;
    if (url?.kind === "string" && url.value !== "" && this.#problems.length === 0) {
      return { kind: "remote", url: url.value };
    }
    if (url === undefined) this.#add("url", node, `"url" is missing`);
    else if (url.kind !== "string") this.#add("url", url, `"url" must be a string, but is ${describe(url)}`);
    else if (url.value === "") this.#add("url", url, `"url" is empty`);
    return { kind: "invalid", problems: this.#problems };
  }

  async #readCommand(node: JsonNode): Promise<Expanded | undefined> {
    const command = findMember(node, "command");
    if (command === undefined) {
      this.#add("command", node, `"command" is missing`);
      return undefined;
    }
    return await this.#readText("command", command.value, { isPath: true, isRequired: true });
  }

  async #readArgs(node: JsonNode): Promise<Expanded[]> {
    const args = findMember(node, "args")?.value;
    if (args === undefined) return [];
    if (args.kind !== "array") {
      this.#add("args", args, `"args" must be an array of strings, but is ${describe(args)}`);
      return [];
    }
    const texts: Expanded[] = [];
    for (const [index, item] of args.items.entries()) {
      const text = await this.#readText(`args[${index}]`, item, { isPath: true });
      if (text !== undefined) texts.push(text);
    }
    return texts;
  }

  async #readEnv(node: JsonNode): Promise<Map<string, Expanded | null>> {
    const variables = await this.#readEnvFile(node);
    const env = findMember(node, "env")?.value;
    if (env === undefined) return variables;
    if (env.kind !== "object") {
      this.#add("env", env, `"env" must be an object of strings, but is ${describe(env)}`);
      return variables;
    }
    this.#checkRepeated("env.", env.members);
    for (const { key, offset, value } of env.members) {
      const field = `env.${key}`;
      if (key === "" || /[=\0]/.test(key)) {
        const message = `${quoteText(field)} must have a name without "=" and NUL characters`;
        this.#problems.push({ field, message, offset });
      } else if (value.kind === "number" || value.kind === "boolean") {
        const text = value.kind === "number" ? value.text : String(value.value);
        variables.set(key, { text, shown: text });
      } else if (value.kind === "null" && this.#settings.nullRemoves) {
        variables.set(key, null);
      } else {
        const text = await this.#readText(field, value, {});
        if (text !== undefined) variables.set(key, text);
      }
    }
    return variables;
  }

  async #readEnvFile(node: JsonNode): Promise<Map<string, Expanded | null>> {
    const member = findMember(node, "envFile");
    const variables = new Map<string, Expanded | null>();
    if (member === undefined) return variables;
    const path = await this.#readText("envFile", member.value, { isPath: true, isRequired: true });
    if (path === undefined) return variables;
    const { os, folder, readFile } = this.#settings;
    const fail = (message: string) =>
      this.#add("envFile", member.value, `"envFile" cannot be read: ${message}`);
    if (readFile === undefined) {
      fail("no file can be read here");
      return variables;
    }
    try {
      const text = await readFile(folder === undefined ? path.text : resolvePath(os, folder, path.text));
      const file = parseEnvFile(text);
      for (const line of file.badLines) fail(`line ${line} is no NAME=value`);
      for (const [name, value] of file.variables) variables.set(name, { text: value, shown: value });
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
    return variables;
  }

  async #readCwd(node: JsonNode): Promise<Expanded | undefined> {
    const cwd = findMember(node, "cwd");
    if (cwd === undefined) return undefined;
    const path = await this.#readText("cwd", cwd.value, { isPath: true, isRequired: true });
    const { os, folder } = this.#settings;
    if (path === undefined || folder === undefined || isAbsolutePath(os, path.text)) return path;
    return { text: resolvePath(os, folder, path.text), shown: resolvePath(os, folder, path.shown) };
  }

  async #readText(
    field: string,
    node: JsonNode,
    { isPath = false, isRequired = false }: { isPath?: boolean; isRequired?: boolean },
  ): Promise<Expanded | undefined> {
    const name = quoteText(field);
    if (node.kind !== "string") {
      this.#add(field, node, `${name} must be a string, but is ${describe(node)}`);
      return undefined;
    }
    const template = parseTemplate(node.value);
    if (template.kind === "fault") {
      this.#add(field, node, `${name} ${template.message}`);
      return undefined;
    }
    const { text, shown, problems } = await expandTemplate(
      template.parts,
      (ref) => this.#settings.resolve(ref),
    );
    for (const problem of problems) {
      const variable = problem.kind === "unset" ? problem.variable : undefined;
      this.#add(field, node, `${name} cannot be expanded: ${problem.message}`, variable);
    }
    if (problems.length > 0) return undefined;
    if (text.includes("\0")) this.#add(field, node, `${name} holds a NUL character`);
    else if (isRequired && text === "") this.#add(field, node, `${name} is empty`);
    else if (isPath && /^~(?:$|[\\/])/.test(node.value)) {
      return this.#expandTilde(field, node, { text, shown });
    } else return { text, shown };
    return undefined;
  }

  #expandTilde(field: string, node: JsonNode, path: Expanded): Expanded | undefined {
    const { tilde } = this.#settings;
    if (tilde === undefined) return path;
    const home = tilde();
    if (home !== undefined) return { text: home + path.text.slice(1), shown: home + path.shown.slice(1) };
    this.#add(field, node, `${quoteText(field)} begins with "~", and the home folder is not known`);
    return undefined;
  }

  #checkRepeated(prefix: string, members: readonly JsonMember[]): void {
    for (const { key, offset } of listRepeated(members)) {
      const field = prefix + key;
      this.#problems.push({ field, message: `${quoteText(field)} stands more than once`, offset });
    }
  }

  #add(field: string, node: JsonNode, message: string, variable?: string): void {
    this.#problems.push({ field, message, offset: node.offset, variable });
  }
}

function findUrl(node: JsonNode): JsonMember | undefined {
  return URL_KEYS.map((key) => findMember(node, key)).find((member) => member !== undefined);
}

function describe(node: JsonNode): string {
  if (node.kind === "null") return "null";
  return `${/^[aeiou]/.test(node.kind) ? "an" : "a"} ${node.kind}`;
}

function toLaunch(
  pick: (expanded: Expanded) => string,
  command: Expanded | undefined,
  args: readonly Expanded[],
  env: ReadonlyMap<string, Expanded | null>,
  cwd: Expanded | undefined,
): EntryLaunch {
  return {
    command: command === undefined ? "" : pick(command),
    args: args.map(pick),
    env: Object.fromEntries([...env].map(([name, value]) => [name, value === null ? null : pick(value)])),
    ...(cwd === undefined ? {} : { cwd: pick(cwd) }),
  };
}
