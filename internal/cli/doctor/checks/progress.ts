/** PROG and LOG: reports of what runs, only when they are asked for. */

import { type Check, group, sharedRow, type Trial } from "../check.ts";
import { codeOf, isAnswerTo, resultOf } from "../conversation.ts";
import { LOG_LEVEL } from "../era.ts";
import type { NamedTool } from "../options.ts";
import { at, type RawLine } from "../raw_line.ts";
import { chooseTool, noteCall } from "../tool_choice.ts";
import { fail, type Finding, note, pass, skip, unknown, warn } from "../verdict.ts";
import { realMethod } from "./eras.ts";

const BEHAVIOR = { page: "basic/patterns/progress", heading: "Behavior Requirements" } as const;
const MOST_A_SECOND = 1_000;
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** The tool that reports progress, or one that might. */
function progressTool(trial: Trial): (NamedTool & { why: string }) | string {
  const { progress, slow } = trial.options;
  if (progress !== undefined) return { ...progress, why: "named by --progress" };
  if (slow !== undefined) return { ...slow, why: "named by --slow" };
  const chosen = chooseTool(trial);
  return typeof chosen === "string" ? `${chosen}, or --progress NAME` : chosen;
}

/** What came during a call with a token, and behind it. */
interface Watched {
  readonly token: unknown;
  readonly notifications: readonly RawLine[];
  readonly answer: RawLine | undefined;
  readonly finding: Finding | undefined;
}

async function callWithToken(
  trial: Trial,
  tool: NamedTool,
  token: number | string | undefined,
): Promise<Watched> {
  const talk = await trial.open();
  const asked = talk.ask("tools/call", { name: tool.name, arguments: tool.args }, {
    ...token === undefined ? {} : { meta: { progressToken: token } },
  });
  const answer = await talk.answer(asked, trial.bound(60_000));
  await talk.settle();
  await trial.close(talk);
  const notifications = talk.lines.filter(({ message }) => message?.["method"] === "notifications/progress");
  const bad = (line: RawLine, what: string) => fail(what, talk.evidence({ sent: asked, line }));
  let finding: Finding | undefined;
  let last = -Infinity;
  for (const line of notifications) {
    const { progress, progressToken } = Object(at(line.message, "params")) as { [name: string]: unknown };
    if (token === undefined) finding ??= bad(line, "progress comes though no token was given");
    else if (progressToken !== token) {
      finding ??= bad(
        line,
        `the token comes back as ${JSON.stringify(progressToken)} instead of ${JSON.stringify(token)}`,
      );
    } else if (typeof progress !== "number") finding ??= bad(line, "progress is no number");
    else if (progress <= last) finding ??= bad(line, `progress does not rise: ${progress} behind ${last}`);
    else if (
      answer !== undefined && line.index > talk.lines.findIndex((each) => isAnswerTo(each, asked.id))
    ) {
      finding ??= bad(line, "progress comes behind the answer");
    }
    last = Number(progress);
  }
  return { token, notifications, answer, finding };
}

function withToken(trial: Trial, tool: NamedTool, token: number | string): Promise<Watched> {
  return trial.once(`progress ${typeof token}`, () => callWithToken(trial, tool, token));
}

export const PROGRESS: readonly Check[] = group("progress", [
  {
    id: "PROG-01",
    level: "MUST",
    eras: "any",
    how: "own",
    title: "progress has its token, rises, and ends with the answer",
    place: BEHAVIOR,
    sends: 'a tool that reports progress (--progress), with the token 7, then "7"',
    mend: "send the token back as it came; count up; nothing behind the answer",
    async run(trial) {
      const tool = progressTool(trial);
      if (typeof tool === "string") return skip(tool);
      noteCall(trial, tool);
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
  },
  {
    id: "PROG-02",
    level: "MUST",
    eras: "any",
    how: "own",
    title: "no progress without a token",
    place: BEHAVIOR,
    sends: "the same tool without a token",
    mend: "if (token === undefined) return; before a report",
    async run(trial) {
      const tool = progressTool(trial);
      if (typeof tool === "string") return skip(tool);
      noteCall(trial, tool);
      const { finding, answer } = await callWithToken(trial, tool, undefined);
      if (finding !== undefined) return finding;
      return answer === undefined ? unknown(`${tool.name} has not answered`) : pass("none came");
    },
  },
  {
    id: "PROG-03",
    level: "SHOULD",
    most: "note",
    eras: "any",
    how: "own",
    title: "reports are not a flood",
    place: { page: "basic/patterns/progress", heading: "Implementation Notes" },
    sends: "the same tool with a token",
    mend: "some ten a second are enough",
    async run(trial) {
      const tool = progressTool(trial);
      if (typeof tool === "string") return skip(tool);
      const { notifications } = await withToken(trial, tool, 7);
      const most = Math.max(
        0,
        ...notifications.map(({ at: from }) =>
          notifications.filter((each) => each.at >= from && each.at < from + 1_000).length
        ),
      );
      return most > MOST_A_SECOND ? note(`${most} reports in a second`) : pass(`at most ${most} in a second`);
    },
  },
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
      const line = await talk.answer(asked);
      const shown = talk.evidence({ sent: asked, line });
      if (line === undefined) return warn("no answer", shown);
      if (line.kind === "error") {
        return codeOf(line) === -32602
          ? pass("-32602")
          : note(`code ${codeOf(line)} instead of -32602`, shown);
      }
      return "logging" in talk.capabilities
        ? warn("an unknown level is taken", shown)
        : note("an unknown level is taken; no logging is declared", shown);
    },
  }),
  {
    id: "LOG-02",
    level: "MUST",
    eras: "modern",
    how: "own",
    title: "log messages come when asked for, at the level or above",
    place: { page: "server/utilities/logging", heading: "Per-request log level" },
    sends: 'a tool that logs (--log), without a logLevel, then with "error"',
    mend: "compare with the logLevel of the request; without one nothing is sent",
    async run(trial) {
      const { log } = trial.options;
      if (log === undefined) return skip("needs a tool that logs: --log NAME --log-args JSON");
      noteCall(trial, { ...log, why: "named by --log" });
      const talk = await trial.open();
      const logs = () => talk.lines.filter(({ message }) => message?.["method"] === "notifications/message");
      const call = async (meta?: { [name: string]: unknown }) => {
        const asked = talk.ask(
          "tools/call",
          { name: log.name, arguments: log.args },
          meta === undefined ? {} : { meta },
        );
        const line = await talk.answer(asked, trial.bound(30_000));
        await talk.settle();
        return resultOf(line);
      };
      await call();
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
  },
]);
