/** The command line in this process, on streams of the test. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import type { TestContext } from "node:test";
import type { Command } from "../internal/cli/command.ts";
import type { CliIo } from "../internal/cli/io.ts";
import { runCommandLine } from "../internal/cli/run.ts";
import { Screen } from "../internal/cli/screen.ts";
import { systemClock } from "../internal/clock.ts";
import { detectRuntime } from "../internal/runtime/detect.ts";
import { systemFiles, type TextInput, type TextOutput } from "../internal/runtime/node_api/terminal.ts";
import { strangerCommand } from "./_stranger.ts";
import { commandOf } from "./server_processes.ts";

/** What was written to a stream. */
export class FakeOutput implements TextOutput {
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  readonly failure = undefined;
  /** All writes, in order. */
  readonly writes: (string | Uint8Array)[] = [];

  constructor(isTerminal: boolean, columns = 100) {
    this.isTerminal = isTerminal;
    this.columns = isTerminal ? columns : undefined;
  }

  /** All of it as text. */
  get text(): string {
    const decoder = new TextDecoder();
    return this.writes.map((part) => typeof part === "string" ? part : decoder.decode(part)).join("");
  }

  write(content: string | Uint8Array): void {
    this.writes.push(content);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }
}

/** Somebody who answers questions, one after the other, or a text that is piped in. */
export class FakeInput implements TextInput {
  readonly isTerminal: boolean;
  readonly questions: string[] = [];
  readonly secrets: string[] = [];
  readonly #answers: string[];
  readonly #piped: string;

  constructor({ answers, piped = "" }: { answers?: readonly string[]; piped?: string }) {
    this.isTerminal = answers !== undefined;
    this.#answers = [...answers ?? []];
    this.#piped = piped;
  }

  readAll(): Promise<Uint8Array> {
    return Promise.resolve(new TextEncoder().encode(this.#piped));
  }

  ask(question: string, options: { isSecret?: boolean | undefined } = {}): Promise<string | undefined> {
    (options.isSecret === true ? this.secrets : this.questions).push(question);
    return Promise.resolve(this.#answers.shift());
  }

  close(): void {}
}

/** How to run the command line. */
export interface RunOptions {
  /** Whether stdout and stderr are terminals. */
  readonly isTerminal?: boolean;
  readonly columns?: number;
  /** What is typed; without it stdin is no terminal. */
  readonly answers?: readonly string[];
  /** What is piped in. */
  readonly piped?: string;
  /** What the screen knows of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly interrupted?: AbortSignal;
  readonly commands?: readonly Command[];
  /** Told of the streams before anything is run. */
  readonly onStart?: (streams: { stdout: FakeOutput; stderr: FakeOutput; input: FakeInput }) => void;
}

/** What came of it. */
export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly questions: readonly string[];
  readonly secrets: readonly string[];
  /** What stands on stdout, as JSON. */
  // deno-lint-ignore no-explicit-any -- a test looks at what it knows
  readonly json: () => any;
}

/** Runs a command line in this process; servers are started for real. */
export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { isTerminal = false, columns, env = {}, interrupted = new AbortController().signal } = options;
  const stdout = new FakeOutput(isTerminal, columns);
  const stderr = new FakeOutput(isTerminal, columns);
  const input = new FakeInput(options);
  options.onStart?.({ stdout, stderr, input });
  const io: CliIo = {
    runtime: await detectRuntime(),
    clock: systemClock,
    screen: new Screen({ stdout, stderr, env: (name) => env[name] }),
    input,
    files: systemFiles,
    interrupted,
  };
  const code = await runCommandLine(args, io, options.commands);
  return {
    code,
    stdout: stdout.text,
    stderr: stderr.text,
    questions: input.questions,
    secrets: input.secrets,
    json: () => JSON.parse(stdout.text),
  };
}

/** A server's command behind `--`: the command line knows no more of it than of any other. */
export function serverArgs(program: string, args: readonly string[] = []): string[] {
  return ["--", ...strangerCommand(program, args)];
}

/** Runs the program `cli.ts` as a process of the runtime under test. */
export async function runProgram(
  t: TestContext,
  args: readonly string[],
  { piped = "", env = {}, stdout: out = "pipe" }: {
    piped?: string;
    env?: Record<string, string>;
    /** A descriptor, if stdout does not come back here. */
    stdout?: "pipe" | number;
  } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [command = "", ...rest] = commandOf("cli", args);
  const child = spawn(command, rest, { stdio: ["pipe", out, "pipe"], env: { ...process.env, ...env } });
  t.after(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => stdout += chunk);
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => stderr += chunk);
  child.stdin!.end(piped);
  const [code] = await once(child, "close") as [number | null];
  return { code, stdout, stderr };
}
