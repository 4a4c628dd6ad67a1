/**
 * The servers that prove the checks of `doctor`: each breaks one rule, and exactly the checks that are named here say so.
 * `tests/fixtures/doctor_server.mjs --break NAME` is the server; a name is the id of the check, and a form of it.
 */

import type { DoctorOptions } from "../internal/cli/doctor/options.ts";
import type { Verdict } from "../internal/cli/doctor/verdict.ts";

/** What is expected of one. */
export interface DoctorFixture {
  /** What `--break` names. */
  readonly name: string;
  /** The check that must say it. */
  readonly id: string;
  readonly verdict: Verdict;
  /** Checks that see the same fault, and may say so. */
  readonly also: readonly string[];
  /** The era it is shown in, and that the server speaks. */
  readonly era: "modern" | "legacy";
  /** What the server speaks, where that matters. */
  readonly serves?: "modern" | "legacy" | "both";
  readonly options: Partial<DoctorOptions>;
}

type Row = readonly [name: string, verdict: Verdict, more?: Partial<DoctorFixture>];

const tool = (name: string, args: { [name: string]: unknown } = {}) => ({ name, args });
const SLOW = { options: { slow: tool("slow", { ms: 1_000 }) } };
const LONG = { options: { slow: tool("slow", { ms: 20_000 }), patience: 0.2 } };
const PROGRESS = { options: { progress: tool("progress", { steps: 3 }) } };
const LEGACY = { era: "legacy" } as const;
const LEGACY_ONLY = { era: "legacy", serves: "legacy" } as const;
const BOTH = { serves: "both" } as const;
/** Bounds are hit here, and short. */
const SHORT = { options: { patience: 0.2 } };
/** No era is found: what else comes does not matter. */
const UNUSABLE = { ...SHORT, also: ["OUT-*"] };

const ROWS: readonly Row[] = [
  ["START-01/exit", "fail", UNUSABLE],
  ["START-01/exit-0", "fail", UNUSABLE],
  ["START-01/pretty", "fail", UNUSABLE],
  ["START-01/content-length", "fail", UNUSABLE],
  ["START-01/utf16", "fail", UNUSABLE],
  ["START-01/no-lf", "fail", UNUSABLE],
  ["START-01/early", "warn", { options: { patience: 0.1 } }],
  ["START-02", "fail", { also: ["OUT-01"] }],
  ["START-02/exit", "warn"],
  ["START-03", "note", { ...LEGACY_ONLY, also: ["ERA-14"] }],
  ["START-04", "note"],
  ["START-05", "note", { options: { lean: true } }],
  ["OUT-01", "fail"],
  ["OUT-01/log", "fail"],
  ["OUT-02", "fail"],
  ["OUT-03", "fail"],
  ["OUT-04", "note"],
  ["OUT-05", "warn"],
  ["OUT-06", "fail", { also: ["END-03"] }],
  ["OUT-07", "fail"],
  ["OUT-07b", "warn", { ...LEGACY, also: ["OUT-07"] }],
  ["OUT-07c", "fail", LEGACY],
  ["OUT-08", "fail", { options: { only: ["REQ-03", "OUT"] } }],
  ["OUT-09", "fail"],
  ["OUT-10", "fail", { options: { only: ["ERA-17", "OUT"] } }],
  ["OUT-11", "fail"],
  ["OUT-12", "fail"],
  ["OUT-13", "warn", { options: { only: ["ERA-17", "OUT"] } }],
  ["OUT-14", "fail", { options: { ask: tool("ask"), only: ["ASK", "OUT"] } }],
  ["OUT-15", "warn"],
  ["OUT-16", "fail"],
  ["OUT-17", "note"],
  ["OUT-18", "note"],
  ["OUT-19", "fail"],
  ["ERR-01", "note"],
  ["ERR-02", "note"],
  ["ERR-03", "note"],
  ["FRAME-01", "fail", { ...SHORT, also: ["FRAME-06", "OUT-09"] }],
  ["FRAME-02", "fail", SHORT],
  ["FRAME-03", "warn", { ...SHORT, era: "modern" }],
  ["FRAME-04", "note"],
  ["FRAME-05", "note"],
  ["FRAME-06", "fail", { also: ["FRAME-12"] }],
  ["FRAME-06/mute", "fail", { options: { patience: 0.5 }, also: ["FRAME-12"] }],
  ["FRAME-06/silent", "note"],
  ["FRAME-07", "warn", { ...SHORT, also: ["FRAME-08", "REQ-13"] }],
  ["FRAME-08", "warn"],
  ["FRAME-09", "note"],
  ["FRAME-10", "fail", SHORT],
  ["FRAME-11", "fail", SHORT],
  ["FRAME-12", "warn"],
  ["REQ-01", "fail", SHORT],
  ["REQ-01/text", "fail", { also: ["OUT-09"] }],
  ["REQ-02", "note"],
  ["REQ-03", "fail"],
  ["REQ-03/code", "warn"],
  ["REQ-04", "note"],
  ["REQ-05", "note"],
  ["REQ-06", "note"],
  ["REQ-07", "note"],
  ["REQ-08", "fail"],
  ["REQ-09", "fail", LEGACY],
  ["REQ-10", "fail", SHORT],
  ["REQ-11", "fail"],
  ["REQ-12", "warn", SLOW],
  ["REQ-13", "warn"],
  ["NOTE-01", "fail"],
  ["NOTE-02", "warn"],
  ["ERA-03", "fail"],
  ["ERA-04", "fail"],
  ["ERA-05", "fail"],
  ["ERA-06", "fail"],
  ["ERA-07", "fail"],
  ["ERA-08", "fail"],
  ["ERA-09", "warn", { serves: "modern" }],
  ["ERA-10", "fail", LEGACY],
  ["ERA-11", "warn", LEGACY],
  ["ERA-12", "fail", LEGACY],
  ["ERA-13", "warn", LEGACY],
  ["ERA-14", "warn", LEGACY_ONLY],
  ["ERA-15", "note", { ...BOTH, options: { era: undefined } }],
  ["ERA-16", "warn", LEGACY],
  ["ERA-17", "note"],
  ["CAN-01", "fail"],
  ["CAN-02", "fail"],
  ["CAN-03", "fail", SLOW],
  ["CAN-03/error", "fail", SLOW],
  ["CAN-04", "note", { options: { slow: tool("slow", { ms: 4_000 }) } }],
  ["CAN-05", "note", { ...SHORT, ...LEGACY }],
  ["PROG-01", "fail", PROGRESS],
  ["PROG-01/type", "fail", { ...PROGRESS, also: ["OUT-12"] }],
  ["PROG-01/late", "fail", { ...PROGRESS, also: ["OUT-12"] }],
  ["PROG-02", "fail", { ...PROGRESS, also: ["OUT-12"] }],
  ["PROG-03", "note", PROGRESS],
  ["LOG-01", "warn"],
  ["LOG-02", "fail", { options: { log: tool("log") } }],
  ["LISTEN-01", "fail"],
  ["LISTEN-01/result", "fail", { also: ["LISTEN-02", "LISTEN-03", "LISTEN-04"] }],
  ["LISTEN-02", "fail", { also: ["OUT-12"] }],
  ["LISTEN-03", "fail"],
  ["LISTEN-04", "warn"],
  ["LISTEN-05", "fail", { options: { change: tool("change") }, also: ["OUT-12"] }],
  ["LISTEN-06", "warn", { options: { change: tool("change") } }],
  ["LISTEN-07", "warn"],
  ["LIST-01", "fail"],
  ["LIST-02", "warn"],
  ["LIST-03", "fail"],
  ["LIST-03/null", "fail", { also: ["OUT-19"] }],
  ["LIST-04", "warn"],
  ["LIST-05", "warn"],
  ["LIST-06", "note"],
  ["LIST-07", "note"],
  ["CACHE-01", "fail"],
  ["TOOL-01", "warn"],
  ["TOOL-02", "warn"],
  ["TOOL-03", "fail", { also: ["OUT-19"] }],
  ["TOOL-04", "warn"],
  ["TOOL-05", "fail", { options: { tool: tool("echo", { text: "@text" }) }, also: ["OUT-01"] }],
  ["TOOL-06", "warn"],
  ["TOOL-07", "note", { options: { crash: tool("crash") } }],
  ["ASK-01", "fail", { options: { ask: tool("ask") } }],
  ["ASK-01/asks", "fail", { options: { ask: tool("ask") }, also: ["OUT-14", "ASK-02"] }],
  ["ASK-02", "fail", { options: { ask: tool("ask") } }],
  ["RES-01", "fail"],
  ["RES-02", "fail"],
  ["RES-03", "fail"],
  ["PROMPT-01", "warn"],
  ["PROMPT-02", "warn"],
  ["COMP-01", "warn"],
  ["LOAD-01", "warn", { options: { only: ["LOAD-01"], patience: 0.2 } }],
  ["LOAD-02", "note", { options: { only: ["LOAD-02"] } }],
  ["LOAD-03", "note", { options: { ...SLOW.options, only: ["LOAD-03"] } }],
  ["LOAD-04", "warn", { options: { only: ["LOAD-04"] } }],
  ["LOAD-05", "note", { options: { only: ["LOAD-05"] } }],
  ["LOAD-06", "note", { options: { deep: true, only: ["LOAD-06"] }, also: ["ERR-02"] }],
  ["END-01", "warn", SHORT],
  ["END-01/code", "note", { also: ["END-02"] }],
  ["END-02", "warn", SHORT],
  ["END-03", "note"],
  ["END-04", "warn", SHORT],
  ["END-05", "warn", SHORT],
  ["END-06", "note"],
  ["END-07", "warn", SHORT],
  ["END-08", "warn", LONG],
  ["END-09", "warn"],
  ["END-10", "note"],
  ["END-11", "warn", { options: { deep: true, patience: 0.2 }, also: ["END-09"] }],
  ["END-12", "warn", { options: { deep: true, ...LONG.options, only: ["END-12"] } }],
];

/** All of them. */
export const FIXTURES: readonly DoctorFixture[] = ROWS.map(([name, verdict, more]) => ({
  name,
  id: name.split("/")[0]!,
  verdict,
  also: [],
  era: "modern",
  options: {},
  ...more,
}));
