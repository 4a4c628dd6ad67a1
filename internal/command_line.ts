/**
 * A command line as it is shown to a person: in a question for consent, and in errors. It is made to be read, so it must
 * not deceive: what a terminal would act on or not show is spelled out, what is left out is counted, and what looks like
 * a secret is masked, as far as it could not be a piece of a program.
 */

import { ArgumentMasker, MASK } from "./secrets.ts";
import { cutText, hasUnseen, spell, spellUnseen } from "./shown_text.ts";
import { effectOf } from "./steering_names.ts";

/** What would run. */
export interface ShownCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** Names are shown; of values only those that steer what runs. */
  readonly env?: Variables | undefined;
  /** A file of further variables. */
  readonly envFile?: string | undefined;
}

/** Variables; `undefined` and `null` remove a name. */
type Variables = Readonly<Record<string, string | undefined | null>>;

/** How it is shown. */
export interface CommandLineOptions {
  /** Whose quotes are used. */
  readonly os?: "posix" | "windows" | undefined;
  /** The longest line in characters; what does not fit is cut, and the line ends with how much is missing. */
  readonly maxLength?: number | undefined;
}

/** Long enough for real command lines, short enough for a dialog. */
const DEFAULT_MAX_LENGTH = 4096;
/** Room for quotes and for the mark of a cut. */
const MARK_LENGTH = 40;

/** Shows a command line in the form of a shell, such as `TOKEN=… npx -y 'some server'`. */
export function formatCommandLine(shown: ShownCommand, options: CommandLineOptions = {}): string {
  const { os = "posix", maxLength = DEFAULT_MAX_LENGTH } = options;
  return new CommandLineWriter(os, maxLength - MARK_LENGTH).write(shown);
}

/** Shows variables alone, as they stand before a command. */
export function formatVariables(env: Variables, options: CommandLineOptions = {}): string {
  const { os = "posix", maxLength = DEFAULT_MAX_LENGTH } = options;
  return new CommandLineWriter(os, maxLength - MARK_LENGTH).writeVariables(env);
}

class CommandLineWriter {
  readonly #quote: (part: string, force: boolean) => string;
  readonly #maxLength: number;
  /** Each word has room of its own, so that no heap of variables can push the command out of sight. */
  readonly #wordLength: number;
  #line = "";
  /** How many characters of the words are not shown. */
  #missing = 0;

  constructor(os: "posix" | "windows", maxLength: number) {
    this.#quote = os === "posix" ? quotePosix : quoteWindows;
    this.#maxLength = maxLength;
    this.#wordLength = Math.max(Math.floor(maxLength / 8) - MARK_LENGTH, 8);
  }

  writeVariables(env: Variables): string {
    this.#writeAssignments(env, this.#maxLength);
    return this.#end();
  }

  write({ command, args, cwd, env = {}, envFile }: ShownCommand): string {
    if (cwd !== undefined) this.#line += `(in ${this.#toWord(cwd)})`;
    if (envFile !== undefined) this.#line += `${this.#blank()}(variables of ${this.#toWord(envFile)})`;
    this.#writeAssignments(env, this.#line.length + this.#maxLength / 4);
    const masker = new ArgumentMasker();
    // A command with "=" would read as a variable.
    const isForced = command.includes("=");
    this.#line += this.#blank() + this.#toWord(masker.mask(command), this.#wordLength, isForced);
    this.#writeWords(args, "arguments", this.#maxLength, (argument) => {
      return this.#toWord(masker.mask(argument), this.#wordLength * 2);
    });
    return this.#end();
  }

  #writeAssignments(env: Variables, maxLength: number): void {
    this.#writeWords(toAssignments(env), "variables", maxLength, ({ name, value }) => {
      return `${this.#toWord(name)}=${value === undefined ? MASK : this.#toWord(value)}`;
    });
  }

  #end(): string {
    return this.#missing === 0 ? this.#line : `${this.#line} [${this.#missing} characters not shown]`;
  }

  /** Writes words up to a length of the line, and counts those that have no room. */
  #writeWords<T extends string | Assignment>(
    words: readonly T[],
    noun: string,
    maxLength: number,
    toShown: (word: T) => string,
  ): void {
    for (const [index, word] of words.entries()) {
      const rest = words.length - index;
      const missing = this.#missing;
      const shown = this.#blank() + toShown(word);
      // Behind the last word no room is needed for a mark.
      if (this.#line.length + shown.length + (rest > 1 ? MARK_LENGTH : 0) > maxLength) {
        this.#line += `${this.#blank()}[${rest} more ${noun}]`;
        this.#missing = words.slice(index).reduce((sum, word) => sum + lengthOf(word), missing);
        return;
      }
      this.#line += shown;
    }
  }

  #blank(): string {
    return this.#line === "" ? "" : " ";
  }

  #toWord(text: string, maxLength = this.#wordLength, force = false): string {
    const cut = cutText(text, maxLength, (part) => this.#quote(part, force));
    this.#missing += cut.missing;
    return cut.text;
  }
}

/** A variable that is set; without a value that may be shown. */
interface Assignment {
  readonly name: string;
  readonly value: string | undefined;
}

/** What is set, and before all else what steers. */
function toAssignments(env: Variables): Assignment[] {
  const steering: Assignment[] = [];
  const others: Assignment[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === null) continue;
    if (effectOf(name) === undefined) others.push({ name, value: undefined });
    else steering.push({ name, value: new ArgumentMasker().mask(value) });
  }
  return [...steering, ...others];
}

function lengthOf(word: string | Assignment): number {
  return typeof word === "string" ? word.length : word.name.length + (word.value?.length ?? 0);
}

function quotePosix(text: string, force: boolean): string {
  // A "~" or "=" is plain inside a word, and something else at its beginning.
  if (!force && /^[\w%+,\-./:@][\w%+,\-./:@=~]*$/.test(text)) return text;
  if (hasUnseen(text)) return `$'${spell(text, "'")}'`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteWindows(text: string, force: boolean): string {
  if (!force && /^[\w+,\-./:@\\][\w+,\-./:@\\=~]*$/.test(text)) return text;
  const escaped = text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&");
  return `"${spellUnseen(escaped)}"`;
}
