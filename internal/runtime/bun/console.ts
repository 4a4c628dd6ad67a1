/** Bun's console, whose methods print by native calls: each that prints to stdout is given one that prints to stderr. */

import { Bun, bunProcess } from "./namespace.ts";
import { writeToStderr } from "./stdio.ts";
import { divert } from "../divert.ts";

type Print = (...values: unknown[]) => void;

/** Diverts the methods; returns what undoes each. `timeLog` and `timeEnd` print to stderr anyway. */
export function divertConsole(): (() => void)[] {
  const console = globalThis.console as unknown as Record<string, Print>;
  const error = (console.error as Print).bind(console);
  const counts = new Map<string, number>();
  // Bun's own groups cannot be used: opening one prints at least an empty line to stdout.
  let depth = 0;

  const print: Print = (...values) => {
    // Without values Bun's `console.error` prints its line feed to stdout.
    if (values.length === 0) return writeToStderr("\n");
    if (depth === 0) return error(...values);
    writeToStderr(formatted(values).replaceAll(/^/gm, "  ".repeat(depth)) + "\n");
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

  const methods: Record<string, Print> = {
    log: print,
    info: print,
    debug: print,
    warn: print,
    error: print,
    dir: (value, options) => options === undefined ? print(value) : print(Bun.inspect(value, options)),
    dirxml: print,
    table,
    trace,
    count,
    countReset: (label = "default") => void counts.delete(String(label)),
    group,
    groupCollapsed: group,
    groupEnd: () => void (depth = Math.max(0, depth - 1)),
    write: (...data) => data.forEach((each) => writeToStderr(each as string | Uint8Array)),
  };
  return Object.entries(methods).map(([name, method]) => divert(console, name, method));
}

/** As Bun prints values; `%s` and its like are left to the Node layer, which is loaded for them. */
function formatted(values: readonly unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first === "string" && rest.length > 0 && first.includes("%")) {
    const { format } = bunProcess().getBuiltinModule("node:util") as typeof import("node:util");
    return format(first, ...rest);
  }
  return values.map((value) => typeof value === "string" ? value : Bun.inspect(value)).join(" ");
}
