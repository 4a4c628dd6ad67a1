/** Child processes on Bun. */

import type { Readable } from "node:stream";
import type { ChildHandle, ExitStatus, Signal, SpawnCommand } from "../../../runtime.ts";
import type { WindowsStart } from "../../windows/start.ts";
import { Bun, bunProcess, type BunSubprocess } from "./namespace.ts";
import { writeAll } from "./stdio.ts";
import { brokenPipe, type ByteSource, readableFrom, writableTo } from "../byte_streams.ts";
import { sourceOf } from "../node_api/streams.ts";
import { SignalTarget } from "../signal_target.ts";
import { checkCommand, type PathProbe, spawnFailure } from "../spawn_failure.ts";
import type { TreeEndMeans } from "../tree_end.ts";

/** Starts a process. */
export async function spawnOnBun(command: SpawnCommand, probe: PathProbe): Promise<ChildHandle> {
  checkCommand(command);
  try {
    const isWindows = probe.os === "windows";
    return new BunChild(start(command, isWindows), command, isWindows);
  } catch (error) {
    const { message } = error as Error;
    throw await spawnFailure(command, error, probe, {
      notOnPath: message.startsWith("Executable not found in"),
    });
  }
}

function start(command: SpawnCommand, isWindows: boolean): BunSubprocess {
  const { command: name, args, cwd, env } = command;
  try {
    return spawn(command, [name, ...args], isWindows);
  } catch (error) {
    // A script without a first line that names its interpreter: other runtimes leave it to the system's search, which
    // hands it to the shell.
    if ((error as { code?: unknown }).code !== "ENOEXEC") throw error;
    const path = Bun.which(name, { PATH: env.PATH ?? "", cwd: cwd ?? bunProcess().cwd() });
    return spawn(command, ["/bin/sh", path ?? name, ...args], isWindows);
  }
}

function spawn(
  { cwd, env, stderr, processGroup, verbatimArguments }: SpawnCommand,
  cmd: string[],
  isWindows: boolean,
): BunSubprocess {
  return Bun.spawn({
    cmd,
    ...cwd === undefined ? {} : { cwd },
    env: { ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr,
    lazy: true,
    detached: processGroup && !isWindows,
    windowsHide: true,
    windowsVerbatimArguments: verbatimArguments ?? false,
  });
}

class BunChild extends SignalTarget implements ChildHandle {
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array> | null;
  readonly exited: Promise<ExitStatus | null>;
  readonly #child: BunSubprocess;
  readonly #outputs: ChildOutput[] = [];

  constructor(child: BunSubprocess, command: SpawnCommand, isWindows: boolean) {
    super(command.processGroup, isWindows);
    this.#child = child;
    this.pid = child.pid;
    this.stdin = writableTo({
      write: (bytes) => {
        // Bun takes bytes for a dead child without a word.
        if (this.hasExited) throw brokenPipe();
        const writing = writeAll(child.stdin, bytes);
        const check = (): void => {
          if (this.hasExited) throw brokenPipe();
        };
        if (writing !== undefined) return writing.then(check);
        check();
        return undefined;
      },
      close: () => endOf(child),
      abort: () => endOf(child),
    });
    this.stdout = this.#toReadable(child.stdout);
    this.stderr = command.stderr === "pipe"
      ? this.#toReadable(child.stderr as ReadableStream<Uint8Array>)
      : null;
    this.exited = child.exited.then(
      // For a signal it resolves to a made-up code, 128 + its number; `exitCode` is null then.
      () =>
        child.signalCode !== null
          ? { signal: child.signalCode }
          : child.exitCode !== null
          ? { code: child.exitCode }
          : null,
      () => null,
    );
  }

  protected override get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  unref(): void {
    this.#child.unref();
    for (const output of this.#outputs) output.unref();
  }

  #toReadable(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const output = new ChildOutput(stream);
    this.#outputs.push(output);
    return readableFrom(output);
  }

  protected override killChild(signal: Signal): boolean {
    if (this.hasExited) return false;
    this.#child.kill(signal);
    return true;
  }

  protected override kill(pid: number, signal: Signal | 0): void {
    bunProcess().kill(pid, signal);
  }

  protected override systemPrograms(): Pick<TreeEndMeans, "systemRoot" | "run" | "runNow"> {
    const toOptions = ({ command, args }: WindowsStart) =>
      ({
        cmd: [command, ...args],
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        windowsHide: true,
      }) as const;
    return {
      systemRoot: bunProcess().env.SystemRoot,
      async run(program) {
        const helper = Bun.spawn(toOptions(program));
        helper.unref();
        return await helper.exited === 0;
      },
      runNow: (program) => Bun.spawnSync(toOptions(program)).exitCode === 0,
    };
  }
}

/** Output of a child; it is read directly unless it must not keep this process alive, which only a Node stream can. */
class ChildOutput implements ByteSource {
  readonly #stream: ReadableStream<Uint8Array>;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #unreferenced: ByteSource | undefined;
  #isReading = false;
  #isWanted = true;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#stream = stream;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#unreferenced !== undefined) return await this.#unreferenced.read();
    this.#reader ??= this.#stream.getReader();
    this.#isReading = true;
    try {
      return (await this.#reader.read()).value ?? null;
    } finally {
      this.#isReading = false;
      if (!this.#isWanted) this.unref();
    }
  }

  async close(): Promise<void> {
    if (this.#unreferenced !== undefined) return await this.#unreferenced.close();
    this.#reader ??= this.#stream.getReader();
    await this.#reader.cancel();
  }

  /** A read that is under way still counts. */
  unref(): void {
    this.#isWanted = false;
    if (this.#isReading || this.#unreferenced !== undefined) return;
    this.#reader?.releaseLock();
    this.#unreferenced = sourceOf(toUnreferenced(this.#stream));
  }
}

function toUnreferenced(output: ReadableStream<Uint8Array>): Readable {
  const { Readable } = bunProcess().getBuiltinModule("node:stream") as typeof import("node:stream");
  const stream: Readable & { ref?(): void; unref?(): void } = Readable.fromWeb(
    output as Parameters<typeof Readable.fromWeb>[0],
  );
  // It counts its references from 0, and lets go when the count falls to 0.
  stream.ref?.();
  stream.unref?.();
  return stream;
}

/** Ends a child's stdin. Fails when there is nothing left to end, which is as good. */
async function endOf(child: BunSubprocess): Promise<void> {
  try {
    await child.stdin.end();
  } catch {
    // See above.
  }
}
