/**
 * The files in which hosts keep their servers: `claude_desktop_config.json`, `.mcp.json`, `.vscode/mcp.json`,
 * `.cursor/mcp.json`. {@linkcode readHostConfig} reads one, {@linkcode parseHostConfig} its text; neither starts anything.
 * Each server is a value of its own, so that a bad one hides no other; {@linkcode launchAll} starts them, after asking.
 *
 * The text is JSON, where comments, trailing commas and one leading byte order mark are allowed. Strings in `command`,
 * `args`, `env`, `envFile` and `cwd` may hold references; keys are never expanded, and what is put in is not read again:
 *
 * | reference | stands for | known to |
 * | --- | --- | --- |
 * | `${NAME}` | a variable; an error when it is not set; empty when it is empty | all |
 * | `${NAME:-default}` | the default when the variable is not set or empty; it may hold references and balanced braces | all |
 * | `$${` | the characters `${` | all |
 * | `${env:NAME}` | the same as `${NAME}` | `vscode`, `cursor` |
 * | `${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}`, `${/}` | what the editor would say | `vscode`, `cursor` |
 * | `${input:id}` | what `resolveInput` says, else the input's default | `vscode` |
 *
 * Numbers and booleans in `env` stand for their text in the file (`3000`, `1.10`, `true`); in VS Code's files `null` removes
 * a variable. Everything else of a wrong type is an error.
 *
 * @example Read a configuration and start its servers
 * ```ts
 * import { launchAll, parseHostConfig } from "@mcp/stdio/host-config";
 * import assert from "node:assert/strict";
 *
 * const text = `{ "mcpServers": {
 *   "local-db": {
 *     "command": "/path/to/server",
 *     "args": ["--config", "\${CLAUDE_PROJECT_DIR}/config.json"],
 *     "env": { "DB_URL": "\${DB_URL:-postgresql://localhost}" }, // not a secret
 *   },
 *   "broken": { "command": "\${MISSING}" },
 * } }`;
 * const config = await parseHostConfig(text, { env: { CLAUDE_PROJECT_DIR: "/project" } });
 *
 * const [outcome, broken] = await launchAll(config, {
 *   consent: (server) => server.commandLine === "DB_URL=… /path/to/server --config /project/config.json",
 *   launch: (options) => Promise.resolve(options.env.DB_URL), // or `launch: spawn`
 * });
 * assert.equal(outcome?.kind === "launched" && outcome.value, "postgresql://localhost");
 * assert.match(String(broken?.kind === "failed" && broken.error), /"command".*"MISSING" is not set/);
 * ```
 *
 * @module
 */

import { HostConfigError } from "./errors.ts";
import { systemClock } from "./internal/clock.ts";
import { Launcher } from "./internal/host_config/launcher.ts";
import { readDocument } from "./internal/host_config/document.ts";
import { isAbsolutePath, resolvePath } from "./internal/host_config/paths.ts";
import { checkDuration, checkPositiveInteger } from "./internal/options.ts";
import { quoteText } from "./internal/shown_text.ts";
import { getVariable } from "./internal/environment.ts";
import { detectRuntime } from "./internal/runtime/detect.ts";
import type { Clock, RuntimeAdapter } from "./runtime.ts";

/**
 * Whose file it is: this decides under which key the servers stand (`servers` for `vscode`, else `mcpServers`) and which
 * references are known.
 */
export type HostConfigDialect = "claude_desktop" | "claude_code" | "vscode" | "cursor";

/** What to hand to `spawn`. `env` is meant to be merged over the environment that `spawn` inherits. */
export interface HostLaunch {
  /** A program's name or path, with references expanded. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Its variables; `null` removes one. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Its working directory; a relative one is seen from the folder of the file, or of the project for an editor's file. */
  readonly cwd?: string;
}

/** What all entries have. */
export interface HostServerBase {
  /** The name of the server. */
  readonly name: string;
  /** The entry as it stands in the file, with all its keys. */
  readonly raw: unknown;
  /** Whether the entry says `disabled: true` or `enabled: false`. */
  readonly disabled: boolean;
  /**
   * What a host shows when it asks for consent: the command line with quotes, values of variables and passwords masked,
   * and everything spelled out that a terminal would act on or not show. For an entry that starts nothing, its address
   * or the command line as it is written.
   */
  readonly commandLine: string;
  /**
   * A SHA-256 digest of all that `launch` holds: if it is known from an earlier consent, the very same would run. For an
   * entry that starts nothing, a digest of what stands in the file.
   */
  readonly fingerprint: string;
}

/** A server that can be started. */
export interface StdioHostServer extends HostServerBase {
  /** Tells it from the others. */
  readonly kind: "stdio";
  /** What to start. */
  readonly launch: HostLaunch;
  /** Nothing is wrong. */
  readonly error?: undefined;
}

/** A server that is spoken to over HTTP or the like. */
export interface RemoteHostServer extends HostServerBase {
  /** Tells it from the others. */
  readonly kind: "remote";
  /** Its address as it stands in the file, with no reference expanded. */
  readonly url: string;
  /** Nothing is started. */
  readonly launch?: undefined;
  /** Nothing is wrong. */
  readonly error?: undefined;
}

/** A server whose entry cannot be used. */
export interface InvalidHostServer extends HostServerBase {
  /** Tells it from the others. */
  readonly kind: "invalid";
  /** Everything that is wrong with the entry. */
  readonly error: HostConfigError;
  /** Nothing can be started. */
  readonly launch?: undefined;
}

/** One entry of a host's file. */
export type HostServer = StdioHostServer | RemoteHostServer | InvalidHostServer;

/** Something VS Code asks a person for; strings refer to it by `${input:id}`. */
export interface HostConfigInput {
  /** What strings refer to it by. */
  readonly id: string;
  /** How it is asked for, such as `promptString` or `pickString`. */
  readonly type: string;
  /** What to say when asking. */
  readonly description?: string | undefined;
  /** Its value if none is given. */
  readonly default?: string | undefined;
  /** Whether its value is secret: it is then masked in `commandLine`. */
  readonly password: boolean;
  /** What it can be picked from. */
  readonly options: readonly string[];
}

/** What a host's file says. */
export interface HostConfig {
  /** The path of the file, if there is one. */
  readonly path: string | undefined;
  /** Whose file it is. */
  readonly dialect: HostConfigDialect;
  /** Its servers, in the order of the file. */
  readonly servers: readonly HostServer[];
  /** What a person is asked for. */
  readonly inputs: readonly HostConfigInput[];
  /** The whole file, with all its keys. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** What {@linkcode ParseHostConfigOptions} and {@linkcode ReadHostConfigOptions} share. */
export interface HostConfigOptions {
  /**
   * Whose file it is. `auto` tells it by the path if the file has the key that goes with it, else by the key; a file that
   * has both keys is read as `claude_code`, and its `servers` stay in `raw`.
   *
   * @default {"auto"}
   */
  dialect?: HostConfigDialect | "auto" | undefined;
  /** What `${userHome}` stands for. By default the variable `HOME`, on Windows `USERPROFILE`. */
  homeDirectory?: string | undefined;
  /**
   * What `${workspaceFolder}` stands for. By default the folder that holds `.vscode` or `.cursor`, if the file stands in
   * one, and that is not the home folder.
   */
  workspaceFolder?: string | undefined;
  /**
   * Whether a leading `~` or `~/` in `command`, `args`, `envFile` and `cwd` stands for the home folder.
   *
   * @default {false}
   */
  expandTilde?: boolean | undefined;
  /** Asks for an input, once, when a server refers to it. Without an answer its default holds. */
  resolveInput?: ((input: HostConfigInput) => string | undefined | Promise<string | undefined>) | undefined;
}

/** Options for {@linkcode parseHostConfig}. */
export interface ParseHostConfigOptions extends HostConfigOptions {
  /** The variables that references stand for, or what looks one up. */
  env: Readonly<Record<string, string>> | ((name: string) => string | undefined);
  /** Where the text comes from: for messages, for the dialect, and for what a relative `cwd` is seen from. */
  path?: string | undefined;
  /**
   * The system whose paths, quotes and names of variables are meant.
   *
   * @default {"posix"}
   */
  os?: "posix" | "windows" | undefined;
  /** Reads the text of an `envFile`. Without it an entry that has one is invalid. */
  readTextFile?: ((path: string) => Promise<string>) | undefined;
}

/** Options for {@linkcode readHostConfig}. */
export interface ReadHostConfigOptions extends HostConfigOptions {
  /** Variables that go before those of this process. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The runtime; the one at hand by default. */
  runtime?: RuntimeAdapter | undefined;
}

/**
 * Reads the text of a host's file. Nothing is started or asked, but by `resolveInput`.
 *
 * @param text The text of the file.
 * @param options Where the text and its variables come from.
 * @returns What the file says. An entry that cannot be used is a server of kind `invalid`.
 * @throws {HostConfigError} `invalid_config` if the text is no JSON or has no servers. A text that cannot be read is never
 * taken for an empty list; only a `claude_desktop_config.json` may have no key for servers, since it also holds settings.
 *
 * @example A file with a mistake in one entry
 * ```ts
 * import { parseHostConfig } from "@mcp/stdio/host-config";
 * import assert from "node:assert/strict";
 *
 * const text = `{ "servers": { "good": { "command": "uvx", "args": ["x y"] }, "bad": { "command": ["uvx"] } } }`;
 * const { dialect, servers } = await parseHostConfig(text, { env: {} });
 * assert.equal(dialect, "vscode");
 * assert.deepEqual(servers.map(({ kind }) => kind), ["stdio", "invalid"]);
 * assert.equal(servers[0]?.commandLine, "uvx 'x y'");
 * assert.equal(servers[1]?.error?.problems[0]?.field, "command");
 * ```
 */
export async function parseHostConfig(text: string, options: ParseHostConfigOptions): Promise<HostConfig> {
  const { env, path, os = "posix", dialect = "auto", expandTilde = false } = options;
  const { homeDirectory, workspaceFolder, resolveInput, readTextFile } = options;
  if (!["auto", "claude_desktop", "claude_code", "vscode", "cursor"].includes(dialect)) {
    throw new TypeError(
      `Cannot use "dialect" as it is not known: current value is ${quoteText(String(dialect))}`,
    );
  }
  return await readDocument(text, {
    env,
    path,
    os,
    dialect,
    expandTilde,
    homeDirectory,
    workspaceFolder,
    resolveInput,
    readTextFile,
  });
}

/**
 * Reads a host's file. Of this process's environment only the variables that the file refers to are looked up.
 *
 * @param path The path of the file; a relative one is seen from the working directory.
 * @param options How to read it.
 * @returns What the file says.
 * @throws {HostConfigError} `config_not_found` if there is no such file, `config_unreadable` if it cannot be read, and as
 * {@linkcode parseHostConfig}.
 *
 * @example A file that is not there
 * ```ts
 * import { readHostConfig } from "@mcp/stdio/host-config";
 * import { HostConfigError } from "@mcp/stdio/errors";
 * import assert from "node:assert/strict";
 *
 * const error = await readHostConfig("/nowhere/.mcp.json").catch((error) => error);
 * assert.ok(error instanceof HostConfigError && error.code === "config_not_found");
 * ```
 */
export async function readHostConfig(path: string, options: ReadHostConfigOptions = {}): Promise<HostConfig> {
  const { env = {}, runtime = await detectRuntime(), ...rest } = options;
  const { os } = runtime;
  const absolutePath = isAbsolutePath(os, path) ? path : resolvePath(os, runtime.cwd(), path);
  const text = await readText(runtime, absolutePath);
  return await parseHostConfig(text, {
    ...rest,
    path: absolutePath,
    os,
    env: (name) => getVariable(os, env, name) ?? getVariable(os, runtime.env([name]), name),
    readTextFile: (file) => runtime.readTextFile(file),
  });
}

async function readText(runtime: RuntimeAdapter, path: string): Promise<string> {
  try {
    return await runtime.readTextFile(path);
  } catch (cause) {
    const { code, name, message } = cause as { code?: unknown; name?: unknown; message?: unknown };
    const isMissing = code === "ENOENT" || name === "NotFound";
    throw new HostConfigError(
      isMissing ? "config_not_found" : "config_unreadable",
      `Cannot read the host configuration ${quoteText(path)}: ${
        isMissing ? "there is no such file" : message
      }`,
      { path },
      { cause },
    );
  }
}

/** What {@linkcode launchAll} hands to `launch`. */
export interface HostLaunchOptions extends HostLaunch {
  /** The signal given to {@linkcode launchAll}, if there is one. */
  readonly signal?: AbortSignal;
}

/** How often {@linkcode launchAll} tries again. */
export interface LaunchRetryOptions {
  /** How many more times a server is started that could not be. */
  maxRetries: number;
  /**
   * The wait before the first of them. It doubles each time, and up to half of it is left out by chance.
   *
   * @default {500}
   */
  delayMs?: number | undefined;
  /** Whether an error is worth it. By default each is. */
  shouldRetry?: ((error: unknown, server: StdioHostServer) => boolean) | undefined;
}

/** Options for {@linkcode launchAll}. */
export interface LaunchAllOptions<T> {
  /** Starts a server; `spawn` of `@mcp/stdio/client` fits. */
  launch: (options: HostLaunchOptions, server: StdioHostServer) => Promise<T>;
  /**
   * Asked, one question at a time and in the order of the file, before something runs that is not in `approved`. Only
   * `true` is a consent. What has the same fingerprint is asked for once.
   */
  consent: (server: StdioHostServer) => boolean | Promise<boolean>;
  /**
   * Fingerprints that have had consent.
   *
   * @default {[]}
   */
  approved?: Iterable<string> | undefined;
  /**
   * How many servers may be starting at the same time.
   *
   * @default {8}
   */
  concurrency?: number | undefined;
  /**
   * How many servers of the same command may be starting at the same time; no limit by default. Several `npx` or `uvx`
   * that fill one cache at the same time can break it: `1` starts them one after another.
   */
  perCommandConcurrency?: number | undefined;
  /** Tries again what could not be started; by default nothing is. */
  retry?: LaunchRetryOptions | undefined;
  /** The time that waits are measured by. */
  clock?: Clock | undefined;
  /** Ends it: what has not begun never does. It is also handed to `launch`, whose answer is still awaited. */
  signal?: AbortSignal | undefined;
}

/** What became of a server. */
export type LaunchOutcome<T> =
  | { readonly kind: "launched"; readonly server: StdioHostServer; readonly value: T }
  | { readonly kind: "failed"; readonly server: HostServer; readonly error: unknown }
  | { readonly kind: "refused"; readonly server: StdioHostServer }
  | { readonly kind: "aborted"; readonly server: StdioHostServer }
  | { readonly kind: "skipped"; readonly server: HostServer; readonly reason: "remote" | "disabled" };

/**
 * Starts the servers of a configuration, at the same time within limits. Before one runs that is new, `consent` is asked;
 * a failure concerns its own server only.
 *
 * An abort is told by outcomes, not by a rejection: what was started before is among them, and yours to close.
 *
 * @typeParam T What `launch` makes of a server.
 * @param config What {@linkcode readHostConfig} or {@linkcode parseHostConfig} gave.
 * @param options How to start and whom to ask.
 * @returns What became of each server, in the order of `config.servers`.
 * @throws {RangeError} If a limit is no positive integer, or a time is negative.
 *
 * @example Remember what was agreed to
 * ```ts
 * import { launchAll, parseHostConfig } from "@mcp/stdio/host-config";
 * import assert from "node:assert/strict";
 *
 * const text = `{ "mcpServers": { "git": { "command": "uvx", "args": ["mcp-server-git"] } } }`;
 * const config = await parseHostConfig(text, { env: {} });
 * const approved = new Set<string>();
 * const launch = () => Promise.resolve("started");
 *
 * const first = await launchAll(config, { launch, approved, consent: () => false });
 * assert.equal(first[0]?.kind, "refused");
 *
 * approved.add(config.servers[0]?.fingerprint ?? "");
 * const second = await launchAll(config, { launch, approved, consent: () => false });
 * assert.equal(second[0]?.kind, "launched");
 * ```
 */
export async function launchAll<T>(
  config: HostConfig,
  options: LaunchAllOptions<T>,
): Promise<LaunchOutcome<T>[]> {
  const { launch, consent, approved = [], concurrency = 8, perCommandConcurrency, retry, signal } = options;
  const { clock = systemClock } = options;
  const { maxRetries = 0, delayMs = 500, shouldRetry = () => true } = retry ?? {};
  checkPositiveInteger("concurrency", concurrency);
  if (perCommandConcurrency !== undefined) {
    checkPositiveInteger("perCommandConcurrency", perCommandConcurrency);
  }
  if (maxRetries !== 0) checkPositiveInteger("retry.maxRetries", maxRetries);
  checkDuration("retry.delayMs", delayMs);
  const launcher = new Launcher<StdioHostServer, T>({
    launch: (server) => launch(signal === undefined ? server.launch : { ...server.launch, signal }, server),
    consent,
    approved: new Set(approved),
    concurrency,
    perCommandConcurrency: perCommandConcurrency ?? concurrency,
    signal,
    maxRetries,
    retryDelayMs: delayMs,
    shouldRetry,
    clock,
    random: Math.random,
  });
  return await Promise.all(config.servers.map(async (server): Promise<LaunchOutcome<T>> => {
    if (server.disabled) return { kind: "skipped", server, reason: "disabled" };
    if (server.kind === "remote") return { kind: "skipped", server, reason: "remote" };
    if (server.kind === "invalid") return { kind: "failed", server, error: server.error };
    return { server, ...await launcher.start(server) };
  }));
}
