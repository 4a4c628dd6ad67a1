import { isJSONObject } from "../../messages.ts";
import { checkKnownOptions } from "../options.ts";

/** Told of what cannot be an error, but will not do what its author meant. */
export type Tell = (text: string) => void;

/**
 * The definitions of a kind by name.
 *
 * @throws {TypeError} If they are something else, such as a list.
 */
export function entriesOf<T>(kind: string, definitions: { readonly [name: string]: T }): Array<[string, T]> {
  if (isJSONObject(definitions)) return Object.entries(definitions);
  const state = Array.isArray(definitions) ? "they are an array" : `they are ${typeof definitions}`;
  throw new TypeError(
    `Cannot make a server: "${kind}" must be an object, each under its ${
      kind === "resources" ? "URI" : "name"
    }, but ${state}`,
  );
}

/**
 * Checks that a definition is an object that has its function, and no member that means another.
 *
 * @throws {TypeError} If it is not.
 */
export function checkDefinition(
  owner: string,
  definition: object,
  needed: string,
  known: readonly string[],
  tell: Tell,
): void {
  if (!isJSONObject(definition)) {
    throw new TypeError(`Cannot define ${owner}: its definition must be an object with "${needed}"`);
  }
  checkKnownOptions(owner, definition, known, tell);
  if (typeof (definition as { [name: string]: unknown })[needed] !== "function") {
    throw new TypeError(`Cannot define ${owner}: "${needed}" is not a function`);
  }
}

/** The definitions of a kind, and what holds for all of them. */
export abstract class DefinitionSet {
  protected readonly pageSize: number;
  protected readonly tell: Tell;

  constructor(pageSize: number, tell: Tell) {
    this.pageSize = pageSize;
    this.tell = tell;
  }
}
