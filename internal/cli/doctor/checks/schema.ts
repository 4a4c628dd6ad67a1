/** OUT-19: each result and notification against the schema of its revision. */

import { type Check, group, lineEvidence, type Watched, watchedLines, watchRow } from "../check.ts";
import { at, isObject } from "../raw_line.ts";
import { notificationProblems, resultProblems } from "../schemas/result_schemas.ts";
import { show } from "../shown.ts";
import { fail, type Finding, worstOf } from "../verdict.ts";

/** Members that a check of their own speaks about more clearly. */
const SAID_ELSEWHERE =
  /\b(?:ttlMs|cacheScope|resultType|inputSchema|outputSchema|supportedVersions|serverInfo|nextCursor|progressToken|_meta|uri|uriTemplate)\b/;
/** Methods whose result has a check of its own. */
const JUDGED_ELSEWHERE = new Set(["initialize", "server/discover"]);
const MOST_JUDGED = 400;

export const SCHEMA: readonly Check[] = group("stdout", [watchRow({
  id: "OUT-19",
  level: "MUST",
  title: "results and notifications fit the schema of their revision",
  place: { page: "schema" },
  sends: "nothing: it looks at each result and notification",
  mend: "look the type up in schema.ts of the revision",
  watch: async (watched) => worstOf(await judgeAll(watched)),
})]);

async function judgeAll(watched: Watched): Promise<Finding[]> {
  const found: Finding[] = [];
  const seen = new Set<string>();
  for (const { talk, line } of watchedLines(watched)) {
    if (seen.size >= MOST_JUDGED || line.text === undefined || talk.era === undefined) continue;
    const { message } = line;
    const asked = talk.askedFor(line);
    const isResult = line.kind === "result" && asked !== undefined;
    if (!isResult && line.kind !== "notification") continue;
    // What was asked in one era of a process is judged by that era.
    const version = isResult
      ? asked.modern ? "2026-07-28" : talk.era.modern ? undefined : talk.era.version
      : talk.era.version;
    const body = isResult ? at(message, "result") : message;
    if (version === undefined || !isObject(body) || isResult && JUDGED_ELSEWHERE.has(asked.method)) continue;
    const key = `${version} ${isResult ? asked.method : ""} ${JSON.stringify(body)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const problems = isResult
      ? await resultProblems(version, asked.method, body)
      : await notificationProblems(version, body);
    const own = problems.filter((problem) => !SAID_ELSEWHERE.test(problem));
    if (own.length === 0 || problems.length > own.length) continue;
    const name = isResult ? asked.method : String(message!["method"]);
    found.push(fail(`${name}: ${show(deepest(own), 120)}`, lineEvidence({ talk, line })));
  }
  return found;
}

/** The problem that lies deepest says most. */
function deepest(problems: readonly string[]): string {
  const depth = (problem: string) => problem.split(":")[0]!.split(".").length;
  return [...problems].sort((one, other) => depth(other) - depth(one))[0]!;
}
