/** OUT-10 to OUT-16: what a revision lets stand in messages. */

import {
  type Check,
  group,
  lineEvidence,
  type Watched,
  type WatchedLine,
  watchedLines,
  watchRow,
} from "../check.ts";
import type { Asked } from "../conversation.ts";
import { SERVER_INFO } from "../era.ts";
import { factsOf } from "../facts.ts";
import { asObject, at, codeOf, isObject, type Members } from "../raw_line.ts";
import { listed } from "../shown.ts";
import { fail, type Finding, note, warn, worstOf } from "../verdict.ts";

const ERROR_CODES = { page: "basic/index", heading: "Error Codes" } as const;

/** An answer to a valid modern request, with that request. */
export interface ModernAnswer extends WatchedLine {
  readonly asked: Asked;
}

/** Answers to valid modern requests. */
export function* modernAnswers(watched: Watched): Generator<ModernAnswer> {
  for (const talk of watched.talks) {
    if (talk.era?.modern !== true) continue;
    for (const line of talk.lines) {
      const asked = talk.askedFor(line);
      // A dual-era server may answer others in the legacy way.
      if (asked?.modern === true) yield { talk, line, asked };
    }
  }
}

function judgeEach(judge: (answer: ModernAnswer) => Finding | undefined): (watched: Watched) => Finding {
  return (watched) => worstOf([...modernAnswers(watched)].map(judge));
}

/** The ids of the extensions that the server declares. */
function extensionsOf({ facts, era }: Watched): string[] {
  return Object.keys(asObject(at(factsOf(facts, era)?.capabilities, "extensions")));
}

export const STDOUT_MODERN: readonly Check[] = group("stdout", [
  watchRow({
    id: "OUT-10",
    level: "MUST",
    eras: "modern",
    title: "reserved error codes are used as defined",
    place: ERROR_CODES,
    mend:
      "a resource that is not there is -32602 since 2026-07-28; of -32020 … -32099 only -32020, -32021 and -32022 may be used",
    watch: judgeEach(({ talk, line }) => {
      const code = codeOf(line);
      if (code === undefined) return undefined;
      const shown = lineEvidence({ talk, line });
      if (code === -32002 || code === -32042) return fail(`code ${code} is not sent any more`, shown);
      if (code > -32020 || code < -32099) return undefined;
      if (code < -32022) return fail(`code ${code} is reserved`, shown);
      const data = at(line.message, "error", "data");
      const isWhole = code === -32021
        ? isObject(at(data, "requiredCapabilities"))
        : code === -32022
        ? Array.isArray(at(data, "supported")) && typeof at(data, "requested") === "string"
        : true;
      return isWhole ? undefined : fail(`code ${code} without its data`, shown);
    }),
  }),
  watchRow({
    id: "OUT-11",
    level: "MUST",
    eras: "modern",
    title: "each result says its resultType",
    place: { page: "basic/index", heading: "Result Responses" },
    mend: 'result.resultType = "complete"; SDKs of the 2.x line add it',
    watch: (watched) => {
      const extensions = extensionsOf(watched);
      return judgeEach(({ talk, line, asked }) => {
        if (line.kind !== "result" || line.message!["result"] === undefined) return undefined;
        const type = at(line.message, "result", "resultType");
        if (type === "complete" || type === "input_required") return undefined;
        const shown = lineEvidence({ talk, line });
        if (type === undefined) return fail(`no resultType in the answer to ${asked.method}`, shown);
        return extensions.length > 0
          ? undefined
          : fail(`resultType ${JSON.stringify(type)} in the answer to ${asked.method}`, shown);
      })(watched);
    },
  }),
  watchRow({
    id: "OUT-13",
    level: "SHOULD",
    eras: "modern",
    title: "own error codes lie outside of the reserved range",
    place: ERROR_CODES,
    mend: "own codes lie outside of -32768 … -32000, such as 1001",
    watch: judgeEach(({ talk, line, asked }) => {
      const code = codeOf(line);
      return code !== undefined && isWithinReserved(code)
        ? warn(`code ${code} in the answer to ${asked.method}`, lineEvidence({ talk, line }))
        : undefined;
    }),
  }),
  watchRow({
    id: "OUT-14",
    level: "MUST",
    eras: "modern",
    title: "an input_required result asks, and for what was declared",
    place: { page: "basic/patterns/mrtr", heading: "Server Requirements" },
    mend:
      "give inputRequests or requestState; ask for elicitation, sampling and roots only, and only if the request declares them",
    watch: judgeEach(judgeInputRequired),
  }),
  watchRow({
    id: "OUT-15",
    level: "SHOULD",
    eras: "modern",
    title: "each result says who the server is",
    place: { page: "basic/index", heading: "_meta" },
    mend: `_meta["${SERVER_INFO}"] = { name, version } in each result`,
    watch: (watched) => {
      const lacking = new Set<string>();
      const found: Finding[] = [];
      for (const answer of modernAnswers(watched)) {
        const { line, asked } = answer;
        if (line.kind !== "result" || line.message!["result"] === undefined) continue;
        const info = at(line.message, "result", "_meta", SERVER_INFO);
        const isThere = typeof at(info, "name") === "string" && typeof at(info, "version") === "string";
        if (!isThere && !lacking.has(asked.method)) {
          lacking.add(asked.method);
          found.push(warn("", lineEvidence(answer)));
        }
        if (isThere && at(info, "version") === "") {
          found.push(note("the version is empty", lineEvidence(answer)));
        }
      }
      const worst = worstOf(found);
      return lacking.size === 0
        ? worst
        : { ...worst, summary: `none in the results of ${listed([...lacking])}` };
    },
  }),
  watchRow({
    id: "OUT-16",
    level: "MUST",
    since: "2025-06-18",
    title: "keys of _meta and ids of extensions follow the grammar",
    place: { page: "basic/index", heading: "_meta" },
    mend: "a key is a name, or a prefix of labels and a slash before a name: com.example/name",
    watch: (watched) => {
      const found: Finding[] = [];
      for (const each of watchedLines(watched)) {
        for (const key of metaKeys(each.line.message)) {
          const fault = keyFault(key);
          if (fault !== undefined) {
            found.push(fail(`the key ${JSON.stringify(key)} ${fault}`, lineEvidence(each)));
          } else if (isReserved(key) && !KNOWN_KEYS.has(key)) {
            found.push(warn(`the key ${JSON.stringify(key)} has a reserved prefix`, lineEvidence(each)));
          }
        }
      }
      for (const key of extensionsOf(watched)) {
        if (!key.includes("/")) found.push(fail(`the extension ${JSON.stringify(key)} has no prefix`));
      }
      return worstOf(found);
    },
  }),
]);

const JSON_RPC_CODES = new Set([-32700, -32600, -32601, -32602, -32603]);

/** Codes that are neither defined by JSON-RPC nor by MCP, yet lie in JSON-RPC's range. */
function isWithinReserved(code: number): boolean {
  if (JSON_RPC_CODES.has(code)) return false;
  return code <= -32000 && code >= -32019 || code <= -32100 && code >= -32768;
}

const ASKABLE: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
  ["roots/list", "roots"],
]);
const ASKING = new Set(["tools/call", "prompts/get", "resources/read"]);

function judgeInputRequired({ talk, line, asked }: ModernAnswer): Finding | undefined {
  if (at(line.message, "result", "resultType") !== "input_required") return undefined;
  const shown = lineEvidence({ talk, line });
  if (!ASKING.has(asked.method)) return fail(`input_required in the answer to ${asked.method}`, shown);
  const requests = at(line.message, "result", "inputRequests");
  if (requests === undefined && at(line.message, "result", "requestState") === undefined) {
    return fail("neither inputRequests nor requestState", shown);
  }
  const declared = asObject(at(asked.params, "_meta", "io.modelcontextprotocol/clientCapabilities"));
  for (const request of Object.values(asObject(requests))) {
    const method = String(at(request, "method"));
    const capability = ASKABLE.get(method);
    if (capability === undefined) return fail(`it asks for ${method}`, shown);
    if (declared[capability] === undefined) {
      return fail(`it asks for ${capability}, which was not declared`, shown);
    }
  }
  return undefined;
}

const KNOWN_KEYS = new Set(
  [
    "protocolVersion",
    "clientCapabilities",
    "clientInfo",
    "serverInfo",
    "logLevel",
    "subscriptionId",
    "related-task",
    "related-request",
  ].map((name) => `io.modelcontextprotocol/${name}`),
);
const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
const NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;

function keyFault(key: string): string | undefined {
  const slash = key.indexOf("/");
  const name = slash === -1 ? key : key.slice(slash + 1);
  if (slash !== -1 && !key.slice(0, slash).split(".").every((label) => LABEL.test(label))) {
    return "has no valid prefix";
  }
  return NAME.test(name) ? undefined : "has no valid name";
}

/** A prefix whose second label is `modelcontextprotocol` or `mcp`. */
function isReserved(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash === -1) return false;
  const second = key.slice(0, slash).split(".")[1];
  return second === "modelcontextprotocol" || second === "mcp";
}

/** The keys of the `_meta` objects in a message, but for those within arguments and schemas. */
function metaKeys(message: Members | undefined): string[] {
  const metas = [at(message, "result", "_meta"), at(message, "params", "_meta")];
  for (const list of ["tools", "resources", "resourceTemplates", "prompts", "content", "contents"]) {
    const items = at(message, "result", list);
    if (Array.isArray(items)) metas.push(...items.map((item) => at(item, "_meta")));
  }
  return metas.filter(isObject).flatMap((meta) => Object.keys(meta));
}
