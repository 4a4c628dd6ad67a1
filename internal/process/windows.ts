/**
 * Starting and ending programs on Windows, as pure functions: which file a name means, how its arguments stand on a
 * command line, and how a tree is ended. Nothing here touches a system.
 *
 * Windows hands a program one string and leaves the splitting to it. Programs split it by the rules of the C run-time;
 * a batch file is run by `cmd.exe`, which first reads the whole string as a command. An argument that is quoted for the
 * first and read by the second can run anything (CVE-2024-24576, "BatBadBut"), hence two ways of quoting, and errors for
 * what `cmd.exe` cannot be handed at all.
 */

import { ProcessError } from "../../errors.ts";

/** A file that a command means. */
export interface Executable {
  /** The path of the file. */
  readonly path: string;
  /** Whether the system starts it, or `cmd.exe` has to. */
  readonly kind: "program" | "batch";
}

/** What to hand to the system to start something. */
export interface WindowsStart {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether `args` are already quoted and must be joined as they are. */
  readonly verbatimArguments: boolean;
}

/** Where to look for a command. */
export interface ExecutableSearch {
  readonly command: string;
  /** `PATH` of the child, or undefined when it has none. */
  readonly path: string | undefined;
  /** `PATHEXT` of the child, or undefined when it has none. */
  readonly pathExt: string | undefined;
  /** The child's working directory, as an absolute path. */
  readonly cwd: string;
  isFile(path: string): Promise<boolean>;
}

/** What `CreateProcess` and `cmd.exe` can start. Scripts for other hosts, such as `.ps1`, are not among them. */
const STARTABLE_EXTENSIONS = [".COM", ".EXE", ".BAT", ".CMD"];

/** The longest command `cmd.exe` takes. */
const CMD_LINE_LIMIT = 8191;

/**
 * Finds the file that a command means, as a shell would: a name in the folders of `PATH`, a path from the working
 * directory; a name without a startable extension is tried with each one of `PATHEXT`. Other than in a shell, a mere
 * name is not looked for in the working directory: a program lying there must not stand in for `npx`.
 */
export async function findExecutable(search: ExecutableSearch): Promise<Executable | undefined> {
  const { command, cwd } = search;
  if (command === "") return undefined;
  const isPath = /[\\/:]/.test(command);
  const folders = isPath ? [cwd] : listFolders(search.path ?? "").map((folder) => joinPath(cwd, folder));
  const names = listCandidates(command, listExtensions(search.pathExt));
  for (const folder of folders) {
    for (const name of names) {
      const path = joinPath(folder, name);
      if (await search.isFile(path)) return { path, kind: isBatchFile(path) ? "batch" : "program" };
    }
  }
  return undefined;
}

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

/** Makes the command that ends a process and everything it started. */
export function buildTreeKill(pid: number, systemRoot: string | undefined): WindowsStart {
  if (!Number.isSafeInteger(pid) || pid <= 0) {
    throw new RangeError(`Cannot end a process tree: its id must be a positive integer, but is ${pid}`);
  }
  return {
    command: systemProgram("taskkill.exe", systemRoot),
    args: ["/PID", String(pid), "/T", "/F"],
    verbatimArguments: false,
  };
}

/**
 * Quotes an argument for a program: read back alike by the C run-time and by `CommandLineToArgvW`. Not for batch files.
 */
export function quoteProgramArgument(argument: string): string {
  if (argument !== "" && !/[\s"]/.test(argument)) return argument;
  const escaped = argument.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&");
  return `"${escaped}"`;
}

/** Whether Windows takes a path for a batch file. It ignores spaces and dots at the end of a name (CVE-2024-43402). */
export function isBatchFile(path: string): boolean {
  return /\.(?:bat|cmd)[ .]*$/i.test(path);
}

function buildBatchLine(path: string, args: readonly string[]): string {
  // A name with these characters cannot exist, and a quote in it would end the quoting.
  // deno-lint-ignore no-control-regex -- control characters are among them
  if (/[\0-\x1f"*<>?|]/.test(path)) {
    throw invalidArgument(
      path,
      args,
      "the path of a batch file cannot hold quotes, wildcards or control characters",
    );
  }
  args.forEach((argument, index) => {
    const character = /[\0\r\n]/.exec(argument)?.[0];
    if (character === undefined) return;
    const name = character === "\0" ? "a NUL character" : "a line break";
    throw invalidArgument(
      path,
      args,
      `argument ${index + 1} holds ${name}, which cmd.exe cannot pass to a batch file`,
    );
  });
  const words = [`"${shieldPercent(path.replaceAll("/", "\\"))}"`, ...args.map(quoteBatchArgument)];
  const line = words.join(" ");
  if (line.length > CMD_LINE_LIMIT) {
    throw invalidArgument(
      path,
      args,
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

function invalidArgument(command: string, args: readonly string[], reason: string): ProcessError {
  return new ProcessError("invalid_argument", `Cannot start ${JSON.stringify(command)}: ${reason}`, {
    command,
    args,
  });
}

function systemProgram(name: string, systemRoot: string | undefined): string {
  const root = systemRoot !== undefined && /^[a-z]:[\\/]/i.test(systemRoot) ? systemRoot : "C:\\Windows";
  return joinPath(joinPath(root, "System32"), name);
}

function listFolders(path: string): string[] {
  // A folder with a semicolon in its name stands in quotes; quotes are no part of a name.
  const folders = path.match(/(?:"[^"]*"?|[^;"])+/g) ?? [];
  return folders.map((folder) => folder.replaceAll('"', "").trim()).filter((folder) => folder !== "");
}

function listExtensions(pathExt: string | undefined): string[] {
  const listed = (pathExt ?? "").toUpperCase().split(";").map((extension) => extension.trim());
  const startable = listed.filter((extension) => STARTABLE_EXTENSIONS.includes(extension));
  return startable.length > 0 ? startable : STARTABLE_EXTENSIONS;
}

function listCandidates(command: string, extensions: readonly string[]): string[] {
  const extended = extensions.map((extension) => command + extension.toLowerCase());
  const own = /\.[^.\\/]*$/.exec(command)?.[0].toUpperCase();
  if (own === undefined) return extended;
  // A file without an extension is never right: beside `npx.cmd` lies `npx`, a script for another shell.
  return STARTABLE_EXTENSIONS.includes(own.trimEnd()) ? [command, ...extended] : [...extended, command];
}

function joinPath(folder: string, path: string): string {
  if (/^(?:[a-z]:|[\\/]{2})/i.test(path)) return path;
  const isRooted = /^[\\/]/.test(path);
  const base = isRooted ? /^[a-z]:/i.exec(folder)?.[0] ?? "" : folder.replace(/[\\/]+$/, "");
  return isRooted ? base + path : `${base}\\${path}`;
}
