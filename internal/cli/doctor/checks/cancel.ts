/** CAN, and LOAD-03: what a cancellation does, and what a slow call holds up. */

import { type Check, group, type Row, sharedRow, type Trial } from "../check.ts";
import { type Asked, type Conversation, isAnswerTo, requestOf } from "../conversation.ts";
import { fenceMethod, initializeParams } from "../era.ts";
import { realMethod } from "./eras.ts";
import { at, type RawLine } from "../raw_line.ts";
import { showMs } from "../shown.ts";
import { needsSlow, noteCall } from "../tool_choice.ts";
import { fail, type Finding, note, pass, skip, unknown, warn } from "../verdict.ts";

const BEHAVIOR = { page: "basic/patterns/cancellation", heading: "Behavior Requirements" } as const;
const REFERENCE_MS = 30_000;
const BUSY_CPU_MS = 500;

/** What was seen of a call that was cancelled. */
interface CancelledCall {
  readonly talk: Conversation;
  readonly call: Asked;
  /** The order in which the call and a request behind it were answered; undefined if neither was. */
  readonly isOvertaken: boolean;
  readonly answeredEarly: boolean;
  /** What came for the call behind the fence that followed the cancellation. */
  readonly late: RawLine | undefined;
  /** How long the same call takes when nobody cancels it; undefined if that took too long. */
  readonly referenceMs: number | undefined;
  readonly waitedMs: number;
  readonly cpuMs: number | undefined;
}

/** Calls the slow tool twice at the same moment, cancels one, and watches it until the other is done. */
function cancelCall(trial: Trial): Promise<CancelledCall> {
  return trial.once("cancelled call", async () => {
    const { slow } = trial.options;
    noteCall(trial, { ...slow!, why: "named by --slow" });
    const reference = await trial.open();
    const talk = await trial.open();
    const params = { name: slow!.name, arguments: slow!.args };
    const asIs = reference.ask("tools/call", params);
    const call = talk.ask("tools/call", params, { id: "slow-1", meta: { progressToken: "slow-token" } });
    await talk.fence();
    const isOvertaken = talk.found(call) === undefined;
    const cpuBefore = talk.process.cpuMs;
    await talk.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "slow-1", reason: "mcp-stdio doctor" },
    });
    const answeredEarly = talk.found(call) !== undefined;
    await talk.fence();
    const free = talk.lines.length;
    const began = talk.process.now();
    const patience = trial.bound(REFERENCE_MS);
    const done = reference.answer(asIs, patience);
    const referenceLine = await done;
    const cpuAfter = talk.process.cpuMs;
    await talk.fence();
    await trial.close(talk);
    await trial.close(reference);
    return {
      talk,
      call,
      isOvertaken,
      answeredEarly,
      late: talk.lines.slice(free).find((line) => isAbout(line, call)),
      referenceMs: referenceLine === undefined ? undefined : referenceLine.at - asIs.at,
      waitedMs: talk.process.now() - began,
      cpuMs: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
    };
  });
}

/** Whether a line answers the call, or reports its progress. */
function isAbout(line: RawLine, call: Asked): boolean {
  return isAnswerTo(line, call.id) || at(line.message, "params", "progressToken") === "slow-token";
}

export const CANCEL: readonly Check[] = group("cancel", [
  sharedRow({
    id: "CAN-01",
    level: "SHOULD",
    title: "pointless cancellations are ignored",
    place: { page: "basic/patterns/cancellation", heading: "Error Handling" },
    sends:
      "notifications/cancelled of an unknown id, of one that is finished, of null, of none, of an object; a reason that is 5; no params",
    mend: "look the id up, and do nothing if it is not there",
    async run(talk) {
      const from = talk.lines.length;
      const finished = await talk.fence();
      const params = [
        { requestId: "doctor-none" },
        { requestId: finished.message!["id"] },
        { requestId: null },
        {},
        { requestId: { a: 1 } },
        { requestId: "doctor-none", reason: 5 },
        undefined,
      ];
      for (const each of params) {
        await talk.send({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          ...each === undefined ? {} : { params: each },
        });
        await talk.fence();
      }
      const answers = talk.lines.slice(from).filter((line) =>
        line.kind === "error" && (line.message!["id"] ?? null) === null
      );
      return answers.length === 0
        ? pass(`${params.length} were ignored`)
        : warn("a cancellation is answered: see NOTE-01 and NOTE-02", talk.evidence({ line: answers[0] }));
    },
  }),
  sharedRow({
    id: "CAN-02",
    level: "MUST",
    title: "an answer and its cancellation may meet",
    place: { page: "basic/patterns/cancellation", heading: "Timing Considerations" },
    sends: "a request and its cancellation in one write",
    mend: "nothing more is sent for a cancelled request",
    async run(talk, trial) {
      const id = talk.newId();
      const method = trial.era.modern ? realMethod(trial) : fenceMethod(trial.era);
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
      const request = requestOf(trial.era, method, undefined, id);
      talk.write(`${JSON.stringify(request)}\n${JSON.stringify(cancelled)}\n`);
      const asked = talk.asked.at(-1)!;
      await talk.settle();
      const line = talk.found(asked);
      if (line === undefined) return pass("nothing comes");
      return line.kind === "result"
        ? pass("it is answered")
        : note("an error comes", talk.evidence({ sent: asked, line }));
    },
  }),
  {
    id: "CAN-03",
    level: "MUST",
    levelIn: (era) => era.modern ? "MUST" : "SHOULD",
    eras: "any",
    how: "own",
    title: "nothing comes for a cancelled request",
    place: { page: "basic/transports/stdio", heading: "Cancellation" },
    legacyPlace: BEHAVIOR,
    sends:
      "a slow call (--slow) with a progress token, a request, its cancellation, a request; until the same call in another process is done",
    mend: "look at signal.aborted before each write; do not make an error answer of the cancellation",
    async run(trial): Promise<Finding> {
      if (trial.options.slow === undefined) return skip(needsSlow(trial));
      const { talk, call, isOvertaken, answeredEarly, late, referenceMs, waitedMs } = await cancelCall(trial);
      const shown = talk.evidence({ sent: call, line: late, waitedMs: Math.round(waitedMs) });
      if (late !== undefined) {
        const say = trial.era.modern ? fail : warn;
        const what = late.kind === "notification"
          ? String(late.message!["method"])
          : late.kind === "error"
          ? "an error"
          : "a result";
        return say(`${what} comes for a call that was cancelled`, shown);
      }
      if (answeredEarly || !isOvertaken) {
        return unknown("the call was answered before it could be cancelled", shown);
      }
      return referenceMs === undefined
        ? unknown(`nothing within ${showMs(waitedMs)}; the call takes longer`, shown)
        : pass(`nothing within ${showMs(waitedMs)}, which is what the call takes`);
    },
  },
  {
    id: "CAN-04",
    level: "SHOULD",
    most: "note",
    eras: "any",
    how: "own",
    title: "work stops when it is cancelled",
    place: BEHAVIOR,
    sends: "the same call",
    mend: "hand the signal on to what does the work",
    async run(trial) {
      if (trial.options.slow === undefined) return skip(needsSlow(trial));
      const { cpuMs, waitedMs } = await cancelCall(trial);
      if (cpuMs === undefined) return skip("only on Linux");
      return cpuMs >= BUSY_CPU_MS
        ? note(`${showMs(cpuMs)} of CPU in the ${showMs(waitedMs)} behind the cancellation`)
        : pass(`${showMs(cpuMs)} of CPU`);
    },
  },
  {
    id: "CAN-05",
    level: "ADVICE",
    eras: "legacy",
    how: "own",
    title: "initialize cannot be cancelled",
    place: { page: "basic/utilities/cancellation", heading: "Behavior Requirements" },
    sends: "initialize and its cancellation in one write",
    mend: "pass over a cancellation of initialize",
    async run(trial) {
      const talk = await trial.start();
      talk.era = trial.era;
      const id = talk.newId();
      const request = {
        jsonrpc: "2.0",
        id,
        method: "initialize",
        params: initializeParams(trial.era.version),
      };
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
      talk.write(`${JSON.stringify(request)}\n${JSON.stringify(cancelled)}\n`);
      const line = await talk.answer(talk.asked[0]!, trial.bound(5_000));
      return line?.kind === "result"
        ? pass("it is answered")
        : note("no result comes", talk.evidence({ sent: talk.asked[0], line }));
    },
  },
]);

/** Belongs to the group of load, and is seen in the same conversation. */
export const OVERTAKING: Row = {
  id: "LOAD-03",
  level: "ADVICE",
  eras: "any",
  how: "own",
  title: "a request does not wait behind a slow call",
  place: { page: "advice" },
  sends: "a slow call (--slow), and a request behind it",
  mend: "do not await the handler in the read loop; Python: no blocking code in async def",
  async run(trial) {
    if (trial.options.slow === undefined) return skip(needsSlow(trial));
    const { isOvertaken } = await cancelCall(trial);
    return isOvertaken ? pass("it overtakes the call") : note("it is answered after the call");
  },
};
