/**
 * Bun's console, whose methods print by native calls, to stdout or to stderr, and wait for the reader: each is given one that
 * prints to stderr and does not wait.
 */

import { divert } from "../divert.ts";
import { Bun } from "./namespace.ts";
import { writeToStderr } from "./stderr.ts";

type Print = (...values: unknown[]) => void;

/** Diverts the methods; returns what undoes each. */
export function divertConsole(): (() => void)[] {
  const console = globalThis.console as unknown as Record<string, Print>;
  const counts = new Map<string, number>();
  const starts = new Map<string, number>();
  // Bun's own groups cannot be used: opening one prints at least an empty line to stdout.
  let depth = 0;

  const print: Print = (...values) => {
    const text = formatValues(values);
    writeToStderr((depth === 0 ? text : text.replaceAll(/^/gm, "  ".repeat(depth))) + "\n");
  };
  const count = (label: unknown = "default"): void => {
    const name = String(label);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    print(`${name}: ${counts.get(name)}`);
  };
  const group: Print = (...values) => {
    if (values.length > 0) print(...values);
    depth++;
  };
  const table = (data: unknown, columns?: unknown): void => {
    if (typeof data !== "object" || data === null) return print(data);
    print(Bun.inspect.table(data, columns).trimEnd());
  };
  const trace: Print = (...values) => {
    const { stack = "" } = new Error();
    print(...values);
    // The first line is the error's, the second this function's.
    print(stack.split("\n").slice(2).join("\n"));
  };

  const timeLog = (label: unknown = "default", ...values: unknown[]): void => {
    const start = starts.get(String(label));
    if (start !== undefined) print(`[${(performance.now() - start).toFixed(2)}ms] ${label}`, ...values);
  };

  const methods: Record<string, Print> = {
    log: print,
    info: print,
    debug: print,
    warn: print,
    error: print,
    dir: (value, options) => print(inspectValue(value, options as object)),
    dirxml: print,
    table,
    trace,
    count,
    countReset: (label = "default") => void counts.delete(String(label)),
    group,
    groupCollapsed: group,
    assert: (condition, ...values) => {
      if (!condition) print(...values.length === 0 ? ["Assertion failed"] : values);
    },
    time: (label = "default") => void starts.set(String(label), performance.now()),
    timeLog,
    timeEnd: (label = "default") => {
      timeLog(label);
      starts.delete(String(label));
    },
    groupEnd: () => void (depth = Math.max(0, depth - 1)),
    write: (...data) => data.forEach((each) => writeToStderr(each as string | Uint8Array)),
  };
  return Object.entries(methods).map(([name, method]) => divert(console, name, method));
}

/** As many levels of a value as Bun's console shows. */
const DEPTH = 2;

/** Formats what a method of the console is given. */
export function formatValues(values: readonly unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== "string") return values.map(show).join(" ");
  const text = rest.length === 0
    ? first
    : first.replaceAll(/%([sdifjoOc%])/g, (placeholder, kind: string) => {
      if (kind === "%") return "%";
      return rest.length === 0 ? placeholder : convert(kind, rest.shift());
    });
  return [text, ...rest.map(show)].join(" ");
}

/** Shows a value with its parts. */
export function inspectValue(value: unknown, options?: object): string {
  return Bun.inspect(value, { depth: DEPTH, colors: Bun.enableANSIColors, ...options });
}

function show(value: unknown): string {
  return typeof value === "string" ? value : inspectValue(value);
}

function convert(kind: string, value: unknown): string {
  switch (kind) {
    case "s":
      return typeof value === "object" && value !== null ? inspectValue(value) : String(value);
    case "d":
    case "i":
      return typeof value === "bigint" ? String(value) : String(Math.trunc(toNumber(value)));
    case "f":
      return String(toNumber(value));
    case "j":
      return JSON.stringify(value) ?? "undefined";
    case "c":
      // Styles are for browsers.
      return "";
    default:
      return inspectValue(value);
  }
}

/** An object may throw when it is made a number. */
function toNumber(value: unknown): number {
  return typeof value === "object" || typeof value === "symbol" ? NaN : Number(value);
}
