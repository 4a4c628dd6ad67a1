/**
 * Files of variables, one `NAME=value` a line, as `envFile` names them. Blank lines and lines that begin with `#` are
 * skipped, and so is `export` before a name. A value in quotes may go over several lines: in single quotes it is taken as
 * it is; in double quotes `\n`, `\r`, `\t`, `\"` and `\\` are known. A bare value ends at ` #`. References are not expanded.
 */

/** The variables of a file, in order, and the numbers of the lines that are none. */
export interface EnvFile {
  readonly variables: ReadonlyMap<string, string>;
  readonly badLines: readonly number[];
}

/** Reads the text of such a file. */
export function parseEnvFile(text: string): EnvFile {
  return new EnvFileReader(text.replace(/^\ufeff/, "").replaceAll(/\r\n?/g, "\n")).read();
}

/** What stands before a value, at the beginning of a line. */
const NAME_REGEXP = /[ \t]*(?:export[ \t]+)?([^\s=#'"]+)[ \t]*=[ \t]*/y;
/** What is no variable and needs to be none. */
const BLANK_REGEXP = /[ \t\v\f]*(?:#[^\n]*)?(?=\n|$)/y;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };

class EnvFileReader {
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  read(): EnvFile {
    const variables = new Map<string, string>();
    const badLines: number[] = [];
    while (this.#at < this.#text.length) {
      const line = this.#line;
      if (!this.#take(BLANK_REGEXP)) {
        const variable = this.#readVariable();
        if (variable === undefined) badLines.push(line);
        else variables.set(...variable);
      }
      this.#skipLine();
    }
    return { variables, badLines };
  }

  /** Reads a variable; if there is none, it stays on the line. */
  #readVariable(): [name: string, value: string] | undefined {
    const name = this.#take(NAME_REGEXP)?.[1];
    if (name === undefined) return undefined;
    const begin = this.#at;
    const quote = this.#text[begin];
    if (quote !== "'" && quote !== '"') return [name, this.#readBare()];
    const end = this.#findQuote(quote);
    if (end < 0) return undefined;
    const inner = this.#text.slice(begin + 1, end);
    this.#at = end + 1;
    // Whatever stands behind the closing quote: its line is over with it, or is no variable.
    if (!this.#take(BLANK_REGEXP)) {
      this.#at = begin;
      return undefined;
    }
    this.#line += inner.split("\n").length - 1;
    if (quote === "'") return [name, inner];
    return [name, inner.replaceAll(/\\(.)/g, (escape, letter: string) => ESCAPES[letter] ?? escape)];
  }

  /** Where the value that begins here with a quote has its other one. No regular expression: they give up on long values. */
  #findQuote(quote: string): number {
    let at = this.#at + 1;
    while (at < this.#text.length && this.#text[at] !== quote) {
      at += quote === '"' && this.#text[at] === "\\" ? 2 : 1;
    }
    return at < this.#text.length ? at : -1;
  }

  #readBare(): string {
    const end = this.#text.indexOf("\n", this.#at);
    const text = this.#text.slice(this.#at, end < 0 ? undefined : end);
    let mark = text.indexOf("#");
    while (mark > 0 && !/\s/.test(text[mark - 1]!)) mark = text.indexOf("#", mark + 1);
    return (mark < 0 ? text : text.slice(0, mark)).trimEnd();
  }

  #take(regexp: RegExp): RegExpExecArray | null {
    regexp.lastIndex = this.#at;
    const match = regexp.exec(this.#text);
    if (match !== null) this.#at = regexp.lastIndex;
    return match;
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end + 1;
    this.#line++;
  }
}
