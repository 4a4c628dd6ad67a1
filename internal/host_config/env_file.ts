/**
 * Files of variables, one `NAME=value` a line, as `envFile` names them. Blank lines and lines that begin with `#` are
 * skipped, and so is `export` before a name. A value in single quotes is taken as it is; in double quotes `\n`, `\r`,
 * `\t`, `\"` and `\\` are known; a bare value ends at ` #`. References are not expanded.
 */

/** The variables of a file, in order, and the numbers of the lines that are none. */
export interface EnvFile {
  readonly variables: ReadonlyMap<string, string>;
  readonly badLines: readonly number[];
}

/** Reads the text of such a file. */
export function parseEnvFile(text: string): EnvFile {
  const variables = new Map<string, string>();
  const badLines: number[] = [];
  text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/).forEach((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return;
    const [, name, rest = ""] = /^\s*(?:export\s+)?([^\s=#'"]+)\s*=\s*(.*)$/.exec(line) ?? [];
    const value = name === undefined ? undefined : readValue(rest);
    if (name === undefined || value === undefined) badLines.push(index + 1);
    else variables.set(name, value);
  });
  return { variables, badLines };
}

function readValue(text: string): string | undefined {
  const quote = text[0];
  if (quote !== "'" && quote !== '"') return text.replace(/(?:^|\s+)#.*$/, "").trimEnd();
  const pattern = quote === "'" ? /^'([^']*)'\s*(?:#.*)?$/ : /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/;
  const inner = pattern.exec(text)?.[1];
  if (inner === undefined || quote === "'") return inner;
  const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };
  return inner.replaceAll(/\\(.)/g, (whole, letter: string) => escapes[letter] ?? whole);
}
