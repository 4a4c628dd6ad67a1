/** The end of this process on runtimes with a Node-like `process`: its normal end, an exit call, an error, a signal. */

import type { Signal } from "../../../runtime.ts";
import { divert } from "../divert.ts";

type Listener = () => void;

/** What is used of `process`. */
export interface ProcessEvents {
  readonly pid: number;
  on(event: string, listener: Listener): unknown;
  prependListener(event: string, listener: Listener): unknown;
  removeListener(event: string, listener: Listener): unknown;
  // deno-lint-ignore ban-types -- what Node's own types say
  listeners(event: string): Function[];
  kill(pid: number, signal: string): unknown;
}

/** The signals that end a process which does not handle them. */
const ENDING_SIGNALS: readonly Signal[] = ["SIGTERM", "SIGHUP", "SIGINT"];

/** Marks the listeners of this file, so that two copies of this module in one process do not take each other for the program. */
const OURS = Symbol.for("@mcp/stdio process end");

/** Calls back, once, when the process is about to end. Its listeners exist only while there is somebody to call. */
export class ProcessEndWatch {
  readonly #process: ProcessEvents;
  readonly #callbacks = new Set<{ readonly callback: () => void }>();
  readonly #listeners: ReadonlyMap<Signal, Listener>;

  constructor(process: ProcessEvents) {
    this.#process = process;
    this.#listeners = new Map(
      ENDING_SIGNALS.map((signal) => [signal, Object.assign(() => this.#onSignal(signal), { [OURS]: true })]),
    );
  }

  /** Adds a callback; returns what takes it out. */
  add(callback: () => void): () => void {
    const entry = { callback };
    if (this.#callbacks.size === 0) this.#listen();
    this.#callbacks.add(entry);
    return () => {
      if (this.#callbacks.delete(entry) && this.#callbacks.size === 0) this.#unlisten();
    };
  }

  #listen(): void {
    this.#process.on("exit", this.#run);
    for (const [signal, listener] of this.#listeners) this.#process.prependListener(signal, listener);
  }

  #unlisten(): void {
    this.#process.removeListener("exit", this.#run);
    for (const [signal, listener] of this.#listeners) this.#process.removeListener(signal, listener);
  }

  readonly #run = (): void => {
    const entries = [...this.#callbacks];
    this.#callbacks.clear();
    this.#unlisten();
    for (const { callback } of entries) {
      try {
        callback();
      } catch {
        // The process is ending: the other callbacks matter more than this error.
      }
    }
  };

  #onSignal(signal: Signal): void {
    if (this.#process.listeners(signal).some((listener) => !(OURS in listener))) {
      return this.#stepAside(signal);
    }
    this.#run();
    // Another copy's listener is called next and then raises the signal. Without any, the system's default is back.
    if (this.#process.listeners(signal).length === 0) this.#process.kill(this.#process.pid, signal);
  }

  /**
   * The program handles this signal, or believes to: `signal-exit` and its like raise it again, but only if they are the only
   * ones who listen. So ours is away while the signal is delivered. It is back before the signal is raised again, since
   * by default that would end the process without a word.
   */
  #stepAside(signal: Signal): void {
    const process = this.#process;
    const { kill } = process;
    const listener = this.#listeners.get(signal) as Listener;
    const comeBack = (): void => {
      if (this.#callbacks.size === 0 || process.listeners(signal).includes(listener)) return;
      process.prependListener(signal, listener);
    };
    process.removeListener(signal, listener);
    const undo = divert(process, "kill", (...args) => {
      comeBack();
      return Reflect.apply(kill, process, args);
    });
    queueMicrotask(() => {
      undo();
      comeBack();
    });
  }
}
