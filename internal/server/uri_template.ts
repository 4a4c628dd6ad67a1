import { canonicalUri } from "../canonical_uri.ts";

/** Where a value without slashes ends. */
const STOPS = "/?#";

interface Variable {
  readonly name: string;
  /** Whether its value may hold slashes. */
  readonly spansSlashes: boolean;
}

/** A URI template with `{name}` (no slash), `{+name}` (any text) and a last `{?a,b}` (query members). */
export class UriTemplate {
  /** Text and variables, as they follow each other. */
  readonly #parts: ReadonlyArray<string | Variable>;
  readonly #queryNames: readonly string[];

  /**
   * Makes one.
   *
   * @throws {TypeError} If the template holds an expression that is not supported.
   */
  constructor(template: string) {
    const query = /\{\?([\w,]+)\}$/.exec(template);
    this.#queryNames = query?.[1]?.split(",") ?? [];
    const path = query === null ? template : template.slice(0, query.index);
    this.#parts = path.split(/(\{[^{}]*\})/).filter((part) => part !== "").map((part) =>
      part.startsWith("{") ? toVariable(part, template) : canonicalUri(part)
    );
  }

  /** The variables of a template. */
  get names(): readonly string[] {
    const variables = this.#parts.flatMap((part) => typeof part === "string" ? [] : [part.name]);
    return [...variables, ...this.#queryNames];
  }

  /** The values of the variables in a URI in canonical form, or undefined if it is not of this form. */
  match(uri: string): { [name: string]: string } | undefined {
    const mark = this.#queryNames.length === 0 ? -1 : uri.indexOf("?");
    const variables = this.#matchPath(mark === -1 ? uri : uri.slice(0, mark));
    if (variables === undefined) return undefined;
    const search = new URLSearchParams(mark === -1 ? "" : uri.slice(mark + 1));
    for (const name of this.#queryNames) {
      const value = search.get(name);
      if (value !== null) variables[name] = value;
    }
    return variables;
  }

  /**
   * Each variable takes as much as it can, the first one first, as in a regular expression. But the time grows with the length
   * of the URI only: from the last part to the first it is found out where each may begin, and then where each ends.
   */
  #matchPath(path: string): { [name: string]: string } | undefined {
    const [first, last] = [this.#parts[0], this.#parts.at(-1)];
    if (typeof first === "string" && !path.startsWith(first)) return undefined;
    if (typeof last === "string" && !path.endsWith(last)) return undefined;
    const ends: Int32Array[] = [];
    let next = new Int32Array(path.length + 1).fill(-1);
    next[path.length] = path.length;
    for (const part of [...this.#parts].reverse()) {
      next = typeof part === "string" ? endsOfText(part, path, next) : endsOfVariable(part, path, next);
      ends.unshift(next);
    }
    const variables: { [name: string]: string } = {};
    let start = 0;
    for (const [index, part] of this.#parts.entries()) {
      const end = ends[index]![start]!;
      if (end === -1) return undefined;
      if (typeof part !== "string") variables[part.name] = decode(path.slice(start, end));
      start = end;
    }
    return start === path.length ? variables : undefined;
  }
}

/** By where the text begins: where it ends, if what follows fits from there; `next` has the same of the part behind. */
function endsOfText(text: string, path: string, next: Int32Array): Int32Array<ArrayBuffer> {
  const ends = new Int32Array(path.length + 1).fill(-1);
  for (let start = path.indexOf(text); start !== -1; start = path.indexOf(text, start + 1)) {
    const end = start + text.length;
    if (next[end] !== -1) ends[start] = end;
  }
  return ends;
}

/** By where a value begins: the last place where it can end. */
function endsOfVariable({ spansSlashes }: Variable, path: string, next: Int32Array): Int32Array<ArrayBuffer> {
  const ends = new Int32Array(path.length + 1).fill(-1);
  let last = -1;
  for (let start = path.length - 1; start >= 0; start--) {
    const isStop = !spansSlashes && STOPS.includes(path[start]!);
    if (isStop) last = -1;
    else if (last === -1 && next[start + 1] !== -1) last = start + 1;
    ends[start] = last;
  }
  return ends;
}

function toVariable(expression: string, template: string): Variable {
  const parts = /^\{(\+?)(\w+)\}$/.exec(expression);
  if (parts === null) {
    throw new TypeError(`Cannot use the URI template "${template}": "${expression}" is not supported`);
  }
  return { name: parts[2]!, spansSlashes: parts[1] === "+" };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A lone percent sign: taken as it is.
  }
}
