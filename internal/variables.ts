/** Variables of an environment by their names, which ignore case on Windows. */

/** The system that an environment is of. */
export type EnvironmentSystem = "posix" | "windows";

/** Reads one variable of an environment, ignoring case on Windows. */
export function getVariable(
  os: EnvironmentSystem,
  env: Readonly<Record<string, string>>,
  name: string,
): string | undefined {
  if (Object.hasOwn(env, name)) return env[name];
  if (os === "posix") return undefined;
  const key = foldName(os, name);
  return Object.entries(env).find(([candidate]) => foldName(os, candidate) === key)?.[1];
}

/** The variables of these names, spelled as they are in the environment, which ignores case on Windows. */
export function pickVariables(
  os: EnvironmentSystem,
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const wanted = new Set(names.map((name) => foldName(os, name)));
  const spelled = os === "posix" ? names : Object.keys(env).filter((name) => wanted.has(foldName(os, name)));
  const entries = spelled.map((name) => [name, env[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Folds a name as Windows compares it: one character at a time, so that `ß` stays one character. */
export function foldName(os: EnvironmentSystem, name: string): string {
  if (os === "posix") return name;
  return name.replaceAll(/[^\0-@[-`{-\x7f]/g, (character) => {
    const upper = character.toUpperCase();
    return upper.length === 1 ? upper : character;
  });
}
