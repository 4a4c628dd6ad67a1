import type { Logger } from "../../logger.ts";
import type { ByteStreams, Clock, RuntimeAdapter, Signal } from "../../runtime.ts";
import { settlesWithin } from "../clock.ts";

/** The exit code of a process that a signal ends at once, by the custom of shells. */
const SIGNAL_EXIT_CODES: Readonly<Record<Signal, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGKILL: 137,
  SIGTERM: 143,
};

/** Whoever ends a process by a signal has little patience. */
const SIGNAL_LINGER_MS = 500;

/** Only somebody who waits is greeted: until then the time belongs to the first answer. */
const GREETING_DELAY_MS = 500;

/** Why a process ends its server. */
export interface ProcessEnd {
  readonly reason: "signal" | "uncaught_error" | "parent_exited";
  readonly error?: unknown;
}

/** What can be served: a server of ours, or one behind an adapter. */
export interface Servable<End> {
  run(client: ByteStreams): Promise<End>;
  /** Ends it without waiting for what runs. */
  stop(end: ProcessEnd): void;
  /** Whether anything has come from a client. */
  readonly hasRead: boolean;
}

/** What belongs to the process; all of it is set but the hook. */
export interface ServeProcessSettings<End> {
  readonly guardStdout: boolean;
  readonly signals: boolean;
  readonly uncaughtErrors: boolean;
  /** How often the parent is looked for, in milliseconds; `Infinity` for never. */
  readonly parentCheckMs: number;
  readonly lingerMs: number;
  readonly drainTimeoutMs: number;
  readonly onClose: ((end: End) => void | Promise<void>) | undefined;
  readonly runtime: RuntimeAdapter;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Gives this process's stdin and stdout, which the caller has guarded, to a server and sees it to its end (rules V14, V15). */
export async function serveProcess<End extends { readonly reason: string }>(
  server: Servable<End>,
  settings: ServeProcessSettings<End>,
): Promise<End> {
  const { runtime, clock } = settings;
  const stdio = runtime.openStdio({ exclusive: settings.guardStdout });
  const watch = watchErrors(server, settings);
  const undo = [
    watch.stop,
    settings.signals ? stopAtSignals(server, runtime) : () => {},
    stopWithParent(server, runtime, clock, settings.parentCheckMs),
    greetPerson(server, runtime, clock),
  ];
  let end: End;
  try {
    end = await server.run(stdio);
    tellOddEnd(end.reason, server, runtime);
    await callOnClose(end, settings);
  } finally {
    for (const each of undo) each();
  }
  if (watch.failed) runtime.exit(1);
  const lingerMs = end.reason === "signal"
    ? Math.min(settings.lingerMs, SIGNAL_LINGER_MS)
    : settings.lingerMs;
  if (lingerMs !== Infinity) endIfStillAlive(runtime, lingerMs, end.reason);
  return end;
}

/** Who starts a server by hand, to see whether it runs, sees that it does. */
function greetPerson(server: Servable<unknown>, runtime: RuntimeAdapter, clock: Clock): () => void {
  // Asked at once: a host needs no timer, and the first timer of a process takes Deno as long as a tenth of a start.
  const isTerminal = runtime.stdinIsTerminal?.() ?? false;
  if (isTerminal === false) return () => {};
  const greet = (isTerminal: boolean): void => {
    if (server.hasRead || !isTerminal) return;
    runtime.writeStderr(
      "[mcp_stdio] this is an MCP server, and it waits for a client: a host starts it and speaks over its stdin and stdout. " +
        "To try it from a shell: npx @mcp/stdio list -- <the command of this server>\n",
    );
  };
  const known = Promise.resolve(isTerminal).catch(() => false); // An adapter that cannot say has nobody to greet.
  const timer = clock.setTimeout(() => void known.then(greet), GREETING_DELAY_MS);
  return () => clock.clearTimeout(timer);
}

/** Ends that look like nothing has happened say what has. */
function tellOddEnd(reason: string, { hasRead }: Servable<unknown>, runtime: RuntimeAdapter): void {
  if (reason === "eof" && !hasRead) {
    const what = "stdin was at its end before anything came: a server needs a client at its stdin";
    runtime.writeStderr(`[mcp_stdio] ${what} (for a container: docker run -i)\n`);
  }
  if (reason === "parent_exited") {
    runtime.writeStderr("[mcp_stdio] the process that started this one is gone: the server has ended\n");
  }
}

function endIfStillAlive(runtime: RuntimeAdapter, lingerMs: number, reason: string): void {
  runtime.ifStillAlive(lingerMs, (what) => {
    const why = what === "" ? "something keeps it alive" : `kept alive by ${what}`;
    runtime.writeStderr(
      `[mcp_stdio] ended the process ${lingerMs} ms after its server (${reason}): ${why}\n`,
    );
    runtime.exit(0);
  });
}

/** The first signal ends the server, the second the process. */
function stopAtSignals(server: Servable<unknown>, runtime: RuntimeAdapter): () => void {
  let stopping = false;
  return runtime.onSignal(["SIGTERM", "SIGINT"], (signal) => {
    if (stopping) runtime.exit(SIGNAL_EXIT_CODES[signal]);
    stopping = true;
    server.stop({ reason: "signal" });
  });
}

/** An error that nobody catches ends the server, so that its clients are answered, and then the process. */
function watchErrors(
  server: Servable<unknown>,
  { runtime, uncaughtErrors }: Pick<ServeProcessSettings<never>, "runtime" | "uncaughtErrors">,
): { readonly failed: boolean; readonly stop: () => void } {
  if (!uncaughtErrors) return { failed: false, stop: () => {} };
  let failed = false;
  const stop = runtime.onUncaughtError((error) => {
    failed = true;
    const text = error instanceof Error ? error.stack ?? String(error) : String(error);
    runtime.writeStderr(`[mcp_stdio] uncaught: ${text}\n`);
    server.stop({ reason: "uncaught_error", error });
  });
  return {
    get failed() {
      return failed;
    },
    stop,
  };
}

/** A host can die without an end of input, if somebody else holds the pipe. */
function stopWithParent(
  server: Servable<unknown>,
  runtime: RuntimeAdapter,
  clock: Clock,
  intervalMs: number,
): () => void {
  if (intervalMs === Infinity) return () => {};
  const parent = runtime.parentPid;
  let timer: unknown;
  const check = (): void => {
    if (runtime.parentPid === parent) timer = clock.setTimeout(check, intervalMs);
    else server.stop({ reason: "parent_exited" });
  };
  timer = clock.setTimeout(check, intervalMs);
  return () => clock.clearTimeout(timer);
}

async function callOnClose<End>(end: End, settings: ServeProcessSettings<End>): Promise<void> {
  const { onClose, clock, drainTimeoutMs, logger } = settings;
  if (onClose === undefined) return;
  const called = (async () => await onClose(end))();
  called.catch((error) => logger.error("[mcp_stdio] onClose has failed", { error }));
  if (!(await settlesWithin(clock, called, drainTimeoutMs))) {
    logger.warn(`[mcp_stdio] onClose did not end within ${drainTimeoutMs} ms`);
  }
}
