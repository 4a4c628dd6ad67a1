/** What the adapters of Node and Bun have in common: all that both do by a Node-like `process`. */

import type {
  ChildHandle,
  OpenStdioOptions,
  OwnStdio,
  ReadTextFileOptions,
  RuntimeAdapter,
  Signal,
  SpawnCommand,
} from "../../../runtime.ts";
import { pickVariables } from "../../variables.ts";
import { ProcessEndWatch, type ProcessEvents } from "./process_end.ts";

/** What is used of `process`. */
export interface NodeLikeProcess extends ProcessEvents {
  readonly platform: string;
  readonly ppid: number;
  readonly env: Record<string, string | undefined>;
  on(event: string, listener: (error?: unknown) => void): unknown;
  removeListener(event: string, listener: (error?: unknown) => void): unknown;
  cwd(): string;
  exit(code: number): never;
}

/** What is at a path. */
interface Stats {
  isFile(): boolean;
  isDirectory(): boolean;
}

/** An adapter but for what each of the two does in its own way. */
export abstract class NodeApiRuntime implements RuntimeAdapter {
  abstract readonly name: string;
  readonly os: "posix" | "windows";
  readonly pid: number;
  readonly #process: NodeLikeProcess;
  readonly #processEnd: ProcessEndWatch;
  #stdioOpened = false;

  constructor(process: NodeLikeProcess) {
    this.#process = process;
    this.os = process.platform === "win32" ? "windows" : "posix";
    this.pid = process.pid;
    this.#processEnd = new ProcessEndWatch(process);
  }

  abstract spawn(command: SpawnCommand): Promise<ChildHandle>;
  abstract stdinIsTerminal(): boolean | Promise<boolean>;
  abstract guardStdout(): () => void;
  abstract writeStderr(text: string): void;
  protected abstract takeStdio(exclusive: boolean): OwnStdio;
  protected abstract stat(path: string): Promise<Stats>;
  /** The events of errors that nobody caught. */
  protected abstract readonly uncaughtEvents: readonly string[];
  /** What keeps this process alive, in words; empty if that is not known. */
  protected abstract whatIsAlive(): string;

  openStdio({ exclusive = false }: OpenStdioOptions = {}): OwnStdio {
    if (this.#stdioOpened) throw new TypeError("Cannot open the own stdio: it is open already");
    this.#stdioOpened = true;
    return this.takeStdio(exclusive);
  }

  get parentPid(): number {
    return this.#process.ppid;
  }

  env(names?: readonly string[]): Record<string, string> {
    const { env } = this.#process;
    return pickVariables(this.os, env, names ?? Object.keys(env));
  }

  mayReadEnv(): boolean {
    return true;
  }

  cwd(): string {
    return this.#process.cwd();
  }

  async readTextFile(path: string, options: ReadTextFileOptions = {}): Promise<string> {
    const [{ readTextFile }, { open, stat }] = await Promise.all([
      import("../files.ts"),
      import("node:fs/promises"),
    ]);
    return await readTextFile(path, options, {
      isRegular: async (path) => (await stat(path)).isFile(),
      async open(path) {
        const handle = await open(path);
        return {
          read: async (buffer) => (await handle.read(buffer, 0, buffer.length)).bytesRead,
          close: () => handle.close(),
        };
      },
    });
  }

  isDirectory(path: string): Promise<boolean> {
    return this.stat(path).then((stats) => stats.isDirectory(), () => false);
  }

  async isFile(path: string): Promise<boolean> {
    const { isFileOrAlias } = await import("../files.ts");
    return await isFileOrAlias(this.os, () => this.stat(path), async () => {
      const { lstat } = await import("node:fs/promises");
      return await lstat(path);
    });
  }

  onSignal(signals: readonly Signal[], callback: (signal: Signal) => void): () => void {
    const undo = signals.map((signal) => this.#listen(signal, () => callback(signal)));
    return () => undo.forEach((each) => each());
  }

  onProcessEnd(callback: () => void): () => void {
    return this.#processEnd.add(callback);
  }

  /** Where somebody else listens too, they decide what becomes of the process. */
  onUncaughtError(callback: (error: unknown) => void): () => void {
    const undo = this.uncaughtEvents.map((event) =>
      this.#listen(event, (error) => {
        if (this.#process.listeners(event).length === 1) callback(error);
      })
    );
    return () => undo.forEach((each) => each());
  }

  ifStillAlive(delayMs: number, callback: (what: string) => void): void {
    const timer: unknown = setTimeout(() => callback(this.whatIsAlive()), delayMs);
    (timer as { unref(): void }).unref();
  }

  exit(code: number): never {
    return this.#process.exit(code);
  }

  #listen(event: string, listener: (error?: unknown) => void): () => void {
    this.#process.on(event, listener);
    return () => this.#process.removeListener(event, listener);
  }
}
