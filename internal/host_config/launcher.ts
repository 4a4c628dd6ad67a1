/** Starts the servers of a configuration: asks before what is new runs, keeps failures apart, waits and tries again. */

import type { Clock } from "../../runtime.ts";
import { AbortWatch } from "./abort_watch.ts";
import { LaunchQueue } from "./launch_queue.ts";

/** A server as the launcher sees it. */
export interface LaunchableServer {
  readonly fingerprint: string;
  readonly launch: { readonly command: string };
}

/** A server with what it needs to be started; another one if that has to be agreed to anew. */
export interface Launchable<S, L> {
  readonly server: S;
  readonly launch: L;
}

/** What became of a server. */
export type LaunchEnd<T> =
  | { readonly kind: "launched"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "refused" }
  | { readonly kind: "aborted" };

/** How servers are started. Everything is decided. */
export interface LauncherSettings<S, L, T> {
  /** Reads what is not read before a consent. */
  prepare(server: S): Promise<Launchable<S, L>>;
  launch(launchable: Launchable<S, L>): Promise<T>;
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
export class Launcher<S extends LaunchableServer, L, T> {
  readonly #settings: LauncherSettings<S, L, T>;
  readonly #queue: LaunchQueue;
  readonly #abort: AbortWatch;
  readonly #answers = new Map<string, Promise<boolean>>();
  /** Questions are asked one at a time, in order. */
  #lastQuestion: Promise<unknown> = Promise.resolve();

  constructor(settings: LauncherSettings<S, L, T>) {
    this.#settings = settings;
    this.#queue = new LaunchQueue(settings.concurrency, settings.perCommandConcurrency);
    this.#abort = new AbortWatch(settings.signal);
  }

  /** Starts servers. Never rejects. */
  async startAll(servers: readonly S[]): Promise<LaunchEnd<T>[]> {
    const ends = await Promise.all(servers.map((server) => this.#start(server)));
    this.#abort.end();
    return ends;
  }

  async #start(server: S): Promise<LaunchEnd<T>> {
    const abort = this.#abort;
    try {
      if (!await abort.race(this.#isApproved(server))) return { kind: "refused" };
      const launchable = await abort.race(this.#settings.prepare(server));
      if (launchable.server !== server && !await abort.race(this.#isApproved(launchable.server))) {
        return { kind: "refused" };
      }
      return { kind: "launched", value: await this.#launch(launchable) };
    } catch (error) {
      return abort.aborted ? { kind: "aborted" } : { kind: "failed", error };
    }
  }

  #isApproved(server: S): Promise<boolean> {
    const { approved, consent } = this.#settings;
    const { fingerprint } = server;
    if (approved.has(fingerprint)) return Promise.resolve(true);
    const known = this.#answers.get(fingerprint);
    if (known !== undefined) return known;
    const answer = this.#lastQuestion.then(async () => {
      if (this.#abort.aborted) throw this.#abort.reason;
      // Nothing but `true` is a consent.
      return await consent(server) === true;
    });
    this.#answers.set(fingerprint, answer);
    this.#lastQuestion = answer.catch(() => {});
    return answer;
  }

  async #launch(launchable: Launchable<S, L>): Promise<T> {
    const { launch, maxRetries, shouldRetry } = this.#settings;
    const { server } = launchable;
    const key = toCommandKey(server.launch.command);
    for (let attempt = 0;; attempt++) {
      try {
        return await this.#queue.run(key, async () => await launch(launchable), this.#abort);
      } catch (error) {
        if (attempt >= maxRetries || !shouldRetry(error, server)) throw error;
      }
      await this.#wait(attempt);
    }
  }

  /** Waits between half and all of a time that doubles, so that those who failed together do not meet again. */
  #wait(attempt: number): Promise<void> {
    const { clock, random, retryDelayMs } = this.#settings;
    let timer: unknown;
    const waited = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, retryDelayMs * 2 ** attempt * (0.5 + random() / 2));
    });
    return this.#abort.race(waited).finally(() => clock.clearTimeout(timer));
  }
}

/** The same program, whether it is given by its name or by a path, and with or without the ending it has on Windows. */
function toCommandKey(command: string): string {
  return command.replace(/^.*[\\/]/s, "").replace(/\.(?:exe|cmd|bat|com)$/i, "");
}
