/** The options of a client, and the shapes that its users see. `client.ts` gives them out. */

import type { Progress } from "./internal/client/call.ts";
import type { ListenEvent } from "./internal/client/listening.ts";
import type { InputContext } from "./internal/client/questions.ts";
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
import type { Clock, RuntimeAdapter } from "./runtime.ts";

export type { Progress } from "./internal/client/call.ts";
export type { InputContext } from "./internal/client/questions.ts";
export type { CloseReport } from "./internal/client/link.ts";
export type { ListenEvent } from "./internal/client/listening.ts";

/** Options for {@linkcode Client.request}. */
export interface RequestOptions {
  /**
   * How long to wait for the answer, in milliseconds. With `Infinity` only `maxTimeoutMs` ends the request.
   *
   * @default {60_000}
   */
  timeoutMs?: number | undefined;
  /**
   * How long the whole request may take, in milliseconds, whatever comes meanwhile.
   *
   * @default {600_000}
   */
  maxTimeoutMs?: number | undefined;
  /**
   * Whether each progress report starts `timeoutMs` anew. The server is then asked for progress, also without `onProgress`.
   *
   * @default {false}
   */
  resetTimeoutOnProgress?: boolean | undefined;
  /**
   * What to do if the server ends before it answers. `"auto"`: make the request again if the specification lets it be made twice,
   * which is every method but `tools/call`. `"force"`: make it again in any case. `"never"`: let it fail.
   *
   * @default {"auto"}
   */
  retry?: "auto" | "force" | "never" | undefined;
  /**
   * Called with each progress report; the server is asked for progress only if this is given. Must not block. If it throws, or gives
   * a promise that rejects, the request fails with that and the server is told to stop; the same holds for the other callbacks
   * of a request.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Called with log messages that name this request, as those of servers of this module do; `logLevel` asks a modern server for
   * some. Those that name none go to `onNotification` of the client, and so do all of them without this callback.
   */
  onLog?: ((level: LoggingLevel, data: unknown, logger?: string) => void) | undefined;
  /** Called with other notifications that name this request. */
  onNotification?: ((method: string, params: Params | undefined) => void) | undefined;
  /**
   * Whether the callbacks run before the next message is read; otherwise they run in order, soon after. With `true` a callback may
   * make a request but must not wait for its answer, which is read only when the callback has returned.
   *
   * @default {false}
   */
  inlineNotifications?: boolean | undefined;
  /** Asks a modern server to send log messages of this level and above during this request; without it, it sends none. */
  logLevel?: LoggingLevel | undefined;
  /**
   * Gives the request up when it fires: the server is told to stop, and the promise rejects with the signal's reason. The server
   * learns the reason only if that is a text of at most 1 KiB.
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

/** Bounds of what a server can make grow in a client. */
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
   * How many bytes are read and decoded at a time, at most; a line may be longer.
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
   * The name and version that servers are told.
   *
   * @default {this module's name and version}
   */
  info?: Implementation | undefined;
  /**
   * What servers are told that the client can do.
   *
   * @default {what follows from `inputHandlers`}
   */
  capabilities?: ClientCapabilities | undefined;
  /**
   * Which era to speak. `"auto"`: find out what the server speaks. `"modern"`: take no other. `"legacy"`: begin with `initialize`
   * at once.
   *
   * @default {"auto"}
   */
  era?: "auto" | Era | undefined;
  /**
   * How long the handshake may take, in milliseconds, from the start of the server. Raise it for servers that are installed when
   * they are first started, such as those of `npx`.
   *
   * @default {60_000}
   */
  connectTimeoutMs?: number | undefined;
  /**
   * How long to wait for the answer to `server/discover`, in milliseconds, before the client falls back to `initialize`. For an old
   * server that ignores unknown methods connecting takes this long: lower it, or set `era: "legacy"`.
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
   * How long to wait for the server to acknowledge a {@linkcode Client.listen}, in milliseconds.
   *
   * @default {10_000}
   */
  listenTimeoutMs?: number | undefined;
  /**
   * How long a server may show no sign of life before it is asked for one, and how long it then has to answer, in milliseconds. One
   * that does not answer is ended and, if this client has started it, started again as after a crash. The check keeps this
   * process alive.
   *
   * @default {Infinity}
   */
  healthCheckMs?: number | undefined;
  /** What the client is bound by. */
  limits?: ClientLimits | undefined;
  /**
   * Called, in order, with each notification that names no request: log messages and, from legacy servers, changes. If it gives a
   * promise, the next call waits for that; it may wait for requests of its own.
   */
  onNotification?: ((method: string, params: Params | undefined) => void | Promise<void>) | undefined;
  /**
   * Whether `onNotification` runs, and is waited for, before the next message is read. It may then make a request, but must not wait
   * for its answer.
   *
   * @default {false}
   */
  inlineNotifications?: boolean | undefined;
  /** Called with text on the server's stdout that is no message, at most 1 KiB of it. */
  onStrayOutput?: ((text: string) => void) | undefined;
  /** Called at each change of {@linkcode Client.state}. */
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
  /** Asks the server to send log messages of this level and above; without it, it sends none. */
  logLevel?: LoggingLevel | undefined;
  /**
   * Takes the client's own warnings and errors.
   *
   * @default {warnings and errors to stderr}
   */
  logger?: Logger | undefined;
  /**
   * Whether `logger.debug` gets a line for each message that passes: its direction, kind, id, method and size in bytes, never its
   * content. It costs nothing when it is off. A `Connection` that is handed in is not looked into.
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
   * What the server gets of this process's environment. `"safe"`: the names that programs need to be found and to work, which hold
   * no secrets. `"all"`: everything. `"none"`: nothing.
   *
   * @default {"safe"}
   */
  inheritEnv?: "safe" | "all" | "none" | undefined;
  /** Further names of this process's environment that the server gets; one that ends in `*` is a pattern. */
  passEnv?: readonly string[] | undefined;
  /**
   * Whether the server leads a process group of its own: then what it starts is ended with it, and a Ctrl-C in the terminal does not
   * reach it.
   *
   * @default {true}
   */
  processGroup?: boolean | undefined;
  /**
   * Where its stderr goes. `"inherit"`: to this process's own. `"tee"`: there and into `stderrTail`. `"capture"`: into `stderrTail`
   * alone. `"ignore"`: nowhere. A function is called with each line; one longer than 8 KiB comes in pieces.
   *
   * @default {"inherit"}
   */
  stderr?: "inherit" | "tee" | "capture" | "ignore" | ((line: string) => void) | undefined;
  /**
   * How many times in a row a server that ends by itself is started again; 0 for never. A minute of life clears the count.
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
  /** Ends the server at once when it fires, also while it is being started; `spawn` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * The runtime.
   *
   * @default {the one this runs on}
   */
  runtime?: RuntimeAdapter | undefined;
}

/** An open `subscriptions/listen` stream: iterate over it for what happens. Leaving the loop, or the scope of a `using`, ends it. */
export interface Listening
  extends AsyncIterableIterator<ListenEvent, undefined>, AsyncDisposable, Disposable {
  /** What the server agreed to. Rejects if it does not answer in time or refuses. */
  readonly acknowledged: Promise<SubscriptionFilter>;
  /** Why it is over: closed here, ended by the server, or lost with it. */
  readonly ended: Promise<"local" | "server" | "lost">;
  /** Stops listening, and ends the iteration. */
  close(): void;
}
