/** What a run has learnt about a server. */

import { type Era, SERVER_INFO } from "./era.ts";
import { at, type Members, type RawLine } from "./raw_line.ts";
import type { Finding } from "./verdict.ts";

/** Items of the four lists, and how each list went. */
export interface FetchedList {
  readonly method: string;
  /** The member that holds the items. */
  readonly key: string;
  readonly declared: boolean;
  readonly items: readonly Members[];
  readonly pages: readonly RawLine[];
  /** Whether it ever gave a cursor. */
  readonly paged: boolean;
  readonly finding: Finding;
}

export type ListName = "tools" | "resources" | "resourceTemplates" | "prompts";
export type Lists = Readonly<Record<ListName, FetchedList>>;

/** What is known of one era. */
export interface EraFacts {
  readonly era: Era;
  /** What START-01 found. */
  readonly start: Finding;
  readonly capabilities: Members;
  readonly opening: RawLine;
  /** From the spawn to the first answer, in milliseconds. */
  readonly firstAnswerMs: number;
  readonly rssBytes: number | undefined;
  readonly processes: number | undefined;
  lists: Lists | undefined;
}

/** A tool that was called. */
export interface CalledTool {
  readonly name: string;
  readonly why: string;
  readonly arguments: Members;
}

/** All of it. */
export interface Facts {
  modern: EraFacts | undefined;
  legacy: EraFacts | undefined;
  /** The server answers ids that are strings, and no integers. */
  stringIds: boolean;
  /** It does not end at the end of its input: closings go on to SIGTERM at once. */
  ignoresEof: boolean;
  /** By version asked for, the version that came back. */
  readonly versions: Map<string, string>;
  readonly called: Map<string, CalledTool>;
  /** What comes before it is ready is lost: nothing is said to it before that from then on. */
  losesEarly: boolean;
  /** Whether something happened once and not again. */
  unstable: boolean;
}

/** Nothing is known yet. */
export function newFacts(): Facts {
  return {
    modern: undefined,
    legacy: undefined,
    stringIds: false,
    ignoresEof: false,
    losesEarly: false,
    versions: new Map(),
    called: new Map(),
    unstable: false,
  };
}

/** What is known of the era. */
export function factsOf(facts: Facts, era: Era): EraFacts | undefined {
  return era.modern ? facts.modern : facts.legacy;
}

/** The lists that the run has fetched in the era. */
export function listsOf(facts: Facts, era: Era): Lists | undefined {
  return factsOf(facts, era)?.lists;
}

/** What the server says of itself in its first answer. */
export function serverInfoOf({ opening: { message } }: EraFacts): unknown {
  return at(message, "result", "serverInfo") ?? at(message, "result", "_meta", SERVER_INFO);
}

/** A method of a list that the server declares, for a request that is sure to be served. */
export function listMethod(capabilities: Members): string | undefined {
  for (const name of ["tools", "resources", "prompts"]) {
    if (capabilities[name] !== undefined) return `${name}/list`;
  }
  return undefined;
}

/** How long the slowest era took to answer first. */
export function startMs({ modern, legacy }: Facts): number {
  return Math.max(modern?.firstAnswerMs ?? 0, legacy?.firstAnswerMs ?? 0);
}
