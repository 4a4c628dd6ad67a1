/** Starts the servers of a configuration: asks before what is new runs, keeps failures apart, waits and tries again. */

import type { Clock } from "../../runtime.ts";
import { untilAborted } from "../abort.ts";
import { TaskQueue } from "../task_queue.ts";
import type { PreparedServer } from "./env_variables.ts";
import type { StdioHostServer } from "./shapes.ts";

/** What became of a server. */
export type LaunchEnd<T> =
  | { readonly kind: "launched"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "refused" }
  | { readonly kind: "aborted" };

/** How servers are started. Everything is decided. */
export interface LauncherSettings<T> {
  /** Reads what is not read before a consent. */
  prepare(server: StdioHostServer): Promise<PreparedServer>;
  launch(prepared: PreparedServer): Promise<T>;
  consent(server: StdioHostServer): boolean | Promise<boolean>;
  readonly approved: ReadonlySet<string>;
  readonly concurrency: number;
  readonly perCommandConcurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  shouldRetry(error: unknown, server: StdioHostServer): boolean;
  readonly clock: Clock;
  random(): number;
}

/** Starts servers, one `launch()` each. */
export class Launcher<T> {
  readonly #settings: LauncherSettings<T>;
  readonly #queue: TaskQueue;
  readonly #answers = new Map<string, Promise<boolean>>();
  /** Questions are asked one at a time, in order. */
  #lastQuestion: Promise<unknown> = Promise.resolve();

  constructor(settings: LauncherSettings<T>) {
    this.#settings = settings;
    this.#queue = new TaskQueue(settings.concurrency, settings.perCommandConcurrency);
  }

  /** Starts servers. Never rejects. */
  startAll(servers: readonly StdioHostServer[]): Promise<LaunchEnd<T>[]> {
    return Promise.all(servers.map((server) => this.#start(server)));
  }

  async #start(server: StdioHostServer): Promise<LaunchEnd<T>> {
    const { signal, prepare } = this.#settings;
    try {
      if (!await untilAborted(this.#isApproved(server), signal)) return { kind: "refused" };
      const prepared = await untilAborted(prepare(server), signal);
      if (prepared.server !== server && !await untilAborted(this.#isApproved(prepared.server), signal)) {
        return { kind: "refused" };
      }
      return { kind: "launched", value: await this.#launch(prepared) };
    } catch (error) {
      return signal?.aborted ? { kind: "aborted" } : { kind: "failed", error };
    }
  }

  #isApproved(server: StdioHostServer): Promise<boolean> {
    const { approved, consent, signal } = this.#settings;
    const { fingerprint } = server;
    if (approved.has(fingerprint)) return Promise.resolve(true);
    const known = this.#answers.get(fingerprint);
    if (known !== undefined) return known;
    const answer = this.#lastQuestion.then(async () => {
      if (signal?.aborted) throw signal.reason;
      // Nothing but `true` is a consent.
      return await consent(server) === true;
    });
    this.#answers.set(fingerprint, answer);
    this.#lastQuestion = answer.catch(() => {});
    return answer;
  }

  async #launch(prepared: PreparedServer): Promise<T> {
    const { launch, maxRetries, shouldRetry, signal } = this.#settings;
    const { server } = prepared;
    const key = toCommandKey(server.launch.command);
    for (let attempt = 0;; attempt++) {
      try {
        return await this.#queue.run(key, async () => await launch(prepared), signal);
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
    return untilAborted(waited, signal).finally(() => clock.clearTimeout(timer));
  }
}

/** The same program, whether it is given by its name or by a path, and with or without the ending it has on Windows. */
function toCommandKey(command: string): string {
  return command.replace(/^.*[\\/]/s, "").replace(/\.(?:exe|cmd|bat|com)$/i, "");
}
