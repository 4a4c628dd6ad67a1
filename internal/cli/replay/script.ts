/**
 * What a recording's client said, as a script that can be said again: each line with the answers that had come before it, and
 * each request with the answer that it got. Pure.
 */

import { isJSONObject, type JSONObject } from "../../../messages.ts";
import { type Call, Conversation } from "../recording/conversation.ts";
import { bytesOfLine, parseLine, type RecordedEvent } from "../recording/format.ts";

/** A request of the recording. */
export interface ScriptCall {
  readonly id: unknown;
  readonly method: string;
  readonly target: string;
  /** Its answer: the message; undefined if none came. */
  answer: JSONObject | undefined;
  /** Whether secrets were masked in the answer. */
  isMasked: boolean;
  /** How long that took, in milliseconds. */
  tookMs: number | undefined;
  /** Whether the client took it back. */
  isCancelled: boolean;
}

/** Something to say. */
export interface ScriptStep {
  readonly bytes: Uint8Array;
  /** The requests whose answers had come before. */
  readonly after: readonly number[];
  /** The request that it is, a place in `calls`. */
  readonly call: number | undefined;
}

/** A script. */
export interface ReplayScript {
  readonly calls: readonly ScriptCall[];
  readonly steps: readonly ScriptStep[];
  /** What the client answered when the server asked, by method, in order. */
  readonly answers: ReadonlyMap<string, readonly JSONObject[]>;
  /** How many lines of the client are not as they were, since secrets are masked in them. */
  readonly maskedLines: number;
}

/** Reads a script out of a recording. */
export function readScript(events: readonly RecordedEvent[]): ReplayScript {
  const conversation = new Conversation();
  const calls: ScriptCall[] = [];
  const places = new Map<Call, number>();
  const steps: ScriptStep[] = [];
  const answers = new Map<string, JSONObject[]>();
  const answered: number[] = [];
  let maskedLines = 0;
  for (const event of events) {
    if (event.kind !== "line" || event.from === "stderr") continue;
    // What is no message is said as it was, and gets what it gets.
    const parsed = parseLine(event);
    const { call, role } = parsed === undefined
      ? conversation.fault(event.from, "")
      : conversation.observe(event.t, event.from, parsed.value);
    const message = parsed?.value as JSONObject;
    if (event.from === "server") {
      const place = role === "answer" && call !== undefined ? places.get(call) : undefined;
      // A second answer is none.
      if (place === undefined || calls[place]!.answer !== undefined) continue;
      const tookMs = event.t - call!.startedAt;
      Object.assign(calls[place]!, { answer: message, isMasked: event.isMasked, tookMs });
      answered.push(place);
      continue;
    }
    if (role === "answer" && call !== undefined) {
      answers.set(call.method, [...answers.get(call.method) ?? [], message]);
      continue;
    }
    if (event.isMasked) maskedLines++;
    let place: number | undefined;
    if (role === "request") {
      place = calls.length;
      places.set(call!, place);
      const { id, method, target } = call!;
      const open = { answer: undefined, isMasked: false, tookMs: undefined, isCancelled: false };
      calls.push({ id, method, target, ...open });
    } else if (role === "cancellation" && call !== undefined) {
      const cancelled = places.get(call);
      if (cancelled !== undefined) calls[cancelled]!.isCancelled = true;
    }
    steps.push({ bytes: bytesOfLine(event), after: [...answered], call: place });
    answered.length = 0;
  }
  return { calls, steps, answers, maskedLines };
}

/** A difference between two values. */
export interface Difference {
  /** Where, such as `result.content[0].text`. */
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** What is not there at all. */
export const NOTHING: unique symbol = Symbol("nothing");

/** Finds where two values differ; paths that match a pattern (`*` is one name, or any index) are left out. */
export function findDifferences(was: unknown, is: unknown, ignored: readonly string[] = []): Difference[] {
  const patterns = ignored.map(toPattern);
  const found: Difference[] = [];
  compare(was, is, "", patterns, found);
  return found;
}

function toPattern(path: string): RegExp {
  const parts = path.split("*").map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  // What stands below what is left out is left out as well.
  return new RegExp(`^${parts.join("[^.\\[\\]]*")}(?:[.\\[].*)?$`);
}

function compare(
  was: unknown,
  is: unknown,
  path: string,
  patterns: readonly RegExp[],
  found: Difference[],
): void {
  if (was === is || patterns.some((pattern) => pattern.test(path))) return;
  if (Array.isArray(was) && Array.isArray(is)) {
    for (let index = 0; index < Math.max(was.length, is.length); index++) {
      compare(memberOf(was, index), memberOf(is, index), `${path}[${index}]`, patterns, found);
    }
  } else if (isJSONObject(was) && isJSONObject(is)) {
    for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
      const below = path === "" ? name : `${path}.${name}`;
      compare(memberOf(was, name), memberOf(is, name), below, patterns, found);
    }
  } else found.push({ path, was, is });
}

function memberOf(value: object, name: string | number): unknown {
  return Object.hasOwn(value, name) ? (value as { [name: string | number]: unknown })[name] : NOTHING;
}
