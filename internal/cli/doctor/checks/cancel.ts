/** CAN, and LOAD-03: what a cancellation does, and what a slow call holds up. */

import { type Check, group, ownRow, type Row, sharedRow, type Trial } from "../check.ts";
import type { Asked, Conversation } from "../conversation.ts";
import { cancellation, fenceMethod, initializeParams, NO_ID, requestOf } from "../era.ts";
import { realMethod } from "./eras.ts";
import { at, isAnswerTo, isNullAnswer, type RawLine } from "../raw_line.ts";
import { showMs } from "../shown.ts";
import { callTool, needSlow } from "../tool_choice.ts";
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
    const slow = needSlow(trial);
    const reference = await trial.open();
    const talk = await trial.open();
    const asIs = callTool(reference, trial, slow);
    const call = callTool(talk, trial, slow, { id: "slow-1", meta: { progressToken: "slow-token" } });
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
    const referenceLine = await reference.answer(asIs, trial.bound(REFERENCE_MS));
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
      const cancellations = [
        cancellation(NO_ID),
        cancellation(finished.message!["id"]),
        cancellation(null),
        { ...cancellation(NO_ID), params: {} },
        cancellation({ a: 1 }),
        { ...cancellation(NO_ID), params: { requestId: NO_ID, reason: 5 } },
        { ...cancellation(NO_ID), params: undefined },
      ];
      for (const each of cancellations) {
        await talk.send(each);
        await talk.fence();
      }
      const answer = talk.lines.slice(from).find((line) => line.kind === "error" && isNullAnswer(line));
      return answer === undefined
        ? pass(`${cancellations.length} were ignored`)
        : warn("a cancellation is answered: see NOTE-01 and NOTE-02", talk.evidence({ line: answer }));
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
      const request = requestOf(trial.era, method, undefined, id);
      talk.write(`${JSON.stringify(request)}\n${JSON.stringify(cancellation(id))}\n`);
      const asked = talk.asked.at(-1)!;
      await talk.settle();
      const line = talk.found(asked);
      if (line === undefined) return pass("nothing comes");
      return line.kind === "result"
        ? pass("it is answered")
        : note("an error comes", talk.evidence({ sent: asked, line }));
    },
  }),
  ownRow({
    id: "CAN-03",
    level: "MUST",
    levelIn: (era) => era.modern ? "MUST" : "SHOULD",
    title: "nothing comes for a cancelled request",
    place: { page: "basic/transports/stdio", heading: "Cancellation" },
    legacyPlace: BEHAVIOR,
    sends:
      "a slow call (--slow) with a progress token, a request, its cancellation, a request; until the same call in another process is done",
    mend: "look at signal.aborted before each write; do not make an error answer of the cancellation",
    async run(trial): Promise<Finding> {
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
  }),
  ownRow({
    id: "CAN-04",
    level: "SHOULD",
    most: "note",
    title: "work stops when it is cancelled",
    place: BEHAVIOR,
    sends: "the same call",
    mend: "hand the signal on to what does the work",
    async run(trial) {
      const { cpuMs, waitedMs } = await cancelCall(trial);
      if (cpuMs === undefined) return skip("only on Linux");
      return cpuMs >= BUSY_CPU_MS
        ? note(`${showMs(cpuMs)} of CPU in the ${showMs(waitedMs)} behind the cancellation`)
        : pass(`${showMs(cpuMs)} of CPU`);
    },
  }),
  ownRow({
    id: "CAN-05",
    level: "ADVICE",
    eras: "legacy",
    title: "initialize cannot be cancelled",
    place: { page: "basic/utilities/cancellation", heading: "Behavior Requirements" },
    sends: "initialize and its cancellation in one write",
    mend: "pass over a cancellation of initialize",
    async run(trial) {
      const talk = await trial.start();
      talk.era = trial.era;
      const id = talk.newId();
      const params = initializeParams(trial.era.version);
      const request = { jsonrpc: "2.0", id, method: "initialize", params };
      talk.write(`${JSON.stringify(request)}\n${JSON.stringify(cancellation(id))}\n`);
      const { line, shown } = await talk.exchange(talk.asked[0]!, trial.bound(5_000));
      return line?.kind === "result" ? pass("it is answered") : note("no result comes", shown);
    },
  }),
]);

/** Belongs to the group of load, and is seen in the same conversation. */
export const OVERTAKING: Row = ownRow({
  id: "LOAD-03",
  level: "ADVICE",
  title: "a request does not wait behind a slow call",
  place: { page: "advice" },
  sends: "a slow call (--slow), and a request behind it",
  mend: "do not await the handler in the read loop; Python: no blocking code in async def",
  async run(trial) {
    const { isOvertaken } = await cancelCall(trial);
    return isOvertaken ? pass("it overtakes the call") : note("it is answered after the call");
  },
});
