/** Reads a host's whole file: finds its servers, reads each by itself, and says what would run. */

import { HostConfigError, type HostConfigErrorCode, type HostConfigProblem } from "../../errors.ts";
import { formatCommandLine } from "../command_line.ts";
import { getVariable } from "../variables.ts";
import { quoteText } from "../shown_text.ts";
import { detectDialect, DIALECTS, type HostConfigDialect, isEditorFolder } from "./dialects.ts";
import { type EntryOutcome, type EntrySettings, readEntry, readWritten, toFault } from "./entry.ts";
import { fingerprintEntry, fingerprintLaunch } from "./fingerprint.ts";
import { readInputs } from "./inputs.ts";
import {
  GREATEST_PARTS,
  type JsonMember,
  type JsonNode,
  type JsonObject,
  listRepeated,
  readJsonTree,
  toValue,
} from "./json_tree.ts";
import { JsonSyntaxError, toPlainJson } from "./jsonc.ts";
import { findOtherShape } from "./other_shapes.ts";
import { getBaseName, getFolder, type PathSystem } from "./paths.ts";
import type { ProblemList } from "./problems.ts";
import { References } from "./references.ts";
import type { HostConfig, HostConfigInput, HostServer, HostServerLaunch } from "./shapes.ts";
import { TextPlaces } from "./text_places.ts";
import { listWarnings } from "./warnings.ts";

/** Where a text comes from and what is put into it. */
export interface DocumentSources {
  readonly path: string | undefined;
  readonly os: PathSystem;
  readonly dialect: HostConfigDialect | "auto";
  readonly homeDirectory: string | undefined;
  readonly workspaceFolder: string | undefined;
  readonly expandTilde: boolean;
  readonly env: Readonly<Record<string, string>> | ((name: string) => string | undefined);
  readonly resolveInput:
    | ((input: HostConfigInput) => string | undefined | Promise<string | undefined>)
    | undefined;
}

/** The longest text, in bytes of a file and in characters: settings with a long history have some megabytes. */
export const GREATEST_CONFIG_LENGTH = 33_554_432;
const GREATEST_SERVERS = 20_000;
/** A message names no more problems than this; the error holds them all. */
const GREATEST_SHOWN_PROBLEMS = 20;

/** Reads the text of a file. */
export async function readDocument(text: string, sources: DocumentSources): Promise<HostConfig> {
  return await new DocumentReader(text.replace(/^\ufeff/, ""), sources).read();
}

class DocumentReader {
  readonly #text: string;
  readonly #places: TextPlaces;
  readonly #sources: DocumentSources;

  constructor(text: string, sources: DocumentSources) {
    this.#text = text;
    this.#places = new TextPlaces(text);
    this.#sources = sources;
  }

  async read(): Promise<HostConfig> {
    const root = this.#readRoot();
    const { path, dialect: wanted } = this.#sources;
    const dialect = wanted === "auto" ? detectDialect(path, (key) => root.find(key) !== undefined) : wanted;
    const members = this.#findServers(root, dialect);
    const inputs = DIALECTS[dialect].prefixes.includes("input") ? readInputs(root) : [];
    const settings = this.#toSettings(dialect, inputs);
    const repeated = new Set(listRepeated(members).map(({ key }) => key));
    const raw = toValue(root) as HostConfig["raw"];
    const rawServers = (raw[DIALECTS[dialect].serversKey] ?? {}) as Record<string, unknown>;
    // A digest takes long to come, so that no server waits for that of another.
    const servers: Promise<HostServer>[] = [];
    for (const { key, value, offset } of keepFirst(members)) {
      const outcome = repeated.has(key)
        ? toFault({ field: "", message: "it stands more than once", offset }, settings)
        : await readEntry(value, settings);
      servers.push(this.#toServer(key, value, rawServers[key], outcome));
    }
    return { path, dialect, servers: await Promise.all(servers), inputs, raw };
  }

  #readRoot(): JsonObject {
    if (this.#text.length > GREATEST_CONFIG_LENGTH) {
      throw this.#fail(`the text has more than ${GREATEST_CONFIG_LENGTH} characters`, 0);
    }
    // What another encoding looks like when it is read as UTF-8.
    if (/^(?:\ufffd|.?\0)/s.test(this.#text)) {
      throw this.#fail("the text is not UTF-8, it looks like UTF-16", 0);
    }
    try {
      const root = readJsonTree(toPlainJson(this.#text));
      if (root.kind !== "object") throw this.#fail("the file must hold an object", root.offset);
      if (root.isCut) throw this.#fail(`the file has more than ${GREATEST_PARTS} keys`, root.offset);
      return root;
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw this.#fail(error.message, error.offset);
      throw error;
    }
  }

  #findServers(root: JsonObject, dialect: HostConfigDialect): readonly JsonMember[] {
    const { serversKey: key, mayBeEmpty } = DIALECTS[dialect];
    const servers = root.find(key)?.value;
    if (servers === undefined) {
      const other = findOtherShape(root, dialect);
      if (mayBeEmpty && other === undefined) return [];
      const hint = other === undefined ? "" : `: ${other}`;
      const message = `there is no "${key}", which holds the servers in the dialect "${dialect}"${hint}`;
      throw this.#fail(message, root.offset);
    }
    const again = listRepeated(root.members).find((member) => member.key === key);
    if (again !== undefined) throw this.#fail(`"${key}" stands more than once`, again.offset);
    if (servers.kind !== "object") throw this.#fail(`"${key}" must be an object`, servers.offset);
    if (servers.members.length > GREATEST_SERVERS) {
      throw this.#fail(`"${key}" has more than ${GREATEST_SERVERS} servers`, servers.offset);
    }
    return servers.members;
  }

  #toSettings(dialect: HostConfigDialect, inputs: readonly HostConfigInput[]): EntrySettings {
    const { path, os, env, expandTilde, resolveInput } = this.#sources;
    const lookUp = typeof env === "function" ? env : (name: string) => getVariable(os, env, name);
    const homeDirectory = () =>
      this.#sources.homeDirectory ?? lookUp(os === "windows" ? "USERPROFILE" : "HOME");
    const place = path === undefined ? undefined : getFolder(os, path);
    const project = place !== undefined && isEditorFolder(getBaseName(os, place))
      ? getFolder(os, place)
      : undefined;
    const folder = project ?? place;
    const references = new References({
      dialect,
      os,
      inputs,
      folder,
      // The folder of a person's own `~/.cursor` is no workspace.
      workspaceFolder: () =>
        this.#sources.workspaceFolder ?? (project === homeDirectory() ? undefined : project),
      lookUp,
      homeDirectory,
      resolveInput,
    });
    return {
      os,
      rules: DIALECTS[dialect],
      folder,
      tilde: expandTilde ? homeDirectory : undefined,
      references,
      room: { characters: 2 * GREATEST_CONFIG_LENGTH },
      guesses: { left: 10_000 },
      problems: { left: 20_000 },
    };
  }

  async #toServer(name: string, node: JsonNode, raw: unknown, outcome: EntryOutcome): Promise<HostServer> {
    const { os } = this.#sources;
    const base = { name, raw, disabled: isDisabled(node), warnings: listWarnings(outcome) };
    switch (outcome.kind) {
      case "stdio": {
        const launch = freezeLaunch(outcome.launch);
        const commandLine = formatCommandLine(outcome.shown, { os });
        const fingerprint = await fingerprintLaunch(launch);
        return Object.freeze({ ...base, kind: "stdio", launch, commandLine, fingerprint });
      }
      case "remote": {
        const { url } = outcome;
        const commandLine = formatCommandLine({ command: maskUrl(url), args: [] }, { os });
        const fingerprint = await fingerprintEntry(raw);
        return Object.freeze({ ...base, kind: "remote", url, commandLine, fingerprint });
      }
      case "invalid": {
        const error = this.#toError(name, outcome.problems);
        const written = readWritten(node);
        const commandLine = written === undefined ? "" : formatCommandLine(written, { os });
        const fingerprint = await fingerprintEntry(raw);
        return Object.freeze({ ...base, kind: "invalid", error, commandLine, fingerprint });
      }
    }
  }

  #toError(server: string, { kept, count, isFull }: ProblemList): HostConfigError {
    const problems = kept.map(({ offset, ...problem }) => ({ ...problem, ...this.#places.locate(offset) }));
    const variable = problems.find((problem) => problem.variable !== undefined)?.variable;
    const isMissing = problems.every((problem) => problem.variable !== undefined);
    const shown = problems.slice(0, GREATEST_SHOWN_PROBLEMS);
    const reasons = shown.map(({ message, line, column }) => `${message} (line ${line}, column ${column})`);
    if (shown.length < count) {
      reasons.push(`${isFull ? "at least " : ""}${count - shown.length} more problems`);
    }
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
    const place = this.#places.locate(offset);
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

/** The first of the members of each key. */
function keepFirst(members: readonly JsonMember[]): readonly JsonMember[] {
  const repeated = new Set(listRepeated(members));
  return members.filter((member) => !repeated.has(member));
}

function isDisabled(node: JsonNode): boolean {
  const isSet = (key: string, wanted: boolean) => {
    const value = node.kind === "object" ? node.find(key)?.value : undefined;
    return value?.kind === "boolean" && value.value === wanted;
  };
  return isSet("disabled", true) || isSet("enabled", false);
}

/** An address without what may be secret: who asks, and the query. */
function maskUrl(url: string): string {
  return url.replace(/^([^/?#]*\/\/)[^/?#]*@/, "$1…@").replace(/\?[^#]*/, "?…");
}

/** What was agreed to is what runs: nobody changes it in between. */
function freezeLaunch(launch: HostServerLaunch): HostServerLaunch {
  return Object.freeze({ ...launch, args: Object.freeze(launch.args), env: Object.freeze(launch.env) });
}
