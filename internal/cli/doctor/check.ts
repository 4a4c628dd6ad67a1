/** What a check is: one value, with its rule, its place in the specification, its run and its mend. */

import type { Conversation } from "./conversation.ts";
import type { Era } from "./era.ts";
import type { Facts } from "./facts.ts";
import type { DoctorOptions } from "./options.ts";
import { codeOf, type RawLine } from "./raw_line.ts";
import type { EndReport } from "./raw_process.ts";
import { type Evidence, type Finding, type Level, type Make, pass, type Verdict } from "./verdict.ts";

/** The groups, in the order in which they are shown. */
export const GROUPS = [
  "start",
  "stdout",
  "stderr",
  "frames",
  "requests",
  "notices",
  "eras",
  "lists",
  "tools",
  "resources",
  "prompts",
  "progress",
  "listens",
  "cancel",
  "load",
  "end",
] as const;
export type Group = typeof GROUPS[number];

/** In which eras a check is made: `any` is the first that is spoken, `each` is all of them. */
export type EraScope = "any" | "each" | "modern" | "legacy" | "modern_only" | "legacy_only" | "dual";

/** What all checks have. */
export interface CheckBase {
  readonly id: string;
  readonly group: Group;
  readonly level: Level;
  /** The level where an era has another one. */
  readonly levelIn?: (era: Era) => Level;
  /** More than the level allows, for a rule with a sharper form. */
  readonly most?: Verdict;
  readonly eras: EraScope;
  /** The oldest revision that has the rule. */
  readonly since?: string;
  /** The rule, in a few words. */
  readonly title: string;
  /** Page of the specification, and heading; or another source. */
  readonly place: Place;
  /** Where it stands in the revisions before 2026-07-28, if it is elsewhere. */
  readonly legacyPlace?: Place;
  /** What is sent, for people. */
  readonly sends: string;
  /** How to mend a server that breaks it. */
  readonly mend: string;
}

/** Where a rule stands. */
export interface Place {
  /** A page such as `basic/transports/stdio`, or the name of another source. */
  readonly page: string;
  readonly heading?: string;
}

/** One that talks in the conversation that many share: harmless to those behind it. */
export interface SharedCheck extends CheckBase {
  readonly how: "shared";
  run(talk: Conversation, trial: Trial): Finding | Promise<Finding>;
}

/** One that needs processes of its own. */
export interface OwnCheck extends CheckBase {
  readonly how: "own";
  /** Runs with `--deep` only. */
  readonly deep?: boolean;
  /** Runs with `--quick`, too. */
  readonly quick?: boolean;
  run(trial: Trial): Finding | Promise<Finding>;
}

/** One that looks at everything that came in the whole run. */
export interface WatchCheck extends CheckBase {
  readonly how: "watch";
  watch(watched: Watched): Finding | Promise<Finding>;
}

export type Check = SharedCheck | OwnCheck | WatchCheck;

/** What a check is given. */
export interface Trial {
  readonly era: Era;
  readonly facts: Facts;
  readonly options: DoctorOptions;
  /** A bound: so many milliseconds, at least three times the start, times the patience. */
  bound(ms: number): number;
  /** A new process that was greeted in the era. */
  open(options?: OpenOptions): Promise<Conversation>;
  /** A new process to which nothing was said. */
  start(options?: StartOptions): Promise<Conversation>;
  /** Ends a conversation as every process is ended. */
  close(talk: Conversation, options?: { graceMs?: number }): Promise<EndReport>;
  /** Something that several checks look at; made once in a round. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
}

/** How a process is started. */
export interface StartOptions {
  /** Puts a command in front of the server's: `sh -c SCRIPT`, in which `"$@"` is the server. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stderr?: "pipe" | "ignore";
}

/** How a conversation is opened. */
export interface OpenOptions extends StartOptions {
  readonly era?: Era;
  /** Opens the modern era by the probe alone. */
  readonly probeOnly?: boolean;
}

/** What watchers look at. */
export interface Watched {
  readonly era: Era;
  readonly facts: Facts;
  /** The conversations of the era, and those that never came to one. */
  readonly talks: readonly Conversation[];
}

/** A line with the conversation in which it came. */
export interface WatchedLine {
  readonly talk: Conversation;
  readonly line: RawLine;
}

/** Every line of every conversation. */
export function* watchedLines({ talks }: Watched): Generator<WatchedLine> {
  for (const talk of talks) {
    for (const line of talk.lines) yield { talk, line };
  }
}

/** What was sent last before a line came, and the line. */
export function lineEvidence({ talk, line }: WatchedLine): Evidence {
  return talk.evidence({ sent: talk.sent[line.sentBefore - 1], line });
}

/** A check without its group; for each kind by itself. */
export type Row<T = Check> = T extends unknown ? Omit<T, "group"> : never;

/** Gives the checks of a table their group. */
export function group(name: Group, rows: readonly Row[]): Check[] {
  return rows.map((row) => ({ ...row, group: name }));
}

/** What a row gives; the eras only where they are not those of its kind. */
type Given<T extends CheckBase> = Omit<T, "group" | "how" | "eras"> & Partial<Pick<T, "eras">>;

/** A check of the conversation that many share, made in each era. */
export function sharedRow(row: Given<SharedCheck>): Row {
  return { eras: "each", ...row, how: "shared" };
}

/** A check with processes of its own, made in the first era that is spoken. */
export function ownRow(row: Given<OwnCheck>): Row {
  return { eras: "any", ...row, how: "own" };
}

/** A check that sends nothing, made in each era. */
export function watchRow(
  { sends = "nothing: it looks at every line of the whole run", ...row }: WatchGiven,
): Row {
  return { eras: "each", ...row, sends, how: "watch" };
}

type WatchGiven = Omit<Given<WatchCheck>, "sends"> & Partial<Pick<WatchCheck, "sends">>;

/** What a check needs is not there. */
export class Unmet extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.summary);
    this.name = "Unmet";
    this.finding = finding;
  }
}

/** What a check says; where its needs are not met, which. */
export async function runCheck(run: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Unmet) return error.finding;
    throw error;
  }
}

/** Judges an error by its code; the last that is allowed is the one that is named. */
export function judgeCode(
  line: RawLine,
  allowed: readonly number[],
  say: Make,
  ...shown: Evidence[]
): Finding {
  const code = codeOf(line)!;
  return allowed.includes(code)
    ? pass(String(code))
    : say(`code ${code} instead of ${allowed.at(-1)}`, ...shown);
}
