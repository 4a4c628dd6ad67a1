/** Node as a runtime. */

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
import { LazyStdio } from "../byte_channel.ts";
import { listenToSignals, ProcessEndWatch } from "../node_api/process_end.ts";
import { countWords } from "../../shown_text.ts";
import { takeStdout } from "./descriptors.ts";
import { writeToStderr } from "./stderr.ts";
import { ownStdin, ownStdout } from "./stdio.ts";
import { stdoutGuard } from "./stdout_guard.ts";
import { listenToUncaught } from "../node_api/uncaught.ts";
import { nodeProcess } from "./process.ts";

/** The adapter for Node. */
export class NodeRuntime implements RuntimeAdapter {
  readonly name: string = `node ${nodeProcess().versions.node}`;
  readonly os: "posix" | "windows" = nodeProcess().platform === "win32" ? "windows" : "posix";
  readonly pid: number = nodeProcess().pid;
  readonly #processEnd = new ProcessEndWatch(nodeProcess());
  #stdioOpened = false;

  async spawn(command: SpawnCommand): Promise<ChildHandle> {
    const { spawnOnNode } = await import("./child.ts");
    return await spawnOnNode(command, this);
  }

  openStdio({ exclusive = false }: OpenStdioOptions = {}): OwnStdio {
    if (this.#stdioOpened) throw new TypeError("Cannot open the own stdio: it is open already");
    this.#stdioOpened = true;
    const stdout = exclusive ? takeStdout() : undefined;
    return new LazyStdio(ownStdin(), ownStdout(stdout), stdout !== undefined);
  }

  stdinIsTerminal(): boolean | Promise<boolean> {
    const tty = nodeProcess().getBuiltinModule?.("node:tty"); // Missing before Node 20.16.
    return tty === undefined ? import("node:tty").then(({ isatty }) => isatty(0)) : tty.isatty(0);
  }

  guardStdout(): () => void {
    return stdoutGuard.hold();
  }

  writeStderr(text: string): void {
    writeToStderr(text);
  }

  get parentPid(): number {
    return nodeProcess().ppid;
  }

  env(names?: readonly string[]): Record<string, string> {
    const { env } = nodeProcess();
    return pickVariables(this.os, env, names ?? Object.keys(env));
  }

  mayReadEnv(): boolean {
    return true;
  }

  cwd(): string {
    return nodeProcess().cwd();
  }

  async readTextFile(path: string, options: ReadTextFileOptions = {}): Promise<string> {
    const [{ readTextFile }, { NODE_FILES }] = await Promise.all([
      import("../files.ts"),
      import("../node_api/files.ts"),
    ]);
    return await readTextFile(path, options, NODE_FILES);
  }

  async isDirectory(path: string): Promise<boolean> {
    const { stat } = await import("node:fs/promises");
    return await stat(path).then((stats) => stats.isDirectory(), () => false);
  }

  async isFile(path: string): Promise<boolean> {
    const [{ isFileOrAlias }, { lstat, stat }] = await Promise.all([
      import("../files.ts"),
      import("node:fs/promises"),
    ]);
    return await isFileOrAlias(this.os, () => stat(path), () => lstat(path));
  }

  onSignal(signals: readonly Signal[], callback: (signal: Signal) => void): () => void {
    return listenToSignals(nodeProcess(), signals, callback);
  }

  onProcessEnd(callback: () => void): () => void {
    return this.#processEnd.add(callback);
  }

  onUncaughtError(callback: (error: unknown) => void): () => void {
    // A rejection that nobody observes becomes one of these.
    return listenToUncaught(nodeProcess(), ["uncaughtException"], callback);
  }

  ifStillAlive(delayMs: number, callback: (what: string) => void): void {
    setTimeout(() => callback(countWords(nodeProcess().getActiveResourcesInfo())), delayMs).unref();
  }

  exit(code: number): never {
    return nodeProcess().exit(code);
  }
}
