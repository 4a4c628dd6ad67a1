/**
 * How the arguments of a program stand on a command line of Windows.
 *
 * Windows hands a program one string and leaves the splitting to it. Programs split it by the rules of the C run-time;
 * a batch file is run by `cmd.exe`, which first reads the whole string as a command. An argument that is quoted for the
 * first and read by the second can run anything (CVE-2024-24576, "BatBadBut"), hence two ways of quoting, and errors for
 * what `cmd.exe` cannot be handed at all.
 */

import { ProcessError } from "../../errors.ts";
import type { Executable } from "./executable_search.ts";
import { systemProgram } from "./system_programs.ts";

/** What to hand to the system to start something. */
export interface WindowsStart {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether `args` are already quoted and must be joined as they are. */
  readonly verbatimArguments: boolean;
}

/** The longest command `cmd.exe` takes. */
const CMD_LINE_LIMIT = 8191;

/**
 * Makes what starts a file with exactly these arguments. A program is started as it is; a batch file through `cmd.exe`
 * of the system folder, without `AutoRun` commands, with its extensions on and delayed expansion off.
 *
 * @throws {ProcessError} If a batch file's path or an argument cannot be passed through `cmd.exe` unchanged.
 */
export function buildStart(
  executable: Executable,
  args: readonly string[],
  systemRoot: string | undefined,
): WindowsStart {
  if (executable.kind === "program") return { command: executable.path, args, verbatimArguments: false };
  const line = buildBatchLine(executable.path, args);
  return {
    command: systemProgram("cmd.exe", systemRoot),
    // With /s the outer pair of quotes is taken off and nothing else, whatever stands between them.
    args: ["/d", "/e:on", "/v:off", "/s", "/c", `"${line}"`],
    verbatimArguments: true,
  };
}

function buildBatchLine(path: string, args: readonly string[]): string {
  const refusal = (reason: string) =>
    new ProcessError("invalid_argument", `Cannot start ${JSON.stringify(path)}: ${reason}`, {
      command: path,
      args,
    });
  // A name with these characters cannot exist, and a quote in it would end the quoting.
  // deno-lint-ignore no-control-regex -- control characters are among them
  if (/[\0-\x1f"*<>?|]/.test(path)) {
    throw refusal("the path of a batch file cannot hold quotes, wildcards or control characters");
  }
  args.forEach((argument, index) => {
    const character = /[\0\r\n]/.exec(argument)?.[0];
    if (character === undefined) return;
    const name = character === "\0" ? "a NUL character" : "a line break";
    throw refusal(`argument ${index + 1} holds ${name}, which cmd.exe cannot pass to a batch file`);
  });
  const words = [`"${shieldPercent(path.replaceAll("/", "\\"))}"`, ...args.map(quoteBatchArgument)];
  const line = words.join(" ");
  if (line.length > CMD_LINE_LIMIT) {
    throw refusal(
      `the command line has ${line.length} characters, and cmd.exe takes ${CMD_LINE_LIMIT} at most`,
    );
  }
  return line;
}

/**
 * Quotes an argument of a batch file. It is read three times: by `cmd.exe` as a command, by `cmd.exe` again where the
 * batch file says `%*`, and by the program that is started there. A quote is therefore doubled rather than escaped by a
 * backslash: the C run-time reads both as one quote, while for `cmd.exe` two quotes leave the text around them quoted.
 * Words that cannot be misread stay bare, since batch files compare them, as in `if "%1"=="-y"`. Out of reach are batch
 * files that read their arguments once more (`call x %*`) or turn delayed expansion on.
 */
function quoteBatchArgument(argument: string): string {
  if (/^[\w#$+\-./:@\\]*[\w#$+\-./:@]$/.test(argument)) return argument;
  const escaped = argument.replaceAll(/(\\*)"/g, '$1$1""').replace(/\\+$/, "$&$&");
  return `"${shieldPercent(escaped)}"`;
}

/**
 * Keeps `cmd.exe` from reading `%NAME%` as a variable, which quotes do not: behind each percent sign it is made to
 * expand a piece of length zero of a variable that always exists. The sign before that is left over and starts nothing.
 */
function shieldPercent(text: string): string {
  return text.replaceAll("%", "%%cd:~,%");
}
