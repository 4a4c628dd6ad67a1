/**
 * What a command of the command line is. `commands.ts` lists them; `run.ts` reads the arguments, gives help, runs one, and
 * makes an exit code of what it gives or throws.
 *
 * A command is data and one function, so that help and arguments can be had without loading what the command needs: `run`
 * imports that when it is called. The one for `doctor` therefore reads
 *
 *     export const DOCTOR: Command = {
 *       name: "doctor", summary: "…", usage: "…", examples: […], server: "one", options: {…},
 *       run: async (invocation, io) => (await import("./doctor.ts")).runDoctor(invocation, io),
 *     };
 *
 * in `internal/cli/doctor/command.ts`, with `runDoctor(invocation: Invocation, io: CliIo): Promise<ExitCode>`.
 */

import type { Options } from "./arguments.ts";
import type { CliIo } from "./io.ts";

/** What the program ends with: one of {@linkcode EXIT}, or, for `record`, what the server ended with. */
export type ExitCode = number;

/** What exit codes mean. */
export const EXIT = {
  /** All well. */
  ok: 0,
  /** The answer is no: a rule is broken, a tool has failed, the server has answered with an error. */
  no: 1,
  /** The command line cannot be used. */
  usage: 2,
  /** The server could not be used. */
  unusable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** One option. Names are long ones, without the dashes. */
export interface OptionSpec {
  /** `flag`: there or not; `value`: one value, the last one counts; `values`: one for each time it is given. */
  readonly kind: "flag" | "value" | "values";
  /** What help calls the value, such as `FILE`. */
  readonly placeholder?: string;
  /** One letter for it. */
  readonly short?: string;
  /** The values that there are. Those of a flag may be left away, as in `--json=lines`. */
  readonly choices?: readonly string[];
  /** What it does, in a line. */
  readonly help: string;
}

/** Options by name. */
export interface OptionSpecs {
  readonly [name: string]: OptionSpec;
}

/** A command line that shows what a command is for. */
export interface Example {
  /** What stands behind `mcp-stdio`. */
  readonly line: string;
  /** What it does. */
  readonly what: string;
}

/** One command. */
export interface Command {
  readonly name: string;
  /** What it does, in a line. */
  readonly summary: string;
  /** What stands behind the name, such as `TOOL [key=value …]`; options and the server are added. */
  readonly usage: string;
  /** More that one should know, a paragraph each. */
  readonly notes?: readonly string[];
  readonly examples: readonly Example[];
  /**
   * What server it needs: `one`, by a command behind `--` or a host's file; `none`. Options that go with it are added to the
   * command's own.
   */
  readonly server: "one" | "none";
  /** Its own options. */
  readonly options: OptionSpecs;
  /** How many words it takes beside options, at least and at most. */
  readonly words: readonly [least: number, most: number];
  /** Does it. What it throws becomes a message and an exit code. */
  run(invocation: Invocation, io: CliIo): Promise<ExitCode>;
}

/** A command as it was called. */
export interface Invocation {
  readonly command: Command;
  /** The words beside options, such as the name of a tool. */
  readonly words: readonly string[];
  readonly options: Options;
  /** What stands behind `--`; undefined without one. */
  readonly serverCommand: readonly string[] | undefined;
  /** Whether results are JSON. */
  readonly isJson: boolean;
}

/** A command line that cannot be used. */
export class UsageError extends Error {
  /** Makes one. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UsageError";
  }
}

/** A server that cannot be used, for a reason that is no error of the library. */
export class UnusableServerError extends Error {
  /** Makes one. */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UnusableServerError";
  }
}
