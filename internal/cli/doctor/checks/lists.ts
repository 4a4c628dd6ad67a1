/** LIST and CACHE: what is listed, and whether the lists are lists. */

import {
  type Check,
  group,
  judgeCode,
  lineEvidence,
  sharedRow,
  type Trial,
  type Watched,
  watchRow,
} from "../check.ts";
import { isSince } from "../era.ts";
import { type FetchedList, listsOf } from "../facts.ts";
import { asObject, at, isObject, type Members, resultOf } from "../raw_line.ts";
import { judgeSchema } from "../schemas/meta_schemas.ts";
import { listed, showBytes } from "../shown.ts";
import { modernAnswers } from "./stdout_modern.ts";
import { fail, type Finding, note, pass, skip, unknown, warn, worstOf } from "../verdict.ts";

const TOOL_PLACE = { page: "server/tools", heading: "Tool" } as const;
const NOTHING = "nothing: it reads the lists that LIST-01 has fetched";
const CURSOR = "mcp-stdio-doctor-no-such-cursor";
const MOST_LIST_BYTES = 100_000;
const MOST_DESCRIPTION = 2_048;

function toolsIn({ facts, era }: Trial): readonly Members[] {
  return listsOf(facts, era)?.tools.items ?? [];
}

function allLists({ facts, era }: Trial): readonly FetchedList[] {
  return Object.values(listsOf(facts, era) ?? {});
}

export const LISTS: readonly Check[] = group("lists", [
  sharedRow({
    id: "LIST-01",
    level: "MUST",
    title: "what is declared is listed, and the pages end",
    place: { page: "server/tools", heading: "Capabilities" },
    sends: "tools/list, resources/list, resources/templates/list and prompts/list, and each nextCursor",
    mend: "declare what you serve and serve what you declare; leave nextCursor out on the last page",
    run(_talk, trial) {
      const lists = allLists(trial);
      if (lists.length === 0) return unknown("the lists could not be fetched");
      const said = lists.filter(({ declared }) => declared).map(({ key, items }) => `${items.length} ${key}`);
      const bad = lists.map(({ finding }) => finding).filter(({ verdict }) => verdict !== "pass");
      return worstOf(bad, pass(said.join(", ")));
    },
  }),
  sharedRow({
    id: "LIST-02",
    level: "SHOULD",
    title: "names of tools are names, and each another",
    place: { page: "server/tools", heading: "Tool Names" },
    sends: NOTHING,
    mend: "1 to 128 of A-Z a-z 0-9 _ - . ; hosts reject others",
    run(_talk, trial) {
      const names = toolsIn(trial).map(({ name }) => name);
      const bad = names.filter((name) => typeof name !== "string" || !/^[A-Za-z0-9_.-]{1,128}$/.test(name));
      const twice = names.filter((name, index) => names.indexOf(name) !== index);
      const say = isSince(trial.era, "2025-11-25") ? warn : note;
      if (bad.length > 0) return say(`no names: ${listed(bad.map((name) => JSON.stringify(name)))}`);
      if (twice.length > 0) return say(`more than once: ${listed(twice.map(String))}`);
      return names.length === 0 ? skip("the server lists no tools") : pass(`${names.length} names`);
    },
  }),
  sharedRow({
    id: "LIST-03",
    level: "MUST",
    title: "schemas of tools are schemas",
    place: TOOL_PLACE,
    sends: NOTHING,
    mend:
      'inputSchema: { type: "object", … }, valid in the dialect that $schema names, 2020-12 if it names none',
    async run(_talk, trial) {
      const tools = toolsIn(trial);
      if (tools.length === 0) return skip("the server lists no tools");
      const found: Finding[] = [];
      for (const tool of tools) {
        found.push(await judgeToolSchema(tool, "inputSchema", trial));
        if ("outputSchema" in tool) found.push(await judgeToolSchema(tool, "outputSchema", trial));
      }
      return worstOf(found.filter(({ verdict }) => verdict !== "pass"), pass(`${found.length} schemas`));
    },
  }),
  sharedRow({
    id: "LIST-04",
    level: "SHOULD",
    most: "fail",
    levelIn: (era) => era.modern ? "SHOULD" : "ADVICE",
    title: "the tools stand in the same order each time",
    place: { page: "server/tools", heading: "Capabilities" },
    sends: "tools/list twice",
    mend: "sort them, or keep them in a Map",
    async run(talk, trial) {
      if (toolsIn(trial).length === 0) return skip("the server lists no tools");
      const names = async () => {
        const line = await talk.answer(talk.ask("tools/list"));
        const tools = resultOf(line)["tools"];
        return Array.isArray(tools) ? tools.map((tool) => String(at(tool, "name"))) : [];
      };
      const [first, second] = [await names(), await names()];
      if (first.join("\n") === second.join("\n")) return pass("twice the same");
      const isSameSet = [...first].sort().join("\n") === [...second].sort().join("\n");
      return isSameSet || !trial.era.modern
        ? warn("the order differs")
        : fail("the set differs, and nothing has changed it");
    },
  }),
  sharedRow({
    id: "LIST-05",
    level: "SHOULD",
    title: "an invalid cursor is refused",
    place: { page: "server/utilities/pagination", heading: "Error Handling" },
    sends: `a declared list with the cursor "${CURSOR}"`,
    mend: "answer -32602 to a cursor that you have not given",
    async run(talk, trial) {
      const lists = allLists(trial).filter(({ declared, pages }) => declared && pages.length > 0);
      const list = lists.find(({ paged }) => paged) ?? lists[0];
      if (list === undefined) return skip("no list is declared");
      const { line, shown } = await talk.exchange(talk.ask(list.method, { cursor: CURSOR }));
      if (line === undefined) return warn("no answer to an invalid cursor", shown);
      if (line.kind === "error") return judgeCode(line, [-32602], warn, shown);
      return list.paged
        ? warn("an invalid cursor gets a page, though the server pages", shown)
        : note("an invalid cursor gets the first page", shown);
    },
  }),
  sharedRow({
    id: "LIST-06",
    level: "ADVICE",
    title: "what models read is there, and short",
    place: { page: "advice" },
    sends: NOTHING,
    mend: "a description of a sentence or two, and annotations; each conversation pays for the whole list",
    run(_talk, trial) {
      const tools = toolsIn(trial);
      const names = (which: (tool: Members) => boolean) =>
        tools.filter(which).map(({ name }) => String(name));
      const bare = names(({ description }) => description === undefined || description === "");
      const hintless = names(({ annotations }) => annotations === undefined);
      const long = names(({ description }) =>
        typeof description === "string" && description.length > MOST_DESCRIPTION
      );
      const pages = listsOf(trial.facts, trial.era)?.tools.pages ?? [];
      const bytes = pages.reduce((sum, { length }) => sum + length, 0);
      const said = [
        bare.length === 0 ? "" : `no description: ${listed(bare)}`,
        hintless.length === 0 ? "" : `no annotations: ${listed(hintless)}`,
        long.length === 0 ? "" : `over 2 KiB of description: ${listed(long)}`,
        bytes <= MOST_LIST_BYTES ? "" : `the list has ${showBytes(bytes)}`,
      ].filter(Boolean);
      if (tools.length === 0) return skip("the server lists no tools");
      return said.length === 0 ? pass("") : note(said.join("; "));
    },
  }),
  sharedRow({
    id: "LIST-07",
    level: "ADVICE",
    eras: "modern",
    title: "x-mcp-header names headers",
    place: { page: "server/tools", heading: "x-mcp-header" },
    sends: NOTHING,
    mend: "a token, each another, on properties of a primitive type",
    run(_talk, trial) {
      const bad: string[] = [];
      for (const tool of toolsIn(trial)) {
        const seen = new Set<string>();
        for (const property of Object.values(asObject(at(tool, "inputSchema", "properties")))) {
          const header = at(property, "x-mcp-header");
          if (header === undefined) continue;
          const isPrimitive = ["string", "number", "integer", "boolean"].includes(
            String(at(property, "type")),
          );
          const isToken = typeof header === "string" && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header);
          if (!isToken || !isPrimitive || seen.has(header.toLowerCase())) {
            bad.push(`${String(tool["name"])}: ${JSON.stringify(header)}`);
          }
          seen.add(String(header).toLowerCase());
        }
      }
      return bad.length === 0 ? pass("") : note(listed(bad));
    },
  }),
  watchRow({
    id: "CACHE-01",
    level: "MUST",
    eras: "modern",
    title: "lists and resources say how long they hold",
    place: { page: "server/utilities/caching", heading: "Cacheable Results" },
    sends: NOTHING,
    mend: 'ttlMs: 0, cacheScope: "private"',
    watch: judgeCaching,
  }),
]);

async function judgeToolSchema(tool: Members, member: string, trial: Trial): Promise<Finding> {
  const schema = tool[member];
  const name = `${member} of ${String(tool["name"])}`;
  if (!isObject(schema)) return fail(`${name} is no object`);
  if (member === "inputSchema" && schema["type"] !== "object") {
    return fail(`${name}: type is ${JSON.stringify(schema["type"])} instead of "object"`);
  }
  if (member === "outputSchema" && !trial.era.modern && schema["type"] !== "object") {
    return fail(`${name}: type is not "object"`);
  }
  const verdict = await judgeSchema(schema, { old: !isSince(trial.era, "2025-11-25") });
  switch (verdict.kind) {
    case "invalid":
      return fail(`${name}: ${listed(verdict.problems, 2)}`);
    case "unsaid":
      return warn(
        `${name} is draft-07 without saying so: "$schema": "http://json-schema.org/draft-07/schema#"`,
      );
    case "foreign":
      return note(`${name} names a dialect that is not known here: ${verdict.dialect}`);
  }
  if (/"\$ref":"https?:/.test(JSON.stringify(schema))) return note(`${name} refers to the network`);
  return pass("");
}

const CACHEABLE = new Set([
  "server/discover",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
  "resources/read",
]);

function judgeCaching(watched: Watched): Finding {
  const found: Finding[] = [];
  for (const { talk, line, asked } of modernAnswers(watched)) {
    const { ttlMs, cacheScope, resultType } = resultOf(line);
    if (line.kind !== "result" || line.message!["result"] === undefined) continue;
    if (!CACHEABLE.has(asked.method) || resultType === "input_required") continue;
    const shown = lineEvidence({ talk, line });
    const say = (what: string, value: unknown) =>
      fail(`${asked.method}: ${what} is ${JSON.stringify(value) ?? "absent"}`, shown);
    if (!Number.isInteger(ttlMs) || Number(ttlMs) < 0) found.push(say("ttlMs", ttlMs));
    if (cacheScope !== "public" && cacheScope !== "private") found.push(say("cacheScope", cacheScope));
  }
  for (const { method, pages } of Object.values(listsOf(watched.facts, watched.era) ?? {})) {
    const scopes = new Set(pages.map((page) => resultOf(page)["cacheScope"]));
    if (scopes.size > 1) found.push(fail(`${method}: pages of more than one cacheScope`));
  }
  return worstOf(found);
}
