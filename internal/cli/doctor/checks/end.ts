/** END: the end of input, signals, a client that is gone, and what is left. */

import { type Check, group, ownRow, type Row, type Trial, watchRow } from "../check.ts";
import { type Conversation, describeExit } from "../conversation.ts";
import { startMs } from "../facts.ts";
import { pauseFor } from "../raw_process.ts";
import type { Signal } from "../../../../runtime.ts";
import { listed, show, showMs } from "../shown.ts";
import { callTool, needSlow } from "../tool_choice.ts";
import { type Evidence, type Finding, note, pass, skip, warn, worstOf } from "../verdict.ts";
import { requestText } from "../era.ts";

const SHUTDOWN = { page: "basic/transports/stdio", heading: "Shutdown" } as const;
const LEGACY_SHUTDOWN = { page: "basic/lifecycle", heading: "Shutdown" } as const;
const ADVICE = { page: "advice" } as const;
const SOON_MS = 2_000;
const LONG_MS = 10_000;
const MANY = 20;
const BUSY_CPU_MS = 500;
const SOME_CPU_MS = 20;
const READ_MS = 1_500;
const DEEP_CALLS = 600;

/** Ends the input and waits for the exit; what was found, and how long it took. */
async function endInput(talk: Conversation, limitMs: number): Promise<{ exited: boolean; ms: number }> {
  const began = talk.process.now();
  talk.process.endInput();
  const exited = await talk.process.exitedWithin(limitMs);
  return { exited, ms: talk.process.now() - began };
}

function evidenceOf(talk: Conversation, ms?: number): Evidence {
  return {
    ...talk.evidence(),
    got: show(talk.process.stderr.lastLines(2)) || undefined,
    waitedMs: ms === undefined ? undefined : Math.round(ms),
  };
}

/** Ends what lives on, and says what it took. */
async function livesOn(talk: Conversation, ms: number, said = "it lives on"): Promise<Finding> {
  const { step, exit } = await talk.close({ graceMs: 0 });
  const took = `${step === "kill" ? "SIGKILL" : "SIGTERM"} ended it (${describeExit(exit)})`;
  return warn(`${said}; ${took}`, evidenceOf(talk, ms));
}

function judgeExit(talk: Conversation, ms: number): Finding {
  const { exit } = talk.process;
  const said = `it ends after ${showMs(ms)} with ${describeExit(exit ?? null)}`;
  if (ms > SOON_MS) return warn(said, evidenceOf(talk, ms));
  return exit?.code === 0 ? pass(said) : note(said, evidenceOf(talk));
}

export const END: readonly Check[] = group("end", [
  ownRow({
    id: "END-01",
    level: "SHOULD",
    eras: "each",
    quick: true,
    title: "it ends when its input ends",
    place: SHUTDOWN,
    legacyPlace: LEGACY_SHUTDOWN,
    sends: "the end of input, behind the greeting",
    mend:
      'TS: process.stdin.on("end", …), timer.unref(), close servers and pools; Python: mcp.run() returns by itself: end your threads (daemon=True)',
    async run(trial) {
      const talk = await trial.open();
      const { exited, ms } = await endInput(talk, trial.bound(LONG_MS));
      if (exited) return judgeExit(talk, ms);
      trial.facts.ignoresEof = true;
      return await livesOn(talk, ms, "it lives on after the end of its input");
    },
  }),
  ownRow({
    id: "END-02",
    level: "SHOULD",
    title: "it ends when there is no input",
    place: SHUTDOWN,
    legacyPlace: LEGACY_SHUTDOWN,
    sends: "nothing: stdin is /dev/null",
    mend: "end at the end of input, also when it is the first thing that comes (docker run without -i)",
    async run(trial) {
      const talk = await trial.start({ script: 'exec "$@" </dev/null' });
      const limitMs = Math.max(trial.bound(LONG_MS), 2 * startMs(trial.facts));
      const exited = await talk.process.exitedWithin(limitMs);
      if (!exited) return await livesOn(talk, limitMs);
      const { exit } = talk.process;
      return exit?.code === 0
        ? pass("code 0")
        : note(`it ends with ${describeExit(exit ?? null)}`, evidenceOf(talk));
    },
  }),
  ownRow({
    id: "END-03",
    level: "ADVICE",
    most: "warn",
    title: "what was asked before the end is answered",
    place: ADVICE,
    sends: `${MANY} requests and the end of input in one go`,
    mend: "answer what runs, then end; no process.exit() behind a write",
    async run(trial) {
      const talk = await trial.open();
      const asked = talk.askMany(MANY);
      await endInput(talk, trial.bound(LONG_MS));
      await trial.close(talk);
      const { rest } = talk.process;
      if (rest.length > 0) {
        return warn("the last answer is cut", { ...talk.evidence(), got: show(rest.subarray(-80)) });
      }
      const lost = asked.filter((each) => talk.found(each) === undefined).length;
      return lost === 0 ? pass(`${MANY} of ${MANY}`) : note(`${lost} of ${MANY} answers are lost`);
    },
  }),
  ownRow({
    id: "END-04",
    level: "SHOULD",
    title: "it ends when its input ends within a line",
    place: SHUTDOWN,
    legacyPlace: LEGACY_SHUTDOWN,
    sends: "a request without LF, and the end of input",
    mend: "the end of input ends, whatever stands in the buffer",
    async run(trial) {
      const talk = await trial.open();
      const id = talk.newId();
      talk.looseIds.add(JSON.stringify(id));
      await talk.write(requestText(trial.era, id));
      const { exited, ms } = await endInput(talk, trial.bound(LONG_MS));
      if (!exited) return await livesOn(talk, ms);
      await trial.close(talk);
      const answered = talk.lines.some(({ message }) => message?.["id"] === id);
      return pass(
        `it ends after ${showMs(ms)} and ${answered ? "answers" : "does not answer"} the half line`,
      );
    },
  }),
  signalCheck("END-05", "SIGTERM", "warn"),
  ownRow({
    id: "END-06",
    level: "ADVICE",
    most: "warn",
    title: "it ends when the client is gone",
    place: ADVICE,
    sends: "its stdout is closed, then 50 requests, then the end of input",
    mend: 'process.stdout.on("error", …): end quietly at EPIPE; Python: catch BrokenPipeError',
    async run(trial) {
      const talk = await trial.open();
      talk.process.stderr.unhandled = undefined;
      await talk.process.closeOutput();
      await writeToGone(talk, trial, 50);
      const { exited, ms } = await endInput(talk, trial.bound(LONG_MS));
      return exited ? judgeGone(talk, ms) : await livesOn(talk, ms, `an orphan after ${showMs(ms)}`);
    },
  }),
  ownRow({
    id: "END-07",
    level: "ADVICE",
    most: "warn",
    title: "it does not spin when its stdout is gone",
    place: ADVICE,
    sends: "its stdout is closed, then 20 requests; its stdin stays open",
    mend: "end at EPIPE",
    async run(trial) {
      const talk = await trial.open();
      await talk.process.closeOutput();
      const idle = talk.process.cpuMs ?? 0;
      await writeToGone(talk, trial, MANY);
      // Nothing comes that could be waited for; that it works is a sign that it has read them.
      for (let waited = 0; waited < READ_MS && (talk.process.cpuMs ?? 0) <= idle; waited += 100) {
        if (await talk.process.exitedWithin(100)) break;
      }
      const before = talk.process.cpuMs;
      const spent = before === undefined ? 0 : await cpuSpent(talk, before);
      if (spent > BUSY_CPU_MS) return warn(`it spins: ${showMs(spent)} of CPU for nothing`, evidenceOf(talk));
      const left = talk.process.exit !== undefined;
      const { exited, ms } = await endInput(talk, trial.bound(LONG_MS));
      if (!exited) return await livesOn(talk, ms, "it lives on after the end of its input");
      return pass(left ? "it ends at once" : "it is quiet, and ends with its input");
    },
  }),
  ownRow({
    id: "END-08",
    level: "SHOULD",
    title: "a call that runs does not keep it alive",
    place: SHUTDOWN,
    legacyPlace: LEGACY_SHUTDOWN,
    sends: "a slow call (--slow), and the end of input while it runs",
    mend: "end calls by their signal when the input ends",
    async run(trial) {
      const slow = needSlow(trial);
      const talk = await trial.open();
      const call = callTool(talk, trial, slow);
      await talk.fence();
      const { exited, ms } = await endInput(talk, trial.bound(LONG_MS));
      if (!exited) return await livesOn(talk, ms);
      await trial.close(talk);
      return pass(
        `it ends after ${showMs(ms)}, ${talk.found(call) === undefined ? "without" : "with"} the answer`,
      );
    },
  }),
  watchRow({
    id: "END-09",
    level: "SHOULD",
    title: "nothing is left running",
    place: SHUTDOWN,
    legacyPlace: LEGACY_SHUTDOWN,
    sends: "nothing: it looks for processes that carry the mark of this run, behind each exit",
    mend: "end what you have started before you end",
    watch: ({ talks }) =>
      worstOf(
        talks.filter(({ process }) => (process.end?.leftovers.length ?? 0) > 0).map((talk) =>
          warn("processes are left running", {
            ...talk.evidence(),
            got: show(listed(talk.process.end!.leftovers)),
          })
        ),
      ),
  }),
  signalCheck("END-10", "SIGINT", "note"),
  ownRow({
    id: "END-11",
    level: "ADVICE",
    most: "warn",
    deep: true,
    title: "it ends when its parent is killed",
    place: ADVICE,
    sends: "SIGKILL to the process that has started it; both pipes close",
    mend: "end at the end of input and at EPIPE",
    async run(trial) {
      if (trial.options.runtime.os === "windows") return skip("not on Windows");
      const talk = await trial.open({ script: 'exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait' });
      const server = talk.process.tree()?.find(({ parentPid }) => parentPid === talk.process.pid);
      if (server === undefined) return skip("only on Linux");
      talk.process.killAlone();
      await talk.process.exitedWithin(trial.bound(5_000));
      await talk.process.closeOutput();
      talk.process.endInput();
      const began = talk.process.now();
      while (talk.process.left().length > 0 && talk.process.now() - began < trial.bound(LONG_MS)) {
        await pauseFor(20);
      }
      const ms = talk.process.now() - began;
      return talk.process.left().length === 0
        ? pass(`it ends after ${showMs(ms)}`)
        : warn(`an orphan after ${showMs(ms)}`, talk.evidence());
    },
  }),
  ownRow({
    id: "END-12",
    level: "ADVICE",
    most: "warn",
    deep: true,
    title: "a full queue does not hide the end",
    place: ADVICE,
    sends: `${DEEP_CALLS} slow calls (--slow), and the end of input`,
    mend: "read on while calls wait, so that the end is seen",
    async run(trial) {
      const slow = needSlow(trial);
      const talk = await trial.open();
      for (let count = 0; count < DEEP_CALLS; count++) callTool(talk, trial, slow);
      const { exited, ms } = await endInput(talk, trial.bound(15_000));
      return exited ? pass(`it ends after ${showMs(ms)}`) : await livesOn(talk, ms);
    },
  }),
]);

/** A read under way takes the first answer yet, and holds the pipe open until then: the rest follows some time after. */
async function writeToGone(talk: Conversation, trial: Trial, count: number): Promise<void> {
  const request = `${requestText(trial.era, "gone")}\n`;
  for (let sent = 0; sent < count && talk.process.exit === undefined; sent += 10) {
    talk.write(request.repeat(sent === 0 ? 1 : 10));
    await talk.process.exitedWithin(50);
  }
}

function judgeGone(talk: Conversation, ms: number): Finding {
  const { exit, stderr } = talk.process;
  if (stderr.unhandled !== undefined) {
    return note("it ends with a stack trace on stderr", { ...evidenceOf(talk), got: show(stderr.unhandled) });
  }
  if (exit?.code !== 0) return note(`it ends with ${describeExit(exit ?? null)}`, evidenceOf(talk));
  return ms > 5_000 ? note(`it ends after ${showMs(ms)}`) : pass(`it ends after ${showMs(ms)} with code 0`);
}

function signalCheck(id: string, signal: Signal, most: "warn" | "note"): Row {
  return ownRow({
    id,
    level: "ADVICE",
    most,
    title: `${signal} ends it`,
    place: ADVICE,
    sends: signal,
    mend: `leave ${signal} to its default, or end within some seconds`,
    run: (trial) => sendSignal(trial, signal),
  });
}

async function sendSignal(trial: Trial, signal: Signal): Promise<Finding> {
  if (trial.options.runtime.os === "windows") return skip("not on Windows");
  const talk = await trial.open();
  const began = talk.process.now();
  talk.process.signal(signal);
  const limitMs = trial.bound(6_000);
  const exited = await talk.process.exitedWithin(limitMs);
  const ms = talk.process.now() - began;
  if (!exited) return await livesOn(talk, limitMs);
  const { exit } = talk.process;
  const number = signal === "SIGTERM" ? 15 : 2;
  const isUsual = exit?.code === 0 || exit?.code === 128 + number || exit?.signal === signal;
  const said = `it ends after ${showMs(ms)} with ${describeExit(exit ?? null)}`;
  return isUsual ? pass(said) : note(said, evidenceOf(talk));
}

/** What it spends within a second; one that spends anything is watched longer, since others may keep it from more. */
async function cpuSpent(talk: Conversation, before: number): Promise<number> {
  for (let seconds = 0; seconds < 10; seconds++) {
    if (await talk.process.exitedWithin(1_000)) return 0;
    const spent = (talk.process.cpuMs ?? before) - before;
    if (spent < SOME_CPU_MS || spent > BUSY_CPU_MS) return spent;
  }
  return (talk.process.cpuMs ?? before) - before;
}
