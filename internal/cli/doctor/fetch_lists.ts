/** Fetches the four lists, all pages of them: what LIST-01 judges and others read. */

import type { Conversation } from "./conversation.ts";
import type { FetchedList, ListName, Lists } from "./facts.ts";
import { codeOf, isObject, type Members, type RawLine, resultOf } from "./raw_line.ts";
import { type Evidence, fail, type Finding, note, pass, warn } from "./verdict.ts";

const MOST_PAGES = 1_000;
const MOST_MS = 20_000;
const METHOD_NOT_FOUND = -32601;

const LISTS: Readonly<Record<ListName, readonly [method: string, capability: string]>> = {
  tools: ["tools/list", "tools"],
  resources: ["resources/list", "resources"],
  resourceTemplates: ["resources/templates/list", "resources"],
  prompts: ["prompts/list", "prompts"],
};

/** Fetches them in the era of the conversation. */
export async function fetchLists(talk: Conversation, capabilities: Members): Promise<Lists> {
  const entries: Array<readonly [ListName, FetchedList]> = [];
  for (const [key, [method, capability]] of Object.entries(LISTS)) {
    const list = await fetchList(talk, method, key as ListName, capabilities[capability] !== undefined);
    entries.push([key as ListName, list]);
  }
  return Object.fromEntries(entries) as unknown as Lists;
}

async function fetchList(
  talk: Conversation,
  method: string,
  key: ListName,
  declared: boolean,
): Promise<FetchedList> {
  const pages: RawLine[] = [];
  const items: Members[] = [];
  const seen = new Set<string>();
  const began = talk.process.now();
  let cursor: string | undefined;
  const done = (finding: Finding): FetchedList => ({
    method,
    key,
    declared,
    items,
    pages,
    paged: seen.size > 0,
    finding,
  });
  for (;;) {
    const asked = talk.ask(method, cursor === undefined ? {} : { cursor });
    const { line: page, shown } = await talk.exchange(asked);
    if (page === undefined) {
      await talk.settle();
      return done((declared ? fail : warn)(`no answer to ${method}`, shown));
    }
    if (page.kind === "error") return done(judgeError(method, page, declared, shown));
    pages.push(page);
    const found = resultOf(page)[key];
    if (!Array.isArray(found)) return done(fail(`${method}: "${key}" is no array`, shown));
    items.push(...found.filter(isObject));
    if (found.some((each) => !isObject(each))) {
      return done(fail(`${method}: an item that is no object`, shown));
    }
    const next = resultOf(page)["nextCursor"];
    if (next === undefined) break;
    if (typeof next !== "string") return done(fail(`${method}: "nextCursor" is no string`, shown));
    if (seen.has(next)) {
      return done(fail(`${method}: the same cursor came twice: the pages never end`, shown));
    }
    seen.add(next);
    cursor = next;
    if (pages.length >= MOST_PAGES || talk.process.now() - began > MOST_MS) {
      return done(fail(`${method}: no end after ${pages.length} pages`, shown));
    }
  }
  if (declared) return done(pass(`${method}: ${items.length} on ${pages.length} pages`));
  const first = talk.evidence({ line: pages[0] });
  return done(
    items.length > 0
      ? fail(`${method}: gives items, but the capability is not declared`, first)
      : note(`${method}: an empty list, though the capability is not declared`, first),
  );
}

function judgeError(
  method: string,
  page: RawLine,
  declared: boolean,
  shown: Evidence,
): Finding {
  const code = codeOf(page);
  if (!declared) {
    return code === METHOD_NOT_FOUND
      ? pass(`${method}: not served, and not declared`)
      : warn(`${method} is not declared, and answered with ${code} instead of ${METHOD_NOT_FOUND}`, shown);
  }
  if (method === "resources/templates/list" && code === METHOD_NOT_FOUND) {
    return note(`${method} is not served, though resources are declared`, shown);
  }
  return fail(`${method} is declared and answered with an error`, shown);
}
