/** Reads the strings of an entry: puts in what their references stand for, and says what is wrong. */

import { quoteText } from "../shown_text.ts";
import {
  type ExpandedText,
  expandTemplate,
  type Expansion,
  parseTemplate,
  type Template,
  type ValueSource,
} from "./expansion.ts";
import { describeNode, type JsonNode, type JsonString } from "./json_tree.ts";
import type { ProblemList } from "./problems.ts";
import type { References } from "./references.ts";

/** A string of the file with everything put in, and as a person may see it. */
export interface Expanded {
  readonly text: string;
  readonly shown: string;
}

/** What a string must be, and values of which sources are not shown. */
export interface TextRules {
  readonly isPath?: boolean;
  readonly isRequired?: boolean;
  readonly hidden: readonly ValueSource[];
}

/** What runs, and where: it is shown with its values, as far as they are no secrets. */
export const PLACE: TextRules = { isPath: true, isRequired: true, hidden: ["secret"] };
/** What it is told: values of this process's environment may be secrets, whatever their names. */
export const ARGUMENT: TextRules = { isPath: true, hidden: ["secret", "environment"] };
/** What stands in its environment. */
export const VALUE: TextRules = { hidden: ["secret", "environment"] };

/** What is the same for all strings of a file. */
export interface TextSettings {
  readonly references: References;
  /** What a leading `~` stands for; undefined if it stands for itself. */
  readonly tilde: (() => string | undefined) | undefined;
  /** How many characters may still be put in, for the file as a whole. */
  readonly room: { characters: number };
}

/** A value, or one that somebody has to be asked for. */
export type MaybePromise<T> = T | Promise<T>;

/** Reads the strings of an entry. */
export class TextReader {
  readonly #settings: TextSettings;
  readonly #problems: ProblemList;

  constructor(settings: TextSettings, problems: ProblemList) {
    this.#settings = settings;
    this.#problems = problems;
  }

  /** Reads a string. It comes at once, but where somebody has to be asked for an input. */
  read(field: string, node: JsonNode, rules: TextRules): MaybePromise<Expanded | undefined> {
    if (node.kind !== "string") {
      return this.#fail(field, node, `must be a string, but is ${describeNode(node)}`);
    }
    const { value } = node;
    if (!value.includes("${")) {
      return this.#check(field, node, { kind: "text", text: value, shown: value, problems: [] }, rules);
    }
    const template = parseTemplate(value);
    if (template.kind === "fault") return this.#fail(field, node, template.message);
    const expansion = this.#expand(template.parts, rules);
    if (expansion.kind === "text") return this.#check(field, node, expansion, rules);
    return this.#ask(template.parts, expansion.ids, rules)
      .then((asked) => this.#check(field, node, asked, rules));
  }

  #expand(template: Template, { hidden }: TextRules): Expansion {
    return expandTemplate(template, (reference) => this.#settings.references.resolve(reference), hidden);
  }

  /** Asks for inputs, and then for those that are needed because one of them is empty. */
  async #ask(template: Template, ids: readonly string[], rules: TextRules): Promise<ExpandedText> {
    for (let unasked = ids;;) {
      for (const id of unasked) await this.#settings.references.ask(id);
      const expansion = this.#expand(template, rules);
      if (expansion.kind === "text") return expansion;
      unasked = expansion.ids;
    }
  }

  #check(
    field: string,
    node: JsonString,
    { text, shown, problems }: ExpandedText,
    { isRequired = false, isPath = false }: TextRules,
  ): Expanded | undefined {
    for (const problem of problems) {
      const variable = problem.kind === "unset" ? problem.variable : undefined;
      this.#fail(field, node, `cannot be expanded: ${problem.message}`, variable);
    }
    if (problems.length > 0) return undefined;
    const { room, tilde } = this.#settings;
    const added = Math.max(text.length - node.value.length, 0);
    room.characters -= added;
    if (added > 0 && room.characters < 0) {
      return this.#fail(field, node, "cannot be expanded: the file puts in too many characters");
    }
    if (text.includes("\0")) return this.#fail(field, node, "holds a NUL character");
    if (isRequired && text === "") return this.#fail(field, node, "is empty");
    if (tilde === undefined || !isPath || !/^~(?:$|[\\/])/.test(node.value)) return { text, shown };
    const home = tilde();
    if (home !== undefined) return { text: home + text.slice(1), shown: home + shown.slice(1) };
    return this.#fail(field, node, `begins with "~", and the home folder is not known`);
  }

  #fail(field: string, { offset }: JsonNode, message: string, variable?: string): undefined {
    this.#problems.add({ field, message: `${quoteText(field)} ${message}`, offset, variable });
    return undefined;
  }
}
