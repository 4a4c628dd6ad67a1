/** Runs schedules of the model by the thousand; of one that breaks a rule it finds the shortest form. */

import process from "node:process";
import { ProtocolError, StdioError } from "../errors.ts";
import { drain } from "./_model_clock.ts";
import { judge } from "./_model_rules.ts";
import { makeSchedule, type Schedule } from "./_model_schedule.ts";
import { World } from "./_model_world.ts";
import { createRandom } from "./helpers.ts";

/** As often a failing schedule is tried in shorter forms. */
const MOST_TRIES = 400;

/** What is to be run. */
export interface ModelOptions {
  readonly schedules: number;
  readonly seed: number;
  /** Told how it goes. */
  readonly say?: (line: string) => void;
}

/** How often what has happened. */
export type Tally = Map<string, number>;

/** Runs so many schedules. Rejects with the shortest form of the first that breaks a rule. */
export async function runModel({ schedules, seed, say = () => {} }: ModelOptions): Promise<Tally> {
  const tally: Tally = new Map();
  const watch = new Watch();
  try {
    for (let index = 0; index < schedules; index++) {
      const schedule = scheduleOf(seed, index);
      const wrongs = await runSchedule(schedule, watch, tally);
      if (wrongs.length > 0) {
        throw await describeFailure(schedule, wrongs, watch, `seed ${seed}, schedule ${index}`);
      }
      if ((index + 1) % 1_000 === 0) say(`${index + 1} of ${schedules} schedules`);
    }
  } finally {
    watch.end();
  }
  return tally;
}

/** The schedule of this number under a seed. */
export function scheduleOf(seed: number, index: number): Schedule {
  const random = createRandom(seed + Math.imul(index, 7_919));
  for (let skipped = 0; skipped < 8; skipped++) random.below(2);
  return makeSchedule(random);
}

/** Runs one schedule and gives what is wrong. */
export async function runSchedule(schedule: Schedule, watch: Watch, tally?: Tally): Promise<string[]> {
  const world = new World(schedule);
  watch.take();
  try {
    await world.run();
  } catch (error) {
    world.complaints.push(`the world has ended: ${error instanceof Error ? error.stack : error}`);
  }
  await drain();
  const wrongs = [...watch.take(), ...judge(world)];
  if (tally !== undefined) count(world, tally);
  return wrongs;
}

/** Rejections and errors that nobody sees. */
export class Watch {
  #seen: string[] = [];
  readonly #see = (error: unknown): void => void this.#seen.push(`unobserved: ${textOf(error)}`);

  constructor() {
    process.on("unhandledRejection", this.#see);
    process.on("uncaughtException", this.#see);
  }

  /** What was seen since it was last asked. */
  take(): string[] {
    return this.#seen.splice(0);
  }

  end(): void {
    process.off("unhandledRejection", this.#see);
    process.off("uncaughtException", this.#see);
  }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.stack}` : String(error);
  } catch {
    return "what has no text";
  }
}

function kindOfError(error: unknown): string {
  try {
    return error instanceof StdioError || error instanceof ProtocolError ? error.name : "what the user gave";
  } catch {
    return "what the user gave";
  }
}

function count({ calls, lives, connected }: World, tally: Tally): void {
  const add = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  add(`connected: ${connected === "connected"}`);
  for (const { outcome } of calls) {
    add(`call: ${outcome?.kind === "error" ? kindOfError(outcome.error) : outcome?.kind}`);
  }
  for (const { inhabitant, end } of lives) add(`server: ${inhabitant}${end === undefined ? "" : `, ${end}`}`);
}

// A failure, made short.

async function describeFailure(
  schedule: Schedule,
  wrongs: readonly string[],
  watch: Watch,
  name: string,
): Promise<Error> {
  const kind = kindOf(wrongs[0]!);
  const stillFails = async (shorter: Schedule): Promise<boolean> =>
    (await runSchedule(shorter, watch)).some((wrong) => kindOf(wrong) === kind);
  const isSteady = await stillFails(schedule);
  const short = isSteady ? await shorten(schedule, stillFails) : schedule;
  const last = isSteady ? await runSchedule(short, watch) : wrongs;
  return new Error(
    `${name}: ${last[0] ?? wrongs[0]}${isSteady ? "" : " (only once)"}\n` +
      `${last.slice(1, 5).map((wrong) => `also: ${wrong}\n`).join("")}` +
      `deno task model --replay '${JSON.stringify(short)}'`,
  );
}

/** Numbers, and what is named, differ between runs of one fault. */
function kindOf(wrong: string): string {
  return wrong.replaceAll(/\d+/g, "#").slice(0, 60);
}

async function shorten(
  schedule: Schedule,
  stillFails: (shorter: Schedule) => Promise<boolean>,
): Promise<Schedule> {
  let best = schedule;
  let tries = 0;
  const attempt = async (shorter: Schedule): Promise<boolean> => {
    if (tries++ >= MOST_TRIES || !await stillFails(shorter)) return false;
    best = shorter;
    return true;
  };
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.steps.length;) {
      const steps = best.steps.toSpliced(at, size);
      if (!await attempt({ ...best, steps })) at += size;
    }
  }
  for (const [name, plain] of Object.entries(PLAIN)) {
    await attempt({ ...best, config: { ...best.config, [name]: plain } });
  }
  for (let at = 0; at < best.steps.length; at++) {
    const step = best.steps[at]!;
    if (step.do !== "call") continue;
    const simpler = { ...step, options: { onProgress: "none", onLog: "none", signal: "none" } } as const;
    await attempt({ ...best, steps: best.steps.with(at, simpler) });
    for (let action = step.plan.actions.length - 1; action >= 0; action--) {
      const now = best.steps[at] as typeof step;
      const plan = { ...now.plan, actions: now.plan.actions.toSpliced(action, 1) };
      await attempt({ ...best, steps: best.steps.with(at, { ...now, plan }) });
    }
  }
  return best;
}

/** The simplest of worlds. */
const PLAIN = {
  inhabitants: ["ours"],
  mode: "pair",
  era: "modern",
  maxInFlightRequests: 256,
  maxQueuedRequests: 256,
  maxQueuedBytes: 1_048_576,
  maxLineBytes: 16_777_216,
  readBufferBytes: 65_536,
  capacityBytes: 65_536,
  maxQueuedNotifications: 1_024,
  maxRestarts: 0,
  inlineNotifications: false,
  onNotification: "none",
  inputHandler: "none",
  logger: "keeps",
  traceFrames: false,
  leavesAtOnce: false,
  final: "close",
} as const;
