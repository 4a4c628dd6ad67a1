/** The options of a client, and the shapes that its users see. `client.ts` gives them out. */

import type { Logger } from "./logger.ts";
import type {
  ClientCapabilities,
  Era,
  Implementation,
  LoggingLevel,
  Params,
  SubscriptionFilter,
} from "./messages.ts";
import type { CoreMethods, InputMethods } from "./methods.ts";
import type { Clock, ExitStatus, RuntimeAdapter } from "./runtime.ts";

/** What progress says. */
export interface Progress {
  /** How far it is; rises with each notification. */
  readonly progress: number;
  /** How far it will be in the end, if known. */
  readonly total?: number | undefined;
  /** For people. */
  readonly message?: string | undefined;
}

/** Options for {@linkcode Client.request}. */
export interface RequestOptions {
  /**
   * How long the answer is awaited, in milliseconds. `Infinity` leaves only `maxTimeoutMs`.
   *
   * @default {60_000}
   */
  timeoutMs?: number | undefined;
  /**
   * How long the whole request may take, whatever comes meanwhile, in milliseconds.
   *
   * @default {600_000}
   */
  maxTimeoutMs?: number | undefined;
  /**
   * Whether progress starts `timeoutMs` anew.
   *
   * @default {false}
   */
  resetTimeoutOnProgress?: boolean | undefined;
  /**
   * Whether the request is made again when the server ends before it answers: `auto` those of the specification that can be made
   * twice, which is all but `tools/call`; `force` any; `never` none.
   *
   * @default {"auto"}
   */
  retry?: "auto" | "force" | "never" | undefined;
  /**
   * Told of progress; the server is asked for it only then. Must not block. If it throws, or gives a promise that rejects, the request
   * fails with that and the server is told to stop; the same holds for the other callbacks of a request.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Told of log messages that name this request, as those of servers of this module do; `logLevel` asks a modern server for some.
   * Those that name none go to `onNotification` of the client, and so do all without this callback.
   */
  onLog?: ((level: LoggingLevel, data: unknown, logger?: string) => void) | undefined;
  /** Told of other notifications that name this request. */
  onNotification?: ((method: string, params: Params | undefined) => void) | undefined;
  /**
   * Whether the callbacks run before the next frame is read; otherwise they run in order soon after. Such a callback may make a
   * request, but must not wait for its answer: that is read only when the callback has returned.
   *
   * @default {false}
   */
  inlineNotifications?: boolean | undefined;
  /** The least severe log messages the server shall send during this request. */
  logLevel?: LoggingLevel | undefined;
  /**
   * Gives the request up: the server is told to stop, and the promise rejects with the signal's reason. The server learns the reason
   * only if that is a text of at most 1 KiB.
   */
  signal?: AbortSignal | undefined;
}

/** A method of the specification that needs no params. */
export type MethodWithoutParams = {
  [Method in keyof CoreMethods]: Record<never, never> extends CoreMethods[Method]["params"] ? Method : never;
}[keyof CoreMethods];

/** A method that the specification does not define. */
export type OtherMethod<Method extends string> = Method extends keyof CoreMethods ? never : Method;

/** The params of a method of the specification; the options of the request stand behind them, not among them. */
export type RequestParams<Method extends keyof CoreMethods> =
  & CoreMethods[Method]["params"]
  & { readonly [Name in keyof RequestOptions]?: never };

/** The result of a method of the specification. */
export type RequestResult<Method extends keyof CoreMethods> = CoreMethods[Method]["result"];

/** What a client is bound by. */
export interface ClientLimits {
  /**
   * The longest line in bytes, in either direction; CR LF is not counted.
   *
   * @default {16_777_216}
   */
  maxLineBytes?: number | undefined;
  /**
   * The deepest nesting of arrays and objects in an answer.
   *
   * @default {512}
   */
  maxNestingDepth?: number | undefined;
  /**
   * As many bytes are read and decoded at a time, at most; a line may be longer.
   *
   * @default {65_536}
   */
  readBufferBytes?: number | undefined;
  /**
   * How many notifications wait for a slow `onNotification` before log messages are dropped, with a warning. Other notifications
   * wait as long as they take no more than 8 MiB.
   *
   * @default {1_024}
   */
  maxQueuedNotifications?: number | undefined;
}

/** Where a client is in its life. */
export type ClientState = "connecting" | "ready" | "restarting" | "closing" | "closed";

/** What a handler of input is given besides the params. */
export interface InputContext {
  /** Fires when nobody waits for the answer any more: the server has withdrawn its question, or the request behind it is over. */
  readonly signal: AbortSignal;
}

/** Answers what a server asks by one method. At most 16 run at once; the others wait. */
export type InputHandler<Method extends keyof InputMethods = keyof InputMethods> = (
  params: InputMethods[Method]["params"],
  context: InputContext,
) => InputMethods[Method]["result"] | Promise<InputMethods[Method]["result"]>;

/** Handlers of what a server may ask, by method. What a server sends is not checked: it may fit no type. */
export type InputHandlers = { readonly [Method in keyof InputMethods]?: InputHandler<Method> | undefined };

/** Options for {@linkcode Client.connect} and {@linkcode spawn}. */
export interface ClientOptions {
  /**
   * Who asks.
   *
   * @default {this module's name and version}
   */
  info?: Implementation | undefined;
  /**
   * What the client can do.
   *
   * @default {what follows from `inputHandlers`}
   */
  capabilities?: ClientCapabilities | undefined;
  /**
   * What the server is taken for: `auto` finds out, `modern` takes no other, `legacy` begins with `initialize`.
   *
   * @default {"auto"}
   */
  era?: "auto" | Era | undefined;
  /**
   * How long a server may take until it has answered the greeting, in milliseconds.
   *
   * @default {60_000}
   */
  connectTimeoutMs?: number | undefined;
  /**
   * How long a server may be silent before it is taken for a legacy one, in milliseconds.
   *
   * @default {10_000}
   */
  probeTimeoutMs?: number | undefined;
  /**
   * Default of {@linkcode RequestOptions.timeoutMs}.
   *
   * @default {60_000}
   */
  timeoutMs?: number | undefined;
  /**
   * Default of {@linkcode RequestOptions.maxTimeoutMs}.
   *
   * @default {600_000}
   */
  maxTimeoutMs?: number | undefined;
  /**
   * How long the acknowledgment of a listen stream is awaited, in milliseconds.
   *
   * @default {10_000}
   */
  listenTimeoutMs?: number | undefined;
  /**
   * How long a server that is ready may be silent before it is asked for a sign of life, and how long it then has to answer, in
   * milliseconds. One that does not is ended and, if this client has started it, started again as after a crash. While the client
   * waits to ask, it keeps this process alive.
   *
   * @default {Infinity}
   */
  healthCheckMs?: number | undefined;
  /** What the client is bound by. */
  limits?: ClientLimits | undefined;
  /**
   * Told, in order, of each notification that names no request: log messages and, from legacy servers, changes. One that gives a
   * promise is awaited before the next; it may wait for requests of its own.
   */
  onNotification?: ((method: string, params: Params | undefined) => void | Promise<void>) | undefined;
  /**
   * Whether `onNotification` runs, and is awaited, before the next frame is read. It may then make a request, but must not wait
   * for its answer.
   *
   * @default {false}
   */
  inlineNotifications?: boolean | undefined;
  /** Told of text on the server's stdout that is no message, at most 1 KiB of it. */
  onStrayOutput?: ((text: string) => void) | undefined;
  /** Told of each change of {@linkcode Client.state}. */
  onStateChange?: ((state: ClientState) => void) | undefined;
  /**
   * Answer what a server asks: `elicitation/create`, `sampling/createMessage`, `roots/list`. The client tells servers that it can
   * answer those that are given. While one runs, no request times out that may be waiting for it.
   *
   * @example
   * ```ts
   * import type { InputHandlers } from "@mcp/stdio/client";
   *
   * export const inputHandlers: InputHandlers = {
   *   "elicitation/create": ({ message }) => ({ action: "accept", content: { reason: `You asked: ${message}` } }),
   *   "roots/list": () => ({ roots: [{ uri: "file:///home/me/project", name: "project" }] }),
   * };
   * ```
   */
  inputHandlers?: InputHandlers | undefined;
  /** The least severe log messages the server shall send; none without it. */
  logLevel?: LoggingLevel | undefined;
  /**
   * Takes what the client says about itself.
   *
   * @default {warnings and errors to stderr}
   */
  logger?: Logger | undefined;
  /**
   * Whether `logger.debug` is told of each frame that passes: which way, of what kind, its id, method and size in bytes, never
   * its content. It costs nothing when it is off. A `Connection` that is handed in is not looked into.
   *
   * @default {false}
   */
  traceFrames?: boolean | undefined;
  /** Time, for tests. */
  clock?: Clock | undefined;
}

/** How long each step of an orderly end may take. */
export interface CloseOptions {
  /**
   * From the end of the server's input to SIGTERM, in milliseconds.
   *
   * @default {2_000}
   */
  shutdownGraceMs?: number | undefined;
  /**
   * From SIGTERM to SIGKILL, in milliseconds.
   *
   * @default {the value of `shutdownGraceMs`}
   */
  terminateGraceMs?: number | undefined;
}

/** Options for {@linkcode spawn}. */
export interface SpawnOptions extends ClientOptions, CloseOptions {
  /** The server's program: a name that is searched in the PATH of its environment, or a path. No shell is involved. */
  command: string;
  /** Its arguments. */
  args?: readonly string[] | undefined;
  /**
   * Its working directory.
   *
   * @default {this process's own}
   */
  cwd?: string | undefined;
  /** What is set in its environment; `undefined` and `null` remove a name. */
  env?: Readonly<Record<string, string | undefined | null>> | undefined;
  /**
   * What it takes over from this process's environment: the names that programs need to work and that hold no secrets, all of
   * it, or nothing.
   *
   * @default {"safe"}
   */
  inheritEnv?: "safe" | "all" | "none" | undefined;
  /** Further names to take over; one that ends in `*` is a pattern. */
  passEnv?: readonly string[] | undefined;
  /**
   * Whether it leads a process group of its own, so that what it starts is ended with it, and a Ctrl-C in the terminal is not
   * its own.
   *
   * @default {true}
   */
  processGroup?: boolean | undefined;
  /**
   * Where its stderr goes: to this process's, there and into `stderrTail`, into `stderrTail` alone, nowhere, or line by line to
   * a function. A line longer than 8 KiB comes in pieces.
   *
   * @default {"inherit"}
   */
  stderr?: "inherit" | "tee" | "capture" | "ignore" | ((line: string) => void) | undefined;
  /**
   * How many times in a row it is started again when it ends by itself. A minute of life clears the record.
   *
   * @default {3}
   */
  maxRestarts?: number | undefined;
  /**
   * Whether the running server keeps this process alive. With `false` this process may end when it has nothing else to do, and
   * the server with it; an answer that is awaited and a close under way still keep it alive, an open listen stream does not.
   *
   * @default {true}
   */
  keepAlive?: boolean | undefined;
  /** Ends the server at once, also while it is being started; `spawn` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * The runtime.
   *
   * @default {the one this runs on}
   */
  runtime?: RuntimeAdapter | undefined;
}

/** What ending a server took. */
export interface CloseReport {
  /** How its process ended; null without a process, or when the system does not say. */
  readonly exit: ExitStatus | null;
  /** `already`: it had ended; `eof`: the end of its input was enough; `term`: SIGTERM; `kill`: SIGKILL. */
  readonly step: "already" | "eof" | "term" | "kill";
}

/** Something that happens on a listen stream. */
export type ListenEvent =
  | {
    /** A notification that was asked for. */
    readonly kind: "notification";
    /** Its method. */
    readonly method: string;
    /** Its params. */
    readonly params: Params | undefined;
  }
  | {
    /** The server was started again and asked again: what happened meanwhile was not told. */
    readonly kind: "resubscribed";
    /** What it agreed to. */
    readonly filter: SubscriptionFilter;
  }
  | {
    /** More has happened than is kept for a slow reader: read everything anew. */
    readonly kind: "missed";
  };

/** An open `subscriptions/listen` stream: iterate over it for what happens. Leaving the loop, or the scope of a `using`, ends it. */
export interface Listening
  extends AsyncIterableIterator<ListenEvent, undefined>, AsyncDisposable, Disposable {
  /** What the server agreed to. Rejects if it does not answer in time or refuses. */
  readonly acknowledged: Promise<SubscriptionFilter>;
  /** Why it is over: closed here, ended by the server, or lost with it. */
  readonly ended: Promise<"local" | "server" | "lost">;
  /** Ends it. */
  close(): void;
}
