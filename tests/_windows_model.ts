/**
 * A model of how Windows reads command lines, for tests on other systems: the percent expansion and the word rules of
 * `cmd.exe`, the argument splitting of the C run-time since 2008, and that of `CommandLineToArgvW`.
 */

/** One command that `cmd.exe` would run, and whether its input or output was redirected. */
export interface CmdCommand {
  readonly text: string;
  readonly redirected: boolean;
}

/** Phase 1 of `cmd.exe` for a command line (not for a line of a batch file), with command extensions on. */
export function expandPercent(
  line: string,
  env: Readonly<Record<string, string>>,
  extensions = true,
): string {
  const lookUp = (name: string): string | undefined => {
    const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name.toUpperCase());
    if (key !== undefined) return env[key];
    return extensions && name.toUpperCase() === "CD" ? "C:\\current" : undefined;
  };
  let expanded = "";
  for (let index = 0; index < line.length; index++) {
    const rest = line.slice(index);
    const match = rest[0] !== "%" ? null : extensions ? matchVariable(rest) : /^%([^%]*)%/.exec(rest);
    const value = match === null ? undefined : lookUp(match[1] ?? "");
    const replaced = match === null || value === undefined ? undefined : modify(value, match[2]);
    // An unknown variable keeps its percent sign, and reading goes on behind that.
    if (replaced === undefined) expanded += rest[0];
    else {
      expanded += replaced;
      index += (match?.[0].length ?? 1) - 1;
    }
  }
  return expanded;
}

function matchVariable(rest: string): RegExpExecArray | null {
  return /^%([^%:]*:(?=%))%/.exec(rest) ?? /^%([^%:]*)%/.exec(rest) ?? /^%([^%:]*):([^%]*)%/.exec(rest);
}

function modify(value: string, modifier: string | undefined): string | undefined {
  if (modifier === undefined) return value;
  const slice = /^~(-?\d*)(?:,(-?\d*))?$/.exec(modifier);
  if (slice !== null) {
    const start = Number(slice[1] || 0);
    const from = start < 0 ? Math.max(0, value.length + start) : start;
    if (slice[2] === undefined) return value.slice(from);
    const length = Number(slice[2] || 0);
    return length < 0 ? value.slice(from, length) : value.slice(from, from + length);
  }
  const replacement = /^(\*?)([^=]+)=(.*)$/.exec(modifier);
  if (replacement === null) return undefined;
  return value.replaceAll(replacement[2] ?? "", replacement[3] ?? "");
}

/** Phase 2 of `cmd.exe`: quotes, carets, and what separates commands. Delayed expansion is off. */
export function splitCommands(line: string): CmdCommand[] {
  const commands: CmdCommand[] = [];
  let text = "";
  let quoted = false;
  let redirected = false;
  const finish = () => {
    if (text.trim() !== "") commands.push({ text: text.trim(), redirected });
    [text, redirected] = ["", false];
  };
  for (let index = 0; index < line.length; index++) {
    const character = line[index] as string;
    if (character === "\n") break;
    if (character === "\r") continue;
    if (character === '"') quoted = !quoted;
    if (quoted || !"^&|<>".includes(character)) text += character;
    else if (character === "^") text += line[++index] ?? "";
    else if (character === "&" || character === "|") finish();
    else redirected = true;
  }
  finish();
  return commands;
}

/** What `cmd.exe` runs for the arguments it was started with, which end in `/s /c "…"`. */
export function runCmd(args: readonly string[], env: Readonly<Record<string, string>>): CmdCommand[] {
  const line = args.join(" ");
  const at = line.indexOf("/c ");
  const switches = line.slice(0, at).toLowerCase().split(" ");
  const command = line.slice(at + 3);
  if (at < 0 || !switches.includes("/s") || !/^".*"$/s.test(command)) {
    throw new Error(`not modelled: ${line}`);
  }
  return splitCommands(expandPercent(command.slice(1, -1), env, switches.includes("/e:on")));
}

/**
 * What the program sees that a shim starts by `"node.exe" "cli.js" %*`, or `undefined` if `cmd.exe` ran anything else,
 * or more than that, on either way.
 */
export function runShim(
  shim: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): string[] | undefined {
  const outer = runCmd(args, env);
  const [command] = outer;
  if (outer.length !== 1 || command === undefined || command.redirected) return undefined;
  const prefix = `"${shim}"`;
  if (!command.text.startsWith(prefix)) return undefined;
  // What stands for %* is not searched for percent signs again.
  const inner = splitCommands(`"node.exe" "cli.js"${command.text.slice(prefix.length)}`);
  const [started] = inner;
  if (inner.length !== 1 || started === undefined || started.redirected) return undefined;
  return splitByRuntime(started.text).slice(2);
}

/** Splits a command line as the C run-time does since 2008. */
export function splitByRuntime(line: string): string[] {
  return splitLine(line, (state, next) => {
    if (state.quoted && next === '"') return "literal";
    state.quoted = !state.quoted;
    return "structure";
  });
}

/** Splits a command line as `CommandLineToArgvW` does: two quotes inside quotes end the quoting. */
export function splitByShell(line: string): string[] {
  return splitLine(line, (state, next) => {
    const doubled = state.quoted && next === '"';
    state.quoted = !state.quoted;
    return doubled ? "literal" : "structure";
  });
}

type QuoteRule = (state: { quoted: boolean }, next: string | undefined) => "literal" | "structure";

function splitLine(line: string, readQuote: QuoteRule): string[] {
  // The program's own name knows no backslashes: it ends at its quote, or at a space.
  const program = /^\s*(?:"([^"]*)"?|(\S*))/.exec(line);
  const words = [program?.[1] ?? program?.[2] ?? ""];
  const state = { quoted: false };
  let word: string | undefined;
  for (let index = program?.[0].length ?? 0; index < line.length; index++) {
    const character = line[index] as string;
    if (!state.quoted && (character === " " || character === "\t")) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= "";
    const slashes = /^\\*/.exec(line.slice(index))?.[0].length ?? 0;
    const follows = line[index + slashes];
    if (follows !== '"') {
      word += slashes > 0 ? "\\".repeat(slashes) : character;
      index += Math.max(slashes - 1, 0);
      continue;
    }
    word += "\\".repeat(Math.floor(slashes / 2));
    index += slashes;
    if (slashes % 2 === 1) word += '"';
    else if (readQuote(state, line[index + 1]) === "literal") {
      word += '"';
      index++;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

/**
 * Quotes an argument for a program: read back alike by the C run-time and by `CommandLineToArgvW`. Not for batch files. The runtimes do this themselves.
 */
export function quoteProgramArgument(argument: string): string {
  if (argument !== "" && !/[\s"]/.test(argument)) return argument;
  const escaped = argument.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&");
  return `"${escaped}"`;
}
