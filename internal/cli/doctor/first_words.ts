/** The first message of a run: is the server there, and in which eras? */

import { type Conversation, describeExit } from "./conversation.ts";
import { type Era, initializeParams, MODERN, requestOf } from "./era.ts";
import type { EraFacts, Facts } from "./facts.ts";
import { diagnose } from "./line_look.ts";
import { at, isAnswerTo, objectAt, type RawLine } from "./raw_line.ts";
import { show, showMs } from "./shown.ts";
import type { Starter } from "./starter.ts";
import { fail, type Finding, note, pass, warn } from "./verdict.ts";

/** So long nothing may come at all before the server is given up, in milliseconds. */
const SILENCE_MS = 60_000;
const ALL_MS = 300_000;
/** After so long a silence the first message is sent again: it may have come too early. */
const AGAIN_MS = 8_000;
/** So long a client waits at most for an answer to its probe. */
const PROBE_MS = 5_000;
/** Hosts give up after some ten seconds. */
const SLOW_MS = 10_000;

/** What the first words came to. */
export interface FirstWords {
  readonly talk: Conversation;
  /** What is known of the era, if it is spoken. */
  readonly facts: EraFacts | undefined;
  /** What START-01 says if no era is. */
  readonly finding: Finding;
}

/**
 * Starts the server and says the first message of an era, at once. `knownMs` is what a start took in another era: then
 * silence is an answer of its kind.
 */
export async function sayFirst(starter: Starter, era: Era, knownMs?: number): Promise<FirstWords> {
  const { facts } = starter;
  const talk = await starter.start("START-01");
  talk.era = era;
  const first = sendFirst(talk, era, 1);
  const isAnswer = (line: RawLine) => answersFirst(line, 1);
  const { process } = talk;
  const patience = starter.options.patience;
  const there = () => talk.lines.find(isAnswer);
  const isOver = () => there() !== undefined || !process.lives;
  const firstMs = knownMs === undefined ? AGAIN_MS * patience : starter.bound(PROBE_MS);
  await quiet(talk, isOver, firstMs, ALL_MS * patience);
  let second: RawLine | undefined;
  // What has come in another framing will not come in this one.
  const isMisframed = diagnose(talk.lines.map(({ bytes }) => bytes), process.rest) !== undefined;
  if (!isOver() && knownMs === undefined && !isMisframed) {
    sendFirst(talk, era, 2);
    const again = () => talk.lines.find((line) => answersFirst(line, 2));
    await quiet(talk, () => isOver() || again() !== undefined, SILENCE_MS * patience, ALL_MS * patience);
    if (again() !== undefined) await talk.process.until(isOver, 500 * patience);
    second = there() === undefined ? again() : undefined;
  }
  const answer = there() ?? second;
  // How it ended is known soon after its output has.
  if (answer === undefined && process.outputEnded) await process.exitedWithin(500);
  if (answer === undefined) return { talk, facts: undefined, finding: whyNone(talk, isOver()) };
  if (typeof answer.message!["id"] === "string") facts.stringIds = true;
  if (second !== undefined) facts.losesEarly = true;
  talk.opening = answer;
  talk.capabilities = objectAt(answer, "result", "capabilities");
  const shown = talk.evidence({ sent: first, line: answer });
  const took = `answered after ${showMs(answer.at)}`;
  const finding = second !== undefined
    ? warn("bytes that came before it was ready are lost: only the second message was answered", shown)
    : answer.at > SLOW_MS
    ? note(`${took}; hosts give up after 10 to 60 s`, shown)
    : pass(took, shown);
  if (answer.kind !== "result") return { talk, facts: undefined, finding };
  return { talk, facts: factsFrom(talk, era, answer, finding), finding };
}

/** Notes what the answer tells; `initialized` follows a legacy one. */
function factsFrom(talk: Conversation, era: Era, opening: RawLine, start: Finding): EraFacts {
  const version = at(opening.message, "result", "protocolVersion");
  const spoken = era.modern || typeof version !== "string" ? era : { modern: false, version };
  talk.era = spoken;
  if (!era.modern) talk.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const tree = talk.process.tree();
  return {
    era: spoken,
    start,
    capabilities: talk.capabilities,
    opening,
    firstAnswerMs: opening.at,
    rssBytes: tree?.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
    processes: tree?.length,
    lists: undefined,
  };
}

function sendFirst(talk: Conversation, era: Era, id: number): string {
  const request = era.modern
    ? requestOf(MODERN, "server/discover", undefined, id)
    : { jsonrpc: "2.0", id, method: "initialize", params: initializeParams(era.version) };
  talk.send(request);
  return JSON.stringify(request);
}

/** An answer with the id, or with the id as text: the fences then use what comes back. */
function answersFirst(line: RawLine, id: number): boolean {
  return isAnswerTo(line, id) || isAnswerTo(line, String(id));
}

/** Waits until the condition holds, or nothing has come for so long, or all took too long. */
async function quiet(
  talk: Conversation,
  condition: () => boolean,
  silenceMs: number,
  allMs: number,
): Promise<void> {
  const { process } = talk;
  const began = process.now();
  while (!condition() && process.now() - began < allMs) {
    const left = Math.max(process.lastSignAt, began) + silenceMs - process.now();
    if (left <= 0) return;
    const seen = process.lastSignAt;
    await process.until(() => condition() || process.lastSignAt !== seen, left);
  }
}

function whyNone(talk: Conversation, over: boolean): Finding {
  const { process } = talk;
  const said = process.stderr.lastLines(10);
  const evidence = {
    ...talk.evidence({ sent: talk.sent[0], line: talk.lines[0] }),
    ...talk.lines.length === 0 && said !== "" ? { got: show(said, 800) } : {},
    waitedMs: over ? undefined : Math.round(process.now()),
  };
  const look = diagnose(talk.lines.map(({ bytes }) => bytes), process.rest);
  if (look !== undefined) {
    return { ...fail(`it answers, but not in this framing: ${look.what}`, evidence), mend: look.mend };
  }
  if (process.exit !== undefined) {
    return fail(`it ended before it answered (${describeExit(process.exit)})`, evidence);
  }
  if (process.outputEnded) return fail("it closed its stdout before it answered", evidence);
  return fail(`no answer within ${showMs(process.now())}`, evidence);
}

/** Whether the facts of both eras are there. */
export function isDual({ modern, legacy }: Facts): boolean {
  return modern !== undefined && legacy !== undefined;
}
