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
}

/** A text that cannot be read into parts. */
export interface TemplateFault {
  readonly kind: "fault";
  readonly message: string;
}

/** What a reference stands for. An unset variable has no value; an empty one has, and also gives way to a default. */
export type Resolution =
  | { readonly kind: "value"; readonly value: string; readonly secret?: boolean }
  | { readonly kind: "unset"; readonly message: string; readonly variable: string }
  | { readonly kind: "invalid"; readonly message: string };

/** A text with everything put in, and what was wrong. */
export interface Expansion {
  readonly text: string;
  /** The text as it may be shown: with `…` where a value is secret. */
  readonly shown: string;
  readonly problems: readonly Exclude<Resolution, { kind: "value" }>[];
}

/** Each level is a stack frame of the reader. */
const GREATEST_DEPTH = 50;

/** Reads a text. Braces in a default are balanced, so that it may hold references and JSON. */
export function parseTemplate(text: string): { kind: "template"; parts: Template } | TemplateFault {
  try {
    return { kind: "template", parts: new TemplateReader(text).readParts(false) };
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return { kind: "fault", message: error.message };
    throw error;
  }
}

/** Puts a text together. A default is looked at only where it is needed. */
export async function expandTemplate(
  template: Template,
  resolve: (name: string) => Promise<Resolution>,
): Promise<Expansion> {
  let [text, shown] = ["", ""];
  const problems: Exclude<Resolution, { kind: "value" }>[] = [];
  for (const part of template) {
    if (typeof part === "string") {
      text += part;
      shown += part;
      continue;
    }
    const resolution = await resolve(part.name);
    const isEmpty = resolution.kind === "unset" || (resolution.kind === "value" && resolution.value === "");
    if (isEmpty && part.fallback !== undefined) {
      const fallback = await expandTemplate(part.fallback, resolve);
      text += fallback.text;
      shown += fallback.shown;
      problems.push(...fallback.problems);
    } else if (resolution.kind === "value") {
      text += resolution.value;
      shown += resolution.secret === true ? "…" : resolution.value;
    } else {
      problems.push(resolution);
    }
  }
  return { text, shown, problems };
}

class TemplateSyntaxError extends Error {}

class TemplateReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads to the end of the text or, inside of a reference, to the brace that closes it. */
  readParts(nested: boolean): Template {
    const parts: (string | TemplateReference)[] = [];
    let literal = "";
    let openBraces = 0;
    while (this.#at < this.#text.length) {
      if (this.#text.startsWith("${", this.#at)) {
        if (literal !== "") parts.push(literal);
        literal = "";
        parts.push(this.#readReference());
        continue;
      }
      const piece = this.#text.startsWith("$${", this.#at) ? "${" : this.#text[this.#at] as string;
      if (nested && piece === "}" && openBraces-- === 0) break;
      if (piece.endsWith("{")) openBraces++;
      literal += piece;
      this.#at += piece === "${" ? 3 : 1;
    }
    if (literal !== "") parts.push(literal);
    return parts;
  }

  #readReference(): TemplateReference {
    const begin = this.#at;
    if (++this.#depth > GREATEST_DEPTH) {
      throw new TemplateSyntaxError(`holds too many "\${" inside of each other`);
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
    return { name, fallback };
  }

  #unclosed(begin: number): TemplateSyntaxError {
    return new TemplateSyntaxError(`holds a "\${" at character ${begin + 1} that is not closed`);
  }
}
