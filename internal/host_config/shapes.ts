/** What a host's file says, as `host_config.ts` gives it out. */

import type { HostConfigError } from "../../errors.ts";
import type { HostConfigDialect } from "./dialects.ts";

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

/** What an entry would start. */
export interface HostServerLaunch extends HostLaunch {
  /**
   * A file of further variables, over which those of `env` go. It is not read before the launch was agreed to: `launchAll`
   * does it then, or {@linkcode resolveLaunch}.
   */
  readonly envFile?: string;
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
   * What a host shows when it asks for consent: the command line with quotes, and everything spelled out that a terminal
   * would act on or not show. Values of variables are masked, but for those that decide what runs (`PATH`,
   * `NODE_OPTIONS`, …); so are passwords and what looks like a secret, and what is taken from the environment is shown
   * as the reference it is written as. It has at most 4 096 characters; what is cut ends with how many are not shown. For
   * an entry that starts nothing, its address or the command line as it is written.
   */
  readonly commandLine: string;
  /**
   * A SHA-256 digest of all that `launch` holds: if it is known from an earlier consent, the very same would run. For an
   * entry that starts nothing, a digest of what stands in the file.
   */
  readonly fingerprint: string;
  /**
   * What a person should know before they agree, a sentence each: variables that decide what runs, and keys that nobody
   * reads and that look like one that is missing.
   */
  readonly warnings: readonly string[];
}

/** A server that can be started. */
export interface StdioHostServer extends HostServerBase {
  /** Tells it from the others. */
  readonly kind: "stdio";
  /** What to start. */
  readonly launch: HostServerLaunch;
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
  /** Everything that is wrong with the entry, up to a thousand problems. */
  readonly error: HostConfigError;
  /** Nothing can be started. */
  readonly launch?: undefined;
}

/** One entry of a host's file. */
export type HostServer = StdioHostServer | RemoteHostServer | InvalidHostServer;

/** Something VS Code asks a person for; strings refer to it by `${input:id}`. */
export interface HostConfigInput {
  /** Its name: `${input:id}` refers to it. */
  readonly id: string;
  /** How it is asked for, such as `promptString` or `pickString`. */
  readonly type: string;
  /** The question to show. */
  readonly description?: string | undefined;
  /** Its value if none is given. */
  readonly default?: string | undefined;
  /** Whether its value is secret: `commandLine` then shows the reference. */
  readonly password: boolean;
  /** What it can be picked from. */
  readonly options: readonly string[];
}

/** What a host's file says. */
export interface HostConfig {
  /** The path of the file, if there is one. */
  readonly path: string | undefined;
  /** Which program's file it is. */
  readonly dialect: HostConfigDialect;
  /** Its servers, in the order of the file. */
  readonly servers: readonly HostServer[];
  /** What a person is asked for. */
  readonly inputs: readonly HostConfigInput[];
  /** The whole file, with all its keys. */
  readonly raw: Readonly<Record<string, unknown>>;
}
