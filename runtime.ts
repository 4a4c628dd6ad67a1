/**
 * What the module needs from a runtime, as types: processes, this process's stdin and stdout, signals, environment and
 * files. Deno, Bun and Node each have an adapter. The right one is found at first use; a test hands in its own.
 *
 * @example Hand in a runtime of your own
 * ```ts
 * import type { RuntimeAdapter } from "@mcp/stdio/runtime";
 * import { createFakeRuntime } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const runtime: RuntimeAdapter = createFakeRuntime({ env: { HOME: "/home/me" } });
 * assert.equal(runtime.env().HOME, "/home/me");
 * ```
 *
 * @module
 */

/** How a process ended: by itself with a code, or by a signal such as `SIGKILL`. */
export type ExitStatus =
  | { readonly code: number; readonly signal?: undefined }
  | { readonly signal: string; readonly code?: undefined };

/** The signals this module sends or listens to. */
export type Signal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP";

/** A pair of byte streams as seen from this side. */
export interface ByteStreams {
  /** Where bytes come from. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Where bytes go. */
  readonly writable: WritableStream<Uint8Array>;
}

/** What to start, with nothing left to decide. */
export interface SpawnCommand {
  /** A program's name, searched in `env.PATH`, or a path to it. No shell is involved. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Its working directory; this process's own when absent. */
  readonly cwd?: string | undefined;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its stderr goes: to this process's own, to `ChildHandle.stderr`, or nowhere. */
  readonly stderr: "inherit" | "pipe" | "ignore";
  /** Whether it leads a process group of its own, so that what it starts can be ended with it. */
  readonly processGroup: boolean;
  /** Windows: `args` are quoted already, and must be put on the command line as they are. */
  readonly verbatimArguments?: boolean | undefined;
  /** What errors show in place of `command` and `args`: what the user asked for, if another program, such as `cmd.exe`, runs that. */
  readonly shown?: { readonly command: string; readonly args: readonly string[] } | undefined;
}

/**
 * What came of a signal. `sent`: it was sent. `gone`: the process had ended already. `child_only`: the group was meant, but only
 * the child could be reached, as on Deno with a list in `--allow-run`, or on Windows if `taskkill` fails.
 */
export type SignalOutcome = "sent" | "gone" | "child_only";

/** A process that was started and has to be ended. */
export interface ChildHandle {
  /** Its process id; with `processGroup` also the id of its group. */
  readonly pid: number;
  /** Its stdin. A write resolves when the system took the bytes and rejects when the reader is gone. */
  readonly stdin: WritableStream<Uint8Array>;
  /** Its stdout, with back-pressure: what is not asked for is not read. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Its stderr if that is piped, else null. */
  readonly stderr: ReadableStream<Uint8Array> | null;
  /** Resolves when the process has been reaped, whoever still holds its pipes. Never rejects; null without a status. */
  readonly exited: Promise<ExitStatus | null>;
  /**
   * Signals the process, or the group that it led when it was started. On Windows every signal ends the process, and `"group"` its
   * whole tree; what came of that is known later, hence the promise. Must not be called once the process has been reaped: its id may
   * belong to another one by then.
   */
  signal(signal: Signal, target: "child" | "group"): SignalOutcome | Promise<SignalOutcome>;
  /** Sends SIGKILL at once, on Windows too: for the moment when this process ends and nothing can be awaited. */
  killNow(target: "child" | "group"): SignalOutcome;
  /** Whether a member of the group is left; also true for one that has ended and was not reaped. */
  groupAlive(): boolean;
  /** Lets this process end although the child still runs; a read of its output that is under way may still hold it. */
  unref(): void;
}

/** How to open this process's stdin and stdout. */
export interface OpenStdioOptions {
  /**
   * Whether to keep all other code off the channel, where the runtime and the system can: descriptor 1 then leads to stderr and
   * descriptor 0 is at its end, also for native code and for processes that inherit them.
   *
   * @default {false}
   */
  readonly exclusive?: boolean | undefined;
}

/** This process's stdin and stdout, as the channel of the messages. */
export interface OwnStdio extends ByteStreams {
  /** Whether writes of others to descriptor 1 can no longer reach the channel. */
  readonly exclusive: boolean;
}

/** What a file has to be like to be read. */
export interface ReadTextFileOptions {
  /** How many bytes it may have. Of a larger one no more is read. By default there is no limit. */
  readonly maxBytes?: number | undefined;
  /**
   * Whether it has to be a regular file. Reading anything else, such as a pipe or a device, may wait or never end.
   *
   * @default {false}
   */
  readonly regular?: boolean | undefined;
}

/** What the module needs from a runtime. All of it is lazy: making an adapter touches nothing. */
export interface RuntimeAdapter {
  /** The runtime's name and version, such as `deno 2.9.6`. */
  readonly name: string;
  /** The kind of system: how processes are found, quoted and ended depends on it. */
  readonly os: "posix" | "windows";
  /** This process's id. */
  readonly pid: number;
  /** The id of this process's parent as it is now: on POSIX another one once the parent has ended. */
  readonly parentPid: number;
  /**
   * Starts a process.
   *
   * @throws {ProcessError} As a rejection, if it cannot be started.
   */
  spawn(command: SpawnCommand): Promise<ChildHandle>;
  /** This process's stdin and stdout. Stdout stays open when the stream is closed. May be called once. */
  openStdio(options?: OpenStdioOptions): OwnStdio;
  /** Whether a person sits at this process's stdin. */
  stdinIsTerminal?(): boolean | Promise<boolean>;
  /** From now on, sends to stderr what code in this process writes to stdout, by `console` or by the runtime. Returns a function that undoes it. */
  guardStdout(): () => void;
  /** Writes text to this process's stderr, in order. Never waits: if nobody reads it for long, text is dropped. */
  writeStderr(text: string): void;
  /** This process's environment, as far as it may be read. With `names` only these are read, and no others need a permission. */
  env(names?: readonly string[]): Record<string, string>;
  /** Whether a variable of that environment may be read at all, set or not. */
  mayReadEnv(name: string): boolean;
  /** The working directory. */
  cwd(): string;
  /**
   * Reads a text file as UTF-8.
   *
   * @throws {TypeError} As a rejection, if it has to be a regular file and is none.
   * @throws {RangeError} As a rejection, if it is too large.
   */
  readTextFile(path: string, options?: ReadTextFileOptions): Promise<string>;
  /** Whether a path names a directory; undefined where that may not be known. */
  isDirectory(path: string): Promise<boolean | undefined>;
  /** Whether a path names a file; undefined where that may not be known. */
  isFile(path: string): Promise<boolean | undefined>;
  /** Calls back for each of the signals, which then no longer end this process. Returns a function that undoes it. */
  onSignal(signals: readonly Signal[], callback: (signal: Signal) => void): () => void;
  /**
   * Calls back, once and synchronously, when this process is about to end: at its normal end, an exit call, an uncaught
   * error, or a SIGTERM, SIGHUP or SIGINT that nobody else in this process handles. Returns a function that undoes it.
   */
  onProcessEnd(callback: () => void): () => void;
  /**
   * Calls back for each error that nobody catches, and keeps it from ending this process, unless somebody else in this
   * process handles such errors. Returns a function that undoes it.
   */
  onUncaughtError(callback: (error: unknown) => void): () => void;
  /**
   * Calls back if this process is still alive after `delayMs`, and says what keeps it alive if the runtime knows. The wait itself
   * does not.
   */
  ifStillAlive(delayMs: number, callback: (what: string) => void): void;
  /** Ends this process. */
  exit(code: number): never;
}

/** Time, as the module sees it. Tests hand in a `FakeClock` and move it. */
export interface Clock {
  /** Milliseconds from some fixed moment, never going back. */
  now(): number;
  /** Calls back after `delayMs` milliseconds. */
  setTimeout(callback: () => void, delayMs: number): unknown;
  /** Cancels what `setTimeout` gave. */
  clearTimeout(handle: unknown): void;
}
