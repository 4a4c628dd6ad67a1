/** Deno as a runtime. */

import type {
  ChildHandle,
  OwnStdio,
  ReadTextFileOptions,
  RuntimeAdapter,
  Signal,
  SpawnCommand,
} from "../../../runtime.ts";
import { pickVariables } from "../../variables.ts";
import { LazyStdio } from "../byte_channel.ts";
import { DenoErrorCatcher } from "./errors.ts";
import { DenoProcessEndWatch, listenToSignals } from "./process_end.ts";
import { Deno, type DenoFileInfo, denoInternals, isGranted } from "./namespace.ts";
import { writeToStderr } from "./stderr.ts";
import { ownStdin, ownStdout } from "./stdio.ts";
import { stdoutGuard } from "./stdout_guard.ts";
import { countWords } from "../../shown_text.ts";

/** The adapter for Deno. */
export class DenoRuntime implements RuntimeAdapter {
  readonly name: string = `deno ${Deno.version.deno}`;
  readonly os: "posix" | "windows" = Deno.build.os === "windows" ? "windows" : "posix";
  readonly pid: number = Deno.pid;
  readonly #errors = new DenoErrorCatcher();
  readonly #processEnd = new DenoProcessEndWatch(this.#errors);
  #stdioOpened = false;

  async spawn(command: SpawnCommand): Promise<ChildHandle> {
    const { spawnOnDeno } = await import("./child.ts");
    return await spawnOnDeno(command, this);
  }

  openStdio(): OwnStdio {
    if (this.#stdioOpened) throw new TypeError("Cannot open the own stdio: it is open already");
    this.#stdioOpened = true;
    return new LazyStdio(ownStdin(), ownStdout(), false);
  }

  stdinIsTerminal(): boolean {
    return Deno.stdin.isTerminal();
  }

  guardStdout(): () => void {
    return stdoutGuard.hold();
  }

  writeStderr(text: string): void {
    writeToStderr(text);
  }

  get parentPid(): number {
    return Deno.ppid;
  }

  env(names?: readonly string[]): Record<string, string> {
    // Read at once: to ask for each name takes as long as to load a dozen modules, and on Windows only the whole environment shows
    // how a name is spelled.
    if (isGranted({ name: "env" })) {
      const all = Deno.env.toObject();
      // Theirs has no prototype, unlike those of the other runtimes.
      return names === undefined ? { ...all } : pickVariables(this.os, all, names);
    }
    if (names === undefined) return {};
    return Object.fromEntries(
      names
        .filter((variable) => isGranted({ name: "env", variable }))
        .map((name) => [name, Deno.env.get(name)] as const)
        .filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }

  mayReadEnv(variable: string): boolean {
    return isGranted({ name: "env", variable });
  }

  cwd(): string {
    return Deno.cwd();
  }

  async readTextFile(path: string, options: ReadTextFileOptions = {}): Promise<string> {
    const { readTextFile } = await import("../files.ts");
    return await readTextFile(path, options, {
      isRegular: async (path) => (await Deno.stat(path)).isFile,
      open: Deno.open,
    });
  }

  async isDirectory(path: string): Promise<boolean | undefined> {
    if (!isGranted({ name: "read", path })) return undefined;
    return await Deno.stat(path).then(({ isDirectory }) => isDirectory, () => false);
  }

  async isFile(path: string): Promise<boolean | undefined> {
    if (!isGranted({ name: "read", path })) return undefined;
    const { isFileOrAlias } = await import("../files.ts");
    return await isFileOrAlias(this.os, () => statsOf(Deno.stat(path)), () => statsOf(Deno.lstat(path)));
  }

  onSignal(signals: readonly Signal[], callback: (signal: Signal) => void): () => void {
    return listenToSignals(signals, callback);
  }

  onProcessEnd(callback: () => void): () => void {
    return this.#processEnd.add(callback);
  }

  onUncaughtError(callback: (error: unknown) => void): () => void {
    return this.#errors.add(callback);
  }

  ifStillAlive(delayMs: number, callback: (what: string) => void): void {
    Deno.unrefTimer(setTimeout(() => callback(countWords(openResources())), delayMs));
  }

  exit(code: number): never {
    Deno.exit(code);
  }
}

/** What is open, as far as Deno shows it: timers and standard streams are not told, signals hold nobody. */
function openResources(): string[] {
  const resources = denoInternals().core?.resources?.() ?? {};
  return Object.values(resources).filter((name) => !/^(stdin|stdout|stderr|signal)$/.test(name));
}

async function statsOf(
  looked: Promise<DenoFileInfo>,
): Promise<{ isFile(): boolean; isSymbolicLink(): boolean }> {
  const { isFile, isSymlink } = await looked;
  return { isFile: () => isFile, isSymbolicLink: () => isSymlink };
}
