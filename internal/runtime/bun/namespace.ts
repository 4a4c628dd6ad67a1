/** The part of Bun's namespace that is used here, by hand: no types of Bun are installed. */

import type { NodeLikeProcess } from "../node_api/adapter.ts";

/** A file or a descriptor. */
export interface BunFile {
  text(): Promise<string>;
  stat(): Promise<{ isFile(): boolean; isDirectory(): boolean }>;
  stream(): ReadableStream<Uint8Array>;
  writer(options?: unknown): FileSink;
  write(data: unknown, ...rest: unknown[]): Promise<number>;
}

/** An incremental writer. Its calls return a promise when the system does not take all of the bytes at once. */
export interface FileSink {
  /** Copies the bytes. */
  write(bytes: unknown): number | Promise<number>;
  /** May throw at once. */
  flush(): unknown;
  end(): unknown;
}

/** A child as `Bun.spawn` starts it with pipes. */
export interface BunSubprocess {
  readonly pid: number;
  readonly stdin: FileSink;
  readonly stdout: ReadableStream<Uint8Array>;
  /** Not a stream unless stderr is piped. */
  readonly stderr: unknown;
  readonly exited: Promise<number>;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  kill(signal?: string): void;
  unref(): void;
}

/** How to start it. */
export interface BunSpawnOptions {
  readonly cmd: readonly string[];
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly stdin: "pipe" | "ignore";
  readonly stdout: "pipe" | "ignore";
  readonly stderr: "inherit" | "pipe" | "ignore";
  /** Leaves output in the pipes until it is read, instead of reading it all into memory. */
  readonly lazy?: boolean;
  readonly detached?: boolean;
  readonly windowsHide?: boolean;
  readonly windowsVerbatimArguments?: boolean;
}

/** `Bun`. */
export interface BunNamespace {
  readonly version: string;
  readonly stdin: BunFile;
  readonly stdout: BunFile;
  readonly stderr: BunFile;
  readonly inspect: ((value: unknown, options?: unknown) => string) & {
    table(data: unknown, columns?: unknown): string;
  };
  /** Whether it prints in colours. */
  readonly enableANSIColors: boolean;
  file(path: string | number, ...rest: unknown[]): BunFile;
  write(target: unknown, data: unknown, ...rest: unknown[]): Promise<number>;
  spawn(options: BunSpawnOptions): BunSubprocess;
  spawnSync(options: BunSpawnOptions): { readonly exitCode: number | null };
  which(command: string, options?: { PATH?: string; cwd?: string }): string | null;
}

/** What is used of Bun's global `process`. Touching its streams loads the Node layer, the rest is native. */
export interface BunProcess extends NodeLikeProcess {
  readonly execArgv: readonly string[];
  readonly stdout: object;
  readonly stderr: object;
  kill(pid: number, signal: string | number): unknown;
  getBuiltinModule(name: string): unknown;
}

const globals = globalThis as unknown as { Bun: BunNamespace; process: BunProcess };

/** `Bun`; only files that are loaded on Bun use it. */
export const Bun: BunNamespace = globals.Bun;

/** Bun's `process`. */
export function bunProcess(): BunProcess {
  return globals.process;
}

/** Whether a lazy property exists yet, by what the engine tells of the object's shape. In doubt it does. */
export function isMade(object: object, name: string): boolean {
  const { jscDescribe } = bunProcess().getBuiltinModule("bun:jsc") as {
    jscDescribe?(object: object): string;
  };
  const shape = /\{([^{}]*)\}/.exec(jscDescribe?.(object) ?? "")?.[1];
  return shape === undefined || shape.split(/[:,]\s*/).includes(name);
}
