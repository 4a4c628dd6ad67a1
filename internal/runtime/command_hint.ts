/** What may help where a command cannot be started, from the look of it. */

/** Extensions of scripts, and what runs them. */
const INTERPRETERS: Readonly<Record<string, string>> = {
  js: "node",
  mjs: "node",
  cjs: "node",
  ts: "deno",
  py: "python",
  rb: "ruby",
  sh: "sh",
  ps1: "powershell",
  jar: "java",
};

/** A hint for a command that was not found, or is no program; undefined if its look tells nothing. */
export function commandHint(command: string, args: readonly string[]): string | undefined {
  if (/^~/.test(command)) return "no shell is involved, which would expand ~: give the whole path";
  if (/\$\w|\$\{|%\w+%/.test(command)) return "no shell is involved, which would expand variables";
  if (/^(["']).*\1$/s.test(command)) return "the quotes are part of the command: leave them out";
  const [program = "", ...words] = command.trim().split(/\s+/);
  if (words.length > 0 && (!/[\\/]/.test(command) || isFollowedByArguments(program, words))) {
    return `arguments belong into args: command ${JSON.stringify(program)}, args ${
      JSON.stringify([...words, ...args])
    }`;
  }
  const interpreter = INTERPRETERS[/\.(\w+)$/.exec(command)?.[1]?.toLowerCase() ?? ""];
  if (interpreter === undefined) return undefined;
  const shown = JSON.stringify([command, ...args]);
  return `a script is started by its interpreter: command ${JSON.stringify(interpreter)}, args ${shown}`;
}

/** A path may have spaces: then only the look of its words tells where it ends. */
function isFollowedByArguments(program: string, words: readonly string[]): boolean {
  return words.some((word) => word.startsWith("-")) ||
    /[\\/](?:node|deno|bun|npx|uvx|python[\d.]*)(?:\.\w+)?$/.test(program);
}
