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
 * | `${CLAUDE_PROJECT_DIR}`, `${CLAUDE_PLUGIN_ROOT}` | the folder of the file, where no variable of that name is set | `claude_code` |
 *
 * Numbers and booleans in `env` stand for their text in the file (`3000`, `1.10`, `true`); in VS Code's files `null` removes
 * a variable. Everything else of a wrong type is an error.
 *
 * A file may be hostile. Reading it starts nothing, reads no other file, takes time in proportion to its size, and ends in
 * a {@linkcode HostConfigError} or in entries of kind `invalid` at worst. It may have 32 MiB and 20 000 servers, each of
 * them 50 000 arguments and variables; its references may put 1 MiB into a string, and 64 MiB into all of them.
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
import type {
  LaunchAllOptions,
  ParseHostConfigOptions,
  ReadHostConfigOptions,
  ResolveLaunchOptions,
} from "./host_config_options.ts";
import { systemClock } from "./internal/clock.ts";
import { getVariable } from "./internal/variables.ts";
import { isDialect } from "./internal/host_config/dialects.ts";
import { GREATEST_CONFIG_LENGTH, readDocument } from "./internal/host_config/document.ts";
import { GREATEST_ENV_FILE_BYTES, prepareServer } from "./internal/host_config/env_variables.ts";
import { Launcher } from "./internal/host_config/launcher.ts";
import { isAbsolutePath, resolvePath } from "./internal/host_config/paths.ts";
import type { HostConfig, HostLaunch, HostServer, StdioHostServer } from "./internal/host_config/shapes.ts";
import { checkDuration, checkPositiveInteger } from "./internal/options.ts";
import { quoteText } from "./internal/shown_text.ts";
import { detectRuntime } from "./internal/runtime/detect.ts";
import type { RuntimeAdapter } from "./runtime.ts";

export type {
  HostConfigOptions,
  HostLaunchOptions,
  LaunchAllOptions,
  LaunchRetryOptions,
  ParseHostConfigOptions,
  ReadHostConfigOptions,
  ResolveLaunchOptions,
} from "./host_config_options.ts";
export type { HostConfigDialect } from "./internal/host_config/dialects.ts";
export type {
  HostConfig,
  HostConfigInput,
  HostLaunch,
  HostServer,
  HostServerBase,
  HostServerLaunch,
  InvalidHostServer,
  RemoteHostServer,
  StdioHostServer,
} from "./internal/host_config/shapes.ts";

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
  if (typeof text !== "string") {
    throw new TypeError(
      `Cannot parse the host configuration: its text is no string, but ${describeType(text)}`,
    );
  }
  const { env, path, os = "posix", dialect = "auto", expandTilde = false } = options ?? {};
  const { homeDirectory, workspaceFolder, resolveInput } = options ?? {};
  if (typeof env !== "function" && (typeof env !== "object" || env === null)) {
    throw new TypeError(
      `Cannot parse the host configuration: the option "env" must be an object or a function, but is ${
        describeType(env)
      }; give {} if there are no variables`,
    );
  }
  if (dialect !== "auto" && !isDialect(dialect)) {
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
  });
}

function describeType(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
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
  });
}

async function readText(runtime: RuntimeAdapter, path: string): Promise<string> {
  try {
    return await runtime.readTextFile(path, { maxBytes: GREATEST_CONFIG_LENGTH });
  } catch (cause) {
    const { code, name, message } = cause as { code?: unknown; name?: unknown; message?: unknown };
    const isMissing = code === "ENOENT" || name === "NotFound";
    const reason = isMissing
      ? "there is no such file"
      : cause instanceof RangeError
      ? `it has more than ${GREATEST_CONFIG_LENGTH} bytes`
      : message;
    throw new HostConfigError(
      isMissing ? "config_not_found" : "config_unreadable",
      `Cannot read the host configuration ${quoteText(path)}: ${reason}`,
      { path },
      { cause },
    );
  }
}

/**
 * Gives what to start, with the variables of the `envFile` that an entry may name. It reads that file now, so call it
 * once the launch was agreed to. {@linkcode launchAll} does so by itself, and asks again where the file decides what runs.
 *
 * @param server The server.
 * @param options How to read its file.
 * @returns What to hand to `spawn`.
 * @throws {HostConfigError} `config_unreadable` if the file cannot be read, is no regular file or has more than 1 MiB,
 * `invalid_config` if it holds something else than `NAME=value`.
 *
 * @example Start one server of a file
 * ```ts
 * import { parseHostConfig, resolveLaunch } from "@mcp/stdio/host-config";
 * import { createFakeRuntime } from "@mcp/stdio/testing";
 * import assert from "node:assert/strict";
 *
 * const text = `{ "mcpServers": { "db": { "command": "db-server", "envFile": ".env", "env": { "PORT": 1 } } } }`;
 * const { servers: [server] } = await parseHostConfig(text, { env: {}, path: "/project/.mcp.json" });
 * assert.equal(server?.commandLine, "(variables of /project/.env) PORT=… db-server");
 *
 * const runtime = createFakeRuntime({ files: { "/project/.env": "KEY=1234\nPORT=2" } });
 * const launch = server?.kind === "stdio" ? await resolveLaunch(server, { runtime }) : undefined;
 * assert.deepEqual(launch?.env, { KEY: "1234", PORT: "1" });
 * ```
 */
export async function resolveLaunch(
  server: StdioHostServer,
  options: ResolveLaunchOptions = {},
): Promise<HostLaunch> {
  return (await prepareServer(server, envFileReader(options.runtime))).launch;
}

/** Reads an `envFile` by a runtime, which is looked for when there is one to read. */
function envFileReader(runtime: RuntimeAdapter | undefined): (path: string) => Promise<string> {
  return async (path) => {
    const reader = runtime ?? await detectRuntime();
    return await reader.readTextFile(path, { maxBytes: GREATEST_ENV_FILE_BYTES, regular: true });
  };
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
  const { clock = systemClock, runtime } = options;
  const { maxRetries = 0, delayMs = 500, shouldRetry = () => true } = retry ?? {};
  checkPositiveInteger("concurrency", concurrency);
  if (perCommandConcurrency !== undefined) {
    checkPositiveInteger("perCommandConcurrency", perCommandConcurrency);
  }
  if (maxRetries !== 0) checkPositiveInteger("retry.maxRetries", maxRetries);
  checkDuration("retry.delayMs", delayMs);
  const readFile = envFileReader(runtime);
  const launcher = new Launcher<T>({
    prepare: (server) => prepareServer(server, readFile),
    launch: ({ server, launch: what }) => launch(signal === undefined ? what : { ...what, signal }, server),
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
  const startable = config.servers.filter((server): server is StdioHostServer =>
    server.kind === "stdio" && !server.disabled
  );
  const ends = await launcher.startAll(startable);
  const endOf = new Map(startable.map((server, index) => [server, ends[index]!]));
  return config.servers.map((server): LaunchOutcome<T> => {
    if (server.disabled) return { kind: "skipped", server, reason: "disabled" };
    if (server.kind === "remote") return { kind: "skipped", server, reason: "remote" };
    if (server.kind === "invalid") return { kind: "failed", server, error: server.error };
    return { server, ...endOf.get(server)! };
  });
}
