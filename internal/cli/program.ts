/** The command line as a program: on this process's streams, with its signals and its exit code. */

import type { RuntimeAdapter } from "../../runtime.ts";
import { systemClock } from "../clock.ts";
import { detectRuntime } from "../runtime/detect.ts";
import {
  openTextInput,
  openTextOutput,
  programArguments,
  systemFiles,
} from "../runtime/node_api/terminal.ts";
import { EXIT } from "./command.ts";
import { runCommandLine } from "./run.ts";
import { Screen } from "./screen.ts";

/** Runs a command line on this process's streams. */
export async function runProgram(args: readonly string[]): Promise<number> {
  const runtime = await detectRuntime();
  const interruption = new Interruption(runtime);
  const input = openTextInput();
  try {
    return await runCommandLine(args, {
      runtime,
      clock: systemClock,
      screen: new Screen({
        stdout: openTextOutput("stdout"),
        stderr: openTextOutput("stderr"),
        env: (name) => runtime.env([name])[name],
      }),
      input,
      files: systemFiles,
      get interrupted(): AbortSignal {
        return interruption.signal;
      },
    });
  } finally {
    interruption.stop();
    input.close();
  }
}

/** Runs this process's command line and ends the process. */
export async function runAndExit(): Promise<never> {
  const runtime = await detectRuntime();
  return runtime.exit(await runProgram(programArguments()));
}

/** Listens to signals from the moment that somebody wants to know of them: `record` has its own way with them. */
class Interruption {
  readonly #runtime: RuntimeAdapter;
  readonly #controller = new AbortController();
  #stop: (() => void) | undefined;

  constructor(runtime: RuntimeAdapter) {
    this.#runtime = runtime;
  }

  get signal(): AbortSignal {
    const { signal } = this.#controller;
    this.#stop ??= this.#runtime.onSignal(["SIGINT", "SIGTERM", "SIGHUP"], (name) => {
      if (signal.aborted) this.#runtime.exit(EXIT.interrupted);
      this.#controller.abort(new Error(`Cannot go on: ${name} came`));
    });
    return signal;
  }

  stop(): void {
    this.#stop?.();
  }
}
