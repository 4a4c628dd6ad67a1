/** ERA-10 to ERA-16: the legacy handshake. */

import { type Check, group, ownRow, sharedRow, type Trial } from "../check.ts";
import type { Conversation } from "../conversation.ts";
import { cancellation, LEGACY_VERSIONS, MODERN, NO_ID } from "../era.ts";
import { at, codeOf, isObject, objectAt, type RawLine, resultOf } from "../raw_line.ts";
import { listed } from "../shown.ts";
import { fail, type Finding, note, pass, skip, warn } from "../verdict.ts";

const LIFECYCLE = { page: "basic/lifecycle", heading: "Initialization" } as const;
const NEGOTIATION = { page: "basic/lifecycle", heading: "Version Negotiation" } as const;
const UNKNOWN_VERSION = "1999-01-01";

/** Sends `initialize` as the first line of a fresh process. */
async function initialize(
  trial: Trial,
  version: string,
): Promise<[Conversation, RawLine | undefined, string | undefined]> {
  const talk = await trial.start();
  talk.era = { modern: false, version: trial.era.version };
  const line = await talk.answer(talk.askInitialize(version), trial.bound(10_000));
  talk.capabilities = objectAt(line, "result", "capabilities");
  const came = at(line?.message, "result", "protocolVersion");
  if (typeof came !== "string") return [talk, line, undefined];
  trial.facts.versions.set(version, came);
  talk.era = { modern: false, version: came };
  return [talk, line, came];
}

function howAnswered(line: RawLine | undefined): string {
  if (line === undefined) return "silent";
  return line.kind === "result" ? "served" : `refused with ${codeOf(line)}`;
}

export const HANDSHAKE: readonly Check[] = group("eras", [
  sharedRow({
    id: "ERA-10",
    level: "MUST",
    eras: "legacy",
    title: "the answer to initialize has its members",
    place: LIFECYCLE,
    sends: "initialize",
    mend: "{ protocolVersion, capabilities: {}, serverInfo: { name, version } }",
    run(talk) {
      const result = resultOf(talk.opening);
      const shown = talk.evidence({ line: talk.opening });
      const faults = [
        /^\d{4}-\d{2}-\d{2}$/.test(String(result["protocolVersion"])) ? "" : "protocolVersion is no date",
        isObject(result["capabilities"]) ? "" : "capabilities is no object",
        typeof at(result, "serverInfo", "name") === "string" ? "" : "serverInfo.name is no string",
        typeof at(result, "serverInfo", "version") === "string" ? "" : "serverInfo.version is no string",
        "instructions" in result && typeof result["instructions"] !== "string"
          ? "instructions is no string"
          : "",
      ].filter(Boolean);
      return faults.length === 0 ? pass("") : fail(faults.join("; "), shown);
    },
  }),
  sharedRow({
    id: "ERA-11",
    level: "MUST",
    eras: "legacy",
    title: "ping is answered with an empty result",
    place: { page: "basic/utilities/ping", heading: "Behavior Requirements" },
    sends: "ping",
    mend: '{"jsonrpc":"2.0","id":request.id,"result":{}}',
    async run(talk) {
      const { line, shown } = await talk.exchange(talk.ask("ping"));
      if (line === undefined) return fail("no answer to ping", shown);
      if (line.kind === "error") return fail("ping is answered with an error", shown);
      const members = Object.keys(resultOf(line)).filter((name) => name !== "_meta");
      return members.length === 0 ? pass("") : warn(`the result holds ${listed(members)}`, shown);
    },
  }),
  ownRow({
    id: "ERA-12",
    level: "MUST",
    eras: "legacy",
    title: "a version is agreed to that is spoken",
    place: NEGOTIATION,
    sends: `initialize with each of ${
      LEGACY_VERSIONS.join(", ")
    } and ${UNKNOWN_VERSION}, each in a fresh process`,
    mend: "answer with the version asked for if you speak it, else with the latest that you speak",
    async run(trial) {
      const offered = new Set<string>();
      const agreed = new Set<string>();
      for (const version of [...LEGACY_VERSIONS, UNKNOWN_VERSION]) {
        const [talk, line, came] = await initialize(trial, version);
        await trial.close(talk);
        const shown = talk.evidence({ sent: talk.asked[0], line });
        if (line === undefined) return fail(`no answer to initialize with ${version}`, shown);
        if (line.kind === "error") continue;
        if (came === undefined) return fail(`initialize with ${version}: no protocolVersion`, shown);
        if (came === UNKNOWN_VERSION) return fail(`it agrees to ${UNKNOWN_VERSION}`, shown);
        if (came !== MODERN.version && !LEGACY_VERSIONS.includes(came)) {
          return fail(`it offers ${came}, which is none`, shown);
        }
        (came === version ? agreed : offered).add(came);
      }
      const refused = [...offered].filter((version) =>
        !agreed.has(version) && LEGACY_VERSIONS.includes(version)
      );
      if (refused.length > 0) return fail(`it offers ${listed(refused)}, and then does not agree to it`);
      if (agreed.size === 0) return fail("it agrees to no known version");
      return [...agreed].every((version) => version < "2025-06-18")
        ? note(`only ${listed([...agreed])}`)
        : pass(`speaks ${listed([...agreed])}`);
    },
  }),
  ownRow({
    id: "ERA-13",
    level: "MUST",
    most: "warn",
    eras: "legacy",
    title: "batches are received, if 2025-03-26 was agreed to",
    place: { page: "2025-03-26 basic/index", heading: "Batching" },
    sends: "a ping, a notification and a ping in an array",
    mend: "take an array for its messages, or do not agree to 2025-03-26; no client sends them",
    async run(trial) {
      const [talk, , came] = await initialize(trial, "2025-03-26");
      if (came !== "2025-03-26") return skip("it does not agree to 2025-03-26");
      await talk.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      const ping = (id: string) => ({ jsonrpc: "2.0", id, method: "ping" });
      await talk.send(JSON.stringify([ping("b1"), cancellation(NO_ID), ping("b2")]));
      await talk.settle();
      const batch = talk.lines.find(({ kind }) => kind === "batch")?.message?.["batch"];
      const ids = new Set(
        [...Array.isArray(batch) ? batch : [], ...talk.lines.map(({ message }) => message)].map((each) =>
          at(each, "id")
        ),
      );
      if (ids.has("b1") && ids.has("b2")) return pass("both are answered");
      return warn(
        "it agrees to 2025-03-26 but takes no batch",
        talk.evidence({ sent: talk.sent.find((text) => text.startsWith("[")) }),
      );
    },
  }),
  ownRow({
    id: "ERA-14",
    level: "ADVICE",
    eras: "legacy_only",
    title: "a request before initialize ends nothing",
    place: LIFECYCLE,
    sends: "tools/list as the first line, then initialize",
    mend: "answer it with an error, and go on",
    async run(trial) {
      const talk = await trial.start();
      talk.era = trial.era;
      const early = talk.askRaw({ jsonrpc: "2.0", id: "early", method: "tools/list" });
      const line = await talk.answer(early, trial.bound(2_000));
      await talk.openLegacy(trial.era);
      if (talk.opening?.kind !== "result") throw talk.ended("tools/list before initialize", talk.boundMs);
      return pass(`it is ${howAnswered(line)}`);
    },
  }),
  ownRow({
    id: "ERA-15",
    level: "ADVICE",
    eras: "dual",
    title: "the modern era is served beside the legacy one",
    place: { page: "basic/versioning", heading: "Compatibility Matrix" },
    sends: "server/discover behind initialize",
    mend: "look at each request's _meta",
    async run(trial) {
      const talk = await trial.open({ era: trial.facts.legacy!.era });
      talk.era = MODERN;
      const { line, shown } = await talk.exchange(talk.ask("server/discover"));
      talk.era = trial.facts.legacy!.era;
      return line?.kind === "result"
        ? pass("server/discover is served behind initialize")
        : note("server/discover is refused behind initialize", shown);
    },
  }),
  ownRow({
    id: "ERA-16",
    level: "ADVICE",
    eras: "legacy",
    title: "initialize twice ends nothing",
    place: LIFECYCLE,
    sends: "initialize a second time",
    mend: "answer it once more or with an error, and go on",
    async run(trial): Promise<Finding> {
      const talk = await trial.open();
      const line = await talk.answerOrFences(talk.askInitialize(trial.era.version, "again"));
      return pass(`it is ${howAnswered(line)}`);
    },
  }),
]);
