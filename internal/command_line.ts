/**
 * A command line as it is shown to a person: in a question for consent, and in errors. It is made to be read, so it must
 * not deceive: what a terminal would act on or not show is spelled out, and what is left out is counted.
 */

/** What would run. */
export interface ShownCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** Names are shown, values are not. `undefined` and `null` remove a name. */
  readonly env?: Readonly<Record<string, string | undefined | null>> | undefined;
}

/** How it is shown. */
export interface CommandLineOptions {
  /** Whose quotes are used. */
  readonly os?: "posix" | "windows" | undefined;
  /** The longest line in characters; what does not fit is cut, and the cut is shown. */
  readonly maxLength?: number | undefined;
}

/** Long enough for real command lines, short enough for a dialog. */
const DEFAULT_MAX_LENGTH = 4096;
/** Room for quotes and for the mark of a cut. */
const MARK_LENGTH = 40;

/**
 * Characters that move the cursor, are not seen, or change the order of what is seen. An unassigned one may be any of
 * these in a later Unicode.
 */
const UNSEEN_REGEXP =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

/** Shows a command line in the form of a shell, such as `TOKEN=… npx -y 'some server'`. */
export function formatCommandLine(shown: ShownCommand, options: CommandLineOptions = {}): string {
  const { os = "posix", maxLength = DEFAULT_MAX_LENGTH } = options;
  const quote = os === "posix" ? quotePosix : quoteWindows;
  // Each part has room of its own, so that no heap of variables can push the command out of sight.
  const wordLength = Math.max(Math.floor(maxLength / 8) - MARK_LENGTH, 8);
  const toWord = (text: string): string => quoteParts(text, wordLength, quote);
  const parts: string[] = [];
  if (shown.cwd !== undefined) parts.push(`(in ${toWord(shown.cwd)})`);
  const names = Object.entries(shown.env ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const variables = names.map(([name]) => `${toWord(name)}=…`);
  if (variables.length > 0) parts.push(joinWords(variables, maxLength / 4, "variables"));
  // A command with "=" would read as a variable.
  const command = shown.command.includes("=")
    ? quoteParts(shown.command, wordLength, quote, true)
    : toWord(shown.command);
  const room = maxLength - parts.reduce((sum, part) => sum + part.length + 1, 0);
  const args = shown.args.map((argument) => quoteParts(argument, wordLength * 2, quote));
  parts.push(joinWords([command, ...args], room, "arguments"));
  return parts.join(" ");
}

/** Shows a text from outside on one line, in double quotes: for names and paths in messages. */
export function quoteText(text: string, maxLength = 200): string {
  return quoteParts(text, maxLength, (part) => `"${spell(part, '"')}"`);
}

/** Quotes a text; of a long one both ends are kept, since the end of a word matters as much as its beginning. */
function quoteParts(
  text: string,
  maxLength: number,
  quote: (part: string, force: boolean) => string,
  force = false,
): string {
  const characters = [...text];
  const costs = characters.map(measure);
  if (costs.reduce((sum, cost) => sum + cost, 0) <= maxLength) return quote(text, force);
  const head = countWithin(costs, maxLength / 2);
  const tail = countWithin(costs.reverse(), maxLength / 2);
  const left = quote(characters.slice(0, head).join(""), force);
  const right = quote(characters.slice(characters.length - tail).join(""), force);
  return `${left}[${characters.length - head - tail} more characters]${right}`;
}

/** How much room a character takes at most, whoever quotes it. */
function measure(character: string): number {
  if (UNSEEN_REGEXP.test(character)) return toEscape(character).length;
  return character === "'" ? 4 : character === '"' || character === "\\" ? 2 : character.length;
}

function countWithin(costs: readonly number[], limit: number): number {
  let sum = 0;
  const index = costs.findIndex((cost) => (sum += cost) > limit);
  return index < 0 ? costs.length : index;
}

function joinWords(words: readonly string[], maxLength: number, noun: string): string {
  let line = words[0] ?? "";
  for (let index = 1; index < words.length; index++) {
    const rest = words.length - index;
    const next = `${line} ${words[index]}`;
    // Behind the last word no room is needed for a mark.
    if (next.length + (rest > 1 ? MARK_LENGTH : 0) > maxLength) return `${line} [${rest} more ${noun}]`;
    line = next;
  }
  return line;
}

function quotePosix(text: string, force: boolean): string {
  // A "~" or "=" is plain inside a word, and something else at its beginning.
  if (!force && /^[\w%+,\-./:@][\w%+,\-./:@=~]*$/.test(text)) return text;
  if (UNSEEN_REGEXP.test(text)) return `$'${spell(text, "'")}'`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteWindows(text: string, force: boolean): string {
  if (!force && /^[\w+,\-./:@\\][\w+,\-./:@\\=~]*$/.test(text)) return text;
  const escaped = text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&");
  return `"${spellUnseen(escaped)}"`;
}

/** Spells out what is not seen, a quote and a backslash, by backslashes. */
function spell(text: string, quote: string): string {
  return spellUnseen(text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`));
}

function spellUnseen(text: string): string {
  let shown = "";
  for (const character of text) shown += UNSEEN_REGEXP.test(character) ? toEscape(character) : character;
  return shown;
}

function toEscape(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}
