/**
 * A recording as it is drawn: a row for everything that passed or happened, and a bar for each request with how it ended. Pure;
 * the terminal, the page and JSON are made of it.
 */

import { isJSONObject, type JSONObject } from "../../../messages.ts";
import { type Call, type CallState, Conversation, type Observation } from "../recording/conversation.ts";
import {
  type LineEvent,
  parseLine,
  type ProcessEvent,
  type RecordedEvent,
  type StartEvent,
} from "../recording/format.ts";

/** Where a row stands: what the two sides say, what the server writes to stderr, and what happens to the process. */
export type Lane = "client" | "server" | "stderr" | "process";

/** What a row is. */
export type Role = Observation["role"] | "stderr" | "process";

/** Something that passed or happened. */
export interface Row {
  readonly t: number;
  readonly lane: Lane;
  readonly role: Role;
  /** What it is, in a few words. */
  readonly label: string;
  /** What passed, or what happened. */
  readonly text: string;
  /** Which request it belongs to: a place in `calls`, or -1. */
  readonly call: number;
  readonly breaks: readonly string[];
  readonly isMasked: boolean;
}

/** How a request ended; `stream` is a listen stream that was open to the end, as it should be. */
export type BarState = CallState | "stream";

/** A request. */
export interface Bar {
  readonly from: "client" | "server";
  readonly id: string;
  readonly method: string;
  readonly target: string;
  readonly state: BarState;
  readonly startedAt: number;
  /** When it was over; the end of the recording if it never was. */
  readonly endedAt: number;
  readonly problem: string;
  /** Whether it did not go well. A server of an older revision refuses to be discovered, and that is no fault. */
  readonly isProblem: boolean;
  /** The rows that belong to it, the request first. */
  readonly rows: readonly number[];
}

/** A recording as it is drawn. */
export interface ShowModel {
  readonly start: StartEvent | undefined;
  readonly durationMs: number;
  readonly rows: readonly Row[];
  readonly bars: readonly Bar[];
  readonly unreadable: number;
}

/** Puts a model together. */
export function buildModel(events: readonly RecordedEvent[], unreadable = 0): ShowModel {
  return new ModelBuilder().build(events, unreadable);
}

class ModelBuilder {
  readonly #conversation = new Conversation();
  readonly #rows: Row[] = [];
  readonly #calls: Array<{ readonly call: Call; readonly rows: number[] }> = [];
  readonly #places = new Map<Call, number>();

  build(events: readonly RecordedEvent[], unreadable: number): ShowModel {
    let start: StartEvent | undefined;
    let durationMs = 0;
    let hasExited = false;
    for (const event of events) {
      durationMs = Math.max(durationMs, event.t);
      if (event.kind === "line") this.#line(event);
      else if (event.kind === "start") start ??= event;
      else {
        this.#process(event);
        hasExited ||= event.kind === "exit";
      }
    }
    // Where the end is not in the file, what is open may have been answered later.
    if (hasExited) this.#conversation.end(durationMs);
    const bars = this.#calls.map(({ call, rows }) => toBar(call, rows, durationMs));
    return { start, durationMs, rows: this.#rows, bars, unreadable };
  }

  #line(event: LineEvent): void {
    const { t, from, text, isMasked } = event;
    if (from === "stderr") {
      this.#rows.push({ t, lane: from, role: "stderr", label: text, text, call: -1, breaks: [], isMasked });
      return;
    }
    const parsed = parseLine(event);
    const seen = parsed === undefined
      ? this.#conversation.fault(from, "text that is no JSON")
      : this.#conversation.observe(t, from, parsed.value);
    // What was marked as it passed knows more than what is left in the file.
    const breaks = event.breaks.length > 0 ? event.breaks : seen.breaks;
    const call = seen.call === undefined ? -1 : this.#placeOf(seen.call);
    if (call >= 0) this.#calls[call]!.rows.push(this.#rows.length);
    const label = labelOf(seen, parsed?.value, text);
    this.#rows.push({ t, lane: from, role: seen.role, label, text, call, breaks, isMasked });
  }

  #placeOf(call: Call): number {
    const known = this.#places.get(call);
    if (known !== undefined) return known;
    const place = this.#calls.length;
    this.#places.set(call, place);
    this.#calls.push({ call, rows: [] });
    return place;
  }

  #process(event: ProcessEvent): void {
    const text = describeProcessEvent(event);
    const breaks = event.kind === "gap" ? ["lines are missing here"] : [];
    const { t } = event;
    const lane = "process";
    this.#rows.push({ t, lane, role: lane, label: text, text, call: -1, breaks, isMasked: false });
  }
}

function toBar(call: Call, rows: readonly number[], durationMs: number): Bar {
  const { from, id, method, target, state, startedAt, endedAt, problem } = call;
  const isStream = method === "subscriptions/listen" && (state === "open" || state === "lost");
  return {
    from,
    id: JSON.stringify(id),
    method,
    target,
    state: isStream ? "stream" : state,
    startedAt,
    endedAt: endedAt ?? durationMs,
    problem,
    isProblem: state === "failed" || state === "error" && method !== "server/discover" ||
      state === "lost" && !isStream,
    rows,
  };
}

/** What happened to the process, in words. */
export function describeProcessEvent(event: ProcessEvent): string {
  switch (event.kind) {
    case "end":
      return {
        client: "the client has ended its input",
        server: "the server has ended its output",
        stderr: "the server has ended its stderr",
      }[event.of];
    case "refused":
      return `nobody reads what comes from ${event.of === "stderr" ? "stderr" : `the ${event.of}`} any more`;
    case "signal":
      return `${event.signal} to ${event.to === "group" ? "the process group" : "the server"}`;
    case "exit":
      if (event.signal !== undefined) return `the server was ended by ${event.signal}`;
      return event.code === undefined
        ? "the server has ended"
        : `the server has exited with code ${event.code}`;
    case "gap":
      return `${event.events} events are missing: ${event.why}`;
  }
}

function labelOf({ role, call }: Observation, value: unknown, text: string): string {
  const message = isJSONObject(value) ? value : {};
  const name = call === undefined ? "" : joined(call.method, call.target);
  switch (role) {
    case "request":
      return name;
    case "answer":
      return joined(call === undefined ? unaskedOf(message) : name, outcomeOf(message));
    case "progress":
      return joined("progress", progressOf(message), call === undefined ? "" : `of ${name}`);
    case "cancellation":
      return joined("cancelled", name);
    case "notification":
      return String(message.method);
    case "batch":
      return "batch";
    default:
      return text;
  }
}

/** An error may answer a line that could not be read, and then names nobody. */
function unaskedOf({ id }: JSONObject): string {
  return id === null || id === undefined
    ? "answer without an id:"
    : `answer to nothing, id ${JSON.stringify(id)}:`;
}

function outcomeOf({ error, result }: JSONObject): string {
  if (isJSONObject(error)) return `error ${String(error.code)}: ${String(error.message)}`;
  return isJSONObject(result) && result.isError === true ? "failed" : "";
}

function progressOf({ params }: JSONObject): string {
  const { progress, total } = isJSONObject(params) ? params : {};
  return total === undefined ? String(progress) : `${String(progress)} of ${String(total)}`;
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** How many requests ended how, and how many rows break a rule. */
export interface Counts {
  readonly requests: number;
  readonly states: Readonly<Partial<Record<BarState, number>>>;
  readonly breaks: number;
}

/** Counts. */
export function countModel({ bars, rows }: ShowModel): Counts {
  const states: Partial<Record<BarState, number>> = {};
  for (const { state } of bars) states[state] = (states[state] ?? 0) + 1;
  return { requests: bars.length, states, breaks: rows.filter(({ breaks }) => breaks.length > 0).length };
}
