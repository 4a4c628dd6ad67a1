/** A whole run: which checks are made, in which processes, and what is said about each. */

import { type Check, type CheckBase, type OwnCheck, runCheck, type SharedCheck } from "./check.ts";
import { type Conversation, Ended, EraChanged } from "./conversation.ts";
import { type Era, isSince, LEGACY_VERSIONS, MODERN } from "./era.ts";
import { type Facts, factsOf, listMethod, newFacts, startMs } from "./facts.ts";
import { type FirstWords, isDual, sayFirst } from "./first_words.ts";
import { fetchLists } from "./fetch_lists.ts";
import type { DoctorOptions } from "./options.ts";
import { isSelected } from "./selection.ts";
import { CheckTrial, greet, NoStartsLeft, Starter } from "./starter.ts";
import { bounded, ENDED, type Finding, type Level, unknown } from "./verdict.ts";

/** What was said about one check in one era. */
export interface Outcome {
  readonly check: Check;
  readonly era: Era | undefined;
  readonly level: Level;
  readonly finding: Finding;
  readonly ms: number;
  /** Whether it came a second time; undefined where it was not asked. */
  readonly confirmed: boolean | undefined;
}

/** What a run came to. */
export interface Examined {
  readonly facts: Facts;
  readonly outcomes: readonly Outcome[];
  readonly talks: readonly Conversation[];
  /** Whether the server answered at all. */
  readonly usable: boolean;
  readonly seconds: number;
  readonly startedAt: Date;
}

/** What is told while it runs, and what ends it. */
export interface ExaminationHooks {
  /** Told before each check, with how many are done. */
  readonly onCheck?: (id: string, done: number, of: number) => void;
  readonly onOutcome?: (outcome: Outcome) => void;
  /** Told once it is known how long a start takes, and how many are to come. */
  readonly onPlan?: (plan: { readonly startMs: number; readonly starts: number }) => void;
  /** Ends the run: its processes are ended, and the rest is left out. */
  readonly interrupted?: AbortSignal;
}

/** What several checks look at, by its name. */
type Round = Map<string, Promise<unknown>>;

/** Runs the checks of a table against a server. */
export class Examination {
  readonly #options: DoctorOptions;
  readonly #table: readonly Check[];
  readonly #facts: Facts = newFacts();
  readonly #starter: Starter;
  readonly #outcomes: Outcome[] = [];
  /** What several checks look at, when they are asked and when they are asked again. */
  readonly #rounds: readonly [Round, Round] = [new Map(), new Map()];
  readonly #hooks: ExaminationHooks;
  #done = 0;
  #planned = 1;

  constructor(options: DoctorOptions, table: readonly Check[], hooks: ExaminationHooks = {}) {
    this.#options = options;
    this.#table = table;
    this.#hooks = hooks;
    this.#starter = new Starter(options, this.#facts, hooks.interrupted);
  }

  /**
   * Makes the run.
   *
   * @throws {ProcessError} If the server cannot be started at all.
   */
  async run(): Promise<Examined> {
    try {
      return await this.#examine();
    } catch (error) {
      for (const talk of this.#starter.talks) await talk.close({ graceMs: 0 });
      throw error;
    }
  }

  async #examine(): Promise<Examined> {
    const startedAt = new Date();
    const began = performance.now();
    const words = await this.#findEras();
    const eras = this.#spoken();
    if (eras.length === 0) {
      this.#sayUnusable(words);
    } else {
      const own = this.#plan("own");
      this.#planned = this.#plan().length;
      this.#hooks.onPlan?.({ startMs: startMs(this.#facts), starts: 2 * eras.length + own.length });
      for (const era of eras) {
        await this.#runShared(era, words.find((each) => each.talk.era === era)!.talk);
      }
      for (const [check, era] of own) await this.#runOwn(check, era);
      for (const era of eras) await this.#runWatchers(era);
    }
    for (const talk of this.#starter.talks) await this.#starter.close(talk);
    return {
      facts: this.#facts,
      outcomes: this.#outcomes,
      talks: this.#starter.talks,
      usable: eras.length > 0,
      seconds: (performance.now() - began) / 1_000,
      startedAt,
    };
  }

  /** Opens the eras, legacy first: most servers speak it, and then silence in the other is known for what it is. */
  async #findEras(): Promise<FirstWords[]> {
    const { era } = this.#options;
    const words: FirstWords[] = [];
    if (era !== "modern" && era !== MODERN.version) {
      const version = era === undefined || era === "legacy" ? LEGACY_VERSIONS[0]! : era;
      words.push(await sayFirst(this.#starter, { modern: false, version }));
      this.#facts.legacy = words[0]!.facts;
    }
    if (era === undefined || era === "modern" || era === MODERN.version) {
      words.push(await sayFirst(this.#starter, MODERN, this.#facts.legacy?.firstAnswerMs));
      this.#facts.modern = words.at(-1)!.facts;
    }
    for (const { talk, facts } of words) if (facts === undefined) await this.#starter.close(talk);
    return words;
  }

  #sayUnusable(words: readonly FirstWords[]): void {
    const start = this.#table.find(({ id }) => id === "START-01")!;
    const { finding } = words.find((each) => each.finding.verdict === "fail") ?? words[0]!;
    const said: Finding = finding.verdict === "fail"
      ? finding
      : { ...finding, verdict: "fail", summary: "it answers its first message with an error in every era" };
    this.#outcomes.push(outcomeOf(start, undefined, said, 0, undefined));
    for (const check of this.#table) {
      if (check.how !== "watch" || !this.#isWanted(check)) continue;
      const era = words[0]!.talk.era!;
      const found = check.watch({ era, facts: this.#facts, talks: this.#starter.talks });
      if (found instanceof Promise || found.verdict === "pass") continue;
      this.#outcomes.push(outcomeOf(check, undefined, bounded(found, check.level, check.most), 0, undefined));
    }
  }

  /** The eras that are spoken, the modern one first. */
  #spoken(): Era[] {
    const { modern, legacy } = this.#facts;
    return [modern?.era, legacy?.era].filter((each) => each !== undefined);
  }

  /** The checks that are to be made, with their eras; those of one kind alone, if that is asked for. */
  #plan<How extends Check["how"]>(how?: How): Array<readonly [Extract<Check, { how: How }>, Era]> {
    return this.#table
      .filter((check): check is Extract<Check, { how: How }> => how === undefined || check.how === how)
      .filter((check) => this.#isWanted(check))
      .flatMap((check) => this.#erasOf(check).map((era) => [check, era] as const));
  }

  /** Those of one kind in one era. */
  #checksIn<How extends Check["how"]>(how: How, wanted: Era): Array<Extract<Check, { how: How }>> {
    return this.#plan(how).filter(([, era]) => era === wanted).map(([check]) => check);
  }

  #isWanted(check: Check): boolean {
    const { only, skip, quick, deep, once } = this.#options;
    if (!isSelected(check, only, skip)) return false;
    if (check.how !== "own") return true;
    return !once && (!quick || check.quick === true) && (deep || check.deep !== true);
  }

  /** The eras in which a check is made. */
  #erasOf({ eras, since }: CheckBase): Era[] {
    const { modern, legacy } = this.#facts;
    const fitting = this.#spoken().filter((era) => since === undefined || isSince(era, since));
    switch (eras) {
      case "any":
        return fitting.slice(0, 1);
      case "each":
        return fitting;
      case "modern":
        return fitting.filter((era) => era.modern);
      case "legacy":
        return fitting.filter((era) => !era.modern);
      case "modern_only":
        return legacy === undefined ? fitting : [];
      case "legacy_only":
        return modern === undefined ? fitting : [];
      case "dual":
        return isDual(this.#facts) ? fitting.slice(0, 1) : [];
    }
  }

  /** The conversation that many checks share, and a second one for what was not kept. */
  async #runShared(era: Era, first: Conversation): Promise<void> {
    const facts = factsOf(this.#facts, era)!;
    let talk: Conversation | undefined = first;
    const method = listMethod(facts.capabilities);
    if (era.modern && method !== undefined) await talk.answer(talk.ask(method));
    facts.lists = await fetchLists(talk, facts.capabilities).catch((error) => {
      if (!(error instanceof Ended)) throw error;
      return undefined;
    });
    const again: Array<readonly [SharedCheck, Finding, number]> = [];
    for (const check of this.#checksIn("shared", era)) {
      this.#tell(check);
      const began = performance.now();
      const { finding, isOver, next } = await this.#askShared(check, era, talk);
      talk = next;
      const ms = performance.now() - began;
      if (isSettled(finding) || isOver || !this.#options.confirm) {
        this.#say(check, era, finding, ms, finding.ended);
      } else again.push([check, finding, ms]);
    }
    if (talk !== undefined) await this.#starter.close(talk);
    await this.#confirmShared(era, again);
  }

  async #confirmShared(
    era: Era,
    again: ReadonlyArray<readonly [SharedCheck, Finding, number]>,
  ): Promise<void> {
    let talk: Conversation | undefined;
    for (const [check, finding, ms] of again) {
      if (this.#options.once) {
        this.#say(check, era, finding, ms, undefined);
        continue;
      }
      const second = await this.#askShared(check, era, talk);
      talk = second.next;
      this.#sayBoth(check, era, finding, second.finding, ms);
    }
    if (talk !== undefined) await this.#starter.close(talk);
  }

  async #reopen(check: Check, era: Era): Promise<Conversation> {
    const talk = await this.#starter.start(check.id);
    await greet(talk, { era, facts: this.#facts });
    return talk;
  }

  /**
   * Asks one check, with a fence behind it, in the conversation or in a new one; what has ended it is asked again alone.
   * `next` is the conversation for the next check.
   */
  async #askShared(
    check: SharedCheck,
    era: Era,
    talk: Conversation | undefined,
  ): Promise<{ finding: Finding; isOver: boolean; next: Conversation | undefined }> {
    const ask = async (where: Conversation): Promise<Finding> => {
      if (where.process.checks.at(-1) !== check.id) where.process.checks.push(check.id);
      const trial = new CheckTrial(this.#starter, check, era, new Map());
      const found = await runCheck(() => check.run(where, trial));
      await where.fence();
      return found;
    };
    let next = talk;
    try {
      next ??= await this.#reopen(check, era);
      return { finding: await ask(next), isOver: false, next };
    } catch (error) {
      if (next !== undefined) await this.#starter.close(next);
      const finding = await this.#blame(check, error, () => this.#alone(check, era, ask));
      return { finding, isOver: true, next: undefined };
    }
  }

  async #alone(check: Check, era: Era, ask: (talk: Conversation) => Promise<Finding>): Promise<Finding> {
    const talk = await this.#reopen(check, era);
    try {
      return await ask(talk);
    } finally {
      await this.#starter.close(talk);
    }
  }

  /** Whether the end of a process was the doing of a check: it must end a fresh one, too. */
  async #blame(check: Check, error: unknown, again: () => Promise<Finding>): Promise<Finding> {
    if (error instanceof NoStartsLeft) return error.finding;
    if (error instanceof EraChanged) {
      return unknown("a line without _meta has changed the era: see ERA-08", error.evidence);
    }
    if (!(error instanceof Ended)) throw error;
    if (this.#options.once) {
      return unknown(`${error.message}, which was not asked a second time`, error.evidence);
    }
    try {
      const second = await again();
      this.#facts.unstable = true;
      return unknown(
        `${error.message}, once in two runs (then: ${second.summary || second.verdict})`,
        error.evidence,
      );
    } catch (second) {
      if (second instanceof Ended) {
        return {
          verdict: ENDED[check.level],
          summary: second.message,
          evidence: [second.evidence],
          ended: true,
        };
      }
      return await this.#blame(check, second, again);
    }
  }

  async #runOwn(check: OwnCheck, era: Era): Promise<void> {
    this.#tell(check);
    const began = performance.now();
    const ask = (round: Round) => () => this.#askOwn(check, era, round);
    let finding: Finding;
    let isConfirmed = false;
    try {
      finding = await ask(this.#rounds[0])();
    } catch (error) {
      finding = await this.#blame(check, error, ask(this.#rounds[1]));
      isConfirmed = true;
    }
    const ms = performance.now() - began;
    if (isConfirmed || isSettled(finding) || !this.#options.confirm) {
      return this.#say(check, era, finding, ms, finding.ended);
    }
    const second = await ask(this.#rounds[1])().catch((error) => this.#blame(check, error, ask(new Map())));
    this.#sayBoth(check, era, finding, second, ms);
  }

  async #askOwn(check: OwnCheck, era: Era, round: Round): Promise<Finding> {
    const trial = new CheckTrial(this.#starter, check, era, round);
    try {
      return await runCheck(() => check.run(trial));
    } finally {
      await trial.closeAll();
    }
  }

  async #runWatchers(era: Era): Promise<void> {
    const talks = this.#starter.talks.filter((talk) =>
      talk.era?.version === era.version || talk.era === undefined
    );
    for (const check of this.#checksIn("watch", era)) {
      this.#tell(check);
      this.#say(check, era, await check.watch({ era, facts: this.#facts, talks }), 0, undefined);
    }
  }

  #tell({ id }: Check): void {
    this.#hooks.interrupted?.throwIfAborted();
    this.#hooks.onCheck?.(id, this.#done++, this.#planned);
  }

  #sayBoth(check: Check, era: Era, first: Finding, second: Finding, ms: number): void {
    if (second.verdict === first.verdict) return this.#say(check, era, first, ms, true);
    // What could not be asked again stands as it is.
    if (second.verdict === "skip") return this.#say(check, era, first, ms, undefined);
    this.#facts.unstable = true;
    const both = unknown(
      `came once in two runs: ${first.verdict} (${first.summary}), then ${second.verdict} (${second.summary})`,
      ...first.evidence,
      ...second.evidence,
    );
    this.#say(check, era, both, ms, false);
  }

  #say(check: Check, era: Era, finding: Finding, ms: number, confirmed: boolean | undefined): void {
    const outcome = outcomeOf(check, era, finding, ms, confirmed);
    this.#outcomes.push(outcome);
    this.#hooks.onOutcome?.(outcome);
  }
}

/** Whether there is nothing to be asked twice. */
function isSettled({ verdict }: Finding): boolean {
  return verdict === "pass" || verdict === "skip" || verdict === "unknown";
}

function outcomeOf(
  check: Check,
  era: Era | undefined,
  finding: Finding,
  ms: number,
  confirmed: boolean | undefined,
): Outcome {
  const level = era === undefined ? check.level : check.levelIn?.(era) ?? check.level;
  return { check, era, level, finding: bounded(finding, level, check.most), ms, confirmed };
}
