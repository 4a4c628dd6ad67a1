// The examples: which of them are programs, which are servers, and what those give.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./_sources.ts";

/** Programs that run to their end, and what they print. */
export const PROGRAMS: readonly string[] = [
  "demo",
  "first_client",
  "live_resource_client",
  "progress_bar",
  "ask_client",
  "sdk_client",
];

/** Servers, and how the command line tries them. */
export const SERVERS: { readonly [name: string]: { readonly args: string[]; readonly gives: RegExp } } = {
  "forecast": { args: ["read", "forecast://cities"], gives: /^Bergen\nOslo$/ },
  "tested/forecast": { args: ["call", "get-forecast", "city=Oslo"], gives: /^Sunny in Oslo\.$/ },
  "prompts_server": {
    args: ["prompt", "translate", "language=Greek", "text=Good evening"],
    gives: /Translate into Greek, and keep the tone:\n\s*\n\s*Good evening/,
  },
  "noisy_server": { args: ["call", "count-words", "text=a b c"], gives: /^3 words$/ },
  "sdk_server": { args: ["call", "greet", "name=Ada"], gives: /^Hello, Ada!$/ },
};

/** All of them, as names such as `guides/calls`. */
export const EXAMPLES: readonly string[] = readdirSync(join(ROOT, "examples"), {
  recursive: true,
  encoding: "utf8",
})
  .map((name) => name.replaceAll("\\", "/")).filter((name) => name.endsWith(".ts"))
  .map((name) => name.replace(/\.ts$/, ""));
/** Those whose regions are the blocks of a page. */
export const GUIDES: readonly string[] = EXAMPLES.filter((name) => name.startsWith("guides/"));
