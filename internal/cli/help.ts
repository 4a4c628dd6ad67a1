/** Help: for the program and for each command, made from the table of commands. */

import type { Command, OptionSpec, OptionSpecs } from "./command.ts";
import type { Paint } from "./paint.ts";

/** What all commands take. */
export const COMMON_OPTIONS: OptionSpecs = {
  json: { kind: "flag", help: "results as JSON" },
  help: { kind: "flag", short: "h", help: "this help" },
};

/** What goes with a server. */
const SERVER_OPTIONS: OptionSpecs = {
  config: {
    kind: "value",
    placeholder: "FILE",
    help: "a host's file, such as .mcp.json, instead of a command",
  },
  server: { kind: "value", placeholder: "NAME", help: "which server of that file" },
  env: {
    kind: "values",
    placeholder: "NAME[=VALUE]",
    help: "set a variable for the server, or take it over from here; can be given more than once",
  },
  cwd: { kind: "value", placeholder: "FOLDER", help: "where the server runs" },
};

/** All options of a command. */
export function optionsOf(command: Command): OptionSpecs {
  const added = command.server === "none" ? {} : SERVER_OPTIONS;
  // The order is that of help; a command's own form of an option wins.
  return { ...command.options, ...added, ...COMMON_OPTIONS, ...command.options };
}

/** What the program can do. */
export function formatProgramHelp(commands: readonly Command[], paint: Paint): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "mcp-stdio: MCP servers from the shell",
    "",
    paint.bold("Usage"),
    "  mcp-stdio COMMAND [options] -- SERVER [arguments]",
    "  mcp-stdio COMMAND [options] --config FILE --server NAME",
    "",
    paint.bold("Commands"),
    ...commands.map(({ name, summary }) => `  ${paint.cyan(name.padEnd(width))}  ${summary}`),
    "",
    paint.bold("Options"),
    ...formatOptions({
      help: { kind: "flag", short: "h", help: "this help, or that of a command" },
      version: { kind: "flag", help: "the version" },
    }, paint),
    "",
    "Results go to stdout, everything else to stderr.",
    "Exit codes: 0 all well, 1 the answer is no, 2 wrong usage, 3 the server could not be used.",
  ].join("\n");
}

/** What a command can do. */
export function formatCommandHelp(command: Command, paint: Paint): string {
  const { name, summary, notes = [], examples } = command;
  return [
    `mcp-stdio ${name}: ${summary}`,
    "",
    paint.bold("Usage"),
    ...usagesOf(command).map((usage) => `  ${usage}`),
    ...notes.flatMap((note) => ["", note]),
    "",
    paint.bold("Options"),
    ...formatOptions(optionsOf(command), paint),
    "",
    paint.bold(examples.length === 1 ? "Example" : "Examples"),
    ...examples.flatMap(({ line, what }) => [`  ${paint.dim(`# ${what}`)}`, `  mcp-stdio ${line}`]),
  ].join("\n");
}

/** How a command is called. */
export function usagesOf({ name, usage, server }: Command): string[] {
  const start = ["mcp-stdio", name, usage, "[options]"].filter((part) => part !== "").join(" ");
  if (server === "none") return [start];
  return [`${start} -- SERVER [arguments]`, `${start} --config FILE --server NAME`];
}

function formatOptions(specs: OptionSpecs, paint: Paint): string[] {
  const rows = Object.entries(specs).map(([name, spec]) => [headOf(name, spec), helpOf(spec)] as const);
  const width = Math.min(28, Math.max(...rows.map(([head]) => head.length)));
  return rows.map(([head, help]) =>
    head.length > width
      ? `  ${paint.cyan(head)}\n  ${" ".repeat(width)}  ${help}`
      : `  ${paint.cyan(head.padEnd(width))}  ${help}`
  );
}

function headOf(name: string, { kind, short, placeholder, choices }: OptionSpec): string {
  const flag = short === undefined ? `--${name}` : `-${short}, --${name}`;
  if (kind === "flag") return choices === undefined ? flag : `${flag}[=${choices.join("|")}]`;
  return `${flag} ${placeholder ?? choices?.join("|") ?? "VALUE"}`;
}

function helpOf({ help, choices, placeholder }: OptionSpec): string {
  return choices !== undefined && placeholder !== undefined ? `${help}: ${choices.join(", ")}` : help;
}
