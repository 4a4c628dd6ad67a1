/** LOAD: what is not read, and much at once. */

import { FullPipe } from "../../../runtime/node_api/full_pipe.ts";
import { type Check, group, ownRow, sharedRow, type Trial } from "../check.ts";
import { type Conversation, Ended } from "../conversation.ts";
import { cancellation, fenceMethod, NO_ID } from "../era.ts";
import { listMethod } from "../facts.ts";
import { pauseFor, settles } from "../raw_process.ts";
import { showBytes } from "../shown.ts";
import { callTool, chooseTool } from "../tool_choice.ts";
import { type Finding, note, pass, skip, unknown, warn } from "../verdict.ts";
import { OVERTAKING } from "./cancel.ts";

const ADVICE = { page: "advice" } as const;
const UNREAD_BYTES = 16_000_000;
const MOST_UNREAD = 20_000;
const MOST_GROWTH_BYTES = 48_000_000;
/** So long it may take until it goes on. */
const UNDONE_MS = 20_000;
const STILL_MS = 2_000;
const MOST_STILL_MS = 30_000;
/** So much work within that time is more than an idle server does. */
const WORKING_CPU_MS = 50;
const BURST = 2_000;
const MOST_BURST_BYTES = 40_000_000;
const ONE_BY_ONE = 1_000;
const BAD_LINES = 100_000;

export const LOAD: readonly Check[] = group("load", [
  ownRow({
    id: "LOAD-01",
    level: "ADVICE",
    most: "warn",
    title: "stderr that nobody reads holds nothing up",
    place: { page: "basic/transports/stdio" },
    sends:
      "with a full stderr, which the doctor fills behind the greeting: bad lines, an unknown tool, a cancellation, a tool",
    mend:
      "Deno, Bun: a bounded queue in front of stderr; Python: logging through a QueueHandler; or drop lines rather than wait",
    run: fillStderr,
  }),
  ownRow({
    id: "LOAD-02",
    level: "ADVICE",
    most: "warn",
    title: "answers that nobody reads do not fill the memory",
    place: ADVICE,
    sends: `up to ${MOST_UNREAD} requests with stdout unread; then everything is read`,
    mend: "stop reading stdin while stdout is full: wait for drain",
    run: leaveUnread,
  }),
  OVERTAKING,
  sharedRow({
    id: "LOAD-04",
    level: "ADVICE",
    eras: "any",
    title: `${ONE_BY_ONE} requests, one at a time`,
    place: ADVICE,
    sends: `${ONE_BY_ONE} requests, each behind the answer to the one before`,
    mend: "nothing: these are numbers to know",
    async run(talk) {
      const times: number[] = [];
      for (let count = 0; count < ONE_BY_ONE; count++) {
        const began = performance.now();
        await talk.fence();
        times.push(performance.now() - began);
      }
      times.sort((one, other) => one - other);
      const [half, most] = [times[ONE_BY_ONE / 2]!, times[ONE_BY_ONE * 0.99]!];
      return pass(`half within ${half.toFixed(2)} ms, 99 of 100 within ${most.toFixed(2)} ms`);
    },
  }),
  sharedRow({
    id: "LOAD-05",
    level: "ADVICE",
    eras: "any",
    title: `${BURST} requests at once leave no memory behind`,
    place: ADVICE,
    sends: `${BURST} requests in one write, three times`,
    mend: "forget what was answered",
    run: burst,
  }),
  ownRow({
    id: "LOAD-06",
    level: "ADVICE",
    deep: true,
    title: "bad lines fill no log",
    place: ADVICE,
    sends: `${BAD_LINES} bad lines, and a request`,
    mend: "count what is equal, and log it once",
    async run(trial) {
      const talk = await trial.open();
      talk.process.keepsMessages = false;
      const before = talk.process.stderr.bytes;
      const sent = talk.process.write(new TextEncoder().encode("this is no message\n".repeat(BAD_LINES)));
      await settles(sent, trial.bound(30_000));
      talk.process.keepsMessages = true;
      await talk.fence(trial.bound(30_000));
      // What was said stands in its pipe for a while.
      await trial.close(talk);
      const said = talk.process.stderr.bytes - before;
      return said > 10_000_000 ? note(`${showBytes(said)} of stderr`) : pass(`${showBytes(said)} of stderr`);
    },
  }),
]);

/** Fills the pipe of stderr, so that each write to it must wait, drop or be kept; and looks whether requests are answered. */
async function fillStderr(trial: Trial): Promise<Finding> {
  let pipe: FullPipe;
  try {
    pipe = new FullPipe();
  } catch {
    return skip("there are no named pipes here");
  }
  try {
    // A banner alone never fills a pipe in life: it is read until the greeting.
    const stopDraining = drainOn(pipe);
    const talk = await trial.open({ script: `exec "$@" 2>'${pipe.path}'`, stderr: "ignore" }).finally(
      stopDraining,
    );
    pipe.drain();
    pipe.fill();
    let at: string | undefined;
    try {
      at = await stimulate(talk, trial);
    } catch (error) {
      // Whoever ends at a bad line does so with an empty stderr, too: FRAME-06 says it.
      if (!(error instanceof Ended)) throw error;
      return unknown(`with a full stderr ${error.message}`, error.evidence);
    }
    const came = pipe.drain() - pipe.filledBytes;
    if (at === undefined) {
      await pauseFor(50); // What has waited is written now.
      const said = came + pipe.drain();
      return said > 0
        ? pass(`all was answered, and ${said} bytes of stderr came when it was read`)
        : unknown("it wrote nothing: there was nothing to be held up by");
    }
    // Undone: does the answer come now?
    const undone = drainOn(pipe);
    const asked = talk.asked.at(-1)!;
    const answer = await talk.answer(asked, trial.bound(UNDONE_MS));
    undone();
    const shown = talk.evidence({ sent: asked, line: answer, waitedMs: trial.bound(5_000) });
    if (answer === undefined) return unknown(`no answer behind ${at}, and none when stderr was read`, shown);
    return warn(`behind ${at} it stands still until stderr is read`, shown);
  } finally {
    pipe.close();
  }
}

/** Sends what servers log, a fence behind each; gives what no fence was answered behind. */
async function stimulate(talk: Conversation, trial: Trial): Promise<string | undefined> {
  const chosen = chooseTool(trial);
  const steps: ReadonlyArray<readonly [string, () => unknown]> = [
    ["bad lines", () => talk.write("no message\n".repeat(5))],
    [
      "an unknown tool",
      () => talk.ask("tools/call", { name: "mcp-stdio-doctor-no-such-tool", arguments: {} }),
    ],
    ["a cancellation of nothing", () => talk.send(cancellation(NO_ID))],
    ...typeof chosen === "string"
      ? []
      : [[`the tool ${chosen.name}`, () => callTool(talk, trial, chosen)] as const],
  ];
  for (const [name, send] of steps) {
    send();
    try {
      await talk.fence();
    } catch (error) {
      if (error instanceof Ended && talk.process.lives) return name;
      throw error;
    }
  }
  return undefined;
}

/** Reads the pipe from now on; gives what stops it. */
function drainOn(pipe: FullPipe): () => void {
  const timer = setInterval(() => pipe.drain(), 10);
  return () => clearInterval(timer);
}

async function leaveUnread(trial: Trial): Promise<Finding> {
  const talk = await trial.open();
  const { process } = talk;
  const method = listMethod(talk.capabilities) ?? fenceMethod(trial.era);
  const one = await talk.answer(talk.ask(method));
  if (one === undefined) return unknown(`${method} is not answered`);
  const before = talk.process.rssBytes ?? 0;
  const count = Math.min(MOST_UNREAD, Math.ceil(UNREAD_BYTES / (one.length + 1)));
  const from = talk.lines.length;
  process.keepsMessages = false;
  process.pause();
  const { taken, asked } = await writeUntilStill(talk, method, count, trial);
  await pauseFor(200);
  const grown = (talk.process.rssBytes ?? 0) - before;
  process.resume();
  try {
    await process.until(() => talk.lines.length - from >= asked || !process.lives, trial.bound(60_000));
    process.keepsMessages = true;
    await talk.fence(trial.bound(30_000));
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return warn(`when it was read again: ${error.message}`, error.evidence);
  }
  const said = `${showBytes(Math.max(0, grown))} more with ${asked} answers of ${
    showBytes(one.length)
  } unread`;
  if (!taken) return pass(`it stops reading: ${said}`);
  return grown > MOST_GROWTH_BYTES ? note(`it reads on: ${said}`) : pass(said);
}

/** Writes requests until all are written or the server takes no more; gives whether it took all, and how many were sent. */
async function writeUntilStill(
  talk: Conversation,
  method: string,
  count: number,
  trial: Trial,
): Promise<{ taken: boolean; asked: number }> {
  const batch = 50;
  for (let sent = 0; sent < count && talk.process.lives; sent += batch) {
    let written = Promise.resolve(true);
    for (let each = 0; each < batch; each++) {
      talk.ask(method);
      written = talk.lastWrite;
    }
    if (!await isTaken(written, talk, trial)) return { taken: false, asked: sent + batch };
  }
  return { taken: true, asked: Math.ceil(count / batch) * batch };
}

/** Whether what was written is taken, sooner or later; a server that is at work has not stopped reading. */
async function isTaken(written: Promise<unknown>, talk: Conversation, trial: Trial): Promise<boolean> {
  for (let waited = 0; waited < trial.bound(MOST_STILL_MS); waited += STILL_MS) {
    const before = talk.process.cpuMs ?? 0;
    if (await settles(written, STILL_MS * trial.options.patience)) return true;
    if ((talk.process.cpuMs ?? 0) - before < WORKING_CPU_MS) return false;
  }
  return false;
}

async function burst(talk: Conversation): Promise<Finding> {
  const sizes: number[] = [];
  for (let round = 0; round < 3; round++) {
    await talk.answer(talk.askMany(BURST).at(-1)!, 6 * talk.boundMs);
    await talk.fence(6 * talk.boundMs);
    sizes.push(talk.process.rssBytes ?? 0);
  }
  if (sizes[0] === 0) return skip("only on Linux");
  const grown = sizes[2]! - sizes[0]!;
  const said = `${showBytes(Math.max(0, grown))} more after the third than after the first`;
  return grown > MOST_BURST_BYTES ? note(said) : pass(said);
}
