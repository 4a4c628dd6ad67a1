/** This process's standard streams on Deno. */

import type { ByteSink, ByteSource } from "./byte_streams.ts";
import { Deno, denoInternals, type DenoStdout } from "./deno_namespace.ts";
import { divert } from "./divert.ts";

const CHUNK_BYTES = 65_536;
/** From here on the buffer is given away with what was read into it, rather than that copied. */
const MOSTLY_FULL_BYTES = 49_152;

/** Own stdin, by `read` calls: a fifth faster than `Deno.stdin.readable`. */
export function ownStdin(): ByteSource {
  let buffer: Uint8Array | undefined;
  return {
    async read() {
      const filled = buffer ??= new Uint8Array(CHUNK_BYTES);
      const size = await Deno.stdin.read(filled);
      if (size === null) return null;
      if (size < MOSTLY_FULL_BYTES) return filled.slice(0, size);
      buffer = undefined;
      return filled.subarray(0, size);
    },
    // The read under way is interrupted, and with it what kept the process alive.
    close: () => Deno.stdin.close(),
  };
}

/** Own stdout, past any guard: the guard is set on the object, and `write` of its prototype is used here. */
export function ownStdout(): ByteSink {
  const { write } = Object.getPrototypeOf(Deno.stdout) as DenoStdout;
  return {
    async write(bytes) {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await write.call(Deno.stdout, rest));
    },
    // Closing descriptor 1 would make every later `console.log` throw.
    close() {},
    abort() {},
  };
}

/**
 * Sends to stderr what `console` and `Deno.stdout` are given. `process.stdout` of Deno's Node layer, whether it is
 * loaded yet or not, writes by `Deno.stdout.writeSync`, so it is covered and need not be loaded here.
 */
export function divertStdout(): () => void {
  const { stdout } = Deno;
  const toStderr = (bytes: unknown): number => writeAllToStderr(bytes as Uint8Array);
  const undo = [
    ...divertConsole(),
    divert(stdout, "write", (bytes) => new Promise((resolve) => resolve(toStderr(bytes)))),
    divert(stdout, "writeSync", toStderr),
    divert(stdout, "close", () => {}),
  ];
  let writable: WritableStream<Uint8Array> | undefined;
  const open = () => writable ??= new WritableStream<Uint8Array>({ write: (bytes) => void toStderr(bytes) });
  Object.defineProperty(stdout, "writable", { get: open, configurable: true });
  // Otherwise a getter of the prototype.
  undo.push(() => Reflect.deleteProperty(stdout, "writable"));
  return () => undo.forEach((each) => each());
}

/**
 * Deno's console prints by a native call. A second one, which prints to stderr, stands in for it; it is made when something is
 * printed, since that takes as long as half a start.
 */
function divertConsole(): (() => void)[] {
  const console = globalThis.console as unknown as Record<string, unknown>;
  const { Console } = denoInternals();
  if (Console === undefined) return divertConsoleToError(console);
  type Methods = Record<string, ((...args: unknown[]) => unknown) | undefined>;
  let stderrConsole: Methods | undefined;
  const open = (): Methods => stderrConsole ??= new Console((text) => void writeToStderr(text)) as Methods;
  return Object.keys(console)
    .filter((name) => typeof console[name] === "function")
    .map((name) => divert(console, name, (...args) => open()[name]?.(...args)));
}

/** Without that class nothing reaches stdout either, but tables, counts and times are printed plainly. */
function divertConsoleToError(console: Record<string, unknown>): (() => void)[] {
  const error = console.error as (...args: unknown[]) => unknown;
  return [
    "log",
    "info",
    "debug",
    "dir",
    "dirxml",
    "table",
    "count",
    "timeLog",
    "timeEnd",
    "group",
    "groupCollapsed",
  ]
    .map((name) => divert(console, name, error));
}

/** Writes text to stderr; nobody can be told if that fails. */
export function writeToStderr(text: string): void {
  try {
    writeAllToStderr(new TextEncoder().encode(text));
  } catch {
    // Its reader is gone.
  }
}

function writeAllToStderr(bytes: Uint8Array): number {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(Deno.stderr.writeSync(rest));
  return bytes.length;
}
