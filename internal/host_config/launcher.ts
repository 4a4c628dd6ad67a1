/** Starts the servers of a configuration: asks before what is new runs, keeps failures apart, waits and tries again. */

import type { Clock } from "../../runtime.ts";
import { LaunchQueue } from "./launch_queue.ts";

/** A server as the launcher sees it. */
export interface LaunchableServer {
  readonly fingerprint: string;
  readonly launch: { readonly command: string };
}

/** What became of a server. */
export type LaunchEnd<T> =
  | { readonly kind: "launched"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "refused" }
  | { readonly kind: "aborted" };

/** How servers are started. Everything is decided. */
export interface LauncherSettings<S, T> {
  launch(server: S): Promise<T>;
  consent(server: S): boolean | Promise<boolean>;
  readonly approved: ReadonlySet<string>;
  readonly concurrency: number;
  readonly perCommandConcurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  shouldRetry(error: unknown, server: S): boolean;
  readonly clock: Clock;
  random(): number;
}

/** Starts servers, one `launch()` each. */
export class Launcher<S extends LaunchableServer, T> {
  readonly #settings: LauncherSettings<S, T>;
  readonly #queue: LaunchQueue;
  readonly #answers = new Map<string, Promise<boolean>>();
  /** Questions are asked one at a time, in order. */
  #lastQuestion: Promise<unknown> = Promise.resolve();

  constructor(settings: LauncherSettings<S, T>) {
    this.#settings = settings;
    this.#queue = new LaunchQueue(settings.concurrency, settings.perCommandConcurrency);
  }

  /** Starts a server. Never rejects. */
  async start(server: S): Promise<LaunchEnd<T>> {
    const { signal } = this.#settings;
    try {
      signal?.throwIfAborted();
      if (!await abortable(this.#isApproved(server), signal)) return { kind: "refused" };
      return { kind: "launched", value: await this.#launch(server) };
    } catch (error) {
      return signal?.aborted ? { kind: "aborted" } : { kind: "failed", error };
    }
  }

  #isApproved(server: S): Promise<boolean> {
    const { approved, consent, signal } = this.#settings;
    const { fingerprint } = server;
    if (approved.has(fingerprint)) return Promise.resolve(true);
    const known = this.#answers.get(fingerprint);
    if (known !== undefined) return known;
    const answer = this.#lastQuestion.then(async () => {
      signal?.throwIfAborted();
      // Nothing but `true` is a consent.
      return await consent(server) === true;
    });
    this.#answers.set(fingerprint, answer);
    this.#lastQuestion = answer.catch(() => {});
    return answer;
  }

  async #launch(server: S): Promise<T> {
    const { launch, signal, maxRetries, shouldRetry } = this.#settings;
    const key = toCommandKey(server.launch.command);
    for (let attempt = 0;; attempt++) {
      try {
        return await this.#queue.run(key, async () => await launch(server), signal);
      } catch (error) {
        if (attempt >= maxRetries || !shouldRetry(error, server)) throw error;
      }
      await this.#wait(attempt);
    }
  }

  /** Waits between half and all of a time that doubles, so that those who failed together do not meet again. */
  #wait(attempt: number): Promise<void> {
    const { clock, random, retryDelayMs, signal } = this.#settings;
    let timer: unknown;
    const waited = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, retryDelayMs * 2 ** attempt * (0.5 + random() / 2));
    });
    return abortable(waited, signal).finally(() => clock.clearTimeout(timer));
  }
}

/** The same program, whether it is given by its name or by a path, and with or without the ending it has on Windows. */
function toCommandKey(command: string): string {
  return command.replace(/^.*[\\/]/s, "").replace(/\.(?:exe|cmd|bat|com)$/i, "");
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
