/** The part of Deno's namespace that is used here, by hand: tsc knows no Deno, and Deno's own types need no copy. */

/** A child as `Deno.Command` starts it. */
export interface DenoChildProcess {
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  /** Throws unless stderr is piped. */
  readonly stderr: ReadableStream<Uint8Array>;
  readonly status: Promise<{ readonly code: number; readonly signal: string | null }>;
  kill(signal: string): void;
  unref(): void;
}

/** How to start it. */
export interface DenoCommandOptions {
  readonly args: string[];
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly clearEnv?: boolean;
  readonly stdin: "piped" | "null";
  readonly stdout: "piped" | "null";
  readonly stderr: "inherit" | "piped" | "null";
  readonly detached?: boolean;
  readonly windowsRawArguments?: boolean;
}

/** `Deno.stdout`; its methods stand on its prototype. */
export interface DenoStdout {
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
}

/** What is at a path. */
export interface DenoFileInfo {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymlink: boolean;
}

/** What a permission is asked for with. */
export type DenoPermission =
  | { readonly name: "run"; readonly command?: string }
  | { readonly name: "env"; readonly variable?: string }
  | { readonly name: "read"; readonly path?: string };

/** `Deno`. */
export interface DenoNamespace {
  readonly version: { readonly deno: string };
  readonly build: { readonly os: string };
  readonly pid: number;
  readonly ppid: number;
  readonly env: { get(name: string): string | undefined; toObject(): Record<string, string> };
  readonly permissions: { querySync(permission: DenoPermission): { readonly state: string } };
  readonly stdin: { read(buffer: Uint8Array): Promise<number | null>; close(): void; isTerminal(): boolean };
  readonly stdout: DenoStdout;
  readonly stderr: DenoStdout & { isTerminal(): boolean };
  readonly Command: new (command: string, options: DenoCommandOptions) => {
    spawn(): DenoChildProcess;
    outputSync(): { readonly code: number };
  };
  readonly internal: symbol;
  kill(pid: number, signal: string | number): void;
  addSignalListener(signal: string, listener: () => void): void;
  removeSignalListener(signal: string, listener: () => void): void;
  unrefTimer(timer: unknown): void;
  cwd(): string;
  exit(code: number): never;
  open(path: string): Promise<{ read(buffer: Uint8Array): Promise<number | null>; close(): void }>;
  stat(path: string): Promise<DenoFileInfo>;
  lstat(path: string): Promise<DenoFileInfo>;
}

/** What Deno shows of its inside; it may go any day, so each use has another way. */
export interface DenoInternals {
  readonly Console?: new (print: (text: string, level: number) => void) => object;
  readonly core?: { resources?(): Record<string, string> };
  /** Whether the Node layer is loaded. */
  readonly __nodeProcessBootstrapped?: boolean;
}

/** `Deno`; only files that are loaded on Deno use it. */
export const Deno: DenoNamespace = (globalThis as unknown as { Deno: DenoNamespace }).Deno;

/** Deno's inside. */
export function denoInternals(): DenoInternals {
  return (Deno as unknown as Record<symbol, DenoInternals | undefined>)[Deno.internal] ?? {};
}

/** Whether something may be done now. To try it instead could ask the user. */
export function isGranted(permission: DenoPermission): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}
