/**
 * References in the strings of a host configuration: `${NAME}`, `${NAME:-default}`, `${prefix:id}`. A text is first read
 * into parts and then put together, so that what is put in is never read again. `$${` stands for `${`.
 */

/** A text, read into what stands for itself and what has to be looked up. */
export type Template = readonly (string | TemplateReference)[];

/** A reference such as `${NAME:-default}`. */
export interface TemplateReference {
  /** What stands before `:-` or the end. */
  readonly name: string;
  /** What stands behind `:-`. */
  readonly fallback: Template | undefined;
  /** The whole reference. */
  readonly written: string;
}

/** A text that cannot be read into parts. */
export interface TemplateFault {
  readonly kind: "fault";
  readonly message: string;
}

/** What a reference stands for. An unset variable has no value; an empty one has, and also gives way to a default. */
export type Resolution =
  | { readonly kind: "value"; readonly value: string; readonly source: ValueSource }
  | UnresolvedReference
  | { readonly kind: "unasked"; readonly id: string };

/** A reference that stands for nothing, and why. */
export type UnresolvedReference =
  | { readonly kind: "unset"; readonly message: string; readonly variable: string }
  | { readonly kind: "invalid"; readonly message: string };

/** Where a value is from: of the file and its place, of this process's environment, of somebody's secrets. */
export type ValueSource = "file" | "environment" | "secret";

/** A text with everything put in, and what was wrong. */
export interface ExpandedText {
  readonly kind: "text";
  readonly text: string;
  /** The text as it may be shown: with references as they are written where a value is not to be seen. */
  readonly shown: string;
  readonly problems: readonly UnresolvedReference[];
}

/** A text with everything put in; or the inputs that somebody must be asked for first. */
export type Expansion = ExpandedText | { readonly kind: "unasked"; readonly ids: readonly string[] };

/** Each level is a stack frame of the reader. */
const GREATEST_DEPTH = 50;
/** So many characters may be put into a text: more than any system takes as an argument or a variable. */
const GREATEST_EXPANSION = 1_048_576;
/** A text may hold so many references. */
const GREATEST_REFERENCES = 100_000;
/** A text with so many problems is not read further. */
const GREATEST_PROBLEMS = 1000;

/** Reads a text. Braces in a default are balanced, so that it may hold references and JSON. */
export function parseTemplate(text: string): { kind: "template"; parts: Template } | TemplateFault {
  try {
    return { kind: "template", parts: new TemplateReader(text).readParts(false) };
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return { kind: "fault", message: error.message };
    throw error;
  }
}

/** Puts a text together. A default is looked at only where it is needed; values of `hidden` sources are not shown. */
export function expandTemplate(
  template: Template,
  resolve: (name: string) => Resolution,
  hidden: readonly ValueSource[] = ["secret"],
): Expansion {
  const expander = new TemplateExpander(resolve, hidden);
  expander.put(template);
  return expander.end();
}

class TemplateExpander {
  readonly #resolve: (name: string) => Resolution;
  readonly #hidden: readonly ValueSource[];
  readonly #problems: UnresolvedReference[] = [];
  #text = "";
  #shown = "";
  #room = GREATEST_EXPANSION;
  readonly #unasked = new Set<string>();

  constructor(resolve: (name: string) => Resolution, hidden: readonly ValueSource[]) {
    this.#resolve = resolve;
    this.#hidden = hidden;
  }

  put(template: Template): void {
    for (const part of template) {
      if (this.#isOver()) return;
      if (typeof part === "string") this.#add(part, part);
      else this.#putReference(part);
    }
  }

  end(): Expansion {
    if (this.#unasked.size > 0) return { kind: "unasked", ids: [...this.#unasked] };
    const problems = this.#room < 0
      ? [{ kind: "invalid" as const, message: `more than ${GREATEST_EXPANSION} characters are put in` }]
      : this.#problems;
    return { kind: "text", text: this.#text, shown: this.#shown, problems };
  }

  #putReference({ name, fallback, written }: TemplateReference): void {
    const resolution = this.#resolve(name);
    if (resolution.kind === "unasked") {
      this.#unasked.add(resolution.id);
    } else if (fallback !== undefined && isEmpty(resolution)) {
      this.put(fallback);
    } else if (resolution.kind === "value") {
      const { value, source } = resolution;
      this.#room -= value.length;
      if (this.#room >= 0) this.#add(value, this.#hidden.includes(source) ? written : value);
    } else {
      this.#problems.push(resolution);
    }
  }

  #add(text: string, shown: string): void {
    this.#text += text;
    this.#shown += shown;
  }

  #isOver(): boolean {
    return this.#room < 0 || this.#problems.length >= GREATEST_PROBLEMS;
  }
}

function isEmpty(resolution: Resolution): boolean {
  return resolution.kind === "unset" || (resolution.kind === "value" && resolution.value === "");
}

class TemplateSyntaxError extends Error {}

class TemplateReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #references = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads to the end of the text or, inside of a reference, to the brace that closes it. */
  readParts(nested: boolean): Template {
    const parts: (string | TemplateReference)[] = [];
    const mark = nested ? /\$?\$\{|[{}]/g : /\$?\$\{/g;
    let openBraces = 0;
    let literal = "";
    while (this.#at < this.#text.length) {
      mark.lastIndex = this.#at;
      const found = mark.exec(this.#text);
      const index = found?.index ?? this.#text.length;
      literal += this.#text.slice(this.#at, index);
      this.#at = index;
      if (found === null) break;
      if (found[0] === "${") {
        if (literal !== "") parts.push(literal);
        literal = "";
        parts.push(this.#readReference());
        continue;
      }
      if (found[0] === "}" && openBraces-- === 0) break;
      if (found[0] !== "}") openBraces++;
      literal += found[0] === "$${" ? "${" : found[0];
      this.#at += found[0].length;
    }
    if (literal !== "") parts.push(literal);
    return parts;
  }

  #readReference(): TemplateReference {
    const begin = this.#at;
    if (++this.#depth > GREATEST_DEPTH) {
      throw new TemplateSyntaxError(`holds too many "\${" inside of each other`);
    }
    if (++this.#references > GREATEST_REFERENCES) {
      throw new TemplateSyntaxError(`holds more than ${GREATEST_REFERENCES} references`);
    }
    const end = /:-|[${}]/g;
    end.lastIndex = begin + 2;
    const stop = end.exec(this.#text);
    if (stop === null) throw this.#unclosed(begin);
    const name = this.#text.slice(begin + 2, stop.index);
    this.#at = stop.index + stop[0].length;
    if (stop[0] !== ":-" && stop[0] !== "}") {
      throw new TemplateSyntaxError(
        `holds a "${stop[0]}" in the name behind the "\${" at character ${begin + 1}`,
      );
    }
    let fallback: Template | undefined;
    if (stop[0] === ":-") {
      fallback = this.readParts(true);
      if (this.#at >= this.#text.length) throw this.#unclosed(begin);
      this.#at++;
    }
    this.#depth--;
    return { name, fallback, written: this.#text.slice(begin, this.#at) };
  }

  #unclosed(begin: number): TemplateSyntaxError {
    return new TemplateSyntaxError(`holds a "\${" at character ${begin + 1} that is not closed`);
  }
}
