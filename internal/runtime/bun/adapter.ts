/** Bun as a runtime. */

import type {
  ChildHandle,
  OpenStdioOptions,
  OwnStdio,
  ReadTextFileOptions,
  RuntimeAdapter,
  Signal,
  SpawnCommand,
} from "../../../runtime.ts";
import { takeDescriptors } from "./descriptors.ts";
import { pickVariables } from "../../variables.ts";
import { LazyStdio } from "../byte_channel.ts";
import { openLibC } from "./libc.ts";
import { Bun, bunProcess } from "./namespace.ts";
import { writeToStderr } from "./stderr.ts";
import { ownStdin, ownStdout } from "./stdio.ts";
import { stdoutGuard } from "./stdout_guard.ts";
import { listenToSignals, ProcessEndWatch } from "../node_api/process_end.ts";
import { listenToUncaught } from "../node_api/uncaught.ts";

/** The adapter for Bun. */
export class BunRuntime implements RuntimeAdapter {
  readonly name: string = `bun ${Bun.version}`;
  readonly os: "posix" | "windows" = bunProcess().platform === "win32" ? "windows" : "posix";
  readonly pid: number = bunProcess().pid;
  readonly #processEnd = new ProcessEndWatch(bunProcess());
  #stdioOpened = false;

  async spawn(command: SpawnCommand): Promise<ChildHandle> {
    const { spawnOnBun } = await import("./child.ts");
    return await spawnOnBun(command, this);
  }

  openStdio({ exclusive = false }: OpenStdioOptions = {}): OwnStdio {
    if (this.#stdioOpened) throw new TypeError("Cannot open the own stdio: it is open already");
    this.#stdioOpened = true;
    const { stdin, stdout } = exclusive ? takeDescriptors() : {};
    return new LazyStdio(ownStdin(stdin), ownStdout(stdout), stdout !== undefined);
  }

  stdinIsTerminal(): boolean | Promise<boolean> {
    const libc = openLibC();
    return libc === undefined ? import("node:tty").then(({ isatty }) => isatty(0)) : libc.isatty(0) === 1;
  }

  guardStdout(): () => void {
    return stdoutGuard.hold();
  }

  writeStderr(text: string): void {
    writeToStderr(text);
  }

  get parentPid(): number {
    return bunProcess().ppid;
  }

  env(names?: readonly string[]): Record<string, string> {
    const { env } = bunProcess();
    return pickVariables(this.os, env, names ?? Object.keys(env));
  }

  mayReadEnv(): boolean {
    return true;
  }

  cwd(): string {
    return bunProcess().cwd();
  }

  async readTextFile(path: string, options: ReadTextFileOptions = {}): Promise<string> {
    const [{ readTextFile }, { NODE_FILES }] = await Promise.all([
      import("../files.ts"),
      import("../node_api/files.ts"),
    ]);
    return await readTextFile(path, options, NODE_FILES);
  }

  isDirectory(path: string): Promise<boolean> {
    return Bun.file(path).stat().then((stats) => stats.isDirectory(), () => false);
  }

  async isFile(path: string): Promise<boolean> {
    const { isFileOrAlias } = await import("../files.ts");
    return await isFileOrAlias(this.os, () => Bun.file(path).stat(), async () => {
      const { lstat } = await import("node:fs/promises");
      return await lstat(path);
    });
  }

  onSignal(signals: readonly Signal[], callback: (signal: Signal) => void): () => void {
    return listenToSignals(bunProcess(), signals, callback);
  }

  onProcessEnd(callback: () => void): () => void {
    return this.#processEnd.add(callback);
  }

  onUncaughtError(callback: (error: unknown) => void): () => void {
    return listenToUncaught(bunProcess(), ["uncaughtException", "unhandledRejection"], callback);
  }

  ifStillAlive(delayMs: number, callback: (what: string) => void): void {
    // Bun has no list of what keeps it alive.
    setTimeout(() => callback(""), delayMs).unref();
  }

  exit(code: number): never {
    return bunProcess().exit(code);
  }
}
