/** PROG and LOG: reports of what runs, only when they are asked for. */

import { type Check, group, judgeCode, ownRow, sharedRow, type Trial, Unmet } from "../check.ts";
import { LOG_LEVEL } from "../era.ts";
import { at, type Members, objectAt, type RawLine } from "../raw_line.ts";
import { type CallableTool, callTool, chooseTool, needNamed } from "../tool_choice.ts";
import { fail, type Finding, note, pass, skip, unknown, warn } from "../verdict.ts";
import { realMethod } from "./eras.ts";

const BEHAVIOR = { page: "basic/patterns/progress", heading: "Behavior Requirements" } as const;
const MOST_A_SECOND = 1_000;
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/**
 * The tool that reports progress, or one that might.
 *
 * @throws {Unmet} If none may be called.
 */
function needProgressTool(trial: Trial): CallableTool {
  const { progress, slow } = trial.options;
  if (progress !== undefined) return { ...progress, why: "named by --progress" };
  if (slow !== undefined) return { ...slow, why: "named by --slow" };
  const chosen = chooseTool(trial);
  if (typeof chosen === "string") throw new Unmet(skip(`${chosen}, or --progress NAME`));
  return chosen;
}

/** What came during a call with a token, and behind it. */
interface Watched {
  readonly notifications: readonly RawLine[];
  readonly answer: RawLine | undefined;
  readonly finding: Finding | undefined;
}

async function callWithToken(
  trial: Trial,
  tool: CallableTool,
  token: number | string | undefined,
): Promise<Watched> {
  const talk = await trial.open();
  const asked = callTool(talk, trial, tool, token === undefined ? {} : { meta: { progressToken: token } });
  const answer = await talk.answer(asked, trial.bound(60_000));
  await talk.settle();
  await trial.close(talk);
  const notifications = talk.lines.filter(({ message }) => message?.["method"] === "notifications/progress");
  const answered = answer?.index ?? Infinity;
  let last = -Infinity;
  const fault = (line: RawLine): string | undefined => {
    const { progress, progressToken } = objectAt(line, "params");
    const before = last;
    last = Number(progress);
    if (token === undefined) return "progress comes though no token was given";
    if (progressToken !== token) {
      return `the token comes back as ${JSON.stringify(progressToken)} instead of ${JSON.stringify(token)}`;
    }
    if (typeof progress !== "number") return "progress is no number";
    if (progress <= before) return `progress does not rise: ${progress} behind ${before}`;
    return line.index > answered ? "progress comes behind the answer" : undefined;
  };
  let finding: Finding | undefined;
  for (const line of notifications) {
    const what = fault(line);
    if (what !== undefined) finding ??= fail(what, talk.evidence({ sent: asked, line }));
  }
  return { notifications, answer, finding };
}

function withToken(trial: Trial, tool: CallableTool, token: number | string): Promise<Watched> {
  return trial.once(`progress ${typeof token}`, () => callWithToken(trial, tool, token));
}

export const PROGRESS: readonly Check[] = group("progress", [
  ownRow({
    id: "PROG-01",
    level: "MUST",
    title: "progress has its token, rises, and ends with the answer",
    place: BEHAVIOR,
    sends: 'a tool that reports progress (--progress), with the token 7, then "7"',
    mend: "send the token back as it came; count up; nothing behind the answer",
    async run(trial) {
      const tool = needProgressTool(trial);
      let count = 0;
      for (const token of [7, "7"]) {
        const { finding, notifications, answer } = await withToken(trial, tool, token);
        if (finding !== undefined) return finding;
        if (answer === undefined) return unknown(`${tool.name} has not answered`);
        count += notifications.length;
      }
      return count < 2
        ? unknown(`${tool.name} reports none: name a tool with --progress`)
        : pass(`${count} reports of ${tool.name}`);
    },
  }),
  ownRow({
    id: "PROG-02",
    level: "MUST",
    title: "no progress without a token",
    place: BEHAVIOR,
    sends: "the same tool without a token",
    mend: "if (token === undefined) return; before a report",
    async run(trial) {
      const tool = needProgressTool(trial);
      const { finding, answer } = await callWithToken(trial, tool, undefined);
      if (finding !== undefined) return finding;
      return answer === undefined ? unknown(`${tool.name} has not answered`) : pass("none came");
    },
  }),
  ownRow({
    id: "PROG-03",
    level: "SHOULD",
    most: "note",
    title: "reports are not a flood",
    place: { page: "basic/patterns/progress", heading: "Implementation Notes" },
    sends: "the same tool with a token",
    mend: "some ten a second are enough",
    async run(trial) {
      const tool = needProgressTool(trial);
      const { notifications } = await withToken(trial, tool, 7);
      const most = Math.max(
        0,
        ...notifications.map(({ at: from }) =>
          notifications.filter((each) => each.at >= from && each.at < from + 1_000).length
        ),
      );
      return most > MOST_A_SECOND ? note(`${most} reports in a second`) : pass(`at most ${most} in a second`);
    },
  }),
  sharedRow({
    id: "LOG-01",
    level: "SHOULD",
    title: "an unknown level is refused",
    place: { page: "server/utilities/logging", heading: "Error Handling" },
    sends: 'the level "loud": in _meta of a request (modern), by logging/setLevel (legacy)',
    mend: "answer -32602",
    async run(talk, trial) {
      if (!("logging" in talk.capabilities) && !trial.era.modern) {
        return skip("the server declares no logging");
      }
      const asked = trial.era.modern
        ? talk.ask(realMethod(trial), undefined, { meta: { [LOG_LEVEL]: "loud" } })
        : talk.ask("logging/setLevel", { level: "loud" });
      const { line, shown } = await talk.exchange(asked);
      if (line === undefined) return warn("no answer", shown);
      if (line.kind === "error") return judgeCode(line, [-32602], note, shown);
      return "logging" in talk.capabilities
        ? warn("an unknown level is taken", shown)
        : note("an unknown level is taken; no logging is declared", shown);
    },
  }),
  ownRow({
    id: "LOG-02",
    level: "MUST",
    eras: "modern",
    title: "log messages come when asked for, at the level or above",
    place: { page: "server/utilities/logging", heading: "Per-request log level" },
    sends: 'a tool that logs (--log), without a logLevel, then with "error"',
    mend: "compare with the logLevel of the request; without one nothing is sent",
    async run(trial) {
      const log = needNamed(trial, "log", "needs a tool that logs: --log NAME --log-args JSON");
      const talk = await trial.open();
      const logs = () => talk.lines.filter(({ message }) => message?.["method"] === "notifications/message");
      const call = async (meta: Members) => {
        await talk.answer(callTool(talk, trial, log, { meta }), trial.bound(30_000));
        await talk.settle();
      };
      await call({});
      if (logs().length > 0) {
        return fail("a log message came though no logLevel was given", talk.evidence({ line: logs()[0] }));
      }
      await call({ [LOG_LEVEL]: "error" });
      const low = logs().find(({ message }) =>
        LEVELS.indexOf(String(at(message, "params", "level"))) < LEVELS.indexOf("error")
      );
      if (low !== undefined) return fail("a log message below the level came", talk.evidence({ line: low }));
      const above = logs().length;
      await call({ [LOG_LEVEL]: "debug" });
      return logs().length === above
        ? unknown(`${log.name} logs nothing`)
        : pass(`${logs().length} messages of ${log.name}`);
    },
  }),
]);
