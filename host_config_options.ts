/** The options of `host_config.ts`, which it gives out. */

import type { HostConfigDialect } from "./internal/host_config/dialects.ts";
import type { HostConfigInput, HostLaunch, StdioHostServer } from "./internal/host_config/shapes.ts";
import type { Clock, RuntimeAdapter } from "./runtime.ts";

/** What {@linkcode ParseHostConfigOptions} and {@linkcode ReadHostConfigOptions} share. */
export interface HostConfigOptions {
  /**
   * Which program's file it is. `"auto"` goes by the path, such as `.vscode/mcp.json`, if the file has the key of that program
   * (`servers` or `mcpServers`), and otherwise by the key. A file with both keys is read as `claude_code`; its `servers` then stay
   * in `raw`.
   *
   * @default {"auto"}
   */
  dialect?: HostConfigDialect | "auto" | undefined;
  /** What `${userHome}` stands for. By default the variable `HOME`, on Windows `USERPROFILE`. */
  homeDirectory?: string | undefined;
  /**
   * What `${workspaceFolder}` stands for. By default, for a file in `.vscode` or `.cursor`, the folder around that, unless it is the
   * home folder.
   */
  workspaceFolder?: string | undefined;
  /**
   * Whether a leading `~` or `~/` in `command`, `args`, `envFile` and `cwd` stands for the home folder.
   *
   * @default {false}
   */
  expandTilde?: boolean | undefined;
  /** Asked for the value of an `${input:...}`, once, when a server refers to it. For `undefined` the input's default is taken. */
  resolveInput?: ((input: HostConfigInput) => string | undefined | Promise<string | undefined>) | undefined;
}

/** Options for `parseHostConfig`. */
export interface ParseHostConfigOptions extends HostConfigOptions {
  /** The variables that references stand for, or what looks one up. */
  env: Readonly<Record<string, string>> | ((name: string) => string | undefined);
  /** The path of the file: messages name it, `dialect` may follow from it, and a relative `cwd` starts from its folder. */
  path?: string | undefined;
  /**
   * The system whose paths, quotes and names of variables are meant.
   *
   * @default {"posix"}
   */
  os?: "posix" | "windows" | undefined;
}

/** Options for `readHostConfig`. */
export interface ReadHostConfigOptions extends HostConfigOptions {
  /** Variables that win over those of this process. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The runtime; by default the one that this runs on. */
  runtime?: RuntimeAdapter | undefined;
}

/** Options for `resolveLaunch`. */
export interface ResolveLaunchOptions {
  /** The runtime that reads the file; by default the one that this runs on. */
  runtime?: RuntimeAdapter | undefined;
}

/** What `launchAll` hands to `launch`. */
export interface HostLaunchOptions extends HostLaunch {
  /** The signal given to `launchAll`, if there is one. */
  readonly signal?: AbortSignal;
}

/** How often `launchAll` tries again. */
export interface LaunchRetryOptions {
  /** How many more times a server is tried that could not be started. */
  maxRetries: number;
  /**
   * The wait before the first of them, in milliseconds. It doubles each time, and is shortened at random by up to half.
   *
   * @default {500}
   */
  delayMs?: number | undefined;
  /** Decides by the error whether to try again. By default each is tried again. */
  shouldRetry?: ((error: unknown, server: StdioHostServer) => boolean) | undefined;
}

/** Options for `launchAll`. */
export interface LaunchAllOptions<T> {
  /** Starts a server; `spawn` of `@mcp/stdio/client` fits. */
  launch: (options: HostLaunchOptions, server: StdioHostServer) => Promise<T>;
  /**
   * Asked, one question at a time and in the order of the file, before something runs that is not in `approved`. Only
   * `true` is a consent. What has the same fingerprint is asked for once. A server's `envFile` is read after that; where
   * it sets variables that decide what runs, they are asked for once more, as a server with a fingerprint of its own.
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
  /** Tries again to start what could not be started; by default nothing is tried again. */
  retry?: LaunchRetryOptions | undefined;
  /** The runtime that reads an `envFile`; by default the one that this runs on. */
  runtime?: RuntimeAdapter | undefined;
  /** The time that waits are measured by. */
  clock?: Clock | undefined;
  /** Starts no further server once it fires. It is also handed to `launch`, and what `launch` gives is still waited for. */
  signal?: AbortSignal | undefined;
}
