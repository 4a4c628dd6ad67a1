/** What a user says of a server to be started, looked at before anything is done. */

import { quoteText } from "../shown_text.ts";
import type { LaunchSettings } from "./launch.ts";

/** As it comes from a user, who may not have a compiler. */
type LaunchOptions = { readonly [Name in keyof LaunchSettings]?: unknown };

const STDERR_MODES = ["inherit", "tee", "capture", "ignore"];

/**
 * Checks how a server is to be started.
 *
 * @throws {TypeError} If something is of the wrong kind; the text says of which kind it must be.
 */
export function checkLaunchOptions(options: LaunchOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Cannot start a server: it takes { command: "node", args: ["server.js"] }, not ${kindOf(options)}`,
    );
  }
  const { command, args, cwd, env, inheritEnv, passEnv, processGroup, stderr } = options;
  if (typeof command !== "string") {
    throw new TypeError(`Cannot start a server: "command" must be a string, but is ${kindOf(command)}`);
  }
  const refuse = (name: string, must: string, value: unknown): never => {
    throw new TypeError(
      `Cannot start ${quoteText(command)}: "${name}" must be ${must}, but is ${kindOf(value)}`,
    );
  };
  if (args !== undefined) {
    checkStrings("args", args, () => `an array of strings, such as ${exampleOf(args)}`, refuse);
  }
  if (passEnv !== undefined) checkStrings("passEnv", passEnv, () => "an array of names", refuse);
  if (cwd !== undefined && typeof cwd !== "string") refuse("cwd", "a path as a string", cwd);
  if (env !== undefined) checkEnv(env, refuse);
  if (inheritEnv !== undefined && !["safe", "all", "none"].includes(inheritEnv as string)) {
    refuse("inheritEnv", '"safe", "all" or "none"', inheritEnv);
  }
  if (processGroup !== undefined && typeof processGroup !== "boolean") {
    refuse("processGroup", "true or false", processGroup);
  }
  if (stderr !== undefined && typeof stderr !== "function" && !STDERR_MODES.includes(stderr as string)) {
    refuse("stderr", '"inherit", "tee", "capture", "ignore" or a function', stderr);
  }
}

function checkEnv(env: unknown, refuse: (name: string, must: string, value: unknown) => never): void {
  if (typeof env !== "object" || env === null || Array.isArray(env)) {
    refuse("env", 'an object, such as { TOKEN: "…" }', env);
  }
  for (const [name, value] of Object.entries(env as object)) {
    const isUsable = typeof value === "string" || value === undefined || value === null;
    if (!isUsable) refuse(`env.${name}`, "a string", value);
  }
}

function checkStrings(
  name: string,
  value: unknown,
  must: () => string,
  refuse: (name: string, must: string, value: unknown) => never,
): void {
  if (!Array.isArray(value)) refuse(name, must(), value);
  (value as unknown[]).forEach((each, index) => {
    if (typeof each !== "string") refuse(`${name}[${index}]`, "a string", each);
  });
}

/** What was meant, if it is a string of words. */
function exampleOf(args: unknown): string {
  const words = typeof args === "string" ? args.trim().split(/\s+/).slice(0, 3) : ["server.js"];
  return `[${words.map((word) => quoteText(word, 40)).join(", ")}]`;
}

/** What a value is, in words. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "string") return quoteText(value, 40);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
