/** Starts processes for the checks, one at a time, counts them and keeps what came for the watchers. */

import type { CheckBase, OpenOptions, StartOptions, Trial } from "./check.ts";
import { Conversation, type Manners } from "./conversation.ts";
import type { Era } from "./era.ts";
import { type Facts, factsOf, listMethod, startMs } from "./facts.ts";
import type { DoctorOptions } from "./options.ts";
import { type EndReport, EOF_GRACE_MS, startRaw } from "./raw_process.ts";
import { type Finding, skip } from "./verdict.ts";

/** The server would be started more often than the user allows. */
export class NoStartsLeft extends Error {
  readonly finding: Finding = skip("no starts are left: see --max-starts");
}

/** The bound of an answer, before the start of the server is known. */
const ANSWER_MS = 5_000;

/** What starts processes. */
export class Starter implements Manners {
  readonly options: DoctorOptions;
  readonly facts: Facts;
  /** Every conversation of the run. */
  readonly talks: Conversation[] = [];
  readonly #interrupted: AbortSignal | undefined;
  #starting: Promise<unknown> = Promise.resolve();

  /** `interrupted` ends what runs, and nothing is started from then on. */
  constructor(options: DoctorOptions, facts: Facts, interrupted?: AbortSignal) {
    this.options = options;
    this.facts = facts;
    this.#interrupted = interrupted;
    interrupted?.addEventListener("abort", () => {
      for (const talk of this.talks) void talk.close({ graceMs: 0 });
    }, { once: true });
  }

  /** The bound of an answer; it is learnt while conversations run, as is the next. */
  get boundMs(): number {
    return this.bound(ANSWER_MS);
  }

  get stringIds(): boolean {
    return this.facts.stringIds;
  }

  get starts(): number {
    return this.talks.length;
  }

  /** At least three times the start of the server, times the patience. */
  bound(ms: number): number {
    return Math.max(ms, 3 * startMs(this.facts)) * this.options.patience;
  }

  /** Starts a process; two never start at the same moment. */
  start(check: string, options: StartOptions = {}): Promise<Conversation> {
    const started = this.#starting.then(() => this.#startNow(check, options));
    this.#starting = started.catch(() => {}); // Whoever asked is told.
    return started;
  }

  /** Ends a conversation; once the server is known to stay, SIGTERM follows at once. */
  close(talk: Conversation, { graceMs = EOF_GRACE_MS }: { graceMs?: number } = {}): Promise<EndReport> {
    return talk.close({ graceMs: this.facts.ignoresEof ? 0 : graceMs * Math.max(1, this.options.patience) });
  }

  async #startNow(check: string, { script, env, stderr }: StartOptions): Promise<Conversation> {
    this.#interrupted?.throwIfAborted();
    if (this.starts >= this.options.maxStarts) throw new NoStartsLeft();
    const { launch, runtime } = this.options;
    const wrapped = script === undefined ? launch : {
      ...launch,
      command: "sh",
      args: ["-c", script, "sh", launch.command, ...launch.args],
    };
    const process = await startRaw({
      launch: {
        ...wrapped,
        env: { ...wrapped.env, ...env },
        stderr: stderr ?? "pipe",
        processGroup: true,
      },
      runtime,
      number: this.starts + 1,
    });
    process.checks.push(check);
    if (this.facts.losesEarly) await process.until(() => !process.lives, startMs(this.facts));
    const talk = new Conversation(process, this);
    this.talks.push(talk);
    return talk;
  }
}

/** What one check of one round is given: its processes are closed when it is over. */
export class CheckTrial implements Trial {
  readonly era: Era;
  readonly facts: Facts;
  readonly options: DoctorOptions;
  readonly #starter: Starter;
  readonly #check: CheckBase;
  readonly #round: Map<string, Promise<unknown>>;
  readonly #talks: Conversation[] = [];

  /** `round` holds what several checks look at. */
  constructor(starter: Starter, check: CheckBase, era: Era, round: Map<string, Promise<unknown>>) {
    this.#starter = starter;
    this.#check = check;
    this.era = era;
    this.facts = starter.facts;
    this.options = starter.options;
    this.#round = round;
  }

  bound(ms: number): number {
    return this.#starter.bound(ms);
  }

  async start(options?: StartOptions): Promise<Conversation> {
    const talk = await this.#starter.start(this.#check.id, options);
    this.#talks.push(talk);
    return talk;
  }

  async open(options: OpenOptions = {}): Promise<Conversation> {
    const talk = await this.start(options);
    await greet(talk, { ...options, era: options.era ?? this.era, facts: this.facts });
    return talk;
  }

  close(talk: Conversation, options?: { graceMs?: number }): Promise<EndReport> {
    return this.#starter.close(talk, options);
  }

  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const key = `${this.era.version} ${name}`;
    const made = this.#round.get(key) ?? make();
    this.#round.set(key, made);
    return made as Promise<T>;
  }

  /** Ends what the check has left open. */
  async closeAll(): Promise<void> {
    for (const talk of this.#talks) await this.close(talk);
  }
}

/** Greets a server in an era. */
export async function greet(
  talk: Conversation,
  { era, facts, probeOnly = false }: OpenOptions & { era: Era; facts: Facts },
): Promise<void> {
  if (!era.modern) {
    await talk.openLegacy(era);
    if (talk.opening === undefined) throw talk.ended("initialize", talk.boundMs);
    return;
  }
  const known = factsOf(facts, era)?.capabilities ?? {};
  await talk.openModern(era, probeOnly ? undefined : listMethod(known));
  if (talk.opening === undefined) throw talk.ended("server/discover", talk.boundMs);
}
