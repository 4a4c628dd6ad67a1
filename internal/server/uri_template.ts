/** A URI template with `{name}` (no slash), `{+name}` (any text) and a last `{?a,b}` (query members). */
export class UriTemplate {
  readonly #pattern: RegExp;
  readonly #names: string[] = [];
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
    const source = path.split(/(\{[^{}]*\})/).map((part) =>
      part.startsWith("{") ? this.#group(part, template) : escapeRegExp(part)
    );
    this.#pattern = new RegExp(`^${source.join("")}$`);
  }

  /** The variables of a template. */
  get names(): readonly string[] {
    return [...this.#names, ...this.#queryNames];
  }

  /** The values of the variables in a URI, or undefined if it is not of this form. */
  match(uri: string): { [name: string]: string } | undefined {
    const [path = "", query = ""] = this.#queryNames.length === 0 ? [uri] : splitOnce(uri, "?");
    const match = this.#pattern.exec(path);
    if (match === null) return undefined;
    const variables: { [name: string]: string } = {};
    this.#names.forEach((name, index) => variables[name] = decode(match[index + 1] ?? ""));
    const search = new URLSearchParams(query);
    for (const name of this.#queryNames) {
      const value = search.get(name);
      if (value !== null) variables[name] = value;
    }
    return variables;
  }

  #group(expression: string, template: string): string {
    const parts = /^\{(\+?)(\w+)\}$/.exec(expression);
    if (parts === null) {
      throw new TypeError(`Cannot use the URI template "${template}": "${expression}" is not supported`);
    }
    this.#names.push(parts[2]!);
    return parts[1] === "+" ? "(.+)" : "([^/?#]+)";
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A lone percent sign: taken as it is.
  }
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
