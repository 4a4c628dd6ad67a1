/**
 * What a child's environment is made of: names taken over from this process, then what the configuration says. All of
 * it is decided here and handed over whole, so that no runtime adds or drops a name.
 */

import { STEERING_PREFIXES } from "./steering_names.ts";
import { type EnvironmentSystem, foldName } from "./variables.ts";

/** What is taken over from this process: the safe names, everything, or nothing. */
export type EnvironmentInheritance = "safe" | "all" | "none";

/** What decides which names are taken over. */
export interface InheritanceRequest {
  readonly os: EnvironmentSystem;
  readonly inheritEnv: EnvironmentInheritance;
  /** Further names, or patterns that end in `*`. */
  readonly passEnv: readonly string[];
}

/** What a child's environment is made of. */
export interface EnvironmentRequest extends InheritanceRequest {
  /** This process's environment, as far as it was read. */
  readonly own: Readonly<Record<string, string>>;
  /** What is set; `undefined` and `null` remove a name. */
  readonly env: Readonly<Record<string, string | undefined | null>>;
}

// Names of one family are written out, so that reading them never needs the permission to read everything.
const LOCALE_NAMES = [
  "LANG",
  "LANGUAGE",
  ..."ALL CTYPE NUMERIC TIME COLLATE MONETARY MESSAGES PAPER NAME ADDRESS TELEPHONE MEASUREMENT IDENTIFICATION"
    .split(" ").map((category) => `LC_${category}`),
  "TZ",
];
const PROXY_NAMES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
const CERTIFICATE_NAMES = [
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
];
const XDG_NAMES = [
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_CACHE_HOME",
  "XDG_STATE_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_CONFIG_DIRS",
  "XDG_DATA_DIRS",
];

/** The names that mode `safe` takes over: what programs need to be found and to work, and nothing that holds secrets. */
export const SAFE_ENVIRONMENT_NAMES: Readonly<Record<EnvironmentSystem, readonly string[]>> = {
  posix: [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    ...LOCALE_NAMES,
    ...PROXY_NAMES,
    ...PROXY_NAMES.map((name) => name.toLowerCase()),
    ...CERTIFICATE_NAMES,
    ...XDG_NAMES,
  ],
  windows: [
    "PATH",
    "PATHEXT",
    "COMSPEC",
    "WINDIR",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PROGRAMDATA",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
    "ALLUSERSPROFILE",
    "PUBLIC",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "USERNAME",
    "USERDOMAIN",
    "HOMEDRIVE",
    "HOMEPATH",
    "HOME",
    "TEMP",
    "TMP",
    "OS",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
    "PROCESSOR_ARCHITEW6432",
    "TERM",
    ...LOCALE_NAMES,
    ...PROXY_NAMES,
    ...CERTIFICATE_NAMES,
    ...XDG_NAMES,
  ],
};

/**
 * The names of this process that have to be read for a request, or `undefined` when that is all of them: in mode `all`,
 * and for patterns, which can only be matched against every name.
 */
export function listInheritedNames(request: InheritanceRequest): readonly string[] | undefined {
  const { os, inheritEnv, passEnv } = request;
  if (inheritEnv === "all" || passEnv.some(isPattern)) return undefined;
  const names = inheritEnv === "safe" ? [...SAFE_ENVIRONMENT_NAMES[os], ...passEnv] : passEnv;
  const unique = new Map(names.map((name) => [foldName(os, name), name]));
  return [...unique.values()];
}

/**
 * Makes a child's whole environment.
 *
 * On Windows, where names ignore case, each name stands in it once: spelled as in `env` if it stands there, else as
 * in this process's environment. Outside of mode `all` a value that begins with `()` is not taken over: it is a shell function,
 * and shells have run what came in one.
 *
 * @throws {TypeError} If a name or a value in `env` cannot stand in an environment.
 */
export function resolveEnvironment(request: EnvironmentRequest): Record<string, string> {
  const { os, own, inheritEnv, env } = request;
  const resolved = new Map<string, readonly [name: string, value: string]>();
  const wanted = matchInherited(request);
  for (const [name, value] of Object.entries(own)) {
    // Windows keeps the working directory of each drive in names that begin with "=".
    if (name === "" || name.startsWith("=")) continue;
    const key = foldName(os, name);
    if (resolved.has(key) || !wanted(key)) continue;
    if (inheritEnv !== "all" && value.startsWith("()")) continue;
    resolved.set(key, [name, value]);
  }
  for (const [name, value] of Object.entries(env)) {
    const key = foldName(os, name);
    if (value === undefined || value === null) {
      resolved.delete(key);
      continue;
    }
    checkVariable(name, value);
    resolved.set(key, [name, value]);
  }
  return Object.fromEntries(resolved.values());
}

function matchInherited(request: InheritanceRequest): (key: string) => boolean {
  const { os, inheritEnv, passEnv } = request;
  if (inheritEnv === "all") return () => true;
  const folded = passEnv.map((entry) => foldName(os, entry));
  const names = new Set(folded.filter((entry) => !isPattern(entry)));
  if (inheritEnv === "safe") { for (const name of SAFE_ENVIRONMENT_NAMES[os]) names.add(name); }
  const prefixes = folded.filter(isPattern).map((entry) => entry.slice(0, -1));
  return (key) => names.has(key) || prefixes.some((prefix) => matchesPrefix(key, prefix));
}

function matchesPrefix(key: string, prefix: string): boolean {
  if (!key.startsWith(prefix)) return false;
  // What steers which code runs is taken over by its own name or family, and not by the way.
  const family = STEERING_PREFIXES.find((steering) => key.startsWith(steering));
  return family === undefined || prefix.startsWith(family);
}

function isPattern(entry: string): boolean {
  return entry.endsWith("*");
}

function checkVariable(name: string, value: string): void {
  const shown = JSON.stringify(name);
  if (name === "") throw new TypeError("Cannot set an environment variable: its name is empty");
  if (name.includes("=") || name.includes("\0")) {
    throw new TypeError(
      `Cannot set the environment variable ${shown}: its name holds "=" or a NUL character`,
    );
  }
  if (typeof value !== "string") {
    throw new TypeError(
      `Cannot set the environment variable ${shown}: its value is no string, but a ${typeof value}`,
    );
  }
  if (value.includes("\0")) {
    throw new TypeError(`Cannot set the environment variable ${shown}: its value holds a NUL character`);
  }
}
