/** RES, PROMPT, COMP and ASK: resources, prompts, completion, and what the user is asked. */

import { type Check, group, judgeCode, ownRow, sharedRow, type Trial } from "../check.ts";
import type { Conversation } from "../conversation.ts";
import { CLIENT_CAPABILITIES } from "../era.ts";
import { listsOf } from "../facts.ts";
import { asObject, at, codeOf, isObject, type Members, resultOf } from "../raw_line.ts";
import { listed } from "../shown.ts";
import { type CallableTool, callTool, needNamed } from "../tool_choice.ts";
import { fail, type Finding, note, pass, skip, unknown, warn } from "../verdict.ts";
import { contentFault } from "./tools.ts";

const RESOURCE_ERRORS = { page: "server/resources", heading: "Error Handling" } as const;
const PROMPT_ERRORS = { page: "server/prompts", heading: "Error Handling" } as const;
const MRTR = { page: "basic/patterns/mrtr", heading: "Server Requirements" } as const;
const NO_RESOURCE = "mcp-stdio-doctor://no/such/resource";
const NO_PROMPT = "mcp-stdio-doctor-no-such-prompt";
const MOST_READ = 1_048_576;

const RESOURCES: readonly Check[] = group("resources", [
  sharedRow({
    id: "RES-01",
    level: "MUST",
    levelIn: (era) => era.modern ? "MUST" : "SHOULD",
    title: "a resource that is not there is an error",
    place: RESOURCE_ERRORS,
    sends: `resources/read of ${NO_RESOURCE}`,
    mend: "error -32602 since 2026-07-28, -32002 before; no empty contents",
    async run(talk, trial) {
      if (listsOf(trial.facts, trial.era)?.resources.declared !== true) {
        return skip("the server declares no resources");
      }
      const { line, shown } = await talk.exchange(talk.ask("resources/read", { uri: NO_RESOURCE }));
      const say = trial.era.modern ? fail : warn;
      if (line === undefined) return say("no answer", shown);
      if (line.kind === "result") return say("a result for a resource that cannot be there", shown);
      return judgeCode(line, trial.era.modern ? [-32602] : [-32602, -32002], say, shown);
    },
  }),
  sharedRow({
    id: "RES-02",
    level: "MUST",
    title: "a listed resource can be read",
    place: { page: "server/resources" },
    sends: "resources/read of the first listed resource of at most 1 MiB",
    mend: "contents: [{ uri, text }] or [{ uri, blob }] in base64",
    async run(talk, trial) {
      if (!trial.options.resources) return skip("no resource may be read: --no-resources");
      const resource = (listsOf(trial.facts, trial.era)?.resources.items ?? [])
        .find(({ size, uri }) =>
          typeof uri === "string" && (size === undefined || Number(size) <= MOST_READ)
        );
      if (resource === undefined) return skip("the server lists no resource");
      const asked = talk.ask("resources/read", { uri: resource["uri"] });
      const line = await talk.answer(asked, trial.bound(10_000));
      const shown = {
        ...talk.evidence({ sent: asked }),
        got: line === undefined ? undefined : `${line.kind}, ${line.length} bytes`,
      };
      if (line === undefined) return warn("it is not answered", shown);
      if (line.kind === "error") return warn(`it is listed, and answered with error ${codeOf(line)}`, shown);
      const { contents, resultType } = resultOf(line);
      if (resultType === "input_required") return unknown("it asks the user", shown);
      if (!Array.isArray(contents)) return fail("contents is no array", shown);
      const fault = contents.map(contentFault).find((each) => each !== undefined);
      return fault === undefined ? pass(`${contents.length} contents`) : fail(`contents: ${fault}`, shown);
    },
  }),
  sharedRow({
    id: "RES-03",
    level: "MUST",
    title: "URIs are URIs, and names are there",
    place: { page: "server/resources", heading: "Custom URI Schemes" },
    sends: "nothing: it reads the lists that LIST-01 has fetched",
    mend: "scheme://…; close each brace of a template",
    run(_talk, trial) {
      const lists = listsOf(trial.facts, trial.era);
      const resources = lists?.resources.items ?? [];
      const templates = lists?.resourceTemplates.items ?? [];
      if (resources.length + templates.length === 0) return skip("the server lists none");
      const bad = [
        ...resources.filter(({ uri, name }) =>
          !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(String(uri)) || typeof name !== "string"
        )
          .map(({ uri, name }) => String(uri ?? name)),
        ...templates.filter(({ uriTemplate, name }) => !isTemplate(uriTemplate) || typeof name !== "string")
          .map(({ uriTemplate, name }) => String(uriTemplate ?? name)),
      ];
      return bad.length === 0 ? pass("") : fail(`no URI, or no name: ${listed(bad)}`);
    },
  }),
]);

const PROMPTS: readonly Check[] = group("prompts", [
  sharedRow({
    id: "PROMPT-01",
    level: "SHOULD",
    most: "fail",
    title: "an unknown prompt is an error",
    place: PROMPT_ERRORS,
    sends: `prompts/get of ${NO_PROMPT}`,
    mend: "error -32602",
    async run(talk, trial) {
      if (listsOf(trial.facts, trial.era)?.prompts.declared !== true) {
        return skip("the server declares no prompts");
      }
      return await judgePrompt(talk, { name: NO_PROMPT }, true);
    },
  }),
  sharedRow({
    id: "PROMPT-02",
    level: "SHOULD",
    title: "a prompt without its required arguments is refused",
    place: PROMPT_ERRORS,
    sends: "prompts/get of a listed prompt without its required arguments",
    mend: "error -32602",
    async run(talk, trial) {
      if (!trial.options.prompts) return skip("no prompt may be got: --no-prompts");
      const prompt = (listsOf(trial.facts, trial.era)?.prompts.items ?? [])
        .find(({ arguments: args }) =>
          Array.isArray(args) && args.some((each) => at(each, "required") === true)
        );
      if (prompt === undefined) return skip("no listed prompt has a required argument");
      return await judgePrompt(talk, { name: prompt["name"] }, false);
    },
  }),
  sharedRow({
    id: "COMP-01",
    level: "SHOULD",
    title: "completion of what is not there is an error",
    place: { page: "server/utilities/completion", heading: "Error Handling" },
    sends: `completion/complete for the prompt ${NO_PROMPT}`,
    mend: "error -32602; without the capability -32601",
    async run(talk) {
      const ref = { type: "ref/prompt", name: NO_PROMPT };
      const asked = talk.ask("completion/complete", { ref, argument: { name: "x", value: "" } });
      const { line, shown } = await talk.exchange(asked);
      const isDeclared = "completions" in talk.capabilities;
      if (line === undefined) return warn("no answer", shown);
      if (line.kind === "error") {
        const code = codeOf(line);
        if (code === -32602 || !isDeclared && code === -32601) return pass(String(code));
        return isDeclared ? note(`code ${code} instead of -32602`, shown) : pass(`not declared, ${code}`);
      }
      const values = at(line.message, "result", "completion", "values");
      return Array.isArray(values) && values.length === 0
        ? note("an empty result", shown)
        : warn("values for what is not there", shown);
    },
  }),
]);

const ASKS: readonly Check[] = group("tools", [
  ownRow({
    id: "ASK-01",
    level: "MUST",
    eras: "modern",
    title: "a client is asked only for what it has declared",
    place: MRTR,
    sends: "a tool that asks the user (--ask), without capabilities",
    mend: "error -32021 with data.requiredCapabilities, or do without",
    async run(trial) {
      const ask = needAsk(trial);
      const talk = await trial.open();
      const { line, shown } = await talk.exchange(callTool(talk, trial, ask), trial.bound(30_000));
      if (line === undefined) return unknown(`${ask.name} has not answered`, shown);
      if (line.kind === "result") {
        return resultOf(line)["resultType"] === "input_required"
          ? fail("it asks, though nothing was declared", shown)
          : pass("it does without");
      }
      if (codeOf(line) !== -32021) return fail(`code ${codeOf(line)} instead of -32021`, shown);
      return isObject(at(line.message, "error", "data", "requiredCapabilities"))
        ? pass("-32021")
        : fail("-32021 without data.requiredCapabilities", shown);
    },
  }),
  ownRow({
    id: "ASK-02",
    level: "MUST",
    eras: "modern",
    title: "a question that is declined ends",
    place: MRTR,
    sends: "the same tool with elicitation declared; then a decline under a new id, with requestState echoed",
    mend: "return a complete result once inputResponses is there",
    async run(trial) {
      const ask = needAsk(trial);
      const talk = await trial.open();
      const meta = { [CLIENT_CAPABILITIES]: { elicitation: { form: {} } } };
      let more: Members = {};
      for (let round = 0; round < 5; round++) {
        const asked = talk.ask("tools/call", { name: ask.name, arguments: ask.args, ...more }, { meta });
        const { line, shown } = await talk.exchange(asked, trial.bound(30_000));
        if (line === undefined) return unknown(`${ask.name} has not answered`, shown);
        if (line.kind === "error") {
          return round === 0
            ? unknown(`${ask.name} is answered with error ${codeOf(line)}`, shown)
            : fail(`a decline is answered with error ${codeOf(line)}`, shown);
        }
        const result = resultOf(line);
        if (result["resultType"] !== "input_required") {
          return round === 0 ? unknown(`${ask.name} did not ask`, shown) : pass(`after ${round} rounds`);
        }
        const { inputRequests, requestState } = result;
        if (inputRequests === undefined && requestState === undefined) {
          return fail("neither inputRequests nor requestState", shown);
        }
        const keys = Object.keys(asObject(inputRequests));
        more = {
          inputResponses: Object.fromEntries(keys.map((key) => [key, { action: "decline" }])),
          ...requestState === undefined ? {} : { requestState },
        };
      }
      return warn("it asks again after five declines");
    },
  }),
]);

export const CONTENT: readonly Check[] = [...RESOURCES, ...PROMPTS, ...ASKS];

function needAsk(trial: Trial): CallableTool {
  return needNamed(trial, "ask", "needs a tool that asks the user: --ask NAME --ask-args JSON");
}

async function judgePrompt(talk: Conversation, params: Members, silenceFails: boolean): Promise<Finding> {
  const { line, shown } = await talk.exchange(talk.ask("prompts/get", params));
  if (line === undefined) return (silenceFails ? fail : warn)("no answer", shown);
  if (line.kind === "result") return warn("it is got all the same", shown);
  return judgeCode(line, [-32602], note, shown);
}

/** Whether the braces of a template pair. */
function isTemplate(value: unknown): boolean {
  return typeof value === "string" && value.replaceAll(/\{[^{}]+\}/g, "").match(/[{}]/) === null;
}
