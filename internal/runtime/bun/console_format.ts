/** Text as Bun's console prints it. */

import { Bun } from "./namespace.ts";

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
