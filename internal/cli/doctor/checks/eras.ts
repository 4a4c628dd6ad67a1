/** ERA-03 to ERA-09 and ERA-17: what the modern era asks of each request and of the answer to the probe. */

import { type Check, group, ownRow, sharedRow, type Trial } from "../check.ts";
import { Ended, EraChanged, type Exchange } from "../conversation.ts";
import {
  cancellation,
  CLIENT_CAPABILITIES,
  envelope,
  LEGACY_VERSIONS,
  MODERN,
  MODERN_VERSION,
  NO_ID,
  PROTOCOL_VERSION,
  requestOf,
  SERVER_INFO,
} from "../era.ts";
import { factsOf, listMethod } from "../facts.ts";
import { isDual } from "../first_words.ts";
import { at, codeOf, isObject, type Members, type RawLine, resultOf } from "../raw_line.ts";
import { listed } from "../shown.ts";
import { fail, type Finding, type Make, note, pass, skip, unknown, warn, worstOf } from "../verdict.ts";

const META = { page: "basic/index", heading: "_meta" } as const;
const NEGOTIATION = { page: "basic/versioning", heading: "Protocol Version Negotiation" } as const;
const STATELESS = { page: "basic/index", heading: "Statelessness" } as const;
const COMPATIBILITY = { page: "basic/versioning", heading: "Backward Compatibility" } as const;
const OLD = "1900-01-01";

/** A method that is sure to be served, for a request that is no probe. */
export function realMethod(trial: Trial): string {
  return listMethod(factsOf(trial.facts, MODERN)?.capabilities ?? {}) ?? "server/discover";
}

/** Sends one modern request as the first line of a fresh process. */
async function sendFirst(trial: Trial, meta: Members): Promise<Exchange> {
  const talk = await trial.start();
  talk.era = MODERN;
  const asked = talk.askRaw({
    jsonrpc: "2.0",
    id: talk.newId(),
    method: realMethod(trial),
    params: { _meta: meta },
  });
  return await talk.exchange(asked, trial.bound(10_000));
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
}

export const ERAS: readonly Check[] = group("eras", [
  sharedRow({
    id: "ERA-03",
    level: "MUST",
    eras: "modern",
    title: "server/discover says what is spoken",
    place: { page: "server/discover" },
    sends: "server/discover",
    mend: 'supportedVersions: ["2026-07-28"], capabilities: {}, and serverInfo in _meta',
    run(talk) {
      const result = resultOf(talk.opening);
      const shown = talk.evidence({ line: talk.opening });
      const versions = result["supportedVersions"];
      if (!isListOfTexts(versions)) return fail("supportedVersions is no array of strings", shown);
      if (!versions.includes(MODERN_VERSION)) return fail(`supportedVersions lacks ${MODERN_VERSION}`, shown);
      if (!isObject(result["capabilities"])) return fail("capabilities is no object", shown);
      if ("instructions" in result && typeof result["instructions"] !== "string") {
        return fail("instructions is no string", shown);
      }
      const info = at(result, "_meta", SERVER_INFO);
      if (typeof at(info, "name") !== "string" || typeof at(info, "version") !== "string") {
        return warn("no serverInfo in its _meta", shown);
      }
      return at(info, "version") === ""
        ? note("the version of serverInfo is empty", shown)
        : pass(listed(versions));
    },
  }),
  ownRow({
    id: "ERA-04",
    level: "MUST",
    eras: "modern",
    title: "what _meta must hold is asked for",
    place: META,
    sends:
      "tools/list as the first line, without clientCapabilities; in another process without protocolVersion",
    mend:
      "refuse a request without io.modelcontextprotocol/protocolVersion or …/clientCapabilities with -32602",
    async run(trial) {
      const { [CLIENT_CAPABILITIES]: _capabilities, ...withoutCapabilities } = envelope();
      const { [PROTOCOL_VERSION]: _version, ...withoutVersion } = envelope();
      return worstOf([
        judgeLacking("clientCapabilities", await sendFirst(trial, withoutCapabilities), fail, fail),
        judgeLacking(
          "protocolVersion",
          await sendFirst(trial, withoutVersion),
          isDual(trial.facts) ? warn : fail,
          warn,
        ),
      ]);
    },
  }),
  ownRow({
    id: "ERA-05",
    level: "MUST",
    eras: "modern",
    title: "an unsupported version is refused",
    place: NEGOTIATION,
    sends: `tools/list in version ${OLD} as the first line`,
    mend: 'error -32022 with data: { supported: ["2026-07-28"], requested }',
    async run(trial) {
      const { line, shown } = await sendFirst(trial, envelope({ [PROTOCOL_VERSION]: OLD }));
      if (line === undefined) return fail("no answer", shown);
      if (line.kind === "result") return fail(`version ${OLD} is served`, shown);
      if (codeOf(line) !== -32022) return fail(`code ${codeOf(line)} instead of -32022`, shown);
      const supported = at(line.message, "error", "data", "supported");
      if (!isListOfTexts(supported)) return fail("data.supported is no array of strings", shown);
      return at(line.message, "error", "data", "requested") === OLD
        ? pass(`-32022, supported: ${listed(supported)}`)
        : fail("data.requested is not what was sent", shown);
    },
  }),
  sharedRow({
    id: "ERA-06",
    level: "MUST",
    eras: "modern",
    title: "an unsupported version is refused behind good requests, too",
    place: STATELESS,
    sends:
      `tools/list in ${MODERN_VERSION}, in ${OLD}, server/discover in ${OLD}, tools/list in ${MODERN_VERSION}, in one write`,
    mend: "look at the version of each request, not of the first one",
    async run(talk, trial) {
      const method = realMethod(trial);
      const requests = [
        [method, MODERN_VERSION],
        [method, OLD],
        ["server/discover", OLD],
        [method, MODERN_VERSION],
      ] as const;
      const texts = requests.map(([name, version]) =>
        JSON.stringify(requestOf(MODERN, name, undefined, talk.newId(), { [PROTOCOL_VERSION]: version }))
      );
      talk.write(`${texts.join("\n")}\n`);
      const found: Exchange[] = [];
      for (const each of talk.asked.slice(-requests.length)) found.push(await talk.exchange(each));
      const [good, old, discovery, last] = found as [Exchange, Exchange, Exchange, Exchange];
      for (const { line, shown } of [good, last]) {
        if (line?.kind !== "result") return fail(`the good request beside it is not served`, shown);
      }
      if (codeOf(old.line) !== -32022) {
        const what = old.line === undefined
          ? "not answered"
          : old.line.kind === "result"
          ? "served"
          : `answered with ${codeOf(old.line)}`;
        return fail(`${method} in version ${OLD} is ${what}`, old.shown);
      }
      return codeOf(discovery.line) === -32022
        ? pass("-32022")
        : warn(`server/discover in version ${OLD} is served`, discovery.shown);
    },
  }),
  ownRow({
    id: "ERA-07",
    level: "MUST",
    eras: "modern",
    title: "a list needs no state and is the same on each connection",
    place: STATELESS,
    sends:
      "tools/list as the very first line; in a second process with elicitation, sampling and roots declared",
    mend: "serve each request by what stands in it; no handshake is needed",
    async run(trial) {
      const ask = async (capabilities: Members): Promise<[string | undefined, Finding]> => {
        const { line, shown } = await sendFirst(trial, envelope({ [CLIENT_CAPABILITIES]: capabilities }));
        if (line?.kind === "result") return [namesIn(line), pass("", shown)];
        return [
          undefined,
          fail(line === undefined ? "the first line is not answered" : "the first line is refused", shown),
        ];
      };
      const [plain, first] = await ask({});
      if (plain === undefined) return first;
      const [rich, second] = await ask({ elicitation: {}, sampling: {}, roots: {} });
      if (rich === undefined) return second;
      if (plain === rich) return pass("served, with the same names");
      const [again] = await ask({});
      return again === plain
        ? warn("the names differ with the capabilities of the client", ...second.evidence)
        : fail("the names differ from process to process", ...second.evidence);
    },
  }),
  ownRow({
    id: "ERA-08",
    level: "MUST",
    eras: "modern",
    title: "a line without _meta does not change the era of the next request",
    place: STATELESS,
    sends:
      "behind tools/list, and behind server/discover alone: a request without _meta, an unknown notification, a cancellation, a bad line",
    mend: "decide the era by each request's _meta, and legacy by initialize alone",
    async run(trial) {
      const stimuli: ReadonlyArray<readonly [string, string]> = [
        ["a request without _meta", '{"jsonrpc":"2.0","id":"eraless","method":"doctor/no-such-method"}'],
        ["an unknown notification", '{"jsonrpc":"2.0","method":"notifications/doctor"}'],
        ["a cancellation", JSON.stringify(cancellation(NO_ID))],
        ["a bad line", "hello"],
      ];
      const found: Finding[] = [];
      for (const probeOnly of isDual(trial.facts) ? [false, true] : [false]) {
        for (const [name, line] of stimuli) found.push(await tryEraless(trial, name, line, probeOnly));
      }
      return worstOf(found, pass("it does not"));
    },
  }),
  ownRow({
    id: "ERA-09",
    level: "SHOULD",
    eras: "modern_only",
    title: "initialize is refused with the versions that are served",
    place: COMPATIBILITY,
    sends: "initialize as the first line",
    mend: "name the supported versions in the error's message or data",
    async run(trial) {
      const talk = await trial.start();
      talk.era = MODERN;
      const asked = talk.askInitialize(LEGACY_VERSIONS[0]!);
      const { line, shown } = await talk.exchange(asked, trial.bound(10_000));
      if (line === undefined) return warn("no answer to initialize", shown);
      if (line.kind === "result") return skip("it speaks the legacy era");
      return JSON.stringify(line.message!["error"]).includes(MODERN_VERSION)
        ? pass("it names the versions")
        : warn("the error does not name the versions that are served", shown);
    },
  }),
  sharedRow({
    id: "ERA-17",
    level: "ADVICE",
    eras: "modern",
    title: "methods that the revision has not are refused",
    place: NEGOTIATION,
    sends: "ping, logging/setLevel and resources/subscribe as modern requests",
    mend: "answer -32601",
    async run(talk) {
      const served: string[] = [];
      const requests = [
        ["ping", {}],
        ["logging/setLevel", { level: "error" }],
        ["resources/subscribe", { uri: "mcp-stdio-doctor://none" }],
      ] as const;
      for (const [method, params] of requests) {
        const line = await talk.answer(talk.ask(method, params));
        if (line?.kind === "result") served.push(method);
      }
      return served.length === 0 ? pass("refused") : note(`served: ${listed(served)}`);
    },
  }),
]);

/** Judges what a request without a member of its `_meta` got; `sayCode` where that is another error. */
function judgeLacking(member: string, { line, shown }: Exchange, say: Make, sayCode: Make): Finding {
  if (line === undefined) return say(`no answer to a request without ${member}`, shown);
  if (line.kind === "result") return say(`a request without ${member} is served`, shown);
  if (codeOf(line) === -32602) return pass("-32602");
  return sayCode(`a request without ${member} gets ${codeOf(line)} instead of -32602`, shown);
}

/** The names in a list, in no order; undefined if there is none. */
function namesIn(line: RawLine): string {
  const result = resultOf(line);
  const items = Object.values(result).find(Array.isArray) ?? [];
  return JSON.stringify(
    items.map((item: unknown) => String(at(item, "name") ?? at(item, "uri") ?? item)).sort(),
  );
}

async function tryEraless(trial: Trial, name: string, line: string, probeOnly: boolean): Promise<Finding> {
  const talk = await trial.open({ probeOnly });
  try {
    await talk.send(line);
    await talk.settle();
    return pass("");
  } catch (error) {
    if (error instanceof EraChanged) {
      const say = probeOnly ? warn : fail;
      return say(
        `${name} behind ${probeOnly ? "the probe" : "a modern request"} changes the era`,
        error.evidence,
      );
    }
    if (error instanceof Ended) return unknown(`${name}: ${error.message}`, error.evidence);
    throw error;
  } finally {
    await trial.close(talk);
  }
}
