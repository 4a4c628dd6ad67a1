/** Gives references their values: variables of the environment, the names of editors, and what a person is asked for. */

import { secrecyOf } from "../secrets.ts";
import { quoteText } from "../shown_text.ts";
import { DIALECTS, type HostConfigDialect, type PredefinedName, readReference } from "./dialects.ts";
import type { Resolution } from "./expansion.ts";
import { getBaseName, getSeparator, type PathSystem } from "./paths.ts";
import type { HostConfigInput } from "./shapes.ts";

/** Where values come from. */
export interface ReferenceSources {
  readonly dialect: HostConfigDialect;
  readonly os: PathSystem;
  readonly inputs: readonly HostConfigInput[];
  /** The folder of the file; undefined for a text that came from no file. */
  readonly folder: string | undefined;
  workspaceFolder(): string | undefined;
  lookUp(name: string): string | undefined;
  homeDirectory(): string | undefined;
  readonly resolveInput:
    | ((input: HostConfigInput) => string | undefined | Promise<string | undefined>)
    | undefined;
}

/** A file may refer to so many names: each costs a look into the environment. */
const GREATEST_NAMES = 10_000;

/** Finds what a file's references stand for. Each variable is looked up once, and each input is asked for once. */
export class References {
  readonly #sources: ReferenceSources;
  readonly #known = new Map<string, Resolution>();
  readonly #inputs: ReadonlyMap<string, HostConfigInput>;
  readonly #answers = new Map<string, Resolution>();

  constructor(sources: ReferenceSources) {
    this.#sources = sources;
    this.#inputs = new Map(sources.inputs.map((input) => [input.id, input]));
  }

  /** What a reference stands for; `unasked` if somebody must be asked first. */
  resolve(name: string): Resolution {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#known.size >= GREATEST_NAMES) {
      return { kind: "invalid", message: `the file refers to more than ${GREATEST_NAMES} names` };
    }
    const resolution = this.#find(name);
    if (resolution.kind !== "unasked") this.#known.set(name, resolution);
    return resolution;
  }

  /** Asks for an input. */
  async ask(id: string): Promise<void> {
    this.#answers.set(id, await this.#ask(id));
  }

  #find(name: string): Resolution {
    const reference = readReference(this.#sources.dialect, name);
    switch (reference.kind) {
      case "invalid":
        return reference;
      case "variable":
        return this.#findVariable(reference.name);
      case "predefined":
        return this.#findPredefined(reference.name);
      case "input":
        return this.#answers.get(reference.id) ?? { kind: "unasked", id: reference.id };
    }
  }

  #findVariable(name: string): Resolution {
    const { dialect, folder, lookUp } = this.#sources;
    const isPlace = DIALECTS[dialect].folderVariables.includes(name);
    const value = lookUp(name) ?? (isPlace ? folder : undefined);
    if (typeof value !== "string") {
      return {
        kind: "unset",
        variable: name,
        message: `the variable ${quoteText(name)} is not set, or may not be read, and has no default`,
      };
    }
    const source = isPlace ? "file" : secrecyOf(name) === "secret" ? "secret" : "environment";
    return { kind: "value", value, source };
  }

  #findPredefined(name: PredefinedName): Resolution {
    const value = this.#getPredefined(name);
    if (value !== undefined) return { kind: "value", value, source: "file" };
    return { kind: "unset", variable: name, message: `the value of ${quoteText(name)} is not known` };
  }

  #getPredefined(name: PredefinedName): string | undefined {
    const { os } = this.#sources;
    if (name === "pathSeparator" || name === "/") return getSeparator(os);
    if (name === "userHome") return this.#sources.homeDirectory();
    const folder = this.#sources.workspaceFolder();
    return name === "workspaceFolder" || folder === undefined ? folder : getBaseName(os, folder);
  }

  async #ask(id: string): Promise<Resolution> {
    const { resolveInput } = this.#sources;
    const input = this.#inputs.get(id);
    if (input === undefined) {
      return { kind: "invalid", message: `the input ${quoteText(id)} is not described in "inputs"` };
    }
    let value: string | undefined;
    try {
      value = await resolveInput?.(input);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: "invalid", message: `the input ${quoteText(id)} could not be asked for: ${reason}` };
    }
    value ??= input.default;
    if (value !== undefined) return { kind: "value", value, source: input.password ? "secret" : "file" };
    return { kind: "unset", variable: `input:${id}`, message: `the input ${quoteText(id)} has no value` };
  }
}
