/** What the tests of the runtime adapters share. */

import process from "node:process";
import { fileURLToPath } from "node:url";
import type { TestContext } from "node:test";
import { strangerCommand } from "../_stranger.ts";
import { detectRuntime, type RuntimeName, runtimeName } from "../../internal/runtime/detect.ts";
import type { ChildHandle, ExitStatus, RuntimeAdapter, SpawnCommand } from "../../runtime.ts";

export const name: RuntimeName = runtimeName();
export const runtime: RuntimeAdapter = await detectRuntime();

/** For tests that start processes: Bun's own limit is 5 s, and the machine may be slow. */
export const SLOW: { readonly timeout: number } = {
  timeout: process.platform === "win32" ? 180_000 : 60_000,
};

export const WINDOWS: boolean = process.platform === "win32";

/** For tests of what there is on POSIX only, with the reason. */
function onPosix(reason: string): { readonly timeout: number; readonly skip: string | false } {
  return { ...SLOW, skip: WINDOWS ? reason : false };
}
export const POSIX_SHELL: ReturnType<typeof onPosix> = onPosix("Windows has no POSIX shell");
export const POSIX_SIGNALS: ReturnType<typeof onPosix> = onPosix(
  "Windows has no signal that a process could hear",
);
export const POSIX_FILES: ReturnType<typeof onPosix> = onPosix(
  "Windows has no execute permission and no first line that names an interpreter",
);
export const POSIX_SEARCH: ReturnType<typeof onPosix> = onPosix(
  "on Windows planLaunch() finds the program, and its tests show it",
);
export const POSIX_PROGRAMS: ReturnType<typeof onPosix> = onPosix(
  "it starts sleep and true, which Windows does not have: its own tests have others",
);
/** A job of libuv, or the console that Wine gives it, takes along what a process has started. */
export const POSIX_ORPHANS: ReturnType<typeof onPosix> = onPosix(
  "on Windows it depends on the server's runtime whether what it has started outlives it",
);

/** How a process ended that was ended by force. */
export const KILLED: ExitStatus = WINDOWS ? { code: 1 } : { signal: "SIGKILL" };

/** A command that ends at once; a shell starts in no time. */
export function exiting(code: number): string[] {
  return WINDOWS ? program("exits_with.mjs", [String(code)]) : ["sh", "-c", `exit ${code}`];
}

/** Compiled tests run from `build/`, where programs end in `.js`; plain fixtures are not compiled. */
const BUILT = import.meta.url.endsWith(".js");

/** The path of a fixture such as `echoes_bytes.mjs`, or of a program such as `own_echo.ts`. */
export function fixture(file: string): string {
  const folder = BUILT && file.endsWith(".mjs") ? "../../../tests/fixtures/" : "../fixtures/";
  return fileURLToPath(new URL(folder + (BUILT ? file.replace(/\.ts$/, ".js") : file), import.meta.url));
}

/** This process's environment. */
export const ENV: Record<string, string> = runtime.env();

/** A command with the defaults of these tests. */
export function command(
  command: string,
  args: readonly string[],
  options: Partial<SpawnCommand> = {},
): SpawnCommand {
  return { command, args, env: ENV, stderr: "inherit", processGroup: true, ...options };
}

/** The command that runs a fixture: a program of this module on the runtime under test, plain JavaScript as a stranger's. */
export function program(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = ["-A"],
): string[] {
  if (file.endsWith(".mjs")) return strangerCommand(file, args);
  // Deno would tell on the fixture's stderr what it has to download.
  const deno = name === "deno" ? ["run", "--quiet", ...flags] : [];
  return [process.execPath, ...deno, fixture(file), ...args];
}

/** Starts a fixture on this runtime; it does not outlive the test. */
export async function start(
  t: TestContext,
  file: string,
  args: readonly string[] = [],
  options: Partial<SpawnCommand> = {},
): Promise<ChildHandle> {
  return await startCommand(t, program(file, args), options);
}

/** Starts a command; it does not outlive the test. */
export async function startCommand(
  t: TestContext,
  [path = "", ...args]: readonly string[],
  options: Partial<SpawnCommand> = {},
): Promise<ChildHandle> {
  const child = await runtime.spawn(command(path, args, options));
  t.after(async () => {
    child.signal("SIGKILL", "group");
    await child.exited;
  });
  return child;
}

/** All of a stream as text. */
export async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  return new TextDecoder().decode(await bytesOf(stream));
}

/** All of a stream. */
export async function bytesOf(stream: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  if (stream !== null) { for await (const chunk of stream) chunks.push(chunk); }
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
}

/** Reads up to a text, and leaves the rest to others. */
export async function readUntil(stream: ReadableStream<Uint8Array> | null, text: string): Promise<string> {
  if (stream === null) throw new TypeError("Cannot read: the stream is not piped");
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let seen = "";
  while (!seen.includes(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended before ${JSON.stringify(text)}: ${JSON.stringify(seen)}`);
    seen += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return seen;
}

/** Writes a text and closes the stream. */
export async function send(stream: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stream.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}

/** Waits until something holds. */
export async function waitFor(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!await holds()) {
    if (performance.now() > deadline) throw new Error(`Cannot wait any longer until ${what}`);
    await delay(10);
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a promise comes to, or `pending` if it has not after some time. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | "pending"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"pending">((resolve) => timer = setTimeout(() => resolve("pending"), ms));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The memory this process occupies, in MiB. */
export function rssMebibytes(): number {
  return process.memoryUsage().rss / 2 ** 20;
}
