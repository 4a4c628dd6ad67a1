/**
 * The end of this process on Deno, and the signals that may ask for it.
 *
 * `unload` comes at a normal end and at an exit call. An uncaught error ends Deno without it, so the events of errors
 * are listened to. A listener of the program that prevents the end is not seen if it was added after ours; one on
 * `process` is.
 *
 * A listener for a signal takes its default action away, and Deno does not say who else listens. What it shows of its
 * inside does: the resource behind a signal exists as long as anybody listens to it, by whatever interface.
 */

import type { Signal } from "../../../runtime.ts";
import { type DenoErrorCatcher, type DenoErrorEvent, globalEvents } from "./errors.ts";
import { Deno, denoInternals } from "./namespace.ts";
import { writeLastToStderr } from "./stderr.ts";

/** The signals that end a process which does not handle them. */
const ENDING_SIGNALS: readonly Signal[] = ["SIGTERM", "SIGHUP", "SIGINT"];

/** What copies of this module in one process do with each other, so that none takes another for the program's own listener. */
interface Copy {
  pause(signal: Signal): void;
  resume(signal: Signal): void;
  run(): void;
}

const COPIES = Symbol.for("@mcp/stdio process end");

function copies(): Set<Copy> {
  return (globalThis as unknown as Record<symbol, Set<Copy> | undefined>)[COPIES] ??= new Set();
}

/** Calls back, once, when the process is about to end. Its listeners exist only while there is somebody to call. */
export class DenoProcessEndWatch implements Copy {
  readonly #errors: DenoErrorCatcher;
  readonly #callbacks = new Set<{ readonly callback: () => void }>();
  readonly #unlisten = new Map<string, () => void>();

  constructor(errors: DenoErrorCatcher) {
    this.#errors = errors;
  }

  /** Adds a callback; returns what takes it out. */
  add(callback: () => void): () => void {
    const entry = { callback };
    if (this.#callbacks.size === 0) this.#listen();
    this.#callbacks.add(entry);
    return () => {
      if (this.#callbacks.delete(entry) && this.#callbacks.size === 0) this.#stop();
    };
  }

  #listen(): void {
    this.#listenToEvent("unload", () => this.#runLast());
    for (const type of ["error", "unhandledrejection"] as const) {
      this.#listenToEvent(type, (event) => {
        if (!this.#errors.catches(type, event)) this.#runLast();
      });
    }
    copies().add(this);
    for (const signal of ENDING_SIGNALS) this.resume(signal);
  }

  #listenToEvent(type: string, listener: (event: DenoErrorEvent) => void): void {
    globalEvents.addEventListener(type, listener);
    this.#unlisten.set(type, () => globalEvents.removeEventListener(type, listener));
  }

  #stop(): void {
    copies().delete(this);
    for (const unlisten of this.#unlisten.values()) unlisten();
    this.#unlisten.clear();
  }

  /** Listens to a signal. */
  resume(signal: Signal): void {
    if (copies().has(this)) this.#unlisten.set(signal, listenToSignals([signal], () => onSignal(signal)));
  }

  /** Stops listening to it. */
  pause(signal: Signal): void {
    this.#unlisten.get(signal)?.();
  }

  /** Calls back, and lets stderr have what the callbacks say, which is told too late to be waited for in the usual way. */
  #runLast(): void {
    this.run();
    writeLastToStderr();
  }

  /** Calls back. */
  run(): void {
    const entries = [...this.#callbacks];
    this.#callbacks.clear();
    this.#stop();
    for (const { callback } of entries) {
      try {
        callback();
      } catch {
        // The process is ending: the other callbacks matter more than this error.
      }
    }
  }
}

function onSignal(signal: Signal): void {
  const all = [...copies()];
  const before = countSignalResources();
  for (const copy of all) copy.pause(signal);
  const after = countSignalResources();
  if (before === undefined || after === undefined || after < before) {
    for (const copy of all) copy.run();
    writeLastToStderr();
    return Deno.kill(Deno.pid, signal);
  }
  // Not at once: Deno is going through its set of listeners, and one that is added comes up again.
  queueMicrotask(() => all.forEach((copy) => copy.resume(signal)));
}

/** How many signals are listened to; undefined when that cannot be seen, and then the program is taken not to listen. */
function countSignalResources(): number | undefined {
  const resources = denoInternals().core?.resources?.();
  return resources && Object.values(resources).filter((name) => name === "signal").length;
}

/** Listens to signals. They do not keep the process alive. */
export function listenToSignals(signals: readonly Signal[], callback: (signal: Signal) => void): () => void {
  const undo: (() => void)[] = [];
  for (const signal of signals) {
    const listener = (): void => callback(signal);
    try {
      Deno.addSignalListener(signal, listener);
    } catch {
      // Windows has no SIGTERM: then it cannot come either.
      continue;
    }
    undo.push(() => Deno.removeSignalListener(signal, listener));
  }
  return () => undo.splice(0).forEach((each) => each());
}
