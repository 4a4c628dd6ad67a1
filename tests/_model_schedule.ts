/**
 * A schedule of the model: what clients, servers, users and the world do, in order, as plain data. Everything that is random
 * is decided when it is made, so that it can be run again, and steps can be left out of it.
 */

import type { Random } from "./helpers.ts";
import { ODD_NAMES, type OddName } from "./_model_values.ts";

/** What a handler does before it answers. */
export type Action =
  | { readonly do: "progress"; readonly value: number; readonly message?: OddName }
  | { readonly do: "log"; readonly awaits: boolean; readonly data?: OddName }
  | { readonly do: "notify"; readonly awaits: boolean; readonly params?: OddName }
  | { readonly do: "wait" }
  | { readonly do: "sleep"; readonly ms: number }
  | { readonly do: "ask"; readonly params?: OddName }
  | { readonly do: "publish" }
  | { readonly do: "define" }
  | { readonly do: "signal" }
  /** Says all that a handler can say, when it may have been answered. */
  | { readonly do: "late" }
  | { readonly do: "close" };

/** What it answers. */
export type Ending = "ok" | "big" | "protocol_error" | "throw" | "never" | { readonly odd: OddName } | {
  readonly throws: OddName;
};

/** What a handler does. */
export interface Plan {
  /** Whether it returns in the call itself. */
  readonly sync: boolean;
  readonly actions: readonly Action[];
  readonly ending: Ending;
}

/** What a callback of the user does. */
export type Callback = "none" | "counts" | "throws" | "rejects" | "slow";

/** How a request is made. */
export interface CallOptions {
  readonly timeoutMs?: number;
  readonly maxTimeoutMs?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly retry?: "auto" | "force" | "never";
  readonly inlineNotifications?: boolean;
  readonly logLevel?: "debug";
  readonly onProgress: Callback;
  readonly onLog: Callback;
  readonly signal: "none" | "own" | "shared" | "aborted";
}

/** What is asked. */
export type Subject = "tool" | "raw" | "list" | "read" | "prompt" | "unknown" | "odd_params" | "bad_tool";

/** Lines that a server writes which it should not. */
export const LINES = [
  "text",
  "blank",
  "marks",
  "utf16",
  "bad_utf8",
  "too_long",
  "half",
  "content_length",
  "unknown_id",
  "text_id",
  "late_answer",
  "null_error",
  "null_parse_error",
  "server_request",
  "ping",
  "question",
  "unknown_progress",
  "old_progress",
  "notification",
  "cancelled",
  "cancelled_unknown",
  "batch",
  "bad_answer",
  "both",
  "deep",
  "many",
] as const;

/** One thing that happens. */
export type Step =
  | {
    readonly do: "call";
    readonly key: number;
    readonly subject: Subject;
    readonly plan: Plan;
    readonly options: CallOptions;
    readonly odd: OddName;
    /** How much it carries. */
    readonly padding: number;
  }
  | { readonly do: "abort"; readonly pick: number; readonly reason?: OddName }
  | { readonly do: "abort_shared" }
  | { readonly do: "release"; readonly pick: number }
  | { readonly do: "release_all" }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "turn" }
  | { readonly do: "notify"; readonly params?: OddName }
  | { readonly do: "listen"; readonly reads: "all" | "some" | "none"; readonly filter: number }
  | { readonly do: "read"; readonly pick: number; readonly count: number }
  | { readonly do: "unlisten"; readonly pick: number }
  | { readonly do: "publish"; readonly what: number; readonly odd?: OddName }
  | { readonly do: "line"; readonly line: typeof LINES[number]; readonly pick: number }
  | { readonly do: "pause" }
  | { readonly do: "hold" }
  | { readonly do: "resume" }
  | {
    readonly do: "crash";
    readonly how: "exit" | "signal" | "half_line" | "close_stdout" | "close_stdin" | "hang";
  }
  | { readonly do: "server_close" }
  | { readonly do: "close"; readonly how: "close" | "kill" | "abort" };

/** Who answers in a process. */
export type Inhabitant =
  | "ours"
  | "ours_modern"
  | "plain_legacy"
  | "plain_modern"
  | "batches"
  | "answers_notifications"
  | "counts_greetings"
  | "silent_probe"
  | "dies_at_probe"
  | "mute";

/** What the world is like. */
export interface Config {
  readonly mode: "spawn" | "pair";
  readonly era: "auto" | "modern" | "legacy";
  /** By the number of the process; the last one lives in all that follow. */
  readonly inhabitants: readonly Inhabitant[];
  readonly maxInFlightRequests: number;
  readonly maxQueuedRequests: number;
  readonly maxQueuedBytes: number;
  readonly maxLineBytes: number;
  readonly readBufferBytes: number;
  readonly capacityBytes: number;
  readonly maxQueuedNotifications: number;
  readonly maxRestarts: number;
  readonly inlineNotifications: boolean;
  readonly onNotification: Callback | "asks";
  readonly inputHandler: "none" | "answers" | "throws" | "never" | "slow" | { readonly odd: OddName };
  readonly logger: "keeps" | "throws";
  readonly traceFrames: boolean;
  /** Whether the process leaves when its stdin ends, before its server is done. */
  readonly leavesAtOnce: boolean;
  readonly final: "close" | "kill" | "abort" | "server";
}

/** All of it. */
export interface Schedule {
  readonly config: Config;
  readonly steps: readonly Step[];
}

const SIMPLE: CallOptions = { onProgress: "none", onLog: "none", signal: "none" };

/** Makes one. */
export function makeSchedule(random: Random): Schedule {
  const config = makeConfig(random);
  const steps: Step[] = [];
  for (let count = 4 + random.below(18); count > 0; count--) {
    if (random.oneIn(8)) steps.push(...makePhrase(random, steps.length));
    else steps.push(makeStep(random, steps.length));
  }
  return { config, steps };
}

/** Steps that seldom come together by chance: something is stuck, and then what waits behind it is given up. */
function makePhrase(random: Random, from: number): Step[] {
  let key = from;
  const call = (
    subject: Subject,
    plan: Partial<Plan>,
    options: Partial<CallOptions> = {},
    padding = 0,
  ): Step => ({
    do: "call",
    key: key++,
    subject,
    plan: { sync: false, actions: [], ending: "ok", ...plan },
    options: { ...SIMPLE, ...options },
    odd: random.pick(ODD_NAMES),
    padding,
  });
  const said = (): Action =>
    random.pick<Action>([
      { do: "log", awaits: false },
      { do: "notify", awaits: false },
      { do: "notify", awaits: true },
      { do: "progress", value: 1 },
      { do: "progress", value: 2 },
    ]);
  const own = { signal: "own", logLevel: "debug", onProgress: "counts", onLog: "counts" } as const;
  const abort: Step = { do: "abort", pick: random.below(1_000) };
  const move: Step = { do: "advance", ms: random.pick([20, 1_500, 11_000]) };
  const restart: Step = { do: "advance", ms: 12_000 };
  const end = random.pick<Step>([{ do: "resume" }, { do: "resume" }, { do: "crash", how: "exit" }, {
    do: "close",
    how: "close",
  }]);
  switch (random.below(6)) {
    case 0: // Nobody reads what the server says.
      return [
        { do: "hold" },
        call("tool", { ending: "big" }),
        call(
          random.pick(["tool", "raw"]),
          { actions: [said(), said(), said(), { do: "wait" }, said()] },
          own,
        ),
        call("unknown", {}),
        abort,
        move,
        end,
        { do: "release_all" },
        { do: "turn" },
      ];
    case 1: // The server reads nothing.
      return [
        { do: "pause" },
        call("raw", {}, own, 40_000),
        call("tool", {}, { ...own, timeoutMs: 20 }, 40_000),
        { do: "notify" },
        call("list", {}, { timeoutMs: 10 }),
        random.pick([abort, { do: "listen", reads: "all", filter: 0 }]),
        move,
        end,
        restart,
      ];
    case 2: // It dies in the middle.
      return [
        call("tool", { actions: [{ do: "wait" }] }, { retry: "force" }),
        call("list", {}),
        { do: "listen", reads: "all", filter: 1 },
        {
          do: "crash",
          how: random.pick(["exit", "signal", "half_line", "close_stdout", "close_stdin", "hang"]),
        },
        call("tool", {}, own),
        restart,
        { do: "release_all" },
      ];
    case 3: // A person is asked, and it takes long.
      return [
        call("tool", { actions: [{ do: "ask" }] }, { ...own, timeoutMs: 100 }),
        move,
        random.pick([abort, { do: "turn" }]),
        { do: "advance", ms: 300 },
      ];
    case 4: // Answers wait to leave when the input ends.
      return [
        { do: "hold" },
        call("tool", { ending: "big" }),
        call("tool", { ending: "big" }),
        call("unknown", {}),
        call("list", {}),
        call("bad_tool", { sync: true }),
        random.pick<Step>([{ do: "server_close" }, { do: "close", how: "close" }]),
        { do: "turn" },
        { do: "resume" },
      ];
    default: // Much at once.
      return [
        ...Array.from(
          { length: 6 },
          () => call("tool", { sync: random.oneIn(2), actions: [{ do: "wait" }] }, own),
        ),
        { do: "line", line: random.pick(LINES), pick: random.below(1_000) },
        abort,
        { do: "release", pick: random.below(1_000) },
        { do: "release_all" },
        { do: "turn" },
      ];
  }
}

function maybeOdd(random: Random, oneIn: number): OddName | undefined {
  return random.oneIn(oneIn) ? random.pick(ODD_NAMES) : undefined;
}

function makeConfig(random: Random): Config {
  const mode = random.oneIn(3) ? "pair" : "spawn";
  const ours = random.below(10) < 7;
  const inhabitants: Inhabitant[] = Array.from(
    { length: 1 + random.below(3) },
    () =>
      ours ? random.pick(["ours", "ours", "ours_modern"] as const) : random.pick(
        [
          "ours",
          "plain_legacy",
          "plain_modern",
          "batches",
          "answers_notifications",
          "counts_greetings",
          "silent_probe",
          "dies_at_probe",
          "mute",
        ] as const,
      ),
  );
  const isSmall = random.oneIn(3);
  return {
    mode,
    era: random.pick(["auto", "auto", "modern", "legacy"]),
    inhabitants,
    maxInFlightRequests: isSmall ? 1 + random.below(3) : 256,
    maxQueuedRequests: isSmall ? 1 + random.below(3) : 256,
    maxQueuedBytes: random.oneIn(3) ? 300 : 1_048_576,
    maxLineBytes: random.oneIn(3) ? 8_000 : 16_777_216,
    readBufferBytes: random.oneIn(4) ? 100 : 65_536,
    capacityBytes: random.oneIn(2) ? 300 : 65_536,
    maxQueuedNotifications: random.oneIn(3) ? 2 : 1_024,
    maxRestarts: random.oneIn(4) ? 0 : 3,
    inlineNotifications: random.oneIn(4),
    onNotification: random.pick(["none", "counts", "counts", "throws", "rejects", "slow", "asks"]),
    inputHandler: random.pick([
      "none",
      "answers",
      "answers",
      "throws",
      "never",
      "slow",
      { odd: random.pick(ODD_NAMES) },
    ]),
    logger: random.oneIn(8) ? "throws" : "keeps",
    traceFrames: random.oneIn(4),
    leavesAtOnce: random.oneIn(4),
    final: random.pick(["close", "close", "kill", "abort", "server"]),
  };
}

function makeStep(random: Random, key: number): Step {
  const kind = random.below(100);
  if (kind < 38) return makeCall(random, key);
  const pick = random.below(1_000);
  if (kind < 46) {
    const reason = maybeOdd(random, 3);
    return reason === undefined ? { do: "abort", pick } : { do: "abort", pick, reason };
  }
  if (kind < 48) return { do: "abort_shared" };
  if (kind < 56) return random.oneIn(3) ? { do: "release_all" } : { do: "release", pick };
  if (kind < 64) return { do: "advance", ms: random.pick([1, 20, 60, 300, 1_500, 11_000, 70_000]) };
  if (kind < 69) return { do: "turn" };
  if (kind < 72) {
    const params = maybeOdd(random, 2);
    return params === undefined ? { do: "notify" } : { do: "notify", params };
  }
  if (kind < 76) {
    return { do: "listen", reads: random.pick(["all", "some", "none"]), filter: random.below(4) };
  }
  if (kind < 78) return { do: "read", pick, count: 1 + random.below(3) };
  if (kind < 80) return { do: "unlisten", pick };
  if (kind < 83) {
    const value = maybeOdd(random, 4);
    const what = random.below(4);
    return value === undefined ? { do: "publish", what } : { do: "publish", what, odd: value };
  }
  if (kind < 90) return { do: "line", line: random.pick(LINES), pick };
  if (kind < 94) return { do: random.pick(["pause", "hold", "resume"]) };
  if (kind < 97) {
    return {
      do: "crash",
      how: random.pick(["exit", "signal", "half_line", "close_stdout", "close_stdin", "hang"]),
    };
  }
  if (kind < 98) return { do: "server_close" };
  return { do: "close", how: random.pick(["close", "kill", "abort"]) };
}

function makeCall(random: Random, key: number): Step {
  const subject = random.pick<Subject>([
    "tool",
    "tool",
    "tool",
    "tool",
    "raw",
    "raw",
    "list",
    "read",
    "prompt",
    "unknown",
    "odd_params",
    "bad_tool",
  ]);
  return {
    do: "call",
    key,
    subject,
    plan: makePlan(random),
    options: random.oneIn(4) ? SIMPLE : makeCallOptions(random),
    odd: random.pick(ODD_NAMES),
    padding: random.oneIn(4) ? random.pick([500, 30_000]) : 0,
  };
}

function makePlan(random: Random): Plan {
  const sync = random.oneIn(3);
  const actions = Array.from({ length: random.below(4) }, () => makeAction(random));
  const ending = random.pick<Ending>([
    "ok",
    "ok",
    "ok",
    "ok",
    "big",
    "protocol_error",
    "throw",
    "never",
    { odd: random.pick(ODD_NAMES) },
    { throws: random.pick(ODD_NAMES) },
  ]);
  return { sync, actions, ending };
}

function makeAction(random: Random): Action {
  const value = maybeOdd(random, 5);
  switch (random.below(10)) {
    case 0:
    case 1:
      return { do: "progress", value: random.below(5), ...(value === undefined ? {} : { message: value }) };
    case 2:
      return { do: "log", awaits: random.oneIn(2), ...(value === undefined ? {} : { data: value }) };
    case 3:
      return { do: "notify", awaits: random.oneIn(2), ...(value === undefined ? {} : { params: value }) };
    case 4:
    case 5:
      return { do: "wait" };
    case 6:
      return { do: "sleep", ms: random.pick([5, 50, 500]) };
    case 7:
      return { do: "ask", ...(value === undefined ? {} : { params: value }) };
    case 8:
      return random.pick([{ do: "publish" }, { do: "define" }]);
    default:
      return random.pick([{ do: "signal" }, { do: "late" }, { do: "late" }, { do: "close" }]);
  }
}

function makeCallOptions(random: Random): CallOptions {
  const callback = (): Callback =>
    random.pick(["none", "counts", "counts", "counts", "throws", "rejects", "slow"]);
  return {
    ...(random.oneIn(2) ? { timeoutMs: random.pick([10, 100, 1_000, 20_000]) } : {}),
    ...(random.oneIn(5) ? { maxTimeoutMs: random.pick([50, 2_000]) } : {}),
    ...(random.oneIn(3) ? { resetTimeoutOnProgress: true } : {}),
    ...(random.oneIn(3) ? { retry: random.pick(["auto", "force", "never"] as const) } : {}),
    ...(random.oneIn(4) ? { inlineNotifications: true } : {}),
    ...(random.oneIn(3) ? { logLevel: "debug" as const } : {}),
    onProgress: random.oneIn(2) ? "none" : callback(),
    onLog: random.oneIn(2) ? "none" : callback(),
    signal: random.pick(["none", "none", "own", "own", "shared", "aborted"]),
  };
}
