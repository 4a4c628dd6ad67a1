/** Gives references their values: variables of the environment, the names of editors, and what a person is asked for. */

import { quoteText } from "../shown_text.ts";
import { type Dialect, type PredefinedName, readReference } from "./dialects.ts";
import type { Resolution } from "./expansion.ts";
import { getBaseName, getSeparator, type PathSystem } from "./paths.ts";

/** Something a person is asked for. */
export interface Input {
  readonly id: string;
  readonly password: boolean;
  readonly default?: string | undefined;
}

/** Where values come from. */
export interface ReferenceSources<I extends Input> {
  readonly dialect: Dialect;
  readonly os: PathSystem;
  readonly inputs: readonly I[];
  workspaceFolder(): string | undefined;
  lookUp(name: string): string | undefined;
  homeDirectory(): string | undefined;
  readonly resolveInput: ((input: I) => string | undefined | Promise<string | undefined>) | undefined;
}

/** Makes the function that gives a reference its value. Each input is asked for once. */
export function createResolver<I extends Input>(
  sources: ReferenceSources<I>,
): (name: string) => Promise<Resolution> {
  const answers = new Map<string, Promise<Resolution>>();
  return (name) => {
    const reference = readReference(sources.dialect, name);
    switch (reference.kind) {
      case "invalid":
        return Promise.resolve(reference);
      case "variable":
        return Promise.resolve(resolveVariable(sources, reference.name));
      case "predefined":
        return Promise.resolve(resolvePredefined(sources, reference.name));
      case "input": {
        const answer = answers.get(reference.id) ?? askInput(sources, reference.id);
        answers.set(reference.id, answer);
        return answer;
      }
    }
  };
}

function resolveVariable<I extends Input>(sources: ReferenceSources<I>, name: string): Resolution {
  const value = sources.lookUp(name);
  if (typeof value === "string") return { kind: "value", value };
  return {
    kind: "unset",
    variable: name,
    message: `the variable ${quoteText(name)} is not set, or may not be read, and has no default`,
  };
}

function resolvePredefined<I extends Input>(sources: ReferenceSources<I>, name: PredefinedName): Resolution {
  const value = getPredefined(sources, name);
  if (value !== undefined) return { kind: "value", value };
  return { kind: "unset", variable: name, message: `the value of ${quoteText(name)} is not known` };
}

function getPredefined<I extends Input>(
  sources: ReferenceSources<I>,
  name: PredefinedName,
): string | undefined {
  if (name === "pathSeparator" || name === "/") return getSeparator(sources.os);
  if (name === "userHome") return sources.homeDirectory();
  const folder = sources.workspaceFolder();
  return name === "workspaceFolder" || folder === undefined ? folder : getBaseName(sources.os, folder);
}

async function askInput<I extends Input>(sources: ReferenceSources<I>, id: string): Promise<Resolution> {
  const input = sources.inputs.find((candidate) => candidate.id === id);
  if (input === undefined) {
    return { kind: "invalid", message: `the input ${quoteText(id)} is not described in "inputs"` };
  }
  let value: string | undefined;
  try {
    value = await sources.resolveInput?.(input);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "invalid", message: `the input ${quoteText(id)} could not be asked for: ${reason}` };
  }
  value ??= input.default;
  if (value !== undefined) return { kind: "value", value, secret: input.password };
  return { kind: "unset", variable: `input:${id}`, message: `the input ${quoteText(id)} has no value` };
}
