/** Keeps code in this process from writing to stdout by Deno's own means. */

import { divert, Shared } from "../divert.ts";
import { Deno, denoInternals } from "./namespace.ts";
import { writeToStderr } from "./stderr.ts";

/** The guard of this process. */
export const stdoutGuard: Shared = new Shared(divertStdout);

/**
 * Sends to stderr what `console` and `Deno.stdout` are given. `process.stdout` of Deno's Node layer, whether it is
 * loaded yet or not, writes by `Deno.stdout.writeSync`, so it is covered and need not be loaded here. What `Deno.stderr` is
 * given goes the same way, so that it stays in order.
 */
function divertStdout(): () => void {
  const { stdout } = Deno;
  const toStderr = (bytes: unknown): number => {
    writeToStderr(bytes as Uint8Array);
    return (bytes as Uint8Array).length;
  };
  const undo = [
    ...divertConsole(),
    divert(stdout, "write", (bytes) => new Promise((resolve) => resolve(toStderr(bytes)))),
    divert(stdout, "writeSync", toStderr),
    divert(stdout, "close", () => {}),
    divert(Deno.stderr, "write", (bytes) => new Promise((resolve) => resolve(toStderr(bytes)))),
    divert(Deno.stderr, "writeSync", toStderr),
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
  const printed: string[] = [];
  const open = (): Methods => stderrConsole ??= new Console((text) => void printed.push(text)) as Methods;
  return Object.keys(console)
    .filter((name) => typeof console[name] === "function")
    .map((name) =>
      divert(console, name, (...args) => {
        try {
          return open()[name]?.(...args);
        } finally {
          // At once: a trace is printed in two pieces, and another writer could come between them.
          writeToStderr(printed.splice(0).join(""));
        }
      })
    );
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
