/** Runs a command line: finds the command, reads its arguments, gives help, and makes an exit code of how it ended. */

import { nearest, ownPart, parseArguments } from "./arguments.ts";
import { type Command, EXIT, type ExitCode, type Invocation, UsageError } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { type Failure, failureToJson, toFailure } from "./failure.ts";
import { COMMON_OPTIONS, formatCommandHelp, formatProgramHelp, optionsOf, usagesOf } from "./help.ts";
import type { CliIo } from "./io.ts";
import { textOfThrown } from "../thrown.ts";
import { VERSION } from "../version.ts";

/** Runs a command line and gives the exit code. Never rejects, but for a fault of the program itself. */
export async function runCommandLine(
  args: readonly string[],
  io: CliIo,
  commands: readonly Command[] = COMMANDS,
): Promise<ExitCode> {
  const { screen } = io;
  let exitCode: ExitCode;
  try {
    exitCode = await runReported(args, io, commands);
  } finally {
    await screen.flush();
  }
  if (screen.failure === undefined) return exitCode;
  screen.error(`Cannot write the results: ${textOfThrown(screen.failure)}`);
  await screen.flush();
  return exitCode === EXIT.ok ? EXIT.no : exitCode;
}

async function runReported(
  args: readonly string[],
  io: CliIo,
  commands: readonly Command[],
): Promise<ExitCode> {
  const seen: Seen = { isQuiet: false };
  try {
    return await dispatch(args, io, commands, seen);
  } catch (error) {
    if (io.interrupted.aborted) return EXIT.interrupted;
    const failure = toFailure(error);
    if (failure === undefined) throw error;
    report(failure, wantsJson(args), seen.isQuiet, io);
    return failure.exitCode;
  }
}

/** What is known of the line when it fails. */
interface Seen {
  /** Whether what the server wrote to stderr has not been shown. */
  isQuiet: boolean;
}

async function dispatch(
  args: readonly string[],
  io: CliIo,
  commands: readonly Command[],
  seen: Seen,
): Promise<ExitCode> {
  const [first, ...rest] = args;
  const { screen } = io;
  if (first === undefined) {
    screen.note(formatProgramHelp(commands, screen.err));
    return EXIT.usage;
  }
  if (first === "--version" || first === "-v") {
    screen.result(VERSION);
    return EXIT.ok;
  }
  if (first === "--help" || first === "-h" || first === "help") {
    const name = rest.find((word) => !word.startsWith("-"));
    screen.result(
      name === undefined
        ? formatProgramHelp(commands, screen.out)
        : formatCommandHelp(find(name, commands), screen.out),
    );
    return EXIT.ok;
  }
  const command = find(first, commands);
  if (asksForHelp(rest)) {
    screen.result(formatCommandHelp(command, screen.out));
    return EXIT.ok;
  }
  const invocation = toInvocation(command, rest);
  seen.isQuiet = invocation.options.has("quiet");
  return await command.run(invocation, io);
}

function find(name: string, commands: readonly Command[]): Command {
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  if (name.startsWith("-")) {
    throw new UsageError(`Cannot use ${name}: a command comes first, see mcp-stdio --help`);
  }
  const near = nearest(name, commands.map((candidate) => candidate.name));
  throw new UsageError(
    `Cannot run ${JSON.stringify(name)}: there is no such command, ${
      near === undefined ? "see mcp-stdio --help" : `but ${near}`
    }`,
  );
}

/** Help is given whatever else is wrong with the line. */
function asksForHelp(args: readonly string[]): boolean {
  return ownPart(args).some((argument) => argument === "--help" || argument === "-h");
}

function wantsJson(args: readonly string[]): boolean {
  return ownPart(args).some((argument) => /^--json(=|$)/.test(argument));
}

function toInvocation(command: Command, args: readonly string[]): Invocation {
  const { words, options, rest } = parseArguments(args, { ...COMMON_OPTIONS, ...optionsOf(command) });
  const [least, most] = command.words;
  const usage = `usage: ${usagesOf(command).join("\n       ")}`;
  if (words.length < least) {
    throw new UsageError(`Cannot run ${command.name}: something is missing\n${usage}`);
  }
  if (words.length > most) {
    // The server's command without "--" before it is the likeliest mistake.
    const surplus = JSON.stringify(words[most]);
    const hint = command.server !== "none" && rest === undefined
      ? ": a server's command stands behind --"
      : "";
    throw new UsageError(`Cannot run ${command.name} with ${surplus}${hint}\n${usage}`);
  }
  if (command.server === "none" && rest !== undefined) {
    throw new UsageError(`Cannot run ${command.name} with a server's command: it starts none\n${usage}`);
  }
  return { command, words, options, serverCommand: rest, isJson: options.has("json") };
}

function report(failure: Failure, isJson: boolean, isQuiet: boolean, { screen }: CliIo): void {
  if (isJson) screen.json(failureToJson(failure));
  screen.error(failure.message);
  const { stderrTail = [] } = failure;
  if (stderrTail.length === 0 || !isQuiet) return;
  screen.note("it wrote to stderr:");
  for (const line of stderrTail) screen.note(`  ${line}`);
}
