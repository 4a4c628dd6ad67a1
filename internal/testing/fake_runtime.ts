import type {
  ByteStreams,
  ChildHandle,
  ExitStatus,
  OwnStdio,
  RuntimeAdapter,
  Signal,
  SignalOutcome,
  SpawnCommand,
} from "../../runtime.ts";
import { createDeferred } from "../promises.ts";
import { createMemoryPipe, type MemoryPipe } from "./memory_pipe.ts";

/** As much as a pipe of Linux holds. */
const PIPE_BYTES = 65_536;

/** Options for {@linkcode createFakeRuntime}. */
export interface FakeRuntimeOptions {
  /** Called with each process that is started; a throw or a rejection is a failed spawn. */
  onSpawn?: ((started: FakeProcess) => void | Promise<void>) | undefined;
  /** The environment; by default empty, and on Windows with one folder in PATH. */
  env?: Record<string, string> | undefined;
  /** Text files by path. Without them nobody knows what there is, and on Windows a command is started as it is given. */
  files?: Record<string, string> | undefined;
  /** The kind of system. */
  os?: "posix" | "windows" | undefined;
  /** This process's own stdin and stdout. */
  stdio?: ByteStreams | undefined;
}

/** A runtime in memory, and what a test may ask of it or do to it. */
export interface FakeRuntime extends RuntimeAdapter {
  /** Every process that was started, in order. */
  readonly processes: readonly FakeProcess[];
  /** What was written to stderr. */
  readonly stderrText: string;
  /** The codes this process was ended with. */
  readonly exitCodes: readonly number[];
  /** Sends this process a signal. */
  raise(signal: Signal): void;
  /** Lets an error in this process go uncaught. */
  throwUncaught(error: unknown): void;
  /** Ends this process: what waits for its end is called. */
  endProcess(): void;
  /** The id of this process's parent; give it another one and the parent has ended. */
  parentPid: number;
}

/** A process made of method calls: the test is what runs in it. */
export class FakeProcess implements ByteStreams {
  /** What was started. */
  readonly command: SpawnCommand;
  /** Its process id. */
  readonly pid: number;
  /** What the test reads: the process's stdin. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Where the test writes: the process's stdout. */
  readonly writable: WritableStream<Uint8Array>;
  /** The end that the client holds. */
  readonly handle: ChildHandle;
  /** The signals it got, in order. */
  readonly signals: Signal[] = [];
  /** Signals that came when it was reaped and nothing was left in its group: they may have hit a stranger. */
  readonly straySignals: Signal[] = [];
  /** Signals that do not end it, nor its helper; `SIGKILL` always does, unless it {@linkcode isStuck}. */
  readonly ignoredSignals: Set<Signal> = new Set();
  /** Whether it stays when its stdin ends. */
  ignoresEndOfInput = false;
  /** Whether it hangs in the system, where no signal reaches it. */
  isStuck = false;
  /** Whether something that it started, in its group, is left when it ends. */
  hasHelper = false;
  /** Whether it keeps this process alive. */
  keepsAlive = true;
  readonly #exited = createDeferred<ExitStatus | null>();
  readonly #stdin: MemoryPipe;
  readonly #stdout: MemoryPipe;
  readonly #stderr: MemoryPipe | undefined;
  #exit: ExitStatus | null | undefined;
  #inputEnded = false;

  /** Made by the runtime. */
  constructor(command: SpawnCommand, pid: number) {
    this.command = command;
    this.pid = pid;
    this.#stdin = createMemoryPipe(PIPE_BYTES, () => this.#endOfInput());
    this.#stdout = createMemoryPipe(PIPE_BYTES);
    this.#stderr = command.stderr === "pipe" ? createMemoryPipe(PIPE_BYTES) : undefined;
    this.readable = this.#stdin.readable;
    this.writable = this.#stdout.writable;
    this.handle = {
      pid,
      stdin: this.#stdin.writable,
      stdout: this.#stdout.readable,
      stderr: this.#stderr?.readable ?? null,
      exited: this.#exited.promise,
      signal: (signal) => this.#signal(signal),
      killNow: () => this.#signal("SIGKILL"),
      groupAlive: () => this.#exit === undefined || this.hasHelper,
      unref: () => void (this.keepsAlive = false),
    };
  }

  /** Whether its stdin has been closed. */
  get inputEnded(): boolean {
    return this.#inputEnded;
  }

  /** Whether it has ended. */
  get ended(): boolean {
    return this.#exit !== undefined;
  }

  /** Ends it: its stdout ends behind what was written, and it can be reaped. */
  exit(status: ExitStatus | null = { code: 0 }): void {
    if (this.#exit !== undefined) return;
    this.#stdout.end();
    this.exitHoldingStdout(status);
  }

  /** Ends it, while somebody else holds its stdout, where the test goes on writing. */
  exitHoldingStdout(status: ExitStatus | null = { code: 0 }): void {
    if (this.#exit !== undefined) return;
    this.#exit = status;
    this.#stdin.end();
    this.#stderr?.end();
    this.#exited.resolve(status);
  }

  /** Closes its stdin although it goes on: whoever writes to it gets EPIPE. */
  closeStdin(): void {
    this.#stdin.end();
  }

  /** Ends its stdout although it goes on. */
  closeStdout(): void {
    this.#stdout.end();
  }

  /** Writes text to its stderr, if that is piped. */
  async writeStderr(text: string): Promise<void> {
    const writer = this.#stderr?.writable.getWriter();
    await writer?.write(new TextEncoder().encode(text));
    writer?.releaseLock();
  }

  #endOfInput(): void {
    this.#inputEnded = true;
    if (!this.ignoresEndOfInput) this.exit({ code: 0 });
  }

  #signal(signal: Signal): SignalOutcome {
    if (this.#exit !== undefined && !this.hasHelper) {
      this.straySignals.push(signal);
      return "gone";
    }
    this.signals.push(signal);
    if (this.isStuck || (signal !== "SIGKILL" && this.ignoredSignals.has(signal))) return "sent";
    this.hasHelper = false;
    this.exit({ signal });
    return "sent";
  }
}

/**
 * Makes a runtime in memory: its processes are made of method calls.
 *
 * @example A server that exits at once
 * ```ts
 * import { spawn } from "@mcp/stdio/client";
 * import { createFakeRuntime } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const runtime = createFakeRuntime({ onSpawn: (started) => started.exit({ code: 3 }) });
 * await assert.rejects(spawn({ command: "some-server", runtime }), { code: "exited_early", exit: { code: 3 } });
 * assert.equal(runtime.processes[0]?.command.command, "some-server");
 * ```
 */
export function createFakeRuntime(options: FakeRuntimeOptions = {}): FakeRuntime {
  return new MemoryRuntime(options);
}

class MemoryRuntime implements FakeRuntime {
  readonly name = "memory";
  readonly os: "posix" | "windows";
  readonly pid = 1;
  parentPid = 0;
  readonly processes: FakeProcess[] = [];
  readonly exitCodes: number[] = [];
  readonly #options: FakeRuntimeOptions;
  readonly #endCallbacks = new Set<() => void>();
  readonly #listeners = new Set<(signal: Signal) => void>();
  readonly #errorListeners = new Set<(error: unknown) => void>();
  stderrText = "";

  constructor(options: FakeRuntimeOptions) {
    this.#options = options;
    this.os = options.os ?? "posix";
  }

  async spawn(command: SpawnCommand): Promise<ChildHandle> {
    const process = new FakeProcess(command, 1_000 + this.processes.length);
    this.processes.push(process);
    await this.#options.onSpawn?.(process);
    return process.handle;
  }

  openStdio(): OwnStdio {
    const { stdio } = this.#options;
    if (stdio === undefined) throw new TypeError("Cannot open stdio: the fake runtime was made without it");
    return { ...stdio, exclusive: true };
  }

  guardStdout(): () => void {
    return () => {};
  }

  writeStderr(text: string): void {
    this.stderrText += text;
  }

  env(names?: readonly string[]): Record<string, string> {
    // Windows looks for every command in a folder of PATH.
    const { env = this.os === "windows" ? { PATH: "C:\\Windows" } : {} } = this.#options;
    return names === undefined
      ? { ...env }
      : Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
  }

  mayReadEnv(): boolean {
    return true;
  }

  cwd(): string {
    return "/";
  }

  readTextFile(path: string): Promise<string> {
    const text = this.#options.files?.[path];
    return text === undefined ? Promise.reject(new Error(`No such file: ${path}`)) : Promise.resolve(text);
  }

  isDirectory(path: string): Promise<boolean | undefined> {
    const { files } = this.#options;
    return Promise.resolve(files && Object.keys(files).some((file) => file.startsWith(`${path}/`)));
  }

  isFile(path: string): Promise<boolean | undefined> {
    const { files } = this.#options;
    return Promise.resolve(files && Object.hasOwn(files, path));
  }

  onSignal(signals: readonly Signal[], callback: (signal: Signal) => void): () => void {
    const listener = (signal: Signal) => {
      if (signals.includes(signal)) callback(signal);
    };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onProcessEnd(callback: () => void): () => void {
    this.#endCallbacks.add(callback);
    return () => void this.#endCallbacks.delete(callback);
  }

  onUncaughtError(callback: (error: unknown) => void): () => void {
    this.#errorListeners.add(callback);
    return () => void this.#errorListeners.delete(callback);
  }

  ifStillAlive(): void {}

  exit(code: number): never {
    this.exitCodes.push(code);
    throw new Error(`The fake process was ended with code ${code}`);
  }

  raise(signal: Signal): void {
    for (const listener of [...this.#listeners]) listener(signal);
  }

  throwUncaught(error: unknown): void {
    for (const listener of [...this.#errorListeners]) listener(error);
  }

  endProcess(): void {
    for (const callback of [...this.#endCallbacks]) callback();
  }
}
