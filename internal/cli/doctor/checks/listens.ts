/** LISTEN: subscriptions of the modern era. */

import { type Check, group, ownRow, type Row, type Trial, Unmet } from "../check.ts";
import type { Asked, Conversation } from "../conversation.ts";
import { cancellation, SUBSCRIPTION_ID } from "../era.ts";
import { factsOf, listsOf } from "../facts.ts";
import { at, isAnswerTo, isObject, type Members, type RawLine, resultOf } from "../raw_line.ts";
import { listed, showBytes, showMs } from "../shown.ts";
import { callTool, needNamed } from "../tool_choice.ts";
import { fail, type Finding, note, pass, skip, unknown, warn } from "../verdict.ts";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true } as const;
const MANY = 200;
const MOST_GROWTH_BYTES = 40_000_000;

/** What was seen of two listens: one that is cancelled, and one that is open when the input ends. */
interface Listens {
  readonly talk: Conversation;
  readonly first: Asked;
  readonly second: Asked;
  /** How many lines had come when the cancellation of the first was sent, and when it was surely read. */
  readonly cancelSentAt: number;
  readonly cancelledAt: number;
  readonly openBeforeEnd: boolean;
  /** How many lines had come when the input ended. */
  readonly endedAt: number;
}

function listenTwice(trial: Trial): Promise<Listens> {
  return trial.once("listens", async () => {
    const talk = await trial.open();
    const first = talk.ask("subscriptions/listen", { notifications: ALL }, { id: "listen-A" });
    await firstWord(talk, first);
    const uri = listsOf(trial.facts, trial.era)?.resources.items[0]?.["uri"];
    const filter = typeof uri === "string" ? { resourceSubscriptions: [uri] } : { toolsListChanged: true };
    const second = talk.ask("subscriptions/listen", { notifications: filter }, {
      id: trial.facts.stringIds ? "2" : 2,
    });
    await firstWord(talk, second);
    const cancelSentAt = talk.lines.length;
    await talk.send(cancellation("listen-A"));
    await talk.fence();
    const cancelledAt = talk.lines.length;
    await talk.fence();
    const openBeforeEnd = talk.found(second) === undefined;
    const endedAt = talk.lines.length;
    await trial.close(talk);
    return { talk, first, second, cancelSentAt, cancelledAt, openBeforeEnd, endedAt };
  });
}

/** The first line of a listen: a notification with its stamp, or its answer. */
async function firstWord(talk: Conversation, asked: Asked): Promise<RawLine | undefined> {
  await talk.process.until(() => wordsOf(talk, asked).length > 0 || !talk.process.lives, talk.boundMs);
  return wordsOf(talk, asked)[0];
}

function wordsOf(talk: Conversation, asked: Asked): RawLine[] {
  return talk.lines.slice(asked.from).filter((line) =>
    isAnswerTo(line, asked.id) || sameId(stampOf(line), asked.id)
  );
}

function stampOf({ message }: RawLine): unknown {
  return at(message, "params", "_meta", SUBSCRIPTION_ID) ?? at(message, "result", "_meta", SUBSCRIPTION_ID);
}

/** Whether a stamp is meant for the id, be it of the wrong type. */
function sameId(stamp: unknown, id: unknown): boolean {
  return stamp !== undefined && String(stamp) === String(id);
}

/** Why there is nothing to listen to; undefined if there is. */
function whyNot(trial: Trial, { talk, first }: Listens): Finding | undefined {
  const word = wordsOf(talk, first)[0];
  if (word?.kind !== "error") return undefined;
  return declaresChanges(trial)
    ? warn(
      "it declares listChanged or subscribe, but cannot be listened to",
      talk.evidence({ sent: first, line: word }),
    )
    : skip("the server declares nothing that could be listened to");
}

/** A check of the two listens, for servers that can be listened to. */
function listenRow(
  { judge, ...row }: Omit<Parameters<typeof ownRow>[0], "eras" | "run"> & {
    readonly judge: (listens: Listens, trial: Trial) => Finding | Promise<Finding>;
  },
): Row {
  return ownRow({
    ...row,
    eras: "modern",
    async run(trial) {
      const listens = await listenTwice(trial);
      const why = whyNot(trial, listens);
      return why === undefined ? await judge(listens, trial) : skip(why.summary);
    },
  });
}

function declaresChanges(trial: Trial): boolean {
  const capabilities = factsOf(trial.facts, trial.era)?.capabilities ?? {};
  return ["tools", "prompts", "resources"].some((name) =>
    at(capabilities, name, "listChanged") === true || at(capabilities, name, "subscribe") === true
  );
}

const CAPABILITIES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["toolsListChanged", ["tools", "listChanged"]],
  ["promptsListChanged", ["prompts", "listChanged"]],
  ["resourcesListChanged", ["resources", "listChanged"]],
  ["resourceSubscriptions", ["resources", "subscribe"]],
]);

function judgeAcknowledgment(trial: Trial, talk: Conversation, asked: Asked): Finding {
  const word = wordsOf(talk, asked)[0];
  const shown = talk.evidence({ sent: asked, line: word });
  if (word === undefined) return fail("nothing comes for a listen", shown);
  if (word.kind === "result") return fail("a listen is ended at once by a result", shown);
  if (word.kind === "error") return fail("a listen is refused", shown);
  if (word.message!["method"] !== ACKNOWLEDGED) {
    return fail(`${String(word.message!["method"])} comes before the acknowledgment`, shown);
  }
  if (stampOf(word) !== asked.id) {
    return fail(
      `the stamp is ${JSON.stringify(stampOf(word))} instead of ${JSON.stringify(asked.id)}`,
      shown,
    );
  }
  const filter = at(word.message, "params", "notifications");
  if (!isObject(filter)) return fail("the acknowledged filter is no object", shown);
  const asking = at(asked.params, "notifications") as Members;
  const given = Object.keys(filter).filter((kind) => isOn(filter[kind]));
  const foreign = given.filter((kind) => !isOn(asking[kind]));
  if (foreign.length > 0) return fail(`it acknowledges ${listed(foreign)}, which was not asked for`, shown);
  const capabilities = factsOf(trial.facts, trial.era)?.capabilities ?? {};
  const undeclared = given.filter((kind) => at(capabilities, ...CAPABILITIES.get(kind) ?? []) !== true);
  return undeclared.length > 0
    ? warn(`it acknowledges ${listed(undeclared)}, which is not declared`, shown)
    : pass(listed(given));
}

function isOn(value: unknown): boolean {
  return value === true || Array.isArray(value) && value.length > 0;
}

export const LISTENS: readonly Check[] = group("listens", [
  ownRow({
    id: "LISTEN-01",
    level: "MUST",
    eras: "modern",
    title: "a listen is acknowledged first, with its stamp",
    place: { page: "basic/patterns/subscriptions", heading: "Acknowledgment" },
    sends: 'subscriptions/listen for all three lists, with the id "listen-A"',
    mend: `${ACKNOWLEDGED} first, with the listen's id in _meta and the filter that is honoured`,
    async run(trial) {
      const listens = await listenTwice(trial);
      return whyNot(trial, listens) ?? judgeAcknowledgment(trial, listens.talk, listens.first);
    },
  }),
  listenRow({
    id: "LISTEN-02",
    level: "MUST",
    title: "two listens stand beside each other",
    place: { page: "basic/patterns/subscriptions", heading: "Multiple Concurrent Subscriptions" },
    sends: "a second listen with the id 2, while the first is open",
    mend: 'keep the id of each listen as it is: 2 and "2" are two',
    judge({ talk, first, second, cancelSentAt }, trial) {
      const ended = talk.lines.slice(first.from, cancelSentAt).find((line) =>
        line.kind === "result" && isAnswerTo(line, first.id)
      );
      if (
        ended !== undefined && ended.index > (wordsOf(talk, second)[0]?.index ?? 0) - 1 &&
        wordsOf(talk, first)[0] !== ended
      ) {
        return fail("the first listen was ended by the second", talk.evidence({ sent: second, line: ended }));
      }
      return judgeAcknowledgment(trial, talk, second);
    },
  }),
  listenRow({
    id: "LISTEN-03",
    level: "MUST",
    title: "nothing comes for a listen that was cancelled",
    place: { page: "basic/transports/stdio", heading: "Cancellation" },
    sends: "notifications/cancelled of the first listen",
    mend: "forget it without an answer",
    judge({ talk, first, cancelledAt, openBeforeEnd }) {
      const answer = wordsOf(talk, first).find((line) =>
        line.index >= cancelledAt || line.kind !== "notification"
      );
      if (answer === undefined) {
        return openBeforeEnd ? pass("") : fail("the second listen was ended, too");
      }
      return wordsOf(talk, first)[0] === answer
        ? unknown("it had ended before", talk.evidence({ line: answer }))
        : fail(`a ${answer.kind} comes for it`, talk.evidence({ sent: first, line: answer }));
    },
  }),
  listenRow({
    id: "LISTEN-04",
    level: "SHOULD",
    title: "an open listen is ended by a result when the server ends",
    place: { page: "basic/patterns/subscriptions", heading: "Graceful Closure" },
    sends: "the end of input with a listen open",
    mend: "answer each open listen with a result that has its subscriptionId, then end",
    judge({ talk, second, openBeforeEnd, endedAt }) {
      if (!openBeforeEnd) return skip("no listen was open at the end");
      const line = talk.lines.slice(endedAt).find((each) => isAnswerTo(each, second.id));
      const shown = talk.evidence({ sent: second, line });
      if (line === undefined) return note("it ends without a word for it");
      if (line.kind === "error") return note("an error ends it", shown);
      return at(resultOf(line), "_meta", SUBSCRIPTION_ID) === second.id
        ? pass("")
        : warn("the result has not its stamp", shown);
    },
  }),
  ownRow({
    id: "LISTEN-05",
    level: "MUST",
    eras: "modern",
    title: "a listen for nothing hears nothing",
    place: { page: "basic/patterns/subscriptions", heading: "Opening a Stream" },
    sends: "a listen with an empty filter, then a tool that changes a list (--change)",
    mend: "send a kind only to those who asked for it",
    async run(trial) {
      const words = await listenAndChange(trial, {});
      const stamped = words.find(({ message }) => message?.["method"] !== ACKNOWLEDGED);
      return stamped === undefined ? pass("") : fail(`${String(stamped.message!["method"])} comes`);
    },
  }),
  ownRow({
    id: "LISTEN-06",
    level: "SHOULD",
    eras: "modern",
    title: "a change is told to those who listen",
    place: { page: "server/tools", heading: "List Changed Notification" },
    sends: "a listen for the tools, then a tool that changes them (--change)",
    mend: "notifications/tools/list_changed with the subscriptionId of each listen that asked for it",
    async run(trial) {
      const words = await listenAndChange(trial, ALL);
      const told = words.some(({ message }) => /list_changed$|updated$/.test(String(message?.["method"])));
      return told ? pass("") : warn("nothing comes for the listen");
    },
  }),
  listenRow({
    id: "LISTEN-07",
    level: "ADVICE",
    title: `${MANY} listens hold nothing up`,
    place: { page: "advice" },
    sends: `${MANY} listens in one write, then their cancellations, and a request`,
    mend: "bound the listens that may be open, and forget those that were cancelled",
    async judge(_listens, trial) {
      const talk = await trial.open();
      const before = talk.process.rssBytes ?? 0;
      for (let count = 0; count < MANY; count++) {
        talk.ask("subscriptions/listen", { notifications: ALL }, { id: `many-${count}` });
      }
      for (let count = 0; count < MANY; count++) talk.send(cancellation(`many-${count}`));
      const began = talk.process.now();
      await talk.fence(3 * talk.boundMs);
      const tookMs = talk.process.now() - began;
      const grown = (talk.process.rssBytes ?? 0) - before;
      if (tookMs > talk.boundMs) return note(`a request behind them took ${showMs(tookMs)}`);
      return grown > MOST_GROWTH_BYTES
        ? note(`it has grown by ${showBytes(grown)}`)
        : pass(`a request behind them took ${showMs(tookMs)}`);
    },
  }),
]);

/**
 * Listens, and calls the tool that changes a list; gives what came for the listen.
 *
 * @throws {Unmet} If there is no such tool, or nothing to listen to.
 */
async function listenAndChange(trial: Trial, filter: Members): Promise<RawLine[]> {
  const change = needNamed(
    trial,
    "change",
    "needs a tool that changes a list: --change NAME --change-args JSON",
  );
  const talk = await trial.open();
  const listen = talk.ask("subscriptions/listen", { notifications: filter }, { id: "listen-C" });
  const word = await firstWord(talk, listen);
  if (word?.kind !== "notification") throw new Unmet(skip("the server cannot be listened to"));
  const call = callTool(talk, trial, change);
  if (await talk.answer(call, trial.bound(30_000)) === undefined) {
    throw new Unmet(unknown(`${change.name} has not answered`));
  }
  await talk.settle();
  return wordsOf(talk, listen);
}
