/** Child processes on Deno. */

import type { ProcessError } from "../../../errors.ts";
import type { ChildHandle, ExitStatus, Signal, SpawnCommand } from "../../../runtime.ts";
import type { WindowsStart } from "../../windows/start.ts";
import { type ByteSink, type ByteSource, readableFrom, writableTo } from "../byte_streams.ts";
import { Deno, type DenoChildProcess, isGranted } from "./namespace.ts";
import { ReusedBuffer } from "./stdio.ts";
import { isGone, SignalTarget } from "../signal_target.ts";
import { checkCommand, type PathProbe, processError, spawnFailure } from "../spawn_failure.ts";
import type { TreeEndMeans } from "../tree_end.ts";

/** Starts a process. */
export async function spawnOnDeno(command: SpawnCommand, probe: PathProbe): Promise<ChildHandle> {
  checkCommand(command);
  const isWindows = probe.os === "windows";
  const path = permittedPath(command, isWindows);
  if (path === undefined) throw notPermitted(command);
  let child: DenoChildProcess;
  try {
    child = new Deno.Command(path, {
      args: [...command.args],
      ...command.cwd === undefined ? {} : { cwd: command.cwd },
      env: { ...command.env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: STDERR[command.stderr],
      detached: command.processGroup && !isWindows,
      windowsRawArguments: command.verbatimArguments ?? false,
    }).spawn();
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "NotCapable") throw notPermitted(command, error);
    throw await spawnFailure(command, error, probe, {
      noCwd: /: (No such cwd|cwd is not a directory) '/.test(message),
      notOnPath: message.endsWith(": entity not found"),
    });
  }
  return new DenoChild(child, command.processGroup, command.stderr === "pipe", isWindows);
}

const STDERR = { inherit: "inherit", pipe: "piped", ignore: "null" } as const;

/**
 * What may be run without asking the user. Deno judges by what it finds in the child's PATH: when that is not the program
 * it was given for the name, it would ask. So with a list of commands the permitted one is looked up here.
 */
function permittedPath({ command, cwd, env }: SpawnCommand, isWindows: boolean): string | undefined {
  if (isGranted({ name: "run" })) return command;
  const mayRun = (path: string): boolean => isGranted({ name: "run", command: path });
  if (command.startsWith("/") || isWindows || env.PATH === undefined) {
    return mayRun(command) ? command : undefined;
  }
  if (command.includes("/")) {
    return mayRun(cwd === undefined ? command : `${cwd}/${command}`) ? command : undefined;
  }
  return env.PATH.split(":").map((folder) => `${folder || "."}/${command}`).find(mayRun);
}

function notPermitted(command: SpawnCommand, cause?: unknown): ProcessError {
  // A list of commands does not extend to variables by which the loader would run something else.
  const loader = Object.keys(command.env).find((name) => /^(LD|DYLD)_/.test(name));
  const hint = cause !== undefined && loader !== undefined
    ? `leave ${loader} out of its environment, or run with --allow-run`
    : `run with --allow-run=${command.command}; with it already, there is no such command`;
  return processError("permission_denied", command, "Deno has no permission to run it", { hint }, cause);
}

class DenoChild extends SignalTarget implements ChildHandle {
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array> | null;
  readonly exited: Promise<ExitStatus | null>;
  readonly #child: DenoChildProcess;
  protected override hasExited = false;

  constructor(child: DenoChildProcess, processGroup: boolean, pipesStderr: boolean, isWindows: boolean) {
    super(processGroup, isWindows);
    this.#child = child;
    this.pid = child.pid;
    this.stdin = writableTo(sinkOf(child.stdin));
    this.stdout = readableFrom(sourceOf(child.stdout));
    this.stderr = pipesStderr ? readableFrom(sourceOf(child.stderr)) : null;
    this.exited = child.status.then(
      // For a signal Deno makes up a code, 128 + its number.
      ({ code, signal }) => signal !== null ? { signal } : { code },
      () => null,
    ).finally(() => this.hasExited = true);
  }

  unref(): void {
    this.#child.unref();
  }

  /** With a list of commands Deno signals only children of its own. */
  protected override get mayReachGroup(): boolean {
    return isGranted({ name: "run" });
  }

  protected override killChild(signal: Signal): boolean {
    try {
      this.#child.kill(signal);
      return true;
    } catch (error) {
      if (error instanceof TypeError || isGone(error)) return false;
      throw error;
    }
  }

  protected override kill(pid: number, signal: Signal | 0): void {
    Deno.kill(pid, signal);
  }

  protected override systemPrograms(): Pick<TreeEndMeans, "systemRoot" | "run" | "runNow"> {
    const open = ({ command, args }: WindowsStart) => {
      if (!isGranted({ name: "run", command })) throw new TypeError(`Cannot run ${command}: no permission`);
      return new Deno.Command(command, { args: [...args], stdin: "null", stdout: "null", stderr: "null" });
    };
    return {
      systemRoot: isGranted({ name: "env", variable: "SystemRoot" }) ? Deno.env.get("SystemRoot") : undefined,
      async run(program) {
        const helper = open(program).spawn();
        helper.unref();
        return (await helper.status).code === 0;
      },
      runNow: (program) => open(program).outputSync().code === 0,
    };
  }
}

function sourceOf(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader({ mode: "byob" });
  const buffer = new ReusedBuffer();
  return {
    async read() {
      const { value } = await reader.read(buffer.lend());
      return value === undefined || value.length === 0 ? null : buffer.take(value);
    },
    close: () => reader.cancel(),
  };
}

function sinkOf(stream: WritableStream<Uint8Array>): ByteSink {
  const writer = stream.getWriter();
  // Rejects as soon as a write does, which tells its own caller.
  writer.closed.catch(() => {});
  writer.ready.catch(() => {});
  // Fails when there is nothing left to end, which is as good.
  const ended = () => {};
  return {
    write: (bytes) => writer.write(bytes),
    close: () => writer.close().catch(ended),
    abort: () => writer.abort().catch(ended),
  };
}
