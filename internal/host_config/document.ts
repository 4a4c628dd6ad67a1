/** Reads a host's whole file: finds its servers, reads each by itself, and says what would run. */

import { HostConfigError, type HostConfigErrorCode, type HostConfigProblem } from "../../errors.ts";
import { formatCommandLine } from "../command_line.ts";
import { quoteText } from "../shown_text.ts";
import { getVariable } from "../environment.ts";
import { detectDialect, type Dialect, getServersKey } from "./dialects.ts";
import { type EntryLaunch, type EntryOutcome, type EntrySettings, readEntry, readWritten } from "./entry.ts";
import { fingerprintEntry, fingerprintLaunch } from "./fingerprint.ts";
import {
  findMember,
  type JsonMember,
  type JsonNode,
  JsonSyntaxError,
  listRepeated,
  locate,
  parseJsonc,
  toValue,
} from "./jsonc.ts";
import { getBaseName, getFolder, type PathSystem } from "./paths.ts";
import { createResolver, type Input } from "./references.ts";

/** Where a text comes from and what is put into it. */
export interface DocumentSources {
  readonly path: string | undefined;
  readonly os: PathSystem;
  readonly dialect: Dialect | "auto";
  readonly homeDirectory: string | undefined;
  readonly workspaceFolder: string | undefined;
  readonly expandTilde: boolean;
  readonly env: Readonly<Record<string, string>> | ((name: string) => string | undefined);
  readonly resolveInput:
    | ((input: DocumentInput) => string | undefined | Promise<string | undefined>)
    | undefined;
  readonly readTextFile: ((path: string) => Promise<string>) | undefined;
}

/** An input with all that is known of it. */
export interface DocumentInput extends Input {
  readonly type: string;
  readonly description?: string | undefined;
  readonly options: readonly string[];
}

/** A server of a file. */
export type DocumentServer =
  & { name: string; raw: unknown; disabled: boolean; commandLine: string; fingerprint: string }
  & (
    | { kind: "stdio"; launch: DocumentLaunch }
    | { kind: "remote"; url: string }
    | { kind: "invalid"; error: HostConfigError }
  );

/** What to start. */
export interface DocumentLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | null>>;
  readonly cwd?: string;
}

/** What a file says. */
export interface Document {
  readonly path: string | undefined;
  readonly dialect: Dialect;
  readonly servers: readonly DocumentServer[];
  readonly inputs: readonly DocumentInput[];
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Reads the text of a file. */
export async function readDocument(text: string, sources: DocumentSources): Promise<Document> {
  return await new DocumentReader(text.replace(/^\ufeff/, ""), sources).read();
}

/** A message names no more problems than this; the error holds them all. */
const GREATEST_SHOWN_PROBLEMS = 20;

type ObjectNode = Extract<JsonNode, { kind: "object" }>;

class DocumentReader {
  readonly #text: string;
  readonly #sources: DocumentSources;

  constructor(text: string, sources: DocumentSources) {
    this.#text = text;
    this.#sources = sources;
  }

  async read(): Promise<Document> {
    const root = this.#readRoot();
    const keys = root.members.map(({ key }) => key);
    const { path, dialect: wanted } = this.#sources;
    const dialect = wanted === "auto" ? detectDialect(path, keys) : wanted;
    const members = this.#findServers(root, dialect);
    const inputs = dialect === "vscode" ? readInputs(root) : [];
    const settings = this.#toSettings(dialect, inputs);
    const repeated = new Set(listRepeated(members).map(({ key }) => key));
    const servers: DocumentServer[] = [];
    for (
      const member of members.filter((member, index) => members.findIndex(isNamed(member.key)) === index)
    ) {
      servers.push(await this.#readServer(member, repeated.has(member.key), settings));
    }
    return { path, dialect, servers, inputs, raw: toValue(root) as Record<string, unknown> };
  }

  #readRoot(): ObjectNode {
    // What another encoding looks like when it is read as UTF-8.
    if (/^(?:\ufffd|.?\0)/s.test(this.#text)) {
      throw this.#fail("the text is not UTF-8, it looks like UTF-16", 0);
    }
    try {
      const root = parseJsonc(this.#text);
      if (root.kind === "object") return root;
      throw this.#fail("the file must hold an object", root.offset);
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw this.#fail(error.message, error.offset);
      throw error;
    }
  }

  #findServers(root: ObjectNode, dialect: Dialect): readonly JsonMember[] {
    const key = getServersKey(dialect);
    const member = findMember(root, key);
    if (member === undefined) {
      if (dialect === "claude_desktop") return [];
      throw this.#fail(
        `there is no "${key}", which holds the servers in the dialect "${dialect}"`,
        root.offset,
      );
    }
    const again = listRepeated(root.members).find(isNamed(key));
    if (again !== undefined) throw this.#fail(`"${key}" stands more than once`, again.offset);
    if (member.value.kind !== "object") throw this.#fail(`"${key}" must be an object`, member.value.offset);
    return member.value.members;
  }

  #toSettings(dialect: Dialect, inputs: readonly DocumentInput[]): EntrySettings {
    const { path, os, env, expandTilde, resolveInput, readTextFile } = this.#sources;
    const lookUp = typeof env === "function" ? env : (name: string) => getVariable(os, env, name);
    const home = () => this.#sources.homeDirectory ?? lookUp(os === "windows" ? "USERPROFILE" : "HOME");
    const folder = path === undefined ? undefined : getFolder(os, path);
    const isEditorFolder = folder !== undefined && /^\.(?:vscode|cursor)$/.test(getBaseName(os, folder));
    const project = isEditorFolder ? getFolder(os, folder) : undefined;
    const resolve = createResolver({
      dialect,
      os,
      inputs,
      // The folder of a person's own `~/.cursor` is no workspace.
      workspaceFolder: () => this.#sources.workspaceFolder ?? (project === home() ? undefined : project),
      lookUp,
      homeDirectory: home,
      resolveInput,
    });
    return {
      os,
      folder: project ?? folder,
      nullRemoves: dialect === "vscode",
      tilde: expandTilde ? home : undefined,
      resolve,
      readFile: readTextFile,
    };
  }

  async #readServer(
    member: JsonMember,
    isRepeated: boolean,
    settings: EntrySettings,
  ): Promise<DocumentServer> {
    const { key: name, value: node } = member;
    const raw = toValue(node);
    const base = { name, raw, disabled: isDisabled(node) };
    const outcome: EntryOutcome = isRepeated
      ? {
        kind: "invalid" as const,
        problems: [{ field: "", message: "it stands more than once", offset: member.offset }],
      }
      : await readEntry(node, settings);
    const { os } = settings;
    if (outcome.kind === "stdio") {
      const launch = freezeLaunch(outcome.launch);
      const commandLine = formatCommandLine(outcome.masked, { os });
      return Object.freeze({
        ...base,
        kind: "stdio" as const,
        launch,
        commandLine,
        fingerprint: await fingerprintLaunch(launch),
      });
    }
    const fingerprint = await fingerprintEntry(raw);
    if (outcome.kind === "remote") {
      const { url } = outcome;
      const commandLine = formatCommandLine({ command: maskUrl(url), args: [] }, { os });
      return Object.freeze({ ...base, kind: "remote" as const, url, commandLine, fingerprint });
    }
    const written = readWritten(node);
    const commandLine = written === undefined ? "" : formatCommandLine(written, { os });
    return Object.freeze({
      ...base,
      kind: "invalid" as const,
      error: this.#toError(name, outcome),
      commandLine,
      fingerprint,
    });
  }

  #toError(server: string, outcome: Extract<EntryOutcome, { kind: "invalid" }>): HostConfigError {
    const problems = outcome.problems.map(({ offset, ...problem }) => ({
      ...problem,
      ...locate(this.#text, offset),
    }));
    const variable = problems.find((problem) => problem.variable !== undefined)?.variable;
    const isMissing = problems.every((problem) => problem.variable !== undefined);
    const shown = problems.slice(0, GREATEST_SHOWN_PROBLEMS);
    const reasons = shown.map(({ message, line, column }) => `${message} (line ${line}, column ${column})`);
    if (shown.length < problems.length) reasons.push(`${problems.length - shown.length} more problems`);
    const message = `Cannot use the server ${quoteText(server)}${this.#where(" in ")}: ${reasons.join("; ")}`;
    return this.#error(
      isMissing ? "missing_variable" : "invalid_config",
      message,
      problems,
      server,
      variable,
    );
  }

  #fail(message: string, offset: number): HostConfigError {
    const place = locate(this.#text, offset);
    const text = `Cannot read the host configuration${this.#where(" ")}: ${message}`;
    const problem = { field: "", message, ...place };
    return this.#error("invalid_config", `${text} (line ${place.line}, column ${place.column})`, [problem]);
  }

  #error(
    code: HostConfigErrorCode,
    message: string,
    problems: readonly HostConfigProblem[],
    server?: string,
    variable?: string,
  ): HostConfigError {
    return new HostConfigError(code, message, { path: this.#sources.path, server, variable, problems });
  }

  #where(before: string): string {
    const { path } = this.#sources;
    return path === undefined ? "" : before + quoteText(path);
  }
}

function isNamed(key: string): (member: JsonMember) => boolean {
  return (member) => member.key === key;
}

function isDisabled(node: JsonNode): boolean {
  const isSet = (key: string, wanted: boolean) => {
    const value = findMember(node, key)?.value;
    return value?.kind === "boolean" && value.value === wanted;
  };
  return isSet("disabled", true) || isSet("enabled", false);
}

/** An address without what may be secret: who asks, and the query. */
function maskUrl(url: string): string {
  return url.replace(/^([^/?#]*\/\/)[^/?#]*@/, "$1…@").replace(/\?[^#]*/, "?…");
}

/** What was agreed to is what runs: nobody changes it in between. */
function freezeLaunch(launch: EntryLaunch): DocumentLaunch {
  const { command, args, env, cwd } = launch;
  return Object.freeze({
    command,
    args: Object.freeze([...args]),
    env: Object.freeze(env),
    ...(cwd === undefined ? {} : { cwd }),
  });
}

function readInputs(root: ObjectNode): DocumentInput[] {
  const inputs = findMember(root, "inputs")?.value;
  if (inputs?.kind !== "array") return [];
  return inputs.items.flatMap((node) => {
    const getText = (key: string): string | undefined => {
      const value = findMember(node, key)?.value;
      return value?.kind === "string" ? value.value : undefined;
    };
    const id = getText("id");
    if (id === undefined) return [];
    const password = findMember(node, "password")?.value;
    const options = findMember(node, "options")?.value;
    return [{
      id,
      type: getText("type") ?? "promptString",
      description: getText("description"),
      default: getText("default"),
      password: password?.kind === "boolean" && password.value,
      options: options?.kind === "array"
        ? options.items.flatMap((item) => item.kind === "string" ? [item.value] : [])
        : [],
    }];
  });
}
